// SPDX-License-Identifier: MIT
/** @file A profile in its order: numbers become those of the order, whatever came first. */
#include "profile/profile.h"

#include <stdlib.h>
#include <string.h>

/* ---- comparing keys ---- */

static int order(uint64_t left, uint64_t right)
{
    return left < right ? -1 : left > right;
}

/* The first that is not equal. */
static int first_of(const int *orders, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (orders[i] != 0)
            return orders[i];
    return 0;
}

#define FIRST_OF(...)                                                                              \
    first_of((const int[]){__VA_ARGS__}, sizeof((const int[]){__VA_ARGS__}) / sizeof(int))

int pug_profile_compare_objects(const void *left, const void *right)
{
    const struct pug_profile_object *a = left, *b = right;
    int path = strcmp(a->path, b->path);
    if (path != 0 || a->build_id_size != b->build_id_size)
        return path != 0 ? path : order(a->build_id_size, b->build_id_size);
    return memcmp(a->build_id, b->build_id, a->build_id_size);
}

int pug_profile_compare_tasks(const void *left, const void *right)
{
    const struct pug_profile_task *a = left, *b = right;
    return FIRST_OF(order((uint32_t)a->pid, (uint32_t)b->pid),
                    order((uint32_t)a->tid, (uint32_t)b->tid), strcmp(a->name, b->name));
}

int pug_profile_compare_ranges(const void *left, const void *right)
{
    const struct pug_profile_range *a = left, *b = right;
    return FIRST_OF(order(a->object, b->object), order(a->first, b->first), order(a->last, b->last),
                    order(a->end, b->end), order(a->isa, b->isa), order(a->last_size, b->last_size),
                    order(a->instructions, b->instructions));
}

int pug_profile_compare_branches(const void *left, const void *right)
{
    const struct pug_profile_branch *a = left, *b = right;
    return FIRST_OF(order(a->object, b->object), order(a->from, b->from),
                    order(a->to_object, b->to_object), order(a->to, b->to));
}

/* PUG_PROFILE_NONE sorts after all others; frames of no parent must come first. */
static uint32_t parent_rank(const struct pug_profile_frame *frame)
{
    return frame->parent + 1;
}

int pug_profile_compare_frames(const void *left, const void *right)
{
    const struct pug_profile_frame *a = left, *b = right;
    return FIRST_OF(order(parent_rank(a), parent_rank(b)), order(a->task, b->task),
                    order(a->object, b->object), order(a->function, b->function),
                    order(a->site_object, b->site_object), order(a->site, b->site));
}

int pug_profile_compare_uses(const void *left, const void *right)
{
    const struct pug_profile_use *a = left, *b = right;
    return FIRST_OF(order(a->frame, b->frame), order(a->range, b->range));
}

int pug_profile_compare_loops(const void *left, const void *right)
{
    const struct pug_profile_loop *a = left, *b = right;
    return FIRST_OF(order(a->object, b->object), order(a->head, b->head));
}

/* ---- new numbers ---- */

/* An item, the number that it had, and the first two words of its key. */
struct moved {
    uint64_t rank[2];
    const struct profile_table *table;
    int (*compare)(const void *left, const void *right);
    uint32_t was;
};

/* What a kind is compared by first, so that most comparisons need not look at the items. */
static void rank_range(const void *item, uint64_t rank[2])
{
    const struct pug_profile_range *range = item;
    rank[0] = range->object;
    rank[1] = range->first;
}

static void rank_branch(const void *item, uint64_t rank[2])
{
    const struct pug_profile_branch *branch = item;
    rank[0] = branch->object;
    rank[1] = branch->from;
}

static void rank_frame(const void *item, uint64_t rank[2])
{
    const struct pug_profile_frame *frame = item;
    rank[0] = parent_rank(frame);
    rank[1] = frame->task;
}

static void rank_use(const void *item, uint64_t rank[2])
{
    const struct pug_profile_use *use = item;
    rank[0] = use->frame;
    rank[1] = use->range;
}

static void rank_loop(const void *item, uint64_t rank[2])
{
    const struct pug_profile_loop *loop = item;
    rank[0] = loop->object;
    rank[1] = loop->head;
}

static int by_item(const void *left, const void *right)
{
    const struct moved *a = left, *b = right;
    if (a->rank[0] != b->rank[0])
        return a->rank[0] < b->rank[0] ? -1 : 1;
    if (a->rank[1] != b->rank[1])
        return a->rank[1] < b->rank[1] ? -1 : 1;
    return a->compare(pug_profile_item(a->table, a->was), pug_profile_item(b->table, b->was));
}

/** How a kind is sorted; `rank` may be NULL. */
struct kind {
    int (*compare)(const void *left, const void *right);
    void (*rank)(const void *item, uint64_t rank[2]);
};

static const struct kind an_object = {pug_profile_compare_objects, NULL},
                         a_task = {pug_profile_compare_tasks, NULL},
                         a_range = {pug_profile_compare_ranges, rank_range},
                         a_branch = {pug_profile_compare_branches, rank_branch},
                         a_frame = {pug_profile_compare_frames, rank_frame},
                         a_use = {pug_profile_compare_uses, rank_use},
                         a_loop = {pug_profile_compare_loops, rank_loop};

/**
 * Sort a table from item `from` up to `to`; becomes[old number] is the new one. `scratch` has room
 * for as many items, `moves` too.
 */
static void sort_part(struct profile_table *table, uint32_t from, uint32_t to,
                      const struct kind *kind, struct moved *moves, char *scratch,
                      uint32_t *becomes)
{
    const uint32_t count = to - from;
    for (uint32_t i = 0; i < count; i++) {
        moves[i] = (struct moved){.table = table, .was = from + i, .compare = kind->compare};
        if (kind->rank)
            kind->rank(pug_profile_item(table, from + i), moves[i].rank);
    }
    qsort(moves, count, sizeof(*moves), by_item);
    for (uint32_t i = 0; i < count; i++) {
        memcpy(scratch + i * table->size, pug_profile_item(table, moves[i].was), table->size);
        if (becomes)
            becomes[moves[i].was] = from + i;
    }
    if (count > 0)
        memcpy(pug_profile_item(table, from), scratch, count * table->size);
}

static void renumber(uint32_t *number, const uint32_t *becomes)
{
    if (*number != PUG_PROFILE_NONE)
        *number = becomes[*number];
}

/* Room for the largest table, and the new numbers of those that others refer to. */
struct sorting {
    struct moved *moves;
    char *scratch;
    uint32_t *objects, *tasks, *ranges, *frames;
    uint32_t *depths, *starts, *places; /* of frames */
};

static void sorting_free(struct sorting *sorting)
{
    free(sorting->moves);
    free(sorting->scratch);
    free(sorting->objects);
    free(sorting->tasks);
    free(sorting->ranges);
    free(sorting->frames);
    free(sorting->depths);
    free(sorting->starts);
    free(sorting->places);
}

static bool sorting_begin(const struct pug_profile *profile, struct sorting *sorting)
{
    const struct profile_table *tables[] = {&profile->objects,  &profile->tasks,  &profile->ranges,
                                            &profile->branches, &profile->frames, &profile->uses,
                                            &profile->loops};
    const size_t frames = profile->frames.count + (size_t)1;
    size_t items = 1, bytes = 1;
    for (size_t i = 0; i < sizeof(tables) / sizeof(tables[0]); i++) {
        const size_t size = tables[i]->count * tables[i]->size;
        items = tables[i]->count > items ? tables[i]->count : items;
        bytes = size > bytes ? size : bytes;
    }
    *sorting = (struct sorting){
        .moves = calloc(items, sizeof(struct moved)),
        .scratch = malloc(bytes),
        .objects = calloc(profile->objects.count + (size_t)1, sizeof(uint32_t)),
        .tasks = calloc(profile->tasks.count + (size_t)1, sizeof(uint32_t)),
        .ranges = calloc(profile->ranges.count + (size_t)1, sizeof(uint32_t)),
        .frames = calloc(frames, sizeof(uint32_t)),
        .depths = calloc(frames, sizeof(uint32_t)),
        .starts = calloc(frames + 1, sizeof(uint32_t)),
        .places = calloc(frames, sizeof(uint32_t)),
    };
    return sorting->moves && sorting->scratch && sorting->objects && sorting->tasks &&
           sorting->ranges && sorting->frames && sorting->depths && sorting->starts &&
           sorting->places;
}

static void sort_all(struct profile_table *table, const struct kind *kind, struct sorting *sorting,
                     uint32_t *becomes)
{
    sort_part(table, 0, table->count, kind, sorting->moves, sorting->scratch, becomes);
}

static void renumber_objects(struct pug_profile *profile, const struct sorting *sorting)
{
    for (uint32_t i = 0; i < profile->ranges.count; i++)
        renumber(&((struct pug_profile_range *)pug_profile_item(&profile->ranges, i))->object,
                 sorting->objects);
    for (uint32_t i = 0; i < profile->branches.count; i++) {
        struct pug_profile_branch *branch = pug_profile_item(&profile->branches, i);
        renumber(&branch->object, sorting->objects);
        renumber(&branch->to_object, sorting->objects);
    }
    for (uint32_t i = 0; i < profile->loops.count; i++)
        renumber(&((struct pug_profile_loop *)pug_profile_item(&profile->loops, i))->object,
                 sorting->objects);
    for (uint32_t i = 0; i < profile->frames.count; i++) {
        struct pug_profile_frame *frame = pug_profile_item(&profile->frames, i);
        renumber(&frame->object, sorting->objects);
        renumber(&frame->site_object, sorting->objects);
        renumber(&frame->task, sorting->tasks);
    }
}

/* Frames to their levels, in the order they have; starts[level] becomes where it ends. The deepest.
 */
static uint32_t to_levels(struct profile_table *table, struct sorting *sorting)
{
    uint32_t *const depths = sorting->depths, *const starts = sorting->starts, deepest = 0;
    for (uint32_t i = 0; i < table->count; i++) {
        const struct pug_profile_frame *frame = pug_profile_item(table, i);
        depths[i] = frame->parent == PUG_PROFILE_NONE ? 0 : depths[frame->parent] + 1;
        deepest = depths[i] > deepest ? depths[i] : deepest;
        starts[depths[i] + 1]++;
    }
    for (uint32_t i = 0; i <= deepest; i++)
        starts[i + 1] += starts[i];
    for (uint32_t i = 0; i < table->count; i++) {
        sorting->places[i] = starts[depths[i]]++;
        memcpy(sorting->scratch + sorting->places[i] * table->size, pug_profile_item(table, i),
               table->size);
    }
    if (table->count > 0)
        memcpy(table->items, sorting->scratch, table->count * table->size);
    return deepest;
}

/*
 * Frames level by level, so that each level's order follows from that of the level above. A parent
 * was there before its children, so its number is the smaller one.
 */
static void sort_frames(struct profile_table *table, struct sorting *sorting)
{
    const uint32_t deepest = to_levels(table, sorting);
    uint32_t *const becomes = sorting->depths; /* of a place; depths are no more needed */
    uint32_t from = 0;
    for (uint32_t level = 0; level <= deepest && table->count > 0; level++) {
        const uint32_t to = sorting->starts[level];
        for (uint32_t i = from; i < to; i++) {
            struct pug_profile_frame *frame = pug_profile_item(table, i);
            if (frame->parent != PUG_PROFILE_NONE)
                frame->parent = becomes[sorting->places[frame->parent]];
        }
        sort_part(table, from, to, &a_frame, sorting->moves, sorting->scratch, becomes);
        from = to;
    }
    for (uint32_t i = 0; i < table->count; i++)
        sorting->frames[i] = becomes[sorting->places[i]];
}

static void renumber_uses(struct pug_profile *profile, const struct sorting *sorting)
{
    for (uint32_t i = 0; i < profile->uses.count; i++) {
        struct pug_profile_use *use = pug_profile_item(&profile->uses, i);
        renumber(&use->frame, sorting->frames);
        renumber(&use->range, sorting->ranges);
    }
}

enum pug_status pug_profile_sort(struct pug_profile *profile)
{
    if (!profile)
        return PUG_ERR_INVALID_PARAM_VAL;
    struct sorting sorting;
    if (!sorting_begin(profile, &sorting)) {
        sorting_free(&sorting);
        return PUG_ERR_MEM;
    }
    sort_all(&profile->objects, &an_object, &sorting, sorting.objects);
    sort_all(&profile->tasks, &a_task, &sorting, sorting.tasks);
    renumber_objects(profile, &sorting);
    sort_all(&profile->ranges, &a_range, &sorting, sorting.ranges);
    sort_all(&profile->branches, &a_branch, &sorting, NULL);
    sort_all(&profile->loops, &a_loop, &sorting, NULL);
    sort_frames(&profile->frames, &sorting);
    renumber_uses(profile, &sorting);
    sort_all(&profile->uses, &a_use, &sorting, NULL);
    sorting_free(&sorting);
    pug_profile_table_rehash(&profile->objects);
    pug_profile_table_rehash(&profile->tasks);
    pug_profile_table_rehash(&profile->ranges);
    pug_profile_table_rehash(&profile->branches);
    pug_profile_table_rehash(&profile->frames);
    pug_profile_table_rehash(&profile->uses);
    pug_profile_table_rehash(&profile->loops);
    return PUG_OK;
}
