// SPDX-License-Identifier: MIT
#include "timeline/slice_names.h"

#include "base/hash.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

/** A name by what it stands for. */
struct slice_name {
    uint64_t key; /* 0: free */
    uint32_t name;
};

static struct slice_name *slot_of(struct slice_name *table, uint32_t room, uint64_t key)
{
    uint32_t at = (uint32_t)pug_hash_mix(0, key) & (room - 1);
    while (table[at].key && table[at].key != key)
        at = (at + 1) & (room - 1);
    return &table[at];
}

static bool grow(struct slice_names *names)
{
    uint32_t room = names->room ? 2 * names->room : 1024;
    struct slice_name *table = calloc(room, sizeof(*table));
    if (!table)
        return false;
    for (uint32_t i = 0; i < names->room; i++)
        if (names->table[i].key)
            *slot_of(table, room, names->table[i].key) = names->table[i];
    free(names->table);
    names->table = table;
    names->room = room;
    return true;
}

uint32_t pug_slice_name_number(struct slice_names *names, uint64_t key, bool *is_new)
{
    *is_new = false;
    if (2 * names->count >= names->room && !grow(names)) {
        names->failed = true;
        return 0;
    }
    struct slice_name *slot = slot_of(names->table, names->room, key ? key : 1);
    *is_new = slot->key == 0;
    if (*is_new)
        *slot = (struct slice_name){.key = key ? key : 1, .name = names->count++};
    return slot->name;
}

uint32_t pug_slice_name_counted(struct slice_names *names, uint64_t key, const char *what,
                                uint64_t number)
{
    char text[96];
    bool is_new;
    uint32_t name = pug_slice_name_number(names, key, &is_new);
    if (is_new) {
        snprintf(text, sizeof(text), "%s %" PRIu64, what, number);
        pug_timeline_name(names->timeline, name, text, NULL, 0);
    }
    return name;
}

uint32_t pug_slice_name_exception(struct slice_names *names, uint8_t numbers, uint32_t number)
{
    char text[64];
    bool is_new;
    uint32_t name = pug_slice_name_number(
        names, SLICE_KEY(SLICE_EXCEPTION, (uint64_t)numbers << 32 | number), &is_new);
    if (is_new) {
        pug_exception_text((enum pug_exception_numbers)numbers, number, text, sizeof(text));
        pug_timeline_name(names->timeline, name, text, NULL, 0);
    }
    return name;
}

static uint32_t slice_name_address(struct slice_names *names, uint32_t task, uint64_t address)
{
    char text[24];
    bool is_new;
    uint64_t vaddr = address;
    uint32_t name = pug_slice_name_number(names, SLICE_KEY(SLICE_ADDRESS, address), &is_new);
    if (is_new)
        (void)pug_places_vaddr(names->places, task, address, &vaddr);
    snprintf(text, sizeof(text), "[%" PRIx64 "]", vaddr);
    if (is_new)
        pug_timeline_name(names->timeline, name, text, NULL, 0);
    return name;
}

uint32_t pug_slice_name_frame(struct slice_names *names, uint32_t task,
                              const struct pug_call_frame *frame)
{
    struct pug_names_line line = {.path = NULL};
    uint64_t vaddr;
    bool is_new;
    if (frame->kind == PUG_CALL_EXCEPTION)
        return pug_slice_name_exception(names, frame->exception_numbers, frame->exception);
    if (!frame->function.name)
        return slice_name_address(names, task, frame->address);
    uint32_t name = pug_slice_name_number(names, (uintptr_t)frame->function.name, &is_new);
    if (!is_new)
        return name;
    struct pug_names_file *file =
        pug_places_find(names->places, task, frame->function.start, &vaddr);
    if (!file || !pug_names_line(file, vaddr, &line))
        line.path = NULL;
    pug_timeline_name(names->timeline, name,
                      pug_names_readable(names->readable, frame->function.name), line.path,
                      line.line);
    return name;
}

void pug_slice_names_free(struct slice_names *names)
{
    free(names->table);
}
