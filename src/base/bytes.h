// SPDX-License-Identifier: MIT
/** @file Little-endian numbers in bytes, and a span of bytes that cannot be left. */
#ifndef PUG_BASE_BYTES_H
#define PUG_BASE_BYTES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

static inline uint64_t pug_bytes_number(const uint8_t *bytes, unsigned size)
{
    uint64_t value = 0;
    for (unsigned i = 0; i < size; i++)
        value |= (uint64_t)bytes[i] << 8 * i;
    return value;
}

static inline uint16_t pug_bytes_16(const uint8_t *bytes)
{
    return (uint16_t)(bytes[0] | bytes[1] << 8);
}

static inline uint32_t pug_bytes_32(const uint8_t *bytes)
{
    return bytes[0] | (uint32_t)bytes[1] << 8 | (uint32_t)bytes[2] << 16 | (uint32_t)bytes[3] << 24;
}

static inline uint64_t pug_bytes_64(const uint8_t *bytes)
{
    return pug_bytes_32(bytes) | (uint64_t)pug_bytes_32(bytes + 4) << 32;
}

/** The lowest `size` bytes of a number. */
static inline void pug_bytes_set(uint8_t *bytes, uint64_t number, unsigned size)
{
    for (unsigned i = 0; i < size; i++)
        bytes[i] = (uint8_t)(number >> 8 * i);
}

/** All eight bytes of a number, as one store. */
static inline void pug_bytes_set_64(uint8_t *bytes, uint64_t number)
{
#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    number = __builtin_bswap64(number);
#endif
    memcpy(bytes, &number, sizeof(number));
}

static inline void pug_bytes_set_32(uint8_t *bytes, uint32_t number)
{
    pug_bytes_set(bytes, number, 4);
}

/** Bytes that are read from the front. Once something did not fit it is `bad`, and all is 0. */
struct pug_bytes {
    const uint8_t *at, *end;
    bool bad;
};

static inline struct pug_bytes pug_bytes_of(const void *bytes, size_t size)
{
    return (struct pug_bytes){.at = bytes, .end = (const uint8_t *)bytes + size};
}

static inline size_t pug_bytes_left(const struct pug_bytes *bytes)
{
    return bytes->bad ? 0 : (size_t)(bytes->end - bytes->at);
}

/** The next `size` bytes, or NULL. */
static inline const uint8_t *pug_bytes_take(struct pug_bytes *bytes, size_t size)
{
    const uint8_t *at = bytes->at;
    if (bytes->bad || size > (size_t)(bytes->end - bytes->at)) {
        bytes->bad = true;
        return NULL;
    }
    bytes->at += size;
    return at;
}

static inline uint32_t pug_bytes_take_32(struct pug_bytes *bytes)
{
    const uint8_t *at = pug_bytes_take(bytes, 4);
    return at ? pug_bytes_32(at) : 0;
}

static inline uint64_t pug_bytes_take_64(struct pug_bytes *bytes)
{
    const uint8_t *at = pug_bytes_take(bytes, 8);
    return at ? pug_bytes_64(at) : 0;
}

#endif
