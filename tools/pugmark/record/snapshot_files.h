// SPDX-License-Identifier: MIT
/** @file The files of a snapshot that say what its trace is: for `pugmark snapshot` and --save. */
#ifndef PUGMARK_TOOL_SNAPSHOT_FILES_H
#define PUGMARK_TOOL_SNAPSHOT_FILES_H

#include "input/input.h"

/** A buffer: its name, its file in the folder, and of a live input when it came. */
struct snapshot_buffer {
    const char *name, *file, *times;
};

/**
 * Write the ini files of an input's sources. `saved`: of a live input, of which nothing is guessed
 * any more. False, having said why.
 */
bool snapshot_describe(const struct input *input, const char *folder,
                       const struct snapshot_buffer *buffers, size_t count, bool saved);

/** Copy the programs that options named. False, having said why. */
bool snapshot_copy_programs(const struct input *input, const char *folder);

#endif
