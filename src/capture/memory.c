// SPDX-License-Identifier: MIT
/** @file A file's bytes in memory. */
#include "capture/capture.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#ifndef _WIN32
#include <sys/mman.h>
#endif

static enum pug_status map_open(int file, const struct stat *status,
                                struct pug_capture_bytes *bytes)
{
    bytes->size = (uint64_t)status->st_size;
    if (bytes->size == 0)
        return PUG_OK;
    if (bytes->size > SIZE_MAX / 2) {
        errno = EFBIG; /* of a host with short pointers */
        return PUG_ERR_FILE;
    }
    void *mapped = mmap(NULL, (size_t)bytes->size, PROT_READ, MAP_PRIVATE, file, 0);
    if (mapped == MAP_FAILED)
        return PUG_ERR_FILE;
    bytes->bytes = mapped;
    bytes->mapped = true;
    return PUG_OK;
}

static enum pug_status fail(const struct pug_capture *capture, const char *path, const char *why)
{
    pug_capture_say(capture, PUG_SEV_ERROR, PUG_OK, "%s: %s", path, why);
    return PUG_ERR_FILE;
}

enum pug_status pug_capture_map(const struct pug_capture *capture, const char *path,
                                struct pug_capture_bytes *bytes)
{
    struct stat status;
    *bytes = (struct pug_capture_bytes){0};
    /* Looked at before it is opened: a FIFO would wait for a writer. */
    if (stat(path, &status) != 0)
        return fail(capture, path, strerror(errno));
    if (!S_ISREG(status.st_mode))
        return fail(capture, path, "not a file");
    int file = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    enum pug_status result = PUG_ERR_FILE;
    if (file >= 0 && fstat(file, &status) == 0)
        result = map_open(file, &status, bytes);
    if (result != PUG_OK)
        (void)fail(capture, path, strerror(errno));
    if (file >= 0)
        close(file);
    return result;
}

void pug_capture_unmap(struct pug_capture_bytes *bytes)
{
    if (bytes->mapped)
        munmap((void *)(uintptr_t)bytes->bytes, (size_t)bytes->size);
    *bytes = (struct pug_capture_bytes){0};
}

/* ---- streams ---- */

#define FIRST_ROOM ((size_t)1 << 20)

static enum pug_status read_all(int file, struct pug_capture_bytes *bytes)
{
    size_t room = 0;
    uint8_t *all = NULL;
    for (;;) {
        if (bytes->size == room) {
            size_t more = room ? room * 2 : FIRST_ROOM;
            uint8_t *grown = realloc(all, more);
            if (!grown) {
                free(all);
                return PUG_ERR_MEM;
            }
            all = grown;
            room = more;
        }
        bytes->bytes = all;
        ssize_t got = read(file, all + bytes->size, room - bytes->size);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            return got < 0 ? PUG_ERR_FILE : PUG_OK;
        bytes->size += (uint64_t)got;
    }
}

enum pug_status pug_capture_slurp(const struct pug_capture *capture,
                                  struct pug_capture_bytes *bytes)
{
    const bool standard = strcmp(capture->path, "-") == 0;
    int file = standard ? STDIN_FILENO : open(capture->path, O_RDONLY | O_CLOEXEC);
    *bytes = (struct pug_capture_bytes){0};
    enum pug_status status = file < 0 ? PUG_ERR_FILE : read_all(file, bytes);
    if (status != PUG_OK)
        pug_capture_say(capture, PUG_SEV_ERROR, PUG_OK, "%s: %s", capture->path,
                        status == PUG_ERR_FILE ? strerror(errno) : pug_status_text(status));
    if (file >= 0 && !standard)
        close(file);
    return status;
}
