// SPDX-License-Identifier: MIT
#include "start.h"

static int is_even(int n)
{
    return n % 2 == 0;
}
static int is_small(int n)
{
    result++;
    return n < 10;
}
static int fits(int n)
{
    if (is_even(n) && is_small(n))
        return 1;
    return 0;
}
int run(void)
{
    return fits(4) + fits(40) + fits(3);
}
