// SPDX-License-Identifier: MIT
#include "base/grow.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define FIRST 8u

bool pug_list_reserve(struct pug_list *list, size_t more, size_t item_size)
{
    if (list->room - list->count >= more)
        return true;
    size_t room = list->room ? list->room : FIRST;
    while (room - list->count < more) {
        if (room > SIZE_MAX / 2 / item_size)
            return false;
        room *= 2;
    }
    void *items = realloc(list->items, room * item_size);
    if (!items)
        return false;
    list->items = items;
    list->room = room;
    return true;
}

void *pug_list_add(struct pug_list *list, size_t item_size)
{
    if (!pug_list_reserve(list, 1, item_size))
        return NULL;
    char *item = (char *)list->items + list->count++ * item_size;
    return memset(item, 0, item_size);
}
