// SPDX-License-Identifier: MIT
/** @file The last instructions of a task: kept as ranges, written with words and places. */
#ifndef PUGMARK_TOOL_REPORT_WINDOW_H
#define PUGMARK_TOOL_REPORT_WINDOW_H

#include "items/window.h"
#include "text/json.h"

/** Most instructions, and so most ranges, of a window. */
#define REPORT_WINDOW 50u

/** A range that ran, with all that is needed to find its instructions later. */
struct report_range {
    struct pug_element element;
    const struct pug_address_space *space;
    struct trace_place place;
};

/** The last ranges of a task. Zeroed it is empty. */
struct report_ring {
    struct report_range items[REPORT_WINDOW];
    uint32_t next, count;
};

void report_ring_add(struct report_ring *ring, const struct trace_item *item);

/** Copies the ranges, the oldest first; returns how many. */
uint32_t report_ring_copy(const struct report_ring *ring, struct report_range *out);

/** The newest range; NULL: the ring is empty. */
const struct report_range *report_ring_last(const struct report_ring *ring);

struct report_windows;

/** Writes windows. It borrows capture and names. NULL: no memory. */
struct report_windows *report_windows_new(struct pug_capture *capture, struct pug_names *names);
void report_windows_free(struct report_windows *windows);

/**
 * Writes the last REPORT_WINDOW instructions of these ranges as an array of arrays: address,
 * instruction, outcome, function, offset in it, file, line. Unknown texts are "", lines 0. False:
 * no memory.
 */
bool report_windows_put(struct report_windows *windows, struct pug_json *json, const char *key,
                        const struct report_range *ranges, uint32_t count);

/** Finds the names of an address in a range's object. NULL: unknown. */
struct pug_names_file *report_windows_file(struct report_windows *windows,
                                           const struct report_range *range, uint64_t address,
                                           uint64_t *vaddr);

#endif
