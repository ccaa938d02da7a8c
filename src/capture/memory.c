// SPDX-License-Identifier: MIT
/** @file A file's bytes in memory. */
#include "capture/capture.h"
#include "files/map.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

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
