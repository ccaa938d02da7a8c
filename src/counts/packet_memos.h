// SPDX-License-Identifier: MIT
/** @file Memos of packets that are counted instead of giving the ranges of their elements. */
#ifndef PUG_COUNTS_PACKET_MEMOS_H
#define PUG_COUNTS_PACKET_MEMOS_H

#include "counts/paths.h"
#include "image/packet_memo.h"

/**
 * Counts a memo once more in place of its ranges, and ends an open chain before it. False: this
 * cannot be done now. If the memo ends with a hop, `last.start` is where that hop led.
 */
bool pug_memos_count(struct pug_memos *memos, struct pug_stage *stage, struct pug_chain *chain,
                     struct pug_memo *memo);

/** private: ends a row of counted memos. */
void pug_memos_end_row(struct pug_memos *memos);

/** Ends the row, if there is one. Called before anything but memos is counted or pushed. */
static inline void pug_memos_count_close(struct pug_memos *memos)
{
    if (memos->counted)
        pug_memos_end_row(memos);
}

/** Called before the paths are freed. */
void pug_memos_counting_end(struct pug_memos *memos);

#endif
