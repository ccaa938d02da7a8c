// SPDX-License-Identifier: MIT
/** @file Which functions a source is in, followed through its elements. */
#ifndef PUGMARK_TOOL_CALL_STACK_H
#define PUGMARK_TOOL_CALL_STACK_H

#include "pugmark/pugmark.h"

/** Frames that are followed; deeper recursion starts anew. */
#define CALL_DEPTH 4096u

/** A function that control is in. */
struct call_frame {
    uint64_t start, end; /**< of the function; end is start where no symbol tells */
    const char *name;    /**< NULL: no symbol */
    uint64_t site;       /**< the instruction that called it */
    bool called;         /**< `site` is known: a return may come back behind it */
    bool exception;      /**< entered by exception `number` */
    uint32_t number;
    uint64_t time, instructions;                       /**< when it was entered */
    uint64_t of_callees_time, of_callees_instructions; /**< spent in what it called */
    void *user;                                        /**< the listener's */
};

struct call_stack;

/** What a listener is told; frames are valid during the call. */
struct call_listener {
    void *context;
    /** A function was entered; it is the frame at stack->depth - 1. */
    void (*enter)(void *context, struct call_stack *stack, struct call_frame *frame);
    /** The function of the top frame was left; `ended`: the trace ended inside it. */
    void (*leave)(void *context, struct call_stack *stack, struct call_frame *frame, bool ended);
    /** Trace was lost: what was entered may have been left. */
    void (*gap)(void *context, struct call_stack *stack);
};

enum call_pending {
    CALL_NONE,
    CALL_CALL,
    CALL_RETURN,
    CALL_JUMP,
    CALL_EXCEPTION,
    CALL_EXCEPTION_RET
};

/** One source. Zeroed but for the first three it is ready. */
struct call_stack {
    const struct pug_image *image;
    const struct call_listener *listener;
    uint16_t source;

    uint32_t depth;
    struct call_frame frames[CALL_DEPTH];
    uint64_t time; /**< the last timestamp; cycles where there are no timestamps */
    bool has_timestamps, has_time;
    uint64_t instructions;

    /* how control left the last range */
    enum call_pending pending;
    uint64_t site;
    uint32_t number;
    bool lost, started;
};

void call_stack_take(struct call_stack *stack, const struct pug_element *element);

/** The trace is over: leave everything. */
void call_stack_end(struct call_stack *stack);

#endif
