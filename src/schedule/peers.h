// SPDX-License-Identifier: MIT
/**
 * @file Messages among the processes that decode one capture together, and where they keep much.
 */
#ifndef PUG_SCHEDULE_PEERS_H
#define PUG_SCHEDULE_PEERS_H

#include "pugmark/advanced/jobs.h"

#include <stdio.h>

/** Each call that peers do together has channels of its own, so that nothing of another gets in. */
enum pug_peers_channel {
    PUG_PEERS_CONTROL, /* where strands of neighbours meet: small, from anybody */
    PUG_PEERS_DATA,    /* products and results */
    PUG_PEERS_CHANNELS
};

/** Are there others? */
static inline bool pug_peers_any(const struct pug_peers *peers)
{
    return peers && peers->count > 1;
}

/** Are they none, or has this one a number among them and a way to the others? */
static inline bool pug_peers_are_whole(const struct pug_peers *peers)
{
    return !pug_peers_any(peers) ||
           (peers->number < peers->count && peers->send && peers->receive && peers->fail);
}

/** Is it another one that takes what all of them make? */
static inline bool pug_peers_helps(const struct pug_peers *peers)
{
    return pug_peers_any(peers) && peers->number > 0;
}

/** Another call begins, on all of them. */
void pug_peers_begin(struct pug_peers *peers);

/** In the call at hand. */
void pug_peers_send(struct pug_peers *peers, unsigned to, enum pug_peers_channel channel,
                    const void *bytes, size_t size);
bool pug_peers_receive(struct pug_peers *peers, unsigned from, enum pug_peers_channel channel,
                       bool wait, struct pug_peers_message *message);

/** This process cannot go on: ends all of them. */
_Noreturn void pug_peers_fail(const struct pug_peers *peers, const char *why);

/** Sends the bytes of number 0 to all. */
void pug_peers_share(struct pug_peers *peers, void *bytes, size_t size);

/* ---- what is kept until it is clear whether somebody wants it ---- */

/** Bytes that are in memory while they are few, and else in a file without a name. */
struct pug_spool {
    uint8_t *bytes;
    FILE *file; /* NULL: all is in memory */
    size_t room;
    uint64_t size;
};

/** Keep it in a file with this name, which has so many bytes of it. False: it cannot be. */
bool pug_spool_open(struct pug_spool *spool, const char *path, uint64_t size);
/** The bytes are safe now, if it has a name; false: they are not. */
bool pug_spool_settle(struct pug_spool *spool);

/** False: neither memory nor room. */
bool pug_spool_put(struct pug_spool *spool, const void *bytes, size_t size);
bool pug_spool_get(struct pug_spool *spool, uint64_t at, void *bytes, size_t size);
void pug_spool_free(struct pug_spool *spool);

#endif
