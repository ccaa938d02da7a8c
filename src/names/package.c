// SPDX-License-Identifier: MIT
/** @file Debug information that is not read: packages, which not every libdw does; what is too
 * large. */
#include "names/names.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#ifdef PUG_WITH_DWARF
#include <elfutils/version.h>
#define READS_PACKAGES _ELFUTILS_PREREQ(0, 191)
#else
#define READS_PACKAGES 1 /* there no debug information is read, and that is said elsewhere */
#endif

bool pug_names_too_large(const struct pug_names_file *file)
{
    return file->too_large;
}

bool pug_names_unread(const struct pug_names_file *file, char *package, size_t size)
{
    struct stat status;
    const char *const paths[] = {file->path, file->debug};
    for (size_t i = 0; i < 2 && !READS_PACKAGES; i++) {
        const int length = paths[i] ? snprintf(package, size, "%s.dwp", paths[i]) : -1;
        if (length > 0 && (size_t)length < size && stat(package, &status) == 0 &&
            S_ISREG(status.st_mode))
            return true;
    }
    return false;
}
