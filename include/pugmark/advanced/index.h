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
 * Blocks also have a hash of the *state* that the packet readers were in at their start, and, if
 * the capture was decoded as well, of that of the decoders: whoever starts some way before a block
 * and comes to it in that state goes on exactly as if all had been read (pug_index_reach()). Where
 * the packets after each synchronisation point give decoders all they know (ETMv3, PTM, ETMv4, ETE,
 * E-Trace, N-Trace), the states of the packet readers are enough.
 *
 * docs/book/formats/index-file.md describes the file. Positions are byte offsets in the capture.
 */
#ifndef PUGMARK_INDEX_H
#define PUGMARK_INDEX_H

#include "pugmark/advanced/tree.h"

#ifdef __cplusplus
extern "C" {
#endif

struct pug_index;

/** The smallest block. */
#define PUG_INDEX_BLOCK_MIN UINT64_C(1024)
/** The largest block. */
#define PUG_INDEX_BLOCK_MAX    (UINT64_C(1) << 30)
#define PUG_INDEX_ANY          0x10000u /**< a query for every source */
#define PUG_INDEX_NOBODY       0x10001u /**< a query for bytes of no source, see `nobody` */
#define PUG_INDEX_SOURCE_LIMIT 1024u    /**< ids beyond these are counted as bytes of no source */

/** The options of an index. */
struct pug_index_options {
    uint64_t block; /**< bytes of capture in a block, made a multiple of 512; 0: a good size */
    bool full;      /**< keep every mark, of all sources */
    bool elements;  /**< decode as well: the tree's sources do; keep the decoders' states */
    uint64_t limit; /**< index the first so many bytes only; 0: all */
    unsigned jobs;  /**< threads; 0: as many as there are processors. The result is the same */
    /** Progress, about every megabyte; false stops, the index is then partial. */
    bool (*progress)(void *context, uint64_t done);
    void *progress_context;   /**< is handed to progress() */
    const uint16_t *full_ids; /**< sources of which every mark is kept; NULL: as `full` says */
    size_t full_count;        /**< how many there are */
    uint64_t from;            /**< index from this position on only, made a multiple of the block */
    struct pug_peers *peers;  /**< processes that make it together (peers.h), or NULL */
    uint64_t states;   /**< with `elements`: states of the first so many bytes only; 0: all */
    uint64_t spare[1]; /**< zero */
};

/**
 * Index a capture in memory. The tree is new, and may be used up; where it can be it is copied, for
 * each thread, and nothing is logged. A capture where the transport stops for good is indexed up to
 * there. `options` may be NULL. PUG_ERR_INVALID_PARAM_VAL: a block that is too small or too large,
 * `from` is not before `limit` and the capture's end, or peers lack a function.
 */
enum pug_status pug_index_build(struct pug_tree *tree, const uint8_t *bytes, uint64_t size,
                                const struct pug_index_options *options, struct pug_index **index);

/**
 * The index of a capture of which `old` has a part: what was indexed is not read again, but for
 * some blocks at its end. The capture may have grown. Blocks, and whether every mark is kept, are
 * those of the old index; what it has of states it keeps, and more are made as `elements` and
 * `states` say, or where it had all of them. PUG_ERR_INVALID_PARAM_VAL: the capture is shorter than
 * it was.
 */
enum pug_status pug_index_extend(const struct pug_index *old, struct pug_tree *tree,
                                 const uint8_t *bytes, uint64_t size,
                                 const struct pug_index_options *options, struct pug_index **index);
/** NULL is left alone. */
void pug_index_free(struct pug_index *index);

/* ---- while the trace is read ---- */

/** Indexes what a tree reads, beside what it is read for. */
struct pug_indexer;

/**
 * Attach an indexer to a tree that has read nothing yet, which may decode, and whose trace may
 * still be arriving. It takes the sources' packet monitors, the tree's runs and frames: no other
 * consumer may use them. Of the options `block`, `full`, `full_ids` count; NULL: defaults. Free it
 * before the tree. PUG_ERR_WRONG_KIND: a source has no packets.
 */
enum pug_status pug_indexer_new(struct pug_tree *tree, const struct pug_index_options *options,
                                struct pug_indexer **indexer);

/**
 * The index of what the tree has taken so far: the first `size` bytes of the capture. It is one of
 * a part, which can be asked, saved and gone on with; its blocks have no states. The indexer goes
 * on, and may be asked again. PUG_ERR_INVALID_PARAM_VAL: the tree has read more; PUG_ERR_NOT_READY:
 * it was finished before; PUG_ERR_MEM.
 */
enum pug_status pug_indexer_index(struct pug_indexer *indexer, const uint8_t *bytes, uint64_t size,
                                  struct pug_index **index);

/**
 * The trace has ended (pug_tree_end()): the index of it. The capture, as it was kept meanwhile, is
 * what the index will be looked up with. The indexer is used up, the tree is as before.
 * PUG_ERR_INVALID_PARAM_VAL: the capture is shorter than what was read; PUG_ERR_NOT_READY: it was
 * finished before.
 */
enum pug_status pug_indexer_finish(struct pug_indexer *indexer, const uint8_t *bytes, uint64_t size,
                                   struct pug_index **index);
/** NULL is left alone. */
void pug_indexer_free(struct pug_indexer *indexer);

/** What the tree's sources are, as a number: an index belongs to a capture and this. */
uint64_t pug_index_identity(struct pug_tree *tree);

/* ---- files ---- */

/** Write a file whole or not at all. PUG_ERR_FILE, with errno. */
enum pug_status pug_index_save(const struct pug_index *index, const char *path);

/**
 * Map a file. Everything in it is checked first. PUG_ERR_FILE: it cannot be opened or read;
 * PUG_ERR_INDEX_DAMAGED: it is no index, of another version, or damaged; PUG_ERR_INDEX_FOREIGN: it
 * is that of another capture, or of other settings. The index of a capture that has grown since is
 * taken: it is one of a part.
 */
enum pug_status pug_index_load(const char *path, const uint8_t *bytes, uint64_t size,
                               uint64_t identity, struct pug_index **index);

/** The same from memory, which is copied. */
enum pug_status pug_index_parse(const void *file, size_t file_size, const uint8_t *bytes,
                                uint64_t size, uint64_t identity, struct pug_index **index);

/**
 * The bytes of the file that pug_index_save() would write, to keep them elsewhere. They live as
 * long as the index; pug_index_parse() takes them.
 */
const void *pug_index_bytes(const struct pug_index *index, size_t *size);

/* ---- what is in it ---- */

/** The properties of an index. */
struct pug_index_info {
    const char *transport;             /**< by name */
    uint64_t trace_size;               /**< bytes of the capture then */
    uint64_t indexed;                  /**< up to where it is indexed */
    uint64_t block;                    /**< bytes */
    uint64_t blocks, summaries, marks; /**< how many there are of each */
    uint64_t size;                     /**< bytes of the index itself */
    size_t sources;                    /**< how many there are */
    bool full;                         /**< every mark is kept */
    bool elements;                     /**< blocks have the decoders' states */
    uint64_t from;        /**< … and from where on: 0 but for a part from the middle */
    uint64_t frame_syncs; /**< full syncs of a trace port in what is indexed; aligned frames: 0 */
    uint64_t states;      /**< up to where blocks have the decoders' states; 0: none has */
    uint64_t spare[1];    /**< zero */
};

/** A source, and how much there is of it. */
struct pug_index_source {
    uint16_t id; /**< trace id */
    bool full;   /**< every mark of it is kept */
    /**
     * It is none: `id` is PUG_SOURCE_UNKNOWN, and may be a source's, too. Bytes before the first
     * id, frame synchronisation points, and ids beyond the limit.
     */
    bool nobody;
    const char *protocol;            /**< "" for an id without a source in the tree */
    uint64_t bytes;                  /**< of the capture */
    uint64_t counts[PUG_MARK_KINDS]; /**< how many marks of each kind it has */
    uint64_t spare[4];               /**< zero */
};

/** A block's summary of one source and one kind of mark. */
struct pug_index_summary {
    uint64_t block;             /**< by number */
    uint16_t source;            /**< trace id */
    bool nobody;                /**< as of pug_index_source */
    enum pug_mark_kind kind;    /**< of mark */
    uint32_t count;             /**< PUG_MARK_DATA: bytes */
    uint64_t first_at, last_at; /**< positions */
    uint64_t first, last;       /**< values */
    uint64_t least, greatest;   /**< of the values */
    uint64_t sum;               /**< of all values: of time steps, how long the block took */
    uint64_t spare[3];          /**< zero */
};

/** A place in the capture. */
struct pug_index_mark {
    uint64_t at;             /**< its position */
    uint64_t value;          /**< what it is depends on the kind */
    uint16_t source;         /**< trace id */
    bool nobody;             /**< as of pug_index_source */
    enum pug_mark_kind kind; /**< of mark */
};

/** Writes the properties of an index into *info. */
void pug_index_info(const struct pug_index *index, struct pug_index_info *info);
/** The n-th; false when there are no more. Sources by ascending id, summaries by block. */
bool pug_index_source_at(const struct pug_index *index, size_t n, struct pug_index_source *source);
/** As pug_index_source_at(). */
bool pug_index_summary_at(const struct pug_index *index, uint64_t n,
                          struct pug_index_summary *summary);
/**
 * Number of the first summary of a block; for the block after the last: the number of all
 * summaries.
 */
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

/* ---- starting in the middle ---- */

/**
 * Has it the states of this tree's decoders? False: it has none, or those of decoding with another
 * program or other options. pug_index_extend() with `elements` makes them.
 */
bool pug_index_has_states(const struct pug_index *index, const struct pug_tree *tree);

/**
 * A copy of a tree that has read the capture up to a block boundary, as far before `before` as it
 * must be, and is in the very state of one that read all of it. It borrows from that tree, and has
 * no log. `elements`: the tree decodes. Either the index has the decoders' states, or two trees
 * that begin at different earlier synchronisation points reach the same state, having got all of it
 * from packets since (pug_protocol.self_synced()). False: start at the beginning; *reached is NULL.
 * The caller frees the copy; *at is where it goes on. Without `elements` the whole times of packets
 * may lack bits that are above those sent.
 */
bool pug_index_reach(const struct pug_index *index, const struct pug_tree *tree,
                     const uint8_t *bytes, uint64_t size, bool elements, uint64_t before,
                     struct pug_tree **reached, uint64_t *at);

/**
 * How far one has to read so that all elements with an index in [from, to) have come: a decoder may
 * hold them back. The tree is what decodes. UINT64_MAX: to the end of the trace, or the index has
 * not the states of all of it.
 */
uint64_t pug_index_settled(const struct pug_index *index, const struct pug_tree *tree,
                           uint64_t from, uint64_t to);

/**
 * The same where the index has states of a part alone, up to near `to`, and does not know: found by
 * reading on until a tree that began there is in the state of one that has read all before.
 * UINT64_MAX also where that does not come soon.
 */
uint64_t pug_index_settle(const struct pug_index *index, const struct pug_tree *tree,
                          const uint8_t *bytes, uint64_t size, uint64_t from, uint64_t to);

/* ---- looking for marks ---- */

/** A query. */
struct pug_index_query {
    enum pug_mark_kind kind; /**< of mark */
    /**
     * A source's id, PUG_INDEX_ANY or PUG_INDEX_NOBODY; for the latter also PUG_SOURCE_UNKNOWN,
     * where no source has this id.
     */
    uint32_t source;
    uint64_t from;            /**< at this position or after it; `backwards`: before it */
    bool backwards;           /**< the nearest before `from` */
    uint64_t least, greatest; /**< only with a value in this range */
    uint64_t spare[4];        /**< zero */
};

/**
 * The first mark that a query asks for. Where the index is not full the tree (packets only, any
 * state) and the capture are needed to read a block again. PUG_ERR_NOT_FOUND: there is none.
 * PUG_ERR_INDEX_FOREIGN: the capture has other bytes than when it was indexed, in what the answer
 * rests on.
 */
enum pug_status pug_index_find(const struct pug_index *index, struct pug_tree *tree,
                               const uint8_t *bytes, uint64_t size,
                               const struct pug_index_query *query, struct pug_index_mark *mark);

/**
 * Where the time steps of a source (PUG_MARK_TIME_STEP: local timestamps, differences), added up
 * from the begin of what is indexed, first come to `elapsed`; mark->value is the sum there. The
 * rest as pug_index_find().
 */
enum pug_status pug_index_find_elapsed(const struct pug_index *index, struct pug_tree *tree,
                                       const uint8_t *bytes, uint64_t size, uint16_t source,
                                       uint64_t elapsed, struct pug_index_mark *mark);

#ifdef __cplusplus
}
#endif
#endif
