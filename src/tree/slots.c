// SPDX-License-Identifier: MIT
/** @file Which source sits at which id, in pages that are made when something is put there. */
#include "tree/slots.h"

#include <stdlib.h>
#include <string.h>

/* Stands where nothing is; it is never written. */
static struct pug_slot_page nothing;

void pug_slots_init(struct pug_slots *slots)
{
    for (size_t i = 0; i < PUG_SLOT_PAGES; i++)
        slots->pages[i] = &nothing;
    slots->disabled = false;
}

void pug_slots_free(struct pug_slots *slots)
{
    for (size_t i = 0; i < PUG_SLOT_PAGES; i++)
        if (slots->pages[i] != &nothing)
            free(slots->pages[i]);
}

/** The page of a slot, to write to; NULL: no memory. */
static struct pug_slot_page *page_of(struct pug_slots *slots, uint16_t slot)
{
    struct pug_slot_page **page = &slots->pages[slot >> 8];
    if (*page != &nothing)
        return *page;
    struct pug_slot_page *made = calloc(1, sizeof(*made));
    if (made)
        *page = made;
    return made;
}

bool pug_slots_put(struct pug_slots *slots, uint16_t slot, struct pug_source *source)
{
    struct pug_slot_page *page = page_of(slots, slot);
    if (page)
        page->sources[slot & 0xff] = source;
    return page != NULL;
}

void pug_slots_clear(struct pug_slots *slots, uint16_t slot)
{
    if (slots->pages[slot >> 8] != &nothing)
        slots->pages[slot >> 8]->sources[slot & 0xff] = NULL;
}

bool pug_slots_enable(struct pug_slots *slots, uint16_t slot, bool enable)
{
    if (pug_slots_enabled(slots, slot) == enable)
        return true;
    struct pug_slot_page *page = page_of(slots, slot);
    if (page)
        page->other[(slot & 0xff) / 8] ^= (uint8_t)(1u << slot % 8);
    return page != NULL;
}

void pug_slots_enable_all(struct pug_slots *slots, bool enable)
{
    slots->disabled = !enable;
    for (size_t i = 0; i < PUG_SLOT_PAGES; i++)
        if (slots->pages[i] != &nothing)
            memset(slots->pages[i]->other, 0, sizeof(slots->pages[i]->other));
}

bool pug_slots_copy_enabled(struct pug_slots *slots, const struct pug_slots *from)
{
    pug_slots_enable_all(slots, !from->disabled);
    for (unsigned i = 0; i < PUG_SLOT_PAGES; i++) {
        if (from->pages[i] == &nothing)
            continue;
        struct pug_slot_page *page = page_of(slots, (uint16_t)(i << 8));
        if (!page)
            return false;
        memcpy(page->other, from->pages[i]->other, sizeof(page->other));
    }
    return true;
}
