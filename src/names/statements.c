// SPDX-License-Identifier: MIT
/** @file Rows of the line table as compilers made them: with columns, and where statements begin.
 */
#include "names/names.h"

#include <stdlib.h>

#ifdef PUG_WITH_DWARF

#include "names/dwarf.h"

#include <string.h>

#define ROWS_MOST (UINT32_C(1) << 24)

struct reading {
    struct names_dwarf *dwarf;
    struct names_statements *out;
    size_t room;
    uint64_t left; /* rows, as pug_names_dwarf_take() bounds them: units may share a table */
    bool failed;
};

static void add_row(struct reading *reading, const struct names_statement *row)
{
    struct names_statements *out = reading->out;
    if (out->count == reading->room) {
        const size_t room = reading->room ? reading->room * 2 : 1024;
        void *grown = room <= ROWS_MOST ? realloc(out->items, room * sizeof(*out->items)) : NULL;
        reading->failed |= !grown;
        if (!grown)
            return;
        out->items = grown;
        reading->room = room;
    }
    out->items[out->count++] = *row;
}

static void read_unit(struct reading *reading, struct names_unit *unit)
{
    Dwarf_Lines *lines;
    size_t count;
    if (!pug_names_files_fit(reading->dwarf, &unit->main) ||
        dwarf_getsrclines(&unit->main, &lines, &count) != 0)
        return;
    if (count > reading->left) {
        reading->left = 0;
        reading->dwarf->file->overfull = true;
        return;
    }
    reading->left -= count;
    for (size_t i = 0; i < count && !reading->failed; i++) {
        Dwarf_Line *line = dwarf_onesrcline(lines, i);
        Dwarf_Addr address;
        int number = 0, column = 0;
        bool begins = false, ends = false, body = false;
        if (dwarf_lineaddr(line, &address) != 0)
            continue;
        (void)dwarf_lineno(line, &number);
        (void)dwarf_linecol(line, &column);
        (void)dwarf_linebeginstatement(line, &begins);
        (void)dwarf_lineendsequence(line, &ends);
        (void)dwarf_lineprologueend(line, &body);
        add_row(reading, &(struct names_statement){.at = address + reading->dwarf->bias,
                                                   .order = (uint32_t)reading->out->count,
                                                   .line = number > 0 ? (uint32_t)number : 0,
                                                   .column = column > 0 ? (uint32_t)column : 0,
                                                   .begins = begins,
                                                   .ends = ends,
                                                   .body = body});
    }
}

static bool read_all(void *context)
{
    struct reading *reading = context;
    for (size_t i = 0; i < reading->dwarf->unit_count && !reading->failed; i++)
        read_unit(reading, &reading->dwarf->units[i]);
    return !reading->failed;
}

static int by_address(const void *left, const void *right)
{
    const struct names_statement *a = left, *b = right;
    if (a->at != b->at)
        return a->at < b->at ? -1 : 1;
    return a->order < b->order ? -1 : a->order > b->order;
}

/** Of rows at one address the last one counts; a statement begins where any of them says so. */
static void join_rows(struct names_statements *out)
{
    size_t kept = 0;
    for (size_t i = 0; i < out->count; i++) {
        struct names_statement *last = kept > 0 ? &out->items[kept - 1] : NULL;
        if (!last || last->at != out->items[i].at) {
            out->items[kept++] = out->items[i];
        } else if (!out->items[i].ends) {
            const bool begins = last->begins && !last->ends, body = last->body && !last->ends;
            *last = out->items[i];
            last->begins |= begins;
            last->body |= body;
        }
    }
    out->count = kept;
}

bool pug_names_statements_of(struct pug_names_file *file, struct names_statements *out)
{
    struct names_dwarf *dwarf = file ? pug_names_dwarf_of(file) : NULL;
    *out = (struct names_statements){.items = NULL};
    struct reading reading = {.dwarf = dwarf, .out = out, .left = dwarf ? dwarf->left : 0};
    if (!dwarf || !pug_names_guard(dwarf->dwarf, read_all, &reading)) {
        free(out->items);
        *out = (struct names_statements){.items = NULL};
        return !reading.failed;
    }
    if (out->count > 0)
        qsort(out->items, out->count, sizeof(*out->items), by_address);
    join_rows(out);
    return true;
}

#else

bool pug_names_statements_of(struct pug_names_file *file, struct names_statements *out)
{
    (void)file;
    *out = (struct names_statements){.items = NULL};
    return true;
}

#endif
