// SPDX-License-Identifier: MIT
// A bare machine: its own exception vectors, calls of the supervisor, loops, user mode; ends by semihosting.
    .section .vectors, "ax"
    .balign 2048
vectors:
    .rept 4
    .balign 128
    b sync_same
    .endr
    .balign 128
    b sync_same
    .balign 128
    b irq
    .balign 128
    b sync_same
    .balign 128
    b sync_same
    .balign 128
    b from_user
    .text
    .globl _start
_start:
    adrp x0, vectors
    add x0, x0, :lo12:vectors
    msr vbar_el1, x0
    isb
    mov x19, #0
loop:
    svc #1
    add x19, x19, #1
    mov x1, #0x10
    bl f
    cmp x19, #20
    b.lt loop
    // Another context, and user mode, which calls the supervisor once.
    mov x0, #7
    msr contextidr_el1, x0
    adr x0, user
    msr elr_el1, x0
    msr spsr_el1, xzr
    eret
user:
    mov x1, #3
    bl f
    svc #2
    b .
from_user:
    mov w0, #0x18
    movk w0, #0, lsl #16
    adr x1, args
    hlt #0xf000
    b .
f:  cbz x1, 1f
    sub x1, x1, #1
    b f
1:  ret
sync_same:
    mrs x2, esr_el1
    lsr x2, x2, #26
    add x20, x20, #1
    eret
irq: eret
    .balign 8
args: .quad 0x20026, 0
