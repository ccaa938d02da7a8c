// SPDX-License-Identifier: MIT
/** @file Trace metadata: buffers, which source writes into which, which core it traces. */
#include "snapshot/file.h"
#include "snapshot/setting.h"

#include <stdlib.h>

enum { TRACE_BUFFERS = 1, TRACE_SOURCES, TRACE_CORES, TRACE_BUFFER };

/* Places in the table. */
enum { SEEN_NAME = 1 << 0, SEEN_FILE = 1 << 1 };

#define IN_BUFFER(member) offsetof(struct pug_snapshot_buffer, member)

static const struct key_rule buffer_keys[] = {
    {"name", IN_BUFFER(name), KEY_TEXT, true, false},
    {"file", IN_BUFFER(file), KEY_TEXT, true, false},
    {"format", IN_BUFFER(format), KEY_TEXT, true, false},
};

static bool is_buffer(const struct pug_snapshot *snapshot, const char *section)
{
    const char *const *names = snapshot->buffer_names.items;
    for (size_t i = 0; i < snapshot->buffer_names.count; i++)
        if (strcmp(names[i], section) == 0)
            return true;
    return false;
}

static enum pug_status begin_buffer(struct reader *reader, const char *name)
{
    struct buffer *buffer = calloc(1, sizeof(*buffer));
    if (!buffer)
        return PUG_ERR_MEM;
    buffer->public.section = name;
    buffer->public.format = "";
    *(struct buffer **)reader->state = buffer;
    reader->in = TRACE_BUFFER;
    return PUG_OK;
}

static enum pug_status trace_begin(struct reader *reader, const char *name)
{
    static const char *const names[] = {"", "trace_buffers", "source_buffers",
                                        "core_trace_sources"};
    for (int i = TRACE_BUFFERS; i <= TRACE_CORES; i++) {
        if (strcmp(name, names[i]) == 0) {
            reader->in = i;
            return PUG_OK;
        }
    }
    return is_buffer(reader->section.snapshot, name) ? begin_buffer(reader, name) : PUG_OK;
}

/** Section names separated by commas. */
static enum pug_status add_names(struct section *section, char *value)
{
    struct list *list = &section->snapshot->buffer_names;
    for (char *name = value; name;) {
        char *comma = strchr(name, ',');
        if (comma)
            *comma = 0;
        if (list->count == PUG_SNAPSHOT_BUFFER_LIMIT)
            return pug_snapshot_section_limit(section, "buffers");
        if (!pug_snapshot_list_add_pointer(
                list, pug_snapshot_section_is_native(section) ? pug_snapshot_ini_trim(name) : name))
            return PUG_ERR_MEM;
        name = comma ? comma + 1 : NULL;
    }
    return PUG_OK;
}

/** A later pair of the same key takes the place of the earlier one. */
static enum pug_status add_pair(struct section *section, struct list *list, const char *key,
                                const char *value)
{
    struct pair *pairs = list->items;
    for (size_t i = 0; i < list->count; i++) {
        if (strcmp(pairs[i].key, key) == 0) {
            pairs[i].value = value;
            return PUG_OK;
        }
    }
    if (list->count == PUG_SNAPSHOT_BUFFER_LIMIT)
        return pug_snapshot_section_limit(section, "associations");
    struct pair *added = pug_snapshot_list_add(list, sizeof(*added));
    if (!added)
        return PUG_ERR_MEM;
    *added = (struct pair){key, value};
    return PUG_OK;
}

static enum pug_status set_buffer(struct section *section, struct buffer *buffer, const char *key,
                                  char *value)
{
    int result = pug_snapshot_section_set(section, buffer_keys, 3, &buffer->public, key, value);
    if (result != KEY_UNKNOWN || !pug_snapshot_section_is_native(section))
        return known_or_ignored(result);
    if (buffer->settings.count == PUG_SNAPSHOT_REGISTER_LIMIT)
        return pug_snapshot_section_limit(section, "settings");
    return pug_snapshot_setting_add(&buffer->settings, pug_snapshot_setting_make(key, value))
               ? PUG_OK
               : PUG_ERR_MEM;
}

/** The buffer of a source, as it is or without the number of the one stream it names. */
static const char *source_name(const struct section *section, char *key)
{
    static const char stream[] = "(stream:0)";
    size_t length = strlen(key), end = sizeof(stream) - 1;
    if (pug_snapshot_section_is_native(section) && length > end &&
        strcmp(key + length - end, stream) == 0)
        key[length - end] = 0;
    return pug_snapshot_ini_trim(key);
}

static enum pug_status trace_key(struct reader *reader, char *key, char *value)
{
    static const struct key_rule buffers = {.name = "buffers", .unique = true};
    struct section *section = &reader->section;
    struct pug_snapshot *snapshot = section->snapshot;
    char *names = NULL;
    int result;
    switch (reader->in) {
    case TRACE_BUFFERS:
        result = pug_snapshot_section_set(section, &buffers, 1, &names, key, value);
        return result == PUG_OK ? add_names(section, names) : known_or_ignored(result);
    case TRACE_SOURCES:
        return add_pair(section, &snapshot->source_buffers, source_name(section, key), value);
    case TRACE_CORES: return add_pair(section, &snapshot->core_sources, value, key);
    default: return set_buffer(section, *(struct buffer **)reader->state, key, value);
    }
}

static enum pug_status trace_end(struct reader *reader)
{
    struct section *section = &reader->section;
    struct buffer **current = reader->state, *buffer = *current;
    if (reader->in != TRACE_BUFFER)
        return PUG_OK;
    if (!(section->seen & SEEN_NAME))
        return pug_snapshot_section_incomplete(section,
                                               "Trace Buffer section missing required buffer name");
    if (!(section->seen & SEEN_FILE))
        return pug_snapshot_section_incomplete(
            section, "Trace Buffer section is missing mandatory file definition");
    if (section->snapshot->buffers.count == PUG_SNAPSHOT_BUFFER_LIMIT)
        return pug_snapshot_section_limit(section, "buffers");
    buffer->public.settings =
        (struct pug_settings){.items = buffer->settings.items, .count = buffer->settings.count};
    if (!pug_snapshot_list_add_pointer(&section->snapshot->buffers, buffer))
        return PUG_ERR_MEM;
    *current = NULL;
    return PUG_OK;
}

void pug_snapshot_buffer_free(struct buffer *buffer)
{
    if (!buffer)
        return;
    free(buffer->settings.items);
    free(buffer);
}

static int by_key(const void *a, const void *b)
{
    return strcmp(((const struct pair *)a)->key, ((const struct pair *)b)->key);
}

enum pug_status pug_snapshot_trace_file_read(struct pug_snapshot *snapshot, const char *path)
{
    static const struct file_kind kind = {
        .headless_is_error = true, .begin = trace_begin, .key = trace_key, .end = trace_end};
    struct buffer *current = NULL;
    enum pug_status status = pug_snapshot_file_read(snapshot, path, &kind, &current);
    pug_snapshot_buffer_free(current);
    if (snapshot->source_buffers.count > 0)
        qsort(snapshot->source_buffers.items, snapshot->source_buffers.count, sizeof(struct pair),
              by_key);
    return status;
}
