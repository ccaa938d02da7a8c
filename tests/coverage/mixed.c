// SPDX-License-Identifier: MIT
#include "start.h"

static int mixed(int a, int b, int c)
{
    if (a > 0 && (b == 3 || c < 7))
        return 1;
    return 2;
}
int run(void)
{
    return mixed(1, 3, 9) + mixed(1, 2, 9) + mixed(0, 3, 1) + mixed(1, 2, 3);
}
