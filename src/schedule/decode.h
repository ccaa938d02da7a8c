// SPDX-License-Identifier: MIT
/** @file Parallel decoding's own: blocks that become elements, in parts of a consumer. */
#ifndef PUG_SCHEDULE_DECODE_H
#define PUG_SCHEDULE_DECODE_H

#include "log/records.h"
#include "pugmark/advanced/jobs.h"
#include "schedule/segments.h"
#include "schedule/stream.h"
#include "schedule/threads.h"

#include <pthread.h>

/** A segment in memory, and what says where its elements belong. */
struct pug_segment_bytes {
    const struct pug_segments *segments;
    uint32_t segment;
    const uint8_t *bytes;
    size_t size;
};

/** Bytes that are read as a plan says, with trees that are not the caller's. */
struct pug_pass {
    const struct pug_jobs_plan *plan;
    struct pug_consumers consumers;
    struct pug_tree *standing; /**< where reading begins, and used up; NULL: with the trace */
    const uint8_t *bytes;
    uint64_t size;     /**< the trace ends there; UINT64_MAX: not with these bytes */
    uint64_t step;     /**< bytes that a tree is fed at once */
    bool may_use_tree; /**< one thread may read with the plan's tree if that cannot be copied */
};

/** False: out of memory. Messages are not kept. */
bool pug_pass_run(const struct pug_pass *pass);

/** The input of a pass, and its result. */
struct pug_jobs_decoding {
    struct pug_tree *tree;
    const struct pug_pass *pass; /* NULL: one thread alone reads with the caller's tree */
    const struct pug_jobs *config;
    struct pug_consumers consumers;
    const struct pug_segment_bytes *segment; /* NULL: a tree alone, whose elements have no origin */
    struct pug_counts **counted;             /* NULL: consumers get counts block by block */
    bool counts;
    struct pug_jobs_pool *stored; /* of the last consumer, which delivers; NULL: none does */
    const uint8_t *bytes;
    uint64_t size; /* the trace ends there */
    /* Of a stream, whose block at hand begins at the offset `base`: */
    const struct pug_stream *stream;
    uint64_t base;
    struct pug_jobs_result *result;
};

/**
 * Decodes a segment as pug_tree_decode() decodes a tree alone. If `counts`, what is counted is in
 * *counted; NULL: nothing.
 */
enum pug_status pug_tree_decode_segment(struct pug_tree *tree, const struct pug_jobs *config,
                                        const struct pug_segment_bytes *segment, bool counts,
                                        struct pug_counts **counted,
                                        struct pug_jobs_result *result);

/* block.c */
/** The client that makes elements of blocks. */
struct pug_jobs_client pug_jobs_decoder(struct pug_jobs_decoding *decoding);

/* stored.c */
struct pug_jobs_pool {
    struct pug_tree *tree;
    pthread_mutex_t lock;
    struct element_store *first; /* that are free */
    enum pug_response response;  /* the function's, where it is fatal */
    bool direct;                 /* one thread delivers elements while it decodes: none are kept */
};

/**
 * A consumer that keeps elements. When a part is taken, it delivers them to the tree's function.
 */
struct pug_consumer pug_jobs_stored(struct pug_jobs_pool *pool);
void pug_jobs_pool_free(struct pug_jobs_pool *pool);

#endif
