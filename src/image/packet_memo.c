// SPDX-License-Identifier: MIT
/** @file Making memos, and keeping them. */
#include "image/packet_memo.h"
#include "image/codemap_store.h"

#include <stdlib.h>

#define FIRST_MEMOS 128u
#define MOST_MEMOS  2048u
#define PRINTS      4u /* of packets that were met, for one memo */

static_assert(offsetof(struct pug_memo, last) == 64 && offsetof(struct pug_memo, hops) == 128,
              "what is compared is a cache line, and what all of them have one more");
static_assert(MOST_MEMOS <= UINT16_MAX + 1u, "a memo knows the place of another");
static_assert(PUG_MEMO_HOPS <= PUG_OUT_STEP, "ranges have room behind a batch's limit");
static_assert(alignof(struct pug_block) > 1, "a block's address has room for a bit");

void pug_memos_free(struct pug_memos *memos)
{
    free(memos->items);
    free(memos->met);
    *memos = (struct pug_memos){0};
}

static void lose_hits(struct pug_memos *memos, struct pug_memo *memo)
{
    if (memo->hits > 0)
        memos->lose_hits(memos, memo);
}

void pug_memos_lose_hits(struct pug_memos *memos)
{
    const size_t count = memos->items ? memos->mask + (size_t)1 : 0;
    for (size_t i = 0; i < count; i++)
        lose_hits(memos, &memos->items[i]);
}

void pug_memos_forget(struct pug_memos *memos)
{
    const size_t count = memos->items ? memos->mask + (size_t)1 : 0;
    pug_memos_lose_hits(memos);
    for (size_t i = 0; i < count; i++)
        memos->items[i].stamp = 0;
}

static uint32_t *print_of(const struct pug_memos *memos, uint32_t print)
{
    return &memos->met[print & (PRINTS * (memos->mask + 1) - 1)];
}

/** The entry in its place moves over. */
static void put(struct pug_memos *memos, const struct pug_memo *memo)
{
    struct pug_memo *place = &memos->items[pug_memo_hash(memo->cause) & memos->mask];
    struct pug_memo *other = &memos->items[(place - memos->items) ^ 1];
    const bool moves = place->stamp == memo->stamp;
    lose_hits(memos, moves ? other : place);
    if (moves) {
        memos->replaced += other->stamp == memo->stamp;
        *other = *place;
    }
    *place = *memo;
}

static void move_all(const struct pug_memos *from, struct pug_memos *to)
{
    for (size_t i = 0; from->items && i <= from->mask; i++)
        if (from->items[i].stamp != 0)
            put(to, &from->items[i]);
    for (size_t i = 0; from->items && i < PRINTS * (size_t)(from->mask + 1); i++)
        *print_of(to, from->met[i]) = from->met[i];
}

/** Room for more. False: no memory, or more than there may be; all as it was. */
static bool grow(struct pug_memos *memos, const struct pug_codemap *map)
{
    const uint32_t count = memos->items ? 2 * (memos->mask + 1) : FIRST_MEMOS;
    const size_t size = count * sizeof(*memos->items);
    if (count > MOST_MEMOS || size > map->store->limit / 8)
        return false;
    struct pug_memos more = {.items = aligned_alloc(alignof(struct pug_memo), size),
                             .met = calloc(PRINTS * count, sizeof(*more.met)),
                             .mask = count - 1,
                             .number = memos->number,
                             .paths = memos->paths,
                             .lose_hits = memos->lose_hits};
    if (!more.items || !more.met) {
        pug_memos_free(&more);
        return false;
    }
    memset(more.items, 0, size);
    struct pug_memos before = *memos;
    move_all(&before, &more);
    more.replaced = 0;
    more.hits = before.hits;
    more.misses = before.misses;
    *memos = more;
    pug_memos_free(&before);
    return true;
}

void pug_memos_look_up_first(struct pug_memos *memos, const struct pug_codemap *map,
                             struct pug_memo_lookup *lookup)
{
    const struct pug_memo_cause *cause = &lookup->cause;
    const uint32_t print = (uint32_t)pug_hash_mix(pug_memo_hash(*cause), cause->low);
    lookup->keeps = false;
    pug_memos_miss(memos);
    if (!memos->items && !grow(memos, map))
        return;
    uint32_t *met = print_of(memos, print);
    lookup->keeps = *met == print;
    lookup->stamp = pug_codemap_stamp(map);
    *met = print;
}

bool pug_memo_lookup_holds(const struct pug_memo_lookup *lookup, const struct pug_codemap *map,
                           const struct pug_batch *batch)
{
    return batch->response == PUG_RESP_CONT && batch->count > lookup->count &&
           !pug_codemap_outdated(map) && lookup->stamp == pug_codemap_stamp(map);
}

/** The block after a hop, if it is at hand and begins at `start`. */
static const struct pug_block *behind(const struct pug_codemap *map, const struct pug_block *block,
                                      bool taken, uint64_t start)
{
    const struct pug_block *next = pug_block_linked(block, taken, map->epoch);
    if (!next || next->start != start)
        next = pug_codemap_held(map, start, block->isa);
    return next;
}

/** Is it the range of the block, except for `told` bytes of its first instruction? */
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

static void put_last(struct pug_memo *memo, const struct pug_element *last)
{
    memo->ends_inside = true;
    memo->last.start = last->start;
    memo->last.end = last->end;
    memo->last_count = last->count;
    memcpy(&memo->last.tail, &last->flags, sizeof(memo->last.tail));
}

bool pug_memo_hops(struct pug_memo *memo, const struct pug_codemap *map,
                   const struct pug_batch *batch, const struct pug_memo_lookup *lookup,
                   const struct pug_block *first, struct pug_memo_way way)
{
    const struct pug_element *e = &batch->elements[lookup->count];
    const size_t count = batch->count - lookup->count;
    const bool silent = lookup->told > 0 && first->count == 1; /* all of it was reported */
    const struct pug_block *block = first;
    unsigned told = silent ? 0 : lookup->told;
    memo->ranges = memo->count = 0;
    memo->silent = silent;
    memo->told = (uint8_t)(count > way.inside ? told : 0);
    memo->ends_inside = false;
    if (count == 0 || silent + count - way.inside > PUG_MEMO_HOPS)
        return false;
    if (silent) {
        memo->hops[memo->count++] = (pug_memo_hop)block | way.taken;
        block = behind(map, block, way.taken, e->start);
    }
    for (size_t left = count; left > 0; left--, e++, told = 0) {
        const bool taken = e->flags & PUG_ELEM_EXECUTED, last = left == 1;
        if (!block || e->type != PUG_ELEM_INSTR_RANGE || block->start + told != e->start ||
            e->value != 0)
            return false;
        if (last && way.inside) {
            put_last(memo, e);
            break;
        }
        if (!pug_block_hops(block, map->epoch) || !is_range(e, block, told))
            return false;
        memo->hops[memo->count++] = (pug_memo_hop)block | taken;
        block = last ? NULL : behind(map, block, taken, e[1].start);
    }
    memo->ranges = (uint8_t)count;
    return true;
}

int64_t pug_memo_fits(const struct pug_memo *memo, const struct pug_memo_stack *stack,
                      bool last_is_told)
{
    uint32_t entries = stack->entries, calls = 0, taken = 0;
    for (uint32_t i = 0; i < memo->count; i++) {
        if (pug_memo_block(memo->hops[i])->insn.kind == PUG_RV_CALL) {
            calls++;
            entries += entries < stack->limit;
        } else if (pug_memo_infers(memo, i, last_is_told)) {
            if (entries == 0 ||
                (calls == 0 && stack->newest(stack->context, taken++) != pug_memo_behind(memo, i)))
                return -1;
            entries--;
            calls -= calls > 0;
        }
    }
    return calls <= stack->limit ? (int64_t)entries : -1;
}

void pug_memos_keep(struct pug_memos *memos, const struct pug_codemap *map, struct pug_memo *memo)
{
    if (memos->number == PUG_MEMO_NONE - 1) {
        pug_memos_forget(memos);
        memos->number = 0;
    }
    memo->number = ++memos->number;
    memo->next = PUG_MEMO_NONE;
    put(memos, memo);
    if (memos->replaced > memos->mask / 8)
        (void)grow(memos, map);
}
