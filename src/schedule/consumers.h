// SPDX-License-Identifier: MIT
/** @file The consumers of one pass: their parts are made, taken, packed and dropped together. */
#ifndef PUG_SCHEDULE_CONSUMERS_H
#define PUG_SCHEDULE_CONSUMERS_H

#include "base/bytes.h"
#include "pugmark/advanced/consumer.h"

/** A list of consumers. Their parts are a list in the same order; NULL: no part. */
struct pug_consumers {
    const struct pug_consumer *items;
    size_t count;
};

/** Does each have all functions that are called without asking, and both ways for its parts? */
bool pug_consumers_are_whole(const struct pug_consumers *list);
/** Can all parts be sent to other processes? */
bool pug_consumers_can_pack(const struct pug_consumers *list);
/** Can all parts be folded? */
bool pug_consumers_can_fold(const struct pug_consumers *list);

/** Shows a worker's tree to all; false: out of memory. */
bool pug_consumers_attach(const struct pug_consumers *list, unsigned worker, struct pug_tree *tree);
/** Does one of them want what a bit of enum pug_consumer_wants says? */
bool pug_consumers_want(const struct pug_consumers *list, uint32_t wants);

/** Gives elements to all parts. */
void pug_consumers_elements(const struct pug_consumers *list, void *const *parts,
                            const struct pug_origin *origin, const struct pug_element *elements,
                            size_t count);

/** Takes all parts, which are NULL then. False: one of the consumers wants to stop. */
bool pug_consumers_take(const struct pug_consumers *list, void **parts);
/** Drops all parts, which are NULL then. */
void pug_consumers_drop(const struct pug_consumers *list, void **parts);

/** Where ranges are counted; NULL: no consumer counts. */
struct pug_counts *pug_consumers_counts(const struct pug_consumers *list, void *const *parts);
/** Adds what was counted there to the counts of all other consumers that count. */
void pug_consumers_spread_counts(const struct pug_consumers *list, void *const *parts);
/** While ranges are counted: are they elements, too, from `at` on? This holds up to *end. */
bool pug_consumers_show(const struct pug_consumers *list, uint64_t at, uint64_t *end);

void pug_consumers_pack(const struct pug_consumers *list, void *const *parts,
                        struct pug_state *bytes);
/** False: out of memory; no parts then. */
bool pug_consumers_unpack(const struct pug_consumers *list, struct pug_bytes *bytes, void **parts);
/** Folds later parts into these. The later ones are NULL then. False: out of memory. */
bool pug_consumers_fold(const struct pug_consumers *list, void **parts, void **later);

#endif
