// SPDX-License-Identifier: MIT
#define _DEFAULT_SOURCE /* madvise() */
#include "base/grow.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#ifndef _WIN32
#include <sys/mman.h>
#endif

#define FIRST      8u
#define LARGE_PAGE ((uintptr_t)2 << 20)

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

bool pug_list_reserve_long(struct pug_list *list, size_t more, size_t item_size)
{
    if (!pug_list_reserve(list, more, item_size))
        return false;
#ifdef MADV_HUGEPAGE /* a wish: without it all is slower */
    const uintptr_t begin = (uintptr_t)list->items, size = list->room * item_size;
    const uintptr_t first = (begin + LARGE_PAGE - 1) / LARGE_PAGE * LARGE_PAGE;
    const uintptr_t end = (begin + size) / LARGE_PAGE * LARGE_PAGE;
    const int why = errno;
    if (first < end)
        (void)madvise((void *)first, end - first, MADV_HUGEPAGE);
    errno = why;
#endif
    return true;
}

bool pug_has_room(size_t size)
{
    void *volatile room = malloc(size); /* compilers leave out what is freed at once */
    free(room);
    return room != NULL;
}

void *pug_list_add(struct pug_list *list, size_t item_size)
{
    if (!pug_list_reserve(list, 1, item_size))
        return NULL;
    char *item = (char *)list->items + list->count++ * item_size;
    return memset(item, 0, item_size);
}
