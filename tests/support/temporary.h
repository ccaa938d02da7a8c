// SPDX-License-Identifier: MIT
/** @file A new folder for temporary files: in $TMPDIR, or in /tmp where that is not set or too
 * long. */
#ifndef PUG_TESTS_SUPPORT_TEMPORARY_H
#define PUG_TESTS_SUPPORT_TEMPORARY_H

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/** Make it; its path. */
static inline bool temporary_folder(char *path, size_t size, const char *name)
{
    static const char form[] = "%s/pug-%s-XXXXXX";
    const char *above = getenv("TMPDIR");
    int length = snprintf(path, size, form, above && *above ? above : "/tmp", name);
    if (length > 0 && (size_t)length >= size)
        length = snprintf(path, size, form, "/tmp", name);
    if (length > 0 && (size_t)length < size && mkdtemp(path))
        return true;
    perror(path);
    return false;
}

#endif
