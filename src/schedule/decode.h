// SPDX-License-Identifier: MIT
/** @file Parallel decoding's own: blocks that become elements, in parts of a consumer. */
#ifndef PUG_SCHEDULE_DECODE_H
#define PUG_SCHEDULE_DECODE_H

#include "log/records.h"
#include "pugmark/advanced/jobs.h"
#include "schedule/consumers.h"
#include "schedule/stream.h"
#include "schedule/threads.h"

#include <pthread.h>

/** A block's product, or a chunk of one: messages alone, or with a part of one consumer. */
struct pug_jobs_decoded {
    struct pug_log_records records;
    void *parts[]; /* by consumer */
};

/** What is decoded, and how it went. */
struct pug_jobs_decoding {
    struct pug_tree *tree;
    const struct pug_jobs *config;
    struct pug_consumers consumers;
    bool delivers; /* elements go where the tree's go: one thread alone needs no parts */
    const uint8_t *bytes;
    uint64_t size; /* the trace ends there */
    /* Of a stream, whose block at hand begins at the offset `base`: */
    const struct pug_stream *stream;
    uint64_t base;
    struct pug_jobs_result *result;
};

/* block.c */
/** The client that makes elements of blocks. */
struct pug_jobs_client pug_jobs_decoder(struct pug_jobs_decoding *decoding);

/* stored.c */
struct pug_jobs_pool {
    struct pug_tree *tree;
    pthread_mutex_t lock;
    struct element_store *first; /* that are free */
    enum pug_response response;  /* the consumer's, where it is fatal */
};

/** A consumer that keeps elements; taking a part delivers them where the tree's go. */
struct pug_consumer pug_jobs_stored(struct pug_jobs_pool *pool);
void pug_jobs_pool_free(struct pug_jobs_pool *pool);

#endif
