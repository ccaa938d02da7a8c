// SPDX-License-Identifier: MIT
/** @file What one tree's trace says to an index, stretch by stretch of the capture. */
#ifndef PUG_INDEX_COLLECT_H
#define PUG_INDEX_COLLECT_H

#include "index/values.h"
#include "pugmark/state.h"

/** Records that grow. */
struct records {
    void *items;
    size_t count, room, size;
};

bool index_add_record(struct records *records, const void *record);

/** When a block was read, something came whose place is in a block before. */
struct behind {
    uint64_t block;   /* of the place */
    uint64_t reading; /* the block that was read; of the end of trace: behind the last one */
};

/** Blocks that were read in one go: what they gave, wherever it belongs. */
struct stretch {
    uint64_t first, end; /* blocks */
    struct pug_state start;
    bool has_start; /* the tree's state at `first` is known */
    bool owned;     /* by the chain of stretches */
    struct records summaries, marks, behind;
    struct value_table values;
};

void index_stretch_free(struct stretch *stretch);

/** What is to be made of what capture. */
struct job {
    const uint8_t *bytes;
    uint64_t end;    /* of what is to be indexed */
    uint64_t block;  /* bytes */
    uint64_t blocks; /* up to `end` */
    bool elements;   /* decode; else the marks */
    bool full;
    struct value_rules rules;
    struct index_block *out; /* each block's states go here */
};

struct collector;

/** The tree is used from `block` on, which it may start at. NULL: no memory. */
struct collector *index_collector_new(const struct job *job, struct pug_tree *tree, uint64_t block);
void index_collector_free(struct collector *collector);

/** What is read from here on goes into a new stretch. */
void index_collect_into(struct collector *collector, struct stretch *stretch);

/** Read blocks up to `end`; false: the transport stops for good, or there is no memory. */
bool index_collect(struct collector *collector, uint64_t end);

/** Tell the tree that the trace ends. */
void index_collect_end(struct collector *collector);

/** The tree's state where the collector is, for comparison; false: it cannot tell. */
bool index_collector_state(const struct collector *collector, struct pug_state *state);

/** How far it came, in bytes; was there no memory; were there more ids than sources are counted. */
uint64_t index_collector_at(const struct collector *collector);
bool index_collector_failed(const struct collector *collector);
bool index_collector_crowded(const struct collector *collector);

#endif
