// SPDX-License-Identifier: MIT
/** @file The copies of inlined functions, from the scopes of each unit. */
#include "names/copies.h"

#include "base/grow.h"
#include "names/names.h"

#ifdef PUG_WITH_DWARF

#include "names/dwarf.h"

#include <stdlib.h>

#define NO_SCOPE UINT32_MAX

/* A range of a scope, with what was inlined into it. */
struct reach {
    struct pug_names_range range;
    uint32_t scope;
};

struct reaches {
    struct pug_list all; /* struct reach */
    size_t *last;        /* of each scope: where its last range is in `all`, plus 1 */
    bool failed;
};

static void reach(struct reaches *reaches, uint32_t scope, uint64_t start, uint64_t end)
{
    struct reach *last = reaches->last[scope]
                             ? &((struct reach *)reaches->all.items)[reaches->last[scope] - 1]
                             : NULL;
    if (last && last->range.end == start) {
        last->range.end = end;
        return;
    }
    struct reach *more = pug_list_add(&reaches->all, sizeof(*more));
    if (!more) {
        reaches->failed = true;
        return;
    }
    *more = (struct reach){.range = {start, end}, .scope = scope};
    reaches->last[scope] = reaches->all.count;
}

/* A piece belongs to its scope, and to all that this was inlined into but the outermost one. */
static void reach_piece(struct reaches *reaches, const struct names_unit *unit, size_t number)
{
    const struct names_piece *piece = &unit->pieces[number];
    if (number + 1 == unit->piece_count)
        return;
    uint32_t scope = piece->scope;
    while (scope != NO_SCOPE && unit->scopes[scope].parent != NO_SCOPE && !reaches->failed) {
        reach(reaches, scope, piece->start, piece[1].start);
        scope = unit->scopes[scope].parent;
    }
}

static int by_scope(const void *left, const void *right)
{
    const struct reach *a = left, *b = right;
    if (a->scope != b->scope)
        return a->scope < b->scope ? -1 : 1;
    return (a->range.start > b->range.start) - (a->range.start < b->range.start);
}

/* Ranges of each scope, one after the other: `reaches->last` becomes where each one's begin. */
static struct pug_names_range *sort_reaches(struct reaches *reaches, size_t scopes)
{
    struct pug_names_range *ranges = calloc(reaches->all.count + 1, sizeof(*ranges));
    const struct reach *all = reaches->all.items;
    if (!ranges)
        return NULL;
    if (reaches->all.count > 1)
        qsort(reaches->all.items, reaches->all.count, sizeof(struct reach), by_scope);
    for (size_t n = 0, at = 0; n <= scopes; n++) {
        reaches->last[n] = at;
        for (; at < reaches->all.count && all[at].scope == n; at++)
            ranges[at] = all[at].range;
    }
    return ranges;
}

static bool give(const struct names_unit *unit, const struct reaches *reaches,
                 const struct pug_names_range *ranges,
                 bool (*take)(void *, const struct pug_names_copy *), void *context)
{
    for (size_t n = 0; n < unit->scope_count; n++) {
        const struct names_scope *scope = &unit->scopes[n];
        const struct pug_names_copy copy = {.function = scope->name,
                                            .declared_path = scope->declared_path,
                                            .call_path = scope->call_path,
                                            .call_line = scope->call_line,
                                            .ranges = ranges + reaches->last[n],
                                            .range_count = reaches->last[n + 1] - reaches->last[n]};
        if (scope->parent != NO_SCOPE && scope->name && !take(context, &copy))
            return false;
    }
    return true;
}

/* False: no memory. */
static bool take_unit(const struct names_unit *unit, bool *more,
                      bool (*take)(void *, const struct pug_names_copy *), void *context)
{
    struct reaches reaches = {.last = calloc(unit->scope_count + 1, sizeof(*reaches.last))};
    reaches.failed = !reaches.last;
    for (size_t n = 0; n < unit->piece_count && !reaches.failed; n++)
        reach_piece(&reaches, unit, n);
    struct pug_names_range *ranges =
        reaches.failed ? NULL : sort_reaches(&reaches, unit->scope_count);
    if (ranges)
        *more = give(unit, &reaches, ranges, take, context);
    free(ranges);
    free(reaches.last);
    free(reaches.all.items);
    return ranges != NULL;
}

enum pug_status pug_names_copies(struct pug_names_file *file,
                                 bool (*take)(void *context, const struct pug_names_copy *copy),
                                 void *context)
{
    struct names_dwarf *dwarf = pug_names_dwarf_of(file);
    bool more = true;
    if (!dwarf)
        return PUG_ERR_NOT_FOUND;
    for (size_t n = 0; n < dwarf->unit_count && more; n++)
        if (!pug_names_unit_load(dwarf, &dwarf->units[n]) ||
            !take_unit(&dwarf->units[n], &more, take, context))
            return PUG_ERR_MEM;
    return PUG_OK;
}

#else

enum pug_status pug_names_copies(struct pug_names_file *file,
                                 bool (*take)(void *context, const struct pug_names_copy *copy),
                                 void *context)
{
    (void)file;
    (void)take;
    (void)context;
    return PUG_ERR_NOT_FOUND;
}

#endif
