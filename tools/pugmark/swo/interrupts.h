// SPDX-License-Identifier: MIT
/** @file What interrupts cost, by the exception trace of a DWT: `calls` and `profile` show it. */
#ifndef PUGMARK_TOOL_INTERRUPTS_H
#define PUGMARK_TOOL_INTERRUPTS_H

#include "text/sink.h"

#include "input/input.h"

/** Put a table of all interrupts of an input into a sink; with `json` as lines. An exit code. */
int interrupts_print(struct input *input, bool json, struct pug_sink *sink);

#endif
