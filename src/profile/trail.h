// SPDX-License-Identifier: MIT
/**
 * @file The trail of execution: ranges on frames, one after the other.
 *
 * Programs do the same again and again. So the range that followed another on its frame is kept,
 * and only its repetitions are counted: uses, ranges and branches follow from that. Where something
 * came between two ranges, counts.h says where control went.
 */
#ifndef PUG_PROFILE_TRAIL_H
#define PUG_PROFILE_TRAIL_H

#include "base/grow.h"
#include "counts/counts.h"
#include "profile/profile.h"
#include "profile/steps.h"

/** A range that ran on a frame: the profile's use, and the cache's node. Use NO_NODE: none. */
struct profile_ran {
    uint32_t use, node;
};

/** A use that was next, and how often since it was added to the profile last. */
struct profile_next {
    uint32_t use, times;
};

/** The recent followers of a use: uses that have a node. Half a line of a cache. */
struct profile_behind {
    uint32_t node, frame;        /* of the use; NO_NODE: not needed so far */
    struct profile_next kept[2]; /* control stayed in the frame, and will do so again; of a call or
                                    a return: where it came to */
    struct profile_next other;   /* on any frame */
};

/** How often a range ran, but for what the nexts say; with how many cycles. */
struct profile_sum {
    uint64_t count, cycles;
    uint32_t range; /* the profile's number; NO_NODE: not asked for yet */
};

struct profile_trail {
    struct profile_counted *counted; /* where ranges and branches go */
    struct profile_node_cache cache; /* the caller's own */
    struct profile_sum *sums;        /* by the cache's nodes */
    struct profile_behind *behind;   /* by the profile's uses; a use is of one node but where code
                                        changes: the others' ranges are counted alone */
    uint32_t sum_room, behind_room;
    struct pug_list sides;     /* struct pug_counts *, by number; NULL: it has none yet */
    struct pug_counts *counts; /* of the one whose turn it is: boundaries, and jumps that are not
                                  between two ranges */
    struct profile_ran last;
    uint16_t source; /* of the last range */
    bool follows;    /* the next range of this source follows directly */
    const struct profile_step
        *unseen; /* the last range, if the source's boundary does not know it */
    const struct profile_steps *group; /* of what comes */
    enum pug_status status;
};

/** It is side 0's turn. False: no memory. Freed with pug_profile_trail_free(), in either case. */
bool pug_profile_trail_begin(struct profile_trail *trail, struct profile_counted *counted);
void pug_profile_trail_free(struct profile_trail *trail);

/** The first status that is no good stays. */
static inline void profile_trail_fail(struct profile_trail *trail, enum pug_status status)
{
    if (trail->status == PUG_OK)
        trail->status = status;
}

/** Steps of a group come next. */
void pug_profile_trail_begin_group(struct profile_trail *trail, const struct profile_steps *group);
/** They are over, and need not be there any more. */
void pug_profile_trail_end_group(struct profile_trail *trail);
/** Steps of a group that was left out come next: who runs afterwards does not follow. */
void pug_profile_trail_leave_out(struct profile_trail *trail, const struct profile_steps *group);
/** As pug_profile_stacks_turn(). */
void pug_profile_trail_turn(struct profile_trail *trail, uint32_t side, bool begins);
/** All that was counted goes to the profile. */
void pug_profile_trail_end(struct profile_trail *trail);

/** A range ran on a frame. Use NO_NODE: no memory, as the trail's status says. */
struct profile_ran pug_profile_trail_run(struct profile_trail *trail, uint32_t frame,
                                         const struct profile_step *range);
/**
 * The last range directly followed the one before it. When that one comes again, it may follow
 * again, on the same frame where control stays in one.
 */
void pug_profile_trail_learn(struct profile_trail *trail, struct profile_ran before,
                             struct profile_ran ran);
/** An element that is no range. */
void pug_profile_trail_other(struct profile_trail *trail, const struct pug_element *element);
/** Cycles came with what ran last. */
void pug_profile_trail_cycles(struct profile_trail *trail, uint64_t cycles);

/** The counter of a next is full. */
void pug_profile_trail_add_up(struct profile_trail *trail, const struct profile_behind *behind,
                              struct profile_next *next);

/** Counts another time that a use was followed by it. */
static inline void profile_trail_again(struct profile_trail *trail, struct profile_ran before,
                                       struct profile_next *next)
{
    if (++next->times == UINT32_MAX)
        pug_profile_trail_add_up(trail, &trail->behind[before.use], next);
}

/** This is the last range that ran. */
static inline void profile_trail_came(struct profile_trail *trail, struct profile_ran ran,
                                      const struct profile_step *range)
{
    trail->last = ran;
    trail->unseen = range;
}

/** Is a range, which begins at a place of the group's, the one that a node is? */
static inline bool profile_trail_is_node(struct profile_trail *trail, uint32_t node,
                                         const struct profile_place *place,
                                         const struct profile_step *range)
{
    return pug_profile_is_node_of(&trail->cache, &trail->group->origin, &trail->cache.nodes[node],
                                  place, range);
}

/** The follower that is kept for a range that directly follows another one, or NULL. */
static inline struct profile_next *profile_trail_find(struct profile_trail *trail,
                                                      struct profile_ran before,
                                                      const struct profile_step *range)
{
    struct profile_behind *behind = &trail->behind[before.use];
    const struct profile_place place =
        profile_place(&trail->cache, &trail->group->origin, range->start);
    if (behind->node != before.node)
        return NULL;
    for (unsigned i = 0; i < 2 && behind->kept[i].use != NO_NODE; i++) {
        const uint32_t node = trail->behind[behind->kept[i].use].node;
        if (profile_trail_is_node(trail, node, &place, range))
            return &behind->kept[i];
    }
    return NULL;
}

#endif
