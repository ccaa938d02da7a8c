// SPDX-License-Identifier: MIT
/** @file snapshot.ini: version, list of device files, name of the trace metadata. */
#include "snapshot/file.h"

enum { MAIN_SNAPSHOT = 1, MAIN_DEVICES, MAIN_TRACE };

#define IN_SNAPSHOT(member) offsetof(struct pug_snapshot, member)

static const struct key_rule snapshot_keys[] = {
    {"version", IN_SNAPSHOT(version), KEY_TEXT, true, false},
    {"description", IN_SNAPSHOT(description), KEY_TEXT, true, false},
};
static const struct key_rule trace_keys[] = {
    {"metadata", IN_SNAPSHOT(metadata), KEY_TEXT, true, false},
};

static enum pug_status main_begin(struct reader *reader, const char *section)
{
    static const char *const names[] = {"", "snapshot", "device_list", "trace"};
    for (int i = MAIN_SNAPSHOT; i <= MAIN_TRACE; i++)
        if (strcmp(section, names[i]) == 0)
            reader->in = i;
    *(size_t *)reader->state = 0;
    return PUG_OK;
}

static enum pug_status add_device_file(struct reader *reader, const char *file)
{
    struct list *files = &reader->section.snapshot->device_files;
    size_t *next = reader->state; /* another [device_list] begins again at the first */
    if (*next == PUG_SNAPSHOT_DEVICE_LIMIT)
        return pug_snapshot_section_limit(&reader->section, "devices");
    if (*next == files->count && !pug_snapshot_list_add(files, sizeof(const char *)))
        return PUG_ERR_MEM;
    ((const char **)files->items)[(*next)++] = file;
    return PUG_OK;
}

static enum pug_status main_key(struct reader *reader, char *key, char *value)
{
    struct section *section = &reader->section;
    struct pug_snapshot *snapshot = section->snapshot;
    int result;
    if (reader->in == MAIN_DEVICES)
        return add_device_file(reader, value);
    if (reader->in == MAIN_TRACE)
        return known_or_ignored(
            pug_snapshot_section_set(section, trace_keys, 1, snapshot, key, value));
    result = pug_snapshot_section_set(section, snapshot_keys, 2, snapshot, key, value);
    if (result == PUG_OK && snapshot->version == value && strcmp(value, "1.0") != 0 &&
        strcmp(value, "1") != 0)
        return pug_snapshot_section_error(section, "Illegal snapshot file version: %s", value);
    return known_or_ignored(result);
}

static enum pug_status main_end(struct reader *reader)
{
    (void)reader;
    return PUG_OK;
}

enum pug_status pug_snapshot_main_file_read(struct pug_snapshot *snapshot, const char *path)
{
    static const struct file_kind kind = {.begin = main_begin, .key = main_key, .end = main_end};
    size_t next_device = 0;
    return pug_snapshot_file_read(snapshot, path, &kind, &next_device);
}
