// SPDX-License-Identifier: MIT
/** @file Command-line options as tables: one list parses them and prints their help. */
#ifndef PUGMARK_TOOL_OPTIONS_H
#define PUGMARK_TOOL_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct option;

/** Takes an option's argument (NULL for a switch); returns false, having said why, if it is bad. */
typedef bool option_fn(const struct option *option, void *target, const char *argument);

/**
 * An option, or, without a name, the heading of the options that follow it in --help.
 *
 * `argument` is what --help calls the option's value. NULL: a switch. "[=TIME]": the value may be
 * left out, and is NULL then. Words between `|` are the values that can be, as in
 * "auto|always|never". A word in capitals says what a value is, so that shells can complete it:
 * FILE, DIR, FUNCTION, ADDRESS (a function, too), PROTOCOL, TRANSPORT, CORE, ID (of a source), CPU,
 * PID, TID, THREAD (its name), OBJECT (a program that ran), BUFFER, SETTING=VALUE, FORMAT (of
 * profiles), TYPE (of elements). Other words complete to nothing.
 */
struct option {
    const char *name; /**< without the dashes */
    const char *argument;
    const char *help;
    option_fn *take;
    size_t offset; /**< of the target in the options struct that belongs to the table */
};

/** A row that begins a group of options. */
#define OPTION_GROUP(title)                                                                        \
    {                                                                                              \
        NULL, NULL, (title), NULL, 0                                                               \
    }

/** A table of options and the struct that they fill. */
struct option_set {
    const struct option *options;
    size_t count;
    void *target;
    bool common; /**< many commands have them: --help-all lists them, --help does not */
};

#define OPTION_SET(table, target_)                                                                 \
    {                                                                                              \
        (table), sizeof(table) / sizeof((table)[0]), (target_), false                              \
    }

/** A number that was given or not. */
struct option_value {
    bool given;
    uint64_t value;
};

/** Words of an option that may be repeated; as many as there are. */
struct option_list {
    const char **items;
    size_t count, room;
};

/** Add a word, which stays; false, having said so: no memory. */
bool option_list_add(struct option_list *list, const char *word);
/** Add a copy of a word. */
bool option_list_add_copy(struct option_list *list, const char *word);

/** An option that was given, with its argument (NULL of a switch). */
struct option_word {
    const struct option *option;
    const char *argument;
};

/** The n-th option that options_parse() took the last time; false: there are no more. */
bool option_word_at(size_t n, struct option_word *word);

/** Free the items of all lists, when nothing looks at them any more. */
void option_lists_free(void);

/**
 * Ready-made takers. Targets: bool, uint64_t, struct option_value, const char *, struct
 * option_list.
 */
option_fn option_flag, option_number, option_given, option_string, option_to_list;

/** More threads than this are a mistake. */
#define MOST_JOBS 1024u

/** Numbers that are at least 1. Targets: uint64_t; struct option_value. */
option_fn option_some, option_some_given;

/** Numbers that a size_t holds; of threads. Target: uint64_t. */
option_fn option_size, option_jobs;

/** Of --expansion. Target: uint32_t. */
option_fn option_expansion;

/** A number up to `most`; false, having said why, if it is none. */
bool option_up_to(const struct option *option, const char *argument, uint64_t most,
                  uint64_t *value);

/** Say what is wrong with an option's argument; false. */
bool option_refuse(const struct option *option, const char *argument, const char *why);

/** A number with 0x, octal or decimal prefix and nothing after it. */
bool parse_number(const char *text, uint64_t *value);

/**
 * Parse; operands (words that are no options) are moved to the front of argv[1..] and counted in
 * *operands. Returns false, having said why on standard error, for a bad option.
 */
bool options_parse(int argc, char **argv, const struct option_set *sets, size_t set_count,
                   int *operands);

/** The option of this name: a command's own one goes before a common one. NULL: there is none. */
const struct option *option_find(const struct option_set *sets, size_t set_count, const char *name,
                                 size_t length);

/**
 * The n-th option of all sets, in their order; NULL: there are no more. Options that another one of
 * their name hides are left out; headings without an option are not. `set`: where it is; or NULL.
 */
const struct option *option_at(const struct option_set *sets, size_t set_count, size_t n,
                               size_t *set);

/** How an option is written: "--output FILE". */
void option_words(const struct option *option, char *text, size_t size);

#endif
