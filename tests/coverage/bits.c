// SPDX-License-Identifier: MIT
#include "start.h"

static int count_bits(unsigned n)
{
    int bits = 0;
    while (n) {
        if (n & 1)
            bits++;
        n >>= 1;
    }
    return bits;
}
int run(void)
{
    int all = 0;
    for (unsigned n = 0; n < 40; n += 7)
        all += count_bits(n);
    return all;
}
