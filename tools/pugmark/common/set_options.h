// SPDX-License-Identifier: MIT
/** @file The options --set and --core as settings. */
#ifndef PUGMARK_TOOL_SET_OPTIONS_H
#define PUGMARK_TOOL_SET_OPTIONS_H

#include "pugmark/capture.h"

struct input_options;

/** Settings of the command line. The items' strings are in `words`, or they are of `named`. */
struct set_options {
    struct pug_setting *items;
    size_t count;
    char *words;
    char **named; /**< by item: its name, where it was made; or NULL */
};

/** Take them over, in an array with room for `spare` more. False: no memory. */
bool set_options_take(struct set_options *set, const struct input_options *options, size_t spare);
/** Where "SOURCE:NAME" says the id of a source, it gets that one's name. False: no memory. */
bool set_options_name_sources(struct set_options *set, const struct pug_capture *capture);
void set_options_free(struct set_options *set);

#endif
