// SPDX-License-Identifier: MIT
#include "names/names.h"

#include "base/hash.h"

#include <stdlib.h>
#include <string.h>

/* Names in a file may all be tails of one text: longer ones have so many bytes together, … */
#define LONG      1024u
#define LONG_ONES ((size_t)64 << 20)

static bool is(const char *kept, const char *text, size_t length)
{
    return strncmp(kept, text, length) == 0 && kept[length] == 0;
}

/**
 * Of words of eight bytes: texts may be long. Who writes a program could choose names with one
 * hash, but for the seed.
 */
static uint64_t hash_of(uint64_t seed, const char *text, size_t length)
{
    uint64_t hash = pug_hash_mix(seed, length), word;
    for (; length >= sizeof(word); text += sizeof(word), length -= sizeof(word)) {
        memcpy(&word, text, sizeof(word));
        hash = pug_hash_mix(hash, word);
    }
    word = 0;
    memcpy(&word, text, length);
    return pug_hash_mix(hash, word);
}

static size_t slot_of(const struct names_strings *strings, const char *text, size_t length)
{
    const uint64_t seed = (uintptr_t)strings->slots;
    size_t slot = (size_t)hash_of(seed, text, length) & (strings->slot_count - 1);
    while (strings->slots[slot] && !is(strings->slots[slot], text, length))
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
            larger.slots[slot_of(&larger, strings->slots[i], strlen(strings->slots[i]))] =
                strings->slots[i];
    free(strings->slots);
    larger.count = strings->count;
    larger.long_ones = strings->long_ones;
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
    size_t length = strnlen(text, PUG_NAME_MOST), slot = slot_of(strings, text, length);
    if (!strings->slots[slot] && length > LONG && strings->long_ones + length > LONG_ONES)
        slot = slot_of(strings, text, length = LONG); /* … and are cut after that */
    if (!strings->slots[slot]) {
        strings->slots[slot] = strndup(text, length);
        strings->long_ones += length > LONG ? length : 0;
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
