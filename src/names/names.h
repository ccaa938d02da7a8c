// SPDX-License-Identifier: MIT
/** @file What the files of the names room share. */
#ifndef PUG_NAMES_NAMES_H
#define PUG_NAMES_NAMES_H

#include "base/text.h"
#include "pugmark/names.h"

/** Texts that live as long as the names. Equal texts are one. */
struct names_strings {
    char **slots;
    size_t count, slot_count;
    size_t long_ones; /* bytes of long texts */
    bool starved;
};

/** The text's own copy, of at most PUG_NAME_MOST bytes; NULL: no memory, or no text. */
const char *pug_names_string(struct names_strings *strings, const char *text);
void pug_names_strings_free(struct names_strings *strings);

struct names_symbol {
    uint64_t start, end;
    const char *name;
    uint8_t binding;
    bool label;
};

/** Symbols by start. */
struct names_symbols {
    struct names_symbol *items;
    size_t count, room;
};

bool pug_names_symbols_add(struct names_symbols *symbols, const struct names_symbol *symbol);
/** Sort; of several at one place the best is kept, labels end at the next symbol. */
void pug_names_symbols_finish(struct names_symbols *symbols);
const struct names_symbol *pug_names_symbols_find(const struct names_symbols *symbols,
                                                  uint64_t address);
/** From a text, as `wanted` says; false: no memory. */
bool pug_names_symbols_text(struct names_symbols *symbols, struct names_strings *strings,
                            const struct pug_names_symbols *wanted, const char *text);

struct names_elf;   /* elf.c: an open file, and what libdw has of it */
struct names_dwarf; /* units.c: lines and scopes of compile units */

struct pug_names_file {
    struct pug_names *names;
    struct pug_names_file *next;
    char *wanted; /* the path it was asked for by */
    uint8_t wanted_id[64];
    size_t wanted_id_size;
    char *path; /* NULL: a text */
    char *text; /* the file of a text whose symbols are all here, as they stand there; or NULL */
    enum pug_names_text text_kind; /* how it looks */
    bool shared;                   /* the symbols are another file's, which has the same text */
    char *debug;                   /* where its debug information is said to be, or NULL */
    struct names_symbols symbols;
    struct names_symbols data; /* variables */
    struct pug_names_segment *segments;
    size_t segment_count;
    uint8_t build_id[64];
    size_t build_id_size;
    uint16_t machine;
    bool relocatable;     /* a kernel module: its sections have no addresses */
    uint64_t text_offset; /* of one: where .text is in the file, which counts as 0 */
    struct pug_names_code *code;
    size_t code_count;
    struct names_elf *elf;
    struct names_dwarf *dwarf;
    bool dwarf_read;
    bool too_large; /* debug information that would become too large is left out */
    bool overfull;  /* units of it say too much: see pug_names_dwarf_take() */
};

/** A name as it was asked for, one pointer for equal ones, and how people write it. */
struct names_readable {
    const char *name, *readable;
};

/** A file that was looked for and not found, or is none. */
struct names_missing {
    struct names_missing *next;
    char *path, *file; /* as it was wanted; `file` may be NULL */
    uint8_t id[64];
    size_t id_size;
    bool text;
    enum pug_status status; /* what that was */
};

struct pug_names {
    struct pug_names_file *files;
    struct pug_names_file *last;   /* that was asked for; NULL: look at all */
    struct names_missing *missing; /* those that were asked for last come first */
    struct names_strings strings;
    char *symfs;
    char **symdirs, **debug_dirs;
    size_t symdir_count, debug_dir_count;
    size_t limit, used; /* bytes of units */
    struct names_readable *readable;
    size_t readable_count, readable_room; /* slots; a power of two */
    uint64_t clock;                       /* counts uses, to find the least recently used */
    bool starved;                         /* there was no memory for something */
    struct pug_read_failure unread;       /* the first file that could not be read; or PUG_OK */
};

/* elf.c; without libdw there is no debug information */
/** Open a file; PUG_ERR_FILE also if it has another build id than the wanted one. */
enum pug_status pug_names_elf_open(struct pug_names_file *file, const char *path);
void pug_names_elf_close(struct names_elf *elf);
/** Its debug information, a Dwarf of libdw; what is to be added to its addresses. NULL: none. */
void *pug_names_elf_dwarf(struct names_elf *elf, uint64_t *bias);

/* separate.c */
/**
 * A regular file with the debug information of `path`, open for reading, or -1: by build id, then
 * by the link's name beside it, in its folder .debug, and below the debug folders. *found is its
 * path, to be freed.
 */
int pug_names_separate(const struct pug_names *names, const char *path, const uint8_t *build_id,
                       size_t build_id_size, const char *link, uint32_t checksum, char **found);
/** Open what is a regular file, or is packed or stored in one; -1: it is none. */
int pug_names_open_regular(const char *path);

/* variables.c */
/** Add a data symbol of a file; false: no memory. */
bool pug_names_data_symbol(struct pug_names_file *file, uint64_t start, uint64_t size,
                           const char *name);
/**
 * The variable whose name is nearer to `name` than `*distance`, by debug information or symbol;
 * *distance is how near then (pug_name_distance()). NULL: none is.
 */
const char *pug_names_nearest_variable(struct pug_names_file *file, const char *name,
                                       unsigned *distance);

/* layout.c: where members are, by name */
/** A variable or a member of one, or a member of a type. */
struct names_place {
    uint64_t at;   /**< its address; of a type's member: the offset in it */
    uint64_t size; /**< 0: not known */
    bool is_array, is_pointer;
};
/**
 * The variable of a path, as "kernel.cpus[0].current", by debug information; of a name alone also
 * by symbol. False: it is not known.
 */
bool pug_names_place_of(struct pug_names_file *file, const char *path, struct names_place *place);
/** A member ("list.next") of a type by its name, with or without "struct". False: not known. */
bool pug_names_member_of(struct pug_names_file *file, const char *type, const char *member,
                         struct names_place *place);

/* statements.c */
/** A row of the line table: it holds up to the next one. */
struct names_statement {
    uint64_t at;
    uint32_t line, column; /* 0: compiled, but from no line; the table has no columns */
    uint32_t order;        /* in the table */
    bool begins;           /* a statement does */
    bool ends;             /* no code, from here on */
    bool body; /* the code that enters a function ends before it, as the compiler says */
};
struct names_statements {
    struct names_statement *items; /* by address; free() them */
    size_t count;
};
/** All rows of a file; none where it has no line table. False: no memory. */
bool pug_names_statements_of(struct pug_names_file *file, struct names_statements *statements);

/** names.c: the debug information of a file, read when it is first asked for; NULL: none. */
struct names_dwarf *pug_names_dwarf_of(struct pug_names_file *file);

/* units.c; without libdw these find nothing */
/** The unit tables of a file, or NULL. */
struct names_dwarf *pug_names_dwarf_new(struct pug_names_file *file);
void pug_names_dwarf_free(struct names_dwarf *dwarf);
bool pug_names_dwarf_line(struct names_dwarf *dwarf, uint64_t vaddr, struct pug_names_line *line);
size_t pug_names_dwarf_frames(struct names_dwarf *dwarf, uint64_t vaddr,
                              struct pug_names_frame *frames, size_t room);
enum pug_status pug_names_dwarf_lines(struct names_dwarf *dwarf,
                                      bool (*take)(void *, const struct pug_names_line *),
                                      void *context);

#endif
