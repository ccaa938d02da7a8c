// SPDX-License-Identifier: MIT
#include "start.h"

static int fib(int n)
{
    if (n < 2)
        return n;
    return fib(n - 1) + fib(n - 2);
}
static int odd_depth(int n)
{
    if (n > 0 && odd_depth(n - 1) == 0)
        return 1;
    return 0;
}
int run(void)
{
    return fib(7) + odd_depth(5);
}
