// SPDX-License-Identifier: MIT
/** @file Makes ITM and DWT trace, packet by packet. */
#ifndef PUG_RECORDER_ITM_H
#define PUG_RECORDER_ITM_H

#include "pugmark/advanced/packet/itm.h"
#include "recorder/bytes.h"

/**
 * One packet as a decoder would give it back. A local timestamp of 1 to 6 with TC 0 and size 1
 * takes the one-byte form. NOTSYNC, bad and incomplete packets have no form and write nothing.
 */
void rec_itm_put(struct rec_bytes *bytes, const struct pug_itm_packet *packet);

/** The shorthand for what software and the DWT write most. */
void rec_itm_async(struct rec_bytes *bytes);
void rec_itm_swit(struct rec_bytes *bytes, unsigned port, uint32_t value, unsigned size);
void rec_itm_dwt(struct rec_bytes *bytes, unsigned source, uint32_t value, unsigned size);
/** A local timestamp in as few bytes as it takes. */
void rec_itm_local_ts(struct rec_bytes *bytes, unsigned relation, uint32_t cycles);

#endif
