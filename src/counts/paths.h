// SPDX-License-Identifier: MIT
/**
 * @file Counts how often paths through blocks ran, for consumers that need counts instead of
 * elements.
 *
 * A path is what packets of atoms in a row do from a block on: where it leads is kept with how
 * often it was taken, so that they cost one look into a table and no look at a block. Hits are
 * spread over the blocks of their paths, and from there into the counts, when a path loses its
 * place in the table, before blocks or links change, and in the end.
 *
 * A path's blocks rest on memory that stays; hops over others are counted one by one.
 */
#ifndef PUG_COUNTS_PATHS_H
#define PUG_COUNTS_PATHS_H

#include "base/grow.h"
#include "counts/counts.h"
#include "image/codemap.h"

/** Numbers of blocks that fit into a key; what does not is counted singly. */
#define PUG_PATH_NUMBERS (1u << 24)

/**
 * With the number of a block: execution left it by an indirect branch, and waits for an address.
 */
#define PUG_PATH_ASKS PUG_PATH_NUMBERS

/** How many packets of atoms a path has at most. */
#define PUG_PATH_PACKETS 7u

/**
 * From a block by packets of atoms. Places are numbers of blocks; in the upper half is that of the
 * context.
 */
struct pug_path {
    alignas(32) uint64_t packets; /**< a byte each, the first one lowest; 0: nothing */
    uint64_t from;
    uint64_t to; /**< the next block, or the last and PUG_PATH_ASKS */
    uint64_t hits;
};

/** From the indirect branch that ends a block to an address. */
struct pug_path_jump {
    alignas(32) uint64_t address; /**< bit 0: in the other instruction set */
    uint64_t from;                /**< with PUG_PATH_ASKS; 0: nothing */
    uint64_t to, hits;
};

/** What places are in: paths hold longer than the counts that they are spread into. */
struct pug_path_context {
    struct pug_element element; /**< as contexts of counts are */
    uint32_t number;            /**< in the counts; UINT32_MAX: they have not got it yet */
};

/** The atoms of a packet, with a 1 after the last. */
typedef uint32_t pug_path_atoms_fn(uint8_t packet);

struct pug_paths {
    struct pug_codemap *map;
    struct pug_counts *counts;
    bool shown; /**< ranges are wanted as elements, too: these are counted */
    struct pug_path *paths;
    struct pug_path_jump *jumps;
    uint32_t path_mask, jump_mask;
    uint32_t path_misses, jump_misses; /**< since the tables grew */
    uint32_t most;                     /**< paths that memory is given for */
    uint32_t context;                  /**< its number in the counts */
    uint64_t context_key;              /**< the same in places, where it is that in `contexts` */
    struct pug_list contexts;          /**< of struct pug_path_context */
    pug_path_atoms_fn *atoms_of;       /**< for counting by paths */
    uint64_t counted;                  /**< bytes of trace since hits were spread */
    struct pug_chain *chain;           /**< that is open, or NULL */
    void (*spread_own)(void *own);     /**< for protocols that count in a way of their own; or NULL
                                        */
    void *own;
    uint32_t *touched; /**< blocks with hits of their own */
    uint32_t touched_count, touched_room;
    uint64_t (*cycles)[2]; /**< beside the hits of such blocks, by number */
    uint32_t cycle_room;
};

/** NULL: no memory. The map calls it before each change (pug_codemap.before_change). */
struct pug_paths *pug_paths_new(struct pug_codemap *map);
void pug_paths_free(struct pug_paths *paths);

/** Where counts go from now on; what was counted until now is where it went. NULL: nowhere. */
void pug_paths_set_counts(struct pug_paths *paths, struct pug_counts *counts);

/** The ends of the source's trace; NULL: no memory. */
static inline struct pug_count_boundary *pug_paths_boundary(const struct pug_paths *paths)
{
    return pug_counts_boundary(paths->counts, paths->map->config.source);
}

/** The range of a hop, in no context and nowhere in the trace. */
static inline struct pug_element pug_paths_range(const struct pug_block *block, bool taken)
{
    const struct pug_range_context nobody = {{0}};
    struct pug_element range = {0};
    pug_block_range(&range, block, 0, &nobody, taken);
    return range;
}

/** Tell the counts which of several memories the source sees. */
void pug_paths_tell_memory(const struct pug_paths *paths);

/** Counting begins or goes on in the context of `blank`. False: it cannot be done with paths. */
bool pug_paths_begin(struct pug_paths *paths, const struct pug_element *blank);

/**
 * Returns the source's ends, or NULL (not now), when ranges are counted and not shown, after all
 * waiting elements.
 */
struct pug_count_boundary *pug_paths_ready(struct pug_stage *stage);

/** All hits into the counts. */
void pug_paths_spread(struct pug_paths *paths);
/** The same; and no path holds any more. */
void pug_paths_forget(struct pug_paths *paths);

/** A hop over a block, once. */
void pug_paths_hop(struct pug_paths *paths, const struct pug_block *block, bool taken);
/** private: cycles of such a hop, where there is no room for them yet. */
void pug_paths_add_cycles(struct pug_paths *paths, const struct pug_block *block, bool taken,
                          uint64_t cycles);
/**
 * Execution continues after a range, the source's last. If it ends in a branch that is taken, that
 * is returned: it is not known where to.
 */
struct pug_count_pending *pug_paths_leave_range(struct pug_paths *paths,
                                                const struct pug_element *range);
/** Execution continues after a block; the target of a direct branch is known. */
void pug_paths_leave(struct pug_paths *paths, const struct pug_block *block, bool taken);
/** The indirect branch of a block went to an address, once; or, with -1, it did not. */
void pug_paths_add_jump(struct pug_paths *paths, const struct pug_block *from, uint64_t to,
                        uint64_t count);

static inline uint64_t pug_paths_place(const struct pug_paths *paths, const struct pug_block *block)
{
    return paths->context_key | block->number;
}

/** Keep a path, for one hit. */
void pug_paths_keep(struct pug_paths *paths, uint64_t from, uint64_t packets, uint64_t to);
void pug_paths_keep_jump(struct pug_paths *paths, uint64_t from, uint64_t address, uint64_t to);

/** private: where a path is, or one beside it. */
static inline size_t pug_paths_slot(const struct pug_paths *paths, uint64_t from, uint64_t packets)
{
    return (from ^ packets * UINT64_C(0x9e3779b97f4a7c15) >> 40) & paths->path_mask;
}

/** private: the place of a jump, by its address alone, so that no load waits for its source… */
static inline size_t pug_paths_jump_slot(const struct pug_paths *paths, uint64_t address)
{
    return (address >> 2 ^ address >> 15) & paths->jump_mask;
}

/** private: … or, if that is taken, by both. */
static inline size_t pug_paths_jump_other(const struct pug_paths *paths, uint64_t address,
                                          uint64_t from)
{
    return (address >> 2 ^ (from * UINT64_C(0x9e3779b97f4a7c15) >> 40)) & paths->jump_mask;
}

/** The path from a place by packets, or NULL. */
static inline struct pug_path *pug_paths_find(const struct pug_paths *paths, uint64_t from,
                                              uint64_t packets)
{
    const size_t slot = pug_paths_slot(paths, from, packets);
    struct pug_path *path = &paths->paths[slot];
    if (path->packets == packets && path->from == from)
        return path;
    path = &paths->paths[slot ^ 1];
    return path->packets == packets && path->from == from ? path : NULL;
}

/** The jump from a branch, whose place has PUG_PATH_ASKS, to an address; or NULL. */
static inline struct pug_path_jump *pug_paths_find_jump(const struct pug_paths *paths,
                                                        uint64_t from, uint64_t address)
{
    struct pug_path_jump *jump = &paths->jumps[pug_paths_jump_slot(paths, address)];
    if (jump->address == address && jump->from == from)
        return jump;
    jump = &paths->jumps[pug_paths_jump_other(paths, address, from)];
    return jump->address == address && jump->from == from ? jump : NULL;
}

/* ---- hop by hop ---- */

/**
 * Hops in a row, for fast paths that look at blocks. Between begin and end no element is pushed.
 * Where blocks change under it the chain breaks, and goes on with the next hop.
 */
struct pug_chain {
    struct pug_paths *paths;
    const struct pug_block *last; /**< NULL: none yet */
    bool taken;
};

/** private: where there are counts. */
bool pug_chain_open(struct pug_chain *chain, struct pug_stage *stage);

/**
 * False: ranges are not counted without elements, or the consumer waits for elements that come
 * before them. Memory that changes is counted, too.
 */
static inline bool pug_chain_begin(struct pug_chain *chain, struct pug_stage *stage)
{
    return stage->paths && pug_chain_open(chain, stage);
}

/** The last block of all, and how it was left. */
static inline void pug_chain_at(struct pug_chain *chain, const struct pug_block *block, bool taken)
{
    chain->last = block;
    chain->taken = taken;
}

/** private: the first hop, or one after an indirect branch. */
void pug_chain_join(struct pug_chain *chain, const struct pug_block *block);

/**
 * The range of a whole block, after `last`, which a loop has at hand: the chain's, which it returns
 * in the end (pug_chain_at()). Whether that was taken is no branch of its own, since the processor
 * cannot foretell it.
 */
static inline void pug_chain_hop_from(struct pug_chain *chain, const struct pug_block *last,
                                      bool last_taken, const struct pug_block *block, bool taken)
{
    uint32_t *hits = &((struct pug_block *)block)->hits[taken];
    if (!last || (last_taken & (last->last_type == PUG_INSTR_BR_INDIRECT))) {
        pug_chain_at(chain, last, last_taken);
        pug_chain_join(chain, block);
    }
    if (*hits - 1 < UINT32_MAX - 1)
        ++*hits;
    else
        pug_paths_hop(chain->paths, block, taken);
}

/** The range of a whole block. */
static inline void pug_chain_hop(struct pug_chain *chain, const struct pug_block *block, bool taken)
{
    pug_chain_hop_from(chain, chain->last, chain->taken, block, taken);
    pug_chain_at(chain, block, taken);
}

/** The cycles that the last hop took. */
static inline void pug_chain_cycles(const struct pug_chain *chain, uint32_t cycles)
{
    struct pug_paths *paths = chain->paths;
    const struct pug_block *block = chain->last;
    if ((block->hits[0] | block->hits[1]) != 0 && block->number < paths->cycle_room)
        paths->cycles[block->number][chain->taken] += cycles;
    else
        pug_paths_add_cycles(paths, block, chain->taken, cycles);
}

/**
 * The batch's last `count` elements, which are no ranges: their cycles are those of the last hop.
 */
void pug_chain_tally(const struct pug_chain *chain, struct pug_batch *batch, unsigned count);

/** The next hop gives the target of the last branch. */
static inline void pug_chain_break(struct pug_chain *chain)
{
    if (chain->last)
        pug_paths_leave(chain->paths, chain->last, chain->taken);
    chain->last = NULL;
}

static inline void pug_chain_end(struct pug_chain *chain)
{
    pug_chain_break(chain);
    chain->paths->chain = NULL;
}

/*
 * A chain that lasts over packets belongs to a decoder, and is zeroed while it is not open. What
 * pushes elements closes it before, and who leaves the fast path.
 */

/** Is it open, or can it be? */
static inline bool pug_chain_resume(struct pug_chain *chain, struct pug_stage *stage)
{
    if (chain->paths)
        return true;
    if (pug_chain_begin(chain, stage))
        return true;
    chain->paths = NULL;
    return false;
}

/** Behind a packet: a block on memory that changes may be gone at the next. */
static inline void pug_chain_rest(struct pug_chain *chain)
{
    if (chain->last && !pug_block_lasts(chain->last))
        pug_chain_break(chain);
}

static inline void pug_chain_close(struct pug_chain *chain)
{
    if (chain->paths)
        pug_chain_end(chain);
    chain->paths = NULL;
}

/** A range that is no block's, but begins where one does, and moves nothing. */
void pug_chain_part(struct pug_chain *chain, const struct pug_block *block,
                    const struct pug_element *range);

#endif
