// SPDX-License-Identifier: MIT
/** @file Outputs that are inputs: refused before anything is written. */
#ifndef PUGMARK_TOOL_OUTPUTS_H
#define PUGMARK_TOOL_OUTPUTS_H

#include "options.h"

/** Does an option name a file or folder that the command writes? */
bool option_is_output(const struct option *option);
/** Does it name a file that is read? */
bool option_is_input(const struct option *option);

/**
 * Compares the outputs that options named with all inputs that options and operands name, by device
 * and inode, and with each other. False, having said so: two of them are one file.
 */
bool outputs_are_apart(char *const *operands, size_t count);

/** Compares a file that the input `input` names with all outputs. False, having said so: it is one.
 */
bool outputs_spare(const char *input, const char *path);

/** Is there a regular file where an output will be? Else there is nothing to compare. */
bool outputs_are_there(void);

/** One more output, which belongs to no option of the command; it stays until the end. */
void outputs_add(const char *path);

#endif
