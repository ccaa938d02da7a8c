// SPDX-License-Identifier: MIT
#include "recorder/bytes.h"

#include <stdlib.h>
#include <string.h>

void rec_put_n(struct rec_bytes *bytes, const void *data, size_t size)
{
    if (size == 0)
        return;
    if (bytes->capacity - bytes->size < size) {
        size_t capacity = (bytes->capacity + size) * 2 + 64;
        uint8_t *grown = realloc(bytes->data, capacity);
        if (!grown) {
            bytes->failed = true;
            return;
        }
        bytes->data = grown;
        bytes->capacity = capacity;
    }
    memcpy(bytes->data + bytes->size, data, size);
    bytes->size += size;
}

void rec_put(struct rec_bytes *bytes, uint8_t byte)
{
    rec_put_n(bytes, &byte, 1);
}

void rec_put_le(struct rec_bytes *bytes, uint64_t value, unsigned size)
{
    for (unsigned i = 0; i < size; i++)
        rec_put(bytes, (uint8_t)(value >> 8 * i));
}

void rec_put_leb(struct rec_bytes *bytes, uint64_t value)
{
    while (value > 0x7f) {
        rec_put(bytes, (uint8_t)(0x80 | (value & 0x7f)));
        value >>= 7;
    }
    rec_put(bytes, (uint8_t)value);
}

void rec_bytes_free(struct rec_bytes *bytes)
{
    free(bytes->data);
    *bytes = (struct rec_bytes){0};
}

/* xorshift64*: good enough to choose test cases, and the same everywhere. */
uint64_t rec_random(struct rec_random *random)
{
    if (random->state == 0)
        random->state = UINT64_C(0x9E3779B97F4A7C15);
    random->state ^= random->state >> 12;
    random->state ^= random->state << 25;
    random->state ^= random->state >> 27;
    return random->state * UINT64_C(2685821657736338717);
}

uint32_t rec_random_below(struct rec_random *random, uint32_t limit)
{
    return limit ? (uint32_t)((rec_random(random) >> 32) % limit) : 0;
}

bool rec_random_once_in(struct rec_random *random, uint32_t n)
{
    return rec_random_below(random, n) == 0;
}

void rec_bytes_forget(struct rec_bytes *bytes, uint64_t room)
{
    const size_t frame = 16;
    if (bytes->size <= room)
        return;
    size_t drop = (bytes->size - (size_t)room + frame - 1) / frame * frame;
    drop = drop < bytes->size ? drop : bytes->size;
    memmove(bytes->data, bytes->data + drop, bytes->size - drop);
    bytes->size -= drop;
}
