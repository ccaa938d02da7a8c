// SPDX-License-Identifier: MIT
/**
 * @file A folder of streams, whole or not at all: it has another name until it is whole, and goes
 * when a signal ends the process.
 */
#ifndef PUGMARK_TOOL_STREAM_FOLDER_H
#define PUGMARK_TOOL_STREAM_FOLDER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** One at a time. */
struct stream_folder {
    const char *target;
    char path[4000], name[4096];
    int error; /* the first errno of streams */
};

/** A new folder for the target, which is not there yet; false, having said why. */
bool stream_folder_make(struct stream_folder *folder);

/** Append to a stream; false, with errno: it cannot be written. `context` is the folder. */
bool stream_folder_append(void *context, uint32_t stream, const void *bytes, size_t size);

/** Give it its name, if the exit code says that it is whole, or let it go; an exit code. */
int stream_folder_end(struct stream_folder *folder, int code);

#endif
