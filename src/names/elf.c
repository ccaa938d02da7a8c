// SPDX-License-Identifier: MIT
/**
 * @file Executable files through files/elf.h, and through libdw where it is present: symbols, code.
 */
#include "names/elf.h"
#include "base/bisect.h"
#include "names/names.h"
#include "pugmark/element.h"

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* More than any real file has. */
#define SEGMENT_LIMIT 4096u
#define SECTION_LIMIT 65536u
#define SYMBOL_LIMIT  (16u * 1024 * 1024)
#define MOST_TIMES    2u /* that a file's bytes are in sections of code, and in notes */

/** Sections and segments may lie over each other: so many of their bytes are looked at. */
static uint64_t most_bytes(const struct names_elf *elf)
{
    struct stat status;
    return fstat(elf->file, &status) == 0 && status.st_size > 0
               ? (uint64_t)status.st_size * MOST_TIMES
               : 0;
}

/* ---- the build id ---- */

static void take_notes(struct pug_names_file *file, Elf_Data *data)
{
    GElf_Nhdr note;
    size_t name, description, at = 0;
    while (data && (at = gelf_getnote(data, at, &note, &name, &description)) > 0) {
        if (note.n_type != NT_GNU_BUILD_ID || note.n_namesz != 4 ||
            memcmp((char *)data->d_buf + name, "GNU", 4) != 0 ||
            note.n_descsz > sizeof(file->build_id))
            continue;
        file->build_id_size = note.n_descsz;
        memcpy(file->build_id, (char *)data->d_buf + description, note.n_descsz);
        return;
    }
}

/* Equal as far as both go; a shorter one may be filled up with zeros. */
static bool same_build_id(const struct pug_names_file *file)
{
    const uint8_t *a = file->build_id, *b = file->wanted_id;
    const size_t a_size = file->build_id_size, b_size = file->wanted_id_size;
    for (size_t i = 0; i < a_size || i < b_size; i++)
        if ((i < a_size ? a[i] : 0) != (i < b_size ? b[i] : 0))
            return a_size == 0 || b_size == 0;
    return true;
}

/* ---- segments ---- */

static bool take_segments(struct pug_names_file *file, Elf *elf)
{
    size_t count;
    uint64_t left = most_bytes(file->elf);
    if (elf_getphdrnum(elf, &count) != 0 || count > SEGMENT_LIMIT)
        return false;
    file->segments = calloc(count + 1, sizeof(*file->segments));
    for (size_t i = 0; i < count && file->segments; i++) {
        GElf_Phdr header;
        if (!gelf_getphdr(elf, (int)i, &header))
            return false;
        if (header.p_type == PT_NOTE && file->build_id_size == 0 && header.p_filesz <= left) {
            left -= header.p_filesz;
            take_notes(file, elf_getdata_rawchunk(elf, (int64_t)header.p_offset, header.p_filesz,
                                                  header.p_align == 8 ? ELF_T_NHDR8 : ELF_T_NHDR));
        }
        if (header.p_type == PT_LOAD)
            file->segments[file->segment_count++] = (struct pug_names_segment){
                .vaddr = header.p_vaddr,
                .offset = header.p_offset,
                .size = header.p_filesz,
                .executable = header.p_flags & PF_X,
            };
    }
    return file->segments != NULL;
}

/* ---- symbols ---- */

/* Sections of a kernel module are as far from its .text as they are in the file. */
static uint64_t address_of(const struct pug_names_file *file, const GElf_Shdr *header)
{
    return file->relocatable ? header->sh_offset - file->text_offset : header->sh_addr;
}

static bool code_section(Elf *elf, uint32_t index, GElf_Shdr *header)
{
    Elf_Scn *section = elf_getscn(elf, index);
    return section && gelf_getshdr(section, header) && (header->sh_flags & SHF_EXECINSTR);
}

bool pug_names_elf_symbol(struct pug_names_file *file, Elf *elf, const GElf_Sym *symbol,
                          const char *name)
{
    const unsigned type = GELF_ST_TYPE(symbol->st_info), bind = GELF_ST_BIND(symbol->st_info);
    const bool function = type == STT_FUNC || type == STT_GNU_IFUNC;
    if (type == STT_OBJECT && symbol->st_shndx != SHN_UNDEF && name && *name && !file->relocatable)
        return pug_names_data_symbol(file, symbol->st_value, symbol->st_size, name);
    if (symbol->st_shndx == SHN_UNDEF || symbol->st_shndx >= SHN_LORESERVE || !name || !*name ||
        (!function && (type != STT_NOTYPE || *name == '$')) || strncmp(name, ".L", 2) == 0)
        return true;
    const bool label = !function || symbol->st_size == 0;
    GElf_Shdr section;
    uint64_t start = symbol->st_value;
    if (!code_section(elf, symbol->st_shndx, &section))
        return true;
    if (file->relocatable)
        start += address_of(file, &section);
    if (file->machine == EM_ARM && function)
        start &= ~UINT64_C(1); /* marks T32 */
    const uint64_t end =
        label ? address_of(file, &section) + section.sh_size : start + symbol->st_size;
    if (end <= start)
        return true;
    const struct names_symbol entry = {
        .start = start,
        .end = end,
        .name = pug_names_string(&file->names->strings, name),
        .binding = bind == STB_LOCAL  ? PUG_NAMES_LOCAL
                   : bind == STB_WEAK ? PUG_NAMES_WEAK
                                      : PUG_NAMES_GLOBAL,
        .label = label,
    };
    return entry.name && pug_names_symbols_add(&file->symbols, &entry);
}

/* The symbol table, or where that is stripped the dynamic one. */
static Elf_Scn *symbol_table(Elf *elf, GElf_Shdr *header)
{
    Elf_Scn *best = NULL, *section = NULL;
    GElf_Shdr seen;
    while ((section = elf_nextscn(elf, section)) != NULL) {
        if (!gelf_getshdr(section, &seen) ||
            (seen.sh_type != SHT_SYMTAB && (seen.sh_type != SHT_DYNSYM || best)))
            continue;
        best = section;
        *header = seen;
        if (seen.sh_type == SHT_SYMTAB)
            break;
    }
    return best;
}

bool pug_names_elf_each_symbol(Elf *elf, pug_names_symbol_fn *take, void *context)
{
    GElf_Shdr header;
    Elf_Scn *section = symbol_table(elf, &header);
    Elf_Data *data = section ? elf_getdata(section, NULL) : NULL;
    if (!data || header.sh_entsize == 0)
        return true;
    const size_t all = data->d_size / header.sh_entsize;
    const size_t count = all < SYMBOL_LIMIT ? all : SYMBOL_LIMIT;
    for (size_t i = 0; i < count; i++) {
        GElf_Sym symbol;
        if (gelf_getsym(data, (int)i, &symbol) &&
            !take(context, elf, &symbol, elf_strptr(elf, header.sh_link, symbol.st_name)))
            return false;
    }
    return true;
}

static bool take_symbol(void *context, Elf *elf, const GElf_Sym *symbol, const char *name)
{
    return pug_names_elf_symbol(context, elf, symbol, name);
}

/* ---- code ---- */

/* Changes of the instruction set: $a, $t, $x, $d and their like. */
struct mark {
    uint64_t address;
    uint8_t isa; /* PUG_ISA_UNKNOWN: data */
};

struct marks {
    struct mark *items;
    size_t count, room;
    uint8_t code_isa;
};

static bool take_mark(void *context, Elf *elf, const GElf_Sym *symbol, const char *name)
{
    struct marks *marks = context;
    (void)elf;
    if (GELF_ST_TYPE(symbol->st_info) != STT_NOTYPE || !name || name[0] != '$' ||
        !strchr("axtd", name[1]) || !name[1] || (name[2] && name[2] != '.' && name[1] != 'x'))
        return true;
    if (marks->count == marks->room) {
        const size_t room = marks->room ? marks->room * 2 : 64;
        void *items = realloc(marks->items, room * sizeof(*marks->items));
        if (!items)
            return false;
        marks->items = items;
        marks->room = room;
    }
    const uint8_t isa = name[1] == 'd'   ? PUG_ISA_UNKNOWN
                        : name[1] == 't' ? PUG_ISA_T32
                        : name[1] == 'a' ? PUG_ISA_A32
                                         : marks->code_isa;
    marks->items[marks->count++] = (struct mark){symbol->st_value, isa};
    return true;
}

static int by_address(const void *left, const void *right)
{
    const struct mark *a = left, *b = right;
    return a->address < b->address ? -1 : a->address > b->address;
}

static uint8_t isa_of(uint16_t machine, bool bits64)
{
    switch (machine) {
    case EM_AARCH64: return PUG_ISA_A64;
    case EM_ARM: return PUG_ISA_A32;
    case EM_RISCV: return bits64 ? PUG_ISA_RV64 : PUG_ISA_RV32;
    default: return PUG_ISA_UNKNOWN;
    }
}

/** At most so many pieces: each mark cuts one section, where they do not lie over each other. */
static bool add_code(struct pug_names_file *file, const struct pug_names_code *code, size_t most)
{
    if (code->end <= code->start || code->isa == PUG_ISA_UNKNOWN || file->code_count >= most)
        return true;
    if ((file->code_count & (file->code_count - 1)) == 0) { /* there is room for a power of two */
        const size_t room = file->code_count ? 2 * file->code_count : 1;
        void *list = realloc(file->code, room * sizeof(*file->code));
        if (!list)
            return false;
        file->code = list;
    }
    file->code[file->code_count++] = *code;
    return true;
}

/* A section, cut where the marks say. */
static bool take_section(struct pug_names_file *file, const struct marks *marks,
                         const GElf_Shdr *header, const Elf_Data *data, bool plt)
{
    const uint64_t start = address_of(file, header);
    const uint64_t end = start + data->d_size;
    struct pug_names_code code = {
        .start = start, .bytes = data->d_buf, .isa = marks->code_isa, .plt = plt};
    const size_t most = marks->count + SECTION_LIMIT;
    size_t i = pug_bisect_below(marks->items, marks->count, sizeof(*marks->items),
                                offsetof(struct mark, address), start);
    bool good = true;
    for (; i < marks->count && marks->items[i].address < end && good; i++) {
        const struct mark *mark = &marks->items[i];
        if (mark->isa == code.isa)
            continue;
        code.end = mark->address;
        good = add_code(file, &code, most);
        code.start = mark->address;
        code.bytes = (const uint8_t *)data->d_buf + (mark->address - start);
        code.isa = mark->isa;
    }
    code.end = end;
    return good && add_code(file, &code, most);
}

static int code_by_start(const void *left, const void *right)
{
    const struct pug_names_code *a = left, *b = right;
    return a->start < b->start ? -1 : a->start > b->start;
}

static bool take_code(struct pug_names_file *file, Elf *elf, bool bits64)
{
    struct marks marks = {.code_isa = isa_of(file->machine, bits64)};
    size_t names_section, seen = 0;
    uint64_t left = most_bytes(file->elf);
    bool good = pug_names_elf_each_symbol(elf, take_mark, &marks);
    if (marks.count > 0)
        qsort(marks.items, marks.count, sizeof(*marks.items), by_address);
    Elf_Scn *section = NULL;
    while (good && seen++ < SECTION_LIMIT && (section = elf_nextscn(elf, section)) != NULL) {
        GElf_Shdr header;
        if (!gelf_getshdr(section, &header) || header.sh_type != SHT_PROGBITS ||
            !(header.sh_flags & SHF_EXECINSTR) || !(header.sh_flags & SHF_ALLOC) ||
            header.sh_size > left)
            continue;
        left -= header.sh_size;
        const char *name = elf_getshdrstrndx(elf, &names_section) == 0
                               ? elf_strptr(elf, names_section, header.sh_name)
                               : NULL;
        const Elf_Data *data = elf_getdata(section, NULL);
        if (data && data->d_buf)
            good =
                take_section(file, &marks, &header, data,
                             name && (strncmp(name, ".plt", 4) == 0 || strcmp(name, ".iplt") == 0));
    }
    free(marks.items);
    if (file->code_count > 1)
        qsort(file->code, file->code_count, sizeof(*file->code), code_by_start);
    return good;
}

/* ---- the file ---- */

static void find_text(struct pug_names_file *file, Elf *elf)
{
    GElf_Shdr header;
    Elf_Scn *section = NULL;
    size_t names, seen = 0;
    while (seen++ < SECTION_LIMIT && (section = elf_nextscn(elf, section)) != NULL) {
        const char *name = gelf_getshdr(section, &header) && elf_getshdrstrndx(elf, &names) == 0
                               ? elf_strptr(elf, names, header.sh_name)
                               : NULL;
        if (name && strcmp(name, ".text") == 0)
            file->text_offset = header.sh_offset;
    }
}

static enum pug_status load(struct pug_names_file *file, struct names_elf *elf)
{
    GElf_Ehdr header;
    if (elf_kind(elf->elf) != ELF_K_ELF || !gelf_getehdr(elf->elf, &header))
        return PUG_ERR_FILE;
    file->machine = header.e_machine;
    file->relocatable = header.e_type == ET_REL;
    if (file->relocatable)
        find_text(file, elf->elf);
    if (!take_segments(file, elf->elf))
        return PUG_ERR_FILE;
    if (!same_build_id(file))
        return PUG_ERR_FILE;
    if (!take_code(file, elf->elf, header.e_ident[EI_CLASS] == ELFCLASS64) || errno == ENOMEM)
        return PUG_ERR_MEM; /* what libelf did not get is not there for it */
#ifdef PUG_WITH_DWARF
    if (!pug_names_dwfl_open(file, elf))
        return PUG_ERR_MEM;
#endif
    if (file->symbols.count == 0 && !pug_names_elf_each_symbol(elf->elf, take_symbol, file))
        return PUG_ERR_MEM;
    pug_names_symbols_finish(&file->symbols);
    pug_names_symbols_finish(&file->data);
    return PUG_OK;
}

/* Nothing stays of a file that was not the right one. */
static void forget(struct pug_names_file *file)
{
    pug_names_elf_close(file->elf);
    free(file->path);
    free(file->symbols.items);
    free(file->segments);
    free(file->code);
    file->elf = NULL;
    file->path = NULL;
    file->symbols = (struct names_symbols){0};
    file->segments = NULL;
    file->code = NULL;
    file->segment_count = file->code_count = file->build_id_size = 0;
    file->text_offset = 0;
    file->relocatable = false;
}

enum pug_status pug_names_elf_open(struct pug_names_file *file, const char *path)
{
    if (elf_version(EV_CURRENT) == EV_NONE)
        return PUG_ERR_FAIL;
    errno = 0; /* libelf and libdw do not always say why they found nothing */
    const int descriptor = pug_names_open_regular(path);
    if (descriptor < 0)
        return PUG_ERR_FILE;
    file->elf = calloc(1, sizeof(*file->elf));
    file->path = strdup(path);
    if (!file->elf || !file->path) {
        close(descriptor);
        forget(file);
        return PUG_ERR_MEM;
    }
    file->elf->file = descriptor;
    file->elf->elf = elf_begin(descriptor, ELF_C_READ, NULL);
    enum pug_status status = file->elf->elf ? load(file, file->elf) : PUG_ERR_FILE;
    if (status == PUG_ERR_FILE && errno == ENOMEM)
        status = PUG_ERR_MEM;
    if (status == PUG_OK)
        return status;
    const int reason = errno;
    forget(file);
    errno = reason;
    return status;
}

void pug_names_elf_close(struct names_elf *elf)
{
    if (!elf)
        return;
#ifdef PUG_WITH_DWARF
    pug_names_dwfl_close(elf);
#endif
    if (elf->elf)
        elf_end(elf->elf);
    close(elf->file);
    free(elf);
}
