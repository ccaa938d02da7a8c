// SPDX-License-Identifier: MIT
/** @file Names of slices: each has a number, under which the timeline gets it once. */
#ifndef PUG_TIMELINE_SLICE_NAMES_H
#define PUG_TIMELINE_SLICE_NAMES_H

#include "export/timeline.h"
#include "items/places.h"
#include "pugmark/calls.h"

#include <stdbool.h>
#include <stdint.h>

struct slice_names {
    struct pug_timeline *timeline;
    struct places *places;
    struct pug_names *readable;
    struct slice_name *table; /**< by what they stand for */
    uint32_t room, count;
    bool failed; /**< no memory */
};

/** Keys of one kind never meet those of another. */
enum {
    SLICE_ADDRESS = 1,
    SLICE_EXCEPTION,
    SLICE_PORT,
    SLICE_CHANNEL,
    SLICE_EVENT,
    SLICE_TASK,
    SLICE_HANDLER,
    SLICE_SAMPLE,
    SLICE_WATCH,
    SLICE_COUNTER,
    SLICE_THREAD
};
#define SLICE_KEY(kind, value) ((uint64_t)(kind) << 60 ^ ((value) & (UINT64_MAX >> 4)))

/** The number of a name; *is_new: the timeline has not got it. */
uint32_t pug_slice_name_number(struct slice_names *names, uint64_t key, bool *is_new);

/** "port 3" */
uint32_t pug_slice_name_counted(struct slice_names *names, uint64_t key, const char *what,
                                uint64_t number);
uint32_t pug_slice_name_exception(struct slice_names *names, uint8_t numbers, uint32_t number);
/** Of a frame: its function with file and line, its exception, or its address. */
uint32_t pug_slice_name_frame(struct slice_names *names, uint32_t task,
                              const struct pug_call_frame *frame);
void pug_slice_names_free(struct slice_names *names);

#endif
