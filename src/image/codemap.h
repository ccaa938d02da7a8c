// SPDX-License-Identifier: MIT
/**
 * @file The code map: cached basic blocks of program memory, one map a source.
 *
 * A decoder walks blocks instead of opcodes: an atom costs a hop along a block's link. Blocks are
 * made when first asked for, through image and isa. The map is bounded; when it is full, or when
 * the image changes, it restarts.
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

#include "pugmark/advanced/image.h"
#include "pugmark/advanced/isa.h"
#include "pugmark/author/protocol.h"

#include <assert.h>
#include <stdalign.h>
#include <string.h>

#define PUG_CODE_PAGE       2048u
#define PUG_CODE_PAGE_LEAST 64u
#define PUG_CODE_PAGE_MOST  16384u

/** Most instructions in a block. */
#define PUG_BLOCK_MAX 1024u
/**
 * Addresses (multiples of this) at which a block ends that has half of these and no waypoint; the
 * next one is always within its reach.
 */
#define PUG_BLOCK_BOUNDARY 1024u

/**
 * Most instructions that a decoder should walk for one trace event where nothing else bounds it:
 * memory that answers zeros everywhere has no waypoint.
 */
#define PUG_WALK_BOUND (1u << 22)

/** The bound for an atom, of which a byte holds no more than 32. */
static inline uint32_t pug_walk_bound(const struct pug_stage *stage)
{
    const uint64_t most = pug_stage_expansion(stage, PUG_BLOCK_MAX) / 32;
    return most < PUG_WALK_BOUND ? (uint32_t)most : PUG_WALK_BOUND;
}

/**
 * Most blocks for one packet of a protocol whose packets say how often something repeats, which in
 * the format has no end, or a far one: as many as for so many bytes, though it may have five. 31
 * branches 2^18 - 1 times, which is the most that a message of N-Trace says, are not more.
 */
#define PUG_REPEATS_BYTES UINT64_C(8)

static inline uint64_t pug_repeats_bound(const struct pug_stage *stage)
{
    return pug_stage_expansion(stage, PUG_REPEATS_BYTES);
}

/**
 * Where PUG_ELEM_EXECUTED is when an element's last eight bytes are taken as one number, and where
 * `count` is in one with `cycle_count`.
 */
#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
#define PUG_TAIL_EXECUTED_BIT 48
#define PUG_COUNT_SHIFT       32
#else
#define PUG_TAIL_EXECUTED_BIT 0
#define PUG_COUNT_SHIFT       0
#endif

/** Why a block ends where it ends. */
enum pug_block_end {
    PUG_BLOCK_FLOW,      /**< its last instruction is not OTHER, or is a RISC-V trap */
    PUG_BLOCK_LONG,      /**< it reached a length bound; execution goes on at `end` */
    PUG_BLOCK_NO_ACCESS, /**< memory at `end` is not there; `count` may be 0 */
    PUG_BLOCK_ERROR,     /**< the instruction at `end` is in error: `status`; or a bad read */
};

/**
 * A block. Its first cache line *is* the range element that a hop over it gives, each field where
 * struct pug_element has it; what an element has from elsewhere, its index, value and context, is
 * where a block keeps what a hop needs. So a hop is a few wide copies (pug_block_range()).
 */
struct pug_block {
    alignas(8) uint32_t hop; /**< private: epoch; 0: a hop is not all there is to it */
    uint32_t tag;            /**< private: view, ISA, `it_in`; see pug_block_tag() */
    uint64_t start;          /**< address of the first instruction */
    uint64_t end;            /**< address after the last instruction */
    uint32_t hits[2];        /**< private: how often it ran, [1]: and was left by a branch */
    uint32_t count;          /**< instructions */
    uint32_t page;           /**< private: the one that it rests on; 0: none, or several */
    union {                  /**< as large where pointers are short */
        const struct pug_block *links[2]; /**< private: never NULL; [1]: taken */
        uint64_t context[2];
    };
    uint16_t flags;                             /**< of the range when the branch is not taken */
    uint8_t type, reason;                       /**< PUG_ELEM_INSTR_RANGE; 0 */
    uint8_t last_type, last_subtype, last_size; /**< of the last instruction (count > 0) */
    uint8_t isa;

    struct pug_insn insn;  /**< the last instruction (count > 0), see below */
    uint64_t last;         /**< address of the last instruction (count > 0) */
    uint32_t number;       /**< private: a block of the map has its own */
    int16_t status;        /**< enum pug_status of an ERROR end */
    uint8_t it_in, it_out; /**< T32: instructions left in an IT block, before and after */
    /**
     * RISC-V: the last instruction is an indirect jump on the constant made by the one before it,
     * both in this block: `insn.target` holds where it goes.
     */
    bool sequential;
    uint8_t first_size; /**< bytes of the first instruction (count > 0) */
    uint8_t ending;     /**< enum pug_block_end */
    uint32_t epoch;     /**< private: valid unless below the map's */
    uint32_t rests;     /**< private: number of what it rests on; 0: memory that stays */
};

static_assert(offsetof(struct pug_block, start) == offsetof(struct pug_element, start) &&
                  offsetof(struct pug_block, count) == offsetof(struct pug_element, count) &&
                  offsetof(struct pug_block, page) == offsetof(struct pug_element, cycle_count) &&
                  offsetof(struct pug_block, links) == offsetof(struct pug_element, context_id) &&
                  offsetof(struct pug_block, flags) == offsetof(struct pug_element, flags) &&
                  offsetof(struct pug_block, isa) == offsetof(struct pug_element, isa) &&
                  offsetof(struct pug_block, insn) == sizeof(struct pug_element),
              "the first line of a block is an element");

/*
 * RISC-V table jumps: `insn.target` is where the jump goes, read from the table. Where the table's
 * word is not there, `insn.table_jump` stays set and `insn.target` is the address of that word;
 * such a jump cannot be followed.
 */

/** One of several memories. No two that are different have the same number; 0 is none. */
struct pug_memory_choice {
    const struct pug_image *image;
    uint64_t number;
};

/**
 * Which memory a source sees: asked where its context, or the moment, changes. An answer holds
 * until the next question. `index` is that of the packet that says so.
 */
typedef struct pug_memory_choice
pug_memory_choose_fn(void *context, const struct pug_reader_space *space, uint64_t index);

struct pug_memory_chooser {
    pug_memory_choose_fn *choose; /**< NULL: there is one image only */
    void *context;
};

struct pug_codemap_config {
    const struct pug_image *image;
    const struct pug_memory_chooser *chooser; /**< or NULL; may be filled later */
    struct pug_isa_config isa;
    pug_classify_fn *classify; /**< NULL: pug_isa_classify() */
    void *classify_context;
    struct pug_batch *batch;   /**< delivered before a callback is called; may be NULL */
    bool reads_end_with_image; /**< the quirk of that name */
    uint16_t source;
    size_t limit; /**< bytes for blocks and pages; 0: 8 MiB; at least 64 KiB */
};

/** The kinds of change in a code map. */
enum pug_code_change {
    PUG_CODE_BLOCK_CHANGES, /**< a block is built again in its place */
    PUG_CODE_ALL_CHANGES,   /**< all blocks are dropped */
    PUG_CODE_OTHER_MEMORY,  /**< the source sees another memory from here on */
};

/** Public to the inline functions only. */
struct pug_codemap {
    uint32_t epoch;
    uint64_t generation;              /**< of the image, when the map began */
    const uint64_t *image_generation; /**< as it is now */
    /** Blocks by where they begin, the one that was looked up last; never NULL. */
    const struct pug_block **jumps;
    uint32_t jump_mask;
    uint32_t view;                      /**< the address space in force, as a tag has it */
    const struct pug_block *first_jump; /**< `jumps`, where there are no others */
    bool stops_at_calls;
    uint16_t rounds; /**< how often epochs restarted */
    /**
     * What counts hops on blocks: called before blocks, links or the memory change, so that it can
     * take over the hits. `memory`: the number of the memory that comes. NULL: nothing counts.
     */
    void (*before_change)(void *counter, enum pug_code_change change, uint64_t memory);
    void *counter;
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

/** Are undefined opcodes errors from now on? Empties the map at the next look-up if that is new. */
void pug_codemap_check_opcodes(struct pug_codemap *map, bool check);

/**
 * How many bytes a callback is asked for at a time, PUG_CODE_PAGE_LEAST to PUG_CODE_PAGE_MOST; 0:
 * an instruction's, each time it is needed, so that nothing that callbacks gave is kept. Empties
 * the map at the next look-up. PUG_ERR_INVALID_PARAM_VAL, PUG_ERR_MEM: as it was.
 */
enum pug_status pug_codemap_set_page(struct pug_codemap *map, uint32_t size);

/**
 * From now on no hop passes a taken call: `links[1]` of such a block leads nowhere, for decoders
 * that need return addresses. Before the first look-up. pug_block_follow() passes it all the same.
 */
void pug_codemap_stop_at_calls(struct pug_codemap *map);

/** The address space to read in from now on. `source` is filled in by the map. */
void pug_codemap_space(struct pug_codemap *map, const struct pug_reader_space *space);
/** That of the context that elements have: `space` (PUG_SPACE_…) of it. */
void pug_codemap_element_space(struct pug_codemap *map, const struct pug_element *blank,
                               uint8_t space);

/**
 * Another moment of the trace begins with the packet at `index`: where memories are chosen, another
 * one may count from here on. Decoders leave their current blocks then.
 */
void pug_codemap_moment(struct pug_codemap *map, uint64_t index);

/** The trace says that the context changed: volatile memory may be another. */
void pug_codemap_context_changed(struct pug_codemap *map);

/** Forget everything that callbacks gave. */
void pug_codemap_forget_volatile(struct pug_codemap *map);

/** Did the image change since the map began? Then no link holds. */
static inline bool pug_codemap_outdated(const struct pug_codemap *map)
{
    return map->generation != *map->image_generation;
}

/** Is the block a usual one that holds in `epoch`, the map's? */
static inline bool pug_block_hops(const struct pug_block *block, uint32_t epoch)
{
    return block->hop >= epoch;
}

/** private */
const struct pug_block *pug_codemap_find(struct pug_codemap *map, uint64_t address,
                                         enum pug_isa isa, uint8_t it);

/** private: view, ISA and IT count, which a block is looked up by beside its address. */
static inline uint32_t pug_block_tag(const struct pug_codemap *map, uint8_t isa, uint8_t it)
{
    return map->view | (uint32_t)isa << 8 | it;
}

/**
 * private: where in the table of jumps; what lies near in memory does so there, and instructions of
 * two bytes have places of their own.
 */
static inline const struct pug_block **pug_codemap_slot(const struct pug_codemap *map,
                                                        uint64_t address)
{
    return &map->jumps[(address >> 2 ^ address << 7) & map->jump_mask];
}

/** The block that begins at `address`, `it` being 0, if it is at hand and hops; else NULL. */
static inline const struct pug_block *pug_codemap_jumped(const struct pug_codemap *map,
                                                         uint64_t address, uint8_t isa)
{
    const struct pug_block *block = *pug_codemap_slot(map, address);
    const bool same = (block->start == address) & (block->tag == pug_block_tag(map, isa, 0));
    return (same & pug_block_hops(block, map->epoch)) ? block : NULL;
}

/**
 * The same, also where it takes a look into the table of all blocks. Makes none, and reads no
 * memory.
 */
const struct pug_block *pug_codemap_held(const struct pug_codemap *map, uint64_t address,
                                         uint8_t isa);

/**
 * The block that begins at `address`; never NULL. `it` is 0 unless T32 in an IT block. Where there
 * is no memory left for it, the block is in ERROR with PUG_ERR_MEM.
 */
static inline const struct pug_block *pug_codemap_block(struct pug_codemap *map, uint64_t address,
                                                        enum pug_isa isa, uint8_t it)
{
    const struct pug_block *block = it ? NULL : pug_codemap_jumped(map, address, (uint8_t)isa);
    return block && !pug_codemap_outdated(map) ? block : pug_codemap_find(map, address, isa, it);
}

/** private: what the map has of it, if the pages below are known to be the same and it hops. */
const struct pug_block *pug_codemap_rejoin(struct pug_codemap *map, uint64_t address, uint8_t isa);

/**
 * As pug_codemap_jumped(); also if the block lapsed and is shown to be valid again without reading
 * memory.
 */
static inline const struct pug_block *pug_codemap_known_jump(struct pug_codemap *map,
                                                             uint64_t address, uint8_t isa)
{
    const struct pug_block *block = pug_codemap_jumped(map, address, isa);
    return block ? block : pug_codemap_rejoin(map, address, isa);
}

/** The block with a number, which it keeps until the map restarts. */
const struct pug_block *pug_codemap_numbered(const struct pug_codemap *map, uint32_t number);

/** May memory change under the map's feet? */
bool pug_codemap_is_volatile(const struct pug_codemap *map);

/** private: the block after a link that is not made yet. */
const struct pug_block *pug_codemap_follow(struct pug_codemap *map, const struct pug_block *block,
                                           bool taken);

/** Does the block rest on memory that cannot change while the map's epoch stays? */
static inline bool pug_block_lasts(const struct pug_block *block)
{
    return block->epoch == UINT32_MAX;
}

/** The block that follows if its link is made and it hops; else NULL. */
static inline const struct pug_block *pug_block_linked(const struct pug_block *block, bool taken,
                                                       uint32_t epoch)
{
    const struct pug_block *next = block->links[taken];
    return pug_block_hops(next, epoch) ? next : NULL;
}

/** private: the block after a link that lapsed, where the pages below are known to be the same. */
const struct pug_block *pug_codemap_relink(struct pug_codemap *map, const struct pug_block *next);

/**
 * The target of a link that lapsed, if it is shown to be valid again without reading memory; else
 * NULL.
 */
static inline const struct pug_block *pug_block_regain(struct pug_codemap *map,
                                                       const struct pug_block *next)
{
    return next->hop != 0 ? pug_codemap_relink(map, next) : NULL;
}

/**
 * The place of execution after a block that does not end in an indirect branch. Without a branch of
 * its own: whether an atom says E or N is what the processor cannot foretell.
 */
static inline uint64_t pug_block_next(const struct pug_block *block, bool taken)
{
    const uint64_t mask = -(uint64_t)taken;
    return (block->end & ~mask) | (block->insn.target & mask);
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

/** Source and context of a range, from a blank element; to be copied at once. */
struct pug_range_context {
    alignas(16) uint8_t bytes[16];
};

static inline struct pug_range_context pug_range_context(const struct pug_element *blank)
{
    struct pug_range_context context;
    memcpy(&context, &blank->context_id, sizeof(context));
    return context;
}

/** Make `element` the range of a whole block: nothing but copies, as wide as can be. */
static inline void pug_block_range(struct pug_element *element, const struct pug_block *block,
                                   uint64_t index, const struct pug_range_context *context,
                                   bool taken)
{
    struct {
        uint64_t start, end;
    } addresses;
    uint64_t tail;
    const uint64_t counts = (uint64_t)block->count << PUG_COUNT_SHIFT; /* and no cycles */
    memcpy(&addresses, &block->start, sizeof(addresses));
    memcpy(&tail, &block->flags, sizeof(tail));
    tail |= (uint64_t)taken << PUG_TAIL_EXECUTED_BIT;
    element->index = index;
    memcpy(&element->start, &addresses, sizeof(addresses));
    element->value = 0;
    memcpy(&element->count, &counts, sizeof(counts));
    memcpy(&element->context_id, context, sizeof(*context));
    memcpy(&element->flags, &tail, sizeof(tail));
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
 * PUG_ERR_NO_PROGRAM_MEMORY, or what the classifier or the read says.
 */
enum pug_status pug_codemap_insn(struct pug_codemap *map, uint64_t address, enum pug_isa isa,
                                 uint8_t *it, struct pug_insn *insn);

/** One of several instructions. */
struct pug_code_insn {
    struct pug_insn insn;
    uint8_t it_behind; /**< the value of `it` after it */
};

/**
 * For decoders that keep instructions, since the map does not: the one at `address`, as
 * pug_codemap_insn() has it, and, where they may be kept (*lasts), those after it as far as its
 * memory goes on, which are read without a callback. *count: in, the room; out, their number, with
 * PUG_OK.
 */
enum pug_status pug_codemap_insns(struct pug_codemap *map, uint64_t address, enum pug_isa isa,
                                  uint8_t it, struct pug_code_insn *insns, size_t *count,
                                  bool *lasts);

/**
 * While it and the image stay the same so do the instructions that were kept. The lower 16 bits
 * change with pug_codemap_space() only.
 */
static inline uint64_t pug_codemap_stamp(const struct pug_codemap *map)
{
    return (uint64_t)map->rounds << 48 | (uint64_t)map->epoch << 16 | map->view >> 16;
}

/** Are two stamps of one address space, and the epochs of them of one row? */
static inline bool pug_codemap_stamps_near(uint64_t a, uint64_t b)
{
    return ((a ^ b) & ~(UINT64_C(0xffffffff) << 16)) == 0;
}

/**
 * The first epoch since which memory at `address` is known to be what it is; UINT32_MAX: it is not.
 * Asks for it where it may have changed. The same holds up to *last.
 */
uint32_t pug_codemap_same_since(struct pug_codemap *map, uint64_t address, uint64_t *last);

/** Bytes of program memory in the current space, through the map's pages; how many it got. */
uint32_t pug_codemap_read(struct pug_codemap *map, uint64_t address, void *buffer, uint32_t wanted);

/** How a walk over single instructions ended. */
struct pug_code_walk {
    uint64_t start, end; /**< from, and after the last instruction */
    uint64_t last;       /**< address of the last instruction */
    uint32_t count;      /**< instructions walked */
    uint8_t it;          /**< IT count after it */
    enum pug_status
        status; /**< PUG_OK: stopped as asked; PUG_ERR_NO_PROGRAM_MEMORY; others: errors */
    struct pug_insn insn; /**< the last instruction (count > 0) */
};

/**
 * Straight on from `address`, branches not followed, until the next address is `stop`; at least
 * one instruction and at most `bound` (then PUG_ERR_LIMIT). A stop inside an instruction is never
 * met: the walk goes on until memory ends. Uses the blocks, so a long walk is cheap.
 */
void pug_codemap_walk_to(struct pug_codemap *map, uint64_t address, enum pug_isa isa, uint8_t it,
                         uint64_t stop, uint32_t bound, struct pug_code_walk *walk);

/**
 * The same, but the walk also ends in front of an instruction that has `stop` inside it, perhaps
 * before the first one.
 */
void pug_codemap_walk_before(struct pug_codemap *map, uint64_t address, enum pug_isa isa,
                             uint8_t it, uint64_t stop, uint32_t bound, struct pug_code_walk *walk);

/** Counters that show how the map performs. */
struct pug_codemap_stats {
    uint64_t blocks_made, restarts, pages_read, lookups;
    size_t bytes;
};
void pug_codemap_get_stats(const struct pug_codemap *map, struct pug_codemap_stats *stats);

#endif
