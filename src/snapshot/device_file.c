// SPDX-License-Identifier: MIT
/** @file Device files: name, type, registers and memory of a core or a trace source. */
#include "snapshot/file.h"

#include <stdlib.h>
#include <strings.h>

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/** The state that a device file's sections share. */
struct device_state {
    struct device *device;
    struct pug_snapshot_dump dump; /* the dump or ELF section being read */
    struct list extended;          /* [extendregs]: numbers seen */
    bool global_seen;
    unsigned header_line; /* of [device]; 0: there is none */
};

enum { DEVICE_DEVICE = 1, DEVICE_REGS, DEVICE_DUMP, DEVICE_ELF, DEVICE_GLOBAL, DEVICE_EXTENDED };

#define IN_DEVICE(member) offsetof(struct pug_snapshot_device, member)
#define IN_DUMP(member)   offsetof(struct pug_snapshot_dump, member)

static const struct key_rule device_keys[] = {
    {"name", IN_DEVICE(name), KEY_TEXT, true, false},
    {"class", IN_DEVICE(class_name), KEY_TEXT, true, false},
    {"type", IN_DEVICE(type), KEY_TEXT, true, false},
    {"location", IN_DEVICE(location), KEY_TEXT, false, false},
};

static const struct key_rule elf_keys[] = {
    {"file", IN_DUMP(file), KEY_QUOTED, true, true},
    {"bias", IN_DUMP(bias), KEY_NUMBER, true, true},
    {"space", IN_DUMP(space), KEY_QUOTED, true, true},
    {"context_id", IN_DUMP(context_id), KEY_NUMBER, true, true},
    {"vmid", IN_DUMP(vmid), KEY_NUMBER, true, true},
};

static const struct key_rule dump_keys[] = {
    {"file", IN_DUMP(file), KEY_QUOTED, true, false},
    {"address", IN_DUMP(address), KEY_NUMBER, true, false},
    {"space", IN_DUMP(space), KEY_QUOTED, true, false},
    {"context_id", IN_DUMP(context_id), KEY_NUMBER, true, true},
    {"vmid", IN_DUMP(vmid), KEY_NUMBER, true, true},
    {"length", IN_DUMP(length), KEY_NUMBER, true, false},
    {"offset", IN_DUMP(offset), KEY_NUMBER, true, false},
};

/* Places in both tables. */
enum { SEEN_FILE = 1 << 0, SEEN_ADDRESS = 1 << 1, SEEN_CONTEXT_ID = 1 << 3, SEEN_VMID = 1 << 4 };

static int device_section(const struct section *section, const char *name)
{
    static const struct {
        const char *name;
        int section;
    } names[] = {{"device", DEVICE_DEVICE},
                 {"regs", DEVICE_REGS},
                 {"global", DEVICE_GLOBAL},
                 {"extendregs", DEVICE_EXTENDED}};
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        if (strcmp(name, names[i].name) == 0)
            return names[i].section;
    if (strncmp(name, "dump", 4) == 0)
        return DEVICE_DUMP;
    return pug_snapshot_section_is_native(section) && strncmp(name, "elf", 3) == 0 ? DEVICE_ELF : 0;
}

static enum pug_status device_begin(struct reader *reader, const char *name)
{
    struct section *section = &reader->section;
    struct device_state *state = reader->state;
    reader->in = device_section(section, name);
    switch (reader->in) {
    case 0:
        if (section->snapshot->options.verbose)
            pug_snapshot_say(section->snapshot, "snapshot_parser", PUG_SEV_INFO, PUG_OK,
                             "Unknown section ignored: %s\n", name);
        break;
    case DEVICE_DUMP:
    case DEVICE_ELF:
        state->dump = (struct pug_snapshot_dump){.elf = reader->in == DEVICE_ELF};
        section->name = state->dump.elf ? "elf" : "dump";
        break;
    case DEVICE_GLOBAL:
        if (state->global_seen)
            return pug_snapshot_section_error(section, "Only one global section allowed");
        state->global_seen = true;
        break;
    default: break;
    }
    return PUG_OK;
}

/** Where in the list, which is in order, a register belongs; false if it is there already. */
static bool register_place(const struct list *list, const char *key, size_t *place)
{
    const struct pug_snapshot_register *items = list->items;
    size_t low = 0, high = list->count;
    while (low < high) {
        size_t middle = (low + high) / 2;
        int order = strcasecmp(key, items[middle].key);
        if (order == 0)
            return false;
        if (order < 0)
            high = middle;
        else
            low = middle + 1;
    }
    *place = low;
    return true;
}

/** What is in the parentheses of a key: numbers, "id" or without a name, and "size". */
static bool register_details(const char *text, struct pug_snapshot_register *what)
{
    while (text) {
        char *end;
        text += strspn(text, " \t");
        bool size = strncmp(text, "size", 4) == 0, id = strncmp(text, "id", 2) == 0;
        const char *number = size ? text + 4 : id ? text + 2 : text;
        number += strspn(number, " \t");
        if ((size || id) && *number++ != ':')
            return false;
        uint32_t value = (uint32_t)strtoull(number, &end, 0);
        if (end == number)
            return false;
        *(size ? &what->size : &what->id) = value;
        what->has_id |= !size;
        end += strspn(end, " \t");
        if (*end == ')')
            return true;
        if (*end != ',')
            return false;
        text = end + 1;
    }
    return false;
}

/** Name, number and size of a register. The reference takes blanks for a part of the name. */
static enum pug_status describe_register(struct section *section, const char *key,
                                         struct pug_snapshot_register *what)
{
    bool native = pug_snapshot_section_is_native(section);
    size_t length = strcspn(key, "(");
    const char *details = key[length] ? key + length + 1 : NULL;
    while (native && length > 0 && (key[length - 1] == ' ' || key[length - 1] == '\t'))
        length--;
    char **name = pug_snapshot_list_add(&section->snapshot->texts, sizeof(*name));
    if (!name || !(*name = strndup(key, length)))
        return PUG_ERR_MEM;
    what->key = key;
    what->name = *name;
    what->size = 32;
    if (native && details && !register_details(details, what))
        pug_snapshot_section_warn(section, section->ini->line,
                                  "What is in the parentheses of %s is not understood", key);
    return PUG_OK;
}

static enum pug_status add_register(struct reader *reader, char *key, char *value)
{
    struct section *section = &reader->section;
    struct list *list = &((struct device_state *)reader->state)->device->registers;
    struct pug_snapshot_register made = {.value = pug_snapshot_ini_unquote(value)};
    size_t place;
    if (!register_place(list, key, &place))
        return pug_snapshot_section_error(section, "Duplicate key: %s", key);
    if (list->count == PUG_SNAPSHOT_REGISTER_LIMIT)
        return pug_snapshot_section_limit(section, "registers");
    enum pug_status status = describe_register(section, key, &made);
    if (status != PUG_OK)
        return status;
    if (!pug_snapshot_list_add(list, sizeof(struct pug_snapshot_register)))
        return PUG_ERR_MEM;
    struct pug_snapshot_register *items = list->items;
    memmove(&items[place + 1], &items[place], (list->count - 1 - place) * sizeof(*items));
    items[place] = made;
    return PUG_OK;
}

/** Old format: numbered registers, which nothing uses; their syntax is checked. */
static enum pug_status add_extended(struct reader *reader, const char *key, const char *value)
{
    struct section *section = &reader->section;
    struct list *list = &((struct device_state *)reader->state)->extended;
    uint64_t number, content;
    enum pug_status status = pug_snapshot_section_number(section, key, &number);
    if (status == PUG_OK)
        status = pug_snapshot_section_number(section, value, &content);
    if (status != PUG_OK)
        return status;
    const uint64_t *seen = list->items;
    for (size_t i = 0; i < list->count; i++)
        if (seen[i] == number)
            return pug_snapshot_section_error(section, "Duplicate key: %s", key);
    if (list->count == PUG_SNAPSHOT_REGISTER_LIMIT)
        return pug_snapshot_section_limit(section, "registers");
    uint64_t *added = pug_snapshot_list_add(list, sizeof(*added));
    if (!added)
        return PUG_ERR_MEM;
    *added = number;
    return PUG_OK;
}

static enum pug_status set_global(struct section *section, const char *key, char *value)
{
    static const struct key_rule rule = {.name = "core", .unique = true};
    const char *core = NULL;
    int result = pug_snapshot_section_set(section, &rule, 1, &core, key, value);
    if (result == KEY_UNKNOWN)
        return pug_snapshot_section_error(section, "Unknown global option '%s'", key);
    return (enum pug_status)result;
}

static enum pug_status set_dump(struct section *section, struct pug_snapshot_dump *dump,
                                const char *key, char *value)
{
    int result =
        dump->elf
            ? pug_snapshot_section_set(section, elf_keys, COUNT(elf_keys), dump, key, value)
            : pug_snapshot_section_set(section, dump_keys, COUNT(dump_keys), dump, key, value);
    if (result == KEY_UNKNOWN)
        return pug_snapshot_section_error(section, "Unknown %s section key '%s'", section->name,
                                          key);
    return (enum pug_status)result;
}

static enum pug_status set_device(struct section *section, struct device *device, const char *key,
                                  char *value)
{
    const struct pug_snapshot_device *public = &device->public;
    enum pug_status status = known_or_ignored(pug_snapshot_section_set(
        section, device_keys, COUNT(device_keys), &device->public, key, value));
    if (public->name == value)
        device->name_line = section->ini->line;
    if (public->location == value)
        device->location_line = section->ini->line;
    return status;
}

static enum pug_status device_key(struct reader *reader, char *key, char *value)
{
    struct section *section = &reader->section;
    struct device_state *state = reader->state;
    switch (reader->in) {
    case DEVICE_DEVICE: return set_device(section, state->device, key, value);
    case DEVICE_REGS: return add_register(reader, key, value);
    case DEVICE_GLOBAL: return set_global(section, key, value);
    case DEVICE_EXTENDED: return add_extended(reader, key, value);
    default: return set_dump(section, &state->dump, key, value);
    }
}

/** An unknown space is any. */
static void check_space(const struct section *section, const char *space)
{
    if (pug_snapshot_section_is_native(section) && space && *space && strcmp(space, "ANY") != 0 &&
        pug_space_by_name(space) == PUG_SPACE_ANY)
        pug_snapshot_section_warn(section, section->header_line,
                                  "Space '%s' is not known: taken for any", space);
}

static enum pug_status device_end(struct reader *reader)
{
    struct section *section = &reader->section;
    struct device_state *state = reader->state;
    if (reader->in == DEVICE_DEVICE)
        state->header_line = section->header_line;
    if (reader->in != DEVICE_DUMP && reader->in != DEVICE_ELF)
        return PUG_OK;
    if (reader->in == DEVICE_DUMP && !(section->seen & SEEN_ADDRESS))
        return pug_snapshot_section_incomplete(
            section, "Dump section is missing mandatory address definition");
    if (!(section->seen & SEEN_FILE))
        return pug_snapshot_section_incomplete(
            section, reader->in == DEVICE_DUMP
                         ? "Dump section is missing mandatory file definition"
                         : "ELF section is missing mandatory file definition");
    if (section->snapshot->dump_count++ == PUG_SNAPSHOT_DUMP_LIMIT)
        return pug_snapshot_section_limit(section, "dumps");
    check_space(section, state->dump.space);
    state->dump.has_context_id = section->seen & SEEN_CONTEXT_ID;
    state->dump.has_vmid = section->seen & SEEN_VMID;
    struct pug_snapshot_dump *dump = pug_snapshot_list_add(&state->device->dumps, sizeof(*dump));
    if (!dump)
        return PUG_ERR_MEM;
    *dump = state->dump;
    return PUG_OK;
}

void pug_snapshot_device_free(struct device *device)
{
    free(device->registers.items);
    free(device->dumps.items);
    free(device);
}

/** Names and locations are of one device each. */
static enum pug_status check_unique(const struct section *section, const struct device *device)
{
    struct device *const *others = section->snapshot->devices.items;
    const struct pug_snapshot_device *public = &device->public;
    for (size_t i = 0; i < section->snapshot->devices.count; i++) {
        const struct pug_snapshot_device *other = &others[i]->public;
        if (strcmp(other->name, public->name) == 0)
            return pug_snapshot_section_wrong(section, device->name_line,
                                              "Device name '%s' is that of %s, too", public->name,
                                              other->file);
        if (*public->location && strcmp(other->location, public->location) == 0)
            return pug_snapshot_section_wrong(section, device->location_line,
                                              "Location '%s' is that of %s, too", public->location,
                                              other->file);
    }
    return PUG_OK;
}

static enum pug_status device_finish(struct reader *reader)
{
    const struct section *section = &reader->section;
    const struct device_state *state = reader->state;
    if (!pug_snapshot_section_is_native(section))
        return PUG_OK;
    if (!state->header_line)
        return pug_snapshot_section_error(section, "There is no [device] section");
    if (!*state->device->public.name)
        return pug_snapshot_section_wrong(section, state->header_line,
                                          "Device section is missing mandatory name definition");
    return check_unique(section, state->device);
}

/** To the reference a later device of the same name takes the place of the earlier one. */
static enum pug_status keep_device(struct pug_snapshot *snapshot, struct device *device)
{
    struct device **slot = snapshot->devices.items;
    size_t left = snapshot->devices.count;
    for (; left > 0 && strcmp((*slot)->public.name, device->public.name) != 0; left--)
        slot++;
    if (left > 0)
        pug_snapshot_device_free(*slot);
    else if (!(slot = pug_snapshot_list_add(&snapshot->devices, sizeof(struct device *))))
        return PUG_ERR_MEM;
    *slot = device;
    return PUG_OK;
}

enum pug_status pug_snapshot_device_file_read(struct pug_snapshot *snapshot, const char *path,
                                              const char *file)
{
    static const struct file_kind kind = {.headless_is_error = true,
                                          .begin = device_begin,
                                          .key = device_key,
                                          .end = device_end,
                                          .finish = device_finish};
    struct device *device = calloc(1, sizeof(*device));
    if (!device)
        return PUG_ERR_MEM;
    struct pug_snapshot_device *public = &device->public;
    public->name = public->class_name = public->type = public->location = "";
    public->file = file;
    struct device_state state = {.device = device};
    enum pug_status status = pug_snapshot_file_read(snapshot, path, &kind, &state);
    free(state.extended.items);
    public->registers = device->registers.items;
    public->register_count = device->registers.count;
    public->dumps = device->dumps.items;
    public->dump_count = device->dumps.count;
    if (status == PUG_OK)
        status = keep_device(snapshot, device);
    if (status != PUG_OK)
        pug_snapshot_device_free(device);
    return status;
}
