// SPDX-License-Identifier: MIT
/**
 * @file Calls: which functions ran, followed through elements, with the times that the trace has.
 *
 *     pug_calls_new(&(struct pug_calls_config){.image = image, .event = my_event}, &calls);
 *     pug_calls_take(calls, task, elements, count);      // as they come, of any number of tasks
 *     pug_calls_end(calls);                              // the trace is over: leave everything
 *
 * A *task* is whatever has one stack: a trace source, or a thread that moves between them. Its
 * number is the caller's choice; its elements come in their order.
 *
 * The stack is a shadow of the real one. Of a taken branch from instruction i to address t:
 *
 * - one that links is a *call*: it enters a frame of the function at t, which returns to the
 * instruction after i;
 * - a *return* leaves the newest frame that returns to t, and all that it called. Where no frame
 *   does, nothing is known of callers any more: all is left, and the function at t is found;
 * - another one into another function is a *tail call*: the top frame becomes one of that function,
 *   and returns to where it would have returned.
 *
 * An exception enters a frame, its return leaves it, and what the exception kept from happening (a
 * call whose first instruction did not run) happens then. Exceptions that follow one another
 * without an instruction between them (also M profile's tail chaining) do not nest. After a gap
 * the stack is kept down to the nearest frame whose function execution goes on in; if there is
 * none, it is left. A function begun before the trace is *found*, not called. Frames left by
 * longjmp(), signals or context switches stay until a return finds one below them.
 *
 * Threads of M profile cores, which no trace names: where PendSV, by which kernels switch, returns
 * elsewhere than to where it came, the stack is kept under its return address, and all its frames
 * are left. A later return of PendSV to that address enters them again. Where no stack waits
 * there, or several do, the function at the address is found; its frame is *doubtful*. When trace
 * was lost, the stacks that wait are forgotten.
 *
 * Time. Each event has both of the trace's clocks: the last timestamp, and the cycles counted since
 * the task's first element. A call has the time of the branch that made it, as far as the trace has
 * times, not the time of the next element. Frames entered before the first timestamp count from
 * there.
 *
 * An object belongs to one thread at a time.
 */
#ifndef PUGMARK_CALLS_H
#define PUGMARK_CALLS_H

#include "pugmark/element.h"

#ifdef __cplusplus
extern "C" {
#endif

struct pug_image;

/** A function, as a locator describes it. */
struct pug_function {
    const char *name;     /**< NULL: it has none; lives as long as the locator says */
    uint64_t start, size; /**< size 0: not known */
    uint64_t id;          /**< the locator's own */
    uint64_t spare[2];    /**< zero */
};

/**
 * The function at an address; false: none is known there. `element` has the context. Two addresses
 * are in one function when the answers have one `start` and one `id`.
 */
typedef bool pug_locate_fn(void *context, uint32_t task, const struct pug_element *element,
                           uint64_t address, struct pug_function *function);

/** The unit of times. */
enum pug_time_unit {
    PUG_TIME_NONE,   /**< there are none */
    PUG_TIME_TICKS,  /**< timestamps, in ticks of the trace's clock */
    PUG_TIME_CYCLES, /**< cycles of the processor, added up */
};

/** The clocks of a task. */
struct pug_call_clock {
    uint64_t timestamp;    /**< the last one; 0 before the first */
    uint64_t cycles;       /**< counted so far */
    uint64_t instructions; /**< executed so far */
};

/** How control came into a function. */
enum pug_call_kind {
    PUG_CALL_FOUND, /**< it was there: nothing is known of its caller */
    PUG_CALL_CALLED,
    PUG_CALL_TAIL, /**< by a branch that does not link: it returns for its caller */
    PUG_CALL_EXCEPTION,
};

/** A function that control is in. */
struct pug_call_frame {
    struct pug_function function;     /**< start is `address` and size 0 where none is known */
    uint64_t address;                 /**< where it was entered */
    uint64_t site;                    /**< the instruction that called it (kind CALLED, TAIL) */
    uint64_t returns_to;              /**< where it returns to, if `has_return` */
    struct pug_call_clock entered;    /**< when it was entered */
    struct pug_call_clock of_callees; /**< spent in what it called and has returned from */
    void *user;                /**< the client's; NULL at first; stays while another thread runs */
    uint32_t exception;        /**< its number; kind EXCEPTION, and tail calls from there */
    uint8_t kind;              /**< enum pug_call_kind */
    bool in_exception;         /**< the frame is an exception's */
    bool has_return;           /**< whether `returns_to` is known */
    uint8_t exception_numbers; /**< enum pug_exception_numbers: what `exception` means */
    bool timed;    /**< entered.timestamp was current then; else it is the first one known */
    bool resumed;  /**< its thread goes on: it was entered before, and counts from then on */
    bool doubtful; /**< some thread's, whose callers are not known */
};

/** The kind of a frame's event. */
enum pug_call_event_kind {
    PUG_CALL_ENTER,
    PUG_CALL_LEAVE,
    PUG_CALL_GAP, /**< something is missing here: what was entered may have been left */
};

/**
 * Why something is missing. Where several reasons come without an instruction between them, each
 * that comes later in this list is reported, too.
 */
enum pug_call_gap {
    PUG_GAP_UNTRACED, /**< tracing was off meanwhile, or decoding begins */
    PUG_GAP_UNKNOWN,  /**< what ran is not known: program memory is not there */
    PUG_GAP_LOST,     /**< trace was lost, or makes no sense */
};

/** What happened. All pointers are valid during the call only. */
struct pug_call_event {
    enum pug_call_event_kind kind; /**< what happened */
    uint32_t task;                 /**< whose call it is: a number of the client's own */
    /**
     * The frame that was entered or is being left; its callers are before it in memory, `depth` of
     * them. Of a GAP the top frame. A client may change `user` and nothing else.
     */
    struct pug_call_frame *frame;
    uint32_t depth; /**< frames below it */
    /** ENTER: the function that control came from (of a TAIL: the frame just left), or NULL. */
    const struct pug_call_frame *from;
    struct pug_call_clock now;      /**< when it happened */
    struct pug_call_clock took;     /**< LEAVE: between enter and leave */
    struct pug_call_clock own;      /**< LEAVE: of this, not spent in callees */
    bool has_timestamp, has_cycles; /**< the task has had such times */
    bool tail;                      /**< LEAVE: by a tail call */
    bool lost;  /**< LEAVE: it was not seen to return; it was left at this time or before */
    bool ended; /**< LEAVE: the trace ended in it */
    /** LEAVE: another thread runs, and the frame may be entered again; ENTER: that is so. */
    bool switched;
    uint8_t unit; /**< enum pug_time_unit: the task's best clock */
    uint8_t gap;  /**< GAP: enum pug_call_gap */
};

/** Takes events, in their order. What they point to is valid during the call. */
typedef void pug_call_event_fn(void *context, const struct pug_call_event *event);

/** How a call stack is made. */
struct pug_calls_config {
    const struct pug_image *image; /**< names functions by its symbols; NULL: `locate` does */
    pug_locate_fn *locate;         /**< in place of the image's symbols, or NULL */
    void *locate_context;          /**< is handed to it */
    pug_call_event_fn *event;      /**< not NULL */
    void *event_context;           /**< is handed to it */
    uint32_t depth;                /**< most frames of a task; with more it restarts; 0: 65536 */
    uint32_t tasks;                /**< most tasks; 0: 65536 */
    uint64_t spare[4];             /**< zero */
};

struct pug_calls;

/**
 * The caller frees it; it borrows the image. PUG_ERR_INVALID_PARAM_VAL: a pointer that must not be
 * NULL is; PUG_ERR_MEM. *calls is NULL then.
 */
enum pug_status pug_calls_new(const struct pug_calls_config *config, struct pug_calls **calls);

/** Frees it; reports no events. NULL is left alone. */
void pug_calls_free(struct pug_calls *calls);

/**
 * Follow elements of a task. Those that do not concern calls are passed over. PUG_ERR_MEM: no
 * memory, and PUG_ERR_LIMIT: too many tasks; nothing of the rest was followed.
 */
enum pug_status pug_calls_take(struct pug_calls *calls, uint32_t task,
                               const struct pug_element *elements, size_t count);

/** A task is over: leave all its functions, and forget it. */
void pug_calls_end_task(struct pug_calls *calls, uint32_t task);

/** Ends all tasks, in the order of their numbers. */
void pug_calls_end(struct pug_calls *calls);

/**
 * The stack of a task as it is now: frames from the outermost on, and how many; 0: nothing is
 * known. Valid until the next call with this object.
 */
uint32_t pug_calls_stack(const struct pug_calls *calls, uint32_t task,
                         const struct pug_call_frame **frames);

/** A clock's time in a unit; PUG_TIME_NONE: 0. */
uint64_t pug_call_time(const struct pug_call_clock *clock, enum pug_time_unit unit);

/** "ticks", "cycles", "". */
const char *pug_time_unit_name(enum pug_time_unit unit);

/** "not traced", "what ran is not known", "trace lost". */
const char *pug_call_gap_name(enum pug_call_gap gap);

#ifdef __cplusplus
}
#endif
#endif
