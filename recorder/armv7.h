// SPDX-License-Identifier: MIT
/** @file Fields that ETMv3 and PTM packets share. */
#ifndef PUG_RECORDER_ARMV7_H
#define PUG_RECORDER_ARMV7_H

#include "recorder/bytes.h"

/** Bytes of a context id: ETMCR [15:14]. */
static inline unsigned rec_armv7_context_id_bytes(uint32_t control)
{
    static const uint8_t bytes[4] = {0, 1, 2, 4};
    return bytes[control >> 14 & 3];
}

/** Bits below the lowest one of an address that can be set. */
unsigned rec_armv7_shift(uint8_t isa);

/** Choices that a unit is free in, under a seed; once in so many, 0: never. */
struct rec_armv7_freedom {
    uint32_t longer_once_in;  /**< an address in more bytes than it needs */
    uint32_t shorter_once_in; /**< atoms do not wait for a full packet */
    struct rec_random random;
};

/** Bytes that an address is to have at least: `least`, or more. */
unsigned rec_armv7_length(struct rec_armv7_freedom *freedom, unsigned least);
/** Are the atoms to be sent now? */
bool rec_armv7_sends_atoms(struct rec_armv7_freedom *freedom);

/** Five zeros and 0x80. */
void rec_armv7_a_sync(struct rec_bytes *out);

/** 7 bits a byte, as many as differ from `last`; at most 7 bytes for 48 bits, 9 for 64. */
void rec_armv7_timestamp(struct rec_bytes *out, uint64_t value, uint64_t last, unsigned longest);

#endif
