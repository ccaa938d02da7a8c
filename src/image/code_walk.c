// SPDX-License-Identifier: MIT
/** @file Single instructions from the code map, and straight walks. */
#include "image/codemap_store.h"

#include <stdlib.h>

/* ---- one instruction ---- */

static void fetch(struct pug_codemap *map, struct pug_code_cursor *cursor, enum pug_isa isa,
                  uint8_t it, struct pug_insn_entry *entry)
{
    uint32_t epoch = map->epoch;
    *cursor = (struct pug_code_cursor){.valid = false};
    entry->it_out = it;
    enum pug_status status =
        pug_code_next(map, cursor, entry->address, isa, &entry->it_out, &entry->insn);
    if (status == PUG_OK && entry->insn.table_jump)
        pug_code_resolve(map, cursor, isa, &entry->insn);
    entry->status = (int16_t)status;
    entry->rests = cursor->rests;
    entry->epoch = cursor->rests.transient ? 0 : cursor->rests.count ? epoch : PUG_EPOCH_STATIC;
}

/* Is an entry good, perhaps after the pages below it were read again? */
static bool holds(struct pug_codemap *map, struct pug_insn_entry *entry)
{
    uint32_t epoch = map->epoch;
    if (entry->epoch >= epoch)
        return true;
    if (entry->epoch == 0 || !pug_code_same(map, &entry->rests))
        return false;
    entry->epoch = epoch;
    return true;
}

/*
 * Room for the first entries; four times as many where most were replaced by others, but no more
 * than an eighth of the map's limit. What was kept is forgotten then. Without memory: as it was.
 */
static void reserve_insns(struct pug_codemap_store *store)
{
    const uint32_t now = store->insn_entries, next = now ? 4 * now : PUG_INSN_ENTRIES_LEAST;
    if (store->insns && (store->insns_replaced < now || next > PUG_INSN_ENTRIES_MOST ||
                         next * sizeof(*store->insns) > store->limit / 8))
        return;
    struct pug_insn_entry *insns = calloc(next, sizeof(*insns));
    store->insns_replaced = 0;
    if (!insns)
        return;
    free(store->insns);
    store->insns = insns;
    store->insn_entries = next;
}

/* The entry of an instruction, or the one that it may replace: one of two. */
static struct pug_insn_entry *find(struct pug_codemap_store *store, uint64_t address, uint32_t tag)
{
    uint64_t pair = (pug_code_hash(address, tag) >> 32) & (store->insn_entries / 2 - 1);
    struct pug_insn_entry *a = &store->insns[2 * pair], *b = a + 1;
    if (a->address == address && a->tag == tag)
        return a;
    if (b->address == address && b->tag == tag)
        return b;
    return a->epoch <= b->epoch ? a : b;
}

static enum pug_status look_at_insn(struct pug_codemap *map, uint64_t address, enum pug_isa isa,
                                    uint8_t *it, struct pug_insn *insn)
{
    struct pug_codemap_store *store = map->store;
    struct pug_code_cursor cursor;
    (void)pug_codemap_prepare(map, (PUG_PAGES + 1) * pug_code_page_bytes(store));
    reserve_insns(store);
    uint32_t tag = pug_code_tag(map, isa, *it);
    struct pug_insn_entry alone; /* without memory none is kept */
    struct pug_insn_entry *entry = store->insns ? find(store, address, tag) : &alone;
    if (entry == &alone || entry->address != address || entry->tag != tag || !holds(map, entry)) {
        store->insns_replaced += entry != &alone && entry->epoch != 0;
        entry->address = address;
        entry->tag = tag;
        fetch(map, &cursor, isa, *it, entry);
    }
    if (entry->status == PUG_OK) {
        *it = entry->it_out;
        *insn = entry->insn;
    }
    return entry->status;
}

enum pug_status pug_codemap_insn(struct pug_codemap *map, uint64_t address, enum pug_isa isa,
                                 uint8_t *it, struct pug_insn *insn)
{
    const enum pug_status status = look_at_insn(map, address, isa, it, insn);
    return map->store->left ? look_at_insn(map, address, isa, it, insn) : status;
}

enum pug_status pug_codemap_insns(struct pug_codemap *map, uint64_t address, enum pug_isa isa,
                                  uint8_t it, struct pug_code_insn *insns, size_t *count,
                                  bool *lasts)
{
    struct pug_insn_entry first = {.address = address};
    struct pug_code_cursor cursor;
    for (unsigned i = 0; i < 2 && (i == 0 || map->store->left); i++) {
        (void)pug_codemap_prepare(map, (PUG_PAGES + 1) * pug_code_page_bytes(map->store));
        fetch(map, &cursor, isa, it, &first);
    }
    *lasts = first.epoch >= map->epoch;
    if (first.status == PUG_OK) {
        insns[0] = (struct pug_code_insn){.insn = first.insn, .it_behind = first.it_out};
        *count = 1 + pug_code_ahead(map, &cursor, address + first.insn.size, isa, first.it_out,
                                    insns + 1, *lasts ? *count - 1 : 0);
    }
    return first.status;
}

/* ---- straight on ---- */

static void step(struct pug_code_walk *walk, uint64_t last, const struct pug_insn *insn,
                 uint64_t end, uint32_t count)
{
    walk->last = last;
    walk->insn = *insn;
    walk->end = end;
    walk->count += count;
}

/*
 * Instruction by instruction to the end of a block; true when the walk is over. `before`: also in
 * front of an instruction that has `stop` inside it.
 */
static bool walk_singly(struct pug_codemap *map, enum pug_isa isa, uint64_t end, uint64_t stop,
                        bool before, uint32_t bound, struct pug_code_walk *walk)
{
    while (walk->end != end) {
        struct pug_insn insn = {0};
        const uint8_t it = walk->it;
        if (walk->count == bound) {
            walk->status = PUG_ERR_LIMIT;
            return true;
        }
        walk->status = pug_codemap_insn(map, walk->end, isa, &walk->it, &insn);
        if (walk->status != PUG_OK)
            return true;
        if (before && stop > walk->end && stop - walk->end < insn.size) {
            walk->it = it;
            return true;
        }
        step(walk, walk->end, &insn, pug_code_wrap(isa, walk->end + insn.size), 1);
        if (walk->end == stop)
            return true;
    }
    return false;
}

static void walk_on(struct pug_codemap *map, uint64_t address, enum pug_isa isa, uint8_t it,
                    uint64_t stop, bool before, uint32_t bound, struct pug_code_walk *walk)
{
    *walk = (struct pug_code_walk){.start = address, .end = address, .it = it, .status = PUG_OK};
    for (;;) {
        const struct pug_block *block = pug_codemap_block(map, walk->end, isa, walk->it);
        bool inside = stop > block->start && stop < block->end;
        uint64_t end = block->end;
        unsigned ending = block->ending;
        enum pug_status status = block->status;
        if (inside || block->count > bound - walk->count) {
            if (walk_singly(map, isa, end, stop, before, bound, walk))
                return;
        } else if (block->count > 0) {
            step(walk, block->last, &block->insn, end, block->count);
            walk->it = block->it_out;
        }
        if (walk->count > 0 && walk->end == stop)
            return;
        if (ending == PUG_BLOCK_NO_ACCESS || ending == PUG_BLOCK_ERROR) {
            walk->status = ending == PUG_BLOCK_ERROR ? status : PUG_ERR_NO_PROGRAM_MEMORY;
            return;
        }
        if (walk->count >= bound) {
            walk->status = PUG_ERR_LIMIT;
            return;
        }
    }
}

void pug_codemap_walk_to(struct pug_codemap *map, uint64_t address, enum pug_isa isa, uint8_t it,
                         uint64_t stop, uint32_t bound, struct pug_code_walk *walk)
{
    walk_on(map, address, isa, it, stop, false, bound, walk);
}

void pug_codemap_walk_before(struct pug_codemap *map, uint64_t address, enum pug_isa isa,
                             uint8_t it, uint64_t stop, uint32_t bound, struct pug_code_walk *walk)
{
    walk_on(map, address, isa, it, stop, true, bound, walk);
}
