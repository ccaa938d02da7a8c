// SPDX-License-Identifier: MIT
/**
 * @file What libdw would make of a line table's header and of lists of ranges, before it does: it
 * writes each file's folder and name together, and goes over lists without a range.
 */
#include "names/names.h"

#ifdef PUG_WITH_DWARF

#include "names/dwarf.h"
#include "names/tables.h"

#include <dwarf.h>
#include <stdlib.h>
#include <string.h>

/* ---- paths of a line table ---- */

/** What stands in a header: its longest folder, its files and the bytes of their names. */
struct paths {
    const struct names_table *strings, *line_strings;
    uint64_t longest, files, names;
    unsigned width; /* of an offset */
};

static uint64_t text_at(const struct names_table *table, uint64_t offset)
{
    struct names_cursor cursor = pug_names_cursor(table, offset);
    return pug_names_take_text(&cursor);
}

/** Takes one value of an entry; the length of a text, or 0. */
static uint64_t take_form(struct names_cursor *cursor, const struct paths *paths, uint64_t form)
{
    switch (form) {
    case DW_FORM_string: return pug_names_take_text(cursor);
    case DW_FORM_line_strp:
        return text_at(paths->line_strings, pug_names_take_number(cursor, paths->width));
    case DW_FORM_strp: return text_at(paths->strings, pug_names_take_number(cursor, paths->width));
    case DW_FORM_udata: (void)pug_names_take_uleb(cursor); return 0;
    case DW_FORM_block: pug_names_skip(cursor, pug_names_take_uleb(cursor)); return 0;
    case DW_FORM_data1: pug_names_skip(cursor, 1); return 0;
    case DW_FORM_data2: pug_names_skip(cursor, 2); return 0;
    case DW_FORM_data4: pug_names_skip(cursor, 4); return 0;
    case DW_FORM_data8: pug_names_skip(cursor, 8); return 0;
    case DW_FORM_data16: pug_names_skip(cursor, 16); return 0;
    default: cursor->good = false; return 0; /* compilers write no other here */
    }
}

/** A list of DWARF 5: what its entries are made of, how many, entries. */
static void take_list(struct names_cursor *cursor, struct paths *paths, bool files, uint64_t most)
{
    uint64_t forms[256] = {0};
    const uint64_t parts = pug_names_take_number(cursor, 1);
    for (uint64_t i = 0; i < parts && cursor->good; i++) {
        (void)pug_names_take_uleb(cursor);
        forms[i] = pug_names_take_uleb(cursor);
    }
    const uint64_t count = pug_names_take_uleb(cursor);
    for (uint64_t n = 0; n < count && cursor->good && n < most; n++) {
        uint64_t length = 0;
        for (uint64_t i = 0; i < parts && cursor->good; i++)
            length += take_form(cursor, paths, forms[i]);
        if (!files && length > paths->longest)
            paths->longest = length;
        paths->names += length;
        paths->files += files;
    }
    cursor->good &= count <= most;
}

/** Lists up to DWARF 4 end with an empty text. */
static void take_texts(struct names_cursor *cursor, struct paths *paths)
{
    uint64_t length;
    while ((length = pug_names_take_text(cursor)) > 0) {
        if (length > paths->longest)
            paths->longest = length;
    }
    while ((length = pug_names_take_text(cursor)) > 0 && cursor->good) {
        for (unsigned i = 0; i < 3; i++)
            (void)pug_names_take_uleb(cursor);
        paths->files++;
        paths->names += length;
    }
}

/** Files may also be defined by the program of the lines: at most where it looks so. */
static void take_program(struct names_cursor *cursor, struct paths *paths)
{
    const uint8_t *at = cursor->at;
    while (at < cursor->end && (at = memchr(at, 0, (size_t)(cursor->end - at))) != NULL) {
        const uint8_t *code = at + 1;
        while (code < cursor->end && *code >= 0x80)
            code++;
        paths->files += cursor->end - code > 1 && code[1] == DW_LNE_define_file;
        at++;
    }
}

/** The header of a line table; false: it is damaged, and libdw does not take it either. */
static bool take_header(struct names_cursor *cursor, struct paths *paths, uint64_t most)
{
    uint64_t length = pug_names_take_number(cursor, 4);
    paths->width = length == UINT32_MAX ? 8 : 4;
    if (length == UINT32_MAX)
        length = pug_names_take_number(cursor, 8);
    if (cursor->good && length < (uint64_t)(cursor->end - cursor->at))
        cursor->end = cursor->at + length;
    const uint64_t version = pug_names_take_number(cursor, 2);
    pug_names_skip(cursor, (version >= 5 ? 2 : 0) + paths->width + (version >= 4 ? 5 : 4));
    pug_names_skip(cursor, pug_names_take_number(cursor, 1) - 1); /* lengths of opcodes */
    if (cursor->good && version >= 5) {
        take_list(cursor, paths, false, most);
        take_list(cursor, paths, true, most);
    } else if (cursor->good) {
        take_texts(cursor, paths);
    }
    if (cursor->good)
        take_program(cursor, paths);
    return cursor->good;
}

/** Bytes of all paths that libdw writes for this table, at most. */
static uint64_t bytes_of_paths(struct names_dwarf *dwarf, Dwarf_Die *unit, uint64_t offset)
{
    Elf *elf = dwarf_getelf(dwarf->dwarf);
    const struct names_table lines = pug_names_table(elf, "line", false),
                             strings = pug_names_table(elf, "str", false),
                             line_strings = pug_names_table(elf, "line_str", false);
    struct paths paths = {.strings = &strings, .line_strings = &line_strings};
    struct names_cursor cursor = pug_names_cursor(&lines, offset);
    Dwarf_Attribute attribute;
    (void)take_header(&cursor, &paths, dwarf->paths_left);
    const char *folder = dwarf_formstring(dwarf_attr(unit, DW_AT_comp_dir, &attribute));
    const uint64_t before = 2 * paths.longest + (folder ? strlen(folder) : 0) + 3;
    if (paths.files > 0 && before > dwarf->paths_left / paths.files)
        return UINT64_MAX;
    return paths.files * before + paths.names;
}

/** Where the table is looked for among those that were seen: the first that is not before it. */
static size_t place_of(const struct names_dwarf *dwarf, uint64_t offset)
{
    size_t low = 0, high = dwarf->line_table_count;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (dwarf->line_tables[middle].offset < offset)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

bool pug_names_files_fit(struct names_dwarf *dwarf, Dwarf_Die *unit)
{
    Dwarf_Attribute attribute;
    Dwarf_Word offset;
    if (dwarf_formudata(dwarf_attr(unit, DW_AT_stmt_list, &attribute), &offset) != 0)
        return true;
    const size_t at = place_of(dwarf, offset);
    if (at < dwarf->line_table_count && dwarf->line_tables[at].offset == offset)
        return dwarf->line_tables[at].fits;
    void *tables =
        realloc(dwarf->line_tables, (dwarf->line_table_count + 1) * sizeof(*dwarf->line_tables));
    if (!tables)
        return !(dwarf->file->names->starved = true);
    dwarf->line_tables = tables;
    const uint64_t bytes = bytes_of_paths(dwarf, unit, offset);
    const bool fits = bytes <= dwarf->paths_left;
    dwarf->paths_left -= fits ? bytes : 0;
    dwarf->file->overfull |= !fits;
    memmove(&dwarf->line_tables[at + 1], &dwarf->line_tables[at],
            (dwarf->line_table_count - at) * sizeof(*dwarf->line_tables));
    dwarf->line_tables[at] = (struct names_line_table){offset, fits};
    dwarf->line_table_count++;
    return fits;
}

/* ---- lists of ranges ---- */

/** Entries of a list up to DWARF 4, its end included. */
static uint64_t count_pairs(struct names_cursor *cursor, unsigned width)
{
    uint64_t count = 0;
    while (cursor->good) {
        const uint64_t from = pug_names_take_number(cursor, width),
                       to = pug_names_take_number(cursor, width);
        count++;
        if (from == 0 && to == 0)
            break;
    }
    return count;
}

static uint64_t count_entries(struct names_cursor *cursor, unsigned width)
{
    uint64_t count = 0;
    while (cursor->good) {
        const uint64_t kind = pug_names_take_number(cursor, 1);
        const bool addresses = kind >= DW_RLE_base_address && kind <= DW_RLE_start_length;
        count++;
        if (kind == DW_RLE_end_of_list || kind > DW_RLE_start_length)
            break;
        pug_names_skip(cursor, addresses ? (kind == DW_RLE_start_end ? 2 * width : width) : 0);
        if (!addresses || kind == DW_RLE_start_length)
            (void)pug_names_take_uleb(cursor);
        if (!addresses && kind != DW_RLE_base_addressx)
            (void)pug_names_take_uleb(cursor);
    }
    return count;
}

/** The place of a list that is given by its number: a table of offsets follows the base. */
static uint64_t offset_of(const struct names_dwarf *dwarf, Dwarf_Die *unit, uint64_t number,
                          unsigned width)
{
    Dwarf_Attribute attribute;
    Dwarf_Word base = 0;
    if (dwarf_formudata(dwarf_attr(unit, DW_AT_rnglists_base, &attribute), &base) != 0)
        base = width == 8 ? 20 : 12; /* of a split unit: after the only header */
    if (number > dwarf->lists.size)
        return UINT64_MAX;
    struct names_cursor cursor = pug_names_cursor(&dwarf->lists, base + number * width);
    const uint64_t offset = pug_names_take_number(&cursor, width);
    return cursor.good ? base + offset : UINT64_MAX;
}

/** Tables are looked for once for each file that units are in. */
static void find_lists(struct names_dwarf *dwarf, Dwarf *of)
{
    if (dwarf->lists_of == of)
        return;
    dwarf->lists_of = of;
    dwarf->lists = pug_names_table(dwarf_getelf(of), "rnglists", false);
    dwarf->pairs = pug_names_table(dwarf_getelf(of), "ranges", false);
    if (dwarf->pairs.size == 0)
        dwarf->pairs = pug_names_table(dwarf_getelf(dwarf->dwarf), "ranges", false);
}

bool pug_names_ranges_fit(struct names_dwarf *dwarf, struct names_unit *unit, Dwarf_Die *die)
{
    Dwarf_Attribute attribute, base;
    Dwarf_Word value, moved = 0;
    Dwarf_Half version;
    uint8_t address_width, offset_width;
    if (!dwarf_attr(die, DW_AT_ranges, &attribute) || dwarf_formudata(&attribute, &value) != 0 ||
        dwarf_cu_info(die->cu, &version, NULL, NULL, NULL, NULL, &address_width, &offset_width) !=
            0)
        return true;
    find_lists(dwarf, dwarf_cu_getdwarf(die->cu));
    if (version >= 5) {
        if (dwarf_whatform(&attribute) == DW_FORM_rnglistx)
            value = offset_of(dwarf, &unit->die, value, offset_width);
        struct names_cursor cursor = pug_names_cursor(&dwarf->lists, value);
        return pug_names_dwarf_take(dwarf, unit, count_entries(&cursor, address_width) / 16);
    }
    if (unit->die.addr != unit->main.addr)
        (void)dwarf_formudata(dwarf_attr(&unit->main, DW_AT_GNU_ranges_base, &base), &moved);
    struct names_cursor cursor = pug_names_cursor(&dwarf->pairs, value + moved);
    return pug_names_dwarf_take(dwarf, unit, count_pairs(&cursor, address_width) / 16);
}

#endif
