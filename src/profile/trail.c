// SPDX-License-Identifier: MIT
/** @file The ranges executed on each frame, how often, and which range followed. */
#include "profile/trail.h"

#include <stdlib.h>
#include <string.h>

bool pug_profile_trail_begin(struct profile_trail *trail, struct profile_counted *counted)
{
    *trail = (struct profile_trail){
        .counted = counted,
        .cache = {.capture = counted->objects->capture, .space = UINT64_MAX},
    };
    pug_profile_trail_turn(trail, 0, true);
    return trail->status == PUG_OK;
}

void pug_profile_trail_free(struct profile_trail *trail)
{
    struct pug_counts **counts = trail->sides.items;
    for (size_t i = 0; i < trail->sides.count; i++)
        pug_counts_free(counts[i]);
    free(counts);
    pug_profile_node_cache_free(&trail->cache);
    free(trail->sums);
    free(trail->behind);
}

/* ---- nodes and uses ---- */

static struct pug_profile *profile_of(const struct profile_trail *trail)
{
    return trail->counted->objects->profile;
}

static struct pug_profile_use *use_at(const struct profile_trail *trail, uint32_t number)
{
    return pug_profile_item(&profile_of(trail)->uses, number);
}

static bool make_room_for_node(struct profile_trail *trail, uint32_t node)
{
    const uint32_t room = trail->cache.node_room;
    if (node < trail->sum_room)
        return true;
    struct profile_sum *sums = realloc(trail->sums, room * sizeof(*sums));
    if (!sums) {
        profile_trail_fail(trail, PUG_ERR_MEM);
        return false;
    }
    for (uint32_t i = trail->sum_room; i < room; i++)
        sums[i] = (struct profile_sum){.range = NO_NODE};
    trail->sums = sums;
    trail->sum_room = room;
    return true;
}

static bool make_room_for_use(struct profile_trail *trail, uint32_t use)
{
    static const struct profile_next none = {NO_NODE, 0};
    const uint32_t before = trail->behind_room, room = profile_of(trail)->uses.room;
    if (use < before)
        return true;
    struct profile_behind *behind = aligned_alloc(64, (size_t)room * sizeof(*behind));
    if (!behind) {
        profile_trail_fail(trail, PUG_ERR_MEM);
        return false;
    }
    if (before > 0)
        memcpy(behind, trail->behind, before * sizeof(*behind));
    for (uint32_t i = before; i < room; i++)
        behind[i] = (struct profile_behind){NO_NODE, NO_NODE, {none, none}, none};
    free(trail->behind);
    trail->behind = behind;
    trail->behind_room = room;
    return true;
}

/** The profile's number of a node. */
static uint32_t range_number(struct profile_trail *trail, uint32_t node)
{
    if (!make_room_for_node(trail, node))
        return NO_NODE;
    uint32_t *number = &trail->sums[node].range;
    if (*number == NO_NODE) {
        struct pug_profile_range range;
        enum pug_status status =
            pug_profile_range_of(trail->counted->objects, &trail->cache.nodes[node], &range);
        if (status == PUG_OK)
            status = pug_profile_range(profile_of(trail), &range, number);
        profile_trail_fail(trail, status);
    }
    return *number;
}

/** A use by what it is; NO_NODE: no memory. */
static uint32_t look_up_use(struct profile_trail *trail, uint32_t frame, uint32_t node)
{
    const uint32_t range = range_number(trail, node);
    uint32_t number;
    if (range == NO_NODE)
        return NO_NODE;
    enum pug_status status = pug_profile_use_number(
        profile_of(trail), &(struct pug_profile_use){0, frame, range}, &number);
    profile_trail_fail(trail, status);
    if (status != PUG_OK || !make_room_for_use(trail, number))
        return NO_NODE;
    struct profile_behind *behind = &trail->behind[number];
    if (behind->node == NO_NODE) {
        behind->node = node;
        behind->frame = frame;
    }
    return number;
}

/* ---- counting ---- */

static void count(struct profile_trail *trail, struct profile_ran ran, uint64_t times)
{
    struct pug_profile_use *use = use_at(trail, ran.use);
    struct profile_sum *sum = &trail->sums[ran.node];
    use->count = pug_profile_sum(use->count, times);
    sum->count = pug_profile_sum(sum->count, times);
}

void pug_profile_trail_add_up(struct profile_trail *trail, const struct profile_behind *behind,
                              struct profile_next *next)
{
    if (next->times == 0)
        return;
    const struct profile_ran ran = {next->use, trail->behind[next->use].node};
    const struct profile_node *nodes = trail->cache.nodes, *to = &nodes[ran.node];
    count(trail, ran, next->times);
    profile_trail_fail(trail, pug_profile_counted_went(
                                  trail->counted, &nodes[behind->node],
                                  (struct profile_place){to->step.start, to->object}, next->times));
    next->times = 0;
}

static void add_up_all(struct profile_trail *trail, struct profile_behind *behind)
{
    pug_profile_trail_add_up(trail, behind, &behind->kept[0]);
    pug_profile_trail_add_up(trail, behind, &behind->kept[1]);
    pug_profile_trail_add_up(trail, behind, &behind->other);
}

/** Can one use be kept as the follower of another one, as execution can continue there? */
static bool goes_on(const struct profile_trail *trail, struct profile_ran from,
                    struct profile_ran to)
{
    const struct profile_node *a = &trail->cache.nodes[from.node],
                              *b = &trail->cache.nodes[to.node];
    return trail->behind[from.use].node == from.node && trail->behind[to.use].node == to.node &&
           (pug_profile_node_jumps_on(a) ||
            (pug_profile_node_behind(a) == b->step.start && a->object == b->object));
}

/* ---- boundaries ---- */

/** A source's boundary gets to know its last range. */
static void tell_boundary(struct profile_trail *trail)
{
    if (!trail->unseen)
        return;
    struct pug_element range = trail->group->like;
    pug_profile_step_put(trail->unseen, &range);
    trail->unseen = NULL;
    struct pug_count_boundary *boundary = pug_counts_boundary(trail->counts, range.source);
    const uint32_t context =
        boundary ? pug_counts_context(trail->counts, &range, boundary->memory) : UINT32_MAX;
    if (context == UINT32_MAX)
        return;
    pug_counts_behind(boundary, context, &range);
    boundary->tail = pug_counts_jumps_on(&range) ? pug_counts_branch(&range, context)
                                                 : (struct pug_count_pending){.open = false};
}

/** A range that something came before, or that execution cannot come to from the last one. */
static void count_alone(struct profile_trail *trail, struct profile_ran ran,
                        const struct profile_step *range)
{
    tell_boundary(trail);
    struct pug_count_boundary *boundary =
        pug_counts_boundary(trail->counts, trail->group->like.source);
    if (boundary)
        pug_counts_follow(trail->counts, boundary, range->start);
    count(trail, ran, 1);
}

/* ---- what ran ---- */

/** Find the follower of the last range on any frame, if it is this one. */
static struct profile_next *find_other(struct profile_trail *trail,
                                       const struct profile_place *place,
                                       const struct profile_step *range)
{
    if (trail->last.use == NO_NODE)
        return NULL;
    struct profile_behind *behind = &trail->behind[trail->last.use];
    if (behind->node != trail->last.node || behind->other.use == NO_NODE)
        return NULL;
    const uint32_t node = trail->behind[behind->other.use].node;
    return profile_trail_is_node(trail, node, place, range) ? &behind->other : NULL;
}

/** What a range is; NO_NODE: no memory. `other`: what find_other() has. */
static struct profile_ran look_up(struct profile_trail *trail, uint32_t frame,
                                  const struct profile_step *range,
                                  const struct profile_next *other)
{
    struct profile_ran ran = {NO_NODE, NO_NODE};
    if (other) {
        ran = (struct profile_ran){other->use, trail->behind[other->use].node};
        if (trail->behind[other->use].frame == frame)
            return ran;
    } else {
        struct pug_element element = trail->group->like;
        pug_profile_step_put(range, &element);
        ran.node = pug_profile_node(&trail->cache, &trail->group->origin, &element);
    }
    if (ran.node == NO_NODE)
        profile_trail_fail(trail, PUG_ERR_MEM);
    ran.use = ran.node != NO_NODE ? look_up_use(trail, frame, ran.node) : NO_NODE;
    return ran;
}

struct profile_ran pug_profile_trail_run(struct profile_trail *trail, uint32_t frame,
                                         const struct profile_step *range)
{
    const struct profile_ran before = trail->last;
    const struct profile_place place =
        profile_place(&trail->cache, &trail->group->origin, range->start);
    struct profile_next *other = find_other(trail, &place, range);
    if (other && trail->follows && trail->behind[other->use].frame == frame) {
        profile_trail_again(trail, before, other);
        profile_trail_came(trail, (struct profile_ran){other->use, trail->behind[other->use].node},
                           range);
        return trail->last;
    }
    const struct profile_ran ran = look_up(trail, frame, range, other);
    if (ran.use == NO_NODE)
        return ran;
    if (trail->follows && goes_on(trail, before, ran)) {
        struct profile_behind *behind = &trail->behind[before.use];
        pug_profile_trail_add_up(trail, behind, &behind->other);
        behind->other = (struct profile_next){ran.use, 1};
    } else {
        count_alone(trail, ran, range);
    }
    profile_trail_came(trail, ran, range);
    trail->follows = true;
    trail->source = trail->group->like.source;
    return ran;
}

void pug_profile_trail_learn(struct profile_trail *trail, struct profile_ran before,
                             struct profile_ran ran)
{
    struct profile_behind *behind = &trail->behind[before.use];
    if (!goes_on(trail, before, ran))
        return;
    pug_profile_trail_add_up(trail, behind, &behind->kept[1]);
    behind->kept[1] = behind->kept[0];
    behind->kept[0] = (struct profile_next){ran.use, 0};
}

void pug_profile_trail_cycles(struct profile_trail *trail, uint64_t cycles)
{
    uint64_t *sum = &trail->sums[trail->last.node].cycles;
    *sum = pug_profile_sum(*sum, cycles);
}

void pug_profile_trail_other(struct profile_trail *trail, const struct pug_element *element)
{
    const bool between =
        element->type != PUG_ELEM_TIMESTAMP && element->type != PUG_ELEM_CYCLE_COUNT;
    const bool own = trail->last.use != NO_NODE && trail->source == element->source;
    if (!between && !pug_element_adds_cycles(element))
        return;
    if (!between && own) {
        pug_profile_trail_cycles(trail, element->cycle_count);
        return;
    }
    tell_boundary(trail);
    pug_counts_add_elements(trail->counts, element, 1);
    trail->follows = trail->follows && !between;
}

/* ---- where that is ---- */

void pug_profile_trail_begin_group(struct profile_trail *trail, const struct profile_steps *group)
{
    const uint64_t space = trail->cache.space;
    trail->group = group;
    pug_profile_node_cache_enter(&trail->cache, &group->origin);
    if (space != trail->cache.space || trail->source != group->like.source)
        trail->follows = false;
    pug_counts_set_memory(trail->counts, group->like.source, trail->cache.space);
}

void pug_profile_trail_leave_out(struct profile_trail *trail, const struct profile_steps *group)
{
    struct pug_count_boundary *boundary = pug_counts_boundary(trail->counts, group->like.source);
    trail->group = group;
    trail->follows = false;
    if (boundary)
        pug_counts_break_off(trail->counts, boundary);
}

void pug_profile_trail_end_group(struct profile_trail *trail)
{
    tell_boundary(trail);
    trail->group = NULL;
}

/** A side's counts; NULL: no memory. */
static struct pug_counts *counts_of(struct profile_trail *trail, uint32_t side)
{
    while (trail->sides.count <= side)
        if (!pug_list_add(&trail->sides, sizeof(trail->counts)))
            return NULL;
    struct pug_counts **counts = (struct pug_counts **)trail->sides.items + side;
    if (!*counts)
        *counts = pug_counts_new();
    return *counts;
}

void pug_profile_trail_turn(struct profile_trail *trail, uint32_t side, bool begins)
{
    trail->counts = counts_of(trail, side);
    if (!trail->counts)
        profile_trail_fail(trail, PUG_ERR_MEM);
    else if (begins)
        pug_counts_end(trail->counts);
    trail->last = (struct profile_ran){NO_NODE, NO_NODE};
    trail->follows = false;
}

void pug_profile_trail_end(struct profile_trail *trail)
{
    for (uint32_t i = 0; i < trail->behind_room; i++)
        add_up_all(trail, &trail->behind[i]);
    for (uint32_t i = 0; i < trail->sum_room; i++) {
        const struct profile_sum *sum = &trail->sums[i];
        if (sum->count > 0)
            profile_trail_fail(trail,
                               pug_profile_counted_ran(trail->counted, &trail->cache.nodes[i],
                                                       sum->count, sum->cycles));
    }
    struct pug_counts *const *counts = trail->sides.items;
    for (size_t i = 0; i < trail->sides.count; i++) {
        if (!counts[i])
            continue;
        pug_counts_end(counts[i]);
        if (trail->status == PUG_OK)
            profile_trail_fail(trail, pug_profile_counted_add(trail->counted, counts[i]));
    }
}
