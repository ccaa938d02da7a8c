// SPDX-License-Identifier: MIT
/** @file branches.S in a loop. */
#include "system.h"

void branches(void);

void program(size scale)
{
    for (size i = 0; i < scale; i++)
        branches();
    system_print("done\n");
}
