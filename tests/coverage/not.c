// SPDX-License-Identifier: MIT
#include "start.h"

static int check(int a, int b, int c)
{
    if (!(a > 2) || !(b && c))
        return 3;
    return 8;
}
int run(void)
{
    return check(1, 1, 1) + check(3, 1, 1) + check(3, 0, 1) + check(3, 1, 0);
}
