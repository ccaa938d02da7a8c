// SPDX-License-Identifier: MIT
/** @file What the shared options list, as the library takes it. */
#ifndef PUGMARK_TOOL_INPUT_LISTS_H
#define PUGMARK_TOOL_INPUT_LISTS_H

#include "input.h"

/** Fill the lists; false, having said why. */
bool input_lists_take(struct input_lists *lists, const struct input_options *options);
void input_lists_free(struct input_lists *lists);

/** A program as --elf and --image give it. */
struct input_program {
    const char *path;
    uint64_t address;
    uint16_t source;
    bool has_address, has_source;
};

/** Cut "FILE[@ADDRESS][@SOURCE=ID]" in its place; false: a number is none. */
bool input_program_cut(char *word, struct input_program *program);

/** "12.5", in seconds, or a number of the capture's own. False: it is neither. */
bool input_lists_parse_time(const char *word, size_t length, enum pug_capture_unit unit,
                            uint64_t *time);
/** Returns the possible forms of such a time, in words. */
const char *input_lists_time_words(enum pug_capture_unit unit);

/** One such time that an option says; false, having said why. */
bool input_lists_one_time(const char *option, const char *words, enum pug_capture_unit unit,
                          uint64_t *time);

/**
 * Finds the first timestamp of the trace that was taken then or later; `behind`: later than that.
 * False, having said why.
 */
bool input_lists_timestamp(const struct pug_capture *capture, const char *option, const char *words,
                           bool behind, uint64_t *timestamp);

/** The times that --time says, in a capture's unit; false, having said why. */
bool input_lists_time(struct input_lists *lists, const char *words, enum pug_capture_unit unit);

#endif
