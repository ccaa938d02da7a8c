// SPDX-License-Identifier: MIT
/** @file The commands to try next with a file of trace that nothing describes. */
#ifndef PUGMARK_TOOL_NEXT_STEP_H
#define PUGMARK_TOOL_NEXT_STEP_H

#include "pugmark/advanced/diagnose.h"

/** Prints them for a file that looks like this. */
void next_step_print(const char *path, const struct pug_guess *guess);

/** Prints it for a file that resembles nothing known. */
void next_step_print_unknown(const char *path);

#endif
