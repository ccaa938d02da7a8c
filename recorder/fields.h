// SPDX-License-Identifier: MIT
/** @file A payload of bit fields, least significant bit first, shortened by its sign at the end. */
#ifndef PUG_RECORDER_FIELDS_H
#define PUG_RECORDER_FIELDS_H

#include <stdbool.h>
#include <stdint.h>

#define REC_FIELDS_BITS 640u

struct rec_fields {
    uint8_t bits[REC_FIELDS_BITS]; /**< one each */
    unsigned count;
};

static inline void rec_field(struct rec_fields *fields, uint64_t value, unsigned width)
{
    for (unsigned i = 0; i < width; i++)
        fields->bits[fields->count++] = i < 64 ? value >> i & 1 : 0;
}

/** A flag that is sent as a difference to the bit before it. */
static inline void rec_field_flag(struct rec_fields *fields, bool flag)
{
    rec_field(fields, fields->bits[fields->count - 1] ^ flag, 1);
}

/**
 * To bytes: bits that repeat the one before them at the end are left out, and the last byte is
 * filled with copies of its top bit. Returns how many bytes; `bytes` has room for 80.
 */
static inline unsigned rec_fields_pack(const struct rec_fields *fields, uint8_t *bytes)
{
    unsigned count = fields->count;
    while (count > 1 && fields->bits[count - 1] == fields->bits[count - 2])
        count--;
    unsigned size = (count + 7) / 8;
    for (unsigned i = 0; i < size; i++) {
        bytes[i] = 0;
        for (unsigned bit = 0; bit < 8; bit++) {
            unsigned at = 8 * i + bit < count ? 8 * i + bit : count - 1;
            bytes[i] |= (uint8_t)(fields->bits[at] << bit);
        }
    }
    return size;
}

#endif
