// SPDX-License-Identifier: MIT
/**
 * @file QEMU's own log of exceptions (`-d int`), in memory. The plugin interface does not report
 * exceptions. A processor's thread writes the lines before it runs the handler's first block, so
 * at each block the plugin looks whether there are new ones: a load from memory, no system call.
 */
#ifndef PUG_RECORDER_PLUGIN_LOG_H
#define PUG_RECORDER_PLUGIN_LOG_H

#include <stdbool.h>

/** Starts the log. Returns false where this QEMU does not export what is needed, or the user has
 *  the log (-d). */
bool log_begin(void);
/** Returns whether there is a line that was not taken. */
bool log_waits(void);
/** Returns the next line, without its end, until the next call; NULL: there is none. */
const char *log_next(void);
/** Puts the last line back: log_next() returns it again. */
void log_back(void);

#endif
