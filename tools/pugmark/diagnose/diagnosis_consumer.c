// SPDX-License-Identifier: MIT
/** @file The diagnosis as a consumer: it collects evidence from elements. */
#include "diagnosis_private.h"

#include "diagnose/evidence.h"

#include <stdlib.h>

struct part {
    const struct diagnosis *diagnosis;
    struct pug_diagnosis_part *evidence;
};

/** Makes a part of evidence, which is the part's then; NULL: out of memory. */
static struct part *new_part(const struct diagnosis *diagnosis, struct pug_diagnosis_part *evidence)
{
    struct part *part = evidence ? malloc(sizeof(*part)) : NULL;
    if (part)
        *part = (struct part){diagnosis, evidence};
    else
        pug_diagnosis_drop(evidence);
    return part;
}

static void *begin_part(void *context, unsigned worker, struct pug_piece *piece)
{
    const struct diagnosis *diagnosis = context;
    (void)worker;
    (void)piece;
    return new_part(diagnosis, pug_diagnosis_begin(diagnosis->evidence));
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
    const struct input *input = part->diagnosis->input;
    (void)origin;
    if (!input->narrow)
        pug_diagnosis_elements(part->evidence, elements, count);
    for (size_t i = 0; input->narrow && i < count; i++)
        if (input_counts(input, elements[i].index))
            pug_diagnosis_elements(part->evidence, &elements[i], 1);
}

static bool take_part(void *context, void *taken)
{
    struct diagnosis *diagnosis = context;
    struct part *part = taken;
    pug_diagnosis_take(diagnosis->evidence, part->evidence);
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
    const struct diagnosis *diagnosis = context;
    struct pug_bytes left = pug_bytes_of(bytes, size);
    return new_part(diagnosis, pug_diagnosis_unpack(diagnosis->evidence, &left));
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

struct pug_consumer diagnosis_consumer(struct diagnosis *diagnosis)
{
    return (struct pug_consumer){.context = diagnosis,
                                 .begin = begin_part,
                                 .elements = add_elements,
                                 .shows = shows_ranges,
                                 .take = take_part,
                                 .drop = drop_part,
                                 .pack = pack_part,
                                 .unpack = unpack_part,
                                 .fold = fold_part};
}

void diagnosis_add(struct diagnosis *diagnosis, const struct pug_element *element)
{
    if (!diagnosis->own)
        diagnosis->own = pug_diagnosis_begin(diagnosis->evidence);
    if (diagnosis->own)
        pug_diagnosis_elements(diagnosis->own, element, 1);
}
