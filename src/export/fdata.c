// SPDX-License-Identifier: MIT
/**
 * @file BOLT's own profile: taken branches between symbols. perf2bolt makes the same of
 * pre-aggregated text; fall-throughs BOLT infers. llvm-bolt and merge-fdata read it.
 */
#include "export/export.h"

#include "pugmark/names.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A local symbol and the number by which BOLT distinguishes it from others of its name. */
struct local {
    const char *name;
    uint64_t start;
    uint32_t number;
};

struct locals {
    struct local *items; /* by start */
    size_t count;
};

static int by_name(const void *left, const void *right)
{
    const struct local *a = left, *b = right;
    const int name = strcmp(a->name, b->name);
    return name != 0 ? name : a->start < b->start ? -1 : a->start > b->start;
}

static int by_start(const void *left, const void *right)
{
    const struct local *a = left, *b = right;
    return a->start < b->start ? -1 : a->start > b->start;
}

/* "name/1", "name/2": by address, also where there is only one. */
static bool number_locals(struct pug_names_file *file, struct locals *locals)
{
    struct pug_names_function function;
    size_t all = 0;
    while (pug_names_function_at(file, all, &function))
        all++;
    locals->items = calloc(all + 1, sizeof(*locals->items));
    for (size_t n = 0; locals->items && n < all; n++)
        if (pug_names_function_at(file, n, &function) && function.binding == PUG_NAMES_LOCAL)
            locals->items[locals->count++] = (struct local){function.name, function.start, 1};
    if (!locals->items)
        return false;
    qsort(locals->items, locals->count, sizeof(*locals->items), by_name);
    for (size_t i = 1; i < locals->count; i++)
        if (strcmp(locals->items[i].name, locals->items[i - 1].name) == 0)
            locals->items[i].number = locals->items[i - 1].number + 1;
    qsort(locals->items, locals->count, sizeof(*locals->items), by_start);
    return true;
}

/* Blanks and backslashes would end a field. */
static void put_name(struct pug_sink *sink, const char *name)
{
    struct pug_memory room = {0};
    for (name = pug_printable(name, &room); *name; name++) {
        if (*name == ' ' || *name == '\\')
            pug_sink_text(sink, "\\");
        pug_sink_put(sink, name, 1);
    }
    free(room.bytes);
}

static void put_place(const struct exporter *exporter, struct pug_names_file *file,
                      const struct locals *locals, uint64_t vaddr)
{
    struct pug_names_function function;
    uint64_t start;
    const char *stub = pug_names_stub(file, vaddr, &start);
    if (stub) {
        pug_sink_text(exporter->sink, "1 ");
        put_name(exporter->sink, stub);
        pug_sink_format(exporter->sink, "@PLT %" PRIx64, vaddr - start);
        return;
    }
    if (!pug_names_function(file, vaddr, &function)) {
        pug_sink_text(exporter->sink, "0 [unknown] 0");
        return;
    }
    const struct local wanted = {.start = function.start};
    const struct local *local =
        bsearch(&wanted, locals->items, locals->count, sizeof(wanted), by_start);
    pug_sink_text(exporter->sink, "1 ");
    put_name(exporter->sink, function.name);
    if (local)
        pug_sink_format(exporter->sink, "/%" PRIu32, local->number);
    pug_sink_format(exporter->sink, " %" PRIx64, vaddr - function.start);
}

enum pug_status pug_export_fdata(const struct exporter *exporter)
{
    struct pug_names_file *file = pug_export_file(exporter, exporter->objects[0]);
    struct export_counts counts;
    struct locals locals = {0};
    if (!file)
        return PUG_ERR_NOT_READY;
    enum pug_status status = pug_export_counts(exporter, exporter->objects[0], &counts);
    if (status == PUG_OK && !number_locals(file, &locals))
        status = PUG_ERR_MEM;
    for (size_t i = 0; status == PUG_OK && i < counts.branch_count; i++) {
        const struct export_branch *branch = &counts.branches[i];
        put_place(exporter, file, &locals, branch->from);
        pug_sink_text(exporter->sink, " ");
        if (branch->foreign)
            pug_sink_text(exporter->sink, "0 [unknown] 0");
        else
            put_place(exporter, file, &locals, branch->to);
        pug_sink_format(exporter->sink, " 0 %" PRIu64 "\n", branch->count);
    }
    free(locals.items);
    pug_export_counts_free(&counts);
    return status;
}
