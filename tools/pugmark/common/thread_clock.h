// SPDX-License-Identifier: MIT
/**
 * @file Clocks of threads that stand still while these are not traced: others run on the processor,
 * tracing is off, or trace is lost. What passed between two timestamps counts if nothing of that
 * came between them.
 */
#ifndef PUGMARK_TOOL_THREAD_CLOCK_H
#define PUGMARK_TOOL_THREAD_CLOCK_H

#include "items/window.h"

struct thread_clocks;

/** NULL: no memory. */
struct thread_clocks *thread_clocks_new(void);
/** NULL is left alone. */
void thread_clocks_free(struct thread_clocks *clocks);

/**
 * What comes next, of all threads. A timestamp becomes that of its thread's clock, which begins
 * with the first one. False: no memory.
 */
bool thread_clocks_take(struct thread_clocks *clocks, const struct trace_item *item,
                        struct pug_element *element);

#endif
