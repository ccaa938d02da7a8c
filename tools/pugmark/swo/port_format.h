// SPDX-License-Identifier: MIT
/** @file How a write to a stimulus port is shown: formats in printf's manner. */
#ifndef PUGMARK_TOOL_PORT_FORMAT_H
#define PUGMARK_TOOL_PORT_FORMAT_H

#include "base/text.h"
#include "pugmark/dwt.h"

#include <stdbool.h>

/** Is it a format: text, "%%", and conversions c, d, i, u, x, X, o, e, f, g, a with flags? */
bool port_format_check(const char *format);

/** Does a write make a line of its own? Not if all conversions are of characters. */
bool port_format_is_line(const char *format);

/**
 * Put a write into a text. Each conversion is of the value written: signed by its size for d and
 * i, as a number of 32 bits in floating point for e, f, g and a, all its bytes for c. Backslashes
 * begin \n, \t, \\ and \xNN.
 */
void port_format_put(struct pug_text *text, const char *format, const struct pug_dwt_event *event);

#endif
