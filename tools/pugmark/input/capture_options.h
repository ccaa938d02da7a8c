// SPDX-License-Identifier: MIT
/** @file Options of commands that name what ran. */
#ifndef PUGMARK_TOOL_CAPTURE_OPTIONS_H
#define PUGMARK_TOOL_CAPTURE_OPTIONS_H

#include "input.h"

/** The values of these options, beside those of every input. */
struct capture_options {
    struct option_list debug_dirs;
    const char *rtos; /**< whose threads are followed; NULL: the kernel that the program has */
};

extern const struct option capture_option_table[];
extern const size_t capture_option_count;

#define CAPTURE_OPTIONS(options_)                                                                  \
    {                                                                                              \
        capture_option_table, capture_option_count, (options_), true                               \
    }

/** Names as the options have them; NULL, having said why. */
struct pug_names *capture_names(const struct input_options *input,
                                const struct capture_options *options);

/**
 * Frees them. A file that could not be read is reported, and is the exit code. NULL is left alone.
 */
void capture_names_end(struct pug_names *names);

#endif
