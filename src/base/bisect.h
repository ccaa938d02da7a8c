// SPDX-License-Identifier: MIT
/**
 * @file Where a number belongs among items in the order of one of 64 bits that each has at
 * `offset`, and among the values of a function that grows.
 */
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

/** The first of low to high whose value, which grows with it, is not below `wanted`; or high. */
static inline uint64_t pug_bisect_value(uint64_t low, uint64_t high, uint64_t wanted,
                                        uint64_t (*value)(const void *context, uint64_t at),
                                        const void *context)
{
    while (low < high) {
        const uint64_t middle = low + (high - low) / 2;
        if (value(context, middle) < wanted)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

#endif
