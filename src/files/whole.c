// SPDX-License-Identifier: MIT
#include "files/whole.h"

#include <errno.h>
#include <unistd.h>

bool pug_write_whole(int file, const void *bytes, size_t size)
{
    const char *at = bytes;
    while (size > 0) {
        const ssize_t written = write(file, at, size);
        if (written < 0 && errno != EINTR)
            return false;
        at += written > 0 ? written : 0;
        size -= written > 0 ? (size_t)written : 0;
    }
    return true;
}
