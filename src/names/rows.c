// SPDX-License-Identifier: MIT
/** @file The line table of a unit, as rows that each cover some bytes. */
#include "names/names.h"

#ifdef PUG_WITH_DWARF

#include "names/dwarf.h"

#include <stdlib.h>
#include <string.h>

/* A place where several rows begin belongs to the last of them. */
static void put_row(struct names_unit *unit, const struct names_row *row)
{
    if (unit->row_count == 0 || unit->rows[unit->row_count - 1].start != row->start)
        unit->rows[unit->row_count++] = *row;
    else if (row->path) /* what ends here does not undo what begins here */
        unit->rows[unit->row_count - 1] = *row;
}

/* Neighbours that say the same are one row. */
static void join_rows(struct names_unit *unit)
{
    size_t kept = 0;
    for (size_t i = 0; i < unit->row_count; i++) {
        const struct names_row *row = &unit->rows[i], *last = &unit->rows[kept ? kept - 1 : 0];
        if (kept == 0 || last->path != row->path || last->line != row->line ||
            last->discriminator != row->discriminator)
            unit->rows[kept++] = *row;
    }
    unit->row_count = kept;
    struct names_row *fitting = realloc(unit->rows, (kept + 1) * sizeof(*fitting));
    if (fitting)
        unit->rows = fitting;
}

bool pug_names_rows_load(struct names_dwarf *dwarf, struct names_unit *unit)
{
    Dwarf_Lines *lines;
    size_t count;
    const char *last_source = NULL, *last_path = NULL;
    if (!pug_names_dwarf_take(dwarf, unit, 1) || !pug_names_files_fit(dwarf, &unit->main) ||
        dwarf_getsrclines(&unit->main, &lines, &count) != 0 ||
        !pug_names_dwarf_take(dwarf, unit, count))
        return true;
    unit->rows = calloc(count + 1, sizeof(*unit->rows));
    if (!unit->rows)
        return false;
    for (size_t i = 0; i < count; i++) {
        Dwarf_Line *line = dwarf_onesrcline(lines, i);
        Dwarf_Addr address;
        int number = 0;
        unsigned discriminator = 0;
        bool ends = false;
        if (dwarf_lineaddr(line, &address) != 0)
            continue;
        dwarf_lineno(line, &number);
        dwarf_linediscriminator(line, &discriminator);
        dwarf_lineendsequence(line, &ends);
        const char *source = dwarf_linesrc(line, NULL, NULL);
        if (source != last_source) {
            last_source = source;
            last_path = pug_names_source_path(dwarf, unit, source);
        }
        put_row(unit, &(struct names_row){.start = address + dwarf->bias,
                                          .path = ends ? NULL : last_path,
                                          .line = number > 0 ? (uint32_t)number : 0,
                                          .discriminator = discriminator});
    }
    join_rows(unit);
    return true;
}

#endif
