// SPDX-License-Identifier: MIT
/**
 * @file Loops and their rounds, from what runs on the frames of call stacks.
 *
 * A loop is named by its *head*: where a direct branch of a function goes back to. A *visit* of a
 * frame to a loop begins when its head runs without a jump back to it, a *round* each time that it
 * runs. A loop that is entered in its middle, at its condition, has a head that only jumps back
 * come to: there a visit ends when execution in the frame jumps over the head from before it. A
 * visit whose frame was lost sight of goes on where the function is found again in the loop.
 */
#ifndef PUG_PROFILE_LOOPS_H
#define PUG_PROFILE_LOOPS_H

#include "profile/steps.h"
#include "pugmark/calls.h"

struct profile_loops;

struct profile_loops *pug_profile_loops_new(void);
void pug_profile_loops_free(struct profile_loops *loops);

/** A range that ran on a task's frame. */
struct profile_loops_step {
    const struct pug_address_space *space; /**< of its code, or NULL */
    const struct pug_element *range;
    struct profile_node *node;          /**< the same in its object */
    const struct pug_call_frame *frame; /**< what it ran on, at run-time addresses */
    uint32_t task, depth;               /**< how many frames are below it */
};
/** PUG_ERR_MEM. */
enum pug_status pug_profile_loops_run(struct profile_loops *loops,
                                      const struct profile_loops_step *step);
/**
 * A range ran on the same frame as the one before it: continue, if its function has loops.
 */
void pug_profile_loops_go_on(struct profile_loops *loops, uint32_t task, uint32_t depth,
                             struct profile_node *node);
/** The loops of the function of a frame on which something ran; count 0: none. */
struct profile_loops_function {
    uint32_t first, count;
};
struct profile_loops_function pug_profile_loops_function(const struct profile_loops *loops,
                                                         uint32_t task, uint32_t depth);
/**
 * A frame of such a function is called; a range of this node is what runs first. False: it takes
 * pug_profile_loops_run().
 */
bool pug_profile_loops_enter(struct profile_loops *loops, uint32_t task, uint32_t depth,
                             struct profile_loops_function function,
                             const struct profile_node *node);
/** A frame is left, and its loops. `lost`: out of sight; its loops may be found again. */
void pug_profile_loops_leave(struct profile_loops *loops, uint32_t task, uint32_t depth, bool lost);
/** The trace is over: loops to the profile. */
enum pug_status pug_profile_loops_end(struct profile_loops *loops, struct profile_objects *objects);

#endif
