// SPDX-License-Identifier: MIT
/** @file A capture read by several threads, so that the result is that of one. */
#ifndef PUG_INDEX_CHAIN_H
#define PUG_INDEX_CHAIN_H

#include "index/collect.h"

struct chain_options {
    unsigned threads;
    bool end_of_trace; /* `job->end` is the end of the capture */
    bool (*progress)(void *context, uint64_t done);
    void *progress_context;
};

struct part;

/** The stretches that hold, in their order. */
struct chain {
    struct stretch **items;
    size_t count, room;
    uint64_t at;  /* how many bytes of the capture were read */
    bool ended;   /* the tree was told that the trace ends */
    bool failed;  /* no memory */
    bool crowded; /* more ids than sources are counted */
    struct part *parts;
    size_t part_count;
};

/** Read the job's blocks from `first` on, which `tree` stands at. */
void index_chain_read(struct chain *chain, const struct job *job, struct pug_tree *tree,
                      uint64_t first, const struct chain_options *options);
void index_chain_free(struct chain *chain);

#endif
