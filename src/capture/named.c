// SPDX-License-Identifier: MIT
#include "capture/named.h"

#include "counts/counts.h"

#include <stdlib.h>
#include <string.h>

/** A space, by its number where it was seen. */
struct seen {
    uint64_t number;
    struct pug_space_name name;
};

struct pug_named_space {
    uint64_t number;
    const struct pug_address_space *space;
};

void pug_named_note(struct pug_named *named, uint64_t number)
{
    const struct seen *seen = named->all.items;
    for (size_t i = named->all.count; number != 0 && i-- > 0;)
        if (seen[i].number == number)
            return;
    struct seen *added = number != 0 ? pug_list_add(&named->all, sizeof(*added)) : NULL;
    if (added)
        *added = (struct seen){.number = number};
    named->failed |= !added && number != 0;
}

void pug_named_pack(struct pug_named *named, struct pug_capture *capture, struct pug_state *bytes)
{
    struct seen *seen = named->all.items;
    for (size_t i = 0; i < named->all.count; i++)
        named->failed |= !pug_capture_space_name(capture, seen[i].number, &seen[i].name);
    pug_state_number(bytes, named->all.count);
    pug_state_put(bytes, seen, named->all.count * sizeof(*seen));
    bytes->failed |= named->failed;
    free(seen);
    *named = (struct pug_named){.failed = false};
}

bool pug_named_unpack(struct pug_named_known *known, struct pug_capture *capture,
                      struct pug_bytes *bytes)
{
    const uint64_t count = pug_bytes_take_64(bytes);
    *known = (struct pug_named_known){.count = 0};
    if (count > pug_bytes_left(bytes) / sizeof(struct seen))
        return false;
    const uint8_t *at = pug_bytes_take(bytes, (size_t)count * sizeof(struct seen));
    known->spaces = calloc((size_t)count + 1, sizeof(*known->spaces));
    if (!known->spaces)
        return false;
    for (; known->count < count; known->count++) {
        struct seen seen;
        memcpy(&seen, at + known->count * sizeof(seen), sizeof(seen));
        known->spaces[known->count] =
            (struct pug_named_space){seen.number, pug_capture_space_named(capture, &seen.name)};
    }
    return true;
}

const struct pug_address_space *pug_named_space(const struct pug_named_known *known,
                                                uint64_t number)
{
    size_t i = 0;
    while (i < known->count && known->spaces[i].number != number)
        i++;
    return i < known->count ? known->spaces[i].space : NULL;
}

void pug_named_note_counts(struct pug_named *named, const struct pug_counts *counts)
{
    for (uint32_t i = 0; i < counts->contexts.count; i++)
        pug_named_note(named, pug_counts_context_element(counts, i).value);
    for (uint32_t i = 0; i < counts->seam_count; i++)
        pug_named_note(named, counts->seams[i].memory);
}

static uint64_t number_here(const struct pug_named_known *known, uint64_t number)
{
    const struct pug_address_space *space = pug_named_space(known, number);
    return space ? space->number : number;
}

static uint64_t memory_here(const void *known, const struct pug_element *context)
{
    return number_here(known, context->value);
}

void pug_named_renumber(const struct pug_named_known *known, struct pug_counts *counts)
{
    pug_counts_change_memories(counts, memory_here, known);
    for (uint32_t i = 0; i < counts->seam_count; i++)
        counts->seams[i].memory = number_here(known, counts->seams[i].memory);
}
