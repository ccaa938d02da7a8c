// SPDX-License-Identifier: MIT
/** @file Sections of debug information as bytes, and what units make of their abbreviations. */
#include "names/names.h"

#ifdef PUG_WITH_DWARF

#include "names/tables.h"

#include <dwarf.h>
#include <stdio.h>
#include <string.h>

/* ---- reading ---- */

struct names_cursor pug_names_cursor(const struct names_table *table, uint64_t offset)
{
    const bool good = offset < table->size;
    const uint8_t *end = table->bytes ? table->bytes + table->size : NULL;
    return (struct names_cursor){
        .at = good ? table->bytes + offset : end,
        .end = end,
        .big_endian = table->big_endian,
        .good = good,
    };
}

void pug_names_skip(struct names_cursor *cursor, uint64_t bytes)
{
    if (!cursor->good || bytes > (uint64_t)(cursor->end - cursor->at)) {
        cursor->good = false;
        cursor->at = cursor->end;
        return;
    }
    cursor->at += bytes;
}

uint64_t pug_names_take_number(struct names_cursor *cursor, unsigned bytes)
{
    const uint8_t *at = cursor->at;
    uint64_t value = 0;
    pug_names_skip(cursor, bytes);
    for (unsigned i = 0; cursor->good && i < bytes; i++)
        value |= (uint64_t)at[i] << 8 * (cursor->big_endian ? bytes - 1 - i : i);
    return value;
}

uint64_t pug_names_take_uleb(struct names_cursor *cursor)
{
    uint64_t value = 0;
    for (unsigned shift = 0; cursor->at < cursor->end; shift += 7) {
        const uint8_t byte = *cursor->at++;
        if (shift < 64)
            value |= (uint64_t)(byte & 0x7f) << shift;
        if (byte < 0x80)
            return value;
    }
    cursor->good = false;
    return 0;
}

uint64_t pug_names_take_text(struct names_cursor *cursor)
{
    const uint8_t *from = cursor->at;
    const uint8_t *end =
        cursor->at < cursor->end ? memchr(from, 0, (size_t)(cursor->end - from)) : NULL;
    if (!end) {
        cursor->good = false;
        cursor->at = cursor->end;
        return 0;
    }
    cursor->at = end + 1;
    return (uint64_t)(end - from);
}

/* ---- sections ---- */

static bool is_named(const char *own, const char *name)
{
    const bool packed = strncmp(own, ".zdebug_", 8) == 0;
    const size_t length = strlen(name), start = packed ? 8 : 7;
    return (packed || strncmp(own, ".debug_", 7) == 0) && strncmp(own + start, name, length) == 0 &&
           (own[start + length] == 0 || strcmp(own + start + length, ".dwo") == 0);
}

static void unpack_section(Elf_Scn *section, const GElf_Shdr *header, const char *name)
{
    if (header->sh_flags & SHF_COMPRESSED)
        (void)elf_compress(section, 0, 0);
    else if (name[1] == 'z')
        (void)elf_compress_gnu(section, 0, 0);
}

struct names_table pug_names_table(Elf *elf, const char *name, bool unpack)
{
    struct names_table table = {.size = 0};
    GElf_Ehdr file;
    GElf_Shdr header;
    Elf_Scn *section = NULL;
    size_t names;
    if (!elf || elf_getshdrstrndx(elf, &names) != 0 || !gelf_getehdr(elf, &file))
        return table;
    while ((section = elf_nextscn(elf, section)) != NULL) {
        const char *own =
            gelf_getshdr(section, &header) ? elf_strptr(elf, names, header.sh_name) : NULL;
        if (!own || header.sh_type == SHT_NOBITS || !is_named(own, name))
            continue;
        if (unpack)
            unpack_section(section, &header, own);
        const Elf_Data *data = elf_rawdata(section, NULL);
        if (!data || !data->d_buf)
            continue;
        table = (struct names_table){.bytes = data->d_buf,
                                     .size = data->d_size,
                                     .big_endian = file.e_ident[EI_DATA] == ELFDATA2MSB};
        break;
    }
    return table;
}

/* ---- abbreviations ---- */

/** How long the table is that begins there: entries of code, tag, children, pairs, up to code 0. */
static uint64_t length_of(const struct names_table *table, uint64_t offset)
{
    struct names_cursor cursor = pug_names_cursor(table, offset);
    while (cursor.good && pug_names_take_uleb(&cursor) != 0) {
        uint64_t name, form;
        (void)pug_names_take_uleb(&cursor);
        pug_names_skip(&cursor, 1);
        do {
            name = pug_names_take_uleb(&cursor);
            form = pug_names_take_uleb(&cursor);
            if (form == DW_FORM_implicit_const)
                (void)pug_names_take_uleb(&cursor);
        } while (cursor.good && (name != 0 || form != 0));
    }
    return offset < table->size ? (uint64_t)(cursor.at - table->bytes) - offset : 0;
}

/** The place of a unit's table; the cursor moves past the unit. */
static uint64_t abbreviations_of(struct names_cursor *cursor)
{
    uint64_t length = pug_names_take_number(cursor, 4);
    unsigned width = 4;
    if (length == UINT32_MAX) {
        length = pug_names_take_number(cursor, 8);
        width = 8;
    }
    const uint8_t *start = cursor->at;
    const uint64_t version = pug_names_take_number(cursor, 2);
    if (version >= 5)
        pug_names_skip(cursor, 2);
    const uint64_t offset = pug_names_take_number(cursor, width);
    if (cursor->good && length <= (uint64_t)(cursor->end - start))
        cursor->at = start + length;
    else
        cursor->good = false;
    return offset;
}

static bool units_fit(const struct names_table *units, const struct names_table *abbreviations,
                      uint64_t *left)
{
    uint64_t last = UINT64_MAX, length = 0;
    struct names_cursor cursor = pug_names_cursor(units, 0);
    while (cursor.good && cursor.at < cursor.end) {
        const uint64_t offset = abbreviations_of(&cursor);
        if (offset != last)
            length = length_of(abbreviations, last = offset);
        if (length > *left)
            return false;
        *left -= length;
    }
    return true;
}

bool pug_names_abbreviations_fit(Elf *elf, uint64_t most)
{
    const struct names_table abbreviations = pug_names_table(elf, "abbrev", true),
                             units = pug_names_table(elf, "info", true),
                             types = pug_names_table(elf, "types", true);
    return units_fit(&units, &abbreviations, &most) && units_fit(&types, &abbreviations, &most);
}

#endif
