// SPDX-License-Identifier: MIT
/** @file Bytes through a tree. */
#ifndef PUG_FUZZ_FEED_H
#define PUG_FUZZ_FEED_H

#include "pugmark/advanced/tree.h"

/** Feed all of it in blocks, flushing whoever waits, up to the end of the trace or what is fatal.
 */
void fuzz_feed(struct pug_tree *tree, const uint8_t *bytes, size_t size, size_t block);

#endif
