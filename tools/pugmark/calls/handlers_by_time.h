// SPDX-License-Identifier: MIT
/**
 * @file The exception handlers that a DWT traced, as lines of `pugmark calls --by-time` between
 * those of functions.
 */
#ifndef PUGMARK_TOOL_HANDLERS_BY_TIME_H
#define PUGMARK_TOOL_HANDLERS_BY_TIME_H

#include "pugmark/correlate.h"
#include "pugmark/tree.h"

struct handlers_by_time;

/** Of the streams of a correlation; `trees` are of its capture's buffers. NULL: no memory. */
struct handlers_by_time *handlers_by_time_new(const struct pug_correlate *correlate,
                                              struct pug_capture *capture,
                                              struct pug_tree *const *trees);
/** Take an element of any stream: those of ITMs print lines. False: no memory. */
bool handlers_by_time_take(struct handlers_by_time *handlers, const struct pug_correlated *element);
/** The trace is over: what is open ends. */
void handlers_by_time_end(struct handlers_by_time *handlers);
void handlers_by_time_free(struct handlers_by_time *handlers); /**< may be NULL */

#endif
