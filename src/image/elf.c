// SPDX-License-Identifier: MIT
/** @file ELF files: loadable segments as ranges of one file accessor, and function symbols. */
#include "files/elf.h"
#include "base/text.h"
#include "image/image.h"
#include "image/symbols.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* More than any real file has; what a damaged one claims beyond it is refused. */
#define SEGMENT_LIMIT 4096u
#define SYMBOL_LIMIT  (4u * 1024 * 1024)

/* ---- segments ---- */

/* A segment as a range; false where the file has nothing of it. */
static bool segment_range(const GElf_Phdr *header, uint64_t bias, uint64_t file_length,
                          struct pug_range *range)
{
    if (header->p_type != PT_LOAD || header->p_offset >= file_length)
        return false;
    uint64_t size = header->p_filesz, start = header->p_vaddr + bias, offset = header->p_offset;
    if (size > file_length - offset)
        size = file_length - offset;
    *range = (struct pug_range){.start = start, .end = start + (size - 1), .offset = offset};
    return size > 0 && range->start <= range->end;
}

static enum pug_status add_segments(Elf *elf, uint64_t bias, struct pug_accessor *accessor,
                                    size_t count)
{
    for (size_t i = 0; i < count; i++) {
        GElf_Phdr header;
        struct pug_range range;
        if (!gelf_getphdr(elf, (int)i, &header))
            return PUG_ERR_FORMAT;
        if (!segment_range(&header, bias, pug_file_length(accessor->file), &range))
            continue;
        if (pug_accessor_range(accessor, range.start) || pug_accessor_range(accessor, range.end))
            return PUG_ERR_FORMAT;
        accessor->ranges[accessor->count++] = range;
    }
    return accessor->count > 0 ? PUG_OK : PUG_ERR_FORMAT;
}

/* ---- symbols ---- */

struct table {
    GElf_Shdr header;
    Elf_Data *symbols, *strings;
    size_t count;
};

/* The symbol table, or where that is stripped the dynamic one. */
static bool find_table(Elf *elf, struct table *table)
{
    Elf_Scn *best = NULL, *section = NULL;
    GElf_Shdr header;
    while ((section = elf_nextscn(elf, section)) != NULL) {
        if (!gelf_getshdr(section, &header))
            continue;
        if (header.sh_type == SHT_SYMTAB || (header.sh_type == SHT_DYNSYM && !best)) {
            best = section;
            table->header = header;
        }
        if (header.sh_type == SHT_SYMTAB)
            break;
    }
    if (!best || table->header.sh_entsize == 0)
        return false;
    table->symbols = elf_getdata(best, NULL);
    Elf_Scn *strings = elf_getscn(elf, table->header.sh_link);
    table->strings = strings ? elf_getdata(strings, NULL) : NULL;
    if (!table->symbols || !table->strings || !table->strings->d_buf)
        return false;
    size_t count = table->symbols->d_size / table->header.sh_entsize;
    table->count = count < SYMBOL_LIMIT ? count : SYMBOL_LIMIT;
    return true;
}

/* End of the code section that a symbol is in; 0 where it is in none. */
static uint64_t code_section_end(Elf *elf, const GElf_Sym *symbol)
{
    GElf_Shdr header;
    Elf_Scn *section = symbol->st_shndx == SHN_UNDEF || symbol->st_shndx >= SHN_LORESERVE
                           ? NULL
                           : elf_getscn(elf, symbol->st_shndx);
    if (!section || !gelf_getshdr(section, &header) || !(header.sh_flags & SHF_EXECINSTR))
        return 0;
    return header.sh_addr + header.sh_size;
}

/* Functions, and labels of assembly code; not the marks that tell code from data ("$x"). */
static bool symbol_entry(Elf *elf, const GElf_Sym *symbol, const char *name, bool arm,
                         uint64_t bias, struct pug_symbol_entry *entry)
{
    unsigned type = GELF_ST_TYPE(symbol->st_info);
    bool function = type == STT_FUNC || type == STT_GNU_IFUNC;
    if (symbol->st_shndx == SHN_UNDEF || !*name ||
        (!function && (type != STT_NOTYPE || *name == '$')) || strncmp(name, ".L", 2) == 0)
        return false;
    bool label = !function || symbol->st_size == 0;
    uint64_t start = symbol->st_value;
    if (arm && function)
        start &= ~UINT64_C(1); /* marks T32 */
    uint64_t end = label ? code_section_end(elf, symbol) : start + symbol->st_size;
    if (end <= start)
        return false;
    *entry = (struct pug_symbol_entry){start + bias, end + bias, name, label};
    return true;
}

/* Names may share their ends: then those of others are cut, too. */
static char *cut(char *name)
{
    if (strnlen(name, PUG_NAME_MOST + 1) > PUG_NAME_MOST)
        name[PUG_NAME_MOST] = '\0';
    return name;
}

static bool copy_strings(const Elf_Data *data, struct pug_symbols *symbols)
{
    symbols->strings = malloc(data->d_size + 1);
    if (!symbols->strings)
        return false;
    memcpy(symbols->strings, data->d_buf, data->d_size);
    symbols->strings[data->d_size] = '\0';
    return true;
}

static enum pug_status read_symbols(Elf *elf, uint64_t bias, struct pug_symbols *symbols)
{
    struct table table;
    GElf_Ehdr header;
    if (!gelf_getehdr(elf, &header) || !find_table(elf, &table))
        return PUG_OK;
    symbols->entries = calloc(table.count ? table.count : 1, sizeof(*symbols->entries));
    if (!symbols->entries || !copy_strings(table.strings, symbols))
        return PUG_ERR_MEM;
    for (size_t i = 0; i < table.count; i++) {
        GElf_Sym symbol;
        if (!gelf_getsym(table.symbols, (int)i, &symbol) || symbol.st_name >= table.strings->d_size)
            continue;
        symbols->count +=
            symbol_entry(elf, &symbol, cut(symbols->strings + symbol.st_name),
                         header.e_machine == EM_ARM, bias, &symbols->entries[symbols->count]);
    }
    pug_symbols_finish(symbols);
    return PUG_OK;
}

/* ---- the file ---- */

static enum pug_status load(Elf *elf, const struct pug_place *place, const char *path,
                            uint64_t bias, struct pug_accessor **accessor,
                            struct pug_symbols *symbols)
{
    size_t count;
    if (elf_kind(elf) != ELF_K_ELF || elf_getphdrnum(elf, &count) != 0 || count == 0)
        return PUG_ERR_FORMAT;
    if (count > SEGMENT_LIMIT)
        return PUG_ERR_LIMIT;
    *accessor = pug_accessor_new(PUG_ACCESS_FILE, place, count);
    if (!*accessor)
        return PUG_ERR_MEM;
    (*accessor)->program = true;
    (*accessor)->bias = bias;
    enum pug_status status = pug_file_open(path, false, &(*accessor)->file);
    if (status == PUG_OK)
        status = add_segments(elf, bias, *accessor, count);
    return status == PUG_OK ? read_symbols(elf, bias, symbols) : status;
}

static enum pug_status open_elf(const char *path, int *descriptor, Elf **elf)
{
    struct pug_file *file;
    enum pug_status status = pug_file_open(path, false, &file); /* regular, readable */
    if (status != PUG_OK)
        return status;
    pug_file_free(file);
    if (elf_version(EV_CURRENT) == EV_NONE)
        return PUG_ERR_FAIL;
    *descriptor = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    if (*descriptor < 0)
        return PUG_ERR_FILE;
    *elf = elf_begin(*descriptor, ELF_C_READ, NULL);
    if (*elf)
        return PUG_OK;
    close(*descriptor);
    return PUG_ERR_FORMAT;
}

enum pug_status pug_image_add_elf(struct pug_image *image, const struct pug_place *place,
                                  const char *path, uint64_t bias)
{
    int descriptor;
    Elf *elf;
    struct pug_accessor *accessor = NULL;
    if (!image || !path || !*path)
        return PUG_ERR_INVALID_PARAM_VAL;
    struct pug_symbols *symbols = calloc(1, sizeof(*symbols));
    if (!symbols)
        return PUG_ERR_MEM;
    enum pug_status status = open_elf(path, &descriptor, &elf);
    if (status == PUG_OK) {
        status = load(elf, place, path, bias, &accessor, symbols);
        elf_end(elf);
        close(descriptor);
    }
    if (status == PUG_OK) {
        symbols->accessor = accessor;
        status = pug_image_add(image, accessor);
    } else {
        pug_accessor_free(accessor);
    }
    if (status != PUG_OK) {
        pug_symbols_free(symbols);
        return status;
    }
    symbols->next = image->symbols;
    image->symbols = symbols;
    return PUG_OK;
}
