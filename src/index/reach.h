// SPDX-License-Identifier: MIT
/** @file States in an index, and coming to a block by them. */
#ifndef PUG_INDEX_REACH_H
#define PUG_INDEX_REACH_H

#include "index/format.h"
#include "pugmark/state.h"

/** Hashes of a tree's state: of that of the transport, and of each source; never 0. */
void pug_index_state_hashes(const struct pug_state *state, size_t sources, uint64_t *hashes);
/** What a block has of them; never 0. */
uint64_t pug_index_state_sum(const uint64_t *hashes, size_t sources);

/** A copy of `tree` that has read all before a block; false: it cannot be brought there. */
bool pug_index_reach_block(const struct pug_index *index, const struct pug_tree *tree,
                           const uint8_t *bytes, bool elements, uint64_t block,
                           struct pug_tree **reached);

#endif
