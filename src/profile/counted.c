// SPDX-License-Identifier: MIT
/** @file From counts of addresses in spaces to ranges and branches of objects. */
#include "profile/steps.h"

#include "base/hash.h"
#include "capture/capture.h"
#include "counts/counts.h"

#include <string.h>

/**
 * A branch that was taken, and how often. A branch jumped as often as its known targets say; the
 * rest went to its target, or to an unknown place. Where text changes there are several in one
 * place.
 */
struct ending {
    struct profile_place from;
    uint32_t isa;
    bool has_target;
    struct profile_place target; /* nowhere, if it has none */
    uint64_t taken, jumped;
};

static const struct profile_place nowhere = {0, PUG_PROFILE_NONE};

static uint64_t hash_ending(const void *item)
{
    const struct ending *ending = item;
    const uint64_t place = pug_hash_mix(pug_hash_mix(0, ending->from.vaddr),
                                        ending->isa ^ (uint64_t)ending->from.object << 32);
    return pug_hash_mix(place, ending->target.vaddr);
}

static bool same_place(struct profile_place a, struct profile_place b)
{
    return a.vaddr == b.vaddr && a.object == b.object;
}

static bool same_ending(const void *left, const void *right)
{
    const struct ending *a = left, *b = right;
    return same_place(a->from, b->from) && a->isa == b->isa && a->has_target == b->has_target &&
           same_place(a->target, b->target);
}

struct profile_counted pug_profile_counted_begin(struct profile_objects *objects)
{
    return (struct profile_counted){
        .objects = objects,
        .cache = {.capture = objects->capture, .space = UINT64_MAX},
        .endings = {.size = sizeof(struct ending), .hash = hash_ending, .same = same_ending},
    };
}

void pug_profile_counted_free(struct profile_counted *counted)
{
    pug_profile_node_cache_free(&counted->cache);
    pug_profile_table_free(&counted->endings);
}

static void note(struct profile_counted *counted, enum pug_profile_note what, uint64_t count)
{
    counted->notes[what] = pug_profile_sum(counted->notes[what], count);
}

/* ---- contexts ---- */

/** Elements of a context come next. */
static struct pug_origin origin_of(struct profile_counted *counted,
                                   const struct pug_element *context)
{
    const struct pug_origin origin = {
        .task = PUG_NO_TASK,
        .cpu = PUG_NO_CPU,
        .source = context->source,
        .space = pug_capture_space(counted->cache.capture, context->value)};
    pug_profile_node_cache_enter(&counted->cache, &origin);
    return origin;
}

/* ---- ranges ---- */

static struct pug_element element_of(const struct pug_element *context,
                                     const struct pug_count *item)
{
    struct pug_element range = *context;
    range.start = item->key[0];
    range.end = item->key[1];
    range.count = (uint32_t)item->key[2];
    memcpy(&range.flags, &item->key[3], sizeof(item->key[3]));
    return range;
}

/** The branch that a range ends with; it has its place and its target. */
static enum pug_status find_ending(struct profile_counted *counted, const struct profile_node *node,
                                   struct ending **ending)
{
    const struct ending wanted = {
        .from = {pug_profile_node_last(node), node->object},
        .isa = node->step.shape.isa,
        .has_target = node->has_target,
        .target =
            node->has_target ? (struct profile_place){node->target, node->target_object} : nowhere,
    };
    uint32_t number;
    bool is_new;
    enum pug_status status = pug_profile_table_add(&counted->endings, &wanted, &number, &is_new);
    if (status == PUG_OK)
        *ending = pug_profile_item(&counted->endings, number);
    return status;
}

enum pug_status pug_profile_counted_ran(struct profile_counted *counted,
                                        const struct profile_node *node, uint64_t count,
                                        uint64_t cycles)
{
    struct pug_profile_range range;
    if (node->step.shape.last_size > node->step.size)
        return PUG_OK;
    if (node->object == PUG_PROFILE_NONE)
        note(counted, PUG_NOTE_UNMAPPED, pug_profile_product(count, node->step.instructions));
    enum pug_status status = pug_profile_range_of(counted->objects, node, &range);
    range.count = count;
    range.cycles = cycles;
    if (status == PUG_OK)
        status = pug_profile_range(counted->objects->profile, &range, NULL);
    if (status != PUG_OK || !(pug_profile_node_end(node) & PUG_END_TAKEN))
        return status;
    struct ending *ending;
    status = find_ending(counted, node, &ending);
    if (status == PUG_OK)
        ending->taken = pug_profile_sum(ending->taken, count);
    return status;
}

static enum pug_status add_range(struct profile_counted *counted, const struct pug_origin *origin,
                                 const struct pug_element *range, const struct pug_count *item)
{
    struct profile_node node = pug_profile_describe(&counted->cache, origin, range);
    pug_profile_find_target(&counted->cache, origin, range, &node);
    return pug_profile_counted_ran(counted, &node, item->count, item->cycles);
}

/* ---- jumps ---- */

static enum pug_status put_branch(struct profile_counted *counted, const struct ending *ending,
                                  struct profile_place to, uint64_t count)
{
    struct pug_profile_branch branch = {.from = ending->from.vaddr,
                                        .to = to.object == PUG_PROFILE_NONE ? 0 : to.vaddr,
                                        .count = count};
    if (count == 0)
        return PUG_OK;
    enum pug_status status =
        pug_profile_object_number(counted->objects, ending->from.object, &branch.object);
    if (status == PUG_OK)
        status = pug_profile_object_number(counted->objects, to.object, &branch.to_object);
    return status == PUG_OK ? pug_profile_branch(counted->objects->profile, &branch) : status;
}

/** Add a branch's target, so many times. */
static enum pug_status end_at(struct profile_counted *counted, struct ending *ending,
                              struct profile_place to, uint64_t count)
{
    if (ending->has_target) {
        if (!same_place(ending->target, to))
            note(counted, PUG_NOTE_CONTRADICTIONS, count);
        return PUG_OK;
    }
    ending->jumped = pug_profile_sum(ending->jumped, count);
    return put_branch(counted, ending, to, count);
}

enum pug_status pug_profile_counted_went(struct profile_counted *counted,
                                         const struct profile_node *node, struct profile_place to,
                                         uint64_t count)
{
    if (!(pug_profile_node_end(node) & PUG_END_TAKEN))
        return PUG_OK;
    struct ending *ending;
    enum pug_status status = find_ending(counted, node, &ending);
    return status == PUG_OK ? end_at(counted, ending, to, count) : status;
}

/** Where a branch went that a range took; a return from an exception is none. */
static enum pug_status add_jump(struct profile_counted *counted, const struct pug_origin *origin,
                                const struct pug_element *context, const struct pug_count *item)
{
    const struct pug_count_pending jump = pug_counts_jumped(item);
    struct ending wanted = {.from = profile_place(&counted->cache, origin, jump.from),
                            .isa = jump.isa,
                            .target = nowhere};
    uint64_t target;
    wanted.has_target =
        jump.last_type == PUG_INSTR_BR &&
        pug_profile_target(origin, &(struct profile_branch){context, jump.from, jump.isa}, &target);
    if (wanted.has_target)
        wanted.target = profile_place(&counted->cache, origin, target);
    const struct profile_place to = profile_place(&counted->cache, origin, jump.target);
    const uint32_t number = pug_profile_table_find(&counted->endings, &wanted);
    if (number == PUG_PROFILE_NONE)
        return PUG_OK;
    return end_at(counted, pug_profile_item(&counted->endings, number), to, item->count);
}

/* ---- all of it ---- */

static enum pug_status add_each(struct profile_counted *counted, const struct pug_counts *counts,
                                const struct pug_count_table *table)
{
    struct pug_origin origin = {0};
    struct pug_element blank = {.source = 0};
    uint32_t context = UINT32_MAX;
    enum pug_status status = PUG_OK;
    for (uint32_t i = 0; i < table->count && status == PUG_OK; i++) {
        const struct pug_count *item = &table->items[i];
        const uint32_t of = (uint32_t)(item->key[2] >> 32);
        if (item->count == 0 && item->cycles == 0)
            continue; /* a jump that was taken back */
        if (of != context) {
            blank = pug_counts_context_element(counts, of);
            origin = origin_of(counted, &blank);
        }
        context = of;
        if (table == &counts->jumps) {
            status = add_jump(counted, &origin, &blank, item);
            continue;
        }
        const struct pug_element range = element_of(&blank, item);
        status = add_range(counted, &origin, &range, item);
    }
    return status;
}

enum pug_status pug_profile_counted_add(struct profile_counted *counted,
                                        const struct pug_counts *counts)
{
    enum pug_status status = pug_counts_status(counts);
    note(counted, PUG_NOTE_CONTRADICTIONS, pug_counts_contradictions(counts));
    if (status == PUG_OK)
        status = add_each(counted, counts, &counts->ranges);
    if (status == PUG_OK)
        status = add_each(counted, counts, &counts->jumps);
    return status;
}

enum pug_status pug_profile_counted_end(struct profile_counted *counted)
{
    enum pug_status status = PUG_OK;
    for (uint32_t i = 0; i < counted->endings.count && status == PUG_OK; i++) {
        const struct ending *ending = pug_profile_item(&counted->endings, i);
        const uint64_t rest = ending->taken > ending->jumped ? ending->taken - ending->jumped : 0;
        if (!ending->has_target)
            note(counted, PUG_NOTE_NO_TARGET, rest);
        status = put_branch(counted, ending, ending->target, rest);
    }
    return status;
}
