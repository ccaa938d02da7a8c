// SPDX-License-Identifier: MIT
/**
 * @file What ITM sources say, in a timeline: handlers as slices, text as one event a line, values,
 * watched variables and event counters as counters, PC samples, and losses. All with the times of
 * the source's own clock.
 */
#ifndef PUG_TIMELINE_SLICES_SWO_H
#define PUG_TIMELINE_SLICES_SWO_H

#include "items/window.h"
#include "rtos/find.h"
#include "timeline/slice_names.h"

struct slices_swo;

/** Tracks are those whose number leaves this rest of SLICES_TRACKS. */
#define SLICES_TRACKS    4u
#define SLICES_TRACK_SWO 2u

/** NULL: no memory. */
struct slices_swo *pug_slices_swo_new(struct pug_capture *capture, struct slice_names *names);
/**
 * A track for each thread of the kernel that is wanted, where the capture has no program flow that
 * shows them. False: no memory, or what is wanted is wrong, as was reported.
 */
bool pug_slices_swo_threads(struct slices_swo *swo, const struct thread_kernel_wanted *wanted);
void pug_slices_swo_free(struct slices_swo *swo);

/** Take an item of any source. */
void pug_slices_swo_take(struct slices_swo *swo, const struct trace_item *item);
/** All has come. False: no memory. */
bool pug_slices_swo_end(struct slices_swo *swo);
/** The mean time between entries of SysTick, where it is periodic; else 0. */
uint64_t pug_slices_swo_tick(const struct slices_swo *swo);
/** How many handlers ran, and how often trace was lost. */
uint64_t pug_slices_swo_handlers(const struct slices_swo *swo);
uint64_t pug_slices_swo_losses(const struct slices_swo *swo);

#endif
