// SPDX-License-Identifier: MIT
/**
 * @file ETMv3: how often each instruction ran, in tallies beside those that are kept. A direct
 * branch that was executed went to its target; where indirect ones went is counted beside that.
 */
#include "protocol/etmv3/count.h"

#include <stdlib.h>

static uint32_t link_of(uint32_t step)
{
    return step & ~(uint32_t)(sizeof(struct pug_etmv3_insn) - 1);
}

static unsigned way_of(uint32_t step)
{
    return pug_etmv3_way_of(step);
}

static const struct pug_etmv3_insn *insn_of(const struct pug_etmv3_decoder *decoder, uint32_t step)
{
    return pug_etmv3_linked(decoder->insns.entries, link_of(step));
}

static struct pug_etmv3_tally *tally_of(const struct pug_etmv3_counting *counting, uint32_t step)
{
    return &counting->tallies[step / sizeof(struct pug_etmv3_insn)];
}

static struct pug_element range_of(const struct pug_etmv3_insn *insn, unsigned way)
{
    struct pug_element range = {.start = insn->start, .end = insn->end, .count = 1};
    memcpy((char *)&range + PUG_ETMV3_TAIL, &insn->ways[way].tail, sizeof(insn->ways[way].tail));
    return range;
}

static struct pug_count_boundary *boundary_of(const struct pug_etmv3_decoder *decoder)
{
    return pug_paths_boundary(decoder->counting.paths);
}

/* ---- onto the fast path and off it ---- */

static void spread_own(void *decoder)
{
    pug_etmv3_spread(decoder);
}

static bool make_room(struct pug_etmv3_counting *counting, uint32_t room)
{
    if (!counting->tallies)
        counting->tallies = calloc(room, sizeof(*counting->tallies));
    if (!counting->jumps)
        counting->jumps = calloc(PUG_ETMV3_JUMPS, sizeof(*counting->jumps));
    return counting->tallies && counting->jumps;
}

/**
 * Tell where the fast path began. That waits until there is a second step, or the first one is
 * known to stay: one that is taken back did not come.
 */
static void tell_arrival(struct pug_etmv3_decoder *decoder, struct pug_count_boundary *boundary)
{
    struct pug_etmv3_counting *counting = &decoder->counting;
    if (counting->came && boundary)
        pug_counts_follow(counting->paths->counts, boundary, counting->came_to);
    counting->came = false;
}

void pug_etmv3_count_end(struct pug_etmv3_decoder *decoder)
{
    struct pug_etmv3_counting *counting = &decoder->counting;
    struct pug_count_boundary *boundary = boundary_of(decoder);
    if (boundary && counting->stray > 0)
        pug_counts_add_cycles(counting->paths->counts, boundary, counting->stray);
    counting->stray = 0;
    tell_arrival(decoder, boundary);
    if (counting->last != 0 && boundary) {
        const struct pug_etmv3_insn *insn = insn_of(decoder, counting->last);
        const struct pug_element range = range_of(insn, way_of(counting->last));
        struct pug_count_pending *branch = pug_paths_leave_range(counting->paths, &range);
        if (branch) {
            branch->foreseen = range.last_type == PUG_INSTR_BR;
            branch->target = insn->ways[0].goes;
        }
    }
    counting->last = counting->before = 0;
}

/* ---- jumps ---- */

static void add_jump(struct pug_etmv3_decoder *decoder, uint32_t from, uint64_t to, uint64_t hits)
{
    const struct pug_element range = range_of(insn_of(decoder, from), 1);
    const struct pug_count_pending branch =
        pug_counts_branch(&range, decoder->counting.paths->context);
    pug_counts_add_jump(decoder->counting.paths->counts, &branch, to, hits);
}

static void spread_jump(struct pug_etmv3_decoder *decoder, struct pug_etmv3_jump *jump)
{
    if (jump->hits > 0)
        add_jump(decoder, jump->from, jump->to, jump->hits);
    jump->hits = 0;
}

static void count_jump(struct pug_etmv3_decoder *decoder, uint32_t from, uint64_t to)
{
    const uint32_t slot = (from / 64 ^ (uint32_t)(to >> 1) * 0x9e3779b1u >> 20) % PUG_ETMV3_JUMPS;
    struct pug_etmv3_jump *jump = &decoder->counting.jumps[slot];
    if (jump->hits == 0 || jump->from != from || jump->to != to) {
        spread_jump(decoder, jump);
        *jump = (struct pug_etmv3_jump){.from = from, .to = to};
    }
    jump->hits++;
}

void pug_etmv3_count_arrive(struct pug_etmv3_decoder *decoder, const struct pug_etmv3_insn *insn)
{
    struct pug_etmv3_counting *counting = &decoder->counting;
    const uint32_t last = counting->last;
    const bool jumped = counting->jumped;
    counting->jumped = false;
    if (last != 0 && !jumped)
        return;
    if (last != 0) {
        const struct pug_etmv3_insn *from = insn_of(decoder, last);
        if (way_of(last) == 1 && pug_etmv3_is_indirect(from)) {
            count_jump(decoder, link_of(last), insn->start);
            return;
        }
        if (pug_etmv3_next_address(from, way_of(last) == 1) == insn->start)
            return;
        pug_etmv3_count_end(decoder);
    }
    counting->came = true;
    counting->came_to = insn->start;
}

/* ---- holding back ---- */

/** The last step is to be an element: it is not counted. */
static void take_back(struct pug_etmv3_decoder *decoder, unsigned cycles)
{
    struct pug_etmv3_counting *counting = &decoder->counting;
    const uint32_t last = counting->last, before = counting->before;
    struct pug_etmv3_tally *tally = tally_of(counting, last);
    tally->ways[way_of(last)] -= 1 + cycles * PUG_ETMV3_CYCLE;
    if (before != 0 && way_of(before) == 1 && pug_etmv3_is_indirect(insn_of(decoder, before)))
        add_jump(decoder, link_of(before), insn_of(decoder, last)->start, UINT64_MAX);
    if (before == 0)
        counting->came = false;
    counting->last = before;
    counting->before = 0;
}

/** It becomes an element. The list is empty; since an I-sync it has slots. */
static void hold(struct pug_etmv3_decoder *decoder)
{
    struct pug_etmv3_counting *counting = &decoder->counting;
    const struct pug_etmv3_insn *insn = insn_of(decoder, counting->last);
    const struct pug_element range = range_of(insn, way_of(counting->last));
    struct pug_etmv3_list *list = &decoder->list;
    struct pug_element *element = &list->slots[list->first];
    *element = decoder->stage->out.blank;
    element->index = counting->last_index;
    element->start = range.start;
    element->end = range.end;
    element->count = 1;
    element->cycle_count = counting->last_step & PUG_ETMV3_STEP_CYCLES;
    memcpy((char *)element + PUG_ETMV3_TAIL, (const char *)&range + PUG_ETMV3_TAIL,
           sizeof(range) - PUG_ETMV3_TAIL);
    list->count = list->held = 1;
    take_back(decoder, element->cycle_count);
}

void pug_etmv3_count_pause(struct pug_etmv3_decoder *decoder, bool holds)
{
    decoder->counting.on = false;
    decoder->counting.open = true;
    decoder->counting.holds = holds;
}

void pug_etmv3_count_close(struct pug_etmv3_decoder *decoder)
{
    struct pug_etmv3_counting *counting = &decoder->counting;
    if (!counting->open)
        return;
    counting->open = false;
    if (counting->holds)
        hold(decoder);
    pug_etmv3_count_end(decoder);
}

/* ---- from elements to counts, and back ---- */

static bool begin(struct pug_etmv3_decoder *decoder)
{
    struct pug_etmv3_counting *counting = &decoder->counting;
    struct pug_batch *batch = decoder->stage->out.batch;
    struct pug_paths *paths = decoder->stage->paths;
    /* those of other sources, too: on the fast path all that the batch has is counted */
    if (!paths || !paths->counts || (batch->count > batch->tallied && !batch->flush(batch))) {
        pug_etmv3_count_close(decoder);
        return false;
    }
    if (counting->open) {
        counting->open = false;
        return true;
    }
    if (!make_room(counting, decoder->insns.room) ||
        !pug_paths_begin(paths, &decoder->stage->out.blank))
        return false;
    paths->spread_own = spread_own;
    paths->own = decoder;
    counting->paths = paths;
    counting->jumped = false;
    return boundary_of(decoder) != NULL;
}

void pug_etmv3_count_on(struct pug_etmv3_decoder *decoder)
{
    struct pug_etmv3_counting *counting = &decoder->counting;
    counting->holds = false;
    if (counting->steps > PUG_ETMV3_MOST_STEPS)
        pug_etmv3_spread(decoder);
    if (!counting->on)
        counting->on = begin(decoder);
}

void pug_etmv3_count_stop(struct pug_etmv3_decoder *decoder)
{
    struct pug_etmv3_counting *counting = &decoder->counting;
    counting->holds = false;
    pug_etmv3_count_close(decoder);
    if (counting->on)
        pug_etmv3_count_end(decoder);
    counting->on = false;
}

/* ---- spreading ---- */

static void spread_insn(struct pug_etmv3_decoder *decoder, const struct pug_etmv3_insn *insn,
                        struct pug_etmv3_tally *tally)
{
    struct pug_paths *paths = decoder->counting.paths;
    for (unsigned way = 0; way < 2; way++) {
        const struct pug_element range = range_of(insn, way);
        const uint64_t hits = tally->ways[way] % PUG_ETMV3_CYCLE;
        const uint64_t cycles = tally->ways[way] / PUG_ETMV3_CYCLE;
        if (tally->ways[way] == 0)
            continue;
        pug_counts_add_range(paths->counts, paths->context, &range, hits, cycles);
        if (way == 1 && range.last_type == PUG_INSTR_BR) {
            const struct pug_count_pending branch = pug_counts_branch(&range, paths->context);
            pug_counts_add_jump(paths->counts, &branch, insn->ways[0].goes, hits);
        }
    }
    *tally = (struct pug_etmv3_tally){{0}};
}

void pug_etmv3_spread(struct pug_etmv3_decoder *decoder)
{
    struct pug_etmv3_counting *counting = &decoder->counting;
    if (!counting->paths || !counting->paths->counts)
        return;
    pug_etmv3_count_close(decoder);
    pug_etmv3_count_end(decoder);
    for (uint32_t i = 1; i < decoder->insns.count; i++)
        spread_insn(decoder, &decoder->insns.entries[i], &counting->tallies[i]);
    for (uint32_t i = 0; i < PUG_ETMV3_JUMPS; i++)
        spread_jump(decoder, &counting->jumps[i]);
    counting->steps = 0;
}

bool pug_etmv3_count_room(struct pug_etmv3_counting *counting, uint32_t room, uint32_t more)
{
    struct pug_etmv3_tally *tallies = counting->tallies;
    if (!tallies)
        return true;
    tallies = realloc(tallies, more * sizeof(*tallies));
    if (!tallies)
        return false;
    memset(tallies + room, 0, (more - room) * sizeof(*tallies));
    counting->tallies = tallies;
    return true;
}

void pug_etmv3_counting_free(struct pug_etmv3_decoder *decoder)
{
    struct pug_etmv3_counting *counting = &decoder->counting;
    pug_etmv3_spread(decoder);
    if (counting->paths)
        counting->paths->spread_own = NULL;
    free(counting->tallies);
    free(counting->jumps);
}
