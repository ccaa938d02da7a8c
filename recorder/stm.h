// SPDX-License-Identifier: MIT
/** @file Makes STM trace (STPv2), packet by packet. */
#ifndef PUG_RECORDER_STM_H
#define PUG_RECORDER_STM_H

#include "pugmark/advanced/packet/stm.h"
#include "recorder/bytes.h"

struct rec_stm {
    struct rec_bytes *bytes;
    uint8_t low; /**< a nibble that waits for the high one of its byte */
    bool half;   /**< … where there is one */
};

/** One nibble, as it is; for what a trace unit would not send. */
void rec_stm_nibble(struct rec_stm *stm, unsigned nibble);
/** Puts many nibbles, given in hexadecimal with blanks between them. */
void rec_stm_nibbles(struct rec_stm *stm, const char *text);

/**
 * One packet as a decoder would give it back: of a master or channel packet `master` and `channel`,
 * of others `payload`, `marker`, and with `has_ts` the low `ts_bits` bits of `timestamp` in the
 * encoding `ts_type`. NOTSYNC, bad and incomplete packets have no form and write nothing.
 */
void rec_stm_put(struct rec_stm *stm, const struct pug_stm_packet *packet);

/** How many bits of `timestamp` have to be sent after `previous`: what fits `ts_bits`. */
uint8_t rec_stm_ts_bits(uint64_t previous, uint64_t timestamp, enum pug_stm_ts_type ts_type);

/** Fill up the last byte; what was to be its second nibble reads as a NULL packet. */
void rec_stm_end(struct rec_stm *stm);

#endif
