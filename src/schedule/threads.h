// SPDX-License-Identifier: MIT
/**
 * @file A capture in memory, read by several threads, block by block, so that the result is that of
 * one thread. Each block becomes parts (struct pug_parts). Blocks are read in any order, some of
 * them more than once and with a tree that does not know all yet. The client takes the parts that
 * one thread would have made, in their order.
 */
#ifndef PUG_SCHEDULE_THREADS_H
#define PUG_SCHEDULE_THREADS_H

#include "pugmark/advanced/peers.h"
#include "pugmark/advanced/tree.h"
#include "schedule/consumers.h"

/** Parts that were emitted while their block was being read, in their order. */
struct pug_jobs_chunks {
    struct pug_jobs_chunk *first, *last;
    size_t size; /**< bytes that they are */
};

/** One block, read. */
struct pug_jobs_block {
    uint64_t at;                   /* where it begins; when it was read, how far that came */
    struct pug_jobs_chunks chunks; /* before the parts */
    struct pug_parts *parts;       /* NULL: no memory */
    struct pug_state state;        /* after it */
    bool has_state;
    enum pug_response response;
};

/** A worker: a tree, and the client's objects beside it. */
struct pug_worker {
    unsigned number;
    bool alone; /* it reads all, on the caller's thread */
    struct pug_tree *tree;
    void *own;
    /**
     * For read(): hand on parts of about `size` bytes before the block's own. NULL: there is no
     * memory. Waits where too much is held and others are first. False: it is not needed, nor the
     * rest of the block; it was dropped.
     */
    bool (*give)(struct pug_worker *base, struct pug_parts *parts, size_t size);
};

/** Makes parts of blocks, and takes them. */
struct pug_jobs_client {
    void *context;
    const struct pug_consumers *consumers; /* whose parts these are */
    bool folds;                            /* parts of other processes are sent as one */
    /** Fill a worker. The tree of worker 0 stands where reading begins, all others are as new. */
    bool (*open)(void *context, struct pug_worker *worker);
    /** Also of one that could not be opened. */
    void (*close)(void *context, struct pug_worker *worker);
    /**
     * Read from block->at to `end` and fill the block. At the end of the capture the trace ends,
     * too. On any thread.
     */
    void (*read)(void *context, struct pug_worker *worker, uint64_t end,
                 struct pug_jobs_block *block);
    /** Take and free a block's parts; on the caller's thread. False: stop. */
    bool (*take)(void *context, struct pug_jobs_block *block);
    /** Takes parts that were handed on before their block was read. NULL: none are. */
    bool (*take_chunk)(void *context, struct pug_parts *parts);
};

/** The bytes to read, and how they are cut. */
struct pug_jobs_plan {
    const struct pug_tree *tree; /* that the workers' are clones of */
    unsigned threads;
    uint64_t from, end; /* of the capture */
    uint64_t alone;     /* bytes in a block of a single worker; 0: those of several threads */
    uint64_t block;     /* bytes in a short one of several threads */
    /**
     * A thread takes a piece at once. It begins with so many short blocks, since strands meet after
     * blocks, and continues with blocks of that length together, since each costs something.
     */
    uint64_t growth;
    /* Or, where each costs much: it ends so many times as far into its piece as the one before. */
    bool widens;
    uint64_t piece;          /* bytes; about */
    struct pug_peers *peers; /* who else reads it; or NULL */
    /**
     * Trace that comes as a stream is read on one thread, and its end is not known: makes the block
     * from `at` on ready; *end: where that ends. False: it is the last one. Or NULL.
     */
    bool (*next)(void *context, uint64_t at, uint64_t *end);
    void *next_context;
};

struct pug_jobs_outcome {
    unsigned threads;  /* that were at work */
    uint64_t repeated; /* bytes that were read twice until states were equal */
    bool failed;       /* no memory */
};

/**
 * On one thread where the capture is short, where a tree cannot be copied or write its state, and
 * where somebody watches more than elements or has to be asked. With peers each reads a range
 * (ranks.h), and number 0 takes all; where it cannot be cut number 0 reads it.
 */
void pug_jobs_read(const struct pug_jobs_plan *plan, const struct pug_jobs_client *client,
                   struct pug_jobs_outcome *outcome);

/** For read(): feed the tree, and note the state after the block if more can follow. */
void pug_jobs_feed(const struct pug_worker *worker, const uint8_t *bytes, uint64_t end,
                   struct pug_jobs_block *block);

#endif
