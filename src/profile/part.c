// SPDX-License-Identifier: MIT
/** @file The counts of a part of the trace, by the numbers of its worker's lane. */
#include "profile/lane.h"

#include <stdlib.h>

struct profile_part *pug_profile_part_new(struct profile_lane *lane, unsigned worker, bool stacks)
{
    struct profile_part *part = calloc(1, sizeof(*part));
    if (!part)
        return NULL;
    part->lane = lane;
    part->worker = worker;
    part->stacks = stacks;
    part->epoch = ++lane->epoch;
    return part;
}

void pug_profile_part_free(struct profile_part *part)
{
    free(part->nodes.items);
    free(part->edges.items);
    free(part->strands);
    free(part->steps);
    free(part);
}

/* ---- adding ---- */

static struct profile_tally *add_tally(struct profile_part *part, struct profile_tallies *tallies,
                                       uint32_t number)
{
    if (tallies->count == tallies->room) {
        const uint32_t room = tallies->room ? tallies->room * 2 : 64;
        void *items = realloc(tallies->items, room * sizeof(*tallies->items));
        if (!items) {
            part->lane->failed = true;
            return NULL;
        }
        tallies->items = items;
        tallies->room = room;
    }
    tallies->items[tallies->count] = (struct profile_tally){.number = number};
    return &tallies->items[tallies->count++];
}

static void count_node(struct profile_part *part, uint32_t number, uint64_t count, uint64_t cycles)
{
    struct profile_node *node = &part->lane->nodes[number];
    if (node->epoch != part->epoch) {
        if (!add_tally(part, &part->nodes, number))
            return;
        node->epoch = part->epoch;
        node->slot = part->nodes.count - 1;
    }
    struct profile_tally *tally = &part->nodes.items[node->slot];
    tally->count += count;
    tally->cycles += cycles;
}

static void count_edge(struct profile_part *part, uint32_t from, struct profile_place to)
{
    const uint32_t number = pug_profile_edge(part->lane, from, to);
    if (number == NO_NODE)
        return;
    struct profile_edge *edge = &part->lane->edges[number];
    if (edge->epoch != part->epoch) {
        if (!add_tally(part, &part->edges, number))
            return;
        edge->epoch = part->epoch;
        edge->slot = part->edges.count - 1;
    }
    part->edges.items[edge->slot].count++;
}

/* ---- strands ---- */

static struct profile_strand *find_strand(struct profile_part *part,
                                          const struct pug_situation *situation)
{
    for (uint32_t i = 0; i < part->strand_count; i++) {
        const uint32_t at = (part->strand + i) % part->strand_count;
        struct profile_strand *strand = &part->strands[at];
        if (strand->stretch == situation->stretch && strand->source == situation->source) {
            part->strand = at;
            return strand;
        }
    }
    if (part->strand_count == part->strand_room) {
        const uint32_t room = part->strand_room ? part->strand_room * 2 : 4;
        void *strands = realloc(part->strands, room * sizeof(*part->strands));
        if (!strands) {
            part->lane->failed = true;
            return NULL;
        }
        part->strands = strands;
        part->strand_room = room;
    }
    part->strand = part->strand_count++;
    part->strands[part->strand] = (struct profile_strand){.stretch = situation->stretch,
                                                          .source = situation->source,
                                                          .last = NO_NODE,
                                                          .pending = NO_NODE};
    return &part->strands[part->strand];
}

/* ---- elements ---- */

/* Execution goes on somewhere (NULL: nobody knows where). */
static void go_on(struct profile_part *part, struct profile_strand *strand,
                  const struct profile_place *place)
{
    if (strand->pending != NO_NODE && place)
        count_edge(part, strand->pending, *place);
    else if (strand->pending != NO_NODE) {
        part->notes[PUG_NOTE_NO_TARGET]++;
        count_edge(part, strand->pending, (struct profile_place){0, PUG_PROFILE_NONE});
    } else if (strand->head == HEAD_OPEN && strand->last == NO_NODE) {
        strand->head = place ? HEAD_PLACE : HEAD_CLOSED;
        if (place)
            strand->head_place = *place;
    }
    strand->pending = NO_NODE;
    strand->follows = false;
}

static void go_on_at(struct profile_part *part, struct profile_strand *strand,
                     const struct pug_situation *situation, uint64_t address)
{
    const struct profile_place place = profile_place(part->lane, situation, address);
    go_on(part, strand, &place);
}

static void add_cycles(struct profile_part *part, struct profile_strand *strand,
                       const struct pug_element *element)
{
    if (strand->last == NO_NODE)
        strand->head_cycles += element->cycle_count;
    else
        count_node(part, strand->last, 0, element->cycle_count);
}

/* Is this where a range goes on, as far as it tells? */
static bool goes_on_at(const struct profile_node *node, struct profile_place place)
{
    if (node->has_target)
        return node->target.vaddr == place.vaddr && node->target.object == place.object;
    return node->end == place.vaddr && node->object == place.object;
}

static void count_range(struct profile_part *part, struct profile_strand *strand,
                        const struct pug_situation *situation, const struct pug_element *range)
{
    struct profile_lane *lane = part->lane;
    const uint32_t number = pug_profile_node(lane, situation, range, strand->last);
    if (number == NO_NODE || range->last_size > range->end - range->start)
        return;
    const struct profile_node *node = &lane->nodes[number];
    const struct profile_place place = {node->start, node->object};
    if (node->object == PUG_PROFILE_NONE)
        part->notes[PUG_NOTE_UNMAPPED] += range->count;
    if (strand->follows && strand->pending == NO_NODE)
        part->notes[PUG_NOTE_CONTRADICTIONS] += !goes_on_at(&lane->nodes[strand->last], place);
    go_on(part, strand, &place);
    count_node(part, number, 1, 0);
    strand->last = number;
    strand->follows = true;
    if ((node_end(node) & PUG_END_TAKEN) && !node->has_target)
        strand->pending = number;
}

static void note(struct profile_part *part, const struct pug_element *element)
{
    const bool overflow =
        (element->type == PUG_ELEM_TRACE_ON && element->reason == PUG_TRACE_ON_OVERFLOW) ||
        (element->type == PUG_ELEM_NO_SYNC && element->reason == PUG_UNSYNC_OVERFLOW);
    part->notes[PUG_NOTE_LOST] += overflow;
    if (element->type == PUG_ELEM_NO_SYNC)
        part->notes[PUG_NOTE_BAD] +=
            element->reason == PUG_UNSYNC_BAD_PACKET || element->reason == PUG_UNSYNC_BAD_IMAGE;
    part->notes[PUG_NOTE_NO_MEMORY] += element->type == PUG_ELEM_ADDR_NACC;
    part->notes[PUG_NOTE_NO_ADDRESS] += element->type == PUG_ELEM_ADDR_UNKNOWN;
    part->notes[PUG_NOTE_NO_PATH] += element->type == PUG_ELEM_I_RANGE_NOPATH;
}

/* False: the element concerns neither branches nor stacks. */
static bool take(struct profile_part *part, struct profile_strand *strand,
                 const struct pug_situation *situation, const struct pug_element *element)
{
    switch (element->type) {
    case PUG_ELEM_INSTR_RANGE: count_range(part, strand, situation, element); return true;
    case PUG_ELEM_EXCEPTION:
        if (element->flags & PUG_ELEM_DATA_MARKER)
            return false;
        if (element->flags & PUG_ELEM_RET_ADDR)
            go_on_at(part, strand, situation, element->end);
        else
            go_on(part, strand, NULL);
        return true;
    case PUG_ELEM_ADDR_NACC:
    case PUG_ELEM_I_RANGE_NOPATH:
        note(part, element);
        go_on_at(part, strand, situation, element->start);
        return true;
    case PUG_ELEM_TRACE_ON:
    case PUG_ELEM_NO_SYNC:
    case PUG_ELEM_EO_TRACE:
    case PUG_ELEM_ADDR_UNKNOWN:
        note(part, element);
        go_on(part, strand, NULL);
        return true;
    case PUG_ELEM_EXCEPTION_RET: strand->follows = false; return true;
    case PUG_ELEM_PE_CONTEXT:
    case PUG_ELEM_TIMESTAMP: return true;
    default: return false;
    }
}

static void keep_step(struct profile_part *part, const struct pug_situation *situation,
                      const struct pug_element *element)
{
    if (part->step_count == part->step_room) {
        const size_t room = part->step_room ? part->step_room * 2 : 256;
        void *steps = realloc(part->steps, room * sizeof(*part->steps));
        if (!steps) {
            part->lane->failed = true;
            return;
        }
        part->steps = steps;
        part->step_room = room;
    }
    part->steps[part->step_count++] = (struct profile_step){*element, *situation};
}

void pug_profile_part_elements(struct profile_part *part, const struct pug_situation *situation,
                               const struct pug_element *elements, size_t count)
{
    struct profile_strand *strand = find_strand(part, situation);
    pug_profile_lane_situation(part->lane, situation);
    for (size_t i = 0; i < count && strand && !part->lane->failed; i++) {
        const struct pug_element *element = &elements[i];
        const bool wanted = take(part, strand, situation, element);
        if (element->flags & PUG_ELEM_HAS_CC)
            add_cycles(part, strand, element);
        if (part->stacks && (wanted || (element->flags & PUG_ELEM_HAS_CC)))
            keep_step(part, situation, element);
    }
}
