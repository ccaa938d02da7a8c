// SPDX-License-Identifier: MIT
#define _XOPEN_SOURCE 700 /* realpath() */
#include "folders.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/** Is a path a folder, or below it? Both have all their links resolved. */
static bool holds(const char *folder, const char *path)
{
    const size_t length = strlen(folder);
    return strncmp(folder, path, length) == 0 && (path[length] == '/' || path[length] == 0);
}

bool folder_is_own(const char *folder)
{
    const char *home = getenv("HOME");
    char *real = realpath(folder, NULL), *real_home = home ? realpath(home, NULL) : NULL;
    const bool own =
        real && strcmp(real, "/") != 0 && !(real_home && *real_home && holds(real, real_home));
    free(real);
    free(real_home);
    return own;
}

bool folder_of_input(const char *operand, char *folder, size_t size)
{
    struct stat status;
    if (strcmp(operand, "-") == 0 || stat(operand, &status) != 0)
        return false;
    const char *slash = strrchr(operand, '/');
    int length;
    if (S_ISDIR(status.st_mode))
        length = snprintf(folder, size, "%s", operand);
    else if (slash)
        length = snprintf(folder, size, "%.*s", (int)(slash - operand) + 1, operand);
    else
        length = snprintf(folder, size, ".");
    return length > 0 && (size_t)length < size;
}
