// SPDX-License-Identifier: MIT
/**
 * @file The text of one object: an ELF file's bytes by file offset or by address, or a module as it
 * lies in the kernel's memory. Reads headers only as far as decoding needs them, and needs no
 * library for it.
 */
#ifndef PUG_PERFDATA_PROGRAM_H
#define PUG_PERFDATA_PROGRAM_H

#include "image/file.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { PUG_PERF_EM_ARM = 40, PUG_PERF_EM_AARCH64 = 183 };

struct pug_perf_segment {
    uint64_t vaddr, offset, size; /**< size: in the file */
    bool executable;
};

struct pug_perf_section {
    const char *name;
    uint32_t type, link, info;
    uint64_t flags, offset, size, entry;
    uint64_t vaddr; /**< of a relocatable file: the distance from its .text */
};

/** Memory that was made of a file: a relocated section of a module. */
struct pug_perf_placed {
    uint64_t address;
    uint64_t vaddr; /**< of its first byte, as the file's own symbols count */
    uint8_t *bytes;
    size_t size;
    uint64_t *holes; /**< offsets of instructions of which nothing is known, ascending */
    size_t hole_count;
};

struct pug_perf_program {
    struct pug_file *file;
    atomic_bool *starved; /**< set when memory runs out, for the one that opened it */
    bool is64, relocatable, core;
    uint16_t machine;
    struct pug_perf_segment *segments;
    size_t segment_count;
    struct pug_perf_section *sections;
    size_t section_count;
    char *names; /**< of sections */
    uint8_t build_id[20];
    uint8_t build_id_size;
    bool has_text;                  /**< it has executable bytes, not only debug information */
    uint64_t slide;                 /**< kernel: added to addresses of the file */
    struct pug_perf_placed *placed; /**< modules */
    size_t placed_count;
};

/**
 * A file, one that was packed, or one in an archive (files/packed.h). PUG_ERR_FILE: no file;
 * PUG_ERR_FORMAT: no ELF file, or a damaged one; PUG_ERR_LIMIT; PUG_ERR_MEM. *starved: there was no
 * memory for it, or later for something of it.
 */
enum pug_status pug_perf_program_open(const char *path, atomic_bool *starved,
                                      struct pug_perf_program **program);
void pug_perf_program_free(struct pug_perf_program *program);

/** Where the bytes at a file offset are; *size: how many there are in one piece. NULL: none. */
const uint8_t *pug_perf_program_at(const struct pug_perf_program *program, uint64_t offset,
                                   uint64_t *size);
/** The same by the file's own addresses. */
const uint8_t *pug_perf_program_at_vaddr(const struct pug_perf_program *program, uint64_t vaddr,
                                         uint64_t *size);
/** The same by addresses in memory, of what was placed there. */
const uint8_t *pug_perf_program_placed(const struct pug_perf_program *program, uint64_t address,
                                       uint64_t *size);

/** The address that the file gives to a file offset; false: no segment has it. */
bool pug_perf_program_vaddr(const struct pug_perf_program *program, uint64_t offset,
                            uint64_t *vaddr);
bool pug_perf_program_offset(const struct pug_perf_program *program, uint64_t vaddr,
                             uint64_t *offset);

/** A section by its name, or NULL. */
const struct pug_perf_section *pug_perf_program_section(const struct pug_perf_program *program,
                                                        const char *name);

/** A section's bytes, malloc()ed; NULL: it has none, or they are not all there. */
uint8_t *pug_perf_program_load(const struct pug_perf_program *program,
                               const struct pug_perf_section *section);

struct pug_perf_elf_symbol {
    const char *name;
    uint64_t value;
    uint32_t section; /**< its number; 0: undefined */
    bool section_itself;
};

/** The symbol table, read; symbols by their numbers. */
struct pug_perf_symbols {
    uint8_t *entries;
    size_t count, entry;
    char *names;
    size_t names_size;
    bool is64;
};

bool pug_perf_symbols_load(const struct pug_perf_program *program,
                           struct pug_perf_symbols *symbols);
void pug_perf_symbols_free(struct pug_perf_symbols *symbols);
/** False: there is none of this number. */
bool pug_perf_symbol_at(const struct pug_perf_symbols *symbols, size_t n,
                        struct pug_perf_elf_symbol *symbol);
/** The value of a symbol by its name; false: it has none. */
bool pug_perf_program_symbol(const struct pug_perf_program *program, const char *name,
                             uint64_t *value);

#endif
