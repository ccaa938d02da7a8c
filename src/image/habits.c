// SPDX-License-Identifier: MIT
/** @file Making habits, and keeping them. */
#include "image/habits.h"
#include "image/codemap_store.h"

#include <stdlib.h>

#define FIRST_HABITS 128u
#define MOST_HABITS  2048u
#define PRINTS       4u /* of packets that were met, for one habit */

static_assert(offsetof(struct pug_habit, last) == 64 && offsetof(struct pug_habit, hops) == 128,
              "what is compared is a cache line, and what all of them have one more");
static_assert(MOST_HABITS <= UINT16_MAX + 1u, "a habit knows the place of another");
static_assert(PUG_HABIT_HOPS <= PUG_OUT_STEP, "ranges have room behind a batch's limit");
static_assert(alignof(struct pug_block) > 1, "a block's address has room for a bit");

void pug_habits_free(struct pug_habits *habits)
{
    free(habits->items);
    free(habits->met);
    *habits = (struct pug_habits){0};
}

void pug_habits_lose_hits(struct pug_habits *habits)
{
    const size_t count = habits->items ? habits->mask + (size_t)1 : 0;
    for (size_t i = 0; i < count; i++)
        pug_habit_lose_hits(habits, &habits->items[i]);
}

void pug_habits_forget(struct pug_habits *habits)
{
    const size_t count = habits->items ? habits->mask + (size_t)1 : 0;
    pug_habits_lose_hits(habits);
    for (size_t i = 0; i < count; i++)
        habits->items[i].stamp = 0;
}

static uint32_t *print_of(const struct pug_habits *habits, uint32_t print)
{
    return &habits->met[print & (PRINTS * (habits->mask + 1) - 1)];
}

/** What is in its place moves over. */
static void put(struct pug_habits *habits, const struct pug_habit *habit)
{
    struct pug_habit *place = &habits->items[pug_habit_hash(habit->cause) & habits->mask];
    struct pug_habit *other = &habits->items[(place - habits->items) ^ 1];
    const bool moves = place->stamp == habit->stamp;
    pug_habit_lose_hits(habits, moves ? other : place);
    if (moves) {
        habits->replaced += other->stamp == habit->stamp;
        *other = *place;
    }
    *place = *habit;
}

static void move_all(const struct pug_habits *from, struct pug_habits *to)
{
    for (size_t i = 0; from->items && i <= from->mask; i++)
        if (from->items[i].stamp != 0)
            put(to, &from->items[i]);
    for (size_t i = 0; from->items && i < PRINTS * (size_t)(from->mask + 1); i++)
        *print_of(to, from->met[i]) = from->met[i];
}

/** Room for more. False: no memory, or more than there may be; all as it was. */
static bool grow(struct pug_habits *habits, const struct pug_codemap *map)
{
    const uint32_t count = habits->items ? 2 * (habits->mask + 1) : FIRST_HABITS;
    const size_t size = count * sizeof(*habits->items);
    if (count > MOST_HABITS || size > map->store->limit / 8)
        return false;
    struct pug_habits more = {.items = aligned_alloc(alignof(struct pug_habit), size),
                              .met = calloc(PRINTS * count, sizeof(*more.met)),
                              .mask = count - 1,
                              .number = habits->number,
                              .paths = habits->paths};
    if (!more.items || !more.met) {
        pug_habits_free(&more);
        return false;
    }
    memset(more.items, 0, size);
    struct pug_habits before = *habits;
    move_all(&before, &more);
    more.replaced = 0;
    more.hits = before.hits;
    more.misses = before.misses;
    *habits = more;
    pug_habits_free(&before);
    return true;
}

void pug_habits_meet(struct pug_habits *habits, const struct pug_codemap *map,
                     struct pug_habit_meeting *meeting)
{
    const struct pug_habit_cause *cause = &meeting->cause;
    const uint32_t print = (uint32_t)pug_hash_mix(pug_habit_hash(*cause), cause->low);
    meeting->keeps = false;
    pug_habits_miss(habits);
    if (!habits->items && !grow(habits, map))
        return;
    uint32_t *met = print_of(habits, print);
    meeting->keeps = *met == print;
    meeting->stamp = pug_codemap_stamp(map);
    *met = print;
}

bool pug_habit_meeting_holds(const struct pug_habit_meeting *meeting, const struct pug_codemap *map,
                             const struct pug_batch *batch)
{
    return batch->response == PUG_RESP_CONT && batch->count > meeting->count &&
           !pug_codemap_outdated(map) && meeting->stamp == pug_codemap_stamp(map);
}

/** The block behind a hop, if it is at hand and begins at `start`. */
static const struct pug_block *behind(const struct pug_codemap *map, const struct pug_block *block,
                                      bool taken, uint64_t start)
{
    const struct pug_block *next = pug_block_linked(block, taken, map->epoch);
    if (!next || next->start != start)
        next = pug_codemap_held(map, start, block->isa);
    return next;
}

/** Is it the range of the block, but for `told` bytes of its first instruction? */
static bool is_range(const struct pug_element *element, const struct pug_block *block,
                     unsigned told)
{
    struct pug_element whole;
    struct pug_range_context context;
    memcpy(&context, &element->context_id, sizeof(context));
    pug_block_range(&whole, block, element->index, &context, element->flags & PUG_ELEM_EXECUTED);
    whole.start += told;
    whole.count -= told > 0;
    return memcmp(&whole, element, sizeof(whole)) == 0;
}

static void put_last(struct pug_habit *habit, const struct pug_element *last)
{
    habit->ends_inside = true;
    habit->last.start = last->start;
    habit->last.end = last->end;
    habit->last_count = last->count;
    memcpy(&habit->last.tail, &last->flags, sizeof(habit->last.tail));
}

bool pug_habit_hops(struct pug_habit *habit, const struct pug_codemap *map,
                    const struct pug_batch *batch, const struct pug_habit_meeting *meeting,
                    const struct pug_block *first, struct pug_habit_way way)
{
    const struct pug_element *e = &batch->elements[meeting->count];
    const size_t count = batch->count - meeting->count;
    const bool silent = meeting->told > 0 && first->count == 1; /* all of it was told */
    const struct pug_block *block = first;
    unsigned told = silent ? 0 : meeting->told;
    habit->ranges = habit->count = 0;
    habit->silent = silent;
    habit->told = (uint8_t)(count > way.inside ? told : 0);
    habit->ends_inside = false;
    if (count == 0 || silent + count - way.inside > PUG_HABIT_HOPS)
        return false;
    if (silent) {
        habit->hops[habit->count++] = (pug_habit_hop)block | way.taken;
        block = behind(map, block, way.taken, e->start);
    }
    for (size_t left = count; left > 0; left--, e++, told = 0) {
        const bool taken = e->flags & PUG_ELEM_EXECUTED, last = left == 1;
        if (!block || e->type != PUG_ELEM_INSTR_RANGE || block->start + told != e->start ||
            e->value != 0)
            return false;
        if (last && way.inside) {
            put_last(habit, e);
            break;
        }
        if (!pug_block_hops(block, map->epoch) || !is_range(e, block, told))
            return false;
        habit->hops[habit->count++] = (pug_habit_hop)block | taken;
        block = last ? NULL : behind(map, block, taken, e[1].start);
    }
    habit->ranges = (uint8_t)count;
    return true;
}

int64_t pug_habit_fits(const struct pug_habit *habit, const struct pug_habit_stack *stack,
                       bool last_is_told)
{
    uint32_t entries = stack->entries, calls = 0, taken = 0;
    for (uint32_t i = 0; i < habit->count; i++) {
        if (pug_habit_block(habit->hops[i])->insn.kind == PUG_RV_CALL) {
            calls++;
            entries += entries < stack->limit;
        } else if (pug_habit_infers(habit, i, last_is_told)) {
            if (entries == 0 || (calls == 0 && stack->newest(stack->context, taken++) !=
                                                   pug_habit_behind(habit, i)))
                return -1;
            entries--;
            calls -= calls > 0;
        }
    }
    return calls <= stack->limit ? (int64_t)entries : -1;
}

void pug_habits_keep(struct pug_habits *habits, const struct pug_codemap *map,
                     struct pug_habit *habit)
{
    if (habits->number == PUG_HABIT_NONE - 1) {
        pug_habits_forget(habits);
        habits->number = 0;
    }
    habit->number = ++habits->number;
    habit->next = PUG_HABIT_NONE;
    put(habits, habit);
    if (habits->replaced > habits->mask / 8)
        (void)grow(habits, map);
}
