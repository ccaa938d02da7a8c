// SPDX-License-Identifier: MIT
/**
 * @file What the files of the scheduler share:
 *
 *   threads.c   the caller's thread: starts workers and takes blocks in their order
 *   worker.c    the other threads: each reads blocks into strands
 *   join.c      where a strand goes over into one that another worker began
 *   chunks.c    what workers hand on before a block is read to its end
 *   ranks.c     other processes; products.c holds what is sent to them
 */
#ifndef PUG_SCHEDULE_THREADS_INTERNAL_H
#define PUG_SCHEDULE_THREADS_INTERNAL_H

#include "schedule/threads.h"

#include <pthread.h>

/** One source in one strand. */
struct pug_jobs_seat {
    bool touched;             /* it got something */
    bool adopted;             /* when it did, it was exchanged for `given` */
    size_t at;                /* the block in which that was */
    struct pug_source *given; /* by the strand from the left: what it is to be exchanged for */
};

/** Consecutive blocks that one worker read without a renewal. */
struct pug_jobs_strand {
    struct pug_jobs_strand *next; /* in its list */
    size_t first;                 /* number of its first block */
    struct pug_jobs_block *blocks;
    size_t count, room;
    size_t dropped;              /* blocks that hold nothing any more, from the first on */
    struct pug_jobs_chunks open; /* of the block that is being read */
    bool stuck;                  /* in that block: it holds too much, and waits for its turn */
    bool ended;
    bool proven; /* its last blocks are the true output: it began it, or a proven strand met it */
    struct pug_jobs_strand *met; /* continues with the block of this one after its own last */
    struct pug_jobs_seat *seats; /* by source */
};

struct pug_jobs_state {
    const struct pug_jobs_plan *plan;
    const struct pug_jobs_client *client;
    size_t sources;
    uint64_t piece_size;          /* bytes in a piece */
    size_t piece, pieces;         /* blocks in one, how many there are */
    size_t blocks;                /* in all */
    size_t window;                /* how many pieces may be claimed ahead of the caller */
    size_t begun, own;            /* strands begin with pieces from the one on, up to the other */
    struct pug_rank_range *range; /* of several processes; or NULL */

    pthread_mutex_t lock;            /* guards what follows */
    pthread_cond_t published;        /* workers wait for a block, or for room in the window */
    pthread_cond_t ready;            /* the caller waits */
    unsigned waiting;                /* workers that do */
    struct pug_jobs_strand **owner;  /* by piece */
    size_t claimed;                  /* pieces, from the first on */
    size_t taken;                    /* blocks that the caller took */
    struct pug_jobs_strand *current; /* where it takes from */
    struct pug_jobs_strand *strands; /* that may hold something */
    struct pug_jobs_strand *old;     /* that do not, but may still be known to others */
    size_t held, most;               /* bytes of chunks; how many may be */
    bool crowded;                    /* somebody waits for room for one */
    uint64_t read, repeated;         /* bytes */
    uint64_t vain; /* bytes of pieces that were read twice to their ends, since strands met */
    bool stop;
    bool failed; /* there is no memory */
};

/** The start of a block in its piece; for the block after the last: the piece's size. */
static inline uint64_t pug_jobs_start_in_piece(const struct pug_jobs_plan *plan, size_t block)
{
    const uint64_t shorts = block < plan->growth ? block : plan->growth;
    if (!plan->widens)
        return (shorts + (block - shorts) * plan->growth) * plan->block;
    uint64_t start = block > 0 ? plan->block : 0;
    for (; block > 1; block--)
        start *= plan->growth;
    return start;
}

/** The start of a block; for the block after the last: where reading ends. */
static inline uint64_t pug_jobs_block_start(const struct pug_jobs_state *jobs, size_t number)
{
    const struct pug_jobs_plan *plan = jobs->plan;
    const uint64_t start = plan->from + (uint64_t)(number / jobs->piece) * jobs->piece_size +
                           pug_jobs_start_in_piece(plan, number % jobs->piece);
    return start < plan->end ? start : plan->end;
}

/** Free what a block holds that does not count. Under the lock, or when no thread is left. */
void pug_jobs_block_free(struct pug_jobs_state *jobs, struct pug_jobs_block *block);
/** Wait until others went on. Under the lock. */
void pug_jobs_wait(struct pug_jobs_state *jobs);

/* chunks.c */
/** Chunks that a thread may hold, in bytes: those of usual pieces, so that no thread waits. */
#define PUG_JOBS_HELD ((size_t)24 << 20)

/** What the one whose turn it is may hold besides, where others hold all that. */
#define PUG_JOBS_TURN ((size_t)2 << 20)

/** A worker's pug_worker.give. */
bool pug_jobs_give(struct pug_worker *base, struct pug_parts *parts, size_t size);
/** Take the next chunk that is the caller's; NULL: there is none. Under the lock. */
struct pug_parts *pug_jobs_next_chunk(struct pug_jobs_state *jobs);
/** Under the lock, or when no thread is left. */
void pug_jobs_drop_chunks(struct pug_jobs_state *jobs, struct pug_jobs_chunks *chunks);

/* worker.c */
struct pug_jobs_worker {
    struct pug_worker base; /* first: it is the way from the one to the other */
    struct pug_jobs_state *jobs;
    struct pug_jobs_strand *strand; /* being read */
    size_t number;                  /* of its block */
    bool used;                      /* the tree got trace: it must be renewed before it restarts */
    pthread_t thread;
    bool running;
};
void *pug_jobs_work(void *worker);
/**
 * One part in so many read twice: strands do not meet here. To wait for others, and to share memory
 * with them, takes a quarter as long again where that is in vain: 3 % of the whole, then.
 */
#define PUG_JOBS_VAIN 8u

/** Does the true strand go on alone? Nothing is met any more, then. Under the lock. */
static inline bool pug_jobs_given_up(const struct pug_jobs_state *jobs)
{
    return jobs->vain > (jobs->plan->end - jobs->plan->from) / PUG_JOBS_VAIN;
}

/**
 * A strand that begins with the next piece; NULL: there is none. Waits for room. Under the lock.
 */
struct pug_jobs_strand *pug_jobs_new_strand(struct pug_jobs_state *jobs);
/** No memory: everybody stops. Under the lock. */
void pug_jobs_fail(struct pug_jobs_state *jobs);

/* join.c */
/** A source of the worker's tree is about to get something for the first time. */
void pug_jobs_touch(void *worker, size_t source);
/**
 * Can the worker's strand continue as the other, after this block? Then it does. Under the lock.
 * The other has read the block.
 */
bool pug_jobs_meet(struct pug_jobs_worker *worker, struct pug_jobs_strand *other,
                   const struct pug_jobs_block *block);

#endif
