// SPDX-License-Identifier: MIT
/** @file What lines of `pugmark calls` consist of: columns of numbers, the indentation, names. */
#ifndef PUGMARK_TOOL_CALLS_LINES_H
#define PUGMARK_TOOL_CALLS_LINES_H

#include "pugmark/calls.h"

/** A column; blank where the number is not known. */
void calls_put_number(bool known, uint64_t value);
/** Puts the space between the columns and a name. */
void calls_put_indent(uint32_t depth);

void calls_put_exception(uint8_t numbers, uint32_t number);
/** `name` may be NULL: then it is called by where it begins, as in profiles: "[4000c4]". */
void calls_put_function(const char *name, uint64_t function);
/** The frame's function, which begins at `vaddr` in its file, and of an exception which one. */
void calls_put_name(const struct pug_call_frame *frame, uint64_t vaddr);

#endif
