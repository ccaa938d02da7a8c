// SPDX-License-Identifier: MIT
#include "start.h"

static int four(int a, int b, int c, int d)
{
    if ((a > 1 || b > 1) && (c > 1 || d > 1))
        return 1;
    return 0;
}
int run(void)
{
    int all = 0;
    for (int i = 0; i < 16; i++)
        if (i != 3 && i != 12)
            all += four(i & 1 ? 2 : 0, i & 2, i & 4, i & 8);
    return all;
}
