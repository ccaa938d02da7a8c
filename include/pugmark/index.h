// SPDX-License-Identifier: MIT
/**
 * @file Indexes: where in a capture something is, without decoding it again.
 *
 *     pug_tree_new(…), pug_tree_add_source(…, .decode = false) …
 *     pug_index_build(tree, bytes, size, &(struct pug_index_options){0}, &index);
 *     pug_index_save(index, "trace.pmi");
 *
 *     pug_index_load("trace.pmi", bytes, size, pug_index_identity(tree), &index);
 *     if (pug_index_find(index, tree, bytes, size, &query, &mark) == PUG_OK)
 *         ...                                             // mark.at is the place in the capture
 *
 * An index divides the capture into blocks. For each block, source and kind of mark it has a
 * *summary*: how many there are, the first and the last with their values, the smallest and the
 * largest value, and a hash of them all. A *full* index also has each mark. What a summary alone
 * cannot tell is read from the block again, from a synchronisation point before it; the hash proves
 * that this reading is the same as that of the whole capture, else the reading starts earlier.
 *
 * docs/index-format.md describes the file. Positions are byte offsets in the capture.
 */
#ifndef PUGMARK_INDEX_H
#define PUGMARK_INDEX_H

#include "pugmark/tree.h"

#ifdef __cplusplus
extern "C" {
#endif

struct pug_index;

#define PUG_INDEX_BLOCK_MIN    UINT64_C(1024)
#define PUG_INDEX_BLOCK_MAX    (UINT64_C(1) << 30)
#define PUG_INDEX_ANY          0x10000u /**< a query for every source */
#define PUG_INDEX_SOURCE_LIMIT 1024u    /**< ids beyond these are counted as PUG_SOURCE_UNKNOWN */

struct pug_index_options {
    uint64_t block; /**< bytes of capture in a block; 0: 64 KiB for every two sources */
    bool full;      /**< keep every mark */
    bool elements;  /**< the tree decodes: keep a proof of each block's elements */
    uint64_t limit; /**< index the first so many bytes only; 0: all */
    /** Progress, about every megabyte; false stops, the index is then partial. */
    bool (*progress)(void *context, uint64_t done);
    void *progress_context;
};

/**
 * Index a capture in memory. The tree is new, with packets only (`elements`: decoding), and is used
 * up. A capture where the transport stops for good is indexed up to there.
 */
enum pug_status pug_index_build(struct pug_tree *tree, const uint8_t *bytes, uint64_t size,
                                const struct pug_index_options *options, struct pug_index **index);
void pug_index_free(struct pug_index *index);

/** What the tree's sources are, as a number: an index belongs to a capture and this. */
uint64_t pug_index_identity(struct pug_tree *tree);

/* ---- files ---- */

/** Write a file whole or not at all. PUG_ERR_FILE, with errno. */
enum pug_status pug_index_save(const struct pug_index *index, const char *path);

/**
 * Map a file. Everything in it is checked first. PUG_ERR_FILE: it cannot be opened or read;
 * PUG_ERR_INDEX_DAMAGED: it is no index, of another version, or damaged; PUG_ERR_INDEX_FOREIGN: it
 * is that of another capture, or of other settings.
 */
enum pug_status pug_index_load(const char *path, const uint8_t *bytes, uint64_t size,
                               uint64_t identity, struct pug_index **index);

/** The same from memory, which is copied. */
enum pug_status pug_index_parse(const void *file, size_t file_size, const uint8_t *bytes,
                                uint64_t size, uint64_t identity, struct pug_index **index);

/* ---- what is in it ---- */

struct pug_index_info {
    const char *transport;
    uint64_t trace_size, indexed; /**< bytes of the capture; how many of them are indexed */
    uint64_t block;               /**< bytes */
    uint64_t blocks, summaries, marks;
    uint64_t size; /**< bytes of the index itself */
    size_t sources;
    bool full, elements;
};

struct pug_index_source {
    uint16_t id;
    const char *protocol; /**< "" for an id without a source in the tree */
    uint64_t bytes;
    uint64_t counts[PUG_MARK_KINDS];
};

struct pug_index_summary {
    uint64_t block;
    uint16_t source;
    enum pug_mark_kind kind;
    uint32_t count;             /**< PUG_MARK_DATA: bytes */
    uint64_t first_at, last_at; /**< positions */
    uint64_t first, last;       /**< values */
    uint64_t least, greatest;
};

struct pug_index_mark {
    uint64_t at;
    uint64_t value;
    uint16_t source;
    enum pug_mark_kind kind;
};

void pug_index_info(const struct pug_index *index, struct pug_index_info *info);
/** The n-th; false when there are no more. Sources by ascending id, summaries by block. */
bool pug_index_source_at(const struct pug_index *index, size_t n, struct pug_index_source *source);
bool pug_index_summary_at(const struct pug_index *index, uint64_t n,
                          struct pug_index_summary *summary);
/** Number of the first summary of a block; of a block behind the last: how many there are. */
uint64_t pug_index_block_summary(const struct pug_index *index, uint64_t block);

/** Which sources have bytes in blocks of [from, to)? How many; the first `room` ids are written. */
size_t pug_index_active(const struct pug_index *index, uint64_t from, uint64_t to, uint16_t *ids,
                        size_t room);

/**
 * A position to start reading a source from so that it is synchronised at `before`: the last
 * PUG_MARK_SYNC that the summaries name before it. `source` may be PUG_INDEX_ANY: the earliest of
 * all sources'. 0 where there is none.
 */
uint64_t pug_index_sync_before(const struct pug_index *index, uint32_t source, uint64_t before);

/** Proof of a block's elements: how many there are and their hash; false: the index has none. */
bool pug_index_elements(const struct pug_index *index, uint64_t block, uint32_t *count,
                        uint64_t *hash);
/** The next value of a running hash of elements; it starts at 0. */
uint64_t pug_index_element_hash(uint64_t hash, const struct pug_element *element);

/* ---- looking for marks ---- */

struct pug_index_query {
    enum pug_mark_kind kind;
    uint32_t source;          /**< or PUG_INDEX_ANY */
    uint64_t from;            /**< at this position or after it; `backwards`: before it */
    bool backwards;           /**< the nearest before `from` */
    uint64_t least, greatest; /**< only with a value in this range */
};

/**
 * The first mark that a query asks for. Where the index is not full the tree (packets only, any
 * state) and the capture are needed to read a block again. PUG_ERR_NOT_FOUND: there is none.
 */
enum pug_status pug_index_find(const struct pug_index *index, struct pug_tree *tree,
                               const uint8_t *bytes, uint64_t size,
                               const struct pug_index_query *query, struct pug_index_mark *mark);

#ifdef __cplusplus
}
#endif
#endif
