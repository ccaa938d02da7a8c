// SPDX-License-Identifier: MIT
/** @file Payloads into RISC-V packet encapsulation. */
#ifndef PUG_RECORDER_ENCAPSULATION_H
#define PUG_RECORDER_ENCAPSULATION_H

#include "recorder/bytes.h"

/** What fills the last byte of a packet. */
enum rec_padding {
    REC_PAD_SIGN, /**< copies of the payload's last bit; the payload is cut to the bit */
    REC_PAD_ZERO, /**< the payload is whole bytes, zeros come behind it */
    REC_PAD_ONE,
};

struct rec_encapsulation {
    unsigned src_bits, type_bits, timestamp_bytes, flow;
    enum rec_padding padding;
    uint32_t block; /**< packets do not straddle blocks of so many bytes; 0: no blocks */
    struct rec_bytes *out;
};

/** One payload; `timestamp` NULL: none. Its length is at most 31 less what shares it. */
void rec_encapsulate(struct rec_encapsulation *encapsulation, uint16_t source, unsigned type,
                     const uint64_t *timestamp, const uint8_t *payload, unsigned size);

void rec_encapsulation_nulls(struct rec_encapsulation *encapsulation, unsigned count);

/** So many nulls that a reader finds the next header; the last one is null.alignment. */
void rec_encapsulation_sync(struct rec_encapsulation *encapsulation);

/** The same bits, `shift` (0 to 7) later. */
void rec_shift_bits(struct rec_bytes *bytes, unsigned shift);

#endif
