// SPDX-License-Identifier: MIT
/** @file Input from one file of trace that the command line describes. */
#ifndef PUGMARK_TOOL_RAW_H
#define PUGMARK_TOOL_RAW_H

#include "input.h"

/** Understand the description; false, having said why. */
bool raw_open(struct input *input, const char *path);
/** With the trace at hand: which sources it has; false, having said why. */
bool raw_find_sources(struct input *input);
void raw_close(struct input *input);

#endif
