// SPDX-License-Identifier: MIT
/**
 * @file Between decoding and what is made of items: threads of a kernel become tasks.
 *
 * Items come in order, and leave in order with the task that they are of in `where`. While it is
 * not known which thread runs, items are held; after so many they go on as those of thread "?".
 */
#ifndef PUG_RTOS_STAGE_H
#define PUG_RTOS_STAGE_H

#include "items/window.h"
#include "rtos/find.h"

/** The activity of an item's thread. */
struct thread_place {
    uint32_t core;   /**< number of the core's source, as it spoke first */
    uint32_t thread; /**< of the core; RTOS_UNKNOWN: not known */
    bool in_handler, idle, switched;
    bool known; /**< there is a thread: the source has program flow */
};

struct thread_stage_options {
    struct thread_kernel_wanted kernel;
    /** Only threads with one of these numbers, and one of these names; none: all. */
    const int32_t *tids;
    const char *const *comms;
    size_t tid_count, comm_count;
    /** Takes items; false: no more is wanted. */
    bool (*give)(void *context, const struct trace_item *item, const struct thread_place *place);
    void *context;
};

struct thread_stage;

/**
 * A stage; *stage is NULL where there are no threads to follow. PUG_ERR_INVALID_PARAM_VAL: the
 * kernel that was wanted is wrong, as was said; PUG_ERR_MEM.
 */
enum pug_status pug_thread_stage_new(const struct thread_stage_options *options,
                                     struct thread_stage **stage);
/** All has come: what is held goes on. False: no more is wanted, or no memory. */
bool pug_thread_stage_end(struct thread_stage *stage);
void pug_thread_stage_free(struct thread_stage *stage);

/** Take an item, which stays the caller's. False: no more is wanted, or no memory. */
bool pug_thread_stage_take(struct thread_stage *stage, const struct trace_item *item);
bool pug_thread_stage_failed(const struct thread_stage *stage);

/** The n-th thread of a core; NULL: there is none. */
const struct rtos_thread *pug_thread_stage_thread(const struct thread_stage *stage, uint32_t core,
                                                  uint32_t thread);
/** Returns its name. */
const char *pug_thread_stage_name(struct thread_stage *stage, uint32_t core, uint32_t thread);
/** The trace id of a core's source. */
uint16_t pug_thread_stage_source(const struct thread_stage *stage, uint32_t core);
/** What the kernel is called, or NULL; and the expression of what was looked at, or NULL. */
const char *pug_thread_stage_kernel(const struct thread_stage *stage);
const char *pug_thread_stage_current(const struct thread_stage *stage);
/** Did anything tell the value of what says who runs? Else there was program flow alone. */
bool pug_thread_stage_has_values(const struct thread_stage *stage);
/** Is a thread the kernel's idle one? */
bool pug_thread_stage_is_idle(struct thread_stage *stage, uint32_t core, uint32_t thread);

#endif
