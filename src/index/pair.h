// SPDX-License-Identifier: MIT
/**
 * @file Two trees that read on together after a part: one knows everything before, the other
 * nothing. What is the same in both states follows from what both have read.
 */
#ifndef PUG_INDEX_PAIR_H
#define PUG_INDEX_PAIR_H

#include "pugmark/advanced/index.h"
#include "pugmark/advanced/tree.h"

/* A trace whose states do not meet in so many bytes is not read on for this. */
#define PUG_INDEX_SETTLES_IN (UINT64_C(1) << 23)

/** Zeroed there are none. */
struct pug_index_pair {
    struct pug_tree *whole, *fresh;
};

/**
 * Both at `start`, copies of `model`; the one that knows comes from near `near`, which is not after
 * it, and gives `on_run` its runs until then, if that is not NULL. False: that is too far, or there
 * is no memory; the pair is to be freed all the same.
 */
bool pug_index_pair_begin(struct pug_index_pair *pair, const struct pug_index *index,
                          const struct pug_tree *model, const uint8_t *bytes, uint64_t size,
                          uint64_t near, uint64_t start, pug_run_fn *on_run, void *context);
void pug_index_pair_free(struct pug_index_pair *pair);

/** As pug_index_feed(), both. */
bool pug_index_pair_feed(const struct pug_index_pair *pair, const uint8_t *bytes, uint64_t at,
                         uint64_t end);

/** When states are compared next, of which so many bytes were read: an eighth of that later. */
uint64_t pug_index_pair_step(uint64_t read);

/** Is it the same, of the transport (0) and of each source (1 + its place)? False: that will do. */
typedef bool pug_index_same_fn(void *context, size_t n, bool same);

/** Tell for one after the other. True: all were reported. */
bool pug_index_pair_compare(const struct pug_index_pair *pair, pug_index_same_fn *tell,
                            void *context);

#endif
