// SPDX-License-Identifier: MIT
/** @file Files that a snapshot names, and that are not in its folder: "../", links that lead out.
 */
#define _XOPEN_SOURCE 700 /* realpath() */
#include "snapshot/ini.h"
#include "snapshot/snapshot.h"

#include <stdlib.h>
#include <string.h>

#define READER "snapshot"

/** By its name alone. */
static bool leads_up(const char *file)
{
    for (const char *at = file; *at;) {
        const size_t length = strcspn(at, "/\\");
        if (length == 2 && at[0] == '.' && at[1] == '.')
            return true;
        at += length + (at[length] != 0);
    }
    return false;
}

/** Where links lead. What is not there leads nowhere. */
static bool leads_out(const struct pug_snapshot *snapshot, const char *path)
{
#ifdef _WIN32
    (void)snapshot;
    (void)path;
    return false;
#else
    char *folder = realpath(snapshot->directory, NULL), *real = realpath(path, NULL);
    const size_t length = folder ? strlen(folder) : 0;
    const bool root = length == 1;
    const bool out =
        real && (!folder || strncmp(real, folder, length) != 0 || (!root && real[length] != '/'));
    free(folder);
    free(real);
    return out;
#endif
}

bool pug_snapshot_refuses(struct pug_snapshot *snapshot, const char *file)
{
    if (!snapshot->options.confine || !file)
        return false;
    const size_t size = pug_snapshot_path(snapshot, file, NULL, 0) + 1;
    char *path = malloc(size);
    if (path)
        pug_snapshot_path(snapshot, file, path, size);
    const bool refused = !path || leads_up(file) || leads_out(snapshot, path);
    if (refused)
        pug_snapshot_say(snapshot, READER, PUG_SEV_ERROR, PUG_ERR_SNAPSHOT_READ,
                         "%s: not in the snapshot's folder\n", file);
    free(path);
    return refused;
}

/** The files of a list that commas separate. */
static bool refuses_list(struct pug_snapshot *snapshot, const char *files)
{
    char *copy = files ? strdup(files) : NULL, *rest = copy, *piece;
    bool refused = files && !copy;
    while (rest && !refused && (piece = pug_snapshot_ini_piece(&rest)) != NULL)
        refused = pug_snapshot_refuses(snapshot, piece);
    free(copy);
    return refused;
}

enum pug_status pug_snapshot_confine(struct pug_snapshot *snapshot)
{
    const struct pug_snapshot_device *device;
    const struct pug_snapshot_buffer *buffer;
    if (!snapshot->options.confine)
        return PUG_OK;
    for (size_t n = 0; (device = pug_snapshot_device_at(snapshot, n)) != NULL; n++)
        for (size_t i = 0; i < device->dump_count; i++)
            if (pug_snapshot_refuses(snapshot, device->dumps[i].file))
                return PUG_ERR_SNAPSHOT_READ;
    for (size_t n = 0; (buffer = pug_snapshot_buffer_at(snapshot, n)) != NULL; n++)
        if (refuses_list(snapshot, buffer->file))
            return PUG_ERR_SNAPSHOT_READ;
    return PUG_OK;
}
