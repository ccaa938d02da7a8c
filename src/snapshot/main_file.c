// SPDX-License-Identifier: MIT
/** @file snapshot.ini: version, list of device files, clusters, name of the trace metadata. */
#include "snapshot/file.h"

#include <stdlib.h>

enum { MAIN_SNAPSHOT = 1, MAIN_DEVICES, MAIN_TRACE, MAIN_CLUSTERS };

struct main_state {
    unsigned sections; /* bit n: section n was there */
    size_t next;       /* device file of the section */
    struct list keys;  /* const char *: of the section */
};

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
    static const char *const names[] = {"", "snapshot", "device_list", "trace", "clusters"};
    struct main_state *state = reader->state;
    /* the reference takes any line for a cluster */
    int known = pug_snapshot_section_is_native(&reader->section) ? MAIN_CLUSTERS : MAIN_TRACE;
    for (int i = MAIN_SNAPSHOT; i <= known; i++)
        if (strcmp(section, names[i]) == 0)
            reader->in = i;
    state->sections |= 1u << reader->in;
    state->next = state->keys.count = 0;
    return PUG_OK;
}

/** Keys of a section whose keys are names: each stands there once. */
static enum pug_status note_key(struct reader *reader, const char *key)
{
    struct main_state *state = reader->state;
    const char *const *keys = state->keys.items;
    for (size_t i = 0; i < state->keys.count; i++)
        if (strcmp(keys[i], key) == 0)
            return pug_snapshot_section_error(&reader->section,
                                              "Duplicate %s key found in %s section", key,
                                              reader->section.name);
    return pug_snapshot_list_add_pointer(&state->keys, key) ? PUG_OK : PUG_ERR_MEM;
}

static enum pug_status add_device_file(struct reader *reader, const char *key, const char *file)
{
    struct list *files = &reader->section.snapshot->device_files;
    struct main_state *state = reader->state; /* another [device_list] begins at the first again */
    if (state->next == PUG_SNAPSHOT_DEVICE_LIMIT)
        return pug_snapshot_section_limit(&reader->section, "devices");
    enum pug_status status =
        pug_snapshot_section_is_native(&reader->section) ? note_key(reader, key) : PUG_OK;
    if (status != PUG_OK)
        return status;
    if (state->next == files->count && !pug_snapshot_list_add(files, sizeof(const char *)))
        return PUG_ERR_MEM;
    ((const char **)files->items)[state->next++] = file;
    return PUG_OK;
}

static enum pug_status add_cluster(struct reader *reader, const char *key, char *value)
{
    const struct section *section = &reader->section;
    if (section->snapshot->clusters.count == PUG_SNAPSHOT_DEVICE_LIMIT)
        return pug_snapshot_section_limit(section, "clusters");
    enum pug_status status = note_key(reader, key);
    return status == PUG_OK
               ? pug_snapshot_cluster_add(section->snapshot, key, value, section->ini->line)
               : status;
}

static enum pug_status main_key(struct reader *reader, char *key, char *value)
{
    struct section *section = &reader->section;
    struct pug_snapshot *snapshot = section->snapshot;
    int result;
    switch (reader->in) {
    case MAIN_DEVICES: return add_device_file(reader, key, value);
    case MAIN_CLUSTERS: return add_cluster(reader, key, value);
    case MAIN_TRACE:
        result = pug_snapshot_section_set(section, trace_keys, 1, snapshot, key, value);
        return known_or_ignored(result);
    default: break;
    }
    result = pug_snapshot_section_set(section, snapshot_keys, 2, snapshot, key, value);
    if (result == PUG_OK && snapshot->version == value && strcmp(value, "1.0") != 0 &&
        strcmp(value, "1") != 0)
        return pug_snapshot_section_error(section, "Illegal snapshot file version: %s", value);
    return known_or_ignored(result);
}

static enum pug_status main_end(struct reader *reader)
{
    const struct section *section = &reader->section;
    const struct pug_snapshot *snapshot = section->snapshot;
    if (!pug_snapshot_section_is_native(section))
        return PUG_OK;
    if (reader->in == MAIN_SNAPSHOT && !snapshot->version)
        return pug_snapshot_section_incomplete(
            section, "Snapshot section is missing mandatory version definition");
    if (reader->in == MAIN_TRACE && !snapshot->metadata)
        return pug_snapshot_section_incomplete(
            section, "Trace section is missing mandatory metadata definition");
    return PUG_OK;
}

static enum pug_status main_finish(struct reader *reader)
{
    const struct main_state *state = reader->state;
    const struct section *section = &reader->section;
    if (!pug_snapshot_section_is_native(section))
        return PUG_OK;
    if (!(state->sections & 1u << MAIN_SNAPSHOT))
        return pug_snapshot_section_error(section, "There is no [snapshot] section");
    if (!(state->sections & 1u << MAIN_DEVICES))
        return pug_snapshot_section_error(section, "There is no [device_list] section");
    return PUG_OK;
}

enum pug_status pug_snapshot_main_file_read(struct pug_snapshot *snapshot, const char *path)
{
    static const struct file_kind kind = {
        .begin = main_begin, .key = main_key, .end = main_end, .finish = main_finish};
    struct main_state state = {.sections = 0};
    enum pug_status status = pug_snapshot_file_read(snapshot, path, &kind, &state);
    free(state.keys.items);
    return status;
}
