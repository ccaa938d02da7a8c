// SPDX-License-Identifier: MIT
/** @file Executable files, for those of the room that read ELF files and know libdw. */
#ifndef PUG_NAMES_ELF_H
#define PUG_NAMES_ELF_H

#include "files/elf.h"
#include "names/names.h"

struct names_elf {
    int file;
    Elf *elf;
    void *dwfl, *module; /* of libdw: a Dwfl and its one Dwfl_Module */
};

/** Called for each symbol; false ends it. */
typedef bool pug_names_symbol_fn(void *context, Elf *elf, const GElf_Sym *symbol, const char *name);

/** The symbols of the best table of a file; false where `take` was. */
bool pug_names_elf_each_symbol(Elf *elf, pug_names_symbol_fn *take, void *context);

/** Add a symbol, if it is a function or a label in code; false: no memory. */
bool pug_names_elf_symbol(struct pug_names_file *file, Elf *elf, const GElf_Sym *symbol,
                          const char *name);

/* bounded.c */
enum pug_names_bound {
    PUG_NAMES_FITS,
    PUG_NAMES_TOO_LARGE,
    PUG_NAMES_UNCLEAR, /**< no ELF file, or it cannot be read, or there was no memory */
};
/** Does little enough come of what is packed in a file for libdw to unpack it? */
enum pug_names_bound pug_names_file_bound(int file);

/* dwfl.c */
/** Open with libdw, and take the symbols that it finds; false: no memory. */
bool pug_names_dwfl_open(struct pug_names_file *file, struct names_elf *elf);
void pug_names_dwfl_close(struct names_elf *elf);

#endif
