// SPDX-License-Identifier: MIT
/** @file A part of the trace, decoded without what is before it where the index can prove that. */
#ifndef PUGMARK_TOOL_WINDOW_H
#define PUGMARK_TOOL_WINDOW_H

#include "index/tail_reads.h"
#include "input/input.h"

/** The options --from-time, --to-time, --around, --radius and --count. */
struct window_options {
    const char *from_time, *to_time;
    struct option_value around, count;
    struct option_value radius;
    const char *index;
    uint64_t first, behind; /**< timestamps, as these times are in an input */
};

extern const struct option window_option_table[];
extern const size_t window_option_count;

/** Was one of them given? */
bool window_wanted(const struct window_options *options);

/** Take the times in the input's unit; false, having said why. */
bool window_take_times(struct window_options *options, const struct input *input);

/** Two trace offsets, from what the options say, and the index that they were found with. */
struct window {
    uint64_t from, to; /**< [from, to) */
    bool dated;        /**< there is a time from which on it is wanted, or none was given */
    struct pug_index *index;
    struct pug_index_tail_reads rest; /**< private: the bytes to read after those in a row */
    const char *asked;                /**< private: the file that it lies in, or NULL */
    struct pug_tree *model;           /**< private: the tree that the input's was copied from */
};

/**
 * Narrow the window to what the options say, with the index in a file, or one in memory. With
 * `elements` it is elements that are looked for. False, having said why.
 */
bool window_open(struct window *window, struct input *input, const struct window_options *options,
                 bool elements);
void window_close(struct window *window);

/**
 * How far to read so that all elements of [from, to) have come, but for those that window_rest()
 * reads, which gives elements alone (`leaps`: that will do); UINT64_MAX: to the end. The input's
 * tree is another one afterwards.
 */
uint64_t window_settled(struct window *window, struct input *input, uint64_t from, uint64_t to,
                        bool leaps);

/**
 * Give the input a tree that has read the trace up to *at, which is before `before` by at least
 * `margin` bytes. Where the index proves no place in the middle that is 0. False: there is no tree.
 */
bool window_enter(struct window *window, struct input *input, bool elements, uint64_t before,
                  uint64_t margin, uint64_t *at);
/** The tree is used no more. */
void window_leave(struct window *window, struct input *input);

/**
 * Read from `at` on while `go_on` wants more from there, or to the end of the trace, which is
 * reported.
 */
void window_run(const struct window *window, struct input *input, uint64_t at,
                bool (*go_on)(void *context, uint64_t at), void *context);

/** Behind that, where it was read as far as window_settled() said. */
void window_rest(struct window *window, struct input *input);

#endif
