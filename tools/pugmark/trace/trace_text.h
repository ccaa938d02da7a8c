// SPDX-License-Identifier: MIT
/** @file Lines of `pugmark trace`: what ran, for a reader. */
#ifndef PUGMARK_TOOL_TRACE_TEXT_H
#define PUGMARK_TOOL_TRACE_TEXT_H

#include "items/window.h"
#include "text/sink.h"

struct trace_text_options {
    bool json; /**< a JSON object a line */
    bool colour;
    bool instructions; /**< each instruction; else a line for each range */
    bool mangled;      /**< names as the linker knows them */
    unsigned columns;  /**< of the terminal; 0: as many as wanted */
    struct pug_sink *sink;
    struct pug_capture *capture;
    struct pug_names *names;
};

struct trace_text;

/** NULL: no memory. What the options point to is borrowed. */
struct trace_text *trace_text_new(const struct trace_text_options *options);
void trace_text_free(struct trace_text *text);

/** Print an item; false: no memory. */
bool trace_text_print(struct trace_text *text, const struct trace_item *item);

/** Said once at the end: what is not in the lines; NULL: nothing. */
const char *trace_text_lack(const struct trace_text *text);

#endif
