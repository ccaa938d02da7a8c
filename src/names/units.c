// SPDX-License-Identifier: MIT
/** @file Compile units by address; those that were not asked for longest are given up first. */
#include "base/bisect.h"
#include "names/names.h"

#ifdef PUG_WITH_DWARF

#include "names/dwarf.h"
#include "names/elf.h"

#include <dwarf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define UNIT_LIMIT (1u << 22)

/* ---- which unit has an address ---- */

/* A file has at least a byte for each of its lines and entries, and sixteen for a range. */
#define LEAST_ITEMS   (UINT64_C(2) << 20)
#define ITEMS_OF_BYTE 2u
#define BYTES_OF_ITEM 8u /* of paths: sixteen times the file */

static uint64_t most_items(Dwarf *dwarf)
{
    size_t size = 0;
    Elf *elf = dwarf_getelf(dwarf);
    if (!elf || !elf_rawfile(elf, &size) || size < LEAST_ITEMS / ITEMS_OF_BYTE)
        return LEAST_ITEMS;
    return (uint64_t)size * ITEMS_OF_BYTE;
}

bool pug_names_dwarf_take(struct names_dwarf *dwarf, struct names_unit *unit, size_t count)
{
    if (unit->counted)
        return true;
    if (dwarf->left > count) {
        dwarf->left -= count;
        return true;
    }
    dwarf->left = 0;
    return !(dwarf->file->overfull = true);
}

static bool add_extent(struct names_dwarf *dwarf, uint64_t start, uint64_t end, uint32_t unit)
{
    if (end <= start)
        return true;
    if (dwarf->extent_count == dwarf->extent_room) {
        const size_t room = dwarf->extent_room ? dwarf->extent_room * 2 : 64;
        void *extents = realloc(dwarf->extents, room * sizeof(*dwarf->extents));
        if (!extents)
            return false;
        dwarf->extents = extents;
        dwarf->extent_room = room;
    }
    dwarf->extents[dwarf->extent_count++] =
        (struct names_extent){start + dwarf->bias, end + dwarf->bias, unit};
    return true;
}

/* What the unit says of itself; where it says nothing, what its lines cover. */
static bool add_unit_extents(struct names_dwarf *dwarf, uint32_t number)
{
    struct names_unit *unit = &dwarf->units[number];
    Dwarf_Addr base, start, end;
    ptrdiff_t at = 0;
    const size_t before = dwarf->extent_count;
    if (!pug_names_ranges_fit(dwarf, unit, &unit->main))
        return true;
    while ((at = dwarf_ranges(&unit->main, at, &base, &start, &end)) > 0)
        if (!pug_names_dwarf_take(dwarf, unit, 1) || !add_extent(dwarf, start, end, number))
            return dwarf->left == 0;
    if (dwarf->extent_count > before)
        return true;
    Dwarf_Lines *lines;
    size_t count;
    bool inside = false;
    if (!pug_names_dwarf_take(dwarf, unit, 1) || !pug_names_files_fit(dwarf, &unit->main) ||
        dwarf_getsrclines(&unit->main, &lines, &count) != 0 ||
        !pug_names_dwarf_take(dwarf, unit, count))
        return true;
    for (size_t i = 0; i < count; i++) {
        Dwarf_Line *line = dwarf_onesrcline(lines, i);
        Dwarf_Addr address;
        bool ends;
        if (dwarf_lineaddr(line, &address) != 0 || dwarf_lineendsequence(line, &ends) != 0)
            continue;
        if (!inside)
            start = address;
        inside = !ends;
        if (ends && !add_extent(dwarf, start, address, number))
            return false;
    }
    return true;
}

static int by_start(const void *left, const void *right)
{
    const struct names_extent *a = left, *b = right;
    if (a->start != b->start)
        return a->start < b->start ? -1 : 1;
    return a->unit < b->unit ? -1 : a->unit > b->unit;
}

/* Checks a file that exists. */
static bool may_open(const char *path)
{
    const int file = pug_names_open_regular(path);
    const bool may = file >= 0 && pug_names_file_bound(file) == PUG_NAMES_FITS;
    if (file >= 0)
        close(file);
    return may;
}

/* libdw would open whatever a split unit names; only a regular file is to be touched. */
static bool may_open_split(const struct names_dwarf *dwarf, Dwarf_Die *die)
{
    Dwarf_Attribute attribute;
    const char *name = dwarf_formstring(dwarf_attr(die, DW_AT_dwo_name, &attribute));
    if (!name)
        name = dwarf_formstring(dwarf_attr(die, DW_AT_GNU_dwo_name, &attribute));
    const char *folder = dwarf_formstring(dwarf_attr(die, DW_AT_comp_dir, &attribute));
    const char *path = dwarf->file->path, *slash = strrchr(path, '/');
    char tried[4096];
    struct stat status;
    if (!name)
        return false;
    for (int place = 0; place < 2; place++) {
        if (*name == '/')
            snprintf(tried, sizeof(tried), "%s", name);
        else if (place == 0)
            snprintf(tried, sizeof(tried), "%.*s/%s", slash ? (int)(slash - path) : 1,
                     slash ? path : ".", name);
        else
            snprintf(tried, sizeof(tried), "%s/%s", folder ? folder : ".", name);
        if (stat(tried, &status) == 0 && !may_open(tried))
            return false;
    }
    return true;
}

static bool add_unit(struct names_dwarf *dwarf, Dwarf_CU *cu, uint8_t type, Dwarf_Die *die,
                     size_t *room)
{
    if (dwarf->unit_count == *room) {
        const size_t larger = *room ? *room * 2 : 64;
        void *units = realloc(dwarf->units, larger * sizeof(*dwarf->units));
        if (!units)
            return false;
        dwarf->units = units;
        *room = larger;
    }
    struct names_unit unit = {.die = *die, .main = *die};
    Dwarf_Die split;
    if (type == DW_UT_skeleton && may_open_split(dwarf, die)) {
        memset(&split, 0, sizeof(split));
        if (dwarf_cu_info(cu, NULL, NULL, NULL, &split, NULL, NULL, NULL) == 0 && split.addr) {
            unit.die = split;
            pug_names_guard_also(dwarf_cu_getdwarf(split.cu));
        }
    }
    dwarf->units[dwarf->unit_count++] = unit;
    return true;
}

static bool find_units(void *context)
{
    struct names_dwarf *dwarf = context;
    Dwarf_CU *cu = NULL;
    Dwarf_Die die;
    uint8_t type;
    size_t room = 0;
    while (pug_names_guard_room() &&
           dwarf_get_units(dwarf->dwarf, cu, &cu, NULL, &type, &die, NULL) == 0) {
        if (type == DW_UT_type || dwarf->unit_count >= UNIT_LIMIT)
            continue;
        if (!add_unit(dwarf, cu, type, &die, &room) ||
            !add_unit_extents(dwarf, (uint32_t)dwarf->unit_count - 1))
            return false;
    }
    if (dwarf->extent_count > 0)
        qsort(dwarf->extents, dwarf->extent_count, sizeof(*dwarf->extents), by_start);
    return true;
}

struct names_dwarf *pug_names_dwarf_new(struct pug_names_file *file)
{
    uint64_t bias;
    errno = 0;
    Dwarf *opened = pug_names_elf_dwarf(file->elf, &bias);
    struct names_dwarf *dwarf = opened ? calloc(1, sizeof(*dwarf)) : NULL;
    file->names->starved |= errno == ENOMEM;
    if (!dwarf)
        return NULL;
    *dwarf = (struct names_dwarf){
        .file = file, .dwarf = opened, .bias = bias, .left = most_items(opened)};
    dwarf->paths_left = dwarf->left * BYTES_OF_ITEM;
    const bool found = pug_names_guard(opened, find_units, dwarf);
    file->names->starved |= !found;
    if (found && dwarf->extent_count > 0)
        return dwarf;
    pug_names_dwarf_free(dwarf);
    return NULL;
}

static void unload(struct names_dwarf *dwarf, struct names_unit *unit)
{
    dwarf->file->names->used -= unit->bytes;
    free(unit->rows);
    free(unit->scopes);
    free(unit->pieces);
    free(unit->scratch);
    unit->scratch = NULL;
    unit->rows = NULL;
    unit->scopes = NULL;
    unit->pieces = NULL;
    unit->row_count = unit->scope_count = unit->piece_count = unit->bytes = 0;
    unit->loaded = false;
}

void pug_names_dwarf_free(struct names_dwarf *dwarf)
{
    if (dwarf)
        free(dwarf->variables);
    if (!dwarf)
        return;
    for (size_t i = 0; i < dwarf->unit_count; i++)
        unload(dwarf, &dwarf->units[i]);
    free(dwarf->units);
    free(dwarf->extents);
    free(dwarf->line_tables);
    free(dwarf);
}

/* ---- keeping ---- */

/* Give up units of any file until there is room again. */
static void make_room(struct pug_names *names, const struct names_unit *but)
{
    while (names->used > names->limit) {
        struct names_dwarf *of = NULL;
        struct names_unit *oldest = NULL;
        for (struct pug_names_file *file = names->files; file; file = file->next)
            for (size_t i = 0; file->dwarf && i < file->dwarf->unit_count; i++) {
                struct names_unit *unit = &file->dwarf->units[i];
                if (unit->loaded && unit != but && (!oldest || unit->used < oldest->used)) {
                    oldest = unit;
                    of = file->dwarf;
                }
            }
        if (!oldest)
            return;
        unload(of, oldest);
    }
}

struct work {
    struct names_dwarf *dwarf;
    struct names_unit *unit;
};

static bool load_unit(void *context)
{
    const struct work *work = context;
    return pug_names_rows_load(work->dwarf, work->unit) &&
           pug_names_scopes_load(work->dwarf, work->unit);
}

bool pug_names_unit_load(struct names_dwarf *dwarf, struct names_unit *unit)
{
    struct pug_names *names = dwarf->file->names;
    unit->used = ++names->clock;
    if (unit->loaded)
        return true;
    unit->loaded = true;
    struct work work = {dwarf, unit};
    if (!pug_names_guard(dwarf->dwarf, load_unit, &work)) {
        unload(dwarf, unit);
        return !(names->starved = true);
    }
    unit->counted = dwarf->left > 0; /* else it is not whole */
    unit->bytes = unit->row_count * sizeof(*unit->rows) +
                  unit->scope_count * sizeof(*unit->scopes) +
                  unit->piece_count * sizeof(*unit->pieces);
    names->used += unit->bytes;
    make_room(names, unit);
    return true;
}

/* How far back an extent may begin that holds an address; extents hardly ever overlap. */
#define LOOK_BACK 16

static struct names_unit *unit_at(struct names_dwarf *dwarf, uint64_t vaddr)
{
    const size_t low = pug_bisect_to(dwarf->extents, dwarf->extent_count, sizeof(*dwarf->extents),
                                     offsetof(struct names_extent, start), vaddr);
    for (size_t back = 0; back < LOOK_BACK && back < low; back++) {
        const struct names_extent *extent = &dwarf->extents[low - 1 - back];
        struct names_unit *unit = &dwarf->units[extent->unit];
        if (vaddr < extent->end)
            return pug_names_unit_load(dwarf, unit) ? unit : NULL;
    }
    return NULL;
}

const char *pug_names_source_path(struct names_dwarf *dwarf, struct names_unit *unit,
                                  const char *path)
{
    struct names_strings *strings = &dwarf->file->names->strings;
    Dwarf_Attribute attribute;
    char joined[4096];
    if (!path || *path == '/')
        return pug_names_string(strings, path);
    const char *folder = dwarf_formstring(dwarf_attr(&unit->main, DW_AT_comp_dir, &attribute));
    if (!folder || snprintf(joined, sizeof(joined), "%s/%s", folder, path) >= (int)sizeof(joined))
        return pug_names_string(strings, path);
    return pug_names_string(strings, joined);
}

/* ---- asking ---- */

static const struct names_row *row_at(const struct names_unit *unit, uint64_t vaddr)
{
    const size_t low = pug_bisect_to(unit->rows, unit->row_count, sizeof(*unit->rows),
                                     offsetof(struct names_row, start), vaddr);
    return low > 0 && unit->rows[low - 1].path ? &unit->rows[low - 1] : NULL;
}

static void tell(const struct names_unit *unit, const struct names_row *row,
                 struct pug_names_line *line)
{
    *line = (struct pug_names_line){.path = row->path,
                                    .line = row->line,
                                    .discriminator = row->discriminator,
                                    .start = row->start,
                                    .end = row + 1 < unit->rows + unit->row_count ? row[1].start
                                                                                  : row->start};
}

bool pug_names_dwarf_line(struct names_dwarf *dwarf, uint64_t vaddr, struct pug_names_line *line)
{
    const struct names_unit *unit = unit_at(dwarf, vaddr);
    const struct names_row *row = unit ? row_at(unit, vaddr) : NULL;
    if (row)
        tell(unit, row, line);
    return row != NULL;
}

static uint32_t scope_at(const struct names_unit *unit, uint64_t vaddr)
{
    const size_t low = pug_bisect_to(unit->pieces, unit->piece_count, sizeof(*unit->pieces),
                                     offsetof(struct names_piece, start), vaddr);
    return low > 0 ? unit->pieces[low - 1].scope : UINT32_MAX;
}

size_t pug_names_dwarf_frames(struct names_dwarf *dwarf, uint64_t vaddr,
                              struct pug_names_frame *frames, size_t room)
{
    const struct names_unit *unit = unit_at(dwarf, vaddr);
    uint32_t number = unit ? scope_at(unit, vaddr) : UINT32_MAX;
    size_t count = 0;
    if (number == UINT32_MAX)
        return 0;
    const struct names_row *row = row_at(unit, vaddr);
    const char *path = row ? row->path : NULL;
    uint32_t line = row ? row->line : 0, discriminator = row ? row->discriminator : 0;
    while (number != UINT32_MAX && count < room) {
        const struct names_scope *scope = &unit->scopes[number];
        frames[count++] = (struct pug_names_frame){
            .function = scope->name,
            .path = path,
            .line = line,
            .discriminator = discriminator,
            .declared_path = scope->declared_path,
            .declared = scope->declared,
            .inlined = scope->parent != UINT32_MAX,
        };
        path = scope->call_path;
        line = scope->call_line;
        discriminator = scope->call_discriminator;
        number = scope->parent;
    }
    return count;
}

enum pug_status pug_names_dwarf_lines(struct names_dwarf *dwarf,
                                      bool (*take)(void *, const struct pug_names_line *),
                                      void *context)
{
    for (size_t i = 0; i < dwarf->unit_count; i++) {
        struct names_unit *unit = &dwarf->units[i];
        if (!pug_names_unit_load(dwarf, unit))
            return PUG_ERR_MEM;
        for (size_t j = 0; j < unit->row_count; j++) {
            struct pug_names_line line;
            tell(unit, &unit->rows[j], &line);
            if (unit->rows[j].path && !take(context, &line))
                return PUG_OK;
        }
    }
    return PUG_OK;
}

#else

struct names_dwarf *pug_names_dwarf_new(struct pug_names_file *file)
{
    (void)file;
    return NULL;
}

void pug_names_dwarf_free(struct names_dwarf *dwarf)
{
    (void)dwarf;
}

bool pug_names_dwarf_line(struct names_dwarf *dwarf, uint64_t vaddr, struct pug_names_line *line)
{
    (void)dwarf;
    (void)vaddr;
    (void)line;
    return false;
}

size_t pug_names_dwarf_frames(struct names_dwarf *dwarf, uint64_t vaddr,
                              struct pug_names_frame *frames, size_t room)
{
    (void)dwarf;
    (void)vaddr;
    (void)frames;
    (void)room;
    return 0;
}

enum pug_status pug_names_dwarf_lines(struct names_dwarf *dwarf,
                                      bool (*take)(void *, const struct pug_names_line *),
                                      void *context)
{
    (void)dwarf;
    (void)take;
    (void)context;
    return PUG_ERR_NOT_FOUND;
}

#endif
