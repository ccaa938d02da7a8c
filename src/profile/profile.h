// SPDX-License-Identifier: MIT
/** @file What the files of the profile room share. */
#ifndef PUG_PROFILE_PROFILE_H
#define PUG_PROFILE_PROFILE_H

#include "pugmark/profile.h"

/** Items of one kind and where to find an equal one. */
struct profile_table {
    void *items;
    uint32_t *slots; /* 0: free; else an item's number plus 1 */
    uint32_t count, room, slot_count;
    size_t size; /* of an item */
    /* what makes two items equal */
    uint64_t (*hash)(const void *item);
    bool (*same)(const void *left, const void *right);
};

/** Items of a kind beyond which a profile takes no more. */
#define PROFILE_LIMIT (UINT32_C(1) << 31)

struct pug_profile {
    struct profile_table objects, tasks, ranges, branches, frames, uses, loops;
    uint64_t notes[PUG_NOTE_COUNT];
    uint64_t sampled[PUG_SAMPLES_KINDS];
    enum pug_profile_unit unit;
    uint32_t frame_limit;
};

/* table.c */
/** The number of the item that equals `item`, or of a copy of it that is added; `*is_new` says. */
enum pug_status pug_profile_table_add(struct profile_table *table, const void *item,
                                      uint32_t *number, bool *is_new);
/** The number of the item that equals `item`; PUG_PROFILE_NONE: there is none. */
uint32_t pug_profile_table_find(const struct profile_table *table, const void *item);
/** Items were moved: rebuild the slots. */
void pug_profile_table_rehash(struct profile_table *table);
void pug_profile_table_free(struct profile_table *table);

static inline void *pug_profile_item(const struct profile_table *table, uint32_t number)
{
    return (char *)table->items + number * table->size;
}

/* sort.c: the order that a profile's file has */
int pug_profile_compare_objects(const void *left, const void *right);
int pug_profile_compare_tasks(const void *left, const void *right);
int pug_profile_compare_ranges(const void *left, const void *right);
int pug_profile_compare_branches(const void *left, const void *right);
int pug_profile_compare_frames(const void *left, const void *right);
int pug_profile_compare_uses(const void *left, const void *right);
int pug_profile_compare_loops(const void *left, const void *right);

/* profile.c */
/** As pug_profile_use(); its number. */
enum pug_status pug_profile_use_number(struct pug_profile *profile,
                                       const struct pug_profile_use *use, uint32_t *number);
/** Has it an object of that name, see pug_profile_object_is()? */
bool pug_profile_has_object(const struct pug_profile *profile, const char *name);

/* rounds.c */
/** One visit of so many rounds; the loop has no place yet. */
struct pug_profile_loop pug_profile_loop_visit(uint64_t rounds);
/** Add the visits of `more` to those of `sum`. */
void pug_profile_loop_add(struct pug_profile_loop *sum, const struct pug_profile_loop *more);

#endif
