// SPDX-License-Identifier: MIT
#include "snapshot_input.h"

#include "known.h"
#include "output.h"
#include "pugmark/snapshot.h"
#include "set_options.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

struct snapshot_input {
    struct pug_snapshot *snapshot;
    const struct pug_snapshot_buffer *buffer;
    struct set_options set;
    struct known known; /* the names that transport and protocols look for */
};

/** The folder: the operand, or what its snapshot.ini stands in. */
static char *folder_of(const char *path)
{
    static const char name[] = "snapshot.ini";
    size_t length = strlen(path), tail = sizeof(name) - 1;
    bool is_file = length >= tail && strcmp(path + length - tail, name) == 0 &&
                   (length == tail || path[length - tail - 1] == '/');
    if (!is_file)
        return strdup(path);
    return length == tail ? strdup(".") : strndup(path, length - tail);
}

static bool choose_buffer(struct snapshot_input *state, const char *name, const char *path)
{
    state->buffer = name ? pug_snapshot_buffer(state->snapshot, name)
                         : pug_snapshot_buffer_at(state->snapshot, 0);
    if (state->buffer)
        return true;
    const struct pug_snapshot_buffer *buffer;
    if (!name || !pug_snapshot_buffer_at(state->snapshot, 0)) {
        fprintf(stderr, "pugmark: %s: no trace buffer in it\n", path);
        return false;
    }
    fprintf(stderr, "pugmark: %s: no trace buffer %s; there are:", path, name);
    for (size_t n = 0; (buffer = pug_snapshot_buffer_at(state->snapshot, n)) != NULL; n++)
        fprintf(stderr, " %s", buffer->name);
    fprintf(stderr, "\n");
    return false;
}

/** One file is mapped by the caller; several are read one after the other. */
static bool find_trace(struct input *input, const struct snapshot_input *state)
{
    if (!strchr(state->buffer->file, ',')) {
        size_t size = pug_snapshot_path(state->snapshot, state->buffer->file, NULL, 0) + 1;
        input->trace_path = malloc(size);
        if (input->trace_path)
            pug_snapshot_path(state->snapshot, state->buffer->file, input->trace_path, size);
        return input->trace_path != NULL;
    }
    struct pug_trace *trace;
    input->trace_path = strdup(state->buffer->file);
    enum pug_status status = pug_trace_open(state->snapshot, state->buffer, &trace);
    if (status != PUG_OK || !input->trace_path) {
        fprintf(stderr, "pugmark: %s: %s\n", state->buffer->file, pug_status_text(status));
        return false;
    }
    uint64_t size = pug_trace_size(trace);
    input->trace_copy = malloc(size ? size : 1);
    if (input->trace_copy)
        input->trace_size = pug_trace_read(trace, input->trace_copy, size, &status);
    input->trace = input->trace_copy;
    pug_trace_close(trace);
    if (status != PUG_OK)
        fprintf(stderr, "pugmark: %s: %s\n", state->buffer->file, pug_status_text(status));
    return input->trace_copy && status == PUG_OK;
}

/** Why there is no snapshot at this path. */
static void say_trouble(const char *path, enum pug_status status)
{
    struct stat place;
    const char *why = status == PUG_ERR_FILE ? "there is no snapshot.ini in it, or not to be read"
                                             : pug_status_text(status);
    if (stat(path, &place) != 0)
        fprintf(stderr, "pugmark: %s: %s\n", path, strerror(errno));
    else if (S_ISREG(place.st_mode) && status == PUG_ERR_FILE)
        fprintf(stderr,
                "pugmark: %s: no snapshot; a single file of trace needs --protocol or --params\n",
                path);
    else
        fprintf(stderr, "pugmark: %s: no snapshot: %s\n", path, why);
}

bool snapshot_input_open(struct input *input, const char *path)
{
    struct snapshot_input *state = calloc(1, sizeof(*state));
    char *folder = folder_of(path);
    input->snapshot = state;
    if (!state || !folder) {
        free(folder);
        return false;
    }
    if (!set_options_take(&state->set, input->options, 0)) {
        free(folder);
        return false;
    }
    struct pug_snapshot_options options = {.log = input->log};
    enum pug_status status = pug_snapshot_open(folder, &options, &state->snapshot);
    free(folder);
    if (status != PUG_OK) {
        say_trouble(path, status);
        return false;
    }
    return choose_buffer(state, input->options->buffer, path) && find_trace(input, state);
}

/** Cut "SOURCE:" off a setting's name; false, having said so: there is no such source. */
static bool cut_source(const struct snapshot_input *state, struct pug_setting *setting)
{
    const struct pug_snapshot_device *device;
    const char *colon = strrchr(setting->name, ':');
    size_t length = colon ? (size_t)(colon - setting->name) : 0;
    for (size_t n = 0; colon && (device = pug_snapshot_device_at(state->snapshot, n)); n++) {
        if (strncmp(device->name, setting->name, length) == 0 && !device->name[length]) {
            setting->name = colon + 1;
            return true;
        }
    }
    if (colon)
        fprintf(stderr, "pugmark: --set %s: no such source\n", setting->name);
    return !colon;
}

/** Was everything of the command line asked for? */
static bool all_read(const struct snapshot_input *state)
{
    struct pug_setting *items = calloc(state->set.count + 1, sizeof(*items));
    bool good = items != NULL;
    for (size_t i = 0; good && i < state->set.count; i++) {
        items[i] = state->set.items[i];
        good = cut_source(state, &items[i]);
    }
    good = good && known_take(&state->known, items, state->set.count, "this snapshot");
    free(items);
    return good;
}

enum pug_status snapshot_input_tree(struct input *input, bool decode,
                                    const struct pug_decode_options *options)
{
    struct snapshot_input *state = input->snapshot;
    const struct pug_settings_watch watch = {known_note, &state->known};
    const struct pug_settings settings = {state->set.items, state->set.count, &watch};
    struct pug_snapshot_tree_config config = {
        .image = input->image,
        .decode = decode,
        .options = *options,
        .transport = settings,
        .sources = settings,
        .log = input->log,
    };
    if (input->options->reference)
        config.quirks = pug_quirks_reference();
    enum pug_status status =
        pug_snapshot_tree(state->snapshot, state->buffer, &config, &input->tree);
    return status == PUG_OK && !all_read(state) ? PUG_ERR_INVALID_PARAM_VAL : status;
}

static void print_sources(const struct snapshot_input *state,
                          const struct pug_snapshot_buffer *buffer)
{
    struct pug_snapshot_source source;
    for (size_t n = 0; pug_snapshot_source_at(state->snapshot, buffer, n, &source); n++) {
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
static void print_clusters(const struct snapshot_input *state)
{
    struct pug_snapshot_cluster cluster;
    for (size_t n = 0; pug_snapshot_cluster_at(state->snapshot, n, &cluster); n++) {
        if (!*cluster.name)
            continue;
        output_text("cluster %s:", cluster.name);
        for (size_t i = 0; i < cluster.count; i++)
            output_text(" %s", cluster.devices[i]);
        output_text("\n");
    }
}

void snapshot_input_print(const struct input *input)
{
    const struct snapshot_input *state = input->snapshot;
    if (!state)
        return;
    output_text("snapshot: %s\n", pug_snapshot_directory(state->snapshot));
    if (*pug_snapshot_description(state->snapshot))
        output_text("  %s\n", pug_snapshot_description(state->snapshot));
    output_text("devices:\n");
    const struct pug_snapshot_device *device;
    for (size_t n = 0; (device = pug_snapshot_device_at(state->snapshot, n)) != NULL; n++)
        output_text("  %-12s %-14s %-14s %zu registers, %zu memory images\n", device->name,
                    device->class_name, device->type, device->register_count, device->dump_count);
    print_clusters(state);
    const struct pug_snapshot_buffer *buffer;
    for (size_t n = 0; (buffer = pug_snapshot_buffer_at(state->snapshot, n)) != NULL; n++) {
        output_text("buffer %s: %s, format %s%s\n", buffer->name, buffer->file,
                    *buffer->format ? buffer->format : "not given",
                    buffer == state->buffer ? " (this one)" : "");
        print_sources(state, buffer);
    }
    output_text("\n");
}

void snapshot_input_close(struct input *input)
{
    struct snapshot_input *state = input->snapshot;
    if (!state)
        return;
    pug_snapshot_free(state->snapshot);
    set_options_free(&state->set);
    known_free(&state->known);
    free(state);
}
