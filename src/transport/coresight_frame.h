// SPDX-License-Identifier: MIT
/**
 * @file A CoreSight frame.
 *
 * A frame is seven pairs, a single byte (14) and a byte of auxiliary bits (15), bit k for byte 2k.
 * An even byte with bit 0 set is a new id, else it is data whose bit 0 is the auxiliary bit. With a
 * new id the auxiliary bit says whether the odd byte after it still belongs to the old one.
 */
#ifndef PUG_TRANSPORT_CORESIGHT_FRAME_H
#define PUG_TRANSPORT_CORESIGHT_FRAME_H

#include "transport/coresight.h"

#define PUG_CS_EVEN_BIT_0 UINT64_C(0x0001000100010001)

/** Four auxiliary bits, spread to bit 0 of four even bytes. */
static inline uint64_t pug_cs_spread(unsigned aux)
{
    static const uint64_t table[16] = {
        0x0000000000000000, 0x0000000000000001, 0x0000000000010000, 0x0000000000010001,
        0x0000000100000000, 0x0000000100000001, 0x0000000100010000, 0x0000000100010001,
        0x0001000000000000, 0x0001000000000001, 0x0001000000010000, 0x0001000000010001,
        0x0001000100000000, 0x0001000100000001, 0x0001000100010000, 0x0001000100010001,
    };
    return table[aux & 15];
}

/** How many of eight bits are set: once a frame, and the builtin is a call on most targets. */
static inline unsigned pug_cs_count_bits(unsigned bits)
{
    static const uint8_t counts[16] = {0, 1, 1, 2, 1, 2, 2, 3, 1, 2, 2, 3, 2, 3, 3, 4};
    return counts[bits & 15] + counts[bits >> 4 & 15];
}

/** Even bytes that are ids: a bit each. */
static inline unsigned pug_cs_find_ids(const uint8_t *frame)
{
    const uint64_t low = pug_cs_load(frame) & PUG_CS_EVEN_BIT_0,
                   high = pug_cs_load(frame + 8) & PUG_CS_EVEN_BIT_0;
    return (unsigned)(((low | high << 4) * UINT64_C(0x0001000200040008)) >> 48) & 0xff;
}

/** Do all ids of a frame say what is known? A sync has an even byte of 0xff, and so does not. */
static inline bool pug_cs_repeats_id(const struct pug_coresight *cs, const uint8_t *frame,
                                     unsigned ids)
{
    for (; ids; ids &= ids - 1)
        if (frame[2 * __builtin_ctz(ids)] >> 1 != cs->id)
            return false;
    return true;
}

/** Its 16 bytes with their bits 0; the last one is these bits. */
static inline void pug_cs_put_frame(uint8_t *out, const uint8_t *frame)
{
    const uint64_t low = pug_cs_load(frame), high = pug_cs_load(frame + 8);
    const unsigned aux = frame[15];
    pug_cs_store(out, low | pug_cs_spread(aux));
    pug_cs_store(out + 8, high | pug_cs_spread(aux >> 4u));
}

#endif
