// SPDX-License-Identifier: MIT
/** @file A capture counted: parts are added up, and joined where the trace was cut. */
#include "profile/lane.h"
#include "profile/profile.h"

#include "pugmark/jobs.h"

#include <stdlib.h>
#include <string.h>

/** The sums of one worker's numbers. */
struct sums {
    uint64_t *nodes, *cycles, *edges;
    uint32_t node_room, edge_room;
};

/** A branch whose target came in another part. */
struct joint {
    uint32_t worker, node;
    struct profile_place to; /* vaddr UINT64_MAX and no object: nobody told */
    uint64_t count;
};

/** Where a source of a stretch is, between two parts. */
struct open_strand {
    uint32_t stretch;
    uint16_t source;
    uint32_t worker, last, pending;
};

struct counting {
    struct pug_profile *profile;
    const struct pug_profiler_options *options;
    struct profile_lane *lanes;
    struct sums *sums;
    unsigned workers;
    struct profile_table joints;
    struct open_strand *strands;
    uint32_t strand_count, strand_room;
    struct profile_objects objects;
    struct profile_stacks *stacks;
    uint64_t notes[PUG_NOTE_COUNT];
    uint32_t stretch; /* the last one that was seen, or PUG_PROFILE_NONE */
    enum pug_status status;
};

static const struct profile_place nowhere = {UINT64_MAX, PUG_PROFILE_NONE};

/* ---- adding up ---- */

static bool make_room(uint64_t **sums, uint32_t *room, uint32_t number)
{
    const uint32_t larger = number * 2 + 256;
    uint64_t *grown = realloc(*sums, larger * sizeof(*grown));
    if (!grown)
        return false;
    memset(grown + *room, 0, (larger - *room) * sizeof(*grown));
    *sums = grown;
    *room = larger;
    return true;
}

static bool add_nodes(struct sums *sums, const struct profile_tallies *tallies)
{
    for (uint32_t i = 0; i < tallies->count; i++) {
        const struct profile_tally *tally = &tallies->items[i];
        if (tally->number >= sums->node_room) {
            uint32_t room = sums->node_room;
            if (!make_room(&sums->cycles, &room, tally->number) ||
                !make_room(&sums->nodes, &sums->node_room, tally->number))
                return false;
        }
        sums->nodes[tally->number] = pug_profile_sum(sums->nodes[tally->number], tally->count);
        sums->cycles[tally->number] = pug_profile_sum(sums->cycles[tally->number], tally->cycles);
    }
    return true;
}

static bool add_edges(struct sums *sums, const struct profile_tallies *tallies)
{
    for (uint32_t i = 0; i < tallies->count; i++) {
        const struct profile_tally *tally = &tallies->items[i];
        if (tally->number >= sums->edge_room &&
            !make_room(&sums->edges, &sums->edge_room, tally->number))
            return false;
        sums->edges[tally->number] = pug_profile_sum(sums->edges[tally->number], tally->count);
    }
    return true;
}

/* ---- where parts meet ---- */

static uint64_t hash_joint(const void *item)
{
    const struct joint *joint = item;
    uint64_t hash = (joint->to.vaddr ^ (uint64_t)joint->node << 32 ^ joint->worker ^
                     (uint64_t)joint->to.object << 16) *
                    UINT64_C(0x9E3779B97F4A7C15);
    return hash ^ hash >> 29;
}

static bool same_joint(const void *left, const void *right)
{
    const struct joint *a = left, *b = right;
    return a->worker == b->worker && a->node == b->node && a->to.vaddr == b->to.vaddr &&
           a->to.object == b->to.object;
}

static void join(struct counting *counting, struct open_strand *strand, struct profile_place to)
{
    const struct joint joint = {strand->worker, strand->pending, to, 0};
    uint32_t number;
    bool is_new;
    strand->pending = NO_NODE;
    enum pug_status status = pug_profile_table_add(&counting->joints, &joint, &number, &is_new);
    if (status == PUG_OK)
        ((struct joint *)profile_item(&counting->joints, number))->count++;
    else
        counting->status = status;
}

/* Stretches that are behind us end; branches at their ends lead nowhere. */
static void close_strands(struct counting *counting, uint32_t before)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < counting->strand_count; i++) {
        struct open_strand *strand = &counting->strands[i];
        if (strand->stretch >= before) {
            counting->strands[kept++] = *strand;
            continue;
        }
        if (strand->pending != NO_NODE)
            join(counting, strand, nowhere);
    }
    counting->strand_count = kept;
}

static struct open_strand *open_strand(struct counting *counting, const struct profile_strand *like)
{
    for (uint32_t i = 0; i < counting->strand_count; i++)
        if (counting->strands[i].stretch == like->stretch &&
            counting->strands[i].source == like->source)
            return &counting->strands[i];
    if (counting->strand_count == counting->strand_room) {
        const uint32_t room = counting->strand_room ? counting->strand_room * 2 : 16;
        void *strands = realloc(counting->strands, room * sizeof(*counting->strands));
        if (!strands)
            return NULL;
        counting->strands = strands;
        counting->strand_room = room;
    }
    struct open_strand *strand = &counting->strands[counting->strand_count++];
    *strand = (struct open_strand){like->stretch, like->source, 0, NO_NODE, NO_NODE};
    return strand;
}

static bool take_strand(struct counting *counting, unsigned worker,
                        const struct profile_strand *strand)
{
    close_strands(counting, strand->stretch);
    if (strand->stretch != counting->stretch)
        counting->notes[PUG_NOTE_STRETCHES]++;
    counting->stretch = strand->stretch;
    struct open_strand *open = open_strand(counting, strand);
    if (!open)
        return false;
    if (open->last != NO_NODE && strand->head_cycles > 0) {
        uint64_t *cycles = &counting->sums[open->worker].cycles[open->last];
        *cycles = pug_profile_sum(*cycles, strand->head_cycles);
    }
    if (open->pending != NO_NODE && strand->head != HEAD_OPEN)
        join(counting, open, strand->head == HEAD_PLACE ? strand->head_place : nowhere);
    if (strand->last == NO_NODE)
        return true;
    open->worker = worker;
    open->last = strand->last;
    open->pending = strand->pending;
    return true;
}

/* ---- the consumer ---- */

static void *begin(void *context, unsigned worker)
{
    struct counting *counting = context;
    return pug_profile_part_new(&counting->lanes[worker], worker, counting->stacks != NULL);
}

static void elements(void *part, const struct pug_situation *situation,
                     const struct pug_element *given, size_t count)
{
    pug_profile_part_elements(part, situation, given, count);
}

static bool take(void *context, void *taken)
{
    struct counting *counting = context;
    struct profile_part *part = taken;
    struct sums *sums = &counting->sums[part->worker];
    bool good = add_nodes(sums, &part->nodes) && add_edges(sums, &part->edges);
    for (uint32_t i = 0; i < part->strand_count && good; i++)
        good = take_strand(counting, part->worker, &part->strands[i]);
    for (int note = 0; note < PUG_NOTE_COUNT; note++)
        counting->notes[note] = pug_profile_sum(counting->notes[note], part->notes[note]);
    if (!good)
        counting->status = PUG_ERR_MEM;
    else if (counting->stacks && counting->status == PUG_OK)
        counting->status = pug_profile_stacks_take(counting->stacks, part->steps, part->step_count);
    pug_profile_part_free(part);
    return counting->status == PUG_OK;
}

static void drop(void *part)
{
    pug_profile_part_free(part);
}

/* ---- to the profile ---- */

static enum pug_status put_branch(struct counting *counting, const struct profile_node *node,
                                  struct profile_place to, uint64_t count)
{
    struct pug_profile_branch branch = {.from = node->end - node_last_size(node),
                                        .to = to.object == PUG_PROFILE_NONE ? 0 : to.vaddr,
                                        .count = count};
    enum pug_status status =
        pug_profile_object_number(&counting->objects, node->object, &branch.object);
    if (status == PUG_OK)
        status = pug_profile_object_number(&counting->objects, to.object, &branch.to_object);
    return status == PUG_OK && count > 0 ? pug_profile_branch(counting->profile, &branch) : status;
}

static enum pug_status put_worker(struct counting *counting, unsigned worker)
{
    const struct profile_lane *lane = &counting->lanes[worker];
    const struct sums *sums = &counting->sums[worker];
    enum pug_status status = lane->failed ? PUG_ERR_MEM : PUG_OK;
    for (uint32_t i = 0; i < lane->node_count && i < sums->node_room && status == PUG_OK; i++) {
        struct pug_profile_range range;
        if (sums->nodes[i] == 0)
            continue;
        status = pug_profile_range_of(&counting->objects, &lane->nodes[i], &range);
        range.count = sums->nodes[i];
        range.cycles = sums->cycles[i];
        if (status == PUG_OK)
            status = pug_profile_range(counting->profile, &range, NULL);
        if (status == PUG_OK && lane->nodes[i].has_target)
            status = put_branch(counting, &lane->nodes[i], lane->nodes[i].target, range.count);
    }
    for (uint32_t i = 0; i < lane->edge_count && i < sums->edge_room && status == PUG_OK; i++)
        if (sums->edges[i] > 0)
            status = put_branch(counting, &lane->nodes[lane->edges[i].from], lane->edges[i].to,
                                sums->edges[i]);
    return status;
}

static enum pug_status put_joints(struct counting *counting)
{
    enum pug_status status = PUG_OK;
    for (uint32_t i = 0; i < counting->joints.count && status == PUG_OK; i++) {
        const struct joint *joint = profile_item(&counting->joints, i);
        const struct profile_node *node = &counting->lanes[joint->worker].nodes[joint->node];
        if (same_joint(joint, &(struct joint){joint->worker, joint->node, nowhere, 0}))
            counting->notes[PUG_NOTE_NO_TARGET] =
                pug_profile_sum(counting->notes[PUG_NOTE_NO_TARGET], joint->count);
        status = put_branch(counting, node, joint->to, joint->count);
    }
    return status;
}

static enum pug_status finish(struct counting *counting, const struct pug_capture_result *result)
{
    close_strands(counting, PUG_PROFILE_NONE);
    enum pug_status status = counting->status;
    for (unsigned worker = 0; worker < counting->workers && status == PUG_OK; worker++)
        status = put_worker(counting, worker);
    if (status == PUG_OK)
        status = put_joints(counting);
    if (status == PUG_OK && counting->stacks)
        status = pug_profile_stacks_end(counting->stacks);
    counting->notes[PUG_NOTE_BAD] += result->stopped;
    for (int note = 0; note < PUG_NOTE_COUNT; note++)
        pug_profile_note(counting->profile, note, counting->notes[note]);
    return status;
}

static bool open_counting(struct counting *counting)
{
    counting->lanes = calloc(counting->workers, sizeof(*counting->lanes));
    counting->sums = calloc(counting->workers, sizeof(*counting->sums));
    for (unsigned i = 0; counting->lanes && i < counting->workers; i++)
        counting->lanes[i] =
            (struct profile_lane){.capture = counting->objects.capture, .space = UINT64_MAX};
    if (counting->options->stacks)
        counting->stacks = pug_profile_stacks_new(&counting->objects);
    return counting->lanes && counting->sums && (counting->stacks || !counting->options->stacks);
}

static void close_counting(struct counting *counting)
{
    for (unsigned i = 0; i < counting->workers; i++) {
        if (counting->lanes)
            pug_profile_lane_free(&counting->lanes[i]);
        if (!counting->sums)
            continue;
        free(counting->sums[i].nodes);
        free(counting->sums[i].cycles);
        free(counting->sums[i].edges);
    }
    free(counting->lanes);
    free(counting->sums);
    free(counting->strands);
    pug_profile_table_free(&counting->joints);
    pug_profile_stacks_free(counting->stacks);
    pug_profile_objects_free(&counting->objects);
}

enum pug_status pug_profile_capture(struct pug_profile *profile, struct pug_capture *capture,
                                    const struct pug_profiler_options *options,
                                    struct pug_capture_result *out)
{
    struct pug_capture_selection selection =
        options->selection ? *options->selection : (struct pug_capture_selection){0};
    struct pug_capture_result result = {0};
    struct counting counting = {
        .profile = profile,
        .options = options,
        .workers = options->threads ? options->threads : pug_jobs_processors(),
        .joints = {.size = sizeof(struct joint), .hash = hash_joint, .same = same_joint},
        .objects = {.profile = profile, .capture = capture, .names = options->names},
        .stretch = PUG_PROFILE_NONE,
    };
    /* left out ranges would look like gaps: who wants one object chooses when it is exported */
    selection.objects = NULL;
    selection.object_count = 0;
    const struct pug_capture_decode decode = {
        .context = &counting,
        .begin = begin,
        .elements = elements,
        .take = take,
        .drop = drop,
        .threads = counting.workers,
        .selection = options->selection ? &selection : NULL,
        .progress = options->progress,
        .progress_context = options->progress_context,
    };
    enum pug_status status = PUG_ERR_MEM;
    if (open_counting(&counting))
        status = pug_capture_decode(capture, &decode, &result);
    if (status == PUG_OK)
        status = finish(&counting, &result);
    close_counting(&counting);
    if (out)
        *out = result;
    return status;
}
