// SPDX-License-Identifier: MIT
/** @file Bit fields of a packet payload: least significant bit first, sign-extended at its end. */
#ifndef PUG_BASE_FIELDS_H
#define PUG_BASE_FIELDS_H

#include "base/bytes.h"

#include <assert.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

/** Bytes of payload that are looked at, and words with the sign that follows them. */
#define PUG_FIELDS_PAYLOAD 40u
#define PUG_FIELDS_WORDS   12u

/** A payload as a bit string. What lies beyond its last byte repeats that byte's top bit. */
struct pug_fields {
    uint64_t words[PUG_FIELDS_WORDS]; /**< the first bit is the lowest of the first word */
    unsigned at;                      /**< next bit */
};

/** `size` at most PUG_FIELDS_PAYLOAD. */
static inline void pug_fields_set(struct pug_fields *fields, const uint8_t *bytes, unsigned size)
{
    uint64_t sign = size > 0 && (bytes[size - 1] & 0x80) ? UINT64_MAX : 0;
    const unsigned whole = size / 8, rest = size % 8;
    assert(size <= PUG_FIELDS_PAYLOAD);
    for (unsigned word = 0; word < PUG_FIELDS_WORDS; word++)
        fields->words[word] = word < whole ? pug_bytes_64(bytes + 8 * word) : sign;
    if (rest > 0)
        fields->words[whole] = sign << 8 * rest | pug_bytes_number(bytes + 8 * whole, rest);
    fields->at = 0;
}

/** The bit at `at`. Beyond the string: its last bit. */
static inline bool pug_fields_peek(const struct pug_fields *fields, unsigned at)
{
    if (at >= PUG_FIELDS_WORDS * 64)
        at = PUG_FIELDS_WORDS * 64 - 1;
    return fields->words[at / 64] >> at % 64 & 1;
}

/** The next `width` bits; of more than 64 the low 64. */
static inline uint64_t pug_fields_take(struct pug_fields *fields, unsigned width)
{
    unsigned word = fields->at / 64, shift = fields->at % 64;
    fields->at += width;
    if (width == 0)
        return 0;
    if (word >= PUG_FIELDS_WORDS - 1) /* only the sign is left */
        word = PUG_FIELDS_WORDS - 1, shift = 0;
    uint64_t value = fields->words[word] >> shift;
    if (shift > 0)
        value |= fields->words[word + 1] << (64 - shift);
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
