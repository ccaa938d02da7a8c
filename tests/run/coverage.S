// SPDX-License-Identifier: MIT
// Branches and returns that a condition before them makes conditional, and how often each goes which way, or '-': it
// never runs. tests/run/coverage.sh.
    .syntax unified
    SET
    .globl _start
    .type _start, %function
_start:
    mov r4, #5
loop:
    bl leaf
    bl save
    subs r4, r4, #1
    itt ne
    addne r5, r5, #1
    bne loop            // taken 4, not 1
    it mi
    bmi never           // taken 0, not 1
    mov r7, #1
    mov r0, #0
    svc #0
    .type never, %function
never:
    cmp r4, #9
    it hi
    bxhi lr             // taken -, not -
    b never
    .type leaf, %function
leaf:
    cmp r4, #2
    it eq
    bxeq lr             // taken 1, not 4
    bx lr
    .type save, %function
save:
    push {r4, lr}
    cmp r4, #3
    it ne
    popne {r4, pc}      // taken 4, not 1
    pop {r4, pc}
