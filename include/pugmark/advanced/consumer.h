// SPDX-License-Identifier: MIT
/**
 * @file Consumers: what is made of elements, by many threads and several at once.
 *
 * The capture is decoded in pieces. For each piece a consumer makes a *part*, such as a text or a
 * table of counts, on whatever thread decodes the piece. The caller's thread takes the parts one
 * after another, in the trace's order. Some pieces are decoded more than once, before it is known
 * where one thread would have been; parts that do not belong to the true output are dropped.
 *
 * Several consumers can share one pass (struct pug_jobs). Each gets the same elements and has its
 * parts taken as if it were alone; no consumer knows of the others.
 */
#ifndef PUGMARK_CONSUMER_H
#define PUGMARK_CONSUMER_H

#include "pugmark/advanced/state.h"
#include "pugmark/advanced/tree.h"

#ifdef __cplusplus
extern "C" {
#endif

struct pug_counts;
struct pug_origin;

/** The piece that a part is made of. A part can use it until its last elements have come. */
struct pug_piece {
    /** pug_piece_emit() calls this. */
    bool (*emit)(struct pug_piece *piece, void *chunk, size_t size);
    uint64_t offset;  /**< where the piece begins in what is decoded, or in its segment */
    uint32_t segment; /**< of a capture, by number */
    bool counted;     /**< ranges are counted: elements() gets those that a consumer shows alone */
};

/**
 * Hands on what a part has so far, so that threads hold a bounded amount however many elements a
 * few bytes of trace stand for. Called on the thread of elements(), from there or from a callback
 * that attach() has set.
 *
 * A chunk is something that take() and drop() accept as they accept parts. Chunks are taken before
 * their part, in the order in which they were emitted. `size` is about its size in bytes. The call
 * blocks while threads hold too much and it is another thread's turn. Pass NULL if there was no
 * memory for a chunk: decoding then ends with PUG_ERR_MEM. Returns false if neither the chunk nor
 * what would follow is wanted; the chunk was dropped.
 */
static inline bool pug_piece_emit(struct pug_piece *piece, void *chunk, size_t size)
{
    return piece->emit(piece, chunk, size);
}

/** Where reading a piece ended: twice where the trace ends with it, the second time `over`. */
struct pug_piece_end {
    uint64_t at;                   /**< the offset that reading came to */
    unsigned worker;               /**< as in begin() */
    bool over;                     /**< the tree got the end of the trace */
    struct pug_tree *tree;         /**< the worker's */
    const struct pug_state *state; /**< of the tree, or `failed`; NULL: it is not needed here */
};

/** What a consumer needs besides elements: bits of pug_consumer.wants. */
enum pug_consumer_wants {
    PUG_WANTS_PACKET_TIMES = 1, /**< packets that it watches have their whole times (`now`) */
    PUG_WANTS_TOTALS = 2,       /**< of what is counted, pug_counts_total() alone */
    PUG_WANTS_ANY_ORDER = 4,    /**< sources may come in any order (pug_tree_any_order()) */
    /**
     * Of a capture: origins have times from within segments, if the trace has timestamps. Each
     * segment is read once more for that. A live stream has no times.
     */
    PUG_WANTS_TIMES = 8,
    /**
     * With times: each timestamp begins an origin of its own, in perf.data, too. What a thread did
     * on a processor after its last timestamp there then has that processor's next one, which may
     * be later than what the thread does elsewhere meanwhile. Otherwise a time dates everything up
     * to where tracing begins or another thread comes, and a thread's pieces follow their times.
     */
    PUG_WANTS_EACH_TIME = 16,
    /**
     * Of a perf.data with buffers of several processors, and timestamps in the trace: buffers are
     * read side by side, so that what a thread did on one processor comes before what it did later
     * on another. Each residency on a processor comes as a whole, by its first timestamp. Origins
     * have times; ranges are not counted; one thread of one process decodes. Other captures are
     * not counted, and otherwise read as usual.
     */
    PUG_WANTS_BY_TIME = 32,
};

/** A consumer. Functions that are not optional must be there. */
struct pug_consumer {
    void *context;  /**< is handed to these functions */
    uint32_t wants; /**< enum pug_consumer_wants */
    /**
     * Optional: called once for each worker with its tree, before the tree reads anything, so that
     * packets (pug_source_monitor()) and what wraps them (pug_tree_on_encapsulation()) can be
     * watched, by one consumer of a pass. Callbacks run on the worker's thread and belong to the
     * part that it began last. Where one thread reads everything the tree is the caller's own, and
     * stays watched. Returns false when memory runs out.
     */
    bool (*attach)(void *context, unsigned worker, struct pug_tree *tree);
    /**
     * Makes a new part. `worker` counts from 0 to one below the number of threads. Returns NULL
     * when memory runs out.
     */
    void *(*begin)(void *context, unsigned worker, struct pug_piece *piece);
    /**
     * Adds elements to a part, on the thread that began it; at least one. `origin` says where they
     * are from if a capture is decoded; NULL: a tree alone is.
     */
    void (*elements)(void *part, const struct pug_origin *origin,
                     const struct pug_element *elements, size_t count);
    /**
     * Optional, of a capture: adds elements that the selection of tasks, processors and times
     * leaves out, where they stand among those of elements(): time passes there, too.
     */
    void (*left_out)(void *part, const struct pug_origin *origin,
                     const struct pug_element *elements, size_t count);
    /**
     * Optional: ranges are counted (counts.h), which is several times as fast, and elements() gets
     * all other elements. Sources may come in any order then (pug_tree_any_order()). Called on the
     * caller's thread, after take() of what was counted, once or more often; counts of several
     * calls add up. They are borrowed, and all consumers of the pass that count get the same.
     * Ranges reach elements(), too, where a consumer shows them; they are counted all the same.
     */
    void (*counted)(void *context, struct pug_counts *counts);
    /**
     * Optional, while ranges are counted: does this consumer want them as elements, too, from the
     * offset `at` on? The answer holds up to *end, for at least one byte. Called on any thread;
     * only offsets may decide. Without shows() a consumer that counts wants none and any other
     * wants all.
     */
    bool (*shows)(void *context, uint64_t at, uint64_t *end);
    /**
     * Optional: called when a piece was read, for what is no element. If the trace ends there, it
     * is called before the tree gets the end, and once more after that. Returns false when memory
     * runs out.
     */
    bool (*end)(void *part, const struct pug_piece_end *end);
    /** Takes and frees a part, on the caller's thread. Returns false to stop decoding. */
    bool (*take)(void *context, void *part);
    /** Frees a part that does not belong to the true output, on any thread. */
    void (*drop)(void *part);
    /*
     * Optional, for several processes (peers.h), each of which has a consumer of its own. If one
     * consumer of a pass has no pack() the first process decodes everything.
     */
    /** Appends a part's bytes to those that are there; the part stays. */
    void (*pack)(const void *part, struct pug_state *bytes);
    /** Returns the part of such bytes, or NULL when memory runs out. */
    void *(*unpack)(void *context, const uint8_t *bytes, size_t size);
    /**
     * Optional: adds a later part to this one and frees it, so that less has to be sent. Returns
     * false when memory runs out.
     */
    bool (*fold)(void *part, void *later);
    uint64_t spare[2]; /**< zero */
};

#ifdef __cplusplus
}
#endif
#endif
