// SPDX-License-Identifier: MIT
/**
 * @file A capture read by several threads, block by block, so that the result is that of one.
 *
 * Each block becomes a product: the elements in it, or what it is for an index. Whoever wants
 * products is a client. Its blocks are read in any order, some of them more than once and with a
 * tree that does not know all yet; what it takes are those that one thread would have made, in
 * their order.
 */
#ifndef PUG_SCHEDULE_THREADS_H
#define PUG_SCHEDULE_THREADS_H

#include "pugmark/advanced/peers.h"
#include "pugmark/advanced/tree.h"

/** Products that were handed on while their block was being read, in their order. */
struct pug_jobs_chunks {
    struct pug_jobs_chunk *first, *last;
    size_t size; /**< bytes that they are */
};

/** One block, read. */
struct pug_jobs_block {
    uint64_t at;                   /* where it begins; when it was read, how far that came */
    struct pug_jobs_chunks chunks; /* before the product */
    void *product;                 /* NULL: no memory */
    struct pug_state state;        /* behind it */
    bool has_state;
    enum pug_response response;
};

/** What reads: a tree, and what the client has beside it. */
struct pug_jobs_hand {
    unsigned number;
    bool alone; /* it reads all, on the caller's thread */
    struct pug_tree *tree;
    void *desk;
    /**
     * For read(): hand on a product of about `size` bytes before the block's own. NULL: there is no
     * memory. Waits where too much is held and others are first. False: nobody wants it, nor the
     * rest of the block; it was dropped.
     */
    bool (*give)(struct pug_jobs_hand *hand, void *product, size_t size);
};

/** How products go from one process to another. */
struct pug_jobs_travel {
    /** Put a product's bytes behind those that are there. */
    void (*pack)(void *context, const void *product, struct pug_state *to);
    /** The product of such bytes, in another process; NULL: no memory. */
    void *(*unpack)(void *context, const uint8_t *bytes, size_t size);
    /** Make a product out of it and a later one, which is freed. False: no memory. NULL: cannot. */
    bool (*fold)(void *context, void *product, void *later);
};

struct pug_jobs_client {
    void *context;
    /** Fill a hand. The tree of hand 0 stands where reading begins, all others are as new. */
    bool (*open)(void *context, struct pug_jobs_hand *hand);
    /** Also of one that could not be opened. */
    void (*close)(void *context, struct pug_jobs_hand *hand);
    /**
     * Read from block->at to `end` and fill the block. At the end of the capture the trace ends,
     * too. On any thread.
     */
    void (*read)(void *context, struct pug_jobs_hand *hand, uint64_t end,
                 struct pug_jobs_block *block);
    /** Take and free a product; on the caller's thread. False: stop. */
    bool (*take)(void *context, struct pug_jobs_block *block);
    /** The same of a product that was handed on. NULL: none is. */
    bool (*take_chunk)(void *context, void *product);
    /** Free a product that does not count; on any thread. */
    void (*drop)(void *context, void *product);
    /** NULL: they do not travel, and one process reads all. */
    const struct pug_jobs_travel *travel;
};

/** What is read, and how it is cut. */
struct pug_jobs_plan {
    const struct pug_tree *tree; /* that the hands' are clones of */
    unsigned threads;
    uint64_t from, end; /* of the capture */
    uint64_t alone;     /* bytes in a block of who reads alone; 0: those of several threads */
    uint64_t block;     /* bytes in a short one of several threads */
    /**
     * A thread takes a piece at once. It begins with so many short blocks, since strands meet
     * behind blocks, and goes on with blocks of that length together, since each costs something.
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

/** For read(): feed the tree, and note the state behind the block if more can follow. */
void pug_jobs_feed(const struct pug_jobs_hand *hand, const uint8_t *bytes, uint64_t end,
                   struct pug_jobs_block *block);

#endif
