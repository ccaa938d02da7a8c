// SPDX-License-Identifier: MIT
#include "start.h"

static int down(int n, int stop)
{
    int steps = 0;
    while (n > 0 && n != stop) {
        n -= 2;
        steps++;
    }
    return steps;
}
int run(void)
{
    return down(9, 3) + down(8, 100) + down(0, 0);
}
