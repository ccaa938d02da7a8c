// SPDX-License-Identifier: MIT
#include "start.h"

int run(void)
{
    int all = 0;
    for (int i = 0; i < 4; i++) {
        for (int j = 0; j < i; j++) {
            if (j == 2)
                continue;
            all += i * j;
        }
        if (all > 100)
            break;
    }
    return all;
}
