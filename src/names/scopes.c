// SPDX-License-Identifier: MIT
/** @file The functions of a unit and those inlined into them, as pieces of the address space. */
#include "names/names.h"

#ifdef PUG_WITH_DWARF

#include "names/dwarf.h"

#include <dwarf.h>
#include <stdlib.h>
#include <string.h>

#define DEPTH_LIMIT   200u /* of DIEs in each other */
#define SCOPE_LIMIT   (1u << 22)
#define NO_SCOPE      UINT32_MAX
#define DW_AT_gnu_dis 0x2136 /* DW_AT_GNU_discriminator: of a call */

/* The code range of a scope. */
struct extent {
    uint64_t start, end;
    uint32_t scope, depth;
};

struct collection {
    struct names_dwarf *dwarf;
    struct names_unit *unit;
    Dwarf_Files *files;
    size_t file_count;
    struct extent *extents;
    size_t extent_count, extent_room, scope_room;
    bool failed;
};

static const char *source_of(struct collection *all, Dwarf_Word number)
{
    if (!all->files || number >= all->file_count)
        return NULL;
    return pug_names_source_path(all->dwarf, all->unit,
                                 dwarf_filesrc(all->files, number, NULL, NULL));
}

static uint32_t number_of(Dwarf_Die *die, unsigned name, bool integrate)
{
    Dwarf_Attribute attribute;
    Dwarf_Word value;
    Dwarf_Attribute *found =
        integrate ? dwarf_attr_integrate(die, name, &attribute) : dwarf_attr(die, name, &attribute);
    return found && dwarf_formudata(found, &value) == 0 && value <= UINT32_MAX ? (uint32_t)value
                                                                               : 0;
}

static const char *name_of(struct collection *all, Dwarf_Die *die)
{
    Dwarf_Attribute attribute;
    const char *name = dwarf_formstring(dwarf_attr_integrate(die, DW_AT_linkage_name, &attribute));
    if (!name)
        name = dwarf_formstring(dwarf_attr_integrate(die, DW_AT_MIPS_linkage_name, &attribute));
    if (!name)
        name = dwarf_formstring(dwarf_attr_integrate(die, DW_AT_name, &attribute));
    return pug_names_string(&all->dwarf->file->names->strings, name);
}

/* The file's number is one of the unit that has the attribute; of a split one, of its skeleton. */
static const char *declared_path(struct collection *all, Dwarf_Die *die)
{
    const uint32_t number = number_of(die, DW_AT_decl_file, true);
    if (all->unit->die.addr != all->unit->main.addr)
        return source_of(all, number);
    Dwarf_Attribute attribute;
    Dwarf_Die of;
    if (!dwarf_attr_integrate(die, DW_AT_decl_file, &attribute) ||
        dwarf_cu_getdwarf(attribute.cu) != all->dwarf->dwarf ||
        dwarf_cu_info(attribute.cu, NULL, NULL, &of, NULL, NULL, NULL, NULL) != 0 ||
        !pug_names_files_fit(all->dwarf, &of))
        return NULL;
    return pug_names_source_path(all->dwarf, all->unit, dwarf_decl_file(die));
}

static uint32_t add_scope(struct collection *all, Dwarf_Die *die, bool inlined, uint32_t parent)
{
    struct names_unit *unit = all->unit;
    if (unit->scope_count >= SCOPE_LIMIT)
        return NO_SCOPE;
    if (unit->scope_count == all->scope_room) {
        const size_t room = all->scope_room ? all->scope_room * 2 : 32;
        void *scopes = realloc(unit->scopes, room * sizeof(*unit->scopes));
        if (!scopes) {
            all->failed = true;
            return NO_SCOPE;
        }
        unit->scopes = scopes;
        all->scope_room = room;
    }
    struct names_scope scope = {
        .name = name_of(all, die),
        .declared = number_of(die, DW_AT_decl_line, true),
        .declared_path = declared_path(all, die),
        .parent = inlined ? parent : NO_SCOPE,
    };
    if (inlined) {
        scope.call_line = number_of(die, DW_AT_call_line, false);
        scope.call_path = source_of(all, number_of(die, DW_AT_call_file, false));
        scope.call_discriminator = number_of(die, DW_AT_gnu_dis, false);
    }
    unit->scopes[unit->scope_count] = scope;
    return (uint32_t)unit->scope_count++;
}

static void add_extents(struct collection *all, Dwarf_Die *die, uint32_t scope, uint32_t depth)
{
    Dwarf_Addr base, start, end;
    ptrdiff_t at = 0;
    while ((at = dwarf_ranges(die, at, &base, &start, &end)) > 0) {
        if (!pug_names_dwarf_take(all->dwarf, all->unit, 1))
            return;
        if (end <= start)
            continue;
        if (all->extent_count == all->extent_room) {
            const size_t room = all->extent_room ? all->extent_room * 2 : 64;
            void *extents = realloc(all->extents, room * sizeof(*all->extents));
            if (!extents) {
                all->failed = true;
                return;
            }
            all->extents = all->unit->scratch = extents;
            all->extent_room = room;
        }
        all->extents[all->extent_count++] =
            (struct extent){start + all->dwarf->bias, end + all->dwarf->bias, scope, depth};
    }
}

static bool has_code(struct collection *all, Dwarf_Die *die)
{
    Dwarf_Addr base, start, end;
    return pug_names_ranges_fit(all->dwarf, all->unit, die) &&
           dwarf_ranges(die, 0, &base, &start, &end) > 0;
}

static void collect(struct collection *all, Dwarf_Die *parent, uint32_t scope, uint32_t depth)
{
    Dwarf_Die die;
    if (depth > DEPTH_LIMIT || dwarf_child(parent, &die) != 0)
        return;
    do {
        /* Damaged ones are each other's children and siblings: their paths are without number. */
        if (!pug_names_dwarf_take(all->dwarf, all->unit, 1))
            return;
        const int tag = dwarf_tag(&die);
        uint32_t inner = scope;
        switch (tag) {
        case DW_TAG_subprogram:
            if (!has_code(all, &die))
                continue;
            inner = add_scope(all, &die, false, scope);
            break;
        case DW_TAG_inlined_subroutine:
            if (!has_code(all, &die)) { /* pug_names_copies() reports it */
                if (scope != NO_SCOPE)
                    (void)add_scope(all, &die, true, scope);
                continue;
            }
            inner = scope == NO_SCOPE ? scope : add_scope(all, &die, true, scope);
            break;
        case DW_TAG_lexical_block:
        case DW_TAG_namespace:
        case DW_TAG_module:
        case DW_TAG_structure_type:
        case DW_TAG_class_type:
        case DW_TAG_union_type: break;
        default: continue;
        }
        if (inner != scope)
            add_extents(all, &die, inner, depth);
        collect(all, &die, inner, depth + 1);
    } while (!all->failed && dwarf_siblingof(&die, &die) == 0);
}

/* Outer ones first. */
static int by_start(const void *left, const void *right)
{
    const struct extent *a = left, *b = right;
    if (a->start != b->start)
        return a->start < b->start ? -1 : 1;
    if (a->end != b->end)
        return a->end > b->end ? -1 : 1;
    return a->depth < b->depth ? -1 : a->depth > b->depth;
}

static void put_piece(struct names_unit *unit, uint64_t start, uint32_t scope)
{
    struct names_piece *last = unit->piece_count ? &unit->pieces[unit->piece_count - 1] : NULL;
    if (last && last->start == start)
        last->scope = scope;
    else if (!last || last->scope != scope)
        unit->pieces[unit->piece_count++] = (struct names_piece){start, scope};
}

/* Each extent gives at most two pieces: where it begins, and what goes on where it ends. */
static bool flatten(struct collection *all)
{
    struct names_unit *unit = all->unit;
    struct extent *open = calloc(DEPTH_LIMIT + 2, sizeof(*open));
    unit->pieces = calloc(2 * all->extent_count + 1, sizeof(*unit->pieces));
    if (!open || !unit->pieces) {
        free(open);
        return false;
    }
    size_t depth = 0;
    for (size_t i = 0; i <= all->extent_count; i++) {
        const struct extent *extent = i < all->extent_count ? &all->extents[i] : NULL;
        while (depth > 0 && (!extent || open[depth - 1].end <= extent->start)) {
            const uint64_t end = open[--depth].end;
            put_piece(unit, end,
                      depth > 0 && open[depth - 1].end > end ? open[depth - 1].scope : NO_SCOPE);
        }
        if (!extent || depth == DEPTH_LIMIT + 2)
            continue;
        put_piece(unit, extent->start, extent->scope);
        open[depth] = *extent;
        if (depth > 0 && extent->end > open[depth - 1].end)
            open[depth].end =
                open[depth - 1].end; /* damaged: nothing reaches beyond what it is in */
        depth++;
    }
    free(open);
    return true;
}

bool pug_names_scopes_load(struct names_dwarf *dwarf, struct names_unit *unit)
{
    struct collection all = {.dwarf = dwarf, .unit = unit};
    if (!pug_names_files_fit(dwarf, &unit->main) ||
        dwarf_getsrcfiles(&unit->main, &all.files, &all.file_count) != 0)
        all.files = NULL;
    collect(&all, &unit->die, NO_SCOPE, 0);
    if (!all.failed && all.extent_count > 0)
        qsort(all.extents, all.extent_count, sizeof(*all.extents), by_start);
    const bool good = !all.failed && flatten(&all);
    free(all.extents);
    unit->scratch = NULL;
    return good;
}

#endif
