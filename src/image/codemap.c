// SPDX-License-Identifier: MIT
/** @file The code map: looking blocks up, making them, linking them. */
#include "image/codemap_store.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#define FIRST_SLOTS 256u
#define FIRST_RESTS 16u
#define JUMPS_MOST  16384u

/* For what is rare: it takes no registers from what is not. */
#define NOINLINE __attribute__((noinline))

static_assert(sizeof(struct pug_block) == 128, "a block is two cache lines");

/* ---- the table of blocks ---- */

/* A slot's place follows from the upper half of the hash, its print from the lower one. The blocks
   of 128 bytes of code begin in one cache line of slots: what runs together lies together. */
static size_t first_slot(const struct pug_codemap_store *store, uint64_t address, uint32_t tag)
{
    size_t line = (size_t)(pug_code_hash(address >> 7, tag) >> 32);
    return (line << 3 | (address >> 4 & 7)) & (store->slot_count - 1);
}

/* The slot of a block, or the free one where it would be. */
static inline struct pug_slot *find_slot(const struct pug_codemap_store *store, uint64_t address,
                                         uint32_t tag)
{
    uint32_t print = (uint32_t)pug_code_hash(address, tag);
    size_t at = first_slot(store, address, tag);
    for (;; at = (at + 1) & (store->slot_count - 1)) {
        struct pug_slot *slot = &store->slots[at];
        if (slot->number == 0)
            return slot;
        if (slot->print != print)
            continue;
        const struct pug_block *block = pug_code_block_at(store, slot->number - 1);
        if (block->start == address && block->tag == tag)
            return slot;
    }
}

static void put_slot(const struct pug_codemap_store *store, uint32_t number)
{
    const struct pug_block *block = pug_code_block_at(store, number - 1);
    *find_slot(store, block->start, block->tag) = (struct pug_slot){
        .print = (uint32_t)pug_code_hash(block->start, block->tag), .number = number};
}

void pug_code_free_jumps(struct pug_codemap *map)
{
    struct pug_codemap_store *store = map->store;
    if (map->jumps && map->jumps != &map->first_jump) {
        free(map->jumps);
        store->stats.bytes -= (map->jump_mask + 1) * sizeof(*map->jumps);
    }
    map->first_jump = &pug_no_block;
    map->jumps = &map->first_jump;
    map->jump_mask = 0;
}

/* A larger table of jumps, if there is memory for it: without one it is only slower. */
static void grow_jumps(struct pug_codemap *map, size_t count)
{
    if (count > JUMPS_MOST)
        return;
    const struct pug_block **jumps = aligned_alloc(64, count * sizeof(*jumps));
    if (!jumps)
        return;
    pug_code_free_jumps(map);
    for (size_t i = 0; i < count; i++)
        jumps[i] = &pug_no_block;
    map->jumps = jumps;
    map->jump_mask = (uint32_t)count - 1;
    map->store->stats.bytes += count * sizeof(*jumps);
}

static bool grow_slots(struct pug_codemap *map)
{
    struct pug_codemap_store *store = map->store;
    size_t count = store->slot_count ? store->slot_count * 2 : FIRST_SLOTS;
    struct pug_slot *slots = aligned_alloc(64, count * sizeof(*slots));
    if (!slots)
        return false;
    memset(slots, 0, count * sizeof(*slots));
    free(store->slots);
    store->stats.bytes += (count - store->slot_count) * sizeof(*slots);
    store->slots = slots;
    store->slot_count = count;
    for (uint32_t number = 1; number <= store->count; number++)
        put_slot(store, number);
    grow_jumps(map, count / 2);
    return true;
}

static bool add_chunk(struct pug_codemap_store *store)
{
    if (store->chunk_count == store->chunk_limit) {
        size_t limit = store->chunk_limit ? store->chunk_limit * 2 : 16;
        struct pug_block **chunks = realloc(store->chunks, limit * sizeof(struct pug_block *));
        if (!chunks)
            return false;
        store->chunks = chunks;
        store->chunk_limit = limit;
    }
    struct pug_block *chunk = aligned_alloc(PUG_BLOCK_ALIGNMENT, PUG_BLOCK_CHUNK * sizeof(*chunk));
    if (!chunk)
        return false;
    store->chunks[store->chunk_count++] = chunk;
    store->stats.bytes += PUG_BLOCK_CHUNK * sizeof(*chunk);
    return true;
}

static bool chunks_full(const struct pug_codemap_store *store)
{
    return store->count == store->chunk_count * PUG_BLOCK_CHUNK;
}

/* Two thirds full is full: probing stays short. */
static bool slots_full(const struct pug_codemap_store *store)
{
    return (size_t)store->count * 3 >= store->slot_count * 2;
}

/* The pages that one block may take: those it rests on, and one that turned out too short. */
static size_t pages_room(const struct pug_codemap_store *store)
{
    return (PUG_PAGES + 1) * pug_code_page_bytes(store);
}

/* The room that notes about one more block's memory may need. */
static size_t rests_room(const struct pug_codemap_store *store)
{
    const size_t more = store->rests_limit ? store->rests_limit : FIRST_RESTS;
    return store->rests_count < store->rests_limit ? 0 : more * sizeof(*store->rests);
}

/* The room that one more block may need. */
static size_t room_for_block(const struct pug_codemap *map)
{
    const struct pug_codemap_store *store = map->store;
    size_t room = 0;
    if (chunks_full(store))
        room += PUG_BLOCK_CHUNK * sizeof(struct pug_block);
    if (slots_full(store))
        room += (store->slot_count ? store->slot_count : FIRST_SLOTS) * sizeof(struct pug_slot);
    if (store->image->callbacks > 0)
        room += pages_room(store) + rests_room(store);
    return room;
}

/* ---- keeping blocks ---- */

void pug_code_starve(const struct pug_codemap *map)
{
    pug_image_starve(map->store->image);
    if (map->store->image != map->config.image)
        pug_image_starve(map->config.image);
}

/* A block in ERROR, for where nothing else can be said. */
static const struct pug_block *no_memory(struct pug_codemap *map, uint64_t address,
                                         enum pug_isa isa)
{
    struct pug_block *block = map->store->scratch;
    pug_code_clear(block);
    block->start = block->end = address;
    block->isa = (uint8_t)isa;
    block->ending = PUG_BLOCK_ERROR;
    block->status = PUG_ERR_MEM;
    pug_code_starve(map);
    return block;
}

static const struct pug_rests_on *rests_of(const struct pug_codemap_store *store,
                                           const struct pug_block *block)
{
    static const struct pug_rests_on nothing;
    return block->rests ? &store->rests[block->rests - 1] : &nothing;
}

/* Room for what one block more rests on. */
static bool reserve_rests(struct pug_codemap_store *store)
{
    if (store->rests_count < store->rests_limit)
        return true;
    const uint32_t limit = store->rests_limit ? store->rests_limit * 2 : FIRST_RESTS;
    struct pug_rests_on *rests = realloc(store->rests, limit * sizeof(*rests));
    if (!rests)
        return false;
    store->stats.bytes += (limit - store->rests_limit) * sizeof(*rests);
    store->rests = rests;
    store->rests_limit = limit;
    return true;
}

/* Put the scratch in a block's place, which may have rested on something already. */
static void keep_scratch(struct pug_codemap_store *store, struct pug_block *block, uint32_t rests)
{
    *block = *store->scratch;
    if (store->scratch_rests.count > 0 && rests == 0)
        rests = ++store->rests_count;
    if (rests > 0)
        store->rests[rests - 1] = store->scratch_rests;
    block->rests = rests;
    block->page = store->scratch_rests.count == 1 ? store->scratch_rests.page[0] : 0;
}

static const struct pug_block *make(struct pug_codemap *map, uint64_t address, enum pug_isa isa,
                                    uint8_t it)
{
    struct pug_codemap_store *store = map->store;
    (void)pug_codemap_prepare(map, room_for_block(map));
    pug_code_build(map, address, isa, it);
    if (store->scratch_rests.transient)
        return store->scratch;
    if ((chunks_full(store) && !add_chunk(store)) || (slots_full(store) && !grow_slots(map)) ||
        (store->scratch_rests.count > 0 && !reserve_rests(store)))
        return no_memory(map, address, isa);
    struct pug_block *block = pug_code_block_at(store, store->count);
    store->scratch->number = store->count++;
    keep_scratch(store, block, 0);
    put_slot(store, store->count);
    return block;
}

/* Is the memory below a block as it was? Then it holds again; pages are asked for. */
static bool hold_again(struct pug_codemap *map, struct pug_block *block)
{
    const uint32_t epoch = map->epoch;
    if (pug_code_page_same(map, block)) {
        block->hop = epoch;
        return true;
    }
    if (!pug_code_same(map, rests_of(map->store, block)))
        return false;
    pug_code_hold(block, epoch);
    return true;
}

/* A block on memory that may have changed: is it as it was? Otherwise it is rebuilt in its place.
 */
static const struct pug_block *revalidate(struct pug_codemap *map, struct pug_block *block)
{
    struct pug_codemap_store *store = map->store;
    if (hold_again(map, block))
        return block;
    pug_code_build(map, block->start, block->isa, block->it_in);
    if (store->scratch_rests.transient)
        return store->scratch;
    if (map->before_change)
        map->before_change(map->counter, PUG_CODE_BLOCK_CHANGES, 0);
    store->scratch->number = block->number;
    keep_scratch(store, block, block->rests);
    return block;
}

/* ---- looking up and following ---- */

/* A block that the map does not have, or not as it may be now. */
static const struct pug_block *look(struct pug_codemap *map, uint64_t address, enum pug_isa isa,
                                    uint8_t it)
{
    struct pug_codemap_store *store = map->store;
    (void)pug_codemap_prepare(map, 0);
    if (store->slot_count == 0)
        return make(map, address, isa, it);
    const struct pug_slot *slot = find_slot(store, address, pug_code_tag(map, isa, it));
    if (slot->number == 0)
        return make(map, address, isa, it);
    struct pug_block *block = pug_code_block_at(store, slot->number - 1);
    if (pug_code_epoch(block) >= map->epoch)
        return block;
    /* A block that is rebuilt may need pages. */
    if (pug_codemap_prepare(map, pages_room(store)))
        return make(map, address, isa, it);
    return revalidate(map, block);
}

static NOINLINE const struct pug_block *look_closer(struct pug_codemap *map, uint64_t address,
                                                    enum pug_isa isa, uint8_t it)
{
    const struct pug_block *block = look(map, address, isa, it);
    return map->store->left ? look(map, address, isa, it) : block;
}

/* The last request's result is at hand. */
static const struct pug_block *note_jump(struct pug_codemap *map, const struct pug_block *block)
{
    if (block->hop != 0 && block->it_in == 0 && block != map->store->scratch)
        *pug_codemap_slot(map, block->start) = block;
    return block;
}

/* The block, if the map has it and it is good now. */
static const struct pug_block *held(const struct pug_codemap *map, uint64_t address,
                                    enum pug_isa isa, uint8_t it)
{
    const struct pug_codemap_store *store = map->store;
    if (store->slot_count == 0 || pug_codemap_outdated(map))
        return NULL;
    const struct pug_slot *slot = find_slot(store, address, pug_code_tag(map, isa, it));
    const struct pug_block *block =
        slot->number ? pug_code_block_at(store, slot->number - 1) : NULL;
    return block && pug_code_epoch(block) >= map->epoch ? block : NULL;
}

const struct pug_block *pug_codemap_held(const struct pug_codemap *map, uint64_t address,
                                         uint8_t isa)
{
    const struct pug_block *block = held(map, address, isa, 0);
    return block && pug_block_hops(block, map->epoch) ? block : NULL;
}

const struct pug_block *pug_codemap_find(struct pug_codemap *map, uint64_t address,
                                         enum pug_isa isa, uint8_t it)
{
    map->store->stats.lookups++;
    const struct pug_block *block = held(map, address, isa, it);
    return note_jump(map, block ? block : look_closer(map, address, isa, it));
}

/* Is what the map has of a block that hops good now? */
static bool is_good(struct pug_codemap *map, struct pug_block *block)
{
    if (block->hop >= map->epoch)
        return true;
    if (block->page ? !pug_code_page_same_already(map, block)
                    : !pug_code_same_already(map, rests_of(map->store, block)))
        return false;
    block->hop = map->epoch;
    return true;
}

/* Would looking at the map begin with forgetting? */
static bool is_stale(const struct pug_codemap *map)
{
    return pug_codemap_outdated(map) || map->store->forget || map->store->slot_count == 0;
}

const struct pug_block *pug_codemap_relink(struct pug_codemap *map, const struct pug_block *next)
{
    if (is_stale(map) || !is_good(map, (struct pug_block *)next))
        return NULL;
    return next;
}

const struct pug_block *pug_codemap_rejoin(struct pug_codemap *map, uint64_t address, uint8_t isa)
{
    const struct pug_block *block = *pug_codemap_slot(map, address);
    if (block->start != address || block->tag != pug_block_tag(map, isa, 0) || block->hop == 0)
        return NULL;
    return pug_codemap_relink(map, block);
}

/* What a link led to before the context changed, if it is as it was; NULL: look it up. */
static const struct pug_block *same_again(struct pug_codemap *map, const struct pug_block *block,
                                          const struct pug_block *next, uint64_t address)
{
    const uint32_t epoch = map->epoch;
    if (next == &pug_no_block || pug_code_epoch(block) < epoch ||
        pug_codemap_prepare(map, pages_room(map->store)) || next->start != address)
        return NULL;
    const bool holds = pug_code_epoch(next) >= epoch || hold_again(map, (struct pug_block *)next);
    return holds ? next : NULL;
}

/* The block at `address`, which follows another one; remembered in that one's link. */
static const struct pug_block *link_to(struct pug_codemap *map, struct pug_block *from,
                                       const struct pug_block **link, uint64_t address,
                                       enum pug_isa isa, uint8_t it)
{
    struct pug_codemap_store *store = map->store;
    uint64_t restarts = store->stats.restarts;
    bool linked = from != store->scratch && from->tag >> 16 == store->view;
    const struct pug_block *next = linked ? same_again(map, from, *link, address) : NULL;
    if (next)
        return next;
    next = pug_codemap_block(map, address, isa, it);
    if (linked && store->stats.restarts == restarts && next != store->scratch)
        *link = next;
    return next;
}

const struct pug_block *pug_codemap_follow(struct pug_codemap *map, const struct pug_block *block,
                                           bool taken)
{
    struct pug_block *from = (struct pug_block *)block;
    if (!taken)
        return link_to(map, from, &from->links[0], block->end, block->isa, block->it_out);
    if (map->stops_at_calls && block->insn.link)
        return pug_codemap_block(map, block->insn.target, block->insn.next_isa, 0);
    return link_to(map, from, &from->links[1], block->insn.target, block->insn.next_isa, 0);
}
