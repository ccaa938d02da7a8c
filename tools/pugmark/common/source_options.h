// SPDX-License-Identifier: MIT
/** @file --source-dir: whose source text may be in a page. */
#ifndef PUGMARK_TOOL_SOURCE_OPTIONS_H
#define PUGMARK_TOOL_SOURCE_OPTIONS_H

#include "options.h"

#include "pugmark/export.h"

/** The content of the option. */
struct source_options {
    struct option_list folders;
};

extern const struct option source_option_table[];
extern const size_t source_option_count;

#define SOURCE_OPTIONS(options_)                                                                   \
    {                                                                                              \
        source_option_table, source_option_count, (options_), false                                \
    }

/**
 * Folders for a page of these inputs: those of the option, else those of the inputs and the current
 * one, if they are folders of their own. False, having said so: no memory.
 */
bool source_permit(const struct source_options *options, char *const *operands,
                   struct pug_report *report);

/** Says which files a page does not have, and what permits them. */
void source_say_withheld(const struct pug_report *report, bool quiet);

#endif
