// SPDX-License-Identifier: MIT
#include "files/scratch.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <unistd.h>

const char *pug_scratch_folder(void)
{
    const char *folder = getenv("TMPDIR");
    return folder && *folder ? folder : "/tmp";
}

int pug_scratch_open(void)
{
    char path[PATH_MAX];
    const int length = snprintf(path, sizeof(path), "%s/pugmark-XXXXXX", pug_scratch_folder());
    if (length < 0 || (size_t)length >= sizeof(path)) {
        errno = ENAMETOOLONG;
        return -1;
    }
    const int file = mkstemp(path);
    if (file < 0)
        return -1;
    unlink(path);
    (void)fcntl(file, F_SETFD, FD_CLOEXEC);
    return file;
}

FILE *pug_scratch_stream(void)
{
    const int file = pug_scratch_open();
    FILE *stream = file >= 0 ? fdopen(file, "w+b") : NULL;
    if (!stream && file >= 0) {
        const int why = errno;
        close(file);
        errno = why;
    }
    return stream;
}
