// SPDX-License-Identifier: MIT
/** @file Parallel decoding's own: blocks that become elements, in parts of a consumer. */
#ifndef PUG_JOBS_DECODE_H
#define PUG_JOBS_DECODE_H

#include "jobs/together.h"
#include "log/records.h"
#include "pugmark/advanced/jobs.h"

#include <pthread.h>

/** A block's product. */
struct pug_jobs_decoded {
    void *part; /* the consumer's; NULL: messages alone, on their way before it */
    struct pug_log_records records;
};

/** What is decoded, and how it went. */
struct pug_jobs_decoding {
    struct pug_tree *tree;
    const struct pug_jobs *config;
    const struct pug_parts *parts;
    const uint8_t *bytes;
    size_t size;
    struct pug_jobs_result *result;
};

/* block.c */
/** The client that makes elements of blocks. */
struct pug_jobs_client pug_jobs_decoder(struct pug_jobs_decoding *decoding);

/* stored.c */
struct pug_jobs_pool {
    struct pug_tree *tree;
    pthread_mutex_t lock;
    struct jobs_chunk *first;   /* that are free */
    enum pug_response response; /* the consumer's, where it is fatal */
};

/** Parts that keep elements; taking one delivers them where the tree's go. */
struct pug_parts pug_jobs_stored(struct pug_jobs_pool *pool);
void pug_jobs_pool_free(struct pug_jobs_pool *pool);

#endif
