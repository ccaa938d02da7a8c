// SPDX-License-Identifier: MIT
/** @file Tables of times as `calls` and `profile` print them. */
#ifndef PUGMARK_TOOL_TIMES_COMMAND_H
#define PUGMARK_TOOL_TIMES_COMMAND_H

#include "times.h"

struct times_options {
    bool callers; /**< by caller, too */
    enum times_form form;
    uint64_t rows;         /**< 0: all */
    const char *histogram; /**< of this function, in place of a table; or NULL */
    const char *output;    /**< a file; NULL: standard output */
};

/** Prints that of one input; an exit code, having said what went wrong. */
int times_print(const struct input_options *input, const struct capture_options *capture,
                const char *operand, const struct times_options *options);

#endif
