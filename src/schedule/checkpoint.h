// SPDX-License-Identifier: MIT
/** @file What a process has done of a call, kept so that another run of it goes on with that. */
#ifndef PUG_SCHEDULE_CHECKPOINT_H
#define PUG_SCHEDULE_CHECKPOINT_H

#include "base/bytes.h"
#include "pugmark/advanced/state.h"
#include "schedule/peers.h"

/** Two files: a record, which is rewritten each time, and a spool that grows. */
struct pug_checkpoint {
    const struct pug_peers_keep *keep; /* NULL: nothing is kept */
    uint64_t identity;
    uint64_t due; /* milliseconds */
    char record[4096], spool[4096];
};

/** For the present call; `identity` separates it from others at its place. */
void pug_checkpoint_open(struct pug_checkpoint *kept, const struct pug_peers *peers,
                         uint64_t identity);

/** The record that was kept, whole; free() `bytes`. False: there is none. */
bool pug_checkpoint_load(const struct pug_checkpoint *kept, uint8_t **bytes,
                         struct pug_bytes *record);

/** Is it time to keep what there is? */
bool pug_checkpoint_due(const struct pug_checkpoint *kept);

/**
 * Keep a record in the place of the one before. Where it cannot be written that one stays, and more
 * will have to be done again.
 */
void pug_checkpoint_save(struct pug_checkpoint *kept, const struct pug_state *record);

/** A running hash, for identities. */
static inline uint64_t pug_checkpoint_mix(uint64_t hash, uint64_t word)
{
    hash = (hash ^ word) * UINT64_C(0x9E3779B97F4A7C15);
    return hash ^ hash >> 32;
}

#endif
