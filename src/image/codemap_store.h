// SPDX-License-Identifier: MIT
/** @file The code map from inside. */
#ifndef PUG_IMAGE_CODEMAP_STORE_H
#define PUG_IMAGE_CODEMAP_STORE_H

#include "base/hash.h"
#include "image/codemap.h"
#include "image/image.h"

#include <stdalign.h>

/** Epoch of blocks in memory that cannot change without the image's knowledge. */
#define PUG_EPOCH_STATIC UINT32_MAX

/** A block's code lies on at most two pages, and a jump table's word on one more. */
#define PUG_CODE_PAGES 2
#define PUG_PAGES      (PUG_CODE_PAGES + 1)

/** Pages that a block was made from, and what was on them. */
struct pug_rests_on {
    uint32_t page[PUG_PAGES];
    uint32_t version[PUG_PAGES];
    uint8_t count;
    bool transient; /**< it rests on an answer that is not kept */
};

/** Where in the hash table a block is. Small, so that the table stays in the cache. */
struct pug_slot {
    uint32_t print;  /**< of the key's hash: what differs here need not be compared */
    uint32_t number; /**< of the block, plus 1; 0: free */
};

/**
 * What callbacks gave. The bytes are apart: the rest is asked for often, and stays in the cache.
 */
struct pug_code_page {
    uint64_t start;
    const struct pug_accessor *accessor;
    uint8_t *bytes; /**< room for the store's page size */
    uint32_t length, version;
    uint32_t read;  /**< the epoch in which it was read last */
    uint32_t other; /**< the last one in which something else may have been on it */
    uint32_t next;  /**< in its hash chain, plus 1 */
    uint16_t view;
};

/** `other` of a page that is none any more: no block holds in a later epoch. */
#define PUG_PAGE_GONE UINT32_MAX

#define PUG_PAGE_BUCKETS 256

/** One instruction in the cache of pug_codemap_insn(). */
struct pug_insn_entry {
    struct pug_insn insn;
    uint64_t address;
    struct pug_rests_on rests;
    uint32_t tag, epoch; /**< epoch 0: empty */
    int16_t status;
    uint8_t it_out;
};

#define PUG_INSN_ENTRIES_LEAST 128u
#define PUG_INSN_ENTRIES_MOST  8192u

/** The properties in which blocks differ, besides their addresses. */
struct pug_code_view {
    struct pug_reader_space space; /**< reduced */
    uint64_t memory;               /**< number of the memory that was chosen, or 0 */
};

struct pug_codemap_store {
    struct pug_reader_space space; /**< as asked for */
    struct pug_code_view *views;   /**< a view is a number in this list */
    size_t view_count, view_capacity;
    uint32_t *view_slots; /**< twice as many; 0: free; else a view's number, and one more */
    uint16_t view;
    const struct pug_image *image; /**< of the view */
    uint64_t memory;               /**< its number, where it was chosen */
    uint64_t moment;

    struct pug_block **chunks; /**< of blocks */
    size_t chunk_count, chunk_limit;
    uint32_t count;             /**< blocks in use */
    struct pug_rests_on *rests; /**< of blocks on volatile memory, by number less 1 */
    uint32_t rests_count, rests_limit;
    struct pug_slot *slots;
    size_t slot_count;         /**< a power of two */
    struct pug_block *scratch; /**< where blocks are made, and those that are not kept live */
    struct pug_rests_on scratch_rests;

    struct pug_code_page *pages;
    size_t page_count, page_limit;
    uint32_t free_page; /**< list through `next`, plus 1 */
    uint32_t buckets[PUG_PAGE_BUCKETS];
    uint32_t versions;
    bool forget;    /**< drop the pages before they are next looked at */
    uint32_t begun; /**< the epoch in which it restarted */
    bool left;      /**< who was to be asked was removed meanwhile: look again */
    bool keep;      /**< pages are kept; else they serve one block only */
    uint32_t page_size;
    uint8_t *answer;       /**< of a callback, page_size bytes */
    uint8_t *other_answer; /**< what the next look begins with in its place, or NULL … */
    uint32_t other_size;   /**< … for pages of so many bytes; 0: none are kept */

    struct pug_insn_entry *insns; /**< made at the first use */
    uint32_t insn_entries;        /**< of them, a power of two */
    uint32_t insns_replaced;      /**< since there are so many */

    size_t limit;
    struct pug_codemap_stats stats;
};

/** Where a walk through memory is: the piece that was found last, and the pages it used. */
struct pug_code_cursor {
    const uint8_t *bytes;
    uint64_t first, last; /**< of `bytes`, inclusive */
    uint64_t end;         /**< of the accessor's range */
    uint32_t page;        /**< plus 1; 0: static memory */
    bool valid;
    struct pug_rests_on rests;
    uint8_t straddle[8]; /**< an instruction from two pieces of a file */
};

static inline uint32_t pug_code_tag(const struct pug_codemap *map, enum pug_isa isa, uint8_t it)
{
    return (uint32_t)map->store->view << 16 | (uint32_t)(isa & 0xff) << 8 | it;
}

static inline uint64_t pug_code_hash(uint64_t address, uint32_t tag)
{
    return pug_hash_mix(address, (uint64_t)tag << 40);
}

/** Addresses of RV32 are 32 bits wide. */
static inline uint64_t pug_code_wrap(enum pug_isa isa, uint64_t address)
{
    return isa == PUG_ISA_RV32 ? (uint32_t)address : address;
}

/** Blocks are allocated so many at once, and each at a multiple of so many bytes. */
#define PUG_BLOCK_CHUNK     64u
#define PUG_BLOCK_ALIGNMENT 64u

static inline struct pug_block *pug_code_block_at(const struct pug_codemap_store *store,
                                                  uint32_t number)
{
    return &store->chunks[number / PUG_BLOCK_CHUNK][number % PUG_BLOCK_CHUNK];
}

/* ---- codemap.c ---- */

/** The table of jumps; what is left is one that no jump is in. */
void pug_code_free_jumps(struct pug_codemap *map);

/* ---- code_views.c ---- */

/** Restart when the image has changed or `room` more bytes would be too many. True: it did. */
bool pug_codemap_prepare(struct pug_codemap *map, size_t room);

/** There is no memory for code: of the view's image, and of the one that the map was made for. */
void pug_code_starve(const struct pug_codemap *map);

/**
 * Classify the instruction at `address`. PUG_ERR_NO_PROGRAM_MEMORY; PUG_ERR_LIMIT: it lies on a
 * page more than a block may rest on; or what the read or the classifier says.
 */
enum pug_status pug_code_next(struct pug_codemap *map, struct pug_code_cursor *cursor,
                              uint64_t address, enum pug_isa isa, uint8_t *it,
                              struct pug_insn *insn);

/** Instructions from `address` on, all of them in what the cursor has; how many. */
size_t pug_code_ahead(struct pug_codemap *map, struct pug_code_cursor *cursor, uint64_t address,
                      enum pug_isa isa, uint8_t it, struct pug_code_insn *insns, size_t most);

/** Read a table jump's target from its table. */
void pug_code_resolve(struct pug_codemap *map, struct pug_code_cursor *cursor, enum pug_isa isa,
                      struct pug_insn *insn);

/* ---- blocks ---- */

/** Where a link leads that is not made yet: to a block that no epoch holds good. */
extern const struct pug_block pug_no_block;

/** The block with a number. */
struct pug_block *pug_code_block(const struct pug_codemap *map, uint32_t number);

/** Make a block without instructions and links. */
void pug_code_clear(struct pug_block *block);

/** Make the block at `address` in the store's scratch, and say on what it rests beside it. */
struct pug_block *pug_code_build(struct pug_codemap *map, uint64_t address, enum pug_isa isa,
                                 uint8_t it);

/**
 * The epoch until which a block holds. Of those that hop only `hop` is kept up to date: it is in
 * the cache line that a hop reads.
 */
static inline uint32_t pug_code_epoch(const struct pug_block *block)
{
    return block->hop ? block->hop : block->epoch;
}

/** It holds until the map's epoch is a higher one. */
static inline void pug_code_hold(struct pug_block *block, uint32_t epoch)
{
    block->epoch = epoch;
    block->hop = block->ending == PUG_BLOCK_FLOW ? epoch : 0;
}

/* ---- pages ---- */

/**
 * The page that holds `address`, up to date, read if need be. `tried` (or 0) is a page that was too
 * short for what begins at `address`: then it is one that begins there, asked for again if that is
 * the one that was tried. Pages are named by their number plus 1; 0, with *status PUG_OK (nothing
 * there) or an error: none.
 */
uint32_t pug_code_page(struct pug_codemap *map, const struct pug_accessor *accessor,
                       uint64_t address, uint32_t tried, enum pug_status *status);

/** Are the pages as they were? Reads those again that may have changed. */
bool pug_code_same(struct pug_codemap *map, const struct pug_rests_on *rests);

/** Are they known to be? Reads no memory. */
bool pug_code_same_already(const struct pug_codemap *map, const struct pug_rests_on *rests);

/**
 * The same two questions, for a block that hops and rests on one page alone: its first cache line
 * and the page's are all that is looked at. When a page was read twice in one epoch, and differed,
 * the answer is no: a caller that may read memory then calls pug_code_same().
 */
bool pug_code_page_same(struct pug_codemap *map, const struct pug_block *block);
static inline bool pug_code_page_same_already(const struct pug_codemap *map,
                                              const struct pug_block *block)
{
    const struct pug_code_page *page = &map->store->pages[block->page - 1];
    return page->read == map->epoch && page->other < block->hop;
}

/** Bytes that a page takes. */
static inline size_t pug_code_page_bytes(const struct pug_codemap_store *store)
{
    return sizeof(struct pug_code_page) + store->page_size;
}

/**
 * Bytes of callback memory at a time; as pug_codemap_set_page(). Until pug_code_use_page() nothing
 * changes: the callback that reads memory may be the caller itself.
 */
enum pug_status pug_code_set_page(struct pug_codemap_store *store, uint32_t size);
/** When no page is left. */
void pug_code_use_page(struct pug_codemap_store *store);
void pug_code_drop_pages(struct pug_codemap_store *store);

#endif
