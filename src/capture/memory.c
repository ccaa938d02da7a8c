// SPDX-License-Identifier: MIT
/** @file A file's bytes in memory. */
#include "capture/capture.h"
#include "files/map.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static enum pug_status fail(const struct pug_capture *capture, const char *path, const char *why)
{
    pug_capture_say(capture, PUG_SEV_ERROR, PUG_OK, "%s: %s", path, why);
    return PUG_ERR_FILE;
}

enum pug_status pug_capture_map(const struct pug_capture *capture, const char *path,
                                struct pug_capture_bytes *bytes)
{
    *bytes = (struct pug_capture_bytes){0};
    const enum pug_status status = pug_map_open(path, &bytes->map);
    if (status == PUG_OK) {
        bytes->bytes = pug_map_bytes(bytes->map);
        bytes->size = pug_map_size(bytes->map);
        return PUG_OK;
    }
    (void)fail(capture, path,
               status != PUG_ERR_FILE               ? pug_status_text(status)
               : errno == EINVAL || errno == EISDIR ? "not a file"
                                                    : strerror(errno));
    return status;
}

void pug_capture_release(struct pug_capture_bytes *bytes)
{
    if (bytes->map)
        pug_map_close(bytes->map);
    else
        free((void *)(uintptr_t)bytes->bytes);
    *bytes = (struct pug_capture_bytes){0};
}

bool pug_capture_shrank(const struct pug_capture_bytes *bytes, const char *path,
                        struct pug_read_failure *failure)
{
    *failure = (struct pug_read_failure){.path = path, .status = PUG_ERR_TRUNCATED};
    return bytes->map && pug_map_lost(bytes->map, &failure->offset);
}

/* ---- streams ---- */

#define FIRST_ROOM ((size_t)1 << 20)

static enum pug_status read_all(int file, struct pug_capture_bytes *bytes)
{
    size_t room = (size_t)bytes->size;
    uint8_t *all = (uint8_t *)(uintptr_t)bytes->bytes;
    for (;;) {
        if (bytes->size == room) {
            size_t more = room ? room * 2 : FIRST_ROOM;
            uint8_t *grown = realloc(all, more);
            if (!grown)
                return PUG_ERR_MEM;
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

int pug_capture_open_stream(const struct pug_capture *capture)
{
    const bool standard = strcmp(capture->path, "-") == 0;
    const int file = standard ? dup(STDIN_FILENO) : open(capture->path, O_RDONLY | O_CLOEXEC);
    if (file < 0)
        pug_capture_say(capture, PUG_SEV_ERROR, PUG_OK, "%s: %s", capture->path, strerror(errno));
    return file;
}

enum pug_status pug_capture_slurp(const struct pug_capture *capture, int stream,
                                  struct pug_capture_bytes *bytes)
{
    enum pug_status status = read_all(stream, bytes);
    if (status != PUG_OK)
        pug_capture_say(capture, PUG_SEV_ERROR, PUG_OK, "%s: %s", capture->path,
                        status == PUG_ERR_FILE ? strerror(errno) : pug_status_text(status));
    return status;
}
