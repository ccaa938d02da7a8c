// SPDX-License-Identifier: MIT
/** @file Where variables and members are, by their names: `osRtxInfo.thread.run.curr`. */
#include "names/names.h"

#include <stdlib.h>
#include <string.h>

/** The first name of a path; returns what follows it. */
static const char *cut_name(const char *path, char *name, size_t size)
{
    const size_t length = strcspn(path, ".[");
    if (length == 0 || length >= size)
        return NULL;
    memcpy(name, path, length);
    name[length] = 0;
    return path + length;
}

static bool by_symbol(const struct pug_names_file *file, const char *name,
                      struct names_place *place)
{
    for (size_t i = 0; i < file->data.count; i++) {
        const struct names_symbol *symbol = &file->data.items[i];
        if (!symbol->name || strcmp(symbol->name, name) != 0)
            continue;
        *place = (struct names_place){.at = symbol->start, .size = symbol->end - symbol->start};
        return true;
    }
    return false;
}

#ifdef PUG_WITH_DWARF

#include "names/dwarf.h"

#include <dwarf.h>

#define STEPS_MOST   64u        /* of a path, and of types that have no names around a member */
#define MEMBERS_MOST (1u << 18) /* of all structures on the way */
#define NAME_SIZE    256u       /* of one name in a path */
#define TYPES_MOST   (1u << 20) /* entries of all units that are looked at for a type */

/** A path on its way through types. */
struct walk {
    struct names_dwarf *dwarf;
    const char *name, *path; /* what it begins with, and the rest */
    Dwarf_Die holder;        /* has the type of what was reached */
    uint64_t at;
    uint32_t left; /* members that may still be looked at */
    struct names_place *place;
};

/** Looks for a member, also in unions and structures without names; *offset is where it is. */
static bool find_member(struct names_dwarf *dwarf, Dwarf_Die *type, const char *name,
                        uint32_t *left, unsigned depth, Dwarf_Die *found, uint64_t *offset)
{
    Dwarf_Die member, plain;
    if (depth > STEPS_MOST || dwarf_child(type, &member) != 0)
        return false;
    while (*left > 0) {
        --*left;
        uint64_t place, inner;
        const char *own = dwarf_diename(&member);
        if (pug_names_die_place(&member, &place)) {
            if (own && strcmp(own, name) == 0) {
                *found = member;
                *offset = place;
                return true;
            }
            if (!own && pug_names_die_type(dwarf, &member, &plain) &&
                find_member(dwarf, &plain, name, left, depth + 1, found, &inner)) {
                *offset = place + inner;
                return true;
            }
        }
        if (dwarf_siblingof(&member, &member) != 0)
            return false;
    }
    return false; /* too many */
}

/** Goes into the element of an array that "[n]" names, and moves the path past it. */
static bool enter_element(struct walk *walk)
{
    Dwarf_Die plain, element;
    char *end;
    uint64_t size;
    const unsigned long n = strtoul(walk->path + 1, &end, 0);
    if (*end != ']' || !pug_names_die_type(walk->dwarf, &walk->holder, &plain) ||
        dwarf_tag(&plain) != DW_TAG_array_type ||
        !pug_names_die_type(walk->dwarf, &plain, &element) ||
        !pug_names_die_size(walk->dwarf, &element, 0, &size))
        return false;
    walk->at += n * size;
    walk->holder = plain; /* whose type is its elements' */
    walk->path = end + 1;
    return true;
}

static bool enter_member(struct walk *walk)
{
    char name[NAME_SIZE];
    Dwarf_Die plain, member;
    uint64_t offset;
    const char *rest = cut_name(walk->path + (*walk->path == '.'), name, sizeof(name));
    if (!rest || !pug_names_die_type(walk->dwarf, &walk->holder, &plain) ||
        !find_member(walk->dwarf, &plain, name, &walk->left, 0, &member, &offset))
        return false;
    walk->at += offset;
    walk->holder = member;
    walk->path = rest;
    return true;
}

/** Follows the path to its end and says what is there. */
static bool follow(struct walk *walk)
{
    Dwarf_Die plain;
    for (unsigned n = 0; *walk->path; n++)
        if (n == STEPS_MOST || !(*walk->path == '[' ? enter_element(walk) : enter_member(walk)))
            return false;
    if (!pug_names_die_type(walk->dwarf, &walk->holder, &plain))
        return false;
    *walk->place = (struct names_place){.at = walk->at,
                                        .is_array = dwarf_tag(&plain) == DW_TAG_array_type,
                                        .is_pointer = dwarf_tag(&plain) == DW_TAG_pointer_type};
    (void)pug_names_die_size(walk->dwarf, &plain, 0, &walk->place->size);
    return true;
}

static bool from_variable(void *context)
{
    struct walk *walk = context;
    for (size_t i = 0; i < walk->dwarf->variable_count; i++) {
        const struct names_variable *variable = &walk->dwarf->variables[i];
        if (!variable->name || strcmp(variable->name, walk->name) != 0)
            continue;
        walk->holder = variable->die;
        walk->at = variable->start;
        return follow(walk);
    }
    return false;
}

/** Is it a type of that name, which says what is in it? */
static bool is_type(Dwarf_Die *die, const char *name)
{
    const int tag = dwarf_tag(die);
    const char *own = dwarf_diename(die);
    return (tag == DW_TAG_typedef || tag == DW_TAG_structure_type || tag == DW_TAG_class_type ||
            tag == DW_TAG_union_type) &&
           own && strcmp(own, name) == 0 && (tag == DW_TAG_typedef || dwarf_haschildren(die) > 0);
}

static bool from_type(void *context)
{
    struct walk *walk = context;
    const char *const path = walk->path;
    uint32_t left = TYPES_MOST;
    for (size_t i = 0; i < walk->dwarf->unit_count; i++) {
        Dwarf_Die die;
        if (dwarf_child(&walk->dwarf->units[i].die, &die) != 0)
            continue;
        do {
            if (left-- == 0)
                return false;
            if (!is_type(&die, walk->name))
                continue;
            /* A member's type is what its holder's attribute names: a structure is one by itself.
             */
            Dwarf_Die plain = die, member;
            uint64_t offset;
            char first[NAME_SIZE];
            const char *rest = cut_name(path, first, sizeof(first));
            if (!rest ||
                (dwarf_tag(&die) == DW_TAG_typedef &&
                 !pug_names_die_type(walk->dwarf, &die, &plain)) ||
                !find_member(walk->dwarf, &plain, first, &walk->left, 0, &member, &offset))
                continue;
            walk->holder = member;
            walk->at = offset;
            walk->path = rest;
            if (follow(walk))
                return true;
        } while (dwarf_siblingof(&die, &die) == 0);
    }
    return false;
}

bool pug_names_place_of(struct pug_names_file *file, const char *path, struct names_place *place)
{
    char name[NAME_SIZE];
    const char *rest = file ? cut_name(path, name, sizeof(name)) : NULL;
    struct names_dwarf *dwarf = rest ? pug_names_dwarf_of(file) : NULL;
    struct walk walk = {
        .dwarf = dwarf, .name = name, .path = rest, .left = MEMBERS_MOST, .place = place};
    if (dwarf)
        pug_names_dwarf_variables(dwarf);
    if (dwarf && pug_names_guard(dwarf->dwarf, from_variable, &walk))
        return true;
    return rest && !*rest && by_symbol(file, name, place);
}

bool pug_names_member_of(struct pug_names_file *file, const char *type, const char *member,
                         struct names_place *place)
{
    static const char keyword[] = "struct ";
    struct names_dwarf *dwarf = file ? pug_names_dwarf_of(file) : NULL;
    if (strncmp(type, keyword, sizeof(keyword) - 1) == 0)
        type += sizeof(keyword) - 1;
    struct walk walk = {
        .dwarf = dwarf, .name = type, .path = member, .left = MEMBERS_MOST, .place = place};
    return dwarf && pug_names_guard(dwarf->dwarf, from_type, &walk);
}

#else

bool pug_names_place_of(struct pug_names_file *file, const char *path, struct names_place *place)
{
    char name[256];
    const char *rest = file ? cut_name(path, name, sizeof(name)) : NULL;
    return rest && !*rest && by_symbol(file, name, place);
}

bool pug_names_member_of(struct pug_names_file *file, const char *type, const char *member,
                         struct names_place *place)
{
    (void)file, (void)type, (void)member, (void)place;
    return false;
}

#endif
