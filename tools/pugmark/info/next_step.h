// SPDX-License-Identifier: MIT
/** @file The commands to try next with a capture. */
#ifndef PUGMARK_TOOL_NEXT_STEP_H
#define PUGMARK_TOOL_NEXT_STEP_H

#include "input/input.h"
#include "pugmark/advanced/diagnose.h"

/** Prints them for a file that nothing describes, and that looks like this. */
void next_step_print(const char *path, const struct pug_guess *guess);

/** Prints it for a file that resembles nothing known. */
void next_step_print_unknown(const char *path);

/** Prints them for a capture that is described: by itself, or by options. */
void next_step_print_described(const struct input *input, const char *path);

#endif
