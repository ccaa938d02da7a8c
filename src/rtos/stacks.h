// SPDX-License-Identifier: MIT
/** @file Stacks of return addresses: of the thread that runs, and of those that wait. */
#ifndef PUG_RTOS_STACKS_H
#define PUG_RTOS_STACKS_H

#include "rtos/follow.h"

#define RTOS_WAITS      256u /**< so many stacks are kept, the newest */
#define RTOS_CANDIDATES 64u  /**< so many are compared with what runs */

struct rtos_frames {
    uint64_t *at; /* return addresses, the outermost first */
    uint32_t depth, room;
};

/** A thread that may be the one that runs. */
struct rtos_candidate {
    uint32_t stamp;  /* of its stack that waits */
    uint32_t left;   /* of its frames, those that what runs has not returned from */
    uint32_t beyond; /* returns after these, where the stack's owner is unknown … */
    uint64_t may_be; /* … and which of its `perhaps` they still fit, a bit for each */
    bool fits;       /* a return came where it says */
};

/** The stack of a thread that waits. */
struct rtos_wait {
    uint32_t thread; /* RTOS_UNKNOWN: it was not found out */
    uint32_t stamp;  /* no two have the same */
    uint64_t address;
    struct rtos_frames frames;
    struct rtos_candidate *perhaps; /* of one that was not found out: who it may be */
    uint32_t perhaps_count;
};

struct rtos_stacks {
    struct rtos_wait *waits; /* the oldest first */
    uint32_t count, stamp;
    struct rtos_frames frames; /* of what runs; while it is open, above the candidates' */
    struct rtos_candidate candidates[RTOS_CANDIDATES];
    uint32_t candidate_count;
    uint64_t guessed_at; /* where what is open went on */
    bool compared;       /* some return was compared since then */
    bool open;
    uint32_t found;
};

bool pug_rtos_stacks_init(struct rtos_stacks *stacks);
void pug_rtos_stacks_free(struct rtos_stacks *stacks);

/** Calls, returns and exceptions of what runs. False: no memory. */
bool pug_rtos_stacks_call(struct rtos_stacks *stacks, uint64_t returns_to);
uint32_t pug_rtos_stacks_depth(const struct rtos_stacks *stacks);
/** Where the newest call of what runs returns to; RTOS_NO_ADDRESS: it is not known. */
uint64_t pug_rtos_stacks_top(const struct rtos_stacks *stacks);
void pug_rtos_stacks_cut(struct rtos_stacks *stacks, uint32_t depth);

enum rtos_return {
    RTOS_RETURN_OPEN,     /**< nothing new */
    RTOS_RETURN_FOUND,    /**< it is known now whose stack it is: *thread */
    RTOS_RETURN_STRANGER, /**< no stack that is kept fits */
};
/** Frames below `floor` are those of what an exception came to. */
enum rtos_return pug_rtos_stacks_return(struct rtos_stacks *stacks, uint64_t address,
                                        uint32_t floor, uint32_t *thread);

/** What runs stops, and will go on at an address. False: no memory. */
bool pug_rtos_stacks_stop(struct rtos_stacks *stacks, uint32_t thread, uint64_t address);
/** A thread that is known goes on, or begins. False: no memory. */
bool pug_rtos_stacks_resume(struct rtos_stacks *stacks, uint32_t thread);

enum rtos_guess {
    RTOS_GUESS_NONE,  /**< no thread waits there */
    RTOS_GUESS_FOUND, /**< one does, of which nothing else can be compared */
    RTOS_GUESS_OPEN,  /**< returns will tell */
    RTOS_GUESS_FAILED,
};
/** Some thread goes on at an address. */
enum rtos_guess pug_rtos_stacks_guess(struct rtos_stacks *stacks, uint64_t address);
/** For RTOS_GUESS_FOUND: which one. */
uint32_t pug_rtos_stacks_found(const struct rtos_stacks *stacks);

/** Is it open which thread runs? */
bool pug_rtos_stacks_open(const struct rtos_stacks *stacks);
/** End that: with the only candidate that is left. False: there are several. */
bool pug_rtos_stacks_settle(struct rtos_stacks *stacks, uint32_t *thread);
/** End that: it is this thread, says somebody. False: no memory. */
bool pug_rtos_stacks_choose(struct rtos_stacks *stacks, uint32_t thread);

/** Does any stack, or this thread's, wait at an address? */
bool pug_rtos_stacks_any_at(const struct rtos_stacks *stacks, uint64_t address);
bool pug_rtos_stacks_waits(const struct rtos_stacks *stacks, uint32_t thread, uint64_t address);
/** Forget all of them. */
void pug_rtos_stacks_forget(struct rtos_stacks *stacks);

#endif
