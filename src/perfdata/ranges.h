// SPDX-License-Identifier: MIT
/**
 * @file The executable ranges of a process, as a tree of which older versions stay: what a change
 * does not touch is shared by the versions before and after it. A change costs the logarithm of the
 * number of ranges, in time and, where the version before is kept, in memory.
 *
 * Nodes belong to one pool, which frees them all. Trees are changed under a lock; versions that are
 * kept never change, and may be looked into by any thread.
 */
#ifndef PUG_PERFDATA_RANGES_H
#define PUG_PERFDATA_RANGES_H

#include "base/grow.h"

#include <stdint.h>

struct pug_perf_range {
    uint64_t start, last; /**< inclusive */
    uint64_t offset;      /**< of `start`, in whatever the object counts in */
    uint32_t object;
    uint32_t text;        /**< the number of these: */
    const uint8_t *bytes; /**< text of its own, or NULL: the object's */
};

/** NULL: no ranges. */
struct pug_perf_node;

struct pug_perf_nodes {
    struct pug_perf_node *free;
    size_t free_count;
    struct pug_list slabs;
};

void pug_perf_nodes_free(struct pug_perf_nodes *nodes);

/** One more that holds a tree; the tree itself. */
struct pug_perf_node *pug_perf_ranges_hold(struct pug_perf_node *tree);
void pug_perf_ranges_drop(struct pug_perf_nodes *nodes, struct pug_perf_node *tree);
size_t pug_perf_ranges_count(const struct pug_perf_node *tree);

/**
 * Cut [first, last] out of the ranges of *tree, and put a range there if there is one. False: no
 * memory, and *tree is as it was.
 */
bool pug_perf_ranges_replace(struct pug_perf_nodes *nodes, struct pug_perf_node **tree,
                             uint64_t first, uint64_t last, const struct pug_perf_range *range);

/** The range that holds an address; else NULL, and the hole in *first and *last. */
const struct pug_perf_range *pug_perf_ranges_find(const struct pug_perf_node *tree,
                                                  uint64_t address, uint64_t *first,
                                                  uint64_t *last);
/** Does any range touch [first, last]? */
bool pug_perf_ranges_touch(const struct pug_perf_node *tree, uint64_t first, uint64_t last);

#endif
