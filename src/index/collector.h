// SPDX-License-Identifier: MIT
/** @file One tree's runs, marks and elements, added up by blocks. */
#ifndef PUG_INDEX_COLLECTOR_H
#define PUG_INDEX_COLLECTOR_H

#include "index/collect.h"
#include "pugmark/author/protocol.h"
#include "pugmark/author/transport.h"

/* Marks of a source that wait to be counted. */
#define PUG_INDEX_LIST 512u
/* Values of a source and kind that were seen lately; a power of two. */
#define PUG_INDEX_SEEN 2048u

/** One source and kind in the block that was last marked. */
struct tally {
    uint64_t start; /* of the block */
    uint32_t count, first_at, last_at, hash;
    uint64_t first, last, least, greatest, sum;
};

/** Values that the yield has for `block`. Zero is never among them. */
struct seen {
    uint64_t block;
    uint64_t values[PUG_INDEX_SEEN];
};

struct source {
    struct collector *collector;
    bool in_tree, full, nobody;
    uint16_t id;
    const struct pug_source *watched; /* of a tree that somebody else feeds */
    struct tally tallies[PUG_MARK_KINDS];
    struct pug_mark_list list;
    struct pug_placed_mark marks[PUG_INDEX_LIST];
    struct seen *seen[PUG_MARK_KINDS]; /* of kinds whose values are listed; or NULL */
};

struct collector {
    struct job *job;
    struct pug_tree *tree; /* that a worker reads with */
    const struct pug_transport *transport;
    struct yield *yield; /* of now */
    uint64_t block, at;  /* that is being read; where it begins */
    struct source *sources[PUG_INDEX_SOURCE_LIMIT];
    size_t source_count;
    struct source *last_run;
    struct pug_counts *counts; /* of a tree that decodes: ranges are passed over by counting */
    /* of each pug_index_seat(): 1 + its place in `sources`; or 0 */
    uint16_t numbers[PUG_INDEX_LAST_SEAT + 1];
    bool failed;
};

/** Have a tree tell all that it reads; and no more. Short of memory: `failed`. */
void pug_index_attach(struct collector *collector, struct pug_tree *tree);
void pug_index_detach(struct pug_tree *tree);

/** A block begins: what comes of earlier ones is late. */
void pug_index_begin_block(struct collector *collector, struct pug_tree *tree, uint64_t number,
                           uint64_t at);
/** The seen sources of one yield are not in the next. */
void pug_index_forget_seen(struct collector *collector);
/** Assigns the reports so far to the block that was read. */
void pug_index_close_block(struct collector *collector);
void pug_index_close_tallies(struct collector *collector);
/** Frees what it has; it is as new. */
void pug_index_collector_clear(struct collector *collector);

/* ---- for code that watches a tree ---- */

/** The source with a seat; one too many is none in particular. NULL: no memory. */
struct source *pug_index_source_of(struct collector *collector, uint32_t seat);
void pug_index_add_mark(struct source *source, enum pug_mark_kind kind, uint64_t at,
                        uint64_t value);
/** Callbacks of a tree; the context is a collector. */
void pug_index_on_run(void *context, const struct pug_run *run);
void pug_index_on_frame(void *context, enum pug_op op, uint64_t index, enum pug_frame_kind kind,
                        uint16_t id, const uint8_t *bytes, size_t size);

#endif
