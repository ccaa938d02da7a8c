// SPDX-License-Identifier: MIT
/** @file Coming to a block of an indexed capture. */
#ifndef PUG_INDEX_REACH_H
#define PUG_INDEX_REACH_H

#include "index/format.h"
#include "pugmark/state.h"

/** A copy of `tree` that has read all before a block; false: it cannot be brought there. */
bool index_reach(const struct pug_index *index, const struct pug_tree *tree, const uint8_t *bytes,
                 bool elements, uint64_t block, struct pug_tree **reached);

#endif
