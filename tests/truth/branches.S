// SPDX-License-Identifier: MIT
// Every form of branch, and of each form offsets with one bit after the other, in both directions: a loop over
// all of them. What is far away is in sections that the linker puts there (build.sh).

#if defined(__aarch64__)
#define ENTER stp x29, x30, [sp, #-16]!
#define LEAVE ldp x29, x30, [sp], #16

// over \n instructions forward, by a branch of the given form; and back by another
.macro over form:vararg
    .irp n, 2, 3, 5, 9, 17, 33, 65, 129, 257, 513, 1025
    \form 1f
    b 2f
    .rept \n
    nop
    .endr
1:  nop
2:
    .endr
.endm
.macro back form:vararg
    .irp n, 1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024
    b 2f
1:  b 3f
    .rept \n
    nop
    .endr
2:  \form 1b
3:
    .endr
.endm
.globl branches
branches:
    ENTER
    mov x2, #1
    mov x3, #0
    mov x4, #-1
    cmp x2, #1
    over b.eq
    over b.ne
    over cbz x3,
    over cbz x2,
    over cbnz w2,
    over tbz x3, #0,
    over tbz x3, #33,
    over tbnz x4, #63,
    over tbnz w4, #31,
    over b
    over bl
    cmp x2, #1
    back b.eq
    back b.ge
    back cbz x3,
    back cbnz x2,
    back tbz x3, #5,
    back tbnz x4, #40,
    back b
    back bl
    adr x5, ret1
    blr x5
    adr x5, 1f
    br x5
    nop
1:  adr x6, 1f
    ret x6
    nop
1:  .irp n, 1, 2, 3, 4, 5, 6
    bl far\n
    .endr
    LEAVE
    ret
ret1: ret
#define FAR ret

#elif defined(__arm__)
.syntax unified
.macro place_of to, label
    movw \to, #:lower16:\label
    movt \to, #:upper16:\label
.endm
.macro over form:vararg
    .irp n, 2, 3, 5, 9, 17, 33, 65, 129, 257, 513
    \form 1f
    b.w 2f
    .rept \n
    nop.w
    .endr
1:  nop
2:
    .endr
.endm
.macro back form:vararg
    .irp n, 1, 2, 4, 8, 16, 32, 64, 128, 256, 512
    b.w 2f
1:  b.w 3f
    .rept \n
    nop.w
    .endr
2:  \form 1b
3:
    .endr
.endm
.thumb
.globl branches
.thumb_func
branches:
    push {r4-r8, lr}
    movs r3, #0
    movs r2, #1
    over beq.w
    over bne.w
    over b.w
    over bl
    movs r2, #1
    back beq.w
    back bne.w
    back b.w
    back bl
    .irp n, 1, 2, 4, 8, 16, 30 // narrow forms
    cbz r3, 1f
    .rept \n
    nop
    .endr
1:  cbz r2, 1f
    .rept \n
    nop
    .endr
1:  cbnz r2, 1f
    .rept \n
    nop
    .endr
1:  bne.n 1f
    .rept \n
    nop
    .endr
1:  b.n 1f
    .rept \n
    nop
    .endr
1:  b.n 3f
2:  b.n 4f
    .rept \n
    nop
    .endr
3:  bne.n 2b
4:
    .endr
    place_of r5, ret_thumb
    blx r5
    place_of r5, ret_arm
    blx r5
    blx ret_arm
    place_of r5, place_thumb
    bx r5
    .balign 4
.thumb_func
place_thumb:
    movs r5, #1
    tbb [pc, r5]
1:  .byte (2f - 1b) / 2, (3f - 1b) / 2
2:  nop
3:  tbh [pc, r5, lsl #1]
1:  .short (2f - 1b) / 2, (3f - 1b) / 2
2:  nop
3:  cmp r5, #1
    itte eq
    moveq r6, #1
    moveq r6, #2
    movne r6, #3
    it ne
    blne ret_thumb
    it eq
    bleq ret_thumb
    adr r6, 1f
    adds r6, #1
    push {r6}
    pop {pc}
    .balign 4
1:  bl pop_many
    bl load_many
    bl load_many_before
    blx arm_branches
    .irp n, 1, 2, 3
    bl far\n
    .endr
    pop {r4-r8, pc}
.thumb_func
pop_many: push {r4, lr}
    ldmia.w sp!, {r4, pc}
.thumb_func
load_many: push {r4, lr}
    mov r7, sp
    add sp, #8
    ldmia.w r7, {r4, pc}
.thumb_func
load_many_before: push {r4, lr}
    add r7, sp, #8
    add sp, #8
    ldmdb.w r7, {r4, pc}
.thumb_func
ret_thumb: bx lr
.arm
.type ret_arm, %function
ret_arm: bx lr
.macro aover form:vararg
    .irp n, 2, 3, 5, 9, 17, 33, 65, 129, 257, 513
    \form 1f
    b 2f
    .rept \n
    nop
    .endr
1:  nop
2:
    .endr
.endm
.macro aback form:vararg
    .irp n, 1, 2, 4, 8, 16, 32, 64, 128, 256, 512
    b 2f
1:  b 3f
    .rept \n
    nop
    .endr
2:  \form 1b
3:
    .endr
.endm
.type arm_branches, %function
arm_branches:
    push {r4-r8, lr}
    cmp r2, #1
    aover beq
    aover bne
    aover b
    aover bl
    aover blne
    cmp r2, #1
    aback beq
    aback b
    aback bl
    place_of r5, ret_arm
    blx r5
    place_of r5, ret_thumb
    blx r5
    blx ret_thumb
    mov lr, pc
    mov pc, r5
    place_of r5, ret_arm
    mov lr, pc
    bx r5
    adr r6, 1f
    mov pc, r6
    nop
1:  adr r6, 1f
    str r6, [sp, #-4]!
    ldr pc, [sp], #4
    nop
1:  add pc, pc, #0
    nop
    nop
    adr r6, 1f
    push {r4, r6}
    ldmia sp!, {r4, pc}
    nop
1:  adr r6, 1f
    sub r7, sp, #8
    stmib r7, {r5, r6}
    ldmib r7, {r5, pc}
    nop
1:  bl 1f
    b 2f
1:  push {r4, lr}
    pop {r4, pc}
2:  .irp n, 1, 2, 3
    bl far\n
    .endr
    pop {r4-r8, pc}
#define FAR bx lr

#else
#if __riscv_xlen == 64
#define ENTER addi sp, sp, -16; sd ra, 0(sp)
#define LEAVE ld ra, 0(sp); addi sp, sp, 16
#else
#define ENTER addi sp, sp, -16; sw ra, 0(sp)
#define LEAVE lw ra, 0(sp); addi sp, sp, 16
#endif
.option norelax
.macro over max, form:vararg
    .irp n, 2, 3, 5, 9, 17, 33, 65, 129, 257, 513, 900
    .if \n < \max
    \form 1f
    j 2f
    .rept \n
    nop
    .endr
1:  nop
2:
    .endif
    .endr
.endm
.macro back max, form:vararg
    .irp n, 1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 800
    .if \n < \max
    j 2f
1:  j 3f
    .rept \n
    nop
    .endr
2:  \form 1b
3:
    .endif
    .endr
.endm
.globl branches
branches:
    ENTER
    li a2, 1
    li a3, 0
    li a4, -1
    over 1000, beq a3, zero,
    over 1000, bne a2, zero,
    over 1000, blt a4, a2,
    over 1000, bge a2, a4,
    over 1000, bltu a2, a4,
    over 1000, bgeu a4, a2,
    over 1000, beq a2, zero,
    over 1000, j
    over 1000, jal t0,
    over 1000, jal ra,
    back 900, beq a3, zero,
    back 900, blt a4, a2,
    back 900, bltu a2, a4,
    back 900, j
    back 900, jal ra,
#ifdef __riscv_compressed
    over 60, c.beqz a3,
    over 60, c.bnez a2,
    over 60, c.bnez a3,
    over 400, c.j
    back 60, c.beqz a3,
    back 60, c.bnez a2,
    back 400, c.j
#if __riscv_xlen == 32
    over 400, c.jal
    back 400, c.jal
#endif
    la t1, ret1
    c.jalr t1
    la t1, 1f
    c.jr t1
    nop
#endif
1:  la t1, ret1
    jalr t1
    jalr ra, 0(t1)
    addi t1, t1, -16
    jalr ra, 16(t1)
    la t1, ret2
    jalr t0, 0(t1)
    la t1, 1f
    jr t1
    nop
1:  .irp n, 1, 2, 3, 4
    jal far\n
    .endr
    .irp n, 1, 2, 3, 4, 5
    call far\n
    .endr
    LEAVE
    ret
ret1: ret
ret2: jr t0
#define FAR ret
#endif

#ifndef __arm__
.macro place n
    .section .far\n, "ax"
    .globl far\n
far\n: nop
    FAR
.endm
#else
.macro place n
    .section .far\n, "ax"
    .arm
    .globl far\n
    .type far\n, %function
far\n: nop
    FAR
.endm
#endif
    .irp n, 1, 2, 3, 4, 5, 6
    place \n
    .endr
    .section .note.GNU-stack, "", %progbits
