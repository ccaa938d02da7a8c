// SPDX-License-Identifier: MIT
/** @file Bytes into a descriptor, all of them. */
#ifndef PUG_FILES_WHOLE_H
#define PUG_FILES_WHOLE_H

#include <stdbool.h>
#include <stddef.h>

/** Write them, however many calls that takes; false, with errno: some are not written. */
bool pug_write_whole(int file, const void *bytes, size_t size);

#endif
