// SPDX-License-Identifier: MIT
/**
 * @file Variables by address: those of the debug information that have one, and the members of
 * structures and arrays in them; else the data symbols of the file.
 */
#include "base/bisect.h"
#include "base/edit_distance.h"
#include "base/text.h"
#include "names/names.h"

#include <stdlib.h>
#include <string.h>

bool pug_names_data_symbol(struct pug_names_file *file, uint64_t start, uint64_t size,
                           const char *name)
{
    const struct names_symbol entry = {
        .start = start, .end = start + size, .name = pug_names_string(&file->names->strings, name)};
    return size == 0 || (entry.name && pug_names_symbols_add(&file->data, &entry));
}

/** By a symbol: its name is all that is known. */
static bool by_symbol(const struct pug_names_file *file, uint64_t address,
                      struct pug_names_variable *variable)
{
    const struct names_symbol *symbol = pug_names_symbols_find(&file->data, address);
    char path[256];
    if (!symbol)
        return false;
    struct pug_text text = PUG_TEXT(path, sizeof(path));
    pug_text_put(&text, symbol->name);
    if (address > symbol->start)
        pug_text_format(&text, "+%llu", (unsigned long long)(address - symbol->start));
    pug_text_end(&text);
    *variable = (struct pug_names_variable){
        .name = pug_names_string(&file->names->strings, path),
        .type = "",
        .start = address,
        .size = symbol->end - address,
    };
    return variable->name != NULL;
}

#ifdef PUG_WITH_DWARF

#include "names/dwarf.h"

#include <dwarf.h>

#define DEPTH_LIMIT  64u   /* of entries in each other, and of types */
#define MEMBERS_MOST 4096u /* of a structure, or an enumeration */
#define ENTRIES_MOST (UINT32_C(1) << 22)
#define SIZE_MOST    (UINT64_C(1) << 40)
#define STEPS_MOST   (UINT64_C(1) << 23) /* from entries to their types, in all */

/* ---- which variables there are ---- */

struct collecting {
    struct names_dwarf *dwarf;
    size_t room;
    uint32_t left; /* entries that may still be looked at */
    bool failed;
};

/** The type of an entry; false: it has none, or more was looked at than a file's types need. */
static bool type_of(struct names_dwarf *dwarf, Dwarf_Die *die, Dwarf_Die *type)
{
    Dwarf_Attribute attribute;
    if (dwarf->type_steps >= STEPS_MOST)
        return !(dwarf->file->overfull = true);
    dwarf->type_steps++;
    return dwarf_attr_integrate(die, DW_AT_type, &attribute) &&
           dwarf_formref_die(&attribute, type) != NULL;
}

static bool is_other_name(int tag)
{
    return tag == DW_TAG_typedef || tag == DW_TAG_const_type || tag == DW_TAG_volatile_type ||
           tag == DW_TAG_restrict_type || tag == DW_TAG_atomic_type;
}

/** Without typedefs and qualifiers; libdw's own way goes round for ever where they are a ring. */
bool pug_names_die_type(struct names_dwarf *dwarf, Dwarf_Die *die, Dwarf_Die *type)
{
    *type = *die;
    for (unsigned depth = 0; depth < DEPTH_LIMIT; depth++) {
        Dwarf_Die next;
        if (!type_of(dwarf, type, &next))
            return false;
        *type = next;
        if (!is_other_name(dwarf_tag(type)))
            return true;
    }
    return false;
}

/** Elements of a dimension of an array; 0: it does not say. */
static uint64_t elements_of(Dwarf_Die *dimension)
{
    Dwarf_Attribute attribute;
    Dwarf_Word count = 0;
    if (dwarf_attr(dimension, DW_AT_count, &attribute) && dwarf_formudata(&attribute, &count) == 0)
        return count;
    if (dwarf_attr(dimension, DW_AT_upper_bound, &attribute) &&
        dwarf_formudata(&attribute, &count) == 0 && count < SIZE_MOST)
        return count + 1;
    return 0;
}

/** Bytes of a plain type; false: it does not say, or more than there can be. */
bool pug_names_die_size(struct names_dwarf *dwarf, Dwarf_Die *plain, unsigned depth, uint64_t *size)
{
    const int bytes = dwarf_bytesize(plain);
    Dwarf_Die element, dimension;
    *size = bytes > 0 ? (uint64_t)bytes : 0;
    if (bytes >= 0 || dwarf_tag(plain) == DW_TAG_pointer_type) {
        *size = bytes >= 0 ? *size : 4;
        return *size > 0;
    }
    if (dwarf_tag(plain) != DW_TAG_array_type || depth > DEPTH_LIMIT ||
        !pug_names_die_type(dwarf, plain, &element) ||
        !pug_names_die_size(dwarf, &element, depth + 1, size) ||
        dwarf_child(plain, &dimension) != 0)
        return false;
    for (unsigned n = 0; n < DEPTH_LIMIT; n++) {
        const uint64_t count =
            dwarf_tag(&dimension) == DW_TAG_subrange_type ? elements_of(&dimension) : 1;
        if (count == 0 || count > SIZE_MOST / *size)
            return false;
        *size *= count;
        if (dwarf_siblingof(&dimension, &dimension) != 0)
            return true;
    }
    return false;
}

/** The address that a variable always has. */
static bool address_of(Dwarf_Die *die, uint64_t *address)
{
    Dwarf_Attribute attribute;
    Dwarf_Op *operations;
    size_t count;
    if (!dwarf_attr(die, DW_AT_location, &attribute) ||
        dwarf_getlocation(&attribute, &operations, &count) != 0 || count != 1)
        return false;
    if (operations[0].atom == DW_OP_addr) {
        *address = operations[0].number;
        return true;
    }
    Dwarf_Attribute indirect;
    Dwarf_Addr value;
    if ((operations[0].atom != DW_OP_addrx && operations[0].atom != DW_OP_GNU_addr_index) ||
        dwarf_getlocation_attr(&attribute, &operations[0], &indirect) != 0 ||
        dwarf_formaddr(&indirect, &value) != 0)
        return false;
    *address = value;
    return true;
}

static void add_variable(struct collecting *all, Dwarf_Die *die)
{
    struct names_dwarf *dwarf = all->dwarf;
    Dwarf_Die type;
    Dwarf_Attribute attribute;
    uint64_t address, size;
    const char *name = dwarf_formstring(dwarf_attr_integrate(die, DW_AT_name, &attribute));
    if (!name || !address_of(die, &address) || !pug_names_die_type(dwarf, die, &type) ||
        !pug_names_die_size(dwarf, &type, 0, &size))
        return;
    if (dwarf->variable_count == all->room) {
        const size_t room = all->room ? all->room * 2 : 64;
        void *grown = realloc(dwarf->variables, room * sizeof(*dwarf->variables));
        all->failed |= !grown;
        if (!grown)
            return;
        dwarf->variables = grown;
        all->room = room;
    }
    dwarf->variables[dwarf->variable_count++] = (struct names_variable){
        .start = address + dwarf->bias,
        .size = size,
        .name = pug_names_string(&dwarf->file->names->strings, name),
        .die = *die,
    };
}

static void collect(struct collecting *all, Dwarf_Die *parent, unsigned depth)
{
    Dwarf_Die die;
    if (depth > DEPTH_LIMIT || dwarf_child(parent, &die) != 0)
        return;
    do {
        if (all->left == 0 || all->failed) {
            all->dwarf->file->overfull |= all->left == 0;
            return;
        }
        all->left--;
        switch (dwarf_tag(&die)) {
        case DW_TAG_variable: add_variable(all, &die); break;
        case DW_TAG_namespace:
        case DW_TAG_subprogram:
        case DW_TAG_lexical_block: collect(all, &die, depth + 1); break;
        default: break;
        }
    } while (dwarf_siblingof(&die, &die) == 0);
}

static int by_address(const void *left, const void *right)
{
    const struct names_variable *a = left, *b = right;
    if (a->start != b->start)
        return a->start < b->start ? -1 : 1;
    return a->size > b->size ? -1 : a->size < b->size;
}

static bool collect_all(void *context)
{
    struct collecting *all = context;
    struct names_dwarf *dwarf = all->dwarf;
    for (size_t i = 0; i < dwarf->unit_count && !all->failed; i++)
        collect(all, &dwarf->units[i].die, 0);
    return !all->failed;
}

void pug_names_dwarf_variables(struct names_dwarf *dwarf)
{
    struct collecting all = {.dwarf = dwarf, .left = ENTRIES_MOST};
    if (dwarf->variables_read)
        return;
    dwarf->variables_read = true;
    dwarf->file->names->starved |= !pug_names_guard(dwarf->dwarf, collect_all, &all);
    if (dwarf->variable_count > 0)
        qsort(dwarf->variables, dwarf->variable_count, sizeof(*dwarf->variables), by_address);
}

/* ---- what is at an address ---- */

struct asking {
    struct names_dwarf *dwarf;
    const struct names_variable *found;
    uint64_t address;
    struct pug_names_variable *out;
    struct pug_text name;
};

/** The place of a member; bit fields count as their first byte. */
bool pug_names_die_place(Dwarf_Die *member, uint64_t *offset)
{
    Dwarf_Attribute attribute;
    Dwarf_Word value = 0;
    *offset = 0;
    if (dwarf_attr(member, DW_AT_data_member_location, &attribute) &&
        dwarf_formudata(&attribute, &value) == 0)
        *offset = value;
    else if (dwarf_attr(member, DW_AT_data_bit_offset, &attribute) &&
             dwarf_formudata(&attribute, &value) == 0)
        *offset = value / 8;
    return dwarf_tag(member) == DW_TAG_member || dwarf_tag(member) == DW_TAG_inheritance;
}

/** The member that holds byte *offset, which becomes one of that member. */
static bool enter_member(struct asking *asking, Dwarf_Die *type, uint64_t *offset)
{
    Dwarf_Die member, plain;
    if (dwarf_child(type, &member) != 0)
        return false;
    for (unsigned n = 0; n < MEMBERS_MOST; n++) {
        uint64_t place, size;
        if (pug_names_die_place(&member, &place) && place <= *offset &&
            pug_names_die_type(asking->dwarf, &member, &plain) &&
            pug_names_die_size(asking->dwarf, &plain, 0, &size) && *offset - place < size) {
            const char *name = dwarf_diename(&member);
            if (name && dwarf_tag(&member) == DW_TAG_member) {
                pug_text_put(&asking->name, ".");
                pug_text_put(&asking->name, name);
            }
            *offset -= place;
            *type = member;
            return true;
        }
        if (dwarf_siblingof(&member, &member) != 0)
            return false;
    }
    return false;
}

static bool enter_element(struct asking *asking, Dwarf_Die *type, uint64_t *offset)
{
    Dwarf_Die plain;
    uint64_t size;
    if (!pug_names_die_type(asking->dwarf, type, &plain) ||
        !pug_names_die_size(asking->dwarf, &plain, 0, &size))
        return false;
    pug_text_format(&asking->name, "[%llu]", (unsigned long long)(*offset / size));
    *offset %= size;
    return true; /* `type` is the array, whose type is its elements' */
}

static uint8_t encoding_of(Dwarf_Die *plain)
{
    Dwarf_Attribute attribute;
    Dwarf_Word encoding = 0;
    switch (dwarf_tag(plain)) {
    case DW_TAG_enumeration_type: return PUG_NAMES_ENUM;
    case DW_TAG_pointer_type:
    case DW_TAG_reference_type: return PUG_NAMES_POINTER;
    case DW_TAG_base_type: break;
    default: return PUG_NAMES_NO_ENCODING;
    }
    (void)dwarf_formudata(dwarf_attr(plain, DW_AT_encoding, &attribute), &encoding);
    switch (encoding) {
    case DW_ATE_boolean: return PUG_NAMES_BOOL;
    case DW_ATE_float: return PUG_NAMES_FLOAT;
    case DW_ATE_signed: return PUG_NAMES_SIGNED;
    case DW_ATE_signed_char: return PUG_NAMES_SIGNED_CHAR;
    case DW_ATE_unsigned_char:
    case DW_ATE_UTF: return PUG_NAMES_UNSIGNED_CHAR;
    case DW_ATE_unsigned: return PUG_NAMES_UNSIGNED;
    default: return PUG_NAMES_NO_ENCODING;
    }
}

/** A type in the words of C. */
static void put_type(struct names_dwarf *dwarf, struct pug_text *text, Dwarf_Die *holder,
                     unsigned depth)
{
    Dwarf_Die type;
    if (depth > DEPTH_LIMIT || !type_of(dwarf, holder, &type)) {
        pug_text_put(text, "void");
        return;
    }
    const char *name = dwarf_diename(&type);
    switch (dwarf_tag(&type)) {
    case DW_TAG_const_type: pug_text_put(text, "const "); break;
    case DW_TAG_volatile_type: pug_text_put(text, "volatile "); break;
    case DW_TAG_pointer_type:
        put_type(dwarf, text, &type, depth + 1);
        pug_text_put(text, " *");
        return;
    case DW_TAG_array_type:
        put_type(dwarf, text, &type, depth + 1);
        pug_text_put(text, " []");
        return;
    case DW_TAG_structure_type: pug_text_put(text, name ? "struct " : "struct"); break;
    case DW_TAG_union_type: pug_text_put(text, name ? "union " : "union"); break;
    case DW_TAG_enumeration_type: pug_text_put(text, name ? "enum " : "enum"); break;
    default: break;
    }
    if (name)
        pug_text_put(text, name);
    else if (dwarf_tag(&type) == DW_TAG_const_type || dwarf_tag(&type) == DW_TAG_volatile_type)
        put_type(dwarf, text, &type, depth + 1);
}

static bool describe(void *context)
{
    struct asking *asking = context;
    Dwarf_Die holder = asking->found->die, plain;
    char type[256];
    uint64_t offset = asking->address - asking->found->start, size = 0;
    pug_text_put(&asking->name, asking->found->name);
    for (unsigned depth = 0;
         depth < DEPTH_LIMIT && pug_names_die_type(asking->dwarf, &holder, &plain); depth++) {
        const int tag = dwarf_tag(&plain);
        Dwarf_Die next = plain;
        if (tag == DW_TAG_array_type ? !enter_element(asking, &next, &offset)
            : tag == DW_TAG_structure_type || tag == DW_TAG_class_type || tag == DW_TAG_union_type
                ? !enter_member(asking, &next, &offset)
                : true)
            break;
        holder = next;
    }
    struct pug_text text = PUG_TEXT(type, sizeof(type));
    put_type(asking->dwarf, &text, &holder, 0);
    pug_text_end(&text);
    if (offset > 0)
        pug_text_format(&asking->name, "+%llu", (unsigned long long)offset);
    if (pug_names_die_type(asking->dwarf, &holder, &plain)) {
        (void)pug_names_die_size(asking->dwarf, &plain, 0, &size);
        asking->out->encoding = encoding_of(&plain);
        asking->out->type_die = dwarf_dieoffset(&plain);
    }
    asking->out->size = size;
    asking->out->start = asking->address - offset;
    asking->out->type = pug_names_string(&asking->dwarf->file->names->strings, type);
    return asking->out->type != NULL;
}

/* How far back a variable may begin that holds an address. */
#define LOOK_BACK 16u

static const struct names_variable *variable_at(const struct names_dwarf *dwarf, uint64_t address)
{
    const size_t low =
        pug_bisect_to(dwarf->variables, dwarf->variable_count, sizeof(*dwarf->variables),
                      offsetof(struct names_variable, start), address);
    for (size_t back = 0; back < LOOK_BACK && back < low; back++) {
        const struct names_variable *variable = &dwarf->variables[low - 1 - back];
        if (address - variable->start < variable->size && variable->name)
            return variable;
    }
    return NULL;
}

static bool by_debug_information(struct pug_names_file *file, uint64_t address,
                                 struct pug_names_variable *variable)
{
    struct names_dwarf *dwarf = pug_names_dwarf_of(file);
    char name[512];
    if (!dwarf)
        return false;
    pug_names_dwarf_variables(dwarf);
    struct asking asking = {.dwarf = dwarf,
                            .found = variable_at(dwarf, address),
                            .address = address,
                            .out = variable,
                            .name = PUG_TEXT(name, sizeof(name))};
    if (!asking.found)
        return false;
    *variable = (struct pug_names_variable){.start = address};
    if (!pug_names_guard(dwarf->dwarf, describe, &asking))
        return false;
    pug_text_end(&asking.name);
    variable->name = pug_names_string(&file->names->strings, name);
    return variable->name != NULL;
}

struct enumerating {
    struct names_dwarf *dwarf;
    uint64_t die;
    int64_t value;
    const char *name;
};

static bool find_enumerator(void *context)
{
    struct enumerating *asking = context;
    Dwarf_Die type, item;
    Dwarf_Attribute attribute;
    Dwarf_Sword value;
    if (!dwarf_offdie(asking->dwarf->dwarf, asking->die, &type) || dwarf_child(&type, &item) != 0)
        return true;
    for (unsigned n = 0; n < MEMBERS_MOST; n++) {
        if (dwarf_tag(&item) == DW_TAG_enumerator &&
            dwarf_attr(&item, DW_AT_const_value, &attribute) &&
            dwarf_formsdata(&attribute, &value) == 0 && value == asking->value) {
            asking->name =
                pug_names_string(&asking->dwarf->file->names->strings, dwarf_diename(&item));
            return true;
        }
        if (dwarf_siblingof(&item, &item) != 0)
            return true;
    }
    return true;
}

const char *pug_names_enumerator(struct pug_names_file *file,
                                 const struct pug_names_variable *variable, int64_t value)
{
    struct names_dwarf *dwarf = pug_names_dwarf_of(file);
    struct enumerating asking = {.dwarf = dwarf, .die = variable->type_die, .value = value};
    if (!dwarf || variable->encoding != PUG_NAMES_ENUM ||
        !pug_names_guard(dwarf->dwarf, find_enumerator, &asking))
        return NULL;
    return asking.name;
}

#else

static bool by_debug_information(struct pug_names_file *file, uint64_t address,
                                 struct pug_names_variable *variable)
{
    (void)file;
    (void)address;
    (void)variable;
    return false;
}

const char *pug_names_enumerator(struct pug_names_file *file,
                                 const struct pug_names_variable *variable, int64_t value)
{
    (void)file;
    (void)variable;
    (void)value;
    return NULL;
}

#endif

bool pug_names_variable(struct pug_names_file *file, uint64_t address,
                        struct pug_names_variable *variable)
{
    return file && variable &&
           (by_debug_information(file, address, variable) || by_symbol(file, address, variable));
}

/* ---- names that are near ---- */

static void take_near(const char *candidate, const char *name, const char **nearest,
                      unsigned *least)
{
    const unsigned distance = candidate ? pug_name_distance(name, candidate) : PUG_NAME_FAR;
    if (distance >= *least)
        return;
    *least = distance;
    *nearest = candidate;
}

const char *pug_names_nearest_variable(struct pug_names_file *file, const char *name,
                                       unsigned *distance)
{
    const char *nearest = NULL;
    for (size_t n = 0; n < file->data.count; n++)
        take_near(file->data.items[n].name, name, &nearest, distance);
#ifdef PUG_WITH_DWARF
    struct names_dwarf *dwarf = pug_names_dwarf_of(file);
    if (dwarf)
        pug_names_dwarf_variables(dwarf);
    for (size_t n = 0; dwarf && n < dwarf->variable_count; n++)
        take_near(dwarf->variables[n].name, name, &nearest, distance);
#endif
    return nearest;
}
