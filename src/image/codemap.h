// SPDX-License-Identifier: MIT
/**
 * @file The code map: cached basic blocks of program memory, one map a source.
 *
 * A decoder walks blocks instead of opcodes: an atom costs a hop along a block's link. Blocks are
 * made when first asked for, through image and isa. The map is bounded; when it is full, or when
 * the image changes, it starts anew.
 *
 * A block pointer is valid until the next call of any function below on the same map (also the
 * inline ones, but for those that only look at links); addresses are what a decoder keeps. A block
 * depends on the address space in force; after pug_codemap_space() look the current address up
 * again.
 *
 * Memory from callbacks is volatile: it is read in pages (PUG_CODE_PAGE bytes) that begin at the
 * missing address, and pug_codemap_context_changed() makes the map read the pages again at their
 * next use; blocks on a page whose bytes turn out the same stay. An empty answer is never kept.
 * Before a callback is called the batch is delivered (so that who answers knows the context):
 * elements that were pushed before a call of block, follow, insn, read or walk_to may be gone
 * after it and cannot be changed any more.
 */
#ifndef PUG_IMAGE_CODEMAP_H
#define PUG_IMAGE_CODEMAP_H

#include "pugmark/image.h"
#include "pugmark/isa.h"
#include "pugmark/protocol.h"

#include <assert.h>
#include <string.h>

#define PUG_CODE_PAGE       2048u
#define PUG_CODE_PAGE_LEAST 64u
#define PUG_CODE_PAGE_MOST  16384u

/** Most instructions in a block. */
#define PUG_BLOCK_MAX 1024u

/** Most instructions that a decoder should walk for one trace event where nothing else bounds it:
    memory that answers zeros everywhere has no waypoint. */
#define PUG_WALK_BOUND (1u << 22)

/** Why a block ends where it ends. */
enum pug_block_end {
    PUG_BLOCK_FLOW,      /**< its last instruction is not OTHER, or is a RISC-V trap */
    PUG_BLOCK_LONG,      /**< it reached a length bound; execution goes on at `end` */
    PUG_BLOCK_NO_ACCESS, /**< memory at `end` is not there; `count` may be 0 */
    PUG_BLOCK_ERROR,     /**< the instruction at `end` is in error: `status`; or a bad read */
};

/** What a hop looks at comes first: it is one cache line. */
struct pug_block {
    uint64_t end;         /**< address after the last instruction */
    struct pug_insn insn; /**< the last instruction (count > 0), see below */
    uint16_t count;       /**< instructions */
    uint8_t ending;       /**< enum pug_block_end */
    uint8_t isa;
    uint32_t epoch;                   /**< private: valid unless below the map's */
    const struct pug_block *links[2]; /**< private: never NULL; [1]: taken */

    uint64_t start;
    uint64_t last;         /**< address of the last instruction (count > 0) */
    int16_t status;        /**< enum pug_status of an ERROR end */
    uint8_t it_in, it_out; /**< T32: instructions left in an IT block, before and after */
    /** RISC-V: the last instruction is an indirect jump on the constant made by the one before it,
        both in this block: `insn.target` holds where it goes. */
    bool sequential;
    uint8_t first_size; /**< bytes of the first instruction (count > 0) */
};

/*
 * RISC-V table jumps: `insn.target` is where the jump goes, read from the table. Where the table's
 * word is not there, `insn.table_jump` stays set and `insn.target` is the address of that word;
 * such a jump cannot be followed.
 */

struct pug_codemap_config {
    const struct pug_image *image;
    struct pug_isa_config isa;
    pug_classify_fn *classify; /**< NULL: pug_isa_classify() */
    void *classify_context;
    struct pug_batch *batch;   /**< delivered before a callback is called; may be NULL */
    bool reads_end_with_image; /**< the quirk of that name */
    uint16_t source;
    size_t limit; /**< bytes for blocks and pages; 0: 8 MiB; at least 64 KiB */
};

/** Public to the inline functions only. */
struct pug_codemap {
    uint32_t epoch;
    uint64_t generation;              /**< of the image, when the map began */
    const uint64_t *image_generation; /**< as it is now */
    struct pug_codemap_config config;
    struct pug_codemap_store *store;
};

/** NULL: no memory. Until pug_codemap_space() is called the space is ANY. */
struct pug_codemap *pug_codemap_new(const struct pug_codemap_config *config);
void pug_codemap_free(struct pug_codemap *map);

/**
 * What the decoder's configuration says about instructions; the quirks stay those that the map was
 * made with. Empties the map.
 */
void pug_codemap_set_isa_config(struct pug_codemap *map, const struct pug_isa_config *isa);

/**
 * How many bytes a callback is asked for at a time, PUG_CODE_PAGE_LEAST to PUG_CODE_PAGE_MOST; 0:
 * an instruction's, each time it is needed, so that nothing that callbacks gave is kept. Empties
 * the map at the next look-up. PUG_ERR_INVALID_PARAM_VAL, PUG_ERR_MEM: as it was.
 */
enum pug_status pug_codemap_set_page(struct pug_codemap *map, uint32_t size);

/** The address space to read in from now on. `source` is filled in by the map. */
void pug_codemap_space(struct pug_codemap *map, const struct pug_reader_space *space);

/** The trace says that the context changed: volatile memory may be another. */
void pug_codemap_context_changed(struct pug_codemap *map);

/** Forget everything that callbacks gave. */
void pug_codemap_forget_volatile(struct pug_codemap *map);

/**
 * The block that begins at `address`; never NULL. `it` is 0 unless T32 in an IT block. Where there
 * is no memory left for it, the block is in ERROR with PUG_ERR_MEM.
 */
const struct pug_block *pug_codemap_block(struct pug_codemap *map, uint64_t address,
                                          enum pug_isa isa, uint8_t it);

/** private: the block behind a link that is not made yet. */
const struct pug_block *pug_codemap_follow(struct pug_codemap *map, const struct pug_block *block,
                                           bool taken);

/** Does the block rest on memory that cannot change while the map's epoch stays? */
static inline bool pug_block_lasts(const struct pug_block *block)
{
    return block->epoch == UINT32_MAX;
}

/** Did the image change since the map began? Then no link holds. */
static inline bool pug_codemap_outdated(const struct pug_codemap *map)
{
    return map->generation != *map->image_generation;
}

/** The block that follows if its link is made and holds in `epoch`, the map's; else NULL. */
static inline const struct pug_block *pug_block_linked(const struct pug_block *block, bool taken,
                                                       uint32_t epoch)
{
    const struct pug_block *next = block->links[taken];
    return next->epoch >= epoch ? next : NULL;
}

/** private: the block behind a link that lapsed, where the pages below are known to be the same. */
const struct pug_block *pug_codemap_relink(struct pug_codemap *map, const struct pug_block *next);

/** The same; also if the link lapsed and asking nobody shows that it holds again. */
static inline const struct pug_block *pug_block_known_next(struct pug_codemap *map,
                                                           const struct pug_block *block,
                                                           bool taken, uint32_t epoch)
{
    const struct pug_block *next = block->links[taken];
    return next->epoch >= epoch ? next : pug_codemap_relink(map, next);
}

/** Where execution is behind a block that does not end in an indirect branch. Without a branch of
    its own: whether an atom says E or N is what the processor cannot foretell. */
static inline uint64_t pug_block_next(const struct pug_block *block, bool taken)
{
    static_assert(offsetof(struct pug_block, insn) + offsetof(struct pug_insn, target) == 8,
                  "the two addresses are neighbours");
    uint64_t next;
    memcpy(&next, (const char *)block + taken * sizeof(next), sizeof(next));
    return next;
}

/**
 * The block that follows: with `taken` at the direct branch's target in its next ISA (IT count 0),
 * else at `end` in the same ISA with the block's it_out. Only for blocks that end in FLOW or LONG;
 * `taken` only for direct branches (and RISC-V `sequential`).
 */
static inline const struct pug_block *pug_block_follow(struct pug_codemap *map,
                                                       const struct pug_block *block, bool taken)
{
    const struct pug_block *next = pug_block_linked(block, taken, map->epoch);
    return next && !pug_codemap_outdated(map) ? next : pug_codemap_follow(map, block, taken);
}

/** private: the block at `address`, and a link to it. */
const struct pug_block *pug_codemap_jump(struct pug_codemap *map, const struct pug_block *block,
                                         uint64_t address);

/**
 * The block at `address`, where the indirect branch that ends `block` goes this time, in the same
 * ISA. Where it went last is found without a look-up.
 */
static inline const struct pug_block *
pug_block_jump(struct pug_codemap *map, const struct pug_block *block, uint64_t address)
{
    const struct pug_block *next = pug_block_linked(block, true, map->epoch);
    return next && next->start == address && !pug_codemap_outdated(map)
               ? next
               : pug_codemap_jump(map, block, address);
}

/**
 * Make `element` an INSTR_RANGE that ends with the instruction `insn`; what belongs to the source
 * and its context comes from `blank`. Each field is stored once, and loads are as wide as the
 * stores that they wait for: a trace is mostly ranges.
 */
static inline void pug_range_fill(struct pug_element *element, const struct pug_element *blank,
                                  uint64_t index, uint64_t start, uint64_t end, uint32_t count,
                                  const struct pug_insn *insn, uint8_t isa, bool executed)
{
    static_assert(offsetof(struct pug_element, context_id) == 40 &&
                      offsetof(struct pug_element, flags) == 56,
                  "16 bytes of source and context");
    static_assert(offsetof(struct pug_element, isa) - offsetof(struct pug_element, last_type) ==
                      offsetof(struct pug_insn, next_isa) - offsetof(struct pug_insn, type),
                  "type, subtype, size and ISA are neighbours in both");
    element->index = index;
    element->start = start;
    element->end = end;
    element->value = 0;
    element->count = count;
    element->cycle_count = 0;
    memcpy((char *)element + 40, (const char *)blank + 40, 16);
    element->flags =
        (uint16_t)(executed * PUG_ELEM_EXECUTED + insn->conditional * PUG_ELEM_CONDITIONAL);
    element->type = PUG_ELEM_INSTR_RANGE;
    element->reason = 0;
    memcpy((char *)element + offsetof(struct pug_element, last_type),
           (const char *)insn + offsetof(struct pug_insn, type), 4);
    element->isa = isa;
}

/**
 * One instruction at `address`, cached too. `it` is in and out as in pug_isa_classify(). PUG_OK,
 * PUG_ERR_MEM_NACC, or what the classifier or the read says.
 */
enum pug_status pug_codemap_insn(struct pug_codemap *map, uint64_t address, enum pug_isa isa,
                                 uint8_t *it, struct pug_insn *insn);

/**
 * The same; while the map's `epoch` is at most *until, the image has not changed and the space is
 * the same, the answer is, too. 0: not even now.
 */
enum pug_status pug_codemap_insn_until(struct pug_codemap *map, uint64_t address, enum pug_isa isa,
                                       uint8_t *it, struct pug_insn *insn, uint32_t *until);

/**
 * While it and the image stay the same so do the instructions, for who keeps some. The upper 48
 * bits are the epoch; the others change with pug_codemap_space() only.
 */
uint64_t pug_codemap_stamp(const struct pug_codemap *map);

/** Bytes of program memory in the current space, through the map's pages; how many it got. */
uint32_t pug_codemap_read(struct pug_codemap *map, uint64_t address, void *buffer, uint32_t wanted);

/** How a walk over single instructions ended. */
struct pug_code_walk {
    uint64_t start, end;    /**< from, and after the last instruction */
    uint64_t last;          /**< address of the last instruction */
    uint32_t count;         /**< instructions walked */
    uint8_t it;             /**< IT count after it */
    enum pug_status status; /**< PUG_OK: stopped as asked; PUG_ERR_MEM_NACC; others: errors */
    struct pug_insn insn;   /**< the last instruction (count > 0) */
};

/**
 * Straight on from `address`, branches not followed, until the next address is `stop`; at least
 * one instruction and at most `bound` (then PUG_ERR_LIMIT). A stop inside an instruction is never
 * met: the walk goes on until memory ends. Uses the blocks, so a long walk is cheap.
 */
void pug_codemap_walk_to(struct pug_codemap *map, uint64_t address, enum pug_isa isa, uint8_t it,
                         uint64_t stop, uint32_t bound, struct pug_code_walk *walk);

/** Counters, for who wants to know how the map does. */
struct pug_codemap_stats {
    uint64_t blocks_made, restarts, pages_read, lookups;
    size_t bytes;
};
void pug_codemap_get_stats(const struct pug_codemap *map, struct pug_codemap_stats *stats);

#endif
