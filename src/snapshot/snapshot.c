// SPDX-License-Identifier: MIT
/** @file A snapshot: reading all of it, and asking what is in it. */
#include "snapshot/snapshot.h"

#include "base/text.h"
#include "snapshot/file.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <strings.h>

#define READER "snapshot_reader"

void *pug_snapshot_list_add(struct list *list, size_t item_size)
{
    if (list->count == list->room) {
        size_t room = list->room ? 2 * list->room : 8;
        void *items = realloc(list->items, room * item_size);
        list->starved |= !items;
        if (!items)
            return NULL;
        list->items = items;
        list->room = room;
    }
    void *item = (char *)list->items + list->count++ * item_size;
    memset(item, 0, item_size);
    return item;
}

bool pug_snapshot_list_add_pointer(struct list *list, const void *pointer)
{
    void *item = pug_snapshot_list_add(list, sizeof(pointer));
    if (item)
        memcpy(item, &pointer, sizeof(pointer));
    return item != NULL;
}

void pug_snapshot_say(const struct pug_snapshot *snapshot, const char *component,
                      enum pug_severity severity, enum pug_status code, const char *format, ...)
{
    char text[4096 + 512];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    pug_log_put(snapshot->options.log, &(struct pug_log_record){.severity = severity,
                                                                .code = code,
                                                                .index = PUG_NO_INDEX,
                                                                .source = PUG_NO_SOURCE,
                                                                .component = component,
                                                                .text = text});
}

/* ---- reading ---- */

static char *make_path(const struct pug_snapshot *snapshot, const char *file)
{
    size_t size = pug_snapshot_path(snapshot, file, NULL, 0) + 1;
    char *path = malloc(size);
    if (path)
        pug_snapshot_path(snapshot, file, path, size);
    return path;
}

/** Read a file; where it cannot be opened say so and go on. */
static enum pug_status read_named(struct pug_snapshot *snapshot, const char *file, bool device)
{
    if (pug_snapshot_refuses(snapshot, file))
        return PUG_ERR_SNAPSHOT_READ;
    char *path = make_path(snapshot, file);
    if (!path)
        return PUG_ERR_MEM;
    enum pug_status status = device ? pug_snapshot_device_file_read(snapshot, path, file)
                                    : pug_snapshot_trace_file_read(snapshot, path);
    if (status == PUG_ERR_FILE && !device && pug_snapshot_is_native(snapshot)) {
        pug_snapshot_say(snapshot, READER, PUG_SEV_ERROR, PUG_ERR_SNAPSHOT_READ,
                         "%s: %s; snapshot.ini names this file as the list of trace buffers "
                         "([trace] metadata=)\n",
                         path, strerror(errno));
        status = PUG_OK;
    } else if (status == PUG_ERR_FILE) {
        pug_snapshot_say(snapshot, READER, PUG_SEV_ERROR, PUG_ERR_SNAPSHOT_READ, "%s : %s\n",
                         device ? "Failed to open device file" : "Failed to trace ini file", path);
        status = PUG_OK;
    }
    free(path);
    return status;
}

static enum pug_status read_devices(struct pug_snapshot *snapshot)
{
    const char *const *files = snapshot->device_files.items;
    enum pug_status status = PUG_OK;
    for (size_t i = 0; status == PUG_OK && i < snapshot->device_files.count; i++) {
        if (snapshot->options.verbose)
            pug_snapshot_say(snapshot, READER, PUG_SEV_INFO, PUG_OK,
                             "Device %zu: Ini file = %s; Name = UNKNOWN\n", i + 1, files[i]);
        status = read_named(snapshot, files[i], true);
    }
    return status;
}

static enum pug_status read_metadata(struct pug_snapshot *snapshot)
{
    const char *file = snapshot->metadata;
    if (!file && pug_snapshot_is_native(snapshot))
        return PUG_OK; /* without trace: what it knows of the system is worth reading, too */
    if (!file || !*file) {
        pug_snapshot_say(snapshot, READER, PUG_SEV_ERROR, PUG_ERR_SNAPSHOT_READ,
                         "Trace Metadata ini file not found.\n");
        return PUG_OK;
    }
    if (snapshot->options.verbose)
        pug_snapshot_say(snapshot, READER, PUG_SEV_INFO, PUG_OK,
                         "Trace Metadata ini file found : %s\n", file);
    return read_named(snapshot, file, false);
}

static int by_key(const void *name, const void *pair)
{
    return strcmp(name, ((const struct pair *)pair)->key);
}

/** Sources that no buffer is said to have, where others are in one. */
static void warn_of_left_out(const struct pug_snapshot *snapshot)
{
    const struct list *pairs = &snapshot->source_buffers;
    const struct pug_snapshot_device *device;
    if (!pug_snapshot_is_native(snapshot) || pairs->count == 0)
        return;
    for (size_t n = 0; (device = pug_snapshot_device_at(snapshot, n)) != NULL; n++)
        if (strcasecmp(device->class_name, "trace_source") == 0 &&
            !bsearch(device->name, pairs->items, pairs->count, sizeof(struct pair), by_key))
            pug_snapshot_say(snapshot, READER, PUG_SEV_WARN, PUG_OK,
                             "%s/%s: [source_buffers] says of no buffer that %s is in it: it is "
                             "not decoded\n",
                             snapshot->directory, snapshot->metadata, device->name);
}

static enum pug_status read_all(struct pug_snapshot *snapshot)
{
    char *path = make_path(snapshot, "snapshot.ini");
    if (!path)
        return PUG_ERR_MEM;
    enum pug_status status = pug_snapshot_main_file_read(snapshot, path);
    free(path);
    if (status != PUG_OK)
        return status;
    if (snapshot->options.verbose)
        pug_snapshot_say(snapshot, READER, PUG_SEV_INFO, PUG_OK,
                         "Parsed snapshot.ini.\nFound %zu devices.\n",
                         snapshot->device_files.count);
    status = read_devices(snapshot);
    if (status == PUG_OK)
        status = read_metadata(snapshot);
    if (status == PUG_OK)
        status = pug_snapshot_order(snapshot);
    if (status == PUG_OK)
        warn_of_left_out(snapshot);
    if (status == PUG_OK)
        status = pug_snapshot_clusters_finish(snapshot);
    if (status == PUG_OK)
        status = pug_snapshot_confine(snapshot);
    if (status == PUG_OK && snapshot->options.verbose)
        pug_snapshot_say(snapshot, READER, PUG_SEV_INFO, PUG_OK, "Done.\n");
    return status;
}

enum pug_status pug_snapshot_open(const char *directory, const struct pug_snapshot_options *options,
                                  struct pug_snapshot **out)
{
    if (!out)
        return PUG_ERR_INVALID_PARAM_VAL;
    *out = NULL;
    if (!directory)
        return PUG_ERR_INVALID_PARAM_VAL;
    struct pug_snapshot *snapshot = calloc(1, sizeof(*snapshot));
    if (!snapshot)
        return PUG_ERR_MEM;
    if (options)
        snapshot->options = *options;
    snapshot->directory = strdup(directory);
    enum pug_status status = snapshot->directory ? read_all(snapshot) : PUG_ERR_MEM;
    if (status == PUG_OK)
        *out = snapshot;
    else
        pug_snapshot_free(snapshot);
    return status;
}

void pug_snapshot_free(struct pug_snapshot *snapshot)
{
    if (!snapshot)
        return;
    char **texts = snapshot->texts.items;
    for (size_t i = 0; i < snapshot->texts.count; i++)
        free(texts[i]);
    struct device **devices = snapshot->devices.items;
    for (size_t i = 0; i < snapshot->devices.count; i++)
        pug_snapshot_device_free(devices[i]);
    struct buffer **buffers = snapshot->buffers.items;
    for (size_t i = 0; i < snapshot->buffers.count; i++)
        pug_snapshot_buffer_free(buffers[i]);
    free(texts);
    free(devices);
    free(buffers);
    free(snapshot->device_files.items);
    free(snapshot->buffer_names.items);
    free(snapshot->source_buffers.items);
    free(snapshot->core_sources.items);
    pug_snapshot_clusters_free(snapshot);
    pug_snapshot_order_free(snapshot);
    free(snapshot->directory);
    free(snapshot);
}

/* ---- asking ---- */

const char *pug_snapshot_directory(const struct pug_snapshot *snapshot)
{
    return snapshot->directory;
}

const char *pug_snapshot_description(const struct pug_snapshot *snapshot)
{
    return snapshot->description ? snapshot->description : "";
}

size_t pug_snapshot_path(const struct pug_snapshot *snapshot, const char *file, char *buffer,
                         size_t size)
{
    struct pug_text text = PUG_TEXT(buffer, size);
    size_t length = strlen(snapshot->directory);
    pug_text_put_n(&text, snapshot->directory, length);
    if (length == 0 || snapshot->directory[length - 1] != '/')
        pug_text_put(&text, "/");
    pug_text_put(&text, file);
    return pug_text_end(&text);
}

const struct pug_snapshot_device *pug_snapshot_device_at(const struct pug_snapshot *snapshot,
                                                         size_t n)
{
    struct device *const *devices = snapshot->devices.items;
    return n < snapshot->devices.count ? &devices[n]->public : NULL;
}

const struct pug_snapshot_buffer *pug_snapshot_buffer_at(const struct pug_snapshot *snapshot,
                                                         size_t n)
{
    struct buffer *const *buffers = snapshot->buffers.items;
    return n < snapshot->buffers.count ? &buffers[n]->public : NULL;
}

const struct pug_snapshot_buffer *pug_snapshot_buffer(const struct pug_snapshot *snapshot,
                                                      const char *name)
{
    const struct pug_snapshot_buffer *buffer;
    for (size_t n = 0; (buffer = pug_snapshot_buffer_at(snapshot, n)) != NULL; n++)
        if (strcmp(buffer->name, name) == 0)
            return buffer;
    return NULL;
}
