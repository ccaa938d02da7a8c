// SPDX-License-Identifier: MIT
/** @file Starting GDB on a pipe to this command, with all that it needs. */
#ifndef PUGMARK_TOOL_GDB_LAUNCH_H
#define PUGMARK_TOOL_GDB_LAUNCH_H

/**
 * Becomes GDB. The command line of this one is argv: its own words, `words` of them, then "--" and
 * GDB's, up to NULL. `operand` is its INPUT. Returns an exit code, having said why, where it
 * cannot.
 */
int gdb_launch(const char *gdb, const char *operand, int words, char **argv);

#endif
