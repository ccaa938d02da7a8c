// SPDX-License-Identifier: MIT
/** @file pug_capture_timeline(), for callers with words of their own about kernels. */
#ifndef PUG_TIMELINE_TIMELINE_H
#define PUG_TIMELINE_TIMELINE_H

#include "pugmark/timeline.h"
#include "rtos/find.h"

/** `tell` and `context` are those of struct thread_kernel_wanted. `result` is not NULL. */
enum pug_status pug_timeline_run(struct pug_capture *capture,
                                 const struct pug_timeline_options *options,
                                 void (*tell)(void *context, const struct thread_kernel_told *told),
                                 void *context, struct pug_timeline_result *result);

#endif
