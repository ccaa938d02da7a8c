// SPDX-License-Identifier: MIT
/** @file The options of `pugmark check`, and its work besides checking rules. */
#ifndef PUGMARK_TOOL_CHECK_COMMAND_H
#define PUGMARK_TOOL_CHECK_COMMAND_H

#include "input/capture_options.h"

struct check_options {
    struct input_options input;
    struct capture_options capture;
    struct option_list rules;
    const char *format, *output, *baseline;
    struct option_value tolerance;
    bool allow_undecided, strict, keep_going, init;
    bool live; /**< an input is */
};

/** Compares inputs with a former one: 0, 1 (something got slower), 2 (it cannot be read). */
int check_baseline(const struct check_options *options, char **inputs, struct pug_names *names);

/** Writes rules that an input keeps, as a start; an exit code. */
int check_init(const struct check_options *options, const char *operand);

#endif
