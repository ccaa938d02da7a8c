// SPDX-License-Identifier: MIT
/** @file The counts of one object, as most formats want them. */
#include "export/export.h"

#include <stdlib.h>

void pug_export_counts_free(struct export_counts *counts)
{
    free(counts->ranges);
    free(counts->branches);
}

/* Ranges of the profile are by first and last: those to be joined follow each other. */
static void add_range(struct export_counts *counts, const struct pug_profile_range *range)
{
    struct export_range *last =
        counts->range_count > 0 ? &counts->ranges[counts->range_count - 1] : NULL;
    if (last && last->first == range->first && last->last == range->last)
        last->count = pug_profile_sum(last->count, range->count);
    else
        counts->ranges[counts->range_count++] =
            (struct export_range){range->first, range->last, range->count};
}

static int by_place(const void *left, const void *right)
{
    const struct export_branch *a = left, *b = right;
    if (a->from != b->from)
        return a->from < b->from ? -1 : 1;
    if (a->to != b->to)
        return a->to < b->to ? -1 : 1;
    return a->foreign - b->foreign;
}

/* The profile has them by place, but what went elsewhere has none. */
static bool are_sorted(const struct export_branch *branches, size_t count)
{
    size_t i = 1;
    while (i < count && by_place(&branches[i - 1], &branches[i]) <= 0)
        i++;
    return i >= count;
}

size_t pug_export_join_branches(struct export_branch *branches, size_t count)
{
    size_t kept = 0;
    if (!are_sorted(branches, count))
        qsort(branches, count, sizeof(*branches), by_place);
    for (size_t i = 0; i < count; i++) {
        if (kept > 0 && by_place(&branches[kept - 1], &branches[i]) == 0)
            branches[kept - 1].count = pug_profile_sum(branches[kept - 1].count, branches[i].count);
        else
            branches[kept++] = branches[i];
    }
    return kept;
}

enum pug_status pug_export_counts(const struct exporter *exporter, uint32_t object,
                                  struct export_counts *counts)
{
    size_t range_count, branch_count;
    const struct pug_profile_range *ranges = pug_profile_ranges(exporter->profile, &range_count);
    const struct pug_profile_branch *branches =
        pug_profile_branches(exporter->profile, &branch_count);
    *counts = (struct export_counts){
        .ranges = calloc(range_count + 1, sizeof(*counts->ranges)),
        .branches = calloc(branch_count + 1, sizeof(*counts->branches)),
    };
    if (!counts->ranges || !counts->branches)
        return PUG_ERR_MEM;
    for (size_t i = 0; i < range_count; i++)
        if (ranges[i].object == object)
            add_range(counts, &ranges[i]);
    for (size_t i = 0; i < branch_count; i++) {
        if (branches[i].object != object)
            continue;
        const bool foreign = branches[i].to_object != object;
        counts->branches[counts->branch_count++] =
            (struct export_branch){.from = branches[i].from,
                                   .to = foreign ? 0 : branches[i].to,
                                   .count = branches[i].count,
                                   .foreign = foreign};
    }
    counts->branch_count = pug_export_join_branches(counts->branches, counts->branch_count);
    return PUG_OK;
}

uint64_t pug_export_offset(const struct pug_profile_object *object, uint64_t vaddr)
{
    for (size_t i = 0; i < object->segment_count; i++) {
        const struct pug_profile_segment *segment = &object->segments[i];
        if (segment->executable && vaddr >= segment->vaddr &&
            vaddr - segment->vaddr < segment->size)
            return vaddr - segment->vaddr + segment->offset;
    }
    return vaddr;
}

struct export_build_id pug_export_build_id(const struct pug_profile_object *object)
{
    struct export_build_id id = {""};
    for (unsigned i = 0; i < object->build_id_size; i++) {
        id.digits[2 * i] = "0123456789abcdef"[object->build_id[i] >> 4];
        id.digits[2 * i + 1] = "0123456789abcdef"[object->build_id[i] & 15];
    }
    return id;
}
