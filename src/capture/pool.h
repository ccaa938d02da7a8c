// SPDX-License-Identifier: MIT
/** @file The pool from inside: pool.c decodes, pool_peers.c has other processes, and later runs. */
#ifndef PUG_CAPTURE_POOL_H
#define PUG_CAPTURE_POOL_H

#include "capture/decode.h"
#include "log/records.h"
#include "schedule/checkpoint.h"
#include "schedule/products.h"

#include <pthread.h>

struct piece {
    struct piece *next;
    void *part;
    struct pug_log_records records;
    uint64_t bytes;
    /* Its segment ends with it, since something was fatal, there. */
    bool fatal;
    uint64_t at;
};

/** Pieces in their order. */
struct pieces {
    struct piece *first, **last;
};

/** A run of segments at work. */
struct job {
    struct pieces pieces; /* that wait to be taken … */
    unsigned count;       /* … of so many handings over */
    bool ended;
};

struct pool {
    struct pug_capture_decoding *decoding;
    uint32_t *segments; /* that are chosen */
    uint32_t segment_count;
    uint32_t *runs; /* by run: its first one among these; and the end of all */
    uint32_t count; /* of runs */
    unsigned workers;
    pthread_mutex_t lock; /* guards what follows */
    pthread_cond_t room;  /* workers wait to go on */
    pthread_cond_t ready; /* the caller waits for pieces */
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

/* pool.c */
void pug_pool_drop(const struct pool *pool, struct piece *piece);
/** Take a piece on the caller's thread; false: the consumer wants no more. */
bool pug_pool_take(struct pool *pool, struct piece *piece);
/** The segments to runs; false: no memory. */
bool pug_pool_cut_runs(struct pool *pool);
/** What it counted is in the attribution's counts then. */
void pug_pool_stop_counting(struct pug_tree *tree);

/* pool_peers.c */
/** The pool as others know it. */
struct pug_jobs_client pug_pool_client(struct pool *pool);
/** Who else decodes some of it; NULL: nobody. */
struct pug_peers *pug_pool_peers(const struct pug_capture_decoding *decoding);
/** This process's segments, and what was kept of them. False: no memory, or no room. */
bool pug_pool_begin_among(struct pool *pool, struct pug_peers *peers,
                          const struct pug_jobs_client *client);
/** The first process takes what the others made. False: no memory. */
bool pug_pool_finish_among(struct pool *pool, struct pug_peers *peers,
                           const struct pug_jobs_client *client);
/** Keep what there is while nobody is at work. False: no memory, or no room. */
bool pug_pool_keep(struct pool *pool);
/** The attributions' counts that were kept; false: no memory. */
bool pug_pool_take_kept(struct pool *pool);

#endif
