// SPDX-License-Identifier: MIT
#include "start.h"

static int both(int a, int b)
{
    if (a > 0 && b > 0)
        return 1;
    return 0;
}
int run(void)
{
    return both(1, 1) + both(1, 0) + both(0, 1);
}
