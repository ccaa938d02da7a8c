// SPDX-License-Identifier: MIT
/** @file Lists that grow. Zeroed they are empty; free() `items` in the end. */
#ifndef PUG_BASE_GROW_H
#define PUG_BASE_GROW_H

#include <stdbool.h>
#include <stddef.h>

struct pug_list {
    void *items;
    size_t count, room;
};

/** Make room for `more` items after the existing ones; false: no memory, nothing changed. */
bool pug_list_reserve(struct pug_list *list, size_t more, size_t item_size);

/**
 * As pug_list_reserve(), once and for all of what a long list will have: what it touches of it
 * comes in large pages, where there are any.
 */
bool pug_list_reserve_long(struct pug_list *list, size_t more, size_t item_size);

/** Is there memory for so much? For calls of a library that cannot report lack of memory. */
bool pug_has_room(size_t size);

/** A zeroed item at the end, or NULL. */
void *pug_list_add(struct pug_list *list, size_t item_size);

#endif
