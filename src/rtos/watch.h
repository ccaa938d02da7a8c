// SPDX-License-Identifier: MIT
/**
 * @file Which thread of a kernel runs, by the events of a DWT or of software alone: writes of the
 * object that says so, and exceptions.
 */
#ifndef PUG_RTOS_WATCH_H
#define PUG_RTOS_WATCH_H

#include "pugmark/dwt.h"
#include "rtos/follow.h"

struct rtos_watch {
    struct rtos_object object;
    struct rtos_thread threads[RTOS_THREADS]; /**< the first one is RTOS_UNKNOWN */
    uint32_t count, now;                      /**< how many; which one runs */
    bool none;                                /**< no thread runs */
    uint32_t depth;                           /**< exceptions that are handled */
};

void pug_rtos_watch_begin(struct rtos_watch *watch, const struct rtos_object *object);

/** Takes the next event. True: another thread was written, or it is no longer known which runs. */
bool pug_rtos_watch_take(struct rtos_watch *watch, const struct pug_dwt_event *event);

#endif
