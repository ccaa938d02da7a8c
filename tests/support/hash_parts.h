// SPDX-License-Identifier: MIT
/** @file Parts that are the hashes of their elements, and what comes of them: an outcome. */
#ifndef TEST_HASH_PARTS_H
#define TEST_HASH_PARTS_H

#include "pugmark/advanced/consumer.h"
#include "support/outcome.h"

/** Hashes in a chunk. */
#define HASH_PORTION 24u

/** A consumer for an outcome, which learns the workers; `chunk`: how large one is said to be, 0:
 * there are none. */
struct pug_consumer hash_parts(struct outcome *outcome, size_t chunk);

/** Have them hash packets, too. */
void hash_parts_watch(struct pug_consumer *consumer);

/** Let other processes send them, one by one or folded. */
void hash_parts_pack(struct pug_consumer *consumer, bool folds);

#endif
