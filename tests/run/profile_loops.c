// SPDX-License-Identifier: MIT
// Loops whose rounds are known, for tests/run/profile_loops.sh.

#include "leave.h"

#define APART __attribute__((noinline))

static volatile int sum;

// Visited once by each call, n rounds; the inner one n times, 1 to n rounds.
APART static void triangle(int n)
{
    for (int i = 1; i <= n; i++)
        for (int j = 0; j < i; j++)
            sum += j;
}

// A frame of its own for each call of itself: 3 rounds each.
APART static void recursion(int depth)
{
    for (int i = 0; i < 3; i++) {
        sum += i;
        if (depth > 0)
            recursion(depth - 1);
    }
}

#ifdef __aarch64__
void entered_in_the_middle(int n);
// Like the triangle, but the inner loop is entered at its condition.
__asm__(".globl entered_in_the_middle\n"
        ".type entered_in_the_middle, @function\n"
        "entered_in_the_middle:\n"
        "mov w1, #1\n"
        "1: mov w2, w1\n"
        "b 3f\n"
        "2: nop\n"
        "3: subs w2, w2, #1\n"
        "b.ge 2b\n"
        "add w1, w1, #1\n"
        "cmp w1, w0\n"
        "b.le 1b\n"
        "ret\n"
        ".size entered_in_the_middle, .-entered_in_the_middle\n");
#else
static void entered_in_the_middle(int n)
{
    (void)n;
}
#endif

void _start(void)
{
    triangle(9);
    triangle(1);
    recursion(3);
    entered_in_the_middle(5);
    entered_in_the_middle(2);
    leave();
}
