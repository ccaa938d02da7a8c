// SPDX-License-Identifier: MIT
#include "start.h"

static int either(int a, int b)
{
    if (a == 3 || b < 7)
        return 2;
    return 1;
}
int run(void)
{
    int all = 0;
    for (int i = 0; i < 5; i++)
        all += either(i, i * 3);
    return all;
}
