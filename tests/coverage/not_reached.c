// SPDX-License-Identifier: MIT
#include "start.h"

static int never(int n)
{
    if (n > 3 || n < -3)
        return n * n;
    return 0;
}
static int half(int n)
{
    if (n < 0)
        return never(n);
    n /= 2;
    return n;
}
int run(void)
{
    return half(8) + half(3);
}
