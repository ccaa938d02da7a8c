// SPDX-License-Identifier: MIT
/** @file What a pass over the packets of a source counts. */
#ifndef PUGMARK_TOOL_TALLY_H
#define PUGMARK_TOOL_TALLY_H

#include "pugmark/pugmark.h"

struct tally {
    const struct pug_source *source; /**< only while its tree is there */
    const struct pug_protocol *protocol;
    uint64_t packets, syncs, bad;
    uint64_t first_sync; /**< where there are syncs */
    uint64_t timestamps, first_time, last_time;
};

/** Count the packets of a source, besides what was counted before. */
void tally_source(struct tally *tally, struct pug_source *source);

/** "times 5 to 7", in the capture's unit; "" where there are none. */
const char *tally_times(const struct tally *tally, const struct pug_capture *capture, char *text,
                        size_t size);

#endif
