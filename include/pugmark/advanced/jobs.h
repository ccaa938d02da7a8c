// SPDX-License-Identifier: MIT
/**
 * @file Decoding a whole capture on several threads, with the output of one.
 *
 * The capture is cut into pieces, and each thread decodes one with a clone of the tree, as if the
 * trace began there. What a decoder does before it is synchronised, and while it lacks what came
 * before, is not the true output; so the thread that comes from the left goes on into the next
 * piece until its state (state.h) is the same, at the same place, as that of the decoder which
 * started there. Only from that place on the other's output counts. Where states never become equal
 * the decoder from the left does it all: slower, but the output is always that of one thread.
 */
#ifndef PUGMARK_JOBS_H
#define PUGMARK_JOBS_H

#include "pugmark/advanced/peers.h"
#include "pugmark/advanced/state.h"
#include "pugmark/advanced/tree.h"

#ifdef __cplusplus
extern "C" {
#endif

struct pug_counts;

/**
 * The way on which a part hands on what it has before the part is at its end, so that what threads
 * hold stays bounded however much a few bytes of trace stand for. Who wraps parts of others in its
 * own wraps this, too.
 */
struct pug_passage {
    /** What pug_passage_give() calls. */
    bool (*give)(struct pug_passage *passage, void *portion, size_t size);
};

/**
 * For a part's elements(), on its thread: hand on a portion, something that take() and drop() know
 * as they know parts. It is taken before the part, in the order of handing on. `size`: about how
 * many bytes it is. Waits for its turn where threads hold too much. NULL: there was no memory for
 * it, and decoding ends with PUG_ERR_MEM. False: nobody wants it, nor what would follow; it was
 * dropped.
 */
static inline bool pug_passage_give(struct pug_passage *passage, void *portion, size_t size)
{
    return passage->give(passage, portion, size);
}

/** How parts go from one process to another (peers.h), which has a consumer of its own. */
struct pug_travel {
    /** Put a part's bytes behind those that are there; the part stays. */
    void (*pack)(const void *part, struct pug_state *bytes);
    /** The part of such bytes; `context` is the consumer's. NULL: no memory. */
    void *(*unpack)(void *context, const uint8_t *bytes, size_t size);
    /**
     * Optional: make one part of it and a later one, which is freed, so that less has to travel.
     * False: no memory.
     */
    bool (*fold)(void *part, void *later);
    uint64_t spare[5]; /**< zero */
};

/**
 * A consumer whose work is done by many threads: the elements of a short part of the trace become
 * something of its own, and these are taken one after another. Parts that are not the true output
 * are dropped.
 */
struct pug_parts {
    void *context; /**< is handed to these functions */
    /** A new part; `worker` counts from 0 to one below the number of threads. NULL: no memory. */
    void *(*begin)(void *context, unsigned worker);
    /** Elements of a part, on the thread that began it. Not called without any. */
    void (*elements)(void *part, const struct pug_element *elements, size_t count);
    /** Take and free a part; on the caller's thread, in the trace's order. False: stop. */
    bool (*take)(void *context, void *part);
    /** Free a part that does not count, on any thread. */
    void (*drop)(void *part);
    /**
     * Optional: where ranges of the part are counted (counts.h); elements() gets all others then,
     * as pug_tree_any_order() has it.
     */
    struct pug_counts *(*counts)(void *part);
    /** Optional: called behind begin() with the way for portions, which lasts as long as the part.
     */
    void (*passage)(void *part, struct pug_passage *passage);
    /** Optional: for several processes. Without it the first one decodes all. */
    const struct pug_travel *travel;
    /**
     * Optional: called once for each worker with its tree, before that reads, so that packets
     * (pug_source_monitor()) and what wraps them (pug_tree_on_encapsulation()) can be watched, too.
     * What comes belongs to the part that the worker began last, and is told on its thread. Where
     * one thread reads all it is the caller's own tree, and stays watched. False: no memory.
     */
    bool (*watch)(void *context, unsigned worker, struct pug_tree *tree);
    /**
     * Optional, with counts(): is elements() to get ranges, too, from the offset `at` on? *end: up
     * to where this holds, at least one byte. Called on any thread; offsets alone may decide.
     */
    bool (*shows)(void *context, uint64_t at, uint64_t *end);
    /** With watch(): nobody looks at the whole time that a packet tells (`now`), which threads do
     *  not know at once. */
    bool untimed;
    uint64_t spare[3]; /**< zero */
};

/** Who takes what several threads decode. */
struct pug_jobs {
    unsigned threads;              /**< 0: as many as there are processors for this process */
    const struct pug_parts *parts; /**< NULL: elements go where the tree's go */
    /** Called now and then on the caller's thread; false: stop. May be NULL. */
    bool (*progress)(void *context, uint64_t done);
    void *progress_context; /**< is handed to progress() */
    size_t piece; /**< bytes that a thread takes at once; 0: a good size where parts are small */
    size_t block; /**< bytes between the first places where states are compared; 0: a good size */
    struct pug_peers
        *peers;        /**< processes that decode it together (peers.h); NULL: this one does */
    uint64_t spare[3]; /**< zero */
};

/** What came of decoding. */
struct pug_jobs_result {
    enum pug_response response; /**< the last one: fatal where decoding stopped at `at` */
    uint64_t at;                /**< bytes decoded */
    unsigned threads;           /**< that were at work; 1: it was done by the caller's alone */
    uint64_t repeated;          /**< bytes that were decoded twice until states were equal */
    bool stopped;               /**< take() or progress() said so */
    uint64_t spare[4];          /**< zero */
};

/** How many processors there are for this process. */
unsigned pug_jobs_processors(void);

/**
 * Decode `bytes` from a tree's beginning to its end, as DATA and END do. On one thread where the
 * capture is short, where somebody watches more than the tree's elements, where memory or
 * instructions come from the client's functions, where quirks are imitated, and for protocols that
 * do not write their state. The counters of a tree's sources count only what is decoded on one
 * thread. A consumer's answer of the WAIT class counts as "again": it gets the rest at once. `jobs`
 * may be NULL: all is as usual; so may `result`. PUG_ERR_INVALID_PARAM_VAL: no tree, no bytes, or a
 * function is missing that is not optional; PUG_ERR_MEM: decoding ended at result->at. A fatal
 * answer of the data path is no error here: see result->response.
 */
enum pug_status pug_tree_decode(struct pug_tree *tree, const struct pug_jobs *jobs,
                                const uint8_t *bytes, size_t size, struct pug_jobs_result *result);

#ifdef __cplusplus
}
#endif
#endif
