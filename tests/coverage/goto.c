// SPDX-License-Identifier: MIT
#include "start.h"

static int retry(int n)
{
    int tries = 0;
again:
    tries++;
    n -= 3;
    if (n > 0)
        goto again;
    if (tries > 2)
        goto many;
    return tries;
many:
    return -tries;
}
int run(void)
{
    return retry(2) + retry(11);
}
