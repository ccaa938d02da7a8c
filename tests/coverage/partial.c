// SPDX-License-Identifier: MIT
#include "start.h"

static int three(int a, int b, int c)
{
    if (a && b && c)
        return 4;
    return 5;
}
int run(void)
{
    int all = three(1, 1, 1);
    all += three(0, 1, 1);
    all += three(1, 1, 0);
    return all;
}
