// SPDX-License-Identifier: MIT
/** @file ETMv3: counting in place of elements. */
#ifndef PUG_ETMV3_COUNT_H
#define PUG_ETMV3_COUNT_H

#include "counts/paths.h"
#include "protocol/etmv3/decoder.h"

/** Steps after which all is spread, so that no tally overflows. */
#define PUG_ETMV3_MOST_STEPS (UINT64_C(1) << 27)

/**
 * A header is next: it is counted, unless ranges are not, or the consumer waits for elements that
 * come before.
 */
void pug_etmv3_count_on(struct pug_etmv3_decoder *decoder);
/** A header is next that is not counted. */
void pug_etmv3_count_stop(struct pug_etmv3_decoder *decoder);

/** Execution comes to an instruction. */
void pug_etmv3_count_arrive(struct pug_etmv3_decoder *decoder, const struct pug_etmv3_insn *insn);

/** Ends counting after the last step. The next step starts a new count. */
void pug_etmv3_count_end(struct pug_etmv3_decoder *decoder);

/**
 * The fast path ends here, but nothing is done for that before something else than the fast path
 * comes: pug_etmv3_count_close(). `holds`: the last step can still be cancelled.
 */
void pug_etmv3_count_pause(struct pug_etmv3_decoder *decoder, bool holds);
void pug_etmv3_count_close(struct pug_etmv3_decoder *decoder);

/** All tallies into the counts. */
void pug_etmv3_spread(struct pug_etmv3_decoder *decoder);

/** Instructions get more room: so do their tallies, where there are any. */
bool pug_etmv3_count_room(struct pug_etmv3_counting *counting, uint32_t room, uint32_t more);

void pug_etmv3_counting_free(struct pug_etmv3_decoder *decoder);

#endif
