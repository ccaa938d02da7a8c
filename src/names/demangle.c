// SPDX-License-Identifier: MIT
/** @file Names for people: whichever demangler knows them; kept, since they are asked for again. */
#include "names/demangle.h"

#include "names/names.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

size_t pug_demangle(const char *name, char *buffer, size_t size)
{
    size_t length = 0;
    if (strncmp(name, "_R", 2) == 0)
        length = pug_names_demangle_rust(name, buffer, size);
    else if (strncmp(name, "_Z", 2) == 0) {
        length = pug_names_demangle_rust_legacy(name, buffer, size);
        if (length == 0)
            length = pug_names_demangle_itanium(name, buffer, size);
    }
    return length;
}

const char *pug_names_keep(struct pug_names *names, const char *text, size_t length)
{
    char *copy = strndup(text, length);
    const char *kept = copy ? pug_names_string(&names->strings, copy) : NULL;
    free(copy);
    return kept;
}

static size_t slot_of(const struct names_readable *slots, size_t count, const char *name)
{
    size_t slot = ((uintptr_t)name >> 4) * UINT64_C(0x9E3779B97F4A7C15) >> 20;
    while (slots[slot & (count - 1)].name && slots[slot & (count - 1)].name != name)
        slot++;
    return slot & (count - 1);
}

static bool grow(struct pug_names *names)
{
    const size_t larger = names->readable_room ? names->readable_room * 2 : 256;
    struct names_readable *slots = calloc(larger, sizeof(*slots));
    if (!slots)
        return !(names->starved = true);
    for (size_t i = 0; i < names->readable_room; i++)
        if (names->readable[i].name)
            slots[slot_of(slots, larger, names->readable[i].name)] = names->readable[i];
    free(names->readable);
    names->readable = slots;
    names->readable_room = larger;
    return true;
}

const char *pug_names_readable(struct pug_names *names, const char *name)
{
    char text[1024];
    if (!name || name[0] != '_')
        return name;
    const char *key = pug_names_string(&names->strings, name); /* one for equal names */
    if (!key || (names->readable_count * 2 >= names->readable_room && !grow(names)))
        return name;
    struct names_readable *slot =
        &names->readable[slot_of(names->readable, names->readable_room, key)];
    if (slot->name)
        return slot->readable;
    errno = 0;
    const size_t length = pug_demangle(name, text, sizeof(text));
    const char *readable = key;
    if (length > 0 && length < sizeof(text)) {
        readable = pug_names_string(&names->strings, text);
    } else if (length > 0 && length <= PUG_NAME_MOST) {
        char *longer = malloc(length + 1);
        if (longer && pug_demangle(name, longer, length + 1) == length)
            readable = pug_names_string(&names->strings, longer);
        free(longer);
    }
    names->starved |= errno == ENOMEM;
    *slot = (struct names_readable){key, readable ? readable : key};
    names->readable_count++;
    return slot->readable;
}
