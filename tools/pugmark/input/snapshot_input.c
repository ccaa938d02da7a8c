// SPDX-License-Identifier: MIT
#include "snapshot_input.h"

#include "common/output.h"
#include "pugmark/advanced/snapshot.h"

#include <string.h>

static void print_sources(const struct pug_snapshot *snapshot,
                          const struct pug_snapshot_buffer *buffer)
{
    struct pug_snapshot_source source;
    for (size_t n = 0; pug_snapshot_source_at(snapshot, buffer, n, &source); n++) {
        output_text("  source %s: ", source.name);
        if (!source.device)
            output_text("no such device in the snapshot");
        else
            output_text("%s%s%s", source.device->type,
                        source.protocol ? ", " : ", unknown protocol",
                        source.protocol ? source.protocol : "");
        if (source.core)
            output_text(", traces %s (%s)", source.core_name, source.core->type);
        else if (source.core_name)
            output_text(", traces %s, which is not in the snapshot", source.core_name);
        output_text("\n");
    }
}

/** Those that the snapshot has; where it has none there is nothing to tell. */
static void print_clusters(const struct pug_snapshot *snapshot)
{
    struct pug_snapshot_cluster cluster;
    for (size_t n = 0; pug_snapshot_cluster_at(snapshot, n, &cluster); n++) {
        if (!*cluster.name)
            continue;
        output_text("cluster %s:", cluster.name);
        for (size_t i = 0; i < cluster.count; i++)
            output_text(" %s", cluster.devices[i]);
        output_text("\n");
    }
}

static void print_snapshot(const struct pug_snapshot *snapshot, const char *chosen)
{
    output_text("snapshot: %s\n", pug_snapshot_directory(snapshot));
    if (*pug_snapshot_description(snapshot))
        output_text("  %s\n", pug_snapshot_description(snapshot));
    output_text("devices:\n");
    const struct pug_snapshot_device *device;
    for (size_t n = 0; (device = pug_snapshot_device_at(snapshot, n)) != NULL; n++)
        output_text("  %-12s %-14s %-14s %zu registers, %zu memory images\n", device->name,
                    device->class_name, device->type, device->register_count, device->dump_count);
    print_clusters(snapshot);
    const struct pug_snapshot_buffer *buffer;
    for (size_t n = 0; (buffer = pug_snapshot_buffer_at(snapshot, n)) != NULL; n++) {
        output_text("buffer %s: %s, format %s%s\n", buffer->name, buffer->file,
                    *buffer->format ? buffer->format : "not given",
                    chosen && strcmp(chosen, buffer->name) == 0 ? " (this one)" : "");
        print_sources(snapshot, buffer);
    }
    output_text("\n");
}

void snapshot_input_print(const struct input *input)
{
    const struct pug_snapshot *snapshot = pug_capture_snapshot(input->capture);
    if (snapshot)
        print_snapshot(snapshot, input->options->buffer);
}

bool snapshot_input_print_devices(const struct input_options *options, const char *folder)
{
    const struct pug_snapshot_options how = {.confine = options->confine};
    struct pug_snapshot *snapshot;
    if (pug_snapshot_open(folder, &how, &snapshot) != PUG_OK)
        return false;
    const bool empty = !pug_snapshot_buffer_at(snapshot, 0);
    if (empty)
        print_snapshot(snapshot, NULL);
    pug_snapshot_free(snapshot);
    return empty;
}
