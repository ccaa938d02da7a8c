// SPDX-License-Identifier: MIT
/** @file Payloads into RISC-V packet encapsulation. */
#ifndef PUG_RECORDER_ENCAPSULATION_H
#define PUG_RECORDER_ENCAPSULATION_H

#include "recorder/bytes.h"

/** The fill of a packet's last byte. */
enum rec_padding {
    REC_PAD_SIGN, /**< copies of the payload's last bit; the payload is cut to the bit */
    REC_PAD_ZERO, /**< the payload is whole bytes, zeros follow it */
    REC_PAD_ONE,
    REC_PAD_ANY, /**< … or anything; it has no relation to what was sent before */
};

/** The width of one source's type field. */
struct rec_type_width {
    uint16_t source;
    unsigned bits;
};

struct rec_encapsulation {
    unsigned src_bits, type_bits, timestamp_bytes, flow;
    const struct rec_type_width *widths; /**< of sources whose type field is not type_bits wide */
    size_t width_count;
    unsigned null_flow; /**< of nulls; in a bit stream it has to be 0 */
    bool unframed;      /**< the last null in front of a packet is null.alignment, always */
    bool idle_syncs;    /**< framed: synchronisation sequences end in null.idle */
    enum rec_padding padding;
    struct rec_random *random; /**< for REC_PAD_ANY */
    uint32_t block;            /**< packets do not straddle blocks of so many bytes; 0: no blocks */
    struct rec_bytes *out;
};

/** How wide the source's type field is. */
unsigned rec_type_bits(const struct rec_encapsulation *encapsulation, uint16_t source);

/**
 * One payload; `timestamp` NULL: none. Of numbers the low bits are written that their fields have.
 * False, and nothing is written: its length is 0, or more than the 31 that the header can tell.
 */
bool rec_encapsulate(struct rec_encapsulation *encapsulation, uint16_t source, unsigned type,
                     const uint64_t *timestamp, const uint8_t *payload, unsigned size);

/** One null packet. */
void rec_encapsulation_null(struct rec_encapsulation *encapsulation, bool alignment);

/** Nulls in front of a packet. */
void rec_encapsulation_nulls(struct rec_encapsulation *encapsulation, unsigned count);

/** Put enough nulls for a reader to find the next header. */
void rec_encapsulation_sync(struct rec_encapsulation *encapsulation);

/** The same bits, `shift` (0 to 7) later. */
void rec_shift_bits(struct rec_bytes *bytes, unsigned shift);

#endif
