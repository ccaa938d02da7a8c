// SPDX-License-Identifier: MIT
/**
 * @file Files of the project to begin with, and files for functions that open files by their names.
 */
#ifndef PUG_FUZZ_FILES_H
#define PUG_FUZZ_FILES_H

#include <stddef.h>
#include <stdint.h>

/** The path of a file in the target's own folder; valid until the next call. */
const char *fuzz_place(const char *name);

/** Write one there. */
void fuzz_write(const char *name, const void *bytes, size_t size);

/** At most `room` bytes of a file of the project, by its path below the source; how many. */
size_t fuzz_load(const char *path, uint8_t *data, size_t room);

#endif
