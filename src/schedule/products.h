// SPDX-License-Identifier: MIT
/** @file Products of one of several processes, kept until it is clear which of them count. */
#ifndef PUG_SCHEDULE_PRODUCTS_H
#define PUG_SCHEDULE_PRODUCTS_H

#include "base/bytes.h"
#include "schedule/peers.h"
#include "schedule/threads.h"

struct pug_products;

/** NULL: no memory. The client is borrowed. */
struct pug_products *pug_products_new(const struct pug_jobs_client *client);
void pug_products_free(struct pug_products *products);

/* These answer false where there is no memory, or no room. */

/** Records from here on may count when earlier ones do not. */
bool pug_products_cut(struct pug_products *products);
/** Puts a block's parts; it is freed. */
bool pug_products_block(struct pug_products *products, struct pug_jobs_block *block);
bool pug_products_chunk(struct pug_products *products, struct pug_parts *parts);

/** They are kept in a file from now on; false: it cannot be written. */
bool pug_products_open(struct pug_products *products, const char *path);
/** What another process needs to go on with what is in that file, which is safe now. */
bool pug_products_note(struct pug_products *products, struct pug_state *to);
/** Go on with that; false: they are not there, and there is nothing. */
bool pug_products_resume(struct pug_products *products, const char *path, struct pug_bytes *from);

/** What was before the n-th cut does not count; without any: nothing does. */
void pug_products_keep(struct pug_products *products, size_t cut);
void pug_products_drop(struct pug_products *products);

/**
 * All peers do this, and number 0 takes what all of them have, itself as well, in the order of
 * their numbers;
 * `stopped`: it does not want to. Products that can be folded are, pairwise.
 */
bool pug_products_give(struct pug_products *products, struct pug_peers *peers, bool stopped);

#endif
