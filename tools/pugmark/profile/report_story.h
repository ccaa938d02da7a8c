// SPDX-License-Identifier: MIT
/**
 * @file The story of a capture for `pugmark report`: how it ended, what is remarkable in it, and
 * the last instructions before each remarkable event.
 */
#ifndef PUGMARK_TOOL_REPORT_STORY_H
#define PUGMARK_TOOL_REPORT_STORY_H

#include "timeline/slices.h"

struct story;

/** The story borrows capture and names. NULL: no memory. */
struct story *story_new(struct pug_capture *capture, struct pug_names *names);
void story_free(struct story *story);

/** The slices whose call stacks the story reads. Call before decoding begins. */
void story_follow(struct story *story, const struct slices *slices);

/** Sees an item before its slices do. As slices_options.observe; the context is the story. */
void story_observe(void *story, const struct trace_item *item);

/** The end of decoding, before pug_slices_end(). */
void story_end(struct story *story);

/**
 * Appends the story as a JSON object; windows of events are left out where the memory has much
 * already. False: no memory; what was written is not whole.
 */
bool story_put(struct story *story, struct pug_memory *memory);

/** "Ended in a data fault in read_line(), crash.c:64", without a NUL inside; "" for no trace. */
const char *story_headline(const struct story *story);

/** "754 instructions in 697 ticks", as far as the trace has them. */
void story_extent(const struct story *story, char *text, size_t size);

#endif
