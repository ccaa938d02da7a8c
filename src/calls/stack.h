// SPDX-License-Identifier: MIT
/** @file The frames of one task. */
#ifndef PUG_CALLS_STACK_H
#define PUG_CALLS_STACK_H

#include "pugmark/calls.h"

/** How control left the last range. */
enum pug_departure_kind {
    PUG_DEPART_NONE, /**< it went straight on */
    PUG_DEPART_CALL,
    PUG_DEPART_RETURN,
    PUG_DEPART_JUMP,
    PUG_DEPART_EXCEPTION,
    PUG_DEPART_EXCEPTION_RETURN,
};

/** How control leaves a range that ended so: what its element says. */
static inline enum pug_departure_kind pug_departure_kind(unsigned flags, unsigned last_type,
                                                         unsigned last_subtype)
{
    const bool branch = last_type == PUG_INSTR_BR || last_type == PUG_INSTR_BR_INDIRECT;
    if (!branch || !(flags & PUG_ELEM_EXECUTED))
        return PUG_DEPART_NONE;
    switch (last_subtype) {
    case PUG_SUB_BR_LINK: return PUG_DEPART_CALL;
    case PUG_SUB_V8_RET:
    case PUG_SUB_V7_IMPLIED_RET:
    case PUG_SUB_RETURN: return PUG_DEPART_RETURN;
    case PUG_SUB_V8_ERET:
    case PUG_SUB_EXCEPTION_RETURN: return PUG_DEPART_EXCEPTION_RETURN;
    default: return PUG_DEPART_JUMP;
    }
}

/** A branch that was taken and has not arrived yet. */
struct pug_branch {
    uint8_t kind;    /**< enum pug_departure_kind */
    bool exact;      /**< `behind` is the address after it, else only near that */
    uint64_t site;   /**< the instruction */
    uint64_t behind; /**< where a return from it comes to */
};

struct pug_departure {
    struct pug_branch branch; /**< an exception: exact: `behind` is its return address */
    struct pug_branch held;   /**< an exception: the branch that it kept from arriving */
    uint32_t number;          /**< of an exception */
    uint8_t numbers;          /**< enum pug_exception_numbers */
    uint64_t index;           /**< trace index of its packet */
};

/** The stack of a thread that does not run. */
struct pug_call_thread {
    uint64_t address; /**< where it goes on */
    uint32_t depth, room;
    struct pug_call_frame *frames;
    struct pug_branch *held;
};

/** Number of threads of a task that are kept, the newest. */
#define PUG_CALL_THREADS 64u

struct pug_call_task {
    uint32_t number;
    uint32_t depth, room;
    struct pug_call_frame *frames;
    struct pug_branch *held; /**< of each frame: the branch that its exception kept */
    struct pug_call_clock now;
    struct pug_call_clock before; /**< the clock before the last packet with times */
    struct pug_call_clock at;     /**< of the events under report */
    uint64_t time_index;          /**< trace index of that packet */
    bool has_timestamp, has_cycles, has_time_index;
    bool current, before_current; /**< `now`, `before`: reported since trace was lost */
    bool missing;                 /**< something is, since the last range */
    uint8_t gap;                  /**< enum pug_call_gap, then: the last one reported */
    struct pug_departure departure;
    struct pug_call_thread *threads; /**< the oldest first; NULL: there were none */
    uint32_t thread_count;
};

/** Why a frame is left. */
enum pug_leave_why {
    PUG_LEAVE_RETURNED,
    PUG_LEAVE_BY_TAIL,
    PUG_LEAVE_BY_LOSS,
    PUG_LEAVE_BY_END,
    PUG_LEAVE_SWITCHED, /**< another thread runs */
};

struct pug_calls {
    struct pug_calls_config config;
    struct pug_call_task **tasks; /**< by their numbers */
    size_t count, room;
    struct pug_call_task *last; /**< that was asked for */
    bool failed;                /**< no memory for a frame */
    bool doubtful;              /**< a frame that is found now is some thread's */
};

/** Control comes to `address`, as the task's departure has it. */
void pug_calls_arrive(struct pug_calls *calls, struct pug_call_task *task,
                      const struct pug_element *element, uint64_t address);

/**
 * The nearest exception's frame ends, without an instruction after it. Returns whether it is known
 * where it would have returned to, which is *back.
 */
bool pug_calls_drop_exception(struct pug_calls *calls, struct pug_call_task *task, uint64_t *back);

/** Leave all frames above the first `depth`. */
void pug_calls_leave_to(struct pug_calls *calls, struct pug_call_task *task, uint32_t depth,
                        enum pug_leave_why why);
/** Tell that the top frame was entered, from another one or NULL. */
void pug_calls_tell_enter(struct pug_calls *calls, struct pug_call_task *task,
                          const struct pug_call_frame *from);
/** Nothing is known of the callers: the function is just there. */
void pug_calls_find(struct pug_calls *calls, struct pug_call_task *task,
                    const struct pug_element *element, uint64_t address);

/* threads.c */
/**
 * Did the handler switch threads? It is PendSV of an M profile core, and goes on elsewhere than
 * where it came.
 */
bool pug_calls_is_switch(const struct pug_call_frame *handler, uint64_t address);
/**
 * The thread at hand stops at `stopped`. The one that stopped at `address` goes on; where none did,
 * or several, a new stack begins, which is marked as doubtful.
 */
void pug_calls_switch(struct pug_calls *calls, struct pug_call_task *task,
                      const struct pug_element *element, uint64_t stopped, uint64_t address);
/** Forget the threads that do not run. */
void pug_calls_forget_threads(struct pug_call_task *task);

/** Something is missing before an element. */
void pug_calls_miss(struct pug_calls *calls, struct pug_call_task *task,
                    const struct pug_element *element);

/*
 * For callers that have seen the same sequence before: control came to another frame, and its
 * elements are not handed over. No callback is called, no event is reported, and clocks stand
 * still. False: nothing is done; that takes the elements.
 */

/** The top frame of the task that elements were of last called this one. */
bool pug_calls_enter_again(struct pug_calls *calls, uint32_t number,
                           const struct pug_call_frame *callee);
/** It returned to this address, which its caller's frame, below it, goes on at. */
bool pug_calls_return_again(struct pug_calls *calls, uint32_t number, uint64_t address);

/** The trace ended: leave everything. */
void pug_calls_leave_all(struct pug_calls *calls, struct pug_call_task *task);

#endif
