// SPDX-License-Identifier: MIT
/** @file Messages that do what they did before: what lane.c and habit.c share. */
#ifndef PUG_PROTOCOL_NTRACE_HABIT_H
#define PUG_PROTOCOL_NTRACE_HABIT_H

#include "image/paths.h"
#include "protocol/ntrace/decode.h"

/** May messages be habits now? Until one is decoded, or elements are delivered, that stays so. */
bool pug_ntrace_may_repeat(const struct pug_ntrace_decoder *d);

/**
 * A message as two words: if it is a habit, do what it does. Else false, and whether it is to
 * become one is in `meeting`.
 */
bool pug_ntrace_repeat(struct pug_ntrace_decoder *d, struct pug_habit_meeting *meeting,
                       uint64_t low, uint64_t high, uint64_t index);

/** Before anything else: the decoder stands where its habits left it. */
void pug_ntrace_settle(struct pug_ntrace_decoder *d);

/** It was decoded, and tells no time: keep what it did. */
void pug_ntrace_keep(struct pug_ntrace_decoder *d, const struct pug_habit_meeting *meeting);

/* ---- walk.c ---- */

void pug_ntrace_push_return(struct pug_ntrace_decoder *d, uint64_t address);
/** False: there is none. */
bool pug_ntrace_pop_return(struct pug_ntrace_decoder *d, uint64_t *address);

#endif
