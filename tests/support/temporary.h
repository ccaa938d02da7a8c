// SPDX-License-Identifier: MIT
/** @file A new folder for temporary files, in $TMPDIR or /tmp. */
#ifndef PUG_TESTS_SUPPORT_TEMPORARY_H
#define PUG_TESTS_SUPPORT_TEMPORARY_H

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/** Make it; its path. */
static inline bool temporary_folder(char *path, size_t size, const char *name)
{
    const char *above = getenv("TMPDIR");
    const int length = snprintf(path, size, "%s/pug-%s-XXXXXX", above ? above : "/tmp", name);
    return length > 0 && (size_t)length < size && mkdtemp(path) != NULL;
}

#endif
