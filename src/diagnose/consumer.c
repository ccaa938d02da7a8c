// SPDX-License-Identifier: MIT
/** @file The consumer that collects evidence from elements. */
#include "diagnose/evidence.h"
#include "diagnose/findings.h"

#include <stdlib.h>

struct part {
    const struct pug_evidence_taker *taker;
    struct pug_diagnosis_part *evidence;
};

/** Makes a part of evidence, which is the part's then; NULL: out of memory. */
static struct part *new_part(const struct pug_evidence_taker *taker,
                             struct pug_diagnosis_part *evidence)
{
    struct part *part = evidence ? malloc(sizeof(*part)) : NULL;
    if (part)
        *part = (struct part){taker, evidence};
    else
        pug_diagnosis_drop(evidence);
    return part;
}

static void *begin_part(void *context, unsigned worker, struct pug_piece *piece)
{
    const struct pug_evidence_taker *taker = context;
    (void)worker;
    (void)piece;
    return new_part(taker, pug_diagnosis_begin(taker->diagnosis));
}

static void drop_part(void *context)
{
    struct part *part = context;
    pug_diagnosis_drop(part->evidence);
    free(part);
}

/** If only a part of the trace was asked for, its elements alone are evidence. */
static void add_elements(void *context, const struct pug_origin *origin,
                         const struct pug_element *elements, size_t count)
{
    const struct part *part = context;
    const struct pug_evidence_taker *taker = part->taker;
    (void)origin;
    if (!taker->narrow)
        pug_diagnosis_elements(part->evidence, elements, count);
    for (size_t i = 0; taker->narrow && i < count; i++)
        if (elements[i].index >= taker->from && elements[i].index < taker->to)
            pug_diagnosis_elements(part->evidence, &elements[i], 1);
}

static bool take_part(void *context, void *taken)
{
    const struct pug_evidence_taker *taker = context;
    struct part *part = taken;
    pug_diagnosis_take(taker->diagnosis, part->evidence);
    free(part);
    return true;
}

/* ---- other processes ---- */

static void pack_part(const void *context, struct pug_state *bytes)
{
    const struct part *part = context;
    pug_diagnosis_pack(part->evidence, bytes);
}

static void *unpack_part(void *context, const uint8_t *bytes, size_t size)
{
    const struct pug_evidence_taker *taker = context;
    struct pug_bytes left = pug_bytes_of(bytes, size);
    return new_part(taker, pug_diagnosis_unpack(taker->diagnosis, &left));
}

static bool fold_part(void *context, void *folded)
{
    struct part *part = context, *later = folded;
    const bool good = pug_diagnosis_fold(part->evidence, later->evidence);
    free(later);
    return good;
}

static bool shows_ranges(void *context, uint64_t at, uint64_t *end)
{
    (void)context;
    return pug_diagnosis_looks(at, end);
}

struct pug_consumer pug_evidence_consumer(struct pug_evidence_taker *taker)
{
    return (struct pug_consumer){.context = taker,
                                 .begin = begin_part,
                                 .elements = add_elements,
                                 .shows = shows_ranges,
                                 .take = take_part,
                                 .drop = drop_part,
                                 .pack = pack_part,
                                 .unpack = unpack_part,
                                 .fold = fold_part};
}
