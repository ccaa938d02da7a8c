// SPDX-License-Identifier: MIT
#include "capture/named.h"

#include "base/bisect.h"
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

static int by_number(const void *left, const void *right)
{
    const uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;
    return (a > b) - (a < b);
}

/** In order, each once. */
static void sort_numbers(struct pug_list *all)
{
    uint64_t *numbers = all->items;
    size_t kept = 0;
    if (all->count > 0)
        qsort(numbers, all->count, sizeof(*numbers), by_number);
    for (size_t i = 0; i < all->count; i++)
        if (kept == 0 || numbers[kept - 1] != numbers[i])
            numbers[kept++] = numbers[i];
    all->count = kept;
}

void pug_named_note(struct pug_named *named, uint64_t number)
{
    struct pug_list *all = &named->all;
    if (number == 0 || (all->count > 0 && ((uint64_t *)all->items)[all->count - 1] == number))
        return;
    if (all->count == all->room) {
        sort_numbers(all);
        /* as many again, so that they are seldom sorted */
        (void)pug_list_reserve(all, all->count + 1, sizeof(number));
    }
    uint64_t *added = pug_list_add(all, sizeof(*added));
    if (added)
        *added = number;
    named->failed |= !added;
}

void pug_named_pack(struct pug_named *named, struct pug_capture *capture, struct pug_state *bytes)
{
    const uint64_t *numbers = named->all.items;
    sort_numbers(&named->all);
    pug_state_number(bytes, named->all.count);
    for (size_t i = 0; i < named->all.count; i++) {
        struct seen seen = {.number = numbers[i]};
        named->failed |= !pug_capture_space_name(capture, seen.number, &seen.name);
        pug_state_put(bytes, &seen, sizeof(seen));
    }
    bytes->failed |= named->failed;
    free(named->all.items);
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
    for (uint64_t last = 0; known->count < count; known->count++) {
        struct seen seen;
        memcpy(&seen, at + known->count * sizeof(seen), sizeof(seen));
        if (seen.number <= last)
            return false;
        last = seen.number;
        known->spaces[known->count] =
            (struct pug_named_space){seen.number, pug_capture_space_named(capture, &seen.name)};
    }
    return true;
}

const struct pug_address_space *pug_named_space(const struct pug_named_known *known,
                                                uint64_t number)
{
    const size_t i = pug_bisect_below(known->spaces, known->count, sizeof(*known->spaces),
                                      offsetof(struct pug_named_space, number), number);
    return i < known->count && known->spaces[i].number == number ? known->spaces[i].space : NULL;
}

void pug_named_note_counts(struct pug_named *named, const struct pug_counts *counts)
{
    for (uint32_t i = 0; i < counts->contexts.count; i++)
        pug_named_note(named, pug_counts_context_element(counts, i).value);
    for (uint32_t i = 0; i < counts->boundary_count; i++)
        pug_named_note(named, counts->boundaries[i].memory);
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
    for (uint32_t i = 0; i < counts->boundary_count; i++)
        counts->boundaries[i].memory = number_here(known, counts->boundaries[i].memory);
}
