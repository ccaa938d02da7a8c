// SPDX-License-Identifier: MIT
/**
 * @file Where functions without a symbol begin: where calls led to, and where code begins that
 * nothing in the profile leads to.
 */
#include "export/export.h"

#include <stdlib.h>

static int by_site(const void *left, const void *right)
{
    const struct export_site *a = left, *b = right;
    if (a->object != b->object)
        return a->object < b->object ? -1 : 1;
    return a->vaddr < b->vaddr ? -1 : a->vaddr > b->vaddr;
}

static bool is_unnamed(const struct exporter *exporter, uint32_t object, uint64_t vaddr)
{
    struct export_function_name name;
    if (object == PUG_PROFILE_NONE)
        return false;
    pug_export_function(exporter, object, vaddr, &name);
    return !name.known;
}

/** Places that a branch, or the instruction in front of them, leads to. */
static bool list_reached(const struct exporter *exporter, struct export_sites *reached)
{
    size_t range_count, branch_count;
    const struct pug_profile_range *ranges = pug_profile_ranges(exporter->profile, &range_count);
    const struct pug_profile_branch *branches =
        pug_profile_branches(exporter->profile, &branch_count);
    reached->items = calloc(range_count + branch_count + 1, sizeof(*reached->items));
    if (!reached->items)
        return false;
    for (size_t i = 0; i < range_count; i++)
        reached->items[reached->count++] =
            (struct export_site){ranges[i].object, ranges[i].last + ranges[i].last_size};
    for (size_t i = 0; i < branch_count; i++)
        reached->items[reached->count++] =
            (struct export_site){branches[i].to_object, branches[i].to};
    qsort(reached->items, reached->count, sizeof(*reached->items), by_site);
    return true;
}

static void add_called(const struct exporter *exporter, const struct export_sites *calls,
                       struct export_sites *starts)
{
    size_t count;
    const struct pug_profile_branch *branches = pug_profile_branches(exporter->profile, &count);
    for (size_t i = 0; i < count; i++)
        if (pug_export_is_call(calls, branches[i].object, branches[i].from) &&
            is_unnamed(exporter, branches[i].to_object, branches[i].to))
            starts->items[starts->count++] =
                (struct export_site){branches[i].to_object, branches[i].to};
}

static void add_first(const struct exporter *exporter, const struct export_sites *reached,
                      struct export_sites *starts)
{
    size_t count;
    const struct pug_profile_range *ranges = pug_profile_ranges(exporter->profile, &count);
    for (size_t i = 0; i < count; i++) {
        const struct export_site first = {ranges[i].object, ranges[i].first};
        if (is_unnamed(exporter, first.object, first.vaddr) &&
            !bsearch(&first, reached->items, reached->count, sizeof(first), by_site))
            starts->items[starts->count++] = first;
    }
}

enum pug_status pug_export_unnamed(const struct exporter *exporter, struct export_sites *starts)
{
    struct export_sites calls = {0}, reached = {0};
    size_t ranges, branches;
    pug_profile_ranges(exporter->profile, &ranges);
    pug_profile_branches(exporter->profile, &branches);
    *starts = (struct export_sites){.items = calloc(ranges + branches + 1, sizeof(*starts->items))};
    const bool good = starts->items && list_reached(exporter, &reached) &&
                      pug_export_call_sites(exporter, &calls) == PUG_OK;
    if (good) {
        add_called(exporter, &calls, starts);
        add_first(exporter, &reached, starts);
        qsort(starts->items, starts->count, sizeof(*starts->items), by_site);
    }
    free(calls.items);
    free(reached.items);
    return good ? PUG_OK : PUG_ERR_MEM;
}

uint64_t pug_export_unnamed_start(const struct export_sites *starts, uint32_t object,
                                  uint64_t vaddr)
{
    const struct export_site wanted = {object, vaddr};
    size_t low = 0, high = starts->count;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (by_site(&starts->items[middle], &wanted) <= 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low > 0 && starts->items[low - 1].object == object ? starts->items[low - 1].vaddr
                                                              : vaddr;
}
