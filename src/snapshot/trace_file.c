// SPDX-License-Identifier: MIT
/** @file Trace metadata: buffers, which source writes into which, which core it traces. */
#include "snapshot/file.h"
#include "snapshot/setting.h"

#include <limits.h>
#include <stdlib.h>

enum { TRACE_BUFFERS = 1, TRACE_SOURCES, TRACE_CORES, TRACE_BUFFER };

static const char *const section_names[] = {"", "trace_buffers", "source_buffers",
                                            "core_trace_sources"};

struct trace_state {
    struct buffer *current; /* the buffer section being read */
    unsigned sections;      /* bit n: section n was there */
    bool listed;            /* the buffers are, by a first reading */
    bool has_list;
};

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

static const struct buffer *buffer_of(const struct pug_snapshot *snapshot, const char *section)
{
    struct buffer *const *buffers = snapshot->buffers.items;
    for (size_t i = 0; i < snapshot->buffers.count; i++)
        if (strcmp(buffers[i]->public.section, section) == 0)
            return buffers[i];
    return NULL;
}

static enum pug_status begin_buffer(struct reader *reader, const char *name)
{
    struct trace_state *state = reader->state;
    const struct section *section = &reader->section;
    if (pug_snapshot_section_is_native(section) && buffer_of(section->snapshot, name))
        return pug_snapshot_section_error(section, "Section [%s] is there twice", name);
    struct buffer *buffer = calloc(1, sizeof(*buffer));
    if (!buffer)
        return PUG_ERR_MEM;
    buffer->public.section = name;
    buffer->public.format = "";
    state->current = buffer;
    reader->in = TRACE_BUFFER;
    return PUG_OK;
}

static enum pug_status trace_begin(struct reader *reader, const char *name)
{
    struct trace_state *state = reader->state;
    for (int i = TRACE_BUFFERS; i <= TRACE_CORES; i++) {
        if (strcmp(name, section_names[i]) == 0) {
            reader->in = i == TRACE_BUFFERS && state->listed ? 0 : i;
            state->sections |= 1u << i;
            return PUG_OK;
        }
    }
    return is_buffer(reader->section.snapshot, name) ? begin_buffer(reader, name) : PUG_OK;
}

/** May a buffer's section have this name? */
static enum pug_status check_buffer_id(struct section *section, const char *name)
{
    for (int i = TRACE_BUFFERS; i <= TRACE_CORES; i++)
        if (strcmp(name, section_names[i]) == 0)
            return pug_snapshot_section_error(
                section, "Buffer id '%s' is the name of another section", name);
    if (is_buffer(section->snapshot, name))
        return pug_snapshot_section_error(section, "Duplicate buffer id '%s'", name);
    return PUG_OK;
}

/** Section names separated by commas. The reference does not trim them. */
static enum pug_status add_names(struct section *section, char *value)
{
    struct list *list = &section->snapshot->buffer_names;
    bool native = pug_snapshot_section_is_native(section);
    while (value) {
        size_t length = strcspn(value, ",");
        char *rest = value[length] ? value + length + 1 : NULL;
        value[length] = 0;
        const char *name = native ? pug_snapshot_ini_trim(value) : value;
        value = rest;
        if (native && !*name)
            continue;
        enum pug_status status = native ? check_buffer_id(section, name) : PUG_OK;
        if (status != PUG_OK)
            return status;
        if (list->count == PUG_SNAPSHOT_BUFFER_LIMIT)
            return pug_snapshot_section_limit(section, "buffers");
        if (!pug_snapshot_list_add_pointer(list, name))
            return PUG_ERR_MEM;
    }
    return PUG_OK;
}

/** A later pair of the same key takes the place of the earlier one. */
static enum pug_status add_pair(const struct section *section, struct list *list, struct pair pair)
{
    struct pair *pairs = list->items;
    pair.line = section->ini->line;
    for (size_t i = 0; i < list->count; i++) {
        if (strcmp(pairs[i].key, pair.key) == 0 && pairs[i].stream == pair.stream) {
            if (pug_snapshot_section_is_native(section))
                pug_snapshot_section_warn(section, pair.line,
                                          "Source %s is there twice: the later is taken", pair.key);
            pairs[i] = pair;
            return PUG_OK;
        }
    }
    if (list->count == PUG_SNAPSHOT_BUFFER_LIMIT)
        return pug_snapshot_section_limit(section, "associations");
    struct pair *added = pug_snapshot_list_add(list, sizeof(*added));
    if (!added)
        return PUG_ERR_MEM;
    *added = pair;
    return PUG_OK;
}

static enum pug_status set_buffer(struct section *section, struct buffer *buffer, const char *key,
                                  char *value)
{
    int result = pug_snapshot_section_set(section, buffer_keys, 3, &buffer->public, key, value);
    if (buffer->public.name == value)
        buffer->line = section->ini->line;
    if (result != KEY_UNKNOWN || !pug_snapshot_section_is_native(section))
        return known_or_ignored(result);
    if (buffer->settings.count == PUG_SNAPSHOT_REGISTER_LIMIT)
        return pug_snapshot_section_limit(section, "settings");
    return pug_snapshot_setting_add(&buffer->settings, pug_snapshot_setting_make(key, value))
               ? PUG_OK
               : PUG_ERR_MEM;
}

/** The stream that a key "SOURCE(stream:N)" names, which is cut off; or WHOLE_SOURCE. */
static int cut_stream(char *key)
{
    char *open = strrchr(key, '('), *end;
    const char *text = open ? open + 1 + strspn(open + 1, " \t") : "";
    if (strncmp(text, "stream", 6) != 0)
        return WHOLE_SOURCE;
    text += 6 + strspn(text + 6, " \t");
    unsigned long number = *text == ':' ? strtoul(text + 1, &end, 0) : ULONG_MAX;
    if (number > PUG_SNAPSHOT_STREAM_LIMIT || end == text + 1)
        return WHOLE_SOURCE;
    end += strspn(end, " \t");
    if (*end != ')' || end[1])
        return WHOLE_SOURCE;
    *open = 0;
    return (int)number;
}

static enum pug_status add_source(const struct section *section, char *key, const char *value)
{
    int stream = pug_snapshot_section_is_native(section) ? cut_stream(key) : WHOLE_SOURCE;
    return add_pair(
        section, &section->snapshot->source_buffers,
        (struct pair){.key = pug_snapshot_ini_trim(key), .value = value, .stream = stream});
}

static enum pug_status trace_key(struct reader *reader, char *key, char *value)
{
    static const struct key_rule buffers = {.name = "buffers", .unique = true};
    struct section *section = &reader->section;
    struct trace_state *state = reader->state;
    char *names = NULL;
    int result;
    switch (reader->in) {
    case TRACE_BUFFERS:
        result = pug_snapshot_section_set(section, &buffers, 1, &names, key, value);
        state->has_list |= names != NULL;
        return result == PUG_OK ? add_names(section, names) : known_or_ignored(result);
    case TRACE_SOURCES: return add_source(section, key, value);
    case TRACE_CORES:
        return add_pair(section, &section->snapshot->core_sources,
                        (struct pair){.key = value, .value = key, .stream = WHOLE_SOURCE});
    default: return set_buffer(section, state->current, key, value);
    }
}

/** What a buffer of the native format has besides what the reference asks for. */
static enum pug_status check_buffer(const struct section *section, const struct buffer *buffer)
{
    const char *name = buffer->public.name, *format = buffer->public.format;
    struct buffer *const *others = section->snapshot->buffers.items;
    for (size_t i = 0; i < section->snapshot->buffers.count; i++)
        if (strcmp(others[i]->public.name, name) == 0)
            return pug_snapshot_section_wrong(section, buffer->line,
                                              "Buffer name '%s' is that of [%s], too", name,
                                              others[i]->public.section);
    if (!*format)
        pug_snapshot_section_warn(section, section->header_line,
                                  "Buffer %s has no format: taken for coresight", name);
    else if (!pug_snapshot_format_known(format))
        pug_snapshot_section_warn(section, section->header_line,
                                  "Buffer %s has the unknown format '%s': taken for coresight",
                                  name, format);
    return PUG_OK;
}

static enum pug_status trace_end(struct reader *reader)
{
    struct section *section = &reader->section;
    struct trace_state *state = reader->state;
    struct buffer *buffer = state->current;
    if (reader->in != TRACE_BUFFER)
        return PUG_OK;
    if (!(section->seen & SEEN_NAME))
        return pug_snapshot_section_incomplete(section,
                                               "Trace Buffer section missing required buffer name");
    if (!(section->seen & SEEN_FILE))
        return pug_snapshot_section_incomplete(
            section, "Trace Buffer section is missing mandatory file definition");
    enum pug_status status =
        pug_snapshot_section_is_native(section) ? check_buffer(section, buffer) : PUG_OK;
    if (status != PUG_OK)
        return status;
    if (section->snapshot->buffers.count == PUG_SNAPSHOT_BUFFER_LIMIT)
        return pug_snapshot_section_limit(section, "buffers");
    buffer->public.settings =
        (struct pug_settings){.items = buffer->settings.items, .count = buffer->settings.count};
    buffer->number = (uint32_t)section->snapshot->buffers.count;
    if (!pug_snapshot_list_add_pointer(&section->snapshot->buffers, buffer))
        return PUG_ERR_MEM;
    state->current = NULL;
    return PUG_OK;
}

/** Is it a device's name, or '@' and its location? */
static bool names_device(const struct pug_snapshot *snapshot, const char *text)
{
    const struct pug_snapshot_device *device;
    for (size_t n = 0; (device = pug_snapshot_device_at(snapshot, n)) != NULL; n++)
        if (strcmp(device->name, text) == 0 ||
            (*text == '@' && *device->location && strcmp(device->location, text + 1) == 0))
            return true;
    return false;
}

/** Cores and their sources that nothing describes. */
static void warn_of_unknown_cores(const struct section *section)
{
    const struct pair *pairs = section->snapshot->core_sources.items;
    for (size_t i = 0; i < section->snapshot->core_sources.count; i++) {
        const char *source = pairs[i].key, *core = pairs[i].value;
        if (!names_device(section->snapshot, core))
            pug_snapshot_section_warn(section, pairs[i].line,
                                      "Source %s is of core '%s', which is not there", source,
                                      core);
        if (!names_device(section->snapshot, source))
            pug_snapshot_section_warn(section, pairs[i].line,
                                      "Core %s has source '%s', which is not there", core, source);
    }
}

/** Associations with buffers that are not there. */
static void warn_of_unknown_buffers(const struct section *section)
{
    const struct pair *pairs = section->snapshot->source_buffers.items;
    for (size_t i = 0; i < section->snapshot->source_buffers.count; i++)
        if (!pug_snapshot_names_buffer(section->snapshot, pairs[i].value))
            pug_snapshot_section_warn(section, pairs[i].line,
                                      "Source %s is in buffer '%s', which is not there",
                                      pairs[i].key, pairs[i].value);
}

static enum pug_status trace_finish(struct reader *reader)
{
    const struct section *section = &reader->section;
    const struct trace_state *state = reader->state;
    const struct pug_snapshot *snapshot = section->snapshot;
    const char *const *names = snapshot->buffer_names.items;
    for (size_t i = 0; i < snapshot->buffer_names.count; i++)
        if (!buffer_of(snapshot, names[i]))
            return pug_snapshot_section_error(section, "Buffer '%s' has no section", names[i]);
    if (!(state->sections & 1u << TRACE_SOURCES) && snapshot->buffers.count > 1)
        return pug_snapshot_section_error(
            section, "There is no [source_buffers] section, but there are several buffers");
    if (!pug_snapshot_order_buffers(section->snapshot))
        return PUG_ERR_MEM;
    warn_of_unknown_buffers(section);
    warn_of_unknown_cores(section);
    return PUG_OK;
}

void pug_snapshot_buffer_free(struct buffer *buffer)
{
    if (!buffer)
        return;
    free(buffer->settings.items);
    free(buffer->sources.items);
    free(buffer);
}

/* ---- the list of buffers, which may follow them ---- */

static enum pug_status list_begin(struct reader *reader, const char *name)
{
    struct trace_state *state = reader->state;
    reader->in = strcmp(name, section_names[TRACE_BUFFERS]) == 0 ? TRACE_BUFFERS : 0;
    state->sections |= 1u << reader->in;
    return PUG_OK;
}

static enum pug_status list_end(struct reader *reader)
{
    const struct trace_state *state = reader->state;
    if (reader->in == TRACE_BUFFERS && !state->has_list)
        return pug_snapshot_section_incomplete(
            &reader->section, "Trace Buffers section is missing mandatory buffers definition");
    return PUG_OK;
}

static enum pug_status list_finish(struct reader *reader)
{
    const struct trace_state *state = reader->state;
    return state->sections & 1u << TRACE_BUFFERS
               ? PUG_OK
               : pug_snapshot_section_error(&reader->section,
                                            "There is no [trace_buffers] section");
}

static int by_key(const void *left, const void *right)
{
    const struct pair *a = left, *b = right;
    int order = strcmp(a->key, b->key);
    return order ? order : a->stream - b->stream;
}

enum pug_status pug_snapshot_trace_file_read(struct pug_snapshot *snapshot, const char *path)
{
    static const struct file_kind list = {.headless_is_error = true,
                                          .quiet = true,
                                          .begin = list_begin,
                                          .key = trace_key,
                                          .end = list_end,
                                          .finish = list_finish};
    struct file_kind kind = {
        .headless_is_error = true, .begin = trace_begin, .key = trace_key, .end = trace_end};
    struct trace_state state = {.current = NULL};
    enum pug_status status = PUG_OK;
    if (pug_snapshot_is_native(snapshot)) {
        status = pug_snapshot_file_read(snapshot, path, &list, &state);
        state.listed = true;
        kind.finish = trace_finish;
    }
    if (status == PUG_OK)
        status = pug_snapshot_file_read(snapshot, path, &kind, &state);
    pug_snapshot_buffer_free(state.current);
    if (snapshot->source_buffers.count > 0)
        qsort(snapshot->source_buffers.items, snapshot->source_buffers.count, sizeof(struct pair),
              by_key);
    return status;
}
