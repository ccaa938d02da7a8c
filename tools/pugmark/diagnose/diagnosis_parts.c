// SPDX-License-Identifier: MIT
/** @file Evidence from elements that are on their way to somebody else. */
#include "diagnosis_private.h"

#include "diagnose/evidence.h"

#include <stdlib.h>

struct double_part {
    struct pug_passage passage; /* first: it is the way from a passage to its part */
    struct pug_passage *outer;
    struct diagnosis *diagnosis;
    struct pug_diagnosis_part *evidence;
    void *inner;
};

/** Of a part that was begun, or only half of it. */
static void drop_part(void *context)
{
    struct double_part *part = context;
    if (part->inner)
        part->diagnosis->inner->drop(part->inner);
    pug_diagnosis_drop(part->evidence);
    free(part);
}

static void *begin_part(void *context, unsigned worker)
{
    struct diagnosis *diagnosis = context;
    struct double_part *part = calloc(1, sizeof(*part));
    if (!part)
        return NULL;
    part->diagnosis = diagnosis;
    part->evidence = pug_diagnosis_begin(diagnosis->evidence);
    part->inner = diagnosis->inner->begin(diagnosis->inner->context, worker);
    if (part->inner && part->evidence)
        return part;
    drop_part(part);
    return NULL;
}

/** Of a portion there is no evidence: that is its part's. */
static bool give_portion(struct pug_passage *passage, void *portion, size_t size)
{
    const struct double_part *part = (const struct double_part *)passage;
    struct double_part *wrapped = portion ? calloc(1, sizeof(*wrapped)) : NULL;
    if (wrapped) {
        wrapped->diagnosis = part->diagnosis;
        wrapped->inner = portion;
    } else if (portion) {
        part->diagnosis->inner->drop(portion);
    }
    return pug_passage_give(part->outer, wrapped, size);
}

static void set_passage(void *context, struct pug_passage *passage)
{
    struct double_part *part = context;
    part->outer = passage;
    part->passage.give = give_portion;
    part->diagnosis->inner->passage(part->inner, &part->passage);
}

/** Of a part of the trace alone its elements count. */
static void collect(const struct double_part *part, const struct pug_element *elements,
                    size_t count)
{
    const struct input *input = part->diagnosis->input;
    if (!input->narrow)
        pug_diagnosis_elements(part->evidence, elements, count);
    for (size_t i = 0; input->narrow && i < count; i++)
        if (input_counts(input, elements[i].index))
            pug_diagnosis_elements(part->evidence, &elements[i], 1);
}

static void part_elements(void *context, const struct pug_element *elements, size_t count)
{
    struct double_part *part = context;
    part->diagnosis->inner->elements(part->inner, elements, count);
    collect(part, elements, count);
}

static bool take_part(void *context, void *taken)
{
    struct diagnosis *diagnosis = context;
    struct double_part *part = taken;
    void *inner = part->inner;
    if (part->evidence)
        pug_diagnosis_take(diagnosis->evidence, part->evidence);
    free(part);
    return diagnosis->inner->take(diagnosis->inner->context, inner);
}

static struct pug_counts *part_counts(void *context)
{
    struct double_part *part = context;
    return part->diagnosis->inner->counts(part->inner);
}

static bool watch(void *context, unsigned worker, struct pug_tree *tree)
{
    const struct diagnosis *diagnosis = context;
    return diagnosis->inner->watch(diagnosis->inner->context, worker, tree);
}

/* ---- other processes ---- */

static void pack_part(const void *context, struct pug_state *bytes)
{
    const struct double_part *part = context;
    pug_state_number(bytes, part->evidence != NULL);
    if (part->evidence)
        pug_diagnosis_pack(part->evidence, bytes);
    part->diagnosis->inner->travel->pack(part->inner, bytes);
}

static void *unpack_part(void *context, const uint8_t *bytes, size_t size)
{
    struct diagnosis *diagnosis = context;
    struct pug_bytes left = pug_bytes_of(bytes, size);
    struct double_part *part = calloc(1, sizeof(*part));
    if (!part)
        return NULL;
    const bool has_evidence = pug_bytes_take_64(&left);
    part->diagnosis = diagnosis;
    part->evidence = has_evidence ? pug_diagnosis_unpack(diagnosis->evidence, &left) : NULL;
    part->inner =
        diagnosis->inner->travel->unpack(diagnosis->inner->context, left.at, pug_bytes_left(&left));
    if (part->inner && (part->evidence || !has_evidence))
        return part;
    drop_part(part);
    return NULL;
}

static bool fold_part(void *context, void *taken)
{
    struct double_part *part = context, *later = taken;
    const bool known = pug_diagnosis_fold(part->evidence, later->evidence);
    const bool good = part->diagnosis->inner->travel->fold(part->inner, later->inner);
    free(later);
    return known && good;
}

/** As the inner parts do. */
static const struct pug_travel *travel_of(const struct pug_parts *inner)
{
    static const struct pug_travel one_by_one = {.pack = pack_part, .unpack = unpack_part},
                                   folded = {
                                       .pack = pack_part, .unpack = unpack_part, .fold = fold_part};
    return !inner->travel ? NULL : inner->travel->fold ? &folded : &one_by_one;
}

static bool shows_ranges(void *context, uint64_t at, uint64_t *end)
{
    (void)context;
    return pug_diagnosis_looks(at, end);
}

const struct pug_parts *diagnosis_parts(struct diagnosis *diagnosis, const struct pug_parts *inner)
{
    diagnosis->inner = inner;
    diagnosis->parts = (struct pug_parts){.context = diagnosis,
                                          .begin = begin_part,
                                          .elements = part_elements,
                                          .take = take_part,
                                          .drop = drop_part,
                                          .counts = inner->counts ? part_counts : NULL,
                                          .shows = shows_ranges,
                                          .passage = inner->passage ? set_passage : NULL,
                                          .travel = travel_of(inner),
                                          .watch = inner->watch ? watch : NULL,
                                          .untimed = inner->untimed};
    return &diagnosis->parts;
}

static enum pug_response consume(void *context, const struct pug_element *elements, size_t count,
                                 size_t *taken)
{
    struct diagnosis *diagnosis = context;
    *taken = count;
    enum pug_response response =
        diagnosis->consumer(diagnosis->consumer_context, elements, count, taken);
    if (diagnosis->own)
        pug_diagnosis_elements(diagnosis->own, elements,
                               response >= PUG_RESP_WAIT ? *taken : count);
    return response;
}

void diagnosis_add(struct diagnosis *diagnosis, const struct pug_element *element)
{
    if (!diagnosis->own)
        diagnosis->own = pug_diagnosis_begin(diagnosis->evidence);
    if (diagnosis->own)
        pug_diagnosis_elements(diagnosis->own, element, 1);
}

void diagnosis_consume(struct diagnosis *diagnosis, pug_elements_fn *function, void *context)
{
    diagnosis->consumer = function;
    diagnosis->consumer_context = context;
    diagnosis->own = pug_diagnosis_begin(diagnosis->evidence);
    pug_tree_on_elements(diagnosis->input->tree, consume, diagnosis);
}
