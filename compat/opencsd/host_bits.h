// SPDX-License-Identifier: MIT
/**
 * @file Words of bit fields, as this host has them: the first field is the lowest, or on big-endian
 * hosts the highest. Widths are the digits of a string.
 */
#ifndef SHELL_HOST_BITS_H
#define SHELL_HOST_BITS_H

#include <stdbool.h>
#include <stdint.h>

#define SHELL_FROM_TOP (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__)

static inline uint32_t shell_mirror(uint32_t word, const char *widths, bool back)
{
    uint32_t out = 0;
    for (unsigned low = 0; *widths; widths++) {
        const unsigned width = (unsigned)(*widths - '0'), high = 32 - low - width;
        out |= (word >> (back ? high : low) & ((1u << width) - 1)) << (back ? low : high);
        low += width;
    }
    return out;
}

/** The client's word, of one whose first field is the lowest. */
static inline uint32_t shell_host_bits(uint32_t word, const char *widths)
{
    return SHELL_FROM_TOP ? shell_mirror(word, widths, false) : word;
}

static inline uint32_t shell_plain_bits(uint32_t client, const char *widths)
{
    return SHELL_FROM_TOP ? shell_mirror(client, widths, true) : client;
}

/** Where in a word of 64 bits a number of so many bits is that is read from the same place. */
static inline unsigned shell_part_shift(unsigned bits)
{
    if (!SHELL_FROM_TOP || bits == 0 || bits > 56)
        return 0;
    return 64 - (bits + 7) / 8 * 8;
}

static inline uint64_t shell_host_part(uint64_t number, unsigned bits)
{
    return number << shell_part_shift(bits);
}

static inline uint64_t shell_plain_part(uint64_t client, unsigned bits)
{
    return client >> shell_part_shift(bits);
}

#endif
