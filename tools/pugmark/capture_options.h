// SPDX-License-Identifier: MIT
/** @file Options of commands that take captures: where their text is, and which part of them
 * counts. */
#ifndef PUGMARK_TOOL_CAPTURE_OPTIONS_H
#define PUGMARK_TOOL_CAPTURE_OPTIONS_H

#include "input.h"

/** What the options of captures say, beside those of every input. */
struct capture_options {
    const char *symfs, *kernel, *kallsyms;
    struct input_list symdirs, debug_dirs, dsos, pids, tids, comms, cpus;
    const char *from_to; /**< --time FROM,TO */
};

extern const struct option capture_option_table[];
extern const size_t capture_option_count;

#define CAPTURE_OPTIONS(options_)                                                                  \
    {                                                                                              \
        capture_option_table, capture_option_count, (options_)                                     \
    }

/** The object that --dso NAME chose (of several the last one), or NULL. */
const char *capture_chosen_object(const struct capture_options *options);

/** Which part of a capture counts. */
struct capture_selection {
    struct pug_capture_selection is;
    int32_t pids[INPUT_LIST], tids[INPUT_LIST], cpus[INPUT_LIST];
    uint16_t sources[INPUT_LIST];
};

/** False, having said why: what is asked for makes no sense. */
bool capture_select(const struct input_options *input, const struct capture_options *options,
                    struct capture_selection *selection);

/** Where text is looked for. Its addresses are used: it must not be copied. */
struct capture_roots {
    struct pug_capture_roots is;
    struct pug_capture_replacement replacements[INPUT_LIST];
};

/** False: no memory. Free it in any case. */
bool capture_take_roots(const struct capture_options *options, struct capture_roots *roots);
void capture_free_roots(struct capture_roots *roots);

/** Names as the options have them; NULL, having said why. */
struct pug_names *capture_names(const struct capture_options *options);

#endif
