// SPDX-License-Identifier: MIT
/** @file A capture counted: by its decoders, or from elements where call stacks are wanted, too. */
#include "profile/profiling.h"
#include "profile/steps.h"

#include "base/grow.h"
#include "capture/capture.h"
#include "counts/counts.h"
#include "items/parts.h"
#include "rtos/stage.h"
#include "schedule/peers.h"

#include <stdlib.h>

/* The last segment that was heard of a buffer. */
struct heard {
    bool any;
    uint32_t segment;
    bool noted; /* something of it was chosen */
};

struct counting {
    struct pug_profile *profile;
    const struct pug_profiler_options *options;
    struct profile_objects objects;
    struct profile_counted counted;
    struct profile_stacks *stacks;
    struct profile_samples samples;
    uint32_t ranges_before;    /* in the profile */
    bool from_elements;        /* ranges are given, not counted, and no stacks take them */
    struct pug_counts *counts; /* of these */
    uint32_t segment;          /* the last one that was seen, or PUG_PROFILE_NONE */
    bool sides;                /* buffers take turns, amid segments */
    struct pug_list heard;     /* struct heard, by buffer, or where they do not of all */
    uint64_t notes[PUG_NOTE_COUNT];
    enum pug_status status;
};

static void fail(struct counting *counting, enum pug_status status)
{
    if (counting->status == PUG_OK)
        counting->status = status;
}

/* ---- the consumer ---- */

static void *begin(void *context, unsigned worker, struct pug_piece *piece)
{
    const struct counting *counting = context;
    struct profile_part *part =
        pug_profile_part_new(counting->objects.capture, counting->stacks != NULL);
    (void)worker;
    if (part && counting->from_elements && !(part->counts = pug_counts_new())) {
        pug_profile_part_free(part);
        return NULL;
    }
    if (part && counting->stacks)
        part->piece = piece;
    return part;
}

static void elements(void *part, const struct pug_origin *origin, const struct pug_element *given,
                     size_t count)
{
    pug_profile_part_elements(part, origin, given, count);
}

/* The record for this number, empty at first; NULL: no memory. */
static struct heard *heard_of(struct counting *counting, uint32_t number)
{
    while (counting->heard.count <= number)
        if (!pug_list_add(&counting->heard, sizeof(struct heard))) {
            fail(counting, PUG_ERR_MEM);
            return NULL;
        }
    return (struct heard *)counting->heard.items + number;
}

/* Each segment begins from nothing. */
static void note_segment(struct counting *counting, const struct profile_part *part)
{
    if (part->segment == PUG_PROFILE_NONE)
        return;
    const struct pug_capture_segment *segment =
        pug_capture_segment_at(counting->objects.capture, part->segment);
    const uint32_t side = counting->sides ? segment->buffer : 0;
    struct heard *heard = heard_of(counting, side);
    if (!heard)
        return;
    const bool begins = !heard->any || heard->segment != part->segment;
    if (begins)
        *heard = (struct heard){.any = true, .segment = part->segment};
    counting->notes[PUG_NOTE_SEGMENTS] += part->chosen && !heard->noted;
    heard->noted |= part->chosen;
    if (counting->counts && begins)
        pug_counts_end(counting->counts);
    if (counting->stacks && counting->segment != part->segment)
        pug_profile_stacks_turn(counting->stacks, side, begins);
    counting->segment = part->segment;
}

static void append(struct counting *counting, const struct profile_part *part)
{
    pug_counts_append(counting->counts, part->counts);
    fail(counting, pug_counts_status(counting->counts));
}

static bool take(void *context, void *taken)
{
    struct counting *counting = context;
    struct profile_part *part = taken;
    for (int note = 0; note < PUG_NOTE_COUNT; note++)
        counting->notes[note] = pug_profile_sum(counting->notes[note], part->notes[note]);
    if (part->failed)
        fail(counting, PUG_ERR_MEM);
    note_segment(counting, part);
    if (part->counts)
        append(counting, part);
    fail(counting, pug_profile_samples_take(&counting->samples, part));
    if (counting->stacks && counting->status == PUG_OK)
        fail(counting, pug_profile_stacks_take(counting->stacks, part));
    pug_profile_part_free(part);
    return counting->status == PUG_OK;
}

static void drop(void *part)
{
    pug_profile_part_free(part);
}

static void left_out(void *part, const struct pug_origin *origin,
                     const struct pug_element *elements, size_t count)
{
    pug_profile_part_left_out(part, origin, elements, count);
}

static void *unpack(void *context, const uint8_t *bytes, size_t size)
{
    const struct counting *counting = context;
    return pug_profile_part_unpack(counting->objects.capture, bytes, size);
}

static void counted(void *context, struct pug_counts *counts)
{
    struct counting *counting = context;
    if (counting->status == PUG_OK)
        counting->status = pug_profile_counted_add(&counting->counted, counts);
}

/** Does a selection choose something that counts without trace cannot separate? */
static bool chooses(const struct pug_capture_selection *selection)
{
    return selection && (selection->pid_count || selection->tid_count || selection->comm_count ||
                         selection->cpu_count || selection->source_count || selection->has_from ||
                         selection->has_to);
}

static enum pug_status finish(struct counting *counting, const struct pug_capture_result *result)
{
    enum pug_status status = counting->status;
    if (status == PUG_OK && counting->counts) {
        pug_counts_end(counting->counts);
        status = pug_profile_counted_add(&counting->counted, counting->counts);
    }
    if (status == PUG_OK && counting->stacks)
        status = pug_profile_stacks_end(counting->stacks);
    if (status == PUG_OK)
        status = pug_profile_counted_end(&counting->counted);
    if (status == PUG_OK && !chooses(counting->options->selection) &&
        !pug_peers_helps(counting->objects.capture->options.peers))
        status = pug_profile_rows(&counting->objects);
    if (status == PUG_OK && pug_profile_is_sampled(counting->profile) &&
        counting->profile->ranges.count != counting->ranges_before)
        status = PUG_ERR_INVALID_PARAM_TYPE;
    if (status == PUG_OK)
        status = pug_profile_samples_put(&counting->samples, &counting->counted,
                                         counting->stacks != NULL);
    if (!pug_peers_helps(counting->objects.capture->options.peers))
        counting->notes[PUG_NOTE_BAD] += result->stopped;
    for (int note = 0; note < PUG_NOTE_COUNT; note++)
        pug_profile_note(counting->profile, note,
                         pug_profile_sum(counting->notes[note], counting->counted.notes[note]));
    return status;
}

static bool open_counting(struct counting *counting)
{
    if (counting->options->stacks)
        counting->stacks = pug_profile_stacks_new(&counting->counted);
    if (counting->from_elements)
        counting->counts = pug_counts_new();
    return (counting->stacks || !counting->options->stacks) &&
           (counting->counts || !counting->from_elements);
}

static void close_counting(struct counting *counting)
{
    free(counting->heard.items);
    pug_counts_free(counting->counts);
    pug_profile_counted_free(&counting->counted);
    pug_profile_stacks_free(counting->stacks);
    pug_profile_samples_free(&counting->samples);
    pug_profile_objects_free(&counting->objects);
}

/* ---- threads of a kernel ---- */

#define FED_MOST 16384u

/* Elements that come back with their thread, in parts of so many. */
struct fed {
    struct counting *counting;
    struct thread_stage *stage;
    struct profile_part *part;
    size_t count;
};

static bool take_fed(struct fed *fed)
{
    struct profile_part *part = fed->part;
    fed->part = NULL;
    fed->count = 0;
    return !part || take(fed->counting, part);
}

static bool feed(void *context, const struct trace_item *item, const struct thread_place *place)
{
    struct fed *fed = context;
    const struct pug_element *e = &item->element;
    (void)place;
    if (e->type == PUG_ELEM_INSTR_RANGE && e->count == 0 && e->start == e->end)
        return true; /* its thread stopped: nothing ran */
    if (!fed->part && !(fed->part = begin(fed->counting, 0, NULL))) {
        fail(fed->counting, PUG_ERR_MEM);
        return false;
    }
    if (item->others)
        left_out(fed->part, item->where, e, 1);
    else
        elements(fed->part, item->where, e, 1);
    return ++fed->count < FED_MOST || take_fed(fed);
}

static bool take_item(void *context, const struct trace_item *item)
{
    struct fed *fed = context;
    return pug_thread_stage_take(fed->stage, item);
}

/*
 * What tells threads apart, where there is a kernel, or one is wanted, and somebody wants to know
 * them: NULL in *stage where not.
 */
static enum pug_status find_threads(struct fed *fed, struct pug_capture *capture,
                                    const struct pug_profiler_options *options)
{
    const struct pug_capture_selection *selection = options->selection;
    const bool chosen = selection && selection->tid_count + selection->comm_count > 0;
    if ((!options->stacks && !chosen) || pug_capture_kind(capture) == PUG_CAPTURE_PERF ||
        !options->names || pug_peers_helps(capture->options.peers))
        return PUG_OK;
    struct thread_stage_options how = {
        .kernel = {.capture = capture, .names = options->names, .wanted = options->rtos},
        .give = feed,
        .context = fed};
    if (chosen) {
        how.tids = selection->tids;
        how.tid_count = selection->tid_count;
        how.comms = selection->comms;
        how.comm_count = selection->comm_count;
    }
    const enum pug_status status = pug_thread_stage_new(&how, &fed->stage);
    if (status != PUG_OK || !fed->stage || chosen || options->rtos ||
        pug_thread_stage_kernel(fed->stage))
        return status;
    pug_thread_stage_free(fed->stage); /* without a kernel the calls alone know the threads */
    fed->stage = NULL;
    return PUG_OK;
}

static enum pug_status decode_threads(struct fed *fed, struct pug_capture *capture,
                                      const struct pug_capture_decode *decode,
                                      struct pug_capture_result *result)
{
    const struct trace_wanted wanted = {.limits = {.all = true}, .no_code = true};
    struct trace_parts parts = {.capture = capture,
                                .wanted = &wanted,
                                .print = take_item,
                                .print_context = fed,
                                .wants = PUG_WANTS_BY_TIME};
    struct pug_capture_selection selection =
        decode->selection ? *decode->selection : (struct pug_capture_selection){0};
    struct pug_capture_decode how = *decode;
    selection.tid_count = selection.comm_count = 0; /* the stage chooses */
    how.selection = decode->selection ? &selection : NULL;
    pug_trace_parts_decode(&parts, &how);
    enum pug_status status = pug_capture_decode(capture, &how, result);
    if (!pug_thread_stage_end(fed->stage) && pug_thread_stage_failed(fed->stage))
        status = PUG_ERR_MEM;
    if (status == PUG_OK)
        (void)take_fed(fed);
    else
        drop(fed->part);
    return status == PUG_OK && parts.failed ? PUG_ERR_MEM : status;
}

/* Decodes with threads where they are known, else straight. */
static enum pug_status decode(struct counting *counting, const struct pug_capture_decode *how,
                              struct pug_capture_result *result)
{
    struct pug_capture *capture = counting->objects.capture;
    struct fed fed = {.counting = counting};
    enum pug_status status = find_threads(&fed, capture, counting->options);
    if (status != PUG_OK)
        return status;
    if (!fed.stage)
        return open_counting(counting) ? pug_capture_decode(capture, how, result) : PUG_ERR_MEM;
    counting->from_elements = !counting->options->stacks;
    status = open_counting(counting) ? decode_threads(&fed, capture, how, result) : PUG_ERR_MEM;
    pug_thread_stage_free(fed.stage);
    return status;
}

enum pug_status pug_profile_capture(struct pug_profile *profile, struct pug_capture *capture,
                                    const struct pug_profiler_options *options,
                                    struct pug_capture_result *out)
{
    static const struct pug_profiler_options usual;
    if (!profile || !capture)
        return PUG_ERR_INVALID_PARAM_VAL;
    if (!options)
        options = &usual;
    struct pug_capture_selection selection =
        options->selection ? *options->selection : (struct pug_capture_selection){0};
    struct pug_capture_result result = {0};
    /* what a helper counts goes to another process, and nowhere else */
    struct pug_profile *own = pug_peers_helps(capture->options.peers) ? pug_profile_new() : profile;
    struct counting counting = {
        .profile = own,
        .options = options,
        .objects = {.profile = own, .capture = capture, .names = options->names},
        .segment = PUG_PROFILE_NONE,
        .sides = options->stacks && pug_capture_has_sides(capture),
    };
    pug_profile_samples_begin(&counting.samples);
    counting.ranges_before = own ? own->ranges.count : 0;
    counting.counted = pug_profile_counted_begin(&counting.objects);
    /* left out ranges would look like gaps: one object is chosen when the profile is exported */
    selection.objects = NULL;
    selection.object_count = 0;
    const struct pug_consumer consumer = {
        .context = &counting,
        .wants = options->stacks ? PUG_WANTS_BY_TIME : PUG_WANTS_ANY_ORDER,
        .begin = begin,
        .elements = elements,
        .left_out = left_out,
        .counted = options->stacks ? NULL : counted, /* stacks need the order */
        .take = take,
        .drop = drop,
        .pack = pug_profile_part_pack,
        .unpack = unpack,
        .fold = options->stacks ? NULL : pug_profile_part_fold,
    };
    const struct pug_capture_decode how = {
        .consumers = &consumer,
        .consumer_count = 1,
        .threads = options->threads,
        .piece = options->piece,
        .selection = options->selection ? &selection : NULL,
        .progress = options->progress,
        .progress_context = options->progress_context,
    };
    counting.from_elements = !options->stacks && !pug_capture_counts(&how);
    enum pug_status status = own ? decode(&counting, &how, &result) : PUG_ERR_MEM;
    if (status == PUG_OK)
        status = finish(&counting, &result);
    if (status == PUG_OK) /* functions of frames, which some would lack */
        status = pug_names_status(options->names);
    if (own != profile)
        pug_profile_free(own);
    close_counting(&counting);
    if (out)
        *out = result;
    return status;
}

/* ---- beside something else ---- */

struct pug_profiling {
    struct pug_profiler_options options;
    struct counting counting;
};

struct pug_profiling *pug_profiling_new(struct pug_profile *profile, struct pug_capture *capture,
                                        const struct pug_profiler_options *options)
{
    struct pug_profiling *profiling = calloc(1, sizeof(*profiling));
    if (!profiling)
        return NULL;
    struct counting *counting = &profiling->counting;
    profiling->options = *options;
    *counting = (struct counting){
        .profile = profile,
        .options = &profiling->options,
        .objects = {.profile = profile, .capture = capture, .names = options->names},
        .segment = PUG_PROFILE_NONE,
        .from_elements = true,
    };
    pug_profile_samples_begin(&counting->samples);
    counting->ranges_before = profile->ranges.count;
    counting->counted = pug_profile_counted_begin(&counting->objects);
    if (open_counting(counting))
        return profiling;
    close_counting(counting);
    free(profiling);
    return NULL;
}

void *pug_profiling_begin(struct pug_profiling *profiling)
{
    return begin(&profiling->counting, 0, NULL); /* without stacks nothing is emitted */
}

void pug_profiling_elements(void *part, const struct pug_origin *origin,
                            const struct pug_element *given, size_t count)
{
    elements(part, origin, given, count);
}

bool pug_profiling_take(struct pug_profiling *profiling, void *part)
{
    return take(&profiling->counting, part);
}

void pug_profiling_drop(void *part)
{
    drop(part);
}

enum pug_status pug_profiling_end(struct pug_profiling *profiling)
{
    const struct pug_capture_result result = {0};
    const enum pug_status status = finish(&profiling->counting, &result);
    close_counting(&profiling->counting);
    free(profiling);
    return status;
}
