// SPDX-License-Identifier: MIT
/** @file What --help prints: made from a command's description and its tables of options. */
#ifndef PUGMARK_TOOL_HELP_TEXT_H
#define PUGMARK_TOOL_HELP_TEXT_H

#include "command.h"

/** Prints a paragraph to standard output, indented, with lines as wide as the terminal. */
void help_paragraph(unsigned indent, const char *text);

/** Prints a term and what it is, which begins at column `at` and goes on there. */
void help_term(const char *term, unsigned at, const char *text);

/** Prints usage, purpose, examples and options; the common options only with `all`. */
void help_command(const struct command *command, const struct option_set *sets, size_t set_count,
                  bool all);

/** Prints tables of options, with their headings. `common`: those that many commands have. */
void help_options(const struct option_set *sets, size_t set_count, bool common);

/** Prints tables of options in a form of its own. */
struct help_form {
    void *context;
    void (*heading)(void *context, const char *heading);
    void (*option)(void *context, const struct option *option);
};

/**
 * Gives a form all options of these tables that are common, or all that are not. Each heading comes
 * before the first option that follows it. `heading`: of the first options; NULL: they have none.
 */
void help_each_option(const struct option_set *sets, size_t set_count, bool common,
                      const char *heading, const struct help_form *form);

/** Do these tables have options that are common, or others? */
bool help_has_options(const struct option_set *sets, size_t set_count, bool common);

/** The heading of a task in `pugmark help`; NULL after the last one. */
const char *help_task(enum command_task task);

#endif
