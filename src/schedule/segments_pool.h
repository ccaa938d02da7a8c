// SPDX-License-Identifier: MIT
/**
 * @file What the files that read segments share: segments.c, segments_pool.c, segments_ranks.c and
 * by_time.c (see segments.h).
 */
#ifndef PUG_SCHEDULE_SEGMENTS_POOL_H
#define PUG_SCHEDULE_SEGMENTS_POOL_H

#include "schedule/checkpoint.h"
#include "schedule/products.h"
#include "schedule/segments.h"

#include <pthread.h>

/** One call of pug_schedule_run(). */
struct pug_schedule {
    const struct pug_segments *segments;
    const struct pug_consumers *consumers;
    const struct pug_schedule_options *options;
    struct pug_schedule_result *result;
    bool counts;                   /* ranges are counted */
    struct pug_counts *counted;    /* of segments that are read by all threads; or NULL */
    struct pug_counts **by_worker; /* of those that one thread reads */
    uint64_t done;                 /* bytes of all segments before */
};

/** May reading go on, `done` bytes after those that are noted? Asks the caller. */
bool pug_schedule_goes_on(const struct pug_schedule *schedule, uint64_t done);
/** Reading a segment stops at an index. */
void pug_schedule_note_fatal(const struct pug_schedule *schedule, uint64_t at);
/** Bytes [0, size) of a block through a tree; false: it is fatal, *used says where. */
bool pug_schedule_feed(struct pug_tree *tree, uint64_t index, const uint8_t *bytes, size_t size,
                       size_t *used);
/** Adds counts, from which nothing continues in those of the next. They may be NULL. */
void pug_schedule_add_counts(struct pug_counts *all, struct pug_counts *counts);

/** The segments, each on one thread. */
enum pug_status pug_schedule_pool(struct pug_schedule *schedule);
/** The sides, on this thread. */
enum pug_status pug_schedule_by_time(struct pug_schedule *schedule);

/* ---- the pool ---- */

/** Parts in their order. */
struct parts_queue {
    struct pug_parts *first, **last;
};

/** A run of segments at work. */
struct job {
    struct parts_queue queue; /* parts that wait to be taken … */
    unsigned count;           /* … put there at so many times */
    bool ended;
};

/** Trees that a worker keeps, so that what they know of the program's code stays. */
#define WORKER_TREES 8u

struct worker_tree {
    struct pug_tree *tree;
    uint32_t kind;
};

struct worker {
    struct pool *pool;
    void *attribution;
    unsigned number;
    struct worker_tree trees[WORKER_TREES];
    struct pug_tree *tree; /* one of these, at work */
    struct pug_log *log;
    struct pug_counts *counts; /* of all that its trees count; the run's; or NULL */
    struct pug_pieces *pieces;
    uint8_t *bytes;
    struct pug_parts *parts;  /* being filled */
    struct parts_queue queue; /* to be handed over … */
    uint64_t amount;          /* … with so many elements and instructions, if it is not ENOUGH */
    uint32_t n;               /* of its run */
    bool unwanted;            /* the run is no longer needed … */
    bool starved;             /* … since there was no memory */
    uint64_t read;            /* bytes */
    pthread_t thread;
    bool running;
    /* Was any tree made, or why not? */
    bool any;
    enum pug_status worst;
};

struct pool {
    struct pug_schedule *schedule;
    const uint32_t *segments; /* this process's */
    uint32_t segment_count;
    uint32_t *runs; /* by run: its first one among these; and the end of all */
    uint32_t count; /* of runs */
    unsigned workers;
    struct worker *list;  /* of these */
    pthread_mutex_t lock; /* guards what follows */
    pthread_cond_t room;  /* workers wait to go on */
    pthread_cond_t ready; /* the caller waits for parts */
    uint32_t claimed, taken;
    struct job *jobs; /* of runs, in turn */
    uint32_t window;
    bool stop, failed;
    uint32_t begun;                /* what was claimed when this round began */
    bool paused;                   /* no run is claimed: what is done is to be kept */
    struct pug_products *products; /* that are not taken yet: for another process; or NULL */
    struct pug_checkpoint kept;
    uint8_t *kept_bytes;          /* of an earlier run, … */
    struct pug_bytes kept_record; /* … what is still to be taken of it */
};

/* segments_pool.c */
/** Takes parts on the caller's thread; false: a consumer wants no more. */
bool pug_pool_take(struct pool *pool, struct pug_parts *parts);
/** The segments to runs; false: no memory. */
bool pug_pool_cut_runs(struct pool *pool);
/** The trees of a worker count into its counts, or stop that. */
void pug_pool_count(const struct worker *worker, bool on);

/* segments_ranks.c */
/** The pool as others know it. */
struct pug_jobs_client pug_pool_client(struct pool *pool);
/** The processes that read some of the segments; NULL: this one reads all. */
struct pug_peers *pug_pool_peers(const struct pug_schedule *schedule);
/** This process's segments, and what was kept of them. False: no memory, or no room. */
bool pug_pool_begin_among(struct pool *pool, struct pug_peers *peers,
                          const struct pug_jobs_client *client);
/** The first process takes what the others made. False: no memory. */
bool pug_pool_finish_among(struct pool *pool, struct pug_peers *peers,
                           const struct pug_jobs_client *client);
/** Keep the results so far while no worker is active. False: no memory, or no room. */
bool pug_pool_keep(struct pool *pool);
/** The workers' counts that were kept; false: no memory. */
bool pug_pool_take_kept(struct pool *pool);

#endif
