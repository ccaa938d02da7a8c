// SPDX-License-Identifier: MIT
/** @file What the terminal that standard output or standard error may be can do. */
#ifndef PUGMARK_TOOL_TERMINAL_H
#define PUGMARK_TOOL_TERMINAL_H

#include <stdbool.h>
#include <stdio.h>

/** Columns of a stream's terminal: COLUMNS, or what the terminal says; else 80. From 40 to 200. */
unsigned terminal_width(FILE *stream);

/** Is the stream a terminal? */
bool terminal_is(FILE *stream);

/**
 * Do colours go there? `when` is "always", "never", or "auto" or NULL: to a terminal whose TERM is
 * not dumb, while NO_COLOR has no text.
 */
bool terminal_colour(FILE *stream, const char *when);

/**
 * May a command's output go where its option says (NULL or "-": standard output)? False, having
 * said so, of a terminal: `what` ("a page") is nothing that it could show.
 */
bool terminal_may_have(const char *output, const char *what);

#endif
