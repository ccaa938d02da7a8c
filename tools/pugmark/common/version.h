// SPDX-License-Identifier: MIT
/** @file `pugmark --version`: which version this is, and what this build and this machine can do.
 */
#ifndef PUGMARK_TOOL_VERSION_H
#define PUGMARK_TOOL_VERSION_H

/** Prints it; `form` is NULL for people, or "--json". Returns the exit code. */
int version_print(const char *form);

#endif
