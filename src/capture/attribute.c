// SPDX-License-Identifier: MIT
/** @file Where elements belong, and whether they were asked for. */
#include "capture/decode.h"
#include "capture/marks.h"
#include "counts/counts.h"

#include <stdlib.h>
#include <string.h>

#define IDS (PUG_CTX_CONTEXT_ID | PUG_CTX_VMID)

bool pug_attribution_open(struct pug_attribution *attribution,
                          const struct pug_capture_decoding *decoding,
                          const struct pug_receiver *receiver)
{
    struct pug_capture *capture = decoding->capture;
    attribution->decoding = decoding;
    if (receiver)
        attribution->receiver = *receiver;
    attribution->segment = UINT32_MAX;
    attribution->worker = capture->ops->worker ? capture->ops->worker(capture)
                                               : calloc(1, sizeof(*attribution->worker));
    if (!attribution->worker)
        return false;
    attribution->worker->capture = capture;
    const struct pug_capture_selection *selection = decoding->selection;
    attribution->worker->reader = decoding->marks;
    attribution->worker->times =
        decoding->times || (selection && (selection->has_from || selection->has_to));
    /* Pieces of a segment that is cut among threads begin anywhere, at the same times always. */
    attribution->fine = selection && (selection->has_from || selection->has_to);
    attribution->fine |=
        attribution->worker->times && (!capture->ops->worker || decoding->each_time);
    attribution->marked = UINT32_MAX;
    return true;
}

void pug_attribution_close(struct pug_attribution *attribution)
{
    if (attribution->worker && attribution->worker->capture->ops->worker)
        attribution->worker->capture->ops->worker_free(attribution->worker);
    else
        free(attribution->worker);
}

enum pug_status pug_attribution_begin(struct pug_attribution *attribution, uint32_t segment,
                                      struct pug_tree *tree)
{
    const struct pug_capture_ops *ops = attribution->decoding->capture->ops;
    attribution->worker->segment = segment;
    attribution->segment = UINT32_MAX;
    attribution->round++;
    return ops->begin ? ops->begin(attribution->worker, tree) : PUG_OK;
}

/* ---- one origin ---- */

/** Does time pass, or may memory change, before an element, where its ids do not show it? */
static inline bool is_moment(const struct pug_element *element)
{
    return element->type == PUG_ELEM_TRACE_ON || element->type == PUG_ELEM_PE_CONTEXT;
}

/** Do two elements of one batch belong together? */
static inline bool together(const struct pug_attribution *attribution, const struct pug_element *a,
                            const struct pug_element *b, bool moves)
{
    const unsigned ids = a->context_flags & IDS;
    if (attribution->fine && (b->index > attribution->until || b->index < attribution->since))
        return false;
    if (a->source != b->source || (b->context_flags & IDS) != ids || (moves && is_moment(b)))
        return false;
    return !ids || (a->context_id == b->context_id && a->vmid == b->vmid);
}

static struct pug_reader_space reader_of(const struct pug_element *element)
{
    struct pug_reader_space reader = {.space = PUG_SPACE_ANY, .source = element->source};
    reader.has_context_id = element->context_flags & PUG_CTX_CONTEXT_ID;
    reader.has_vmid = element->context_flags & PUG_CTX_VMID;
    reader.context_id = reader.has_context_id ? element->context_id : 0;
    reader.vmid = reader.has_vmid ? element->vmid : 0;
    return reader;
}

const struct pug_address_space *pug_capture_element_space(struct pug_capture *capture,
                                                          uint32_t buffer,
                                                          const struct pug_element *element)
{
    const struct pug_reader_space reader = reader_of(element);
    return pug_capture_image_space(capture, buffer, &reader);
}

static bool same_reader(const struct pug_reader_space *a, const struct pug_reader_space *b)
{
    return a->source == b->source && a->has_context_id == b->has_context_id &&
           a->has_vmid == b->has_vmid && a->context_id == b->context_id && a->vmid == b->vmid;
}

static bool is_chosen(const struct pug_attribution *attribution)
{
    const struct pug_capture_selection *selection = attribution->decoding->selection;
    const struct pug_origin *at = &attribution->origin;
    const bool *tasks = attribution->decoding->tasks;
    if (!selection)
        return true;
    if (tasks && (at->task == PUG_NO_TASK || !tasks[at->task]))
        return false;
    if (!pug_capture_is_listed(selection->cpus, selection->cpu_count, at->cpu))
        return false;
    if ((selection->has_from || selection->has_to) && at->time == 0)
        return false; /* its time is unknown */
    return (!selection->has_from || at->time >= selection->from) &&
           (!selection->has_to || at->time < selection->to);
}

/** The time of an element at an index, of a capture that only its trace dates; 0: unknown. */
static uint64_t trace_time(struct pug_attribution *attribution, uint16_t source, uint64_t index)
{
    struct pug_capture *capture = attribution->decoding->capture;
    const uint32_t segment = attribution->worker->segment;
    uint64_t ticks;
    if (attribution->marked != segment)
        attribution->marks = pug_capture_marks_of(capture, segment);
    attribution->marked = segment;
    return attribution->marks && pug_capture_marks_time(attribution->marks, source, index, &ticks,
                                                        &attribution->worker->until)
               ? pug_capture_from_ticks(capture, ticks)
               : 0;
}

/**
 * The source goes on where it was, or not. If it does time has passed, and its decoder sees the
 * memory that it saw.
 */
static void go_on(struct pug_attribution *attribution, struct pug_capture_last *last,
                  const struct pug_reader_space *reader, const struct pug_element *first,
                  bool moves)
{
    struct pug_origin *origin = &attribution->origin;
    const bool here = last->round == attribution->round;
    if (here && !moves && same_reader(reader, &last->reader)) {
        origin->space = last->space;
        origin->task = last->task;
    } else if (!here || last->task != origin->task || first->type == PUG_ELEM_TRACE_ON) {
        last->residency = origin->time ? origin->time : last->residency;
    }
    last->round = attribution->round;
    last->task = origin->task;
    last->reader = *reader;
    last->space = origin->space;
    attribution->residency = last->residency;
}

static void find_origin(struct pug_attribution *attribution, const struct pug_element *first)
{
    const struct pug_capture *capture = attribution->decoding->capture;
    const uint32_t segment = attribution->worker->segment;
    const struct pug_capture_segment *place = &pug_capture_segments(capture)[segment];
    const struct pug_reader_space reader = reader_of(first);
    const bool moves =
        (attribution->worker->times || attribution->worker->moves) && is_moment(first);
    if (attribution->segment == segment && !moves && same_reader(&reader, &attribution->reader) &&
        (!attribution->fine ||
         (first->index <= attribution->until && first->index >= attribution->since)))
        return;
    attribution->origin = (struct pug_origin){.buffer = place->buffer,
                                              .segment = segment,
                                              .task = PUG_NO_TASK,
                                              .cpu = place->cpu,
                                              .source = first->source,
                                              .time = place->time};
    const struct pug_capture_moment moment = {
        .segment = segment, .index = first->index, .source = first->source, .reader = reader};
    attribution->worker->until = UINT64_MAX;
    if (attribution->worker->times && !capture->ops->worker)
        attribution->origin.time = trace_time(attribution, first->source, first->index);
    capture->ops->situate(attribution->worker, &moment, &attribution->origin);
    go_on(attribution, &attribution->last[first->source % PUG_ATTRIBUTION_SOURCES], &reader, first,
          moves);
    if (attribution->worker->times && !attribution->fine)
        attribution->origin.time = attribution->residency;
    attribution->until = attribution->worker->until;
    attribution->since = first->index;
    attribution->reader = reader;
    attribution->segment = segment;
    attribution->chosen = is_chosen(attribution);
}

/* ---- objects ---- */

/** Is an element in a chosen object, or in none at all? */
static bool in_objects(const struct pug_attribution *attribution, const struct pug_element *element)
{
    const struct pug_capture_selection *selection = attribution->decoding->selection;
    struct pug_capture *capture = attribution->decoding->capture;
    struct pug_location location;
    if (element->type != PUG_ELEM_INSTR_RANGE && element->type != PUG_ELEM_I_RANGE_NOPATH)
        return true;
    if (!pug_capture_locate(capture, &attribution->origin, element->start, &location))
        return false;
    const struct pug_capture_object *object = pug_capture_objects(capture)[location.object];
    for (size_t i = 0; i < selection->object_count; i++)
        if (pug_object_is(object->path, object->build_id, object->build_id_size,
                          selection->objects[i]))
            return true;
    return false;
}

static void put(struct pug_attribution *attribution, bool left_out,
                const struct pug_element *elements, size_t count)
{
    const struct pug_receiver *receiver = &attribution->receiver;
    receiver->give(receiver->context, &attribution->origin, attribution->residency, left_out,
                   elements, count);
}

static void give_some(struct pug_attribution *attribution, const struct pug_element *elements,
                      size_t count)
{
    size_t from = 0;
    for (size_t i = 0; i <= count; i++) {
        if (i < count && in_objects(attribution, &elements[i]))
            continue;
        if (i > from)
            put(attribution, false, elements + from, i - from);
        from = i + 1;
    }
}

/* ---- elements ---- */

static void give(struct pug_attribution *attribution, const struct pug_element *elements,
                 size_t count)
{
    const struct pug_capture_decoding *decoding = attribution->decoding;
    find_origin(attribution, elements);
    if (!attribution->chosen) {
        if (decoding->left_out)
            put(attribution, true, elements, count);
        return;
    }
    if (decoding->selection && decoding->selection->object_count > 0)
        give_some(attribution, elements, count);
    else
        put(attribution, false, elements, count);
}

bool pug_attribution_look(struct pug_attribution *attribution, const struct pug_element *element)
{
    const struct pug_capture_selection *selection = attribution->decoding->selection;
    find_origin(attribution, element);
    return attribution->chosen &&
           (!selection || selection->object_count == 0 || in_objects(attribution, element));
}

void pug_attribution_elements(struct pug_attribution *attribution,
                              const struct pug_element *elements, size_t count)
{
    const bool moves = attribution->worker->times || attribution->worker->moves;
    size_t from = 0;
    for (size_t to = 1; to <= count; to++) {
        if (to - from == 1 && attribution->fine)
            find_origin(attribution, &elements[from]);
        if (to < count && together(attribution, &elements[to - 1], &elements[to], moves))
            continue;
        give(attribution, elements + from, to - from);
        from = to;
    }
}

/* ---- counts ---- */

/** The owner of counts. */
struct counted {
    struct pug_capture *capture;
    uint32_t buffer;
};

/** What it is already, or the number of the space that the image has for the context. */
static uint64_t memory_of(const void *asker, const struct pug_element *context)
{
    const struct counted *counted = asker;
    const struct pug_reader_space reader = reader_of(context);
    const struct pug_address_space *space =
        context->value ? NULL : pug_capture_image_space(counted->capture, counted->buffer, &reader);
    return space ? space->number : context->value;
}

void pug_attribution_counts(struct pug_capture *capture, uint32_t segment,
                            struct pug_counts *counts)
{
    const struct counted counted = {capture, pug_capture_segments(capture)[segment].buffer};
    pug_counts_change_memories(counts, memory_of, &counted);
}
