// SPDX-License-Identifier: MIT
/**
 * @file Two profiles compared: functions and lines that ran more or less, the greatest change
 * first.
 */
#include "export/export.h"

#include "text/table.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ROWS 20u

/** The values of one thing in each profile; the first is before. */
struct change {
    char *name, *object;
    uint64_t instructions[2], calls[2], cycles[2], time[2];
};

struct changes {
    struct change *items;
    size_t count, room;
    uint64_t all[2]; /* instructions */
    bool has_cycles, has_time, failed;
};

static void changes_free(struct changes *changes)
{
    for (size_t i = 0; i < changes->count; i++) {
        free(changes->items[i].name);
        free(changes->items[i].object);
    }
    free(changes->items);
}

static struct change *add(struct changes *changes, const char *name, const char *object)
{
    if (changes->count == changes->room) {
        const size_t room = changes->room ? changes->room * 2 : 256;
        void *items = realloc(changes->items, room * sizeof(*changes->items));
        changes->failed |= !items;
        if (!items)
            return NULL;
        changes->items = items;
        changes->room = room;
    }
    struct change *change = &changes->items[changes->count];
    *change = (struct change){.name = strdup(name), .object = strdup(object)};
    changes->count++;
    changes->failed |= !change->name || !change->object;
    return changes->failed ? NULL : change;
}

static int by_name(const void *left, const void *right)
{
    const struct change *a = left, *b = right;
    const int object = strcmp(a->object, b->object);
    return object != 0 ? object : strcmp(a->name, b->name);
}

/* Combine the entries of the same thing. */
static void add_up(struct changes *changes)
{
    size_t kept = 0;
    if (changes->count > 0)
        qsort(changes->items, changes->count, sizeof(*changes->items), by_name);
    for (size_t i = 0; i < changes->count; i++) {
        struct change *last = kept > 0 ? &changes->items[kept - 1] : NULL;
        struct change *change = &changes->items[i];
        if (!last || by_name(last, change) != 0) {
            changes->items[kept++] = *change;
            continue;
        }
        for (int side = 0; side < 2; side++) {
            last->instructions[side] =
                pug_profile_sum(last->instructions[side], change->instructions[side]);
            last->calls[side] = pug_profile_sum(last->calls[side], change->calls[side]);
            last->cycles[side] = pug_profile_sum(last->cycles[side], change->cycles[side]);
            last->time[side] = pug_profile_sum(last->time[side], change->time[side]);
        }
        free(change->name);
        free(change->object);
    }
    changes->count = kept;
}

static uint64_t distance(const uint64_t *sides)
{
    return sides[0] < sides[1] ? sides[1] - sides[0] : sides[0] - sides[1];
}

static int by_distance(const void *left, const void *right)
{
    const struct change *a = left, *b = right;
    const uint64_t x = distance(a->instructions), y = distance(b->instructions);
    if (x != y)
        return x > y ? -1 : 1;
    return by_name(left, right);
}

static bool is_change(const struct change *change)
{
    return distance(change->instructions) || distance(change->calls) || distance(change->cycles) ||
           distance(change->time);
}

/* ---- tables ---- */

static void put_signed(struct pug_table *table, const uint64_t *sides)
{
    char text[32];
    snprintf(text, sizeof(text), "%s%" PRIu64, sides[1] < sides[0] ? "-" : "+", distance(sides));
    pug_table_text(table, text);
}

static void put_share(struct pug_table *table, uint64_t part, uint64_t whole)
{
    if (whole > 0)
        pug_table_real(table, (double)part / (double)whole);
    else
        pug_table_none(table);
}

static void put_change(struct pug_table *table, bool known, const uint64_t *sides)
{
    if (known)
        put_signed(table, sides);
    else
        pug_table_none(table);
}

static enum pug_status put_table(const struct exporter *exporter, struct changes *changes,
                                 const char *what)
{
    const struct pug_column columns[] = {{"change", PUG_CELL_TEXT},
                                         {"before", PUG_CELL_NUMBER},
                                         {"after", PUG_CELL_NUMBER},
                                         {"share before", PUG_CELL_PERCENT},
                                         {"share after", PUG_CELL_PERCENT},
                                         {"calls", PUG_CELL_TEXT},
                                         {"cycles", PUG_CELL_TEXT},
                                         {pug_export_time_title(exporter), PUG_CELL_TEXT},
                                         {what, PUG_CELL_TEXT},
                                         {"object", PUG_CELL_TEXT}};
    const size_t rows = exporter->options->rows ? exporter->options->rows : ROWS;
    struct pug_table *table = pug_table_new(columns, sizeof(columns) / sizeof(columns[0]));
    size_t shown = 0;
    if (!table || changes->failed) {
        pug_table_free(table);
        return PUG_ERR_MEM;
    }
    if (changes->items)
        qsort(changes->items, changes->count, sizeof(*changes->items), by_distance);
    for (size_t i = 0; i < changes->count && shown < rows; i++) {
        const struct change *change = &changes->items[i];
        if (!is_change(change))
            continue;
        put_signed(table, change->instructions);
        pug_table_number(table, change->instructions[0]);
        pug_table_number(table, change->instructions[1]);
        put_share(table, change->instructions[0], changes->all[0]);
        put_share(table, change->instructions[1], changes->all[1]);
        put_change(table, distance(change->calls) > 0, change->calls);
        put_change(table, changes->has_cycles, change->cycles);
        put_change(table, changes->has_time, change->time);
        pug_table_text(table, change->name);
        pug_table_text(table, change->object);
        shown++;
    }
    if (!exporter->options->json)
        pug_sink_format(exporter->sink,
                        shown > 0 ? "\n%ss, by the change of their instructions\n"
                                  : "\n%ss: all are as before\n",
                        what);
    enum pug_status status = PUG_OK;
    if (shown > 0)
        status = pug_table_write(table, exporter->options->json ? PUG_TABLE_JSON : PUG_TABLE_TEXT,
                                 exporter->sink);
    pug_table_free(table);
    return status;
}

/* ---- collecting ---- */

static const char *last_component(const struct exporter *exporter, uint32_t object)
{
    if (object == PUG_PROFILE_NONE)
        return "[unknown]";
    const char *path = export_object(exporter, object)->path, *slash = strrchr(path, '/');
    return slash && slash[1] ? slash + 1 : path;
}

static enum pug_status take_functions(const struct exporter *exporter, struct changes *changes,
                                      int side)
{
    struct export_functions functions;
    enum pug_status status = pug_export_functions(exporter, &functions);
    for (size_t i = 0; status == PUG_OK && i < functions.count; i++) {
        const struct export_function *function = &functions.items[i];
        if (!pug_export_is_chosen(exporter, function->object))
            continue;
        struct change *change = add(changes, pug_export_readable(exporter, function->name),
                                    last_component(exporter, function->object));
        if (!change)
            break;
        change->instructions[side] = function->self;
        change->calls[side] = function->calls;
        change->cycles[side] = function->cycles;
        change->time[side] = function->time;
    }
    changes->all[side] = functions.instructions;
    changes->has_cycles |= functions.has_cycles;
    changes->has_time |= functions.has_time;
    pug_export_functions_free(&functions);
    return status;
}

static enum pug_status take_lines(const struct exporter *exporter, struct changes *changes,
                                  int side)
{
    struct export_lines lines;
    enum pug_status status = pug_export_lines(exporter, &lines);
    for (size_t i = 0; status == PUG_OK && i < lines.count; i++) {
        char name[1024];
        if (lines.items[i].sum == 0)
            continue;
        snprintf(name, sizeof(name), "%s:%" PRIu32, lines.items[i].path, lines.items[i].line);
        struct change *change = add(changes, name, last_component(exporter, lines.items[i].object));
        if (!change)
            break;
        change->instructions[side] = lines.items[i].sum;
    }
    free(lines.items);
    return status;
}

enum pug_status pug_export_changes(const struct exporter *before, const struct exporter *after)
{
    struct changes functions = {0}, lines = {0};
    enum pug_status status = take_functions(before, &functions, 0);
    if (status == PUG_OK)
        status = take_functions(after, &functions, 1);
    if (status == PUG_OK)
        status = take_lines(before, &lines, 0);
    if (status == PUG_OK)
        status = take_lines(after, &lines, 1);
    if (functions.failed || lines.failed)
        status = PUG_ERR_MEM;
    if (status == PUG_OK) {
        memcpy(lines.all, functions.all, sizeof(lines.all));
        add_up(&functions);
        add_up(&lines);
        if (!before->options->json)
            pug_sink_format(before->sink, "%" PRIu64 " %s before, %" PRIu64 " after\n",
                            functions.all[0], pug_export_unit(before), functions.all[1]);
        status = put_table(before, &functions, "function");
    }
    if (status == PUG_OK && lines.count > 0)
        status = put_table(before, &lines, "line");
    changes_free(&functions);
    changes_free(&lines);
    return status;
}
