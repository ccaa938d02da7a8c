// SPDX-License-Identifier: MIT
/** @file Parts that are the hashes of their elements, and what comes of them: an outcome. */
#ifndef TEST_HASH_PARTS_H
#define TEST_HASH_PARTS_H

#include "support/outcome.h"

/** Hashes in a portion. */
#define HASH_PORTION 24u

/** Parts for an outcome, which learns who made them; `portion`: how large one is said to be, 0:
 * there are none. */
struct pug_parts hash_parts(struct outcome *outcome, size_t portion);

/** Have them hash packets, too. */
void hash_parts_watch(struct pug_parts *parts);

/** How they travel, one by one or folded. */
extern const struct pug_travel hash_parts_travel, hash_parts_folded;

#endif
