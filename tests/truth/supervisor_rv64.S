// SPDX-License-Identifier: MIT
// What OpenSBI starts in supervisor mode: it calls the firmware, takes timer interrupts that the firmware hands on, and
// works between them.
    .text
    .globl _start
_start:
    la      sp, stack
    la      t0, trap
    csrw    stvec, t0
    li      t0, 0x20            // timer interrupts
    csrs    sie, t0
    csrsi   sstatus, 2
again:
    rdtime  a0
    li      t1, 2000
    add     a0, a0, t1
    li      a7, 0x54494d45      // set the timer
    li      a6, 0
    ecall
    li      s1, 300
1:  mv      a0, s1
    call    work
    addi    s1, s1, -1
    bnez    s1, 1b
    li      a7, 0x10            // ask for the firmware's version
    li      a6, 1
    ecall
    j       again

work:                           // the sum of odd numbers up to a0
    li      t0, 0
1:  andi    t1, a0, 1
    beqz    t1, 2f
    add     t0, t0, a0
2:  addi    a0, a0, -1
    bgtz    a0, 1b
    mv      a0, t0
    ret

    .balign 4
trap:
    addi    sp, sp, -64
    sd      a0, 0(sp)
    sd      a1, 8(sp)
    sd      a6, 16(sp)
    sd      a7, 24(sp)
    li      a0, -1              // no timer until it is set again
    li      a7, 0x54494d45
    li      a6, 0
    ecall
    ld      a0, 0(sp)
    ld      a1, 8(sp)
    ld      a6, 16(sp)
    ld      a7, 24(sp)
    addi    sp, sp, 64
    sret

    .bss
    .balign 16
    .space  4096
stack:
