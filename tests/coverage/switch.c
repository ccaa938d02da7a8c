// SPDX-License-Identifier: MIT
#include "start.h"

static int choose(int n)
{
    switch (n) {
    case 0: return 10;
    case 1:
    case 2: n += 5; break;
    case 7: return 70;
    default: n = -1;
    }
    return n;
}
int run(void)
{
    return choose(0) + choose(2) + choose(9);
}
