// SPDX-License-Identifier: MIT
/** @file Values of options, for shells: fixed ones, and those that the INPUT at hand has. */
#ifndef PUGMARK_TOOL_COMPLETE_VALUES_H
#define PUGMARK_TOOL_COMPLETE_VALUES_H

#include "common/command.h"

/** A command line as far as it is written. */
struct complete_line {
    const struct command *command;
    const struct option_set *sets;
    size_t set_count;
    char **words; /**< after the command's name, whole ones */
    size_t count;
};

/** Prints a candidate and what it is; with `prefix` in front. */
void complete_put(const char *prefix, const char *word, const char *about);

/** Prints the values of an option that begin with `begin`. */
void complete_values(const struct complete_line *line, const struct option *option,
                     const char *prefix, const char *begin);

#endif
