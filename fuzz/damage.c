// SPDX-License-Identifier: MIT
#include "damage.h"

#include <string.h>

static size_t cut(uint8_t *data, size_t size, struct rec_random *random)
{
    const size_t at = rec_random_below(random, (uint32_t)size);
    size_t length = 1 + rec_random_below(random, 40);
    length = length < size - at ? length : size - at;
    memmove(data + at, data + at + length, size - at - length);
    return size - length;
}

static size_t repeat(uint8_t *data, size_t size, size_t room, struct rec_random *random)
{
    const size_t from = rec_random_below(random, (uint32_t)size);
    const size_t at = rec_random_below(random, (uint32_t)size);
    uint8_t copy[64];
    size_t length = 1 + rec_random_below(random, sizeof(copy) - 1);
    length = length < size - from ? length : size - from;
    if (size + length > room)
        return size;
    memcpy(copy, data + from, length);
    memmove(data + at + length, data + at, size - at);
    memcpy(data + at, copy, length);
    return size + length;
}

/** A number that readers stumble over, of 1, 2, 4 or 8 bytes. */
static void odd_number(uint8_t *data, size_t size, struct rec_random *random)
{
    static const uint64_t odd[] = {
        0,          1,          0x7f,       0x80,       0xff,      0x7fff,   0xffff,
        0x7fffffff, 0x80000000, 0xffffffff, UINT64_MAX, INT64_MAX, 1u << 20, UINT64_C(1) << 40,
        16};
    const uint64_t number = odd[rec_random_below(random, sizeof(odd) / sizeof(odd[0]))];
    const size_t length = (size_t)1 << rec_random_below(random, 4);
    const size_t at = rec_random_below(random, (uint32_t)size);
    for (size_t i = 0; i < length && at + i < size; i++)
        data[at + i] = (uint8_t)(number >> (8 * i));
}

size_t fuzz_damage(uint8_t *data, size_t size, size_t room, struct rec_random *random)
{
    for (unsigned n = rec_random_below(random, 12); n > 0 && size > 0; n--) {
        const size_t at = rec_random_below(random, (uint32_t)size);
        switch (rec_random_below(random, 7)) {
        case 0: data[at] ^= (uint8_t)(1u << rec_random_below(random, 8)); break;
        case 1: data[at] = (uint8_t)rec_random(random); break;
        case 2: size = cut(data, size, random); break;
        case 3: size = repeat(data, size, room, random); break;
        case 4: odd_number(data, size, random); break;
        case 5:
            memset(data + at, rec_random_once_in(random, 2) ? 0 : 0xff,
                   1 + rec_random_below(random, (uint32_t)(size - at < 32 ? size - at : 32)));
            break;
        default: size = rec_random_once_in(random, 8) ? at : size;
        }
    }
    return size;
}
