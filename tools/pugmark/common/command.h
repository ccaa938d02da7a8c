// SPDX-License-Identifier: MIT
/** @file A subcommand, and the exit codes that all of them share. */
#ifndef PUGMARK_TOOL_COMMAND_H
#define PUGMARK_TOOL_COMMAND_H

#include "options.h"

enum exit_code {
    EXIT_DONE = 0,
    EXIT_TRACE_ERRORS = 1, /**< decoded, but the trace had errors (see standard error) */
    EXIT_USAGE = 2,
    EXIT_INPUT = 3, /**< the input cannot be read, or the output cannot be written */
    EXIT_FATAL = 4, /**< decoding had to stop */
};

struct command {
    const char *name;
    const char *operands; /**< "INPUT" */
    const char *summary;
    int (*run)(const struct command *self, int argc, char **argv);
};

extern const struct command command_calls;
extern const struct command command_convert;
extern const struct command command_coverage;
extern const struct command command_diff;
extern const struct command command_encode;
extern const struct command command_find;
extern const struct command command_index;
extern const struct command command_info;
extern const struct command command_itm;
extern const struct command command_list;
extern const struct command command_live;
extern const struct command command_merge;
extern const struct command command_pc;
extern const struct command command_profile;
extern const struct command command_record;
extern const struct command command_report;
extern const struct command command_serve;
extern const struct command command_stat;
extern const struct command command_threads;
extern const struct command command_timeline;
extern const struct command command_top;
extern const struct command command_trace;

/**
 * Parse options, answer --help, check the number of operands; -N: N or more, with NULL behind them.
 * Returns -1 to go on, else exit.
 */
int command_start(const struct command *self, int argc, char **argv, const struct option_set *sets,
                  size_t set_count, int operands);

/** Who wants to know a command's inputs, instead of having it done. */
struct command_watcher {
    void (*tell)(void *context, char **inputs, size_t count);
    void *context;
};

/** From now on command_start() tells that; NULL: commands are done. */
void command_watch(const struct command_watcher *watcher);

/** Did everything that was printed arrive? What commands put out by themselves is checked there. */
int command_printed(int code);

#endif
