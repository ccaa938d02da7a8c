// SPDX-License-Identifier: MIT
// Ways from function to function and from file to file, for tests/run/profile_stacks.sh.

#include "leave.h"

#define APART  __attribute__((noinline))
#define INLINE __attribute__((always_inline)) static inline

static volatile unsigned sum;

APART static unsigned work(unsigned n)
{
    for (unsigned i = 0; i < 20; i++)
        sum += i;
    return n;
}

// Tail calls, one after the other; the last one is of what is called, too.
APART static unsigned third(unsigned n)
{
    sum += n;
    return work(n + 3);
}

APART static unsigned second(unsigned n)
{
    sum += n;
    return third(n + 2);
}

APART static unsigned first(unsigned n)
{
    sum += n;
    return second(n + 1);
}

APART static unsigned outer(unsigned n)
{
    unsigned all = work(n);
    for (unsigned i = 0; i < n; i++)
        all += first(i);
    return all;
}

APART static unsigned recursion(unsigned n)
{
    return n < 2 ? n : recursion(n - 1) + recursion(n - 2) + work(n);
}

APART static unsigned leaf(unsigned n)
{
    sum = n;
    return n + 1;
}

#line 1 "inlined.h"
INLINE unsigned calls_back(unsigned n)
{
    unsigned all = leaf(n);
    for (unsigned i = 0; i < 4; i++)
        sum += i;
    return all + leaf(n + 1);
}

INLINE void jumps_back(unsigned n)
{
    if (n & 1)
        sum = n;
}

#line 100 "profile_stacks.c"
APART static unsigned around_calls(unsigned n)
{
    unsigned all = calls_back(n);
    return all + 1;
}

#line 200
APART static unsigned around_jumps(unsigned n)
{
    jumps_back(n);
    sum = 5;
    return n + 1;
}

#line 300
void _start(void)
{
    sum = outer(10) + recursion(6);
    for (unsigned i = 0; i < 5; i++)
        sum += around_calls(i) + around_jumps(i);
    leave();
}
