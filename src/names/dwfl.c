// SPDX-License-Identifier: MIT
/**
 * @file Files through libdw: it finds symbols also where they are compressed or in another file.
 */
#include "names/names.h"

#ifdef PUG_WITH_DWARF

#include "names/elf.h"

#include <elfutils/libdwfl.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* libdw's own search would ask a server; this one looks where the options say. */
static int find_debuginfo(Dwfl_Module *module, void **user, const char *name, Dwarf_Addr base,
                          const char *path, const char *link, GElf_Word checksum, char **found)
{
    const unsigned char *id;
    GElf_Addr where;
    struct pug_names_file *file = *user;
    file->names->starved |= errno == ENOMEM; /* the search for files sets it again */
    (void)name;
    (void)base;
    int opened = file->debug ? pug_names_open_regular(file->debug) : -1;
    if (opened >= 0) {
        *found = strdup(file->debug);
    } else {
        int size = dwfl_module_build_id(module, &id, &where);
        opened = pug_names_separate(file->names, path ? path : file->path, id,
                                    size > 0 ? (size_t)size : 0, link, checksum, found);
    }
    const enum pug_names_bound bound = opened < 0 ? PUG_NAMES_FITS : pug_names_file_bound(opened);
    if (bound == PUG_NAMES_FITS)
        return opened;
    file->too_large |= bound == PUG_NAMES_TOO_LARGE;
    close(opened);
    free(*found);
    *found = NULL;
    return -1;
}

static const Dwfl_Callbacks callbacks = {
    .find_debuginfo = find_debuginfo,
    .section_address = dwfl_offline_section_address,
};

/* Addresses of the module are those of the file, moved. */
static uint64_t bias_of(Dwfl_Module *module)
{
    GElf_Addr bias = 0;
    dwfl_module_getelf(module, &bias);
    return bias;
}

/* What is taken from addresses of its debug information: also where it laid out a kernel module. */
static uint64_t base_of(Dwfl_Module *module)
{
    GElf_Addr bias;
    GElf_Ehdr file;
    GElf_Shdr header;
    size_t names;
    Elf *elf = dwfl_module_getelf(module, &bias);
    Elf_Scn *section = NULL;
    if (!elf || !gelf_getehdr(elf, &file) || file.e_type != ET_REL)
        return bias_of(module);
    while ((section = elf_nextscn(elf, section)) != NULL) {
        const char *name = gelf_getshdr(section, &header) && elf_getshdrstrndx(elf, &names) == 0
                               ? elf_strptr(elf, names, header.sh_name)
                               : NULL;
        if (name && strcmp(name, ".text") == 0)
            return bias + header.sh_addr;
    }
    return bias;
}

static bool take_symbols(struct pug_names_file *file, Dwfl_Module *module)
{
    const int count = dwfl_module_getsymtab(module);
    const uint64_t bias = bias_of(module);
    for (int i = 1; i < count; i++) {
        GElf_Sym symbol;
        GElf_Addr address, moved;
        GElf_Word section;
        Elf *elf;
        const char *name =
            dwfl_module_getsym_info(module, i, &symbol, &address, &section, &elf, &moved);
        if (!name || !elf)
            continue;
        if (!file->relocatable)
            symbol.st_value = address - bias;
        if (!pug_names_elf_symbol(file, elf, &symbol, name))
            return false;
    }
    return true;
}

bool pug_names_dwfl_open(struct pug_names_file *file, struct names_elf *elf)
{
    /* Of a handle of its own: libelf leaks what it converts of one whose sections were asked so. */
    const enum pug_names_bound bound = pug_names_file_bound(elf->file);
    file->too_large = bound == PUG_NAMES_TOO_LARGE;
    Dwfl *dwfl = bound == PUG_NAMES_FITS ? dwfl_begin(&callbacks) : NULL;
    file->names->starved |= bound == PUG_NAMES_FITS && !dwfl;
    const int descriptor = dwfl ? dup(elf->file) : -1;
    if (descriptor < 0) {
        if (dwfl)
            dwfl_end(dwfl);
        return true; /* the symbols of libelf will do */
    }
    dwfl_report_begin(dwfl);
    Dwfl_Module *module = dwfl_report_offline(dwfl, file->path, file->path, descriptor);
    if (!module)
        close(descriptor);
    dwfl_report_end(dwfl, NULL, NULL);
    elf->dwfl = dwfl;
    elf->module = module;
    if (!module)
        return true;
    void **user;
    dwfl_module_info(module, &user, NULL, NULL, NULL, NULL, NULL, NULL);
    *user = file;
    return take_symbols(file, module);
}

void pug_names_dwfl_close(struct names_elf *elf)
{
    if (elf->dwfl)
        dwfl_end(elf->dwfl);
}

void *pug_names_elf_dwarf(struct names_elf *elf, uint64_t *bias)
{
    Dwarf_Addr moved = 0;
    Dwarf *dwarf = elf->module ? dwfl_module_getdwarf(elf->module, &moved) : NULL;
    *bias = dwarf ? moved - base_of(elf->module) : 0;
    return dwarf;
}

#endif
