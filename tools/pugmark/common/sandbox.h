// SPDX-License-Identifier: MIT
/**
 * @file What a command can still do once its input is open, where --sandbox is given: read files,
 * and write below the folders of what it was told to write. Linux's Landlock sees to that, for all
 * threads that begin later.
 */
#ifndef PUGMARK_TOOL_SANDBOX_H
#define PUGMARK_TOOL_SANDBOX_H

#include "options.h"

/** Files that options name as output may be written: in their folders. To be told of before
 * sandbox_enter(). */
void sandbox_allow(const struct option_set *sets, size_t count);

/** And the folder of the input. */
void sandbox_allow_input(void);

/**
 * No program can be started from here on, no connection made, nothing written elsewhere than there
 * and among temporary files. False, having said why.
 */
bool sandbox_enter(const char *input);

#endif
