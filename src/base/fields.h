// SPDX-License-Identifier: MIT
/** @file Bit fields of a packet payload: least significant bit first, sign-extended at its end. */
#ifndef PUG_BASE_FIELDS_H
#define PUG_BASE_FIELDS_H

#include <assert.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

/** Bytes of payload that are looked at, and of the sign that follows them. */
#define PUG_FIELDS_PAYLOAD 40u
#define PUG_FIELDS_BYTES   96u

/** A payload as a bit string. What lies beyond its last byte repeats that byte's top bit. */
struct pug_fields {
    uint8_t bytes[PUG_FIELDS_BYTES];
    unsigned at; /**< next bit */
};

/** `size` at most PUG_FIELDS_PAYLOAD. */
static inline void pug_fields_set(struct pug_fields *fields, const uint8_t *bytes, unsigned size)
{
    assert(size <= PUG_FIELDS_PAYLOAD);
    memset(fields->bytes, size > 0 && (bytes[size - 1] & 0x80) ? 0xff : 0, sizeof(fields->bytes));
    if (size > 0)
        memcpy(fields->bytes, bytes, size);
    fields->at = 0;
}

/** The bit at `at`. Beyond the string: its last bit. */
static inline bool pug_fields_peek(const struct pug_fields *fields, unsigned at)
{
    if (at >= PUG_FIELDS_BYTES * 8)
        at = PUG_FIELDS_BYTES * 8 - 1;
    return fields->bytes[at / 8] >> at % 8 & 1;
}

/** The next `width` bits; of more than 64 the low 64. */
static inline uint64_t pug_fields_take(struct pug_fields *fields, unsigned width)
{
    uint64_t value = 0;
    unsigned at = fields->at, byte = at / 8, shift = at % 8;
    fields->at += width;
    if (width == 0)
        return 0;
    if (byte + 9 > PUG_FIELDS_BYTES) { /* only the sign is left */
        value = fields->bytes[PUG_FIELDS_BYTES - 1] ? UINT64_MAX : 0;
    } else {
        for (unsigned i = 0; i < 8; i++)
            value |= (uint64_t)fields->bytes[byte + i] << 8 * i;
        value >>= shift;
        if (shift > 0)
            value |= (uint64_t)fields->bytes[byte + 8] << (64 - shift);
    }
    return width < 64 ? value & ((UINT64_C(1) << width) - 1) : value;
}

/** A two's complement field of `width` bits. */
static inline uint64_t pug_sign_extend(uint64_t value, unsigned width)
{
    if (width == 0 || width >= 64)
        return width ? value : 0;
    uint64_t sign = UINT64_C(1) << (width - 1);
    return (value ^ sign) - sign;
}

#endif
