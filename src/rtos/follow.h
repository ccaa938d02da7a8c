// SPDX-License-Identifier: MIT
/**
 * @file Which thread of a kernel runs on a core, element by element.
 *
 * A switch is the return of an exception whose handler switches threads. Where the object that says
 * who runs is traced, the last value written before that return names the thread. Else the thread
 * is one of those that stopped at the address where it goes on: the stacks of return addresses that
 * were kept tell which, as soon as exactly one of them fits the returns that follow. Until then its
 * elements are *held*.
 */
#ifndef PUG_RTOS_FOLLOW_H
#define PUG_RTOS_FOLLOW_H

#include "pugmark/element.h"
#include "pugmark/status.h"

/** The unknown thread. */
#define RTOS_UNKNOWN 0u
/** An unknown address. */
#define RTOS_NO_ADDRESS UINT64_MAX
/** Most threads that are distinguished. */
#define RTOS_THREADS 1024u

struct rtos_span {
    uint64_t start, end;
};

#define RTOS_SPANS 32u

/** A kernel's objects in one program. */
struct rtos_object {
    bool has_current;  /**< else there is program flow alone */
    uint64_t current;  /**< address of the object that says who runs */
    unsigned size;     /**< its bytes */
    bool by_context;   /**< the context id says who runs */
    bool by_port;      /**< software says it on stimulus port `port` of an ITM */
    unsigned port;     /**< its number */
    uint64_t none[8];  /**< values that are no thread */
    size_t none_count; /**< how many */
    struct rtos_span switches[RTOS_SPANS]; /**< functions that handle the exceptions that switch */
    size_t switch_count; /**< 0: M profile's PendSV, or any exception where `current` is known */
};

/** A thread as it was seen. */
struct rtos_thread {
    bool has_value;
    uint64_t value;    /**< of `current` */
    uint64_t first;    /**< the first address that it was seen at */
    uint64_t switches; /**< how often it was switched to */
};

/** The place of an element. */
struct rtos_answer {
    uint32_t thread;     /**< that it belongs to, where it is not held */
    bool held;           /**< that is known later */
    bool decided;        /**< those that were held before this element are of `whose` */
    uint32_t whose;      /**< RTOS_UNKNOWN: it was not found out */
    bool in_handler;     /**< an exception is handled */
    bool idle;           /**< the kernel says that no thread runs */
    bool switched;       /**< this is the first element since a switch from … */
    uint32_t stopped;    /**< … this thread … */
    uint64_t stopped_at; /**< … which continues there; RTOS_NO_ADDRESS: unknown */
};

struct rtos_follow;

/** `object` is copied. NULL: no memory. */
struct rtos_follow *pug_rtos_follow_new(const struct rtos_object *object);
/** NULL is left alone. */
void pug_rtos_follow_free(struct rtos_follow *follow);

/** Take the core's next element. PUG_ERR_MEM: no memory. */
enum pug_status pug_rtos_take(struct rtos_follow *follow, const struct pug_element *element,
                              struct rtos_answer *answer);

/**
 * The object that names the running thread was written, as another source reports (a DWT,
 * software): *answer says whether that decides what is held.
 */
enum pug_status pug_rtos_written(struct rtos_follow *follow, uint64_t value,
                                 struct rtos_answer *answer);

/** Decide on what is held with what is known now: *answer has `decided` and `whose`. */
void pug_rtos_settle(struct rtos_follow *follow, struct rtos_answer *answer);

/** Did anything tell a value of what says who runs? */
bool pug_rtos_has_values(const struct rtos_follow *follow);

/** The n-th thread; NULL: there are not so many. The first one is RTOS_UNKNOWN. */
const struct rtos_thread *pug_rtos_thread_at(const struct rtos_follow *follow, uint32_t n);

#endif
