// SPDX-License-Identifier: MIT
/**
 * @file What ITM sources say, in a timeline: handlers as slices, text as one event a line, values,
 * watched variables and event counters as counters, PC samples, and losses. All with the times of
 * the source's own clock.
 */
#ifndef PUGMARK_TOOL_SLICES_SWO_H
#define PUGMARK_TOOL_SLICES_SWO_H

#include "slices_names.h"
#include "trace/trace_window.h"

struct slices_swo;

/** Tracks are those whose number leaves this rest of SLICES_TRACKS. */
#define SLICES_TRACKS    4u
#define SLICES_TRACK_SWO 2u

/** NULL: no memory. */
struct slices_swo *slices_swo_new(struct pug_capture *capture, struct slice_names *names);
void slices_swo_free(struct slices_swo *swo);

/** Take an item of any source. */
void slices_swo_take(struct slices_swo *swo, const struct trace_item *item);
/** All has come. False: no memory. */
bool slices_swo_end(struct slices_swo *swo);
/** Say what speaks against its clock. */
void slices_swo_tell(const struct slices_swo *swo, bool quiet);
/** How many handlers ran, and how often trace was lost. */
uint64_t slices_swo_handlers(const struct slices_swo *swo);
uint64_t slices_swo_losses(const struct slices_swo *swo);

#endif
