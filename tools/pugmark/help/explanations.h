// SPDX-License-Identifier: MIT
/** @file The table of messages: what each one means and what to do next. */
#ifndef PUGMARK_TOOL_EXPLANATIONS_H
#define PUGMARK_TOOL_EXPLANATIONS_H

#include <stdbool.h>
#include <stddef.h>

/** A kind of message. Its code is stable: scripts and people may keep it. */
struct explanation {
    const char *code;
    /** How such messages begin or what is in them, with * for any text and | between several. */
    const char *says;
    const char *cause;
    const char *remedy;
};

/** The n-th one of all; false: there are no more. */
bool explanation_at(size_t n, struct explanation *explanation);

/** The one of this code; false: there is none. */
bool explanation_find(const char *code, struct explanation *explanation);

/** The one that a message's text belongs to; false: there is none. */
bool explanation_match(const char *text, struct explanation *explanation);

/** Is it worth a line at the end of a run? Not where nothing is to be done, and not for usage. */
bool explanation_is_announced(const struct explanation *explanation);

/** Parts of the table, in the order in which messages are compared with them. */
extern const struct explanation explanations_usage[], explanations_input[], explanations_trace[];
extern const size_t explanations_usage_count, explanations_input_count, explanations_trace_count;

#endif
