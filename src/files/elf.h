// SPDX-License-Identifier: MIT
/**
 * @file ELF files by the names of libelf: libelf's own where the build has it, and else the same
 * names for our reader, for what of them Pugmark uses.
 */
#ifndef PUG_FILES_ELF_H
#define PUG_FILES_ELF_H

#ifdef PUG_WITH_ELF

#include <gelf.h>

#else

#include "files/elf_reader.h"

#if __has_include(<elf.h>)
#include <elf.h>
#else
enum { EI_CLASS = 4, ELFCLASS64 = 2, EV_NONE = 0, EV_CURRENT = 1, ET_REL = 1 };
enum { EM_ARM = 40, EM_AARCH64 = 183, EM_RISCV = 243 };
enum { PT_LOAD = 1, PT_NOTE = 4, PF_X = 1, NT_GNU_BUILD_ID = 3 };
enum { SHN_UNDEF = 0, SHN_LORESERVE = 0xff00, SHF_ALLOC = 2, SHF_EXECINSTR = 4 };
enum { SHT_PROGBITS = 1, SHT_SYMTAB = 2, SHT_RELA = 4, SHT_REL = 9, SHT_DYNSYM = 11 };
enum { STB_LOCAL = 0, STB_GLOBAL = 1, STB_WEAK = 2 };
enum { STT_NOTYPE = 0, STT_OBJECT = 1, STT_FUNC = 2, STT_GNU_IFUNC = 10 };
#endif

typedef struct pug_elf Elf;
typedef struct pug_elf_section Elf_Scn;
typedef struct pug_elf_data Elf_Data;
typedef struct pug_elf_header GElf_Ehdr;
typedef struct pug_elf_program_header GElf_Phdr;
typedef struct pug_elf_section_header GElf_Shdr;
typedef struct pug_elf_symbol GElf_Sym;
typedef struct pug_elf_relocation GElf_Rel, GElf_Rela;
typedef struct pug_elf_note GElf_Nhdr;

#define ELF_C_READ             0
#define ELF_K_ELF              1
#define ELF_T_NHDR             PUG_ELF_NOTES_4
#define ELF_T_NHDR8            PUG_ELF_NOTES_8
#define GELF_ST_TYPE(info)     ((info)&0xf)
#define GELF_ST_BIND(info)     ((info) >> 4)
#define GELF_R_SYM(info)       ((info) >> 32)
#define elf_version(version)   ((unsigned)(version))
#define elf_begin(file, c, of) ((void)(c), (void)(of), pug_elf_open(file))
#define elf_kind(elf)          ((elf) ? ELF_K_ELF : 0)
#define elf_end                pug_elf_close
#define elf_getphdrnum         pug_elf_segment_count
#define elf_getscn             pug_elf_section
#define elf_nextscn            pug_elf_next_section
#define elf_getdata            pug_elf_section_data
#define elf_getdata_rawchunk   pug_elf_bytes
#define elf_getshdrstrndx      pug_elf_names_section
#define elf_strptr             pug_elf_string
#define gelf_getehdr           pug_elf_header
#define gelf_getphdr           pug_elf_segment
#define gelf_getshdr           pug_elf_section_header
#define gelf_getsym            pug_elf_symbol
#define gelf_getrel            pug_elf_rel
#define gelf_getrela           pug_elf_rela
#define gelf_getnote           pug_elf_note

#endif

#endif
