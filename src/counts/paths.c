// SPDX-License-Identifier: MIT
/** @file Keeping paths, and spreading their hits. */
#include "counts/paths.h"
#include "image/codemap_store.h"

#include <stdlib.h>

#define FIRST_PATHS  1024u
#define MOST_PATHS   32768u
#define JUMPS_TO_ONE 2u /* paths for one jump */

#define MOST_CONTEXTS 256u

/* ---- into the counts ---- */

static void add_hop(struct pug_paths *paths, uint32_t context, const struct pug_block *block,
                    bool taken, uint64_t count, uint64_t cycles)
{
    if (count == 0 && cycles == 0)
        return;
    const struct pug_element range = pug_paths_range(block, taken);
    pug_counts_add_range(paths->counts, context, &range, count, cycles);
    if (taken && count > 0 && block->insn.type == PUG_INSTR_BR) {
        const struct pug_count_pending branch = pug_counts_branch(&range, context);
        pug_counts_add_jump(paths->counts, &branch, block->insn.target, count);
    }
}

static void add_jump(struct pug_paths *paths, uint32_t context, const struct pug_block *from,
                     uint64_t to, uint64_t count)
{
    const struct pug_element range = pug_paths_range(from, true);
    const struct pug_count_pending branch = pug_counts_branch(&range, context);
    pug_counts_add_jump(paths->counts, &branch, to, count);
}

/** The hits of a block itself, which are of the present context. */
static void empty_block(struct pug_paths *paths, struct pug_block *block)
{
    static const uint64_t none[2];
    const bool has_cycles = block->number < paths->cycle_room;
    const uint64_t *cycles = has_cycles ? paths->cycles[block->number] : none;
    for (int taken = 0; taken < 2; taken++)
        add_hop(paths, paths->context, block, taken, block->hits[taken], cycles[taken]);
    block->hits[0] = block->hits[1] = 0;
    if (has_cycles)
        memset(paths->cycles[block->number], 0, sizeof(paths->cycles[0]));
}

static void empty_blocks(struct pug_paths *paths)
{
    for (uint32_t i = 0; i < paths->touched_count; i++)
        empty_block(paths, pug_code_block(paths->map, paths->touched[i]));
    paths->touched_count = 0;
}

/** False: no memory. */
static bool touch(struct pug_paths *paths, uint32_t number)
{
    if (paths->touched_count == paths->touched_room) {
        const uint32_t room = paths->touched_room ? paths->touched_room * 2 : 256;
        uint32_t *touched = realloc(paths->touched, room * sizeof(*touched));
        if (!touched)
            return false;
        paths->touched = touched;
        paths->touched_room = room;
    }
    paths->touched[paths->touched_count++] = number;
    return true;
}

static void hit_block(struct pug_paths *paths, struct pug_block *block, bool taken, uint32_t hits)
{
    if (hits > UINT32_MAX - block->hits[taken]) {
        add_hop(paths, paths->context, block, taken, block->hits[taken], 0);
        block->hits[taken] = 0;
    }
    if ((block->hits[0] | block->hits[1]) == 0 && !touch(paths, block->number))
        add_hop(paths, paths->context, block, taken, hits, 0);
    else
        block->hits[taken] += hits;
}

void pug_paths_hop(struct pug_paths *paths, const struct pug_block *block, bool taken)
{
    /* A block in the scratch is gone with the next. */
    if (block == paths->map->store->scratch)
        add_hop(paths, paths->context, block, taken, 1, 0);
    else
        hit_block(paths, (struct pug_block *)block, taken, 1);
}

/** Room for the cycles of a block; false: no memory. */
static bool make_cycle_room(struct pug_paths *paths, uint32_t number)
{
    uint32_t room = paths->cycle_room ? paths->cycle_room : 256;
    while (room <= number && room < PUG_PATH_NUMBERS)
        room *= 2;
    uint64_t(*cycles)[2] =
        room > number ? realloc(paths->cycles, room * sizeof(*paths->cycles)) : NULL;
    if (!cycles)
        return false;
    memset(cycles + paths->cycle_room, 0, (room - paths->cycle_room) * sizeof(*cycles));
    paths->cycles = cycles;
    paths->cycle_room = room;
    return true;
}

void pug_paths_add_cycles(struct pug_paths *paths, const struct pug_block *block, bool taken,
                          uint64_t cycles)
{
    const bool touched = (block->hits[0] | block->hits[1]) != 0;
    if (touched && (block->number < paths->cycle_room || make_cycle_room(paths, block->number)))
        paths->cycles[block->number][taken] += cycles;
    else
        add_hop(paths, paths->context, block, taken, 0, cycles);
}

void pug_paths_add_jump(struct pug_paths *paths, const struct pug_block *from, uint64_t to,
                        uint64_t count)
{
    add_jump(paths, paths->context, from, to, count);
}

/* ---- hop by hop ---- */

struct pug_count_pending *pug_paths_leave_range(struct pug_paths *paths,
                                                const struct pug_element *range)
{
    struct pug_count_boundary *boundary = pug_paths_boundary(paths);
    if (!boundary)
        return NULL;
    pug_counts_behind(boundary, paths->context, range);
    if (!pug_counts_jumps_on(range))
        return NULL;
    boundary->tail = pug_counts_branch(range, paths->context);
    return &boundary->tail;
}

void pug_paths_leave(struct pug_paths *paths, const struct pug_block *block, bool taken)
{
    const struct pug_element range = pug_paths_range(block, taken);
    struct pug_count_pending *branch = pug_paths_leave_range(paths, &range);
    if (!branch)
        return;
    branch->foreseen = block->last_type == PUG_INSTR_BR;
    branch->target = block->insn.target;
}

struct pug_count_boundary *pug_paths_ready(struct pug_stage *stage)
{
    struct pug_batch *batch = stage->out.batch;
    struct pug_paths *paths = stage->paths;
    if (!paths->counts || paths->shown || (batch->count > 0 && !batch->flush(batch)) ||
        !pug_paths_begin(paths, &stage->out.blank))
        return NULL;
    return pug_paths_boundary(paths);
}

bool pug_chain_open(struct pug_chain *chain, struct pug_stage *stage)
{
    *chain = (struct pug_chain){.paths = stage->paths};
    if (!pug_paths_ready(stage))
        return false;
    stage->paths->chain = chain;
    return true;
}

static void take_jump(struct pug_paths *paths, const struct pug_block *last,
                      const struct pug_block *to)
{
    const uint64_t from = pug_paths_place(paths, last) | PUG_PATH_ASKS;
    struct pug_path_jump *jump = pug_paths_find_jump(paths, from, to->start);
    if (jump)
        jump->hits++;
    else
        pug_paths_keep_jump(paths, from, to->start, pug_paths_place(paths, to));
}

/** Bit 0 of a kept jump's address belongs to counting by paths; an odd one is RISC-V's. */
static bool keeps_jumps_to(const struct pug_block *block)
{
    return pug_block_lasts(block) && block->number < PUG_PATH_NUMBERS && !(block->start & 1);
}

void pug_chain_join(struct pug_chain *chain, const struct pug_block *block)
{
    struct pug_paths *paths = chain->paths;
    if (!chain->last)
        pug_counts_follow(paths->counts, pug_paths_boundary(paths), block->start);
    else if (!pug_block_lasts(chain->last) || !keeps_jumps_to(block) ||
             chain->last->number >= PUG_PATH_NUMBERS)
        pug_paths_add_jump(paths, chain->last, block->start, 1);
    else
        take_jump(paths, chain->last, block);
}

void pug_chain_part(struct pug_chain *chain, const struct pug_block *block,
                    const struct pug_element *range)
{
    struct pug_paths *paths = chain->paths;
    if (!chain->last || (chain->taken && chain->last->last_type == PUG_INSTR_BR_INDIRECT))
        pug_chain_join(chain, block);
    pug_counts_add_range(paths->counts, paths->context, range, 1, 0);
    (void)pug_paths_leave_range(paths, range);
    chain->last = NULL;
}

void pug_chain_tally(const struct pug_chain *chain, struct pug_batch *batch, unsigned count)
{
    for (uint32_t i = batch->count - count; i < batch->count; i++) {
        const struct pug_element *element = &batch->elements[i];
        if (!chain->last)
            pug_counts_add_elements(chain->paths->counts, element, 1);
        else if (pug_element_adds_cycles(element))
            pug_chain_cycles(chain, element->cycle_count);
    }
    batch->tallied = batch->count;
}

/* ---- spreading ---- */

static struct pug_path_context *context_at(const struct pug_paths *paths, uint64_t number)
{
    return (struct pug_path_context *)paths->contexts.items + number;
}

/** The number of a place's context in the counts. */
static uint32_t context_of(struct pug_paths *paths, uint64_t from)
{
    struct pug_path_context *context = context_at(paths, from >> 32);
    if (context->number == UINT32_MAX)
        context->number =
            pug_counts_context(paths->counts, &context->element, context->element.value);
    return context->number;
}

static struct pug_block *block_of(struct pug_paths *paths, uint64_t from)
{
    return pug_code_block(paths->map, (uint32_t)from & (PUG_PATH_NUMBERS - 1));
}

static void spread_path(struct pug_paths *paths, struct pug_path *path)
{
    if (path->hits == 0)
        return;
    const uint32_t context = context_of(paths, path->from);
    struct pug_block *block = block_of(paths, path->from);
    for (uint64_t packets = path->packets; packets > 0; packets >>= 8)
        for (uint32_t atoms = paths->atoms_of((uint8_t)packets); atoms > 1; atoms >>= 1) {
            const bool taken = atoms & 1;
            if (context == paths->context)
                hit_block(paths, block, taken, (uint32_t)path->hits);
            else
                add_hop(paths, context, block, taken, path->hits, 0);
            block = (struct pug_block *)block->links[taken];
        }
    path->hits = 0;
}

static void spread_jump(struct pug_paths *paths, struct pug_path_jump *jump)
{
    if (jump->hits == 0)
        return;
    add_jump(paths, context_of(paths, jump->from), block_of(paths, jump->from),
             jump->address & ~UINT64_C(1), jump->hits);
    jump->hits = 0;
}

static void spread(struct pug_paths *paths)
{
    if (!paths->counts)
        return;
    for (uint32_t i = 0; paths->paths && i <= paths->path_mask; i++)
        spread_path(paths, &paths->paths[i]);
    for (uint32_t i = 0; paths->jumps && i <= paths->jump_mask; i++)
        spread_jump(paths, &paths->jumps[i]);
    empty_blocks(paths);
    if (paths->spread_own)
        paths->spread_own(paths->own);
    paths->counted = 0;
}

void pug_paths_spread(struct pug_paths *paths)
{
    if (paths->chain)
        pug_chain_break(paths->chain);
    spread(paths);
}

void pug_paths_forget(struct pug_paths *paths)
{
    pug_paths_spread(paths);
    if (paths->paths)
        memset(paths->paths, 0, ((size_t)paths->path_mask + 1) * sizeof(*paths->paths));
    if (paths->jumps)
        memset(paths->jumps, 0, ((size_t)paths->jump_mask + 1) * sizeof(*paths->jumps));
}

/* ---- keeping ---- */

/** Where a path or a jump is to be: its place, or the other one if that is free. */
static struct pug_path *path_place(const struct pug_paths *paths, uint64_t from, uint64_t packets)
{
    const size_t slot = pug_paths_slot(paths, from, packets);
    struct pug_path *path = &paths->paths[slot], *other = &paths->paths[slot ^ 1];
    return path->packets != 0 && other->packets == 0 ? other : path;
}

static struct pug_path_jump *jump_place(const struct pug_paths *paths, uint64_t from,
                                        uint64_t address)
{
    struct pug_path_jump *jump = &paths->jumps[pug_paths_jump_slot(paths, address)];
    return jump->from != 0 ? &paths->jumps[pug_paths_jump_other(paths, address, from)] : jump;
}

/** Move the entries into larger tables. */
static void move(struct pug_paths *paths, const struct pug_paths *before)
{
    for (uint32_t i = 0; before->paths && i <= before->path_mask; i++) {
        const struct pug_path *kept = &before->paths[i];
        if (kept->packets == 0)
            continue;
        struct pug_path *path = path_place(paths, kept->from, kept->packets);
        spread_path(paths, path);
        *path = *kept;
    }
    for (uint32_t i = 0; before->jumps && i <= before->jump_mask; i++) {
        const struct pug_path_jump *kept = &before->jumps[i];
        if (kept->from == 0)
            continue;
        struct pug_path_jump *jump = jump_place(paths, kept->from, kept->address);
        spread_jump(paths, jump);
        *jump = *kept;
    }
}

/** Larger tables; as they were where there is no memory. */
static bool resize(struct pug_paths *paths, uint32_t count)
{
    const size_t path_size = count * sizeof(struct pug_path);
    const size_t jump_size = count / JUMPS_TO_ONE * sizeof(struct pug_path_jump);
    const struct pug_paths before = *paths;
    struct pug_path *larger = aligned_alloc(64, path_size);
    struct pug_path_jump *jumps = aligned_alloc(64, jump_size);
    if (!larger || !jumps) {
        free(larger);
        free(jumps);
        return false;
    }
    memset(larger, 0, path_size);
    memset(jumps, 0, jump_size);
    paths->paths = larger;
    paths->jumps = jumps;
    paths->path_mask = count - 1;
    paths->jump_mask = count / JUMPS_TO_ONE - 1;
    paths->path_misses = paths->jump_misses = 0;
    move(paths, &before);
    free(before.paths);
    free(before.jumps);
    return true;
}

/** As many misses as there are places: there could be more of them. */
static void consider_growth(struct pug_paths *paths)
{
    const uint32_t count = paths->path_mask + 1;
    if (count < paths->most &&
        (paths->path_misses > count || paths->jump_misses > count / JUMPS_TO_ONE))
        (void)resize(paths, count * 4);
}

void pug_paths_keep(struct pug_paths *paths, uint64_t from, uint64_t packets, uint64_t to)
{
    paths->path_misses++;
    consider_growth(paths);
    struct pug_path *path = path_place(paths, from, packets);
    spread_path(paths, path);
    *path = (struct pug_path){.packets = packets, .from = from, .to = to, .hits = 1};
}

void pug_paths_keep_jump(struct pug_paths *paths, uint64_t from, uint64_t address, uint64_t to)
{
    paths->jump_misses++;
    consider_growth(paths);
    struct pug_path_jump *jump = jump_place(paths, from, address);
    spread_jump(paths, jump);
    *jump = (struct pug_path_jump){.address = address, .from = from, .to = to, .hits = 1};
}

/* ---- making ---- */

/** The source sees another memory from here on. */
static void leave_memory(struct pug_paths *paths, uint64_t memory)
{
    struct pug_batch *batch = paths->map->config.batch;
    if (!paths->counts)
        return;
    if (batch && batch->count > 0)
        batch->flush(batch); /* what it holds ran in the memory before */
    pug_counts_set_memory(paths->counts, paths->map->config.source, memory);
}

/** The code map calls this before it changes. */
static void before_change(void *context, enum pug_code_change change, uint64_t memory)
{
    struct pug_paths *paths = context;
    if (change == PUG_CODE_BLOCK_CHANGES)
        pug_paths_spread(paths);
    else if (change == PUG_CODE_ALL_CHANGES)
        pug_paths_forget(paths);
    else
        leave_memory(paths, memory);
}

struct pug_paths *pug_paths_new(struct pug_codemap *map)
{
    struct pug_paths *paths = calloc(1, sizeof(*paths));
    if (!paths)
        return NULL;
    paths->map = map;
    const size_t most = map->store->limit / 8 / sizeof(struct pug_path);
    paths->most = most < MOST_PATHS ? (uint32_t)most : MOST_PATHS;
    if (!resize(paths, FIRST_PATHS)) {
        free(paths);
        return NULL;
    }
    map->before_change = before_change;
    map->counter = paths;
    return paths;
}

void pug_paths_free(struct pug_paths *paths)
{
    if (!paths)
        return;
    paths->map->before_change = NULL;
    free(paths->paths);
    free(paths->jumps);
    free(paths->contexts.items);
    free(paths->touched);
    free(paths->cycles);
    free(paths);
}

void pug_paths_set_counts(struct pug_paths *paths, struct pug_counts *counts)
{
    pug_paths_spread(paths);
    struct pug_count_boundary *boundary = paths->counts ? pug_paths_boundary(paths) : NULL;
    if (boundary)
        pug_counts_settle(paths->counts, &boundary->tail);
    paths->counts = counts;
    paths->context = UINT32_MAX;
    for (size_t i = 0; i < paths->contexts.count; i++)
        context_at(paths, i)->number = UINT32_MAX;
    pug_paths_tell_memory(paths);
}

void pug_paths_tell_memory(const struct pug_paths *paths)
{
    if (paths->counts)
        pug_counts_set_memory(paths->counts, paths->map->config.source, paths->map->store->memory);
}

/** Another context, before which too many of them are forgotten; NULL: no memory. */
static struct pug_path_context *add_context(struct pug_paths *paths)
{
    if (paths->contexts.count == MOST_CONTEXTS) {
        pug_paths_forget(paths);
        paths->contexts.count = 0;
    }
    return pug_list_add(&paths->contexts, sizeof(struct pug_path_context));
}

static bool is_context(const struct pug_paths *paths, uint64_t number,
                       const struct pug_element *blank, uint64_t memory)
{
    const struct pug_element *context = &context_at(paths, number)->element;
    return memcmp(&context->context_id, &blank->context_id, 16) == 0 && context->value == memory;
}

/** The key of a context, or UINT64_MAX: no memory. */
static uint64_t key_of(struct pug_paths *paths, const struct pug_element *blank, uint64_t memory)
{
    uint64_t at = paths->context_key >> 32;
    if (at >= paths->contexts.count || !is_context(paths, at, blank, memory))
        at = 0;
    while (at < paths->contexts.count && !is_context(paths, at, blank, memory))
        at++;
    if (at < paths->contexts.count)
        return at << 32;
    struct pug_path_context *context = add_context(paths);
    if (!context)
        return UINT64_MAX;
    *context = (struct pug_path_context){.element = *blank, .number = UINT32_MAX};
    context->element.value = memory;
    return (uint64_t)(paths->contexts.count - 1) << 32;
}

bool pug_paths_begin(struct pug_paths *paths, const struct pug_element *blank)
{
    /* No path has more hits than there were bytes. */
    if (paths->counted > UINT32_MAX / 2)
        pug_paths_spread(paths);
    const struct pug_count_boundary *boundary = pug_paths_boundary(paths);
    const uint64_t key = boundary ? key_of(paths, blank, boundary->memory) : UINT64_MAX;
    const uint32_t context = key != UINT64_MAX ? context_of(paths, key) : UINT32_MAX;
    if (context != paths->context) {
        empty_blocks(paths);
        if (paths->spread_own)
            paths->spread_own(paths->own);
    }
    paths->context = context;
    if (context != UINT32_MAX)
        paths->context_key = key;
    return context != UINT32_MAX;
}
