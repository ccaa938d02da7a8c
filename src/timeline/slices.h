// SPDX-License-Identifier: MIT
/**
 * @file From what ran to slices of a timeline: calls with their times, estimated between two
 * timestamps; exceptions, software trace, losses, and which thread a processor ran.
 */
#ifndef PUG_TIMELINE_SLICES_H
#define PUG_TIMELINE_SLICES_H

#include "export/timeline.h"
#include "items/window.h"
#include "pugmark/calls.h"
#include "pugmark/timeline.h"
#include "rtos/find.h"

struct slices_options {
    struct pug_capture *capture;
    struct pug_names *names;
    enum pug_timeline_form form;
    enum pug_timeline_clock clock;
    uint64_t least;   /**< calls that took less are left out */
    uint64_t depth;   /**< calls below so many others are left out; 0: none are */
    bool exact;       /**< no time is estimated */
    uint32_t buffers; /**< of several, offsets are times this number, and the buffer's is added */
    struct pug_sink *sink;
    uint32_t room; /**< as in struct pug_timeline_output */
    bool (*append)(void *context, uint32_t track, const void *bytes, size_t size);
    void *append_context;
    void (*slice)(void *context, const struct pug_slice *slice); /**< of SLICES */
    void *slice_context;
    /** Optional: sees each item first, while call stacks are those before it. */
    void (*observe)(void *context, const struct trace_item *item);
    void *observe_context;
};

struct slices;
struct places;

/** NULL: no memory. */
struct slices *pug_slices_new(const struct slices_options *options);
/** As pug_slices_swo_threads(). */
bool pug_slices_threads(struct slices *slices, const struct thread_kernel_wanted *wanted);

/** Take what comes next, in the order of the capture; false: no memory. */
bool pug_slices_take(struct slices *slices, const struct trace_item *item);

/** Takes elements that were not selected: other tasks run on a processor meanwhile. */
bool pug_slices_take_others(struct slices *slices, const struct trace_item *item);

/** All has come: write what waits. Once; then only pug_slices_numbers() and pug_slices_free(). */
enum pug_status pug_slices_end(struct slices *slices);
void pug_slices_free(struct slices *slices);

/** The call stacks of tasks, by the numbers of pug_places_task(). */
const struct pug_calls *pug_slices_calls(const struct slices *slices);
/** What its times count. */
const char *pug_slices_unit(const struct slices *slices);
/** Returns the places of tasks. */
struct places *pug_slices_places(const struct slices *slices);

struct slices_numbers {
    uint64_t written, left_out, estimated;
    uint64_t handlers;               /**< of interrupts, from a DWT */
    uint64_t tick;                   /**< mean time between SysTicks, where they are periodic */
    uint64_t gaps[PUG_GAP_LOST + 1]; /**< of each kind */
};
struct slices_numbers pug_slices_numbers(const struct slices *slices);

#endif
