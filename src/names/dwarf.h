// SPDX-License-Identifier: MIT
/** @file Lines and scopes of compile units, read when they are first needed, and given up again. */
#ifndef PUG_NAMES_DWARF_H
#define PUG_NAMES_DWARF_H

#include "names/names.h"
#include "names/tables.h"

#include <elfutils/libdw.h>

/** Source lines: a row holds up to the next one's start. */
struct names_row {
    uint64_t start;
    const char *path; /* NULL: no code, from here to the next row */
    uint32_t line, discriminator;
};

/** A function, or an inlined one, of a unit. */
struct names_scope {
    const char *name;
    const char *declared_path, *call_path;
    uint32_t declared, call_line, call_discriminator;
    uint32_t parent; /* UINT32_MAX: it is no inlined one */
};

/** From `start` on up to the next piece this is the innermost scope. */
struct names_piece {
    uint64_t start;
    uint32_t scope; /* UINT32_MAX: none */
};

struct names_unit {
    Dwarf_Die die;        /* with the code: of a split unit that of the .dwo file */
    Dwarf_Die main;       /* with the lines */
    bool loaded, counted; /* it was loaded once */
    struct names_row *rows;
    struct names_scope *scopes;
    struct names_piece *pieces;
    size_t row_count, scope_count, piece_count;
    void *scratch; /* while it is read */
    size_t bytes;
    uint64_t used; /* when it was last asked */
};

/** The code range of a unit. */
struct names_extent {
    uint64_t start, end;
    uint32_t unit;
};

/** A line table that was looked at. */
struct names_line_table {
    uint64_t offset;
    bool fits;
};

/** A variable that has one address all the time. */
struct names_variable {
    uint64_t start, size;
    const char *name;
    Dwarf_Die die;
};

struct names_dwarf {
    struct pug_names_file *file;
    Dwarf *dwarf;
    uint64_t bias;
    struct names_unit *units;
    size_t unit_count;
    struct names_extent *extents; /* by start */
    size_t extent_count, extent_room;
    struct names_variable *variables; /* by start */
    size_t variable_count;
    bool variables_read;
    uint64_t type_steps;                  /* from entries to their types */
    uint64_t left;                        /* see pug_names_dwarf_take() */
    uint64_t paths_left;                  /* bytes of paths that libdw may yet write */
    struct names_line_table *line_tables; /* by offset */
    size_t line_table_count;
    Dwarf *lists_of;                 /* whose these are */
    struct names_table lists, pairs; /* of ranges: from DWARF 5 on, and before */
};

/* guard.c: libdw where memory ends */
/**
 * Work that asks libdw. False: it answered so, or there was no memory, whatever libdw made of that.
 * Such work may be left in the middle: it keeps nothing that its context does not have.
 */
bool pug_names_guard(Dwarf *dwarf, bool (*work)(void *context), void *context);
/** Within such work: have another file's end in the same way. */
void pug_names_guard_also(Dwarf *dwarf);
/** Within such work: is there memory for what libdw does not look whether it got it? */
bool pug_names_guard_room(void);

/* units.c */
/**
 * Reads a unit's lines and scopes, unless they are there. They stay until another unit needs their
 * room. False: no memory.
 */
bool pug_names_unit_load(struct names_dwarf *dwarf, struct names_unit *unit);
/**
 * Lines, ranges and entries that are read of a file, each unit's once: a megabyte can say terabytes
 * of them, as each unit may have the same. False: that is more than its size lets expect, and the
 * rest of it is left out (pug_names_left_out()).
 */
bool pug_names_dwarf_take(struct names_dwarf *dwarf, struct names_unit *unit, size_t count);

/* variables.c: of entries, within pug_names_guard() */
/** The type of an entry without typedefs and qualifiers. */
bool pug_names_die_type(struct names_dwarf *dwarf, Dwarf_Die *die, Dwarf_Die *type);
/** Bytes of such a type; false: it does not say, or more than there can be. `depth` is 0. */
bool pug_names_die_size(struct names_dwarf *dwarf, Dwarf_Die *plain, unsigned depth,
                        uint64_t *size);
/** Where a member is; bit fields count as their first byte. False: the entry is no member. */
bool pug_names_die_place(Dwarf_Die *member, uint64_t *offset);
/** The variables of a file, read when they are first asked for. */
void pug_names_dwarf_variables(struct names_dwarf *dwarf);
/* line_header.c */
/**
 * Ask before libdw reads a unit's line table: it writes the path of each of its files. False: they
 * are longer than the file lets expect, and its lines are left out.
 */
bool pug_names_files_fit(struct names_dwarf *dwarf, Dwarf_Die *unit);
/** Ask before libdw reads an entry's ranges: it goes over all that are none. Counted as taken. */
bool pug_names_ranges_fit(struct names_dwarf *dwarf, struct names_unit *unit, Dwarf_Die *die);

/* rows.c */
bool pug_names_rows_load(struct names_dwarf *dwarf, struct names_unit *unit);
/* scopes.c */
bool pug_names_scopes_load(struct names_dwarf *dwarf, struct names_unit *unit);

/** A source's path: absolute where the unit's folder is known; kept with the names. */
const char *pug_names_source_path(struct names_dwarf *dwarf, struct names_unit *unit,
                                  const char *path);

#endif
