// SPDX-License-Identifier: MIT
/** @file Where elements belong, and whether they were asked for. */
#include "capture/decode.h"
#include "capture/marks.h"
#include "counts/counts.h"

#include <stdlib.h>
#include <string.h>

#define IDS (PUG_CTX_CONTEXT_ID | PUG_CTX_VMID)

bool pug_capture_lane_open(struct pug_capture_lane *lane,
                           const struct pug_capture_decoding *decoding)
{
    struct pug_capture *capture = decoding->capture;
    lane->decoding = decoding;
    lane->stretch = UINT32_MAX;
    lane->desk = capture->way->desk ? capture->way->desk(capture) : calloc(1, sizeof(*lane->desk));
    if (!lane->desk)
        return false;
    lane->desk->capture = capture;
    const struct pug_capture_selection *selection = decoding->config->selection;
    lane->desk->times =
        decoding->config->times || (selection && (selection->has_from || selection->has_to));
    /* Pieces of a stretch that is cut among threads begin anywhere, at the same times always. */
    lane->fine = selection && (selection->has_from || selection->has_to);
    lane->fine |= lane->desk->times && (!capture->way->desk || decoding->config->each_time);
    lane->marked = UINT32_MAX;
    return true;
}

void pug_capture_lane_close(struct pug_capture_lane *lane)
{
    if (lane->desk && lane->desk->capture->way->desk)
        lane->desk->capture->way->desk_free(lane->desk);
    else
        free(lane->desk);
    for (size_t i = 0; i < PUG_CAPTURE_LANE_TREES; i++)
        pug_tree_free(lane->trees[i].tree);
    pug_counts_free(lane->counts);
    pug_log_free(lane->log);
}

enum pug_status pug_capture_lane_begin(struct pug_capture_lane *lane, uint32_t stretch,
                                       struct pug_tree *tree)
{
    const struct pug_capture_way *way = lane->decoding->capture->way;
    lane->desk->stretch = stretch;
    lane->stretch = UINT32_MAX;
    lane->round++;
    return way->begin ? way->begin(lane->desk, tree) : PUG_OK;
}

/* ---- one situation ---- */

/** Does time pass, or may memory change, before an element, where its ids do not tell? */
static inline bool is_moment(const struct pug_element *element)
{
    return element->type == PUG_ELEM_TRACE_ON || element->type == PUG_ELEM_PE_CONTEXT;
}

/** Do two elements of one batch belong together? */
static inline bool together(const struct pug_capture_lane *lane, const struct pug_element *a,
                            const struct pug_element *b, bool moves)
{
    const unsigned ids = a->context_flags & IDS;
    if (lane->fine && (b->index > lane->until || b->index < lane->since))
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

static bool is_chosen(const struct pug_capture_lane *lane)
{
    const struct pug_capture_selection *selection = lane->decoding->config->selection;
    const struct pug_situation *at = &lane->situation;
    const bool *tasks = lane->decoding->tasks;
    if (!selection)
        return true;
    if (tasks && (at->task == PUG_NO_TASK || !tasks[at->task]))
        return false;
    if (!pug_capture_is_listed(selection->cpus, selection->cpu_count, at->cpu))
        return false;
    if ((selection->has_from || selection->has_to) && at->time == 0)
        return false; /* nobody tells when it was */
    return (!selection->has_from || at->time >= selection->from) &&
           (!selection->has_to || at->time < selection->to);
}

/** When what begins at an index was, of a capture that only its trace dates; 0: nobody tells. */
static uint64_t trace_time(struct pug_capture_lane *lane, uint16_t source, uint64_t index)
{
    struct pug_capture *capture = lane->decoding->capture;
    const uint32_t stretch = lane->desk->stretch;
    uint64_t ticks;
    if (lane->marked != stretch)
        lane->marks = pug_capture_marks_of(capture, stretch);
    lane->marked = stretch;
    return lane->marks &&
                   pug_capture_marks_time(lane->marks, source, index, &ticks, &lane->desk->until)
               ? pug_capture_from_ticks(capture, ticks)
               : 0;
}

/**
 * The source goes on where it was, or not. If it does time has passed, and its decoder sees the
 * memory that it saw.
 */
static void go_on(struct pug_capture_lane *lane, struct pug_capture_last *last,
                  const struct pug_reader_space *reader, const struct pug_element *first,
                  bool moves)
{
    struct pug_situation *situation = &lane->situation;
    const bool here = last->round == lane->round;
    if (here && !moves && same_reader(reader, &last->reader)) {
        situation->space = last->space;
        situation->task = last->task;
    } else if (!here || last->task != situation->task || first->type == PUG_ELEM_TRACE_ON) {
        last->stay = situation->time ? situation->time : last->stay;
    }
    last->round = lane->round;
    last->task = situation->task;
    last->reader = *reader;
    last->space = situation->space;
    lane->stay = last->stay;
}

static void find_situation(struct pug_capture_lane *lane, const struct pug_element *first)
{
    const struct pug_capture *capture = lane->decoding->capture;
    const uint32_t stretch = lane->desk->stretch;
    const struct pug_capture_stretch *place = &pug_capture_stretches(capture)[stretch];
    const struct pug_reader_space reader = reader_of(first);
    const bool moves = (lane->desk->times || lane->desk->moves) && is_moment(first);
    if (lane->stretch == stretch && !moves && same_reader(&reader, &lane->reader) &&
        (!lane->fine || (first->index <= lane->until && first->index >= lane->since)))
        return;
    lane->situation = (struct pug_situation){.buffer = place->buffer,
                                             .stretch = stretch,
                                             .task = PUG_NO_TASK,
                                             .cpu = place->cpu,
                                             .source = first->source,
                                             .time = place->time};
    const struct pug_capture_moment moment = {
        .stretch = stretch, .index = first->index, .source = first->source, .reader = reader};
    lane->desk->until = UINT64_MAX;
    if (lane->desk->times && !capture->way->desk)
        lane->situation.time = trace_time(lane, first->source, first->index);
    capture->way->situate(lane->desk, &moment, &lane->situation);
    go_on(lane, &lane->last[first->source % PUG_CAPTURE_LANE_SOURCES], &reader, first, moves);
    if (lane->desk->times && !lane->fine)
        lane->situation.time = lane->stay;
    lane->until = lane->desk->until;
    lane->since = first->index;
    lane->reader = reader;
    lane->stretch = stretch;
    lane->chosen = is_chosen(lane);
}

/* ---- objects ---- */

/** Is an element in a chosen object, or in none at all? */
static bool in_objects(const struct pug_capture_lane *lane, const struct pug_element *element)
{
    const struct pug_capture_selection *selection = lane->decoding->config->selection;
    struct pug_capture *capture = lane->decoding->capture;
    struct pug_location location;
    if (element->type != PUG_ELEM_INSTR_RANGE && element->type != PUG_ELEM_I_RANGE_NOPATH)
        return true;
    if (!pug_capture_locate(capture, &lane->situation, element->start, &location))
        return false;
    const struct pug_capture_object *object = pug_capture_objects(capture)[location.object];
    for (size_t i = 0; i < selection->object_count; i++)
        if (pug_object_is(object->path, object->build_id, object->build_id_size,
                          selection->objects[i]))
            return true;
    return false;
}

static void give_some(struct pug_capture_lane *lane, void *part, const struct pug_element *elements,
                      size_t count)
{
    const struct pug_capture_decode *config = lane->decoding->config;
    size_t from = 0;
    for (size_t i = 0; i <= count; i++) {
        if (i < count && in_objects(lane, &elements[i]))
            continue;
        if (i > from)
            config->elements(part, &lane->situation, elements + from, i - from);
        from = i + 1;
    }
}

/* ---- elements ---- */

static void give(struct pug_capture_lane *lane, void *part, const struct pug_element *elements,
                 size_t count)
{
    const struct pug_capture_decode *config = lane->decoding->config;
    find_situation(lane, elements);
    if (!lane->chosen) {
        if (lane->decoding->left_out)
            lane->decoding->left_out(part, &lane->situation, elements, count);
        return;
    }
    if (config->selection && config->selection->object_count > 0)
        give_some(lane, part, elements, count);
    else
        config->elements(part, &lane->situation, elements, count);
}

bool pug_capture_lane_look(struct pug_capture_lane *lane, const struct pug_element *element)
{
    const struct pug_capture_selection *selection = lane->decoding->config->selection;
    find_situation(lane, element);
    return lane->chosen &&
           (!selection || selection->object_count == 0 || in_objects(lane, element));
}

void pug_capture_lane_elements(struct pug_capture_lane *lane, void *part,
                               const struct pug_element *elements, size_t count)
{
    const bool moves = lane->desk->times || lane->desk->moves;
    size_t from = 0;
    for (size_t to = 1; to <= count; to++) {
        if (to - from == 1 && lane->fine)
            find_situation(lane, &elements[from]);
        if (to < count && together(lane, &elements[to - 1], &elements[to], moves))
            continue;
        give(lane, part, elements + from, to - from);
        from = to;
    }
}

/* ---- counts ---- */

/** What it is already, or the number of the space that the image has for the context. */
static uint64_t memory_of(const void *asker, const struct pug_element *context)
{
    const struct pug_capture_lane *lane = asker;
    struct pug_capture *capture = lane->decoding->capture;
    const struct pug_capture_stretch *place = &pug_capture_stretches(capture)[lane->desk->stretch];
    const struct pug_reader_space reader = reader_of(context);
    const struct pug_address_space *space =
        context->value ? NULL : pug_capture_image_space(capture, place->buffer, &reader);
    return space ? space->number : context->value;
}

void pug_capture_lane_counts(const struct pug_capture_lane *lane, struct pug_counts *counts)
{
    if (!lane->decoding->capture->way->space)
        pug_counts_change_memories(counts, memory_of, lane);
}
