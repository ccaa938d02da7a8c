// SPDX-License-Identifier: MIT
/** @file Messages that do what they did before: what fast_path.c and packet_memo.c share. */
#ifndef PUG_PROTOCOL_NTRACE_MEMO_H
#define PUG_PROTOCOL_NTRACE_MEMO_H

#include "counts/paths.h"
#include "protocol/ntrace/decode.h"

/** May messages be memos now? Until one is decoded, or elements are delivered, that stays so. */
bool pug_ntrace_may_repeat(const struct pug_ntrace_decoder *d);

/**
 * A message as two words: if it is a memo, do what it does. Else false, and whether it is to
 * become one is in `lookup`.
 */
bool pug_ntrace_repeat(struct pug_ntrace_decoder *d, struct pug_memo_lookup *lookup, uint64_t low,
                       uint64_t high, uint64_t index);

/** Before anything else: the decoder stands where its memos left it. */
void pug_ntrace_settle(struct pug_ntrace_decoder *d);

/** The message was decoded and has no time: keep its effects. */
void pug_ntrace_keep(struct pug_ntrace_decoder *d, const struct pug_memo_lookup *lookup);

/* ---- walk.c ---- */

void pug_ntrace_push_return(struct pug_ntrace_decoder *d, uint64_t address);
/** False: there is none. */
bool pug_ntrace_pop_return(struct pug_ntrace_decoder *d, uint64_t *address);

#endif
