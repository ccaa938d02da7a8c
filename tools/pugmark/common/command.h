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

/** The headings that `pugmark help` lists commands under, in this order. */
enum command_task {
    TASK_LOOK,     /**< see what a file holds */
    TASK_FOLLOW,   /**< see what ran */
    TASK_COUNT,    /**< measure and compare */
    TASK_SOFTWARE, /**< text and events that the program sent */
    TASK_FIND,     /**< find a place in a long trace */
    TASK_LIVE,     /**< watch a running target */
    TASK_DEBUG,    /**< debug and check */
    TASK_MAKE,     /**< make trace */
    TASK_HELP,     /**< about pugmark itself */
    TASK_HIDDEN,   /**< for scripts; in no list */
};

/**
 * A command line that can be copied, and what it does. Paths begin at the folder above examples/.
 */
struct command_example {
    const char *line;
    const char *what;
};

#define COMMAND_EXAMPLES 3

/**
 * A subcommand. Help, man pages, completions and the command reference are made of this, and of
 * the option tables that `run` gives to command_start().
 */
struct command {
    const char *name;
    const char *operands; /**< "INPUT" */
    const char *summary;  /**< one line, for lists */
    int (*run)(const struct command *self, int argc, char **argv);
    enum command_task task;
    const char *purpose; /**< what it is for, in a few sentences */
    struct command_example examples[COMMAND_EXAMPLES];
    void (*more_help)(void); /**< prints what --help shows after the options; or NULL */
};

/** The n-th command, by name; NULL: there are no more. */
const struct command *command_at(size_t n);
/** NULL: no command has this name. */
const struct command *command_find_name(const char *name);
/** Says that no command has this name, and which one is near; EXIT_USAGE. */
int command_refuse(const char *name);

extern const struct command command_calls;
extern const struct command command_check;
extern const struct command command_complete;
extern const struct command command_convert;
extern const struct command command_coverage;
extern const struct command command_debug;
extern const struct command command_diff;
extern const struct command command_encode;
extern const struct command command_explain;
extern const struct command command_find;
extern const struct command command_gdb;
extern const struct command command_help;
extern const struct command command_index;
extern const struct command command_info;
extern const struct command command_itm;
extern const struct command command_list;
extern const struct command command_live;
extern const struct command command_merge;
extern const struct command command_pc;
extern const struct command command_profile;
extern const struct command command_record;
extern const struct command command_reference;
extern const struct command command_report;
extern const struct command command_serve;
extern const struct command command_snapshot;
extern const struct command command_stat;
extern const struct command command_threads;
extern const struct command command_timeline;
extern const struct command command_top;
extern const struct command command_trace;

/**
 * Parse options, answer --help, check the number of operands; -N: N or more, followed by NULL.
 * Returns -1 to go on, else exit.
 */
int command_start(const struct command *self, int argc, char **argv, const struct option_set *sets,
                  size_t set_count, int operands);

/** Receives a command's inputs, instead of having the command run. */
struct command_watcher {
    void (*tell)(void *context, char **inputs, size_t count);
    void *context;
};

/** From now on command_start() gives its inputs to it; NULL: commands run. */
void command_watch(const struct command_watcher *watcher);

/** Receives a command with its tables of options, instead of having it done. */
struct command_reader {
    void (*read)(void *context, const struct command *command, const struct option_set *sets,
                 size_t set_count);
    void *context;
};

/** Gives a command's options to a reader; nothing is run, parsed or printed. */
void command_read(const struct command *command, const struct command_reader *reader);

/** Did everything that was printed arrive? What commands put out by themselves is checked there. */
int command_printed(int code);

#endif
