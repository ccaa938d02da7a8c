// SPDX-License-Identifier: MIT
/** @file Signs: what a decoder's messages say about trace, program and settings, counted. */
#ifndef PUG_DIAGNOSE_SIGNS_H
#define PUG_DIAGNOSE_SIGNS_H

#include "pugmark/log.h"

#include <stddef.h>

#define PUG_MISSETS 16u

/** Evidence about one source that trace and settings do not fit. */
struct pug_misset {
    uint32_t source;
    uint64_t count, looked; /**< of these, where a diagnosis looks at ranges */
    uint64_t index;         /**< of the first one */
    char text[160];         /**< the same: what it is, and which setting */
};

struct pug_signs {
    uint64_t bad_packets;
    uint64_t misfits; /**< of trace and program */
    struct {
        uint64_t index;
        char text[160];
    } misfit;                               /**< the first of these */
    uint64_t cut;                           /**< packets and frames that the data end in */
    uint64_t frames_cut;                    /**< of these, frames */
    struct pug_misset missets[PUG_MISSETS]; /**< of trace and settings, by source */
    size_t misset_count;
};

/** Counts a message. */
void pug_signs_take(struct pug_signs *signs, const struct pug_log_record *record);

#endif
