// SPDX-License-Identifier: MIT
/** @file Elements of a part of the trace, decoded from a synchronisation point before it. */
#ifndef PUGMARK_TOOL_WINDOW_H
#define PUGMARK_TOOL_WINDOW_H

#include "input.h"

/** Two trace offsets, from what the options say. */
struct window {
    uint64_t from, to; /**< [from, to) */
};

/** A number that was given or not. */
struct window_number {
    bool given;
    uint64_t value;
};

/** What --from-time, --to-time, --around and --radius say. */
struct window_options {
    struct window_number from_time, to_time, around;
    uint64_t radius;
    const char *index;
};

extern const struct option window_option_table[];
extern const size_t window_option_count;

/** Was one of them given? */
bool window_wanted(const struct window_options *options);

/**
 * Narrow the window to what the options say, with the index in a file, which is given to the
 * caller, or one in memory. False, having said why.
 */
bool window_find(struct input *input, const struct window_options *options, struct window *window,
                 struct pug_index **index);

/**
 * Decode from a synchronisation point and give the window's elements to `take`, if the index proves
 * that they are those of the whole capture. False: nothing was given, the capture has to be decoded
 * from its start.
 */
bool window_decode(struct input *input, const struct pug_index *index, const struct window *window,
                   void (*take)(void *context, const struct pug_element *element), void *context);

#endif
