// SPDX-License-Identifier: MIT
#include "start.h"

static int three(int a, int b, int c)
{
    if (a && b && c)
        return 4;
    return 5;
}
/* Never open: what a and b are changes nothing. */
static int gate(int a, int b, int open)
{
    if ((a || b) && open)
        return 6;
    return 7;
}
int run(void)
{
    int all = three(1, 1, 1);
    all += three(0, 1, 1);
    all += three(1, 1, 0);
    all += gate(1, 0, 0) + gate(0, 1, 0) + gate(0, 0, 0);
    return all;
}
