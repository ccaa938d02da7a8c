// SPDX-License-Identifier: MIT
/** @file Items by their key: an array, and a table of slots that finds an equal one. */
#include "profile/profile.h"

#include <stdlib.h>
#include <string.h>

static uint32_t slot_of(const struct profile_table *table, const void *item)
{
    uint32_t slot = (uint32_t)table->hash(item) & (table->slot_count - 1);
    while (table->slots[slot] != 0 &&
           !table->same(pug_profile_item(table, table->slots[slot] - 1), item))
        slot = (slot + 1) & (table->slot_count - 1);
    return slot;
}

void pug_profile_table_rehash(struct profile_table *table)
{
    if (table->slot_count == 0)
        return;
    memset(table->slots, 0, table->slot_count * sizeof(*table->slots));
    for (uint32_t i = 0; i < table->count; i++)
        table->slots[slot_of(table, pug_profile_item(table, i))] = i + 1;
}

/* Room for one more item, with at least half of the slots free. */
static bool grow(struct profile_table *table)
{
    const uint32_t room = table->room ? table->room * 2 : 32;
    void *items = realloc(table->items, room * table->size);
    if (!items)
        return false;
    table->items = items;
    uint32_t *slots = realloc(table->slots, (size_t)room * 2 * sizeof(*slots));
    if (!slots)
        return false;
    table->slots = slots;
    table->room = room;
    table->slot_count = room * 2;
    pug_profile_table_rehash(table);
    return true;
}

enum pug_status pug_profile_table_add(struct profile_table *table, const void *item,
                                      uint32_t *number, bool *is_new)
{
    if (table->slot_count > 0) {
        const uint32_t slot = slot_of(table, item);
        *is_new = table->slots[slot] == 0;
        *number = table->slots[slot] - 1;
        if (!*is_new)
            return PUG_OK;
    }
    *is_new = true;
    if (table->count >= PROFILE_LIMIT / 2)
        return PUG_ERR_LIMIT;
    if (table->count == table->room && !grow(table))
        return PUG_ERR_MEM;
    memcpy(pug_profile_item(table, table->count), item, table->size);
    *number = table->count++;
    table->slots[slot_of(table, item)] = *number + 1;
    return PUG_OK;
}

uint32_t pug_profile_table_find(const struct profile_table *table, const void *item)
{
    return table->slot_count > 0 ? table->slots[slot_of(table, item)] - 1 : PUG_PROFILE_NONE;
}

void pug_profile_table_free(struct profile_table *table)
{
    free(table->items);
    free(table->slots);
}
