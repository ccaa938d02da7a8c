// SPDX-License-Identifier: MIT
/** @file The code map: looking blocks up, making them, linking them. */
#include "image/codemap_store.h"

#include <stdlib.h>
#include <string.h>

#define DEFAULT_LIMIT (8u * 1024 * 1024)
#define LEAST_LIMIT   (64u * 1024)
#define CHUNK         64u /* entries allocated at once */
#define FIRST_SLOTS   256u
#define MAX_VIEWS     65536u
#define LAST_EPOCH    (PUG_EPOCH_STATIC - 1)

/* For what is rare: it takes no registers from what is not. */
#define NOINLINE __attribute__((noinline))

static_assert(sizeof(struct pug_entry) == 128, "an entry is two cache lines");
static_assert(offsetof(struct pug_block, start) == 64, "what a hop needs is one cache line");

/* ---- beginning and starting anew ---- */

static bool same_space(const struct pug_reader_space *a, const struct pug_reader_space *b)
{
    return a->space == b->space && a->has_context_id == b->has_context_id &&
           a->has_vmid == b->has_vmid && a->context_id == b->context_id && a->vmid == b->vmid;
}

/* The number of a reduced space; false: there is no room for one more. */
static bool find_view(struct pug_codemap_store *store, const struct pug_reader_space *reduced)
{
    for (size_t i = 0; i < store->view_count; i++) {
        if (same_space(&store->views[i], reduced)) {
            store->view = (uint16_t)i;
            return true;
        }
    }
    if (store->view_count == store->view_capacity) {
        size_t capacity = store->view_capacity ? store->view_capacity * 2 : 8;
        struct pug_reader_space *views =
            capacity > MAX_VIEWS ? NULL : realloc(store->views, capacity * sizeof(*views));
        if (!views)
            return false;
        store->views = views;
        store->view_capacity = capacity;
    }
    store->view = (uint16_t)store->view_count;
    store->views[store->view_count++] = *reduced;
    return true;
}

static void free_blocks(struct pug_codemap_store *store)
{
    for (size_t i = 0; i < store->chunk_count; i++)
        free(store->chunks[i]);
    free(store->slots);
    store->stats.bytes -= store->chunk_count * CHUNK * sizeof(struct pug_entry) +
                          store->slot_count * sizeof(struct pug_slot);
    store->slots = NULL;
    store->slot_count = 0;
    store->chunk_count = 0;
    store->count = 0;
}

static void restart(struct pug_codemap *map)
{
    struct pug_codemap_store *store = map->store;
    struct pug_reader_space reduced = store->space;
    free_blocks(store);
    pug_code_drop_pages(store);
    if (store->insns)
        memset(store->insns, 0, PUG_INSN_ENTRIES * sizeof(*store->insns));
    map->epoch = map->epoch < LAST_EPOCH ? map->epoch + 1 : 1;
    map->generation = *map->image_generation;
    store->stats.restarts++;
    store->view_count = 0;
    pug_image_reduce(map->config.image, &reduced);
    (void)find_view(store, &reduced); /* the list has room for the first one */
}

/* At the next look-up: a consumer of elements may ask for it, while a decoder stands on a block. */
static void restart_later(struct pug_codemap *map)
{
    map->generation = *map->image_generation - 1;
}

bool pug_codemap_prepare(struct pug_codemap *map, size_t room)
{
    struct pug_codemap_store *store = map->store;
    bool anew = pug_codemap_outdated(map) || store->stats.bytes + room > store->limit;
    if (anew)
        restart(map);
    if (store->forget || (!store->keep && store->page_count > 0))
        pug_code_drop_pages(store);
    return anew;
}

struct pug_codemap *pug_codemap_new(const struct pug_codemap_config *config)
{
    struct pug_codemap *map = calloc(1, sizeof(*map));
    struct pug_codemap_store *store = calloc(1, sizeof(*store));
    struct pug_entry *scratch = aligned_alloc(alignof(struct pug_entry), sizeof(*scratch));
    if (!map || !store || !scratch) {
        free(map);
        free(store);
        free(scratch);
        return NULL;
    }
    map->config = *config;
    map->store = store;
    store->scratch = scratch;
    map->image_generation = &config->image->generation;
    store->limit = config->limit ? config->limit : DEFAULT_LIMIT;
    if (store->limit < LEAST_LIMIT)
        store->limit = LEAST_LIMIT;
    store->space = (struct pug_reader_space){.space = PUG_SPACE_ANY, .source = config->source};
    struct pug_reader_space reduced = store->space;
    if (!find_view(store, &reduced) || pug_code_set_page(store, PUG_CODE_PAGE) != PUG_OK) {
        pug_codemap_free(map);
        return NULL;
    }
    restart(map);
    store->stats.restarts = 0;
    return map;
}

void pug_codemap_free(struct pug_codemap *map)
{
    if (!map)
        return;
    struct pug_codemap_store *store = map->store;
    free_blocks(store);
    pug_code_drop_pages(store);
    free(store->pages);
    free(store->answer);
    free(store->chunks);
    free(store->views);
    free(store->insns);
    free(store->scratch);
    free(store);
    free(map);
}

enum pug_status pug_codemap_set_page(struct pug_codemap *map, uint32_t size)
{
    enum pug_status status = pug_code_set_page(map->store, size);
    if (status == PUG_OK)
        restart_later(map);
    return status;
}

static bool same_isa(const struct pug_isa_config *a, const struct pug_isa_config *b)
{
    return a->arch == b->arch && a->dsb_dmb_waypoints == b->dsb_dmb_waypoints &&
           a->wfx_waypoints == b->wfx_waypoints && a->track_it == b->track_it &&
           a->check_opcode == b->check_opcode && a->reference_classes == b->reference_classes &&
           a->t32_word_reads == b->t32_word_reads && a->zcmp_zcmt == b->zcmp_zcmt &&
           a->jvt_base == b->jvt_base;
}

void pug_codemap_set_isa_config(struct pug_codemap *map, const struct pug_isa_config *isa)
{
    struct pug_isa_config config = *isa;
    config.reference_classes = map->config.isa.reference_classes;
    config.t32_word_reads = map->config.isa.t32_word_reads;
    if (same_isa(&config, &map->config.isa))
        return;
    map->config.isa = config;
    restart(map);
}

void pug_codemap_space(struct pug_codemap *map, const struct pug_reader_space *space)
{
    struct pug_codemap_store *store = map->store;
    if (same_space(space, &store->space))
        return;
    bool other_context = space->has_context_id != store->space.has_context_id ||
                         space->context_id != store->space.context_id ||
                         space->has_vmid != store->space.has_vmid ||
                         space->vmid != store->space.vmid;
    store->space = *space;
    store->space.source = map->config.source;
    if (other_context)
        pug_codemap_context_changed(map);
    struct pug_reader_space reduced = store->space;
    pug_image_reduce(map->config.image, &reduced);
    if (!find_view(store, &reduced))
        restart(map);
}

void pug_codemap_context_changed(struct pug_codemap *map)
{
    if (map->config.image->callbacks == 0)
        return;
    if (map->epoch < LAST_EPOCH)
        map->epoch++;
    else
        restart_later(map);
}

void pug_codemap_forget_volatile(struct pug_codemap *map)
{
    pug_codemap_context_changed(map);
    map->store->forget = true;
}

uint64_t pug_codemap_stamp(const struct pug_codemap *map)
{
    return (uint64_t)map->epoch << 16 | map->store->view;
}

void pug_codemap_get_stats(const struct pug_codemap *map, struct pug_codemap_stats *stats)
{
    *stats = map->store->stats;
    if (map->store->insns)
        stats->bytes += PUG_INSN_ENTRIES * sizeof(struct pug_insn_entry);
}

/* ---- the table of blocks ---- */

static struct pug_entry *entry_at(const struct pug_codemap_store *store, uint32_t number)
{
    return &store->chunks[number / CHUNK][number % CHUNK];
}

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
        const struct pug_entry *entry = entry_at(store, slot->number - 1);
        if (entry->block.start == address && entry->tag == tag)
            return slot;
    }
}

static void put_slot(const struct pug_codemap_store *store, uint32_t number)
{
    const struct pug_entry *entry = entry_at(store, number - 1);
    *find_slot(store, entry->block.start, entry->tag) = (struct pug_slot){
        .print = (uint32_t)pug_code_hash(entry->block.start, entry->tag), .number = number};
}

static bool grow_slots(struct pug_codemap_store *store)
{
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
    return true;
}

static bool add_chunk(struct pug_codemap_store *store)
{
    if (store->chunk_count == store->chunk_limit) {
        size_t limit = store->chunk_limit ? store->chunk_limit * 2 : 16;
        struct pug_entry **chunks = realloc(store->chunks, limit * sizeof(struct pug_entry *));
        if (!chunks)
            return false;
        store->chunks = chunks;
        store->chunk_limit = limit;
    }
    struct pug_entry *chunk = aligned_alloc(alignof(struct pug_entry), CHUNK * sizeof(*chunk));
    if (!chunk)
        return false;
    store->chunks[store->chunk_count++] = chunk;
    store->stats.bytes += CHUNK * sizeof(*chunk);
    return true;
}

static bool chunks_full(const struct pug_codemap_store *store)
{
    return store->count == store->chunk_count * CHUNK;
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

/* What making one more block may take. */
static size_t room_for_block(const struct pug_codemap *map)
{
    const struct pug_codemap_store *store = map->store;
    size_t room = 0;
    if (chunks_full(store))
        room += CHUNK * sizeof(struct pug_entry);
    if (slots_full(store))
        room += (store->slot_count ? store->slot_count : FIRST_SLOTS) * sizeof(struct pug_slot);
    if (map->config.image->callbacks > 0)
        room += pages_room(store);
    return room;
}

/* ---- making blocks ---- */

static bool ends_block(const struct pug_insn *insn)
{
    return insn->type != PUG_INSTR_OTHER || insn->kind == PUG_RV_TRAP;
}

/* What only the program around the last instruction tells of its target. */
static void finish_flow(struct pug_codemap *map, struct pug_code_cursor *cursor,
                        struct pug_block *block, const struct pug_insn *before)
{
    struct pug_insn *insn = &block->insn;
    if (insn->table_jump)
        pug_code_resolve(map, cursor, block->isa, insn);
    if (insn->type == PUG_INSTR_BR_INDIRECT && insn->rs1 != 0 && before->kind == PUG_RV_CONSTANT &&
        before->rd == insn->rs1) {
        block->sequential = true;
        insn->target =
            pug_code_wrap(block->isa, (before->constant + insn->constant) & ~UINT64_C(1));
    }
}

/* A pair of constant and jump stays in one block: the constant goes to the next one. */
static void finish_long(struct pug_block *block, const struct pug_insn *before)
{
    if (block->insn.kind != PUG_RV_CONSTANT || block->count < 2)
        return;
    block->end = block->last;
    block->last = pug_code_wrap(block->isa, block->last - before->size);
    block->insn = *before;
    block->count--;
}

/* Where a link leads that is not made yet: to a block that no epoch holds good. */
static const struct pug_block no_block;

static void clear_entry(struct pug_entry *entry)
{
    memset(entry, 0, sizeof(*entry));
    entry->block.links[0] = entry->block.links[1] = &no_block;
}

static void build(struct pug_codemap *map, struct pug_entry *entry, uint64_t address,
                  enum pug_isa isa, uint8_t it)
{
    struct pug_code_cursor cursor = {0};
    struct pug_insn insn, before = {0};
    uint32_t epoch = map->epoch;
    enum pug_status status = PUG_OK;
    struct pug_block *block = &entry->block;
    clear_entry(entry);
    entry->tag = pug_code_tag(map, isa, it);
    block->start = block->end = address;
    block->isa = (uint8_t)isa;
    block->it_in = block->it_out = it;
    block->ending = PUG_BLOCK_LONG;
    while (block->count < PUG_BLOCK_MAX) {
        status = pug_code_next(map, &cursor, block->end, isa, &block->it_out, &insn);
        if (status != PUG_OK)
            break;
        before = block->insn;
        block->insn = insn;
        if (block->count == 0)
            block->first_size = insn.size;
        block->last = block->end;
        block->end = pug_code_wrap(isa, block->end + insn.size);
        block->count++;
        if (ends_block(&insn)) {
            block->ending = PUG_BLOCK_FLOW;
            finish_flow(map, &cursor, block, &before);
            break;
        }
    }
    if (status == PUG_ERR_MEM_NACC) {
        block->ending = PUG_BLOCK_NO_ACCESS;
    } else if (status != PUG_OK && status != PUG_ERR_LIMIT) {
        block->ending = PUG_BLOCK_ERROR;
        block->status = (int16_t)status;
    } else if (block->ending == PUG_BLOCK_LONG) {
        finish_long(block, &before);
    }
    block->insn.special = block->insn.type != PUG_INSTR_BR;
    entry->rests = cursor.rests;
    block->epoch = cursor.rests.count || cursor.rests.transient ? epoch : PUG_EPOCH_STATIC;
    map->store->stats.blocks_made++;
}

/* A block in ERROR, for where nothing else can be said. */
static const struct pug_block *no_memory(struct pug_codemap *map, uint64_t address,
                                         enum pug_isa isa)
{
    struct pug_entry *entry = map->store->scratch;
    clear_entry(entry);
    entry->block.start = entry->block.end = address;
    entry->block.isa = (uint8_t)isa;
    entry->block.ending = PUG_BLOCK_ERROR;
    entry->block.status = PUG_ERR_MEM;
    return &entry->block;
}

static const struct pug_block *make(struct pug_codemap *map, uint64_t address, enum pug_isa isa,
                                    uint8_t it)
{
    struct pug_codemap_store *store = map->store;
    struct pug_entry *scratch = store->scratch;
    (void)pug_codemap_prepare(map, room_for_block(map));
    build(map, scratch, address, isa, it);
    if (scratch->rests.transient)
        return &scratch->block;
    if ((chunks_full(store) && !add_chunk(store)) || (slots_full(store) && !grow_slots(store)))
        return no_memory(map, address, isa);
    struct pug_entry *entry = entry_at(store, store->count++);
    *entry = *scratch;
    put_slot(store, store->count);
    return &entry->block;
}

/* A block on memory that may have changed: is it as it was? Else it is made anew, in its place. */
static const struct pug_block *revalidate(struct pug_codemap *map, struct pug_entry *entry)
{
    struct pug_codemap_store *store = map->store;
    struct pug_block *block = &entry->block;
    uint32_t epoch = map->epoch;
    if (pug_code_same(map, &entry->rests)) {
        block->epoch = epoch;
        return block;
    }
    build(map, store->scratch, block->start, block->isa, block->it_in);
    if (store->scratch->rests.transient)
        return &store->scratch->block;
    *entry = *store->scratch;
    return block;
}

/* ---- looking up and following ---- */

/* A block that the map does not have, or not as it may be now. */
static NOINLINE const struct pug_block *look_closer(struct pug_codemap *map, uint64_t address,
                                                    enum pug_isa isa, uint8_t it)
{
    struct pug_codemap_store *store = map->store;
    (void)pug_codemap_prepare(map, 0);
    if (store->slot_count == 0)
        return make(map, address, isa, it);
    const struct pug_slot *slot = find_slot(store, address, pug_code_tag(map, isa, it));
    if (slot->number == 0)
        return make(map, address, isa, it);
    struct pug_entry *entry = entry_at(store, slot->number - 1);
    if (entry->block.epoch >= map->epoch)
        return &entry->block;
    /* A block that is made anew may need pages. */
    if (pug_codemap_prepare(map, pages_room(store)))
        return make(map, address, isa, it);
    return revalidate(map, entry);
}

const struct pug_block *pug_codemap_block(struct pug_codemap *map, uint64_t address,
                                          enum pug_isa isa, uint8_t it)
{
    struct pug_codemap_store *store = map->store;
    store->stats.lookups++;
    if (store->slot_count > 0 && !pug_codemap_outdated(map)) {
        const struct pug_slot *slot = find_slot(store, address, pug_code_tag(map, isa, it));
        const struct pug_entry *entry = slot->number ? entry_at(store, slot->number - 1) : NULL;
        if (entry && entry->block.epoch >= map->epoch)
            return &entry->block;
    }
    return look_closer(map, address, isa, it);
}

/* Is what the map has of it good now? */
static bool is_good(struct pug_codemap *map, struct pug_entry *entry)
{
    if (entry->block.epoch >= map->epoch)
        return true;
    if (!pug_code_same_already(map, &entry->rests))
        return false;
    entry->block.epoch = map->epoch;
    return true;
}

/* Would looking at the map begin with forgetting? */
static bool is_stale(const struct pug_codemap *map)
{
    return pug_codemap_outdated(map) || map->store->forget || map->store->slot_count == 0;
}

const struct pug_block *pug_codemap_relink(struct pug_codemap *map, const struct pug_block *next)
{
    if (next == &no_block || is_stale(map) || !is_good(map, (struct pug_entry *)next))
        return NULL;
    return next;
}

/* What a link led to before the context changed, if it is as it was; NULL: look it up. */
static const struct pug_block *same_again(struct pug_codemap *map, const struct pug_block *block,
                                          bool taken, uint64_t address)
{
    if (block->links[taken] == &no_block || block->epoch < map->epoch ||
        pug_codemap_prepare(map, pages_room(map->store)))
        return NULL;
    struct pug_entry *next = (struct pug_entry *)block->links[taken];
    uint32_t epoch = map->epoch;
    if (next->block.start != address || !pug_code_same(map, &next->rests))
        return NULL;
    next->block.epoch = epoch;
    return &next->block;
}

/* The block at `address`, which follows another one; remembered there. */
static const struct pug_block *link_to(struct pug_codemap *map, const struct pug_block *block,
                                       bool taken, uint64_t address, enum pug_isa isa, uint8_t it)
{
    struct pug_codemap_store *store = map->store;
    uint64_t restarts = store->stats.restarts;
    struct pug_entry *from = (struct pug_entry *)block;
    bool linked = from != store->scratch && from->tag >> 16 == store->view;
    const struct pug_block *next = linked ? same_again(map, block, taken, address) : NULL;
    if (next)
        return next;
    next = pug_codemap_block(map, address, isa, it);
    if (linked && store->stats.restarts == restarts && next != &store->scratch->block)
        from->block.links[taken] = next;
    return next;
}

const struct pug_block *pug_codemap_follow(struct pug_codemap *map, const struct pug_block *block,
                                           bool taken)
{
    return taken ? link_to(map, block, true, block->insn.target, block->insn.next_isa, 0)
                 : link_to(map, block, false, block->end, block->isa, block->it_out);
}

const struct pug_block *pug_codemap_jump(struct pug_codemap *map, const struct pug_block *block,
                                         uint64_t address)
{
    return link_to(map, block, true, address, block->isa, 0);
}
