// SPDX-License-Identifier: MIT
/** @file Counts as bytes, for another process of the same build, and out of them. */
#include "base/bytes.h"
#include "counts/counts.h"

#include <stdlib.h>
#include <string.h>

static void pack_items(const void *items, uint32_t count, size_t size, struct pug_state *bytes)
{
    pug_state_number(bytes, count);
    pug_state_put(bytes, items, count * size);
}

void pug_counts_pack(const struct pug_counts *counts, struct pug_state *bytes)
{
    bytes->failed |= counts->failed;
    pug_state_number(bytes, counts->bare);
    pug_state_number(bytes, counts->range_sum);
    pug_state_number(bytes, counts->instruction_sum);
    pack_items(counts->ranges.items, counts->ranges.count, sizeof(struct pug_count), bytes);
    pack_items(counts->jumps.items, counts->jumps.count, sizeof(struct pug_count), bytes);
    pack_items(counts->contexts.items, counts->contexts.count, sizeof(struct pug_count), bytes);
    pack_items(counts->boundaries, counts->boundary_count, sizeof(struct pug_count_boundary),
               bytes);
    pug_state_number(bytes, counts->contradictions);
}

/** So many items, with room for twice as many as a power of two has; NULL: no memory. */
static void *unpack_items(struct pug_bytes *bytes, size_t size, uint32_t *count, uint32_t *room)
{
    const uint64_t items = pug_bytes_take_64(bytes);
    const uint8_t *at = pug_bytes_take(bytes, (size_t)items * size);
    *room = 256;
    while (*room < items)
        *room *= 2;
    void *copy = at ? malloc(*room * size) : NULL;
    if (!copy)
        return NULL;
    *count = (uint32_t)items;
    return memcpy(copy, at, (size_t)items * size);
}

static bool unpack_table(struct pug_bytes *bytes, struct pug_count_table *table)
{
    table->items = unpack_items(bytes, sizeof(*table->items), &table->count, &table->room);
    table->slots = table->items ? malloc((size_t)table->room * 2 * sizeof(*table->slots)) : NULL;
    table->slot_mask = table->room * 2 - 1;
    pug_count_table_index(table);
    return table->slots != NULL;
}

struct pug_counts *pug_counts_unpack(struct pug_bytes *bytes)
{
    struct pug_counts *counts = pug_counts_new();
    if (!counts)
        return NULL;
    counts->bare = pug_bytes_take_64(bytes);
    counts->range_sum = pug_bytes_take_64(bytes);
    counts->instruction_sum = pug_bytes_take_64(bytes);
    const bool good = unpack_table(bytes, &counts->ranges) && unpack_table(bytes, &counts->jumps) &&
                      unpack_table(bytes, &counts->contexts);
    if (good)
        counts->boundaries = unpack_items(bytes, sizeof(*counts->boundaries),
                                          &counts->boundary_count, &counts->boundary_room);
    counts->contradictions = pug_bytes_take_64(bytes);
    if (good && counts->boundaries)
        return counts;
    pug_counts_free(counts);
    return NULL;
}
