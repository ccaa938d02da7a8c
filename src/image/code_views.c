// SPDX-License-Identifier: MIT
/** @file The code map: making one, its views, and restarting. */
#include "base/hash.h"
#include "image/codemap_store.h"

#include <stdlib.h>
#include <string.h>

#define DEFAULT_LIMIT (8u * 1024 * 1024)
#define LEAST_LIMIT   (64u * 1024)
#define MAX_VIEWS     65536u
#define LAST_EPOCH    (PUG_EPOCH_STATIC - 1)

/* ---- beginning and restarting ---- */

static bool same_space(const struct pug_reader_space *a, const struct pug_reader_space *b)
{
    return a->space == b->space && a->has_context_id == b->has_context_id &&
           a->has_vmid == b->has_vmid && a->context_id == b->context_id && a->vmid == b->vmid;
}

static void set_view(struct pug_codemap *map, size_t number)
{
    map->store->view = (uint16_t)number;
    map->view = (uint32_t)number << 16;
}

/* The slot of a view that is there, or the one that is free for it. */
static uint32_t *view_slot(const struct pug_codemap_store *store, const struct pug_code_view *view)
{
    const struct pug_reader_space *space = &view->space;
    const uint64_t flags =
        space->space | (uint64_t)space->has_context_id << 8 | (uint64_t)space->has_vmid << 9;
    const uint64_t hash = pug_hash_mix(
        pug_hash_mix(pug_hash_mix(flags, view->memory), space->context_id), space->vmid);
    const size_t mask = 2 * store->view_capacity - 1;
    size_t at = (size_t)hash & mask;
    for (uint32_t number; (number = store->view_slots[at]) != 0; at = (at + 1) & mask) {
        const struct pug_code_view *other = &store->views[number - 1];
        if (other->memory == view->memory && same_space(&other->space, space))
            break;
    }
    return &store->view_slots[at];
}

/* Room for twice as many views. */
static bool grow_views(struct pug_codemap_store *store)
{
    const size_t capacity = store->view_capacity ? store->view_capacity * 2 : 8;
    if (capacity > MAX_VIEWS)
        return false;
    struct pug_code_view *views = realloc(store->views, capacity * sizeof(*views));
    if (!views)
        return false;
    store->views = views;
    uint32_t *slots = calloc(2 * capacity, sizeof(*slots));
    if (!slots)
        return false;
    free(store->view_slots);
    store->view_slots = slots;
    store->view_capacity = capacity;
    for (size_t i = 0; i < store->view_count; i++)
        *view_slot(store, &views[i]) = (uint32_t)i + 1;
    return true;
}

/* The number of a reduced space; false: there is no room for one more. */
static bool find_view(struct pug_codemap *map, const struct pug_reader_space *reduced)
{
    struct pug_codemap_store *store = map->store;
    const struct pug_code_view view = {.space = *reduced, .memory = store->memory};
    uint32_t *slot = store->view_capacity > 0 ? view_slot(store, &view) : NULL;
    if (!slot || *slot == 0) {
        if (store->view_count == store->view_capacity && !grow_views(store))
            return false;
        slot = view_slot(store, &view);
        store->views[store->view_count++] = view;
        *slot = (uint32_t)store->view_count;
    }
    set_view(map, *slot - 1);
    return true;
}

static void forget_views(struct pug_codemap_store *store)
{
    if (store->view_count > 0)
        memset(store->view_slots, 0, 2 * store->view_capacity * sizeof(*store->view_slots));
    store->view_count = 0;
}

static void free_blocks(struct pug_codemap *map)
{
    struct pug_codemap_store *store = map->store;
    pug_code_free_jumps(map);
    for (size_t i = 0; i < store->chunk_count; i++)
        free(store->chunks[i]);
    free(store->slots);
    store->stats.bytes -= store->chunk_count * PUG_BLOCK_CHUNK * sizeof(struct pug_block) +
                          store->slot_count * sizeof(struct pug_slot);
    store->rests_count = 0;
    store->slots = NULL;
    store->slot_count = 0;
    store->chunk_count = 0;
    store->count = 0;
}

static void restart(struct pug_codemap *map)
{
    struct pug_codemap_store *store = map->store;
    struct pug_reader_space reduced = store->space;
    if (map->before_change)
        map->before_change(map->counter, PUG_CODE_ALL_CHANGES, 0);
    free_blocks(map);
    pug_code_drop_pages(store);
    pug_code_use_page(store);
    if (store->insns)
        memset(store->insns, 0, store->insn_entries * sizeof(*store->insns));
    map->rounds += map->epoch == LAST_EPOCH;
    map->epoch = map->epoch < LAST_EPOCH ? map->epoch + 1 : 1;
    store->begun = map->epoch;
    map->generation = *map->image_generation;
    store->left = false;
    store->stats.restarts++;
    forget_views(store);
    pug_image_reduce(store->image, &reduced);
    (void)find_view(map, &reduced); /* the list has room for the first one */
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
    struct pug_block *scratch = aligned_alloc(PUG_BLOCK_ALIGNMENT, sizeof(*scratch));
    if (!map || !store || !scratch) {
        free(map);
        free(store);
        free(scratch);
        return NULL;
    }
    map->config = *config;
    map->store = store;
    store->image = config->image;
    store->scratch = scratch;
    map->image_generation = &config->image->generation;
    store->limit = config->limit ? config->limit : DEFAULT_LIMIT;
    if (store->limit < LEAST_LIMIT)
        store->limit = LEAST_LIMIT;
    store->space = (struct pug_reader_space){.space = PUG_SPACE_ANY, .source = config->source};
    struct pug_reader_space reduced = store->space;
    if (!find_view(map, &reduced) || pug_code_set_page(store, PUG_CODE_PAGE) != PUG_OK) {
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
    free_blocks(map);
    pug_code_drop_pages(store);
    free(store->pages);
    free(store->answer);
    free(store->other_answer);
    free(store->chunks);
    free(store->rests);
    free(store->views);
    free(store->view_slots);
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

void pug_codemap_check_opcodes(struct pug_codemap *map, bool check)
{
    if (map->config.isa.check_opcode == check)
        return;
    map->config.isa.check_opcode = check;
    restart_later(map);
}

const struct pug_block *pug_codemap_numbered(const struct pug_codemap *map, uint32_t number)
{
    return pug_code_block_at(map->store, number);
}

bool pug_codemap_is_volatile(const struct pug_codemap *map)
{
    return map->config.image->callbacks > 0;
}

struct pug_block *pug_code_block(const struct pug_codemap *map, uint32_t number)
{
    return pug_code_block_at(map->store, number);
}

void pug_codemap_stop_at_calls(struct pug_codemap *map)
{
    map->stops_at_calls = true;
}

static void enter_view(struct pug_codemap *map)
{
    struct pug_codemap_store *store = map->store;
    struct pug_reader_space reduced = store->space;
    pug_image_reduce(store->image, &reduced);
    if (!find_view(map, &reduced))
        restart(map);
}

/* The decoder's current block is no longer valid. */
static void leave_blocks(struct pug_codemap *map)
{
    if (map->epoch < LAST_EPOCH)
        map->epoch++;
    else
        restart_later(map);
}

/* Ask which memory counts; true: it is another one. */
static bool choose(struct pug_codemap *map)
{
    struct pug_codemap_store *store = map->store;
    const struct pug_memory_chooser *chooser = map->config.chooser;
    if (!chooser || !chooser->choose)
        return false;
    const struct pug_memory_choice choice =
        chooser->choose(chooser->context, &store->space, store->moment);
    const bool other = choice.number != store->memory || choice.image != store->image;
    if (choice.number != store->memory && map->before_change)
        map->before_change(map->counter, PUG_CODE_OTHER_MEMORY, choice.number);
    store->image = choice.image;
    store->memory = choice.number;
    if (other)
        leave_blocks(map);
    return other;
}

void pug_codemap_space(struct pug_codemap *map, const struct pug_reader_space *space)
{
    struct pug_codemap_store *store = map->store;
    const bool same = same_space(space, &store->space);
    bool other_context = space->has_context_id != store->space.has_context_id ||
                         space->context_id != store->space.context_id ||
                         space->has_vmid != store->space.has_vmid ||
                         space->vmid != store->space.vmid;
    store->space = *space;
    store->space.source = map->config.source;
    if (!choose(map) && same)
        return;
    if (other_context)
        pug_codemap_context_changed(map);
    enter_view(map);
}

void pug_codemap_element_space(struct pug_codemap *map, const struct pug_element *blank,
                               uint8_t space)
{
    pug_codemap_space(map, &(struct pug_reader_space){
                               .space = space,
                               .has_context_id = blank->context_flags & PUG_CTX_CONTEXT_ID,
                               .has_vmid = blank->context_flags & PUG_CTX_VMID,
                               .context_id = blank->context_id,
                               .vmid = blank->vmid,
                           });
}

void pug_codemap_moment(struct pug_codemap *map, uint64_t index)
{
    map->store->moment = index;
    if (choose(map))
        enter_view(map);
}

void pug_codemap_context_changed(struct pug_codemap *map)
{
    if (map->store->image->callbacks > 0)
        leave_blocks(map);
}

void pug_codemap_forget_volatile(struct pug_codemap *map)
{
    pug_codemap_context_changed(map);
    map->store->forget = true;
}

void pug_codemap_get_stats(const struct pug_codemap *map, struct pug_codemap_stats *stats)
{
    *stats = map->store->stats;
    if (map->store->insns)
        stats->bytes += map->store->insn_entries * sizeof(struct pug_insn_entry);
}
