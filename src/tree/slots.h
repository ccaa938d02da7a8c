// SPDX-License-Identifier: MIT
/** @file The slots of a tree: 65536 ids, of which a tree uses a few. */
#ifndef PUG_TREE_SLOTS_H
#define PUG_TREE_SLOTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PUG_SLOT_PAGES 256u

struct pug_source;

struct pug_slot_page {
    struct pug_source *sources[256];
    uint8_t other[32]; /**< bit: it is not as most slots are, but disabled, or enabled */
};

struct pug_slots {
    struct pug_slot_page *pages[PUG_SLOT_PAGES]; /**< never NULL */
    bool disabled;                               /**< most slots are */
};

void pug_slots_init(struct pug_slots *slots);
/** The sources are their owner's. */
void pug_slots_free(struct pug_slots *slots);

static inline struct pug_source *pug_slots_get(const struct pug_slots *slots, uint16_t slot)
{
    return slots->pages[slot >> 8]->sources[slot & 0xff];
}

/** False: no memory. Where a source was there is memory for another. */
bool pug_slots_put(struct pug_slots *slots, uint16_t slot, struct pug_source *source);
void pug_slots_clear(struct pug_slots *slots, uint16_t slot);

static inline bool pug_slots_enabled(const struct pug_slots *slots, uint16_t slot)
{
    bool other = slots->pages[slot >> 8]->other[(slot & 0xff) / 8] & (1u << slot % 8);
    return slots->disabled == other;
}

/** False: no memory. */
bool pug_slots_enable(struct pug_slots *slots, uint16_t slot, bool enable);
void pug_slots_enable_all(struct pug_slots *slots, bool enable);
/** Enable the slots that are enabled in another tree, and no others. False: no memory. */
bool pug_slots_copy_enabled(struct pug_slots *slots, const struct pug_slots *from);

#endif
