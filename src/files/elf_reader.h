// SPDX-License-Identifier: MIT
/**
 * @file A small reader of ELF files, for builds without libelf: headers, sections, symbols,
 * relocations and notes.
 *
 * It reads both classes and both byte orders. Every offset is checked against the file. The
 * sections that are loaded have at most twice as many bytes as the file, however many sections
 * share them. files/elf.h gives these functions the names that libelf has.
 */
#ifndef PUG_FILES_ELF_READER_H
#define PUG_FILES_ELF_READER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** An open file. */
struct pug_elf;
/** A section of it. */
struct pug_elf_section;

/* The structures have the fields of <elf.h> that Pugmark reads, in the width of the 64-bit class.
 */

struct pug_elf_header {
    unsigned char e_ident[16];
    uint16_t e_type, e_machine;
};

struct pug_elf_program_header {
    uint32_t p_type, p_flags;
    uint64_t p_offset, p_vaddr, p_filesz, p_memsz, p_align;
};

struct pug_elf_section_header {
    uint32_t sh_name, sh_type, sh_link, sh_info;
    uint64_t sh_flags, sh_addr, sh_offset, sh_size, sh_entsize;
};

struct pug_elf_symbol {
    uint32_t st_name;
    unsigned char st_info, st_other;
    uint16_t st_shndx;
    uint64_t st_value, st_size;
};

struct pug_elf_relocation {
    uint64_t r_offset;
    uint64_t r_info; /**< the symbol's number in the upper 32 bits */
};

struct pug_elf_note {
    uint32_t n_namesz, n_descsz, n_type;
};

/** Bytes of a file. They live as long as the file is open. */
struct pug_elf_data {
    void *d_buf; /**< NULL where the file has no bytes of a section */
    size_t d_size;
    const struct pug_elf *elf;
    unsigned align; /**< of notes */
};

/** How bytes are read. */
enum pug_elf_chunk { PUG_ELF_NOTES_4, PUG_ELF_NOTES_8 };

/**
 * Opens what a descriptor has open. The descriptor stays the caller's. NULL: it is no ELF file, or
 * it cannot be read; errno is ENOMEM if there was no memory.
 */
struct pug_elf *pug_elf_open(int descriptor);
void pug_elf_close(struct pug_elf *elf); /**< may be NULL */

struct pug_elf_header *pug_elf_header(const struct pug_elf *elf, struct pug_elf_header *header);

/** Sets how many program headers the file has. -1: their table is not in the file. */
int pug_elf_segment_count(const struct pug_elf *elf, size_t *count);
/** NULL: no such segment. */
struct pug_elf_program_header *pug_elf_segment(const struct pug_elf *elf, int number,
                                               struct pug_elf_program_header *header);

/** Section `number`; NULL: the file does not have it. */
struct pug_elf_section *pug_elf_section(struct pug_elf *elf, size_t number);
/** The next section; after NULL comes section 1. NULL after the last one. */
struct pug_elf_section *pug_elf_next_section(struct pug_elf *elf,
                                             const struct pug_elf_section *section);
struct pug_elf_section_header *pug_elf_section_header(const struct pug_elf_section *section,
                                                      struct pug_elf_section_header *header);
/** Sets the number of the section with the names of sections. -1: the file has none. */
int pug_elf_names_section(const struct pug_elf *elf, size_t *number);

/**
 * The bytes of a section, read when they are first asked for. `before` is NULL. NULL: the section
 * is not within the file, or the file's sections have too many bytes in all, or there is no memory
 * (errno).
 */
struct pug_elf_data *pug_elf_section_data(struct pug_elf_section *section,
                                          const struct pug_elf_data *before);
/** Bytes of the file, to be read as `type`; NULL as with sections. */
struct pug_elf_data *pug_elf_bytes(struct pug_elf *elf, int64_t offset, size_t size,
                                   enum pug_elf_chunk type);

/** Entry `number` of a table; NULL: the table ends before. */
struct pug_elf_symbol *pug_elf_symbol(const struct pug_elf_data *data, int number,
                                      struct pug_elf_symbol *symbol);
struct pug_elf_relocation *pug_elf_rel(const struct pug_elf_data *data, int number,
                                       struct pug_elf_relocation *relocation);
struct pug_elf_relocation *pug_elf_rela(const struct pug_elf_data *data, int number,
                                        struct pug_elf_relocation *relocation);

/**
 * Reads the note at `offset`, and sets where its name and description are. Returns the offset of
 * the next note, or 0 where no whole note follows.
 */
size_t pug_elf_note(const struct pug_elf_data *data, size_t offset, struct pug_elf_note *note,
                    size_t *name, size_t *description);

/** A text of a section of strings, which ends within it; NULL: the section has no such text. */
char *pug_elf_string(struct pug_elf *elf, size_t section, size_t offset);

#endif
