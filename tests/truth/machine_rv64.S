// SPDX-License-Identifier: MIT
// A bare machine: a trap handler, calls, a timer that interrupts, user mode; ends by the test device.
    .text
    .globl _start
_start:
    la t0, handler
    csrw mtvec, t0
    li s0, 0
    la sp, stack
    # timer: mtimecmp soon
    li t1, 0x02004000
    sd zero, 0(t1)
    li t2, 0x80
    csrw mie, t2
    csrsi mstatus, 8
1:  ecall
    addi s0, s0, 1
    li a0, 12
    call f
    li t0, 20
    blt s0, t0, 1b
    # user mode, which may access everything, and exits by the test device
    li t0, -1
    csrw pmpaddr0, t0
    li t0, 0x1f
    csrw pmpcfg0, t0
    la t0, user
    csrw mepc, t0
    li t0, 0x1800
    csrc mstatus, t0
    mret
user:
    li a0, 3
    call f
    li t0, 0x100000
    li t1, 0x5555
    sw t1, 0(t0)
1:  beqz zero, 1b # not J: nothing in a trace counts how often that ran
f:  addi a0, a0, -1
    bnez a0, f
    ret
    .balign 4
handler:
    csrr t0, mcause
    bltz t0, timer
    csrr t0, mepc
    addi t0, t0, 4
    csrw mepc, t0
    mret
timer:
    li t1, 0x02004000
    li t2, -1
    sd t2, 0(t1)
    mret
    .balign 16
    .space 64
stack:
