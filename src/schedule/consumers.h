// SPDX-License-Identifier: MIT
/** @file The consumers of one pass: their parts are made, taken, packed and dropped together. */
#ifndef PUG_SCHEDULE_CONSUMERS_H
#define PUG_SCHEDULE_CONSUMERS_H

#include "base/bytes.h"
#include "log/records.h"
#include "pugmark/advanced/consumer.h"
#include "pugmark/capture.h"

/** A list of consumers, which share one pass. */
struct pug_consumers {
    const struct pug_consumer *items;
    size_t count;
};

/** What a pass makes of a piece of trace: messages, counts, and a part of each consumer. */
struct pug_parts {
    struct pug_parts *next; /* in a queue */
    struct pug_log_records records;
    struct pug_counts *counts; /* of the piece's ranges; NULL: they are not counted here */
    uint64_t bytes;            /* of trace that were read for it, … */
    bool fatal;                /* … where decoding stopped, … */
    uint64_t at;               /* … at this trace index */
    void *parts[];             /* by consumer; NULL: no part */
};

/** Does each have all functions that are called without asking, and both ways for its parts? */
bool pug_consumers_are_whole(const struct pug_consumers *list);
/** Can all parts be sent to other processes? */
bool pug_consumers_can_pack(const struct pug_consumers *list);
/** Can all parts be folded? */
bool pug_consumers_can_fold(const struct pug_consumers *list);
/** Does one of them count ranges? */
bool pug_consumers_count(const struct pug_consumers *list);
/** Does one of them take what the selection leaves out? */
bool pug_consumers_take_left_out(const struct pug_consumers *list);
/** Does one of them want what a bit of enum pug_consumer_wants says? */
bool pug_consumers_want(const struct pug_consumers *list, uint32_t wants);
/** Do all of them? */
bool pug_consumers_all_want(const struct pug_consumers *list, uint32_t wants);

/** Shows a worker's tree to all; false: out of memory. */
bool pug_consumers_attach(const struct pug_consumers *list, unsigned worker, struct pug_tree *tree);

/** Empty counts of the kind that they want; NULL: out of memory. */
struct pug_counts *pug_consumers_new_counts(const struct pug_consumers *list);
/** Gives counts to all that count. */
void pug_consumers_counted(const struct pug_consumers *list, struct pug_counts *counts);
/** While ranges are counted: are they elements, too, from `at` on? This holds up to *end. */
bool pug_consumers_show(const struct pug_consumers *list, uint64_t at, uint64_t *end);

/** Without messages, counts and parts; NULL: out of memory. */
struct pug_parts *pug_parts_new(const struct pug_consumers *list);
/** Gives elements to all parts; those that were left out only to consumers that take these. */
void pug_parts_elements(const struct pug_consumers *list, void *const *parts,
                        const struct pug_origin *origin, const struct pug_element *elements,
                        size_t count, bool left_out);
/** Ends all parts; false: out of memory. */
bool pug_parts_end(const struct pug_consumers *list, void *const *parts,
                   const struct pug_piece_end *end);
/** Takes all parts, which are NULL then. False: one of the consumers wants to stop. */
bool pug_parts_take(const struct pug_consumers *list, struct pug_parts *parts);
/** Drops all that is there; `parts` may be NULL. */
void pug_parts_free(const struct pug_consumers *list, struct pug_parts *parts);

void pug_parts_pack(const struct pug_consumers *list, const struct pug_parts *parts,
                    struct pug_state *bytes);
/** NULL: out of memory. */
struct pug_parts *pug_parts_unpack(const struct pug_consumers *list, struct pug_bytes *bytes);
/** Folds later parts into these, and frees them. False: out of memory. */
bool pug_parts_fold(const struct pug_consumers *list, struct pug_parts *parts,
                    struct pug_parts *later);

/* ---- pieces: what consumers emit chunks with ---- */

struct pug_pieces;

/** The piece of one consumer. */
struct pug_piece_of {
    struct pug_piece base; /* first: it is the way from the one to the other */
    struct pug_pieces *all;
    size_t consumer; /* its number */
};

/** The pieces of one worker's consumers. */
struct pug_pieces {
    const struct pug_consumers *list;
    struct pug_parts *parts; /* being made: its messages so far go with the next chunk */
    bool counted;            /* ranges are counted */
    /** Hands a chunk of about `size` bytes on; NULL: out of memory. False: it is not wanted. */
    bool (*give)(void *context, struct pug_parts *chunk, size_t size);
    void *context;
    struct pug_piece_of items[]; /* by consumer */
};

/** NULL: out of memory; free() it. */
struct pug_pieces *pug_pieces_new(const struct pug_consumers *list,
                                  bool (*give)(void *context, struct pug_parts *chunk, size_t size),
                                  void *context);
/** Begins the parts of all consumers for a piece of a segment; NULL: out of memory. */
struct pug_parts *pug_pieces_begin(struct pug_pieces *pieces, unsigned worker, uint32_t segment,
                                   uint64_t offset);

#endif
