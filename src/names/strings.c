// SPDX-License-Identifier: MIT
#include "names/names.h"

#include <stdlib.h>
#include <string.h>

static size_t slot_of(const struct names_strings *strings, const char *text)
{
    uint64_t hash = UINT64_C(0xcbf29ce484222325);
    for (const char *at = text; *at; at++)
        hash = (hash ^ (uint8_t)*at) * UINT64_C(0x100000001b3);
    size_t slot = (size_t)(hash ^ hash >> 32) & (strings->slot_count - 1);
    while (strings->slots[slot] && strcmp(strings->slots[slot], text) != 0)
        slot = (slot + 1) & (strings->slot_count - 1);
    return slot;
}

static bool grow(struct names_strings *strings)
{
    struct names_strings larger = {
        .slot_count = strings->slot_count ? strings->slot_count * 2 : 256,
        .starved = strings->starved,
    };
    larger.slots = calloc(larger.slot_count, sizeof(*larger.slots));
    if (!larger.slots)
        return false;
    for (size_t i = 0; i < strings->slot_count; i++)
        if (strings->slots[i])
            larger.slots[slot_of(&larger, strings->slots[i])] = strings->slots[i];
    free(strings->slots);
    larger.count = strings->count;
    *strings = larger;
    return true;
}

const char *pug_names_string(struct names_strings *strings, const char *text)
{
    if (!text)
        return NULL;
    if (strings->count * 2 >= strings->slot_count && !grow(strings)) {
        strings->starved = true;
        return NULL;
    }
    const size_t slot = slot_of(strings, text);
    if (!strings->slots[slot]) {
        strings->slots[slot] = strdup(text);
        strings->count += strings->slots[slot] != NULL;
        strings->starved |= !strings->slots[slot];
    }
    return strings->slots[slot];
}

void pug_names_strings_free(struct names_strings *strings)
{
    for (size_t i = 0; i < strings->slot_count; i++)
        free(strings->slots[i]);
    free(strings->slots);
}
