// SPDX-License-Identifier: MIT
/** @file A new folder for temporary files, or one file: in $TMPDIR, or in /tmp where that is not
 * set or too long. */
#ifndef PUG_TESTS_SUPPORT_TEMPORARY_H
#define PUG_TESTS_SUPPORT_TEMPORARY_H

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/** Its path, to be made. */
static inline void temporary_path(char *path, size_t size, const char *name)
{
    static const char form[] = "%s/pug-%s-XXXXXX";
    const char *above = getenv("TMPDIR");
    const int length = snprintf(path, size, form, above && *above ? above : "/tmp", name);
    if (length > 0 && (size_t)length >= size)
        snprintf(path, size, form, "/tmp", name);
}

/** Make a folder; its path. */
static inline bool temporary_folder(char *path, size_t size, const char *name)
{
    temporary_path(path, size, name);
    if (mkdtemp(path))
        return true;
    perror(path);
    return false;
}

/** Make a file; its path, and a descriptor, or -1. */
static inline int temporary_file(char *path, size_t size, const char *name)
{
    temporary_path(path, size, name);
    const int file = mkstemp(path);
    if (file < 0)
        perror(path);
    return file;
}

#endif
