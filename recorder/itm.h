// SPDX-License-Identifier: MIT
/** @file Makes ITM and DWT trace, packet by packet. */
#ifndef PUG_RECORDER_ITM_H
#define PUG_RECORDER_ITM_H

#include "pugmark/advanced/packet/itm.h"
#include "recorder/bytes.h"

/** Hardware sources of the DWT. Of comparator n: _ACCESS + 2 n its PC, and one more its address. */
enum rec_dwt_source {
    REC_DWT_COUNTERS = 0,
    REC_DWT_EXCEPTION = 1,
    REC_DWT_SAMPLE = 2,
    REC_DWT_PMU = 3,
    REC_DWT_ACCESS = 8,
    REC_DWT_VALUE = 16, /**< + 2 n, and one more where it was written */
};

/** Most steps that one local timestamp has room for. */
#define REC_ITM_LOCAL_MOST ((UINT32_C(1) << 28) - 1)

/**
 * One packet as a decoder would give it back. A local timestamp of 1 to 6 with TC 0 and size 1
 * takes the one-byte form. NOTSYNC, bad and incomplete packets have no form and write nothing.
 */
void rec_itm_put(struct rec_bytes *bytes, const struct pug_itm_packet *packet);

/** The shorthand for what software and the DWT write most. */
void rec_itm_async(struct rec_bytes *bytes);
void rec_itm_swit(struct rec_bytes *bytes, unsigned port, uint32_t value, unsigned size);
/** Chooses the 32 stimulus ports that the next writes belong to. */
void rec_itm_page(struct rec_bytes *bytes, unsigned page);
void rec_itm_dwt(struct rec_bytes *bytes, unsigned source, uint32_t value, unsigned size);
/** A local timestamp in as few bytes as it takes. */
void rec_itm_local_ts(struct rec_bytes *bytes, unsigned relation, uint32_t cycles);

#endif
