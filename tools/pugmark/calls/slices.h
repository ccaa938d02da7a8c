// SPDX-License-Identifier: MIT
/**
 * @file From what ran to slices of a timeline: calls with their times, estimated between two
 * timestamps; exceptions, software trace, losses, and which thread a processor ran.
 */
#ifndef PUGMARK_TOOL_SLICES_H
#define PUGMARK_TOOL_SLICES_H

#include "export/timeline.h"
#include "pugmark/calls.h"
#include "trace/trace_window.h"

enum slices_clock {
    SLICES_AUTO, /**< the first of the others that the capture's beginning has */
    SLICES_TIME,
    SLICES_CYCLES,
    SLICES_INSTRUCTIONS
};

struct slices_options {
    struct pug_capture *capture;
    struct pug_names *names;
    const char *rtos; /**< as thread_kernel_find() takes it */
    enum pug_timeline_form form;
    enum slices_clock clock;
    uint64_t least;   /**< calls that took less are left out */
    uint64_t depth;   /**< calls below so many others are left out; 0: none are */
    bool exact;       /**< no time is estimated */
    uint32_t buffers; /**< of several, offsets are times this number, and the buffer's is added */
    struct pug_sink *sink;
    uint32_t room; /**< as in struct pug_timeline_options */
    bool (*append)(void *context, uint32_t track, const void *bytes, size_t size);
    void *append_context;
    /** Optional: sees each item first, while call stacks are those before it. */
    void (*observe)(void *context, const struct trace_item *item);
    void *observe_context;
};

struct slices;
struct places;

/** NULL: no memory. */
struct slices *slices_new(const struct slices_options *options);

/** Take what comes next, in the order of the capture; false: no memory. */
bool slices_take(struct slices *slices, const struct trace_item *item);

/** Takes elements that were not selected: other tasks run on a processor meanwhile. */
bool slices_take_others(struct slices *slices, const struct trace_item *item);

/** All has come: write what waits. Once; then only slices_numbers() and slices_free(). */
enum pug_status slices_end(struct slices *slices);
void slices_free(struct slices *slices);

/** The call stacks of tasks, by the numbers of places_task(). */
const struct pug_calls *slices_calls(const struct slices *slices);
/** The names, and the kernel, that it was made with. */
struct pug_names *slices_names(const struct slices *slices);
const char *slices_rtos(const struct slices *slices);
/** Returns the places of tasks. */
struct places *slices_places(const struct slices *slices);

struct slices_numbers {
    uint64_t written, left_out, estimated;
    uint64_t handlers;               /**< of interrupts, from a DWT */
    uint64_t gaps[PUG_GAP_LOST + 1]; /**< of each kind */
};
struct slices_numbers slices_numbers(const struct slices *slices);

/** As places_tell(), of slices. */
void slices_tell(const struct slices *slices, bool quiet);

#endif
