// SPDX-License-Identifier: MIT
/** @file Packets that do what they did before: what fast_path.c and packet_memo.c share. */
#ifndef PUG_PROTOCOL_ETRACE_MEMO_H
#define PUG_PROTOCOL_ETRACE_MEMO_H

#include "counts/paths.h"
#include "protocol/etrace/decoder.h"

/** May packets be memos now? Until one is decoded, or elements are delivered, that stays so. */
bool pug_etrace_may_repeat(struct pug_etrace_decoder *d);

/**
 * A packet of formats 0 to 2, or a synchronisation, as two words: if it is a memo, do what it
 * does. Else false, and whether it is to become one is in `lookup`.
 */
bool pug_etrace_repeat(struct pug_etrace_decoder *d, struct pug_memo_lookup *lookup, uint64_t low,
                       uint64_t high, uint64_t index);

/** Before anything else: the decoder stands where its memos left it. */
void pug_etrace_settle(struct pug_etrace_decoder *d);

/** It was decoded: keep what it did. */
void pug_etrace_keep(struct pug_etrace_decoder *d, const struct pug_memo_lookup *lookup);

#endif
