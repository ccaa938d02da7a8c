// SPDX-License-Identifier: MIT
/** @file Calls: which instructions make them, and what each one cost with all that it led to. */
#include "export/export.h"

#include <stdlib.h>

/* ---- call instructions ---- */

static int by_site(const void *left, const void *right)
{
    const struct export_site *a = left, *b = right;
    if (a->object != b->object)
        return a->object < b->object ? -1 : 1;
    return a->vaddr < b->vaddr ? -1 : a->vaddr > b->vaddr;
}

enum pug_status pug_export_call_sites(const struct exporter *exporter, struct export_sites *sites)
{
    size_t count;
    const struct pug_profile_range *ranges = pug_profile_ranges(exporter->profile, &count);
    *sites = (struct export_sites){.items = calloc(count + 1, sizeof(*sites->items))};
    if (!sites->items)
        return PUG_ERR_MEM;
    for (size_t i = 0; i < count; i++)
        if (ranges[i].end & PUG_END_CALL)
            sites->items[sites->count++] = (struct export_site){ranges[i].object, ranges[i].last};
    qsort(sites->items, sites->count, sizeof(*sites->items), by_site);
    return PUG_OK;
}

bool pug_export_is_call(const struct export_sites *sites, uint32_t object, uint64_t vaddr)
{
    const struct export_site wanted = {object, vaddr};
    return bsearch(&wanted, sites->items, sites->count, sizeof(wanted), by_site) != NULL;
}

/* ---- entries ---- */

static int by_entry(const void *left, const void *right)
{
    const struct export_entry *a = left, *b = right;
    if (a->object != b->object)
        return a->object < b->object ? -1 : 1;
    return a->vaddr < b->vaddr ? -1 : a->vaddr > b->vaddr;
}

enum pug_status pug_export_entries(const struct exporter *exporter,
                                   const struct export_sites *sites, struct export_entries *entries)
{
    size_t count, kept = 0;
    const struct pug_profile_branch *branches = pug_profile_branches(exporter->profile, &count);
    *entries = (struct export_entries){.items = calloc(count + 1, sizeof(*entries->items))};
    if (!entries->items)
        return PUG_ERR_MEM;
    for (size_t i = 0; i < count; i++) {
        const struct pug_profile_branch *branch = &branches[i];
        struct export_function_name from, to;
        if (branch->to_object == PUG_PROFILE_NONE)
            continue;
        pug_export_function(exporter, branch->to_object, branch->to, &to);
        if (to.start != branch->to)
            continue;
        pug_export_function(exporter, branch->object, branch->from, &from);
        const bool inside = branch->object == branch->to_object && from.start == to.start;
        if (!inside || pug_export_is_call(sites, branch->object, branch->from))
            entries->items[entries->count++] =
                (struct export_entry){branch->to_object, branch->to, branch->count};
    }
    qsort(entries->items, entries->count, sizeof(*entries->items), by_entry);
    for (size_t i = 0; i < entries->count; i++) {
        struct export_entry *last = kept > 0 ? &entries->items[kept - 1] : NULL;
        if (last && by_entry(last, &entries->items[i]) == 0)
            last->count = pug_profile_sum(last->count, entries->items[i].count);
        else
            entries->items[kept++] = entries->items[i];
    }
    entries->count = kept;
    return PUG_OK;
}

uint64_t pug_export_entered(const struct export_entries *entries, uint32_t object, uint64_t vaddr)
{
    const struct export_entry wanted = {object, vaddr, 0};
    const struct export_entry *found =
        bsearch(&wanted, entries->items, entries->count, sizeof(wanted), by_entry);
    return found ? found->count : 0;
}
