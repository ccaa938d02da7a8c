// SPDX-License-Identifier: MIT
/** @file Stacks as they are written: all frames, or of a deep one those at its ends. */
#include "export/export.h"

#include <stdlib.h>

struct export_stacks_item {
    uint32_t parent;
    uint32_t frames; /* of the stack that it is the top of */
    uint32_t outer;  /* of a deep one: the innermost of the outer end */
};

bool pug_export_stacks_begin(struct export_stacks *stacks, size_t count)
{
    *stacks = (struct export_stacks){.items = calloc(count + 1, sizeof(*stacks->items))};
    return stacks->items != NULL;
}

void pug_export_stacks_add(struct export_stacks *stacks, uint32_t parent)
{
    struct export_stacks_item *item = &stacks->items[stacks->count];
    const struct export_stacks_item *below =
        parent != PUG_PROFILE_NONE ? &stacks->items[parent] : NULL;
    item->parent = parent;
    item->frames = below ? below->frames + 1 : 1;
    item->outer = item->frames <= PUG_EXPORT_STACK_END ? (uint32_t)stacks->count : below->outer;
    stacks->count++;
}

uint32_t pug_export_stack_outer(const struct export_stacks *stacks, uint32_t top)
{
    const struct export_stacks_item *item = &stacks->items[top];
    return item->frames > 2 * PUG_EXPORT_STACK_END ? item->outer : PUG_PROFILE_NONE;
}

size_t pug_export_stack(const struct export_stacks *stacks, uint32_t top,
                        uint32_t path[PUG_EXPORT_STACK_MOST])
{
    size_t count = 0;
    const uint32_t outer =
        top != PUG_PROFILE_NONE ? pug_export_stack_outer(stacks, top) : PUG_PROFILE_NONE;
    for (uint32_t at = top; at != PUG_PROFILE_NONE; at = stacks->items[at].parent) {
        if (outer != PUG_PROFILE_NONE && count == PUG_EXPORT_STACK_END) {
            path[count++] = PUG_PROFILE_NONE;
            at = outer;
        }
        path[count++] = at;
    }
    return count;
}

void pug_export_stacks_free(struct export_stacks *stacks)
{
    free(stacks->items);
}
