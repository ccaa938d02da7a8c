// SPDX-License-Identifier: MIT
/** @file Items in the order of a number of 64 bits that each has at `offset`: where a number
 * belongs. */
#ifndef PUG_BASE_BISECT_H
#define PUG_BASE_BISECT_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

/** How many of `count` items, of `size` bytes each, have a number below `limit`. */
static inline size_t pug_bisect_below(const void *items, size_t count, size_t size, size_t offset,
                                      uint64_t limit)
{
    size_t low = 0, high = count;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        uint64_t number;
        memcpy(&number, (const char *)items + middle * size + offset, sizeof(number));
        if (number < limit)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/** How many have this number or a smaller one. */
static inline size_t pug_bisect_to(const void *items, size_t count, size_t size, size_t offset,
                                   uint64_t last)
{
    return last == UINT64_MAX ? count : pug_bisect_below(items, count, size, offset, last + 1);
}

#endif
