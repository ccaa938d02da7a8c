// SPDX-License-Identifier: MIT
/** @file The files that a capture names: an output that is one of them would destroy it. */
#include "input_private.h"

#include "common/outputs.h"
#include "snapshot/snapshot.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool spare(const struct input *input, const char *path)
{
    return !path || outputs_spare(pug_capture_path(input->capture), path);
}

static bool spare_named(const struct input *input, const struct pug_snapshot *snapshot,
                        const char *file)
{
    const size_t size = file ? pug_snapshot_path(snapshot, file, NULL, 0) + 1 : 0;
    char *path = file ? malloc(size) : NULL;
    if (path)
        pug_snapshot_path(snapshot, file, path, size);
    const bool good = spare(input, path);
    free(path);
    return good;
}

static bool spare_list(const struct input *input, const struct pug_snapshot *snapshot,
                       const char *files)
{
    char *copy = files ? strdup(files) : NULL, *rest = NULL;
    bool good = true;
    for (char *piece = copy ? strtok_r(copy, ", \t", &rest) : NULL; piece && good;
         piece = strtok_r(NULL, ", \t", &rest))
        good = spare_named(input, snapshot, piece);
    free(copy);
    return good;
}

static bool spare_snapshot(const struct input *input, const struct pug_snapshot *snapshot)
{
    const struct pug_snapshot_device *device;
    const struct pug_snapshot_buffer *buffer;
    bool good = spare_named(input, snapshot, "snapshot.ini") &&
                spare_named(input, snapshot, snapshot->metadata);
    for (size_t n = 0; good && (device = pug_snapshot_device_at(snapshot, n)) != NULL; n++) {
        good = spare_named(input, snapshot, device->file);
        for (size_t i = 0; good && i < device->dump_count; i++)
            good = spare_named(input, snapshot, device->dumps[i].file);
    }
    for (size_t n = 0; good && (buffer = pug_snapshot_buffer_at(snapshot, n)) != NULL; n++)
        good = spare_list(input, snapshot, buffer->file);
    return good;
}

bool input_spares_files(const struct input *input)
{
    const struct pug_snapshot *snapshot = pug_capture_snapshot(input->capture);
    const struct pug_capture_buffer *buffer;
    const struct pug_capture_object *object;
    if (!outputs_are_there())
        return true;
    bool good = !snapshot || spare_snapshot(input, snapshot);
    for (size_t n = 0; good && (buffer = pug_capture_buffer_at(input->capture, n)) != NULL; n++)
        good = spare(input, buffer->file);
    for (size_t n = 0; good && (object = pug_capture_object_at(input->capture, n)) != NULL; n++)
        good = spare(input, object->file) && spare(input, object->symbols);
    return good;
}
