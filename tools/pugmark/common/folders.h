// SPDX-License-Identifier: MIT
/** @file Folders that a command may look into, though no option names them. */
#ifndef PUGMARK_TOOL_FOLDERS_H
#define PUGMARK_TOOL_FOLDERS_H

#include <stdbool.h>
#include <stddef.h>

/** Is it a folder of its own: not the root, not the home folder, not one that holds that? */
bool folder_is_own(const char *folder);

/** The folder that an input lies in: the input itself where it is one. False: it has none. */
bool folder_of_input(const char *operand, char *folder, size_t size);

#endif
