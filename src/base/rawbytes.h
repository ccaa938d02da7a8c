// SPDX-License-Identifier: MIT
/**
 * @file The bytes of a packet that did not come in one piece. Short packets fit the object; only
 * long synchronisation sequences make it grow, up to PUG_RAW_LIMIT. What goes beyond is left out:
 * these bytes are for showing, decoding does not need them.
 */
#ifndef PUG_BASE_RAWBYTES_H
#define PUG_BASE_RAWBYTES_H

#include "pugmark/advanced/state.h"

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define PUG_RAW_LIMIT (1u << 20)

struct pug_rawbytes {
    uint8_t *grown; /**< NULL while `fixed` is enough */
    size_t size, capacity;
    uint8_t fixed[64];
};

static inline void pug_rawbytes_free(struct pug_rawbytes *raw)
{
    free(raw->grown);
    raw->grown = NULL;
    raw->size = 0;
}

static inline uint8_t *pug_rawbytes_at(struct pug_rawbytes *raw)
{
    return raw->grown ? raw->grown : raw->fixed;
}

static inline const uint8_t *pug_rawbytes_look(const struct pug_rawbytes *raw)
{
    return raw->grown ? raw->grown : raw->fixed;
}

static inline void pug_rawbytes_state(const struct pug_rawbytes *raw, struct pug_state *state)
{
    pug_state_number(state, raw->size);
    pug_state_put(state, pug_rawbytes_look(raw), raw->size);
}

/** Room for `wanted` bytes, or for as many as can be had; how many that is. */
static inline size_t pug_rawbytes_room(struct pug_rawbytes *raw, size_t wanted)
{
    size_t capacity = raw->grown ? raw->capacity : sizeof(raw->fixed);
    if (wanted <= capacity)
        return wanted;
    if (wanted > PUG_RAW_LIMIT)
        wanted = PUG_RAW_LIMIT;
    size_t larger = capacity;
    while (larger < wanted)
        larger *= 2;
    uint8_t *bytes = larger > capacity ? realloc(raw->grown, larger) : NULL;
    if (!bytes)
        return wanted < capacity ? wanted : capacity;
    if (!raw->grown)
        memcpy(bytes, raw->fixed, raw->size);
    raw->grown = bytes;
    raw->capacity = larger;
    return wanted;
}

static inline void pug_rawbytes_add(struct pug_rawbytes *raw, const uint8_t *bytes, size_t size)
{
    size_t room = pug_rawbytes_room(raw, raw->size + size) - raw->size;
    if (size > room)
        size = room;
    if (size)
        memcpy(pug_rawbytes_at(raw) + raw->size, bytes, size);
    raw->size += size;
}

static inline void pug_rawbytes_add_byte(struct pug_rawbytes *raw, uint8_t byte)
{
    pug_rawbytes_add(raw, &byte, 1);
}

/**
 * A packet that ends with these bytes, in one piece, and its size: they themselves, or, if there
 * are bytes before them already, all of them here.
 */
static inline const uint8_t *pug_rawbytes_whole(struct pug_rawbytes *raw, const uint8_t *last,
                                                size_t *size)
{
    if (raw->size == 0)
        return last;
    pug_rawbytes_add(raw, last, *size);
    *size = raw->size;
    return pug_rawbytes_at(raw);
}

/** Forget the first `count` bytes. */
static inline void pug_rawbytes_drop(struct pug_rawbytes *raw, size_t count)
{
    if (count > raw->size)
        count = raw->size;
    raw->size -= count;
    if (raw->size)
        memmove(pug_rawbytes_at(raw), pug_rawbytes_at(raw) + count, raw->size);
}

#endif
