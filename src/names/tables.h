// SPDX-License-Identifier: MIT
/** @file How much libdw would make of tables that a few bytes may name again and again. */
#ifndef PUG_NAMES_TABLES_H
#define PUG_NAMES_TABLES_H

#include "names/names.h"

#include <gelf.h>
#include <stddef.h>
#include <stdint.h>

struct names_dwarf;

/** A section of debug information; `size` 0: there is none. */
struct names_table {
    const uint8_t *bytes;
    size_t size;
    bool big_endian;
};

/** The bytes that come next in a table. `good` turns false where they end too early. */
struct names_cursor {
    const uint8_t *at, *end;
    bool big_endian, good;
};

struct names_cursor pug_names_cursor(const struct names_table *table, uint64_t offset);
uint64_t pug_names_take_number(struct names_cursor *cursor, unsigned bytes);
uint64_t pug_names_take_uleb(struct names_cursor *cursor);
void pug_names_skip(struct names_cursor *cursor, uint64_t bytes);
/** Returns the length of the text at the cursor, and moves past it. */
uint64_t pug_names_take_text(struct names_cursor *cursor);

/**
 * Finds ".debug_NAME", ".debug_NAME.dwo" or ".zdebug_NAME"; with `unpack` it is unpacked in this
 * handle if libdw did not do that.
 */
struct names_table pug_names_table(Elf *elf, const char *name, bool unpack);

/** Are all units' tables of abbreviations together at most so many bytes? libdw keeps one each. */
bool pug_names_abbreviations_fit(Elf *elf, uint64_t most);

#endif
