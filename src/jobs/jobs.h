// SPDX-License-Identifier: MIT
/**
 * @file Parallel decoding's own shape, shared by its files: decode.c (the caller's thread),
 * worker.c (the others), block.c (one block), stored.c (elements that wait for the caller).
 */
#ifndef PUG_JOBS_INTERNAL_H
#define PUG_JOBS_INTERNAL_H

#include "pugmark/jobs.h"

#include <pthread.h>

/** Records of a log, kept. */
struct jobs_records {
    struct pug_log_record *items; /* their texts are copies */
    size_t count, room;
};

/** One block, decoded. */
struct jobs_block {
    void *part; /* the consumer's; NULL: no memory */
    struct jobs_records records;
    struct pug_state state; /* behind it */
    bool has_state;
    enum pug_response response;
    uint64_t at; /* bytes decoded, from the beginning of the trace */
};

/** What decodes: a tree, and where its output goes for now. */
struct jobs_lane {
    unsigned number;
    struct pug_tree *tree;
    struct pug_log *log;
    const struct pug_parts *parts;
    bool used;                /* it saw trace: it must be renewed before it starts anew */
    struct jobs_block *block; /* being decoded */
};

/** One source in one run. */
struct jobs_seat {
    bool touched;             /* it got something */
    bool adopted;             /* when it did, it was exchanged for `given` */
    size_t at;                /* the block in which that was */
    struct pug_source *given; /* by the run from the left: what it is to be exchanged for */
};

/** Consecutive blocks that one lane decoded without a renewal. */
struct jobs_run {
    struct jobs_run *next; /* in its list */
    size_t first;          /* number of its first block */
    struct jobs_block *blocks;
    size_t count, room;
    size_t dropped; /* blocks that hold nothing any more, from the first on */
    bool ended;
    bool proven; /* its last blocks are the true output: it began it, or a proven run joined it */
    struct jobs_run *joined; /* goes on with this one's block behind its own last */
    struct jobs_seat *seats; /* by source */
};

struct jobs_state {
    struct pug_tree *tree;
    size_t sources;
    const struct pug_parts *parts;
    const uint8_t *bytes;
    size_t size;
    size_t block;         /* bytes in a short one */
    size_t piece_size;    /* bytes in a piece */
    size_t piece, pieces; /* blocks in one, how many there are */
    size_t blocks;        /* in all */
    size_t window;        /* how many pieces may be claimed ahead of the caller */

    pthread_mutex_t lock;     /* guards what follows */
    pthread_cond_t published; /* workers wait for a block, or for room in the window */
    pthread_cond_t ready;     /* the caller waits */
    unsigned waiting;         /* workers that do */
    struct jobs_run **owner;  /* by piece */
    size_t claimed;           /* pieces, from the first on */
    size_t taken;             /* blocks that the caller took */
    struct jobs_run *current; /* where it takes from */
    struct jobs_run *runs;    /* that may hold something */
    struct jobs_run *old;     /* that do not, but may still be known to others */
    uint64_t repeated;        /* bytes */
    bool stop;
    bool failed; /* there is no memory */
};

/**
 * A piece begins with short blocks, since decoders join there, and goes on with long ones, since
 * each block costs something.
 */
#define JOBS_SHORT_BLOCKS 8u
#define JOBS_LONG         8u /* short ones */

/** Where a block begins; behind the last one: where the trace ends. */
static inline uint64_t jobs_block_start(const struct jobs_state *jobs, size_t number)
{
    const size_t in = number % jobs->piece;
    const size_t shorts = in < JOBS_SHORT_BLOCKS ? in : JOBS_SHORT_BLOCKS;
    const uint64_t start = (uint64_t)(number / jobs->piece) * jobs->piece_size +
                           (shorts + (in - shorts) * JOBS_LONG) * jobs->block;
    return start < jobs->size ? start : jobs->size;
}

/* block.c */
bool jobs_lane_open(struct jobs_lane *lane, const struct pug_tree *tree,
                    const struct pug_parts *parts, unsigned number);
void jobs_lane_close(struct jobs_lane *lane);
/** Decode block `number` and, at the end of trace, what comes of that. */
void jobs_block_decode(struct jobs_lane *lane, const struct jobs_state *jobs, size_t number,
                       struct jobs_block *block);
/** Free what a block holds, its part as one that does not count. */
void jobs_block_free(struct jobs_block *block, const struct pug_parts *parts);
void jobs_records_free(struct jobs_records *records);

/* worker.c */
struct jobs_worker {
    struct jobs_state *jobs;
    struct jobs_lane lane;
    struct jobs_run *run; /* being decoded */
    size_t number;        /* of its block */
    pthread_t thread;
    bool running;
};
void *jobs_work(void *worker);
/** No memory: everybody stops. Under the lock. */
void jobs_fail(struct jobs_state *jobs);

/* join.c */
/** A source of the worker's tree is about to get something for the first time. */
void jobs_touch(void *worker, size_t source);
/**
 * Can the worker's run go on as the other, behind this block? Then it does. Under the lock. The
 * other has decoded the block.
 */
bool jobs_join(struct jobs_worker *worker, struct jobs_run *other, const struct jobs_block *block);

/* stored.c */
struct jobs_pool {
    struct pug_tree *tree;
    pthread_mutex_t lock;
    struct jobs_chunk *first; /* that are free */
};

/** Parts that keep elements; taking one delivers them where the tree's go. */
struct pug_parts jobs_stored(struct jobs_pool *pool);
void jobs_pool_free(struct jobs_pool *pool);

#endif
