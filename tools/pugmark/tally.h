// SPDX-License-Identifier: MIT
/** @file What a pass over the packets of a source counts. */
#ifndef PUGMARK_TOOL_TALLY_H
#define PUGMARK_TOOL_TALLY_H

#include "pugmark/pugmark.h"

struct tally {
    uint64_t packets, syncs, bad;
    uint64_t first_sync; /**< where there are syncs */
};

/** A packet monitor; its context is a struct tally. */
void tally_packet(void *tally, enum pug_op op, const struct pug_packet *packet);

#endif
