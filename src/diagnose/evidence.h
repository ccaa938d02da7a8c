// SPDX-License-Identifier: MIT
/** @file Evidence by source, as parts and the whole keep it. */
#ifndef PUG_DIAGNOSE_EVIDENCE_H
#define PUG_DIAGNOSE_EVIDENCE_H

#include "base/bytes.h"
#include "pugmark/advanced/diagnose.h"
#include "pugmark/advanced/state.h"
#include "pugmark/walk.h"

#define PUG_LONG_BITS 8u

#define PUG_CALLS_KEPT 16u

#define PUG_RANGES_KEPT 256u

/** A source: its evidence, and what it did last. */
struct pug_source_evidence {
    struct pug_evidence evidence;
    struct pug_element last; /**< range */
    bool follows;            /**< nothing came since that leads elsewhere */
    uint64_t window;
    unsigned reads;          /**< of code, in this window */
    unsigned looked_through; /**< bytes of code, in this window */
    /** Where the last calls return to, and where their ranges begin; the newest is on top. */
    uint64_t calls[PUG_CALLS_KEPT], callers[PUG_CALLS_KEPT];
    unsigned call_top, call_count;
    uint64_t longs[1u << PUG_LONG_BITS]; /**< addresses of instructions of 4 bytes, by their hash */
    uint64_t ranges[PUG_RANGES_KEPT]; /**< looked through for undefined encodings, by their hash */
};

struct pug_source_list {
    struct pug_source_evidence **items; /**< in order of their ids */
    size_t count, room;
};

struct pug_diagnosis_part {
    const struct pug_image *image;
    struct pug_source_list sources;
};

struct pug_diagnosis {
    const struct pug_image *image;
    struct pug_source_list sources;
};

/** The source with this id, made where it is new; NULL: no memory. */
struct pug_source_evidence *pug_evidence_source(struct pug_source_list *list, uint16_t id);

/** `more` is of a later part of the trace. */
void pug_evidence_add(struct pug_evidence *sum, const struct pug_evidence *more);

/** A part as bytes, for another process of the same build. */
void pug_diagnosis_pack(const struct pug_diagnosis_part *part, struct pug_state *bytes);
/** NULL: no memory. */
struct pug_diagnosis_part *pug_diagnosis_unpack(const struct pug_diagnosis *diagnosis,
                                                struct pug_bytes *bytes);
/** Add a later part, which is freed. False: no memory. */
bool pug_diagnosis_fold(struct pug_diagnosis_part *part, struct pug_diagnosis_part *later);

#endif
