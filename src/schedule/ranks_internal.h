// SPDX-License-Identifier: MIT
/**
 * @file What ranks.c, which exchanges messages with the neighbours, and ranks_checkpoint.c, which
 * keeps what was done for a later run, share.
 */
#ifndef PUG_SCHEDULE_RANKS_INTERNAL_H
#define PUG_SCHEDULE_RANKS_INTERNAL_H

#include "schedule/checkpoint.h"
#include "schedule/products.h"
#include "schedule/ranks.h"

/** A state after a block. */
struct hash {
    uint64_t words[2];
};

/** A place where the process on the left may continue in this range. */
struct place {
    uint64_t block; /* the first one after it */
    struct hash hash;
};

/** A process that asked for places, and how many it has. */
struct asker {
    bool waits;
    uint64_t has;
};

struct pug_rank_range {
    struct pug_jobs_state *jobs;
    struct pug_peers *peers;
    size_t begin, end;   /* blocks */
    struct hash *states; /* the last known: of the transport, and of each source */
    bool *known;         /* of the block at hand: those that it sends */
    /* For who comes from the left: */
    struct place *places;
    size_t count, room;
    uint64_t next_place, spacing;
    bool final;
    struct asker *askers;
    bool reached, empty; /* from the left: products count from `from` on; or none do */
    uint64_t from;
    /* The neighbour on the right: */
    unsigned right; /* peers->count: there is none */
    struct place *its;
    size_t its_count, its_room;
    uint64_t its_told;
    bool its_final, asked;
    bool met; /* it takes over with this block: */
    uint64_t met_at;
    struct pug_products *products;
    bool over;    /* what is to be read was */
    bool dropped; /* nothing counts: an earlier run dropped it */
    /* Where it is kept: */
    struct pug_checkpoint kept;
    bool keeps;
    bool begun, missed;  /* reading was; and in vain, as it began too late */
    size_t first, lead;  /* pieces: the first one; to read before that where it goes on */
    uint64_t goes_on;    /* what is before this block was made: … */
    struct hash *wanted; /* … by the process that had these states there; NULL: that was reached */
};

/** Room for more items; NULL: no memory, and they are freed. */
void *pug_rank_range_room(void *items, size_t count, size_t *room, size_t more, size_t size);

/* ranks_checkpoint.c */
/** Find what was kept, or begin to keep. False: it cannot be written. */
bool pug_rank_range_resume(struct pug_rank_range *range);
/** The piece to begin with. */
size_t pug_rank_range_start(struct pug_rank_range *range);
/** A block before that where it goes on: is it that one, and the state the same? False: stop. */
bool pug_rank_range_pass(struct pug_rank_range *range, bool whole);
/** Keep what there is, if it is time. False: no memory, or no room. */
bool pug_rank_range_keep(struct pug_rank_range *range, bool now);

#endif
