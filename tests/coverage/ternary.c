// SPDX-License-Identifier: MIT
#include "start.h"

static int larger(int a, int b)
{
    int x = a > b ? a : b;
    return x;
}
int run(void)
{
    return larger(1, 2) + larger(4, 3) + larger(5, 5);
}
