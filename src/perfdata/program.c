// SPDX-License-Identifier: MIT
#include "perfdata/program.h"

#include "base/bytes.h"
#include "files/packed.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { ET_REL = 1, ET_CORE = 4, PT_LOAD = 1, PT_NOTE = 4, PF_X = 1, NT_GNU_BUILD_ID = 3 };
enum { SHT_SYMTAB = 2, SHT_NOTE = 7, SHT_NOBITS = 8, SHT_DYNSYM = 11 };
enum { SHF_ALLOC = 2, SHF_EXECINSTR = 4 };

/* More than any real file has. */
#define SEGMENT_LIMIT 4096u
#define SECTION_LIMIT 65536u
#define NOTE_LIMIT    65536u
#define LOAD_LIMIT    (256u << 20)

/** Copy bytes of the file; false: they are not all there. */
static bool copy(const struct pug_perf_program *program, uint64_t offset, void *bytes, size_t size)
{
    uint8_t *at = bytes;
    while (size > 0) {
        uint64_t piece;
        const uint8_t *from = pug_perf_program_at(program, offset, &piece);
        if (!from)
            return false;
        if (piece > size)
            piece = size;
        memcpy(at, from, (size_t)piece);
        at += piece;
        offset += piece;
        size -= (size_t)piece;
    }
    return true;
}

const uint8_t *pug_perf_program_at(const struct pug_perf_program *program, uint64_t offset,
                                   uint64_t *size)
{
    const uint8_t *bytes = pug_file_piece(program->file, offset, size);
    return *size > 0 ? bytes : NULL;
}

/** malloc() that reports its failure. */
static void *take_memory(const struct pug_perf_program *program, size_t size)
{
    void *block = malloc(size);
    if (!block)
        atomic_store(program->starved, true);
    return block;
}

/* ---- segments ---- */

/** Fields that are words of the file's class. */
static uint64_t word(const struct pug_perf_program *program, const uint8_t *bytes, unsigned at32,
                     unsigned at64)
{
    return program->is64 ? pug_bytes_64(bytes + at64) : pug_bytes_32(bytes + at32);
}

/** Notes in [offset, offset + size): the build id is one of them. */
static void read_notes(struct pug_perf_program *program, uint64_t offset, uint64_t size)
{
    uint8_t *notes;
    if (size > NOTE_LIMIT || program->build_id_size > 0)
        return;
    if (!(notes = take_memory(program, (size_t)size + 1)))
        return;
    struct pug_bytes bytes = pug_bytes_of(notes, (size_t)size);
    if (!copy(program, offset, notes, (size_t)size))
        bytes.bad = true;
    while (pug_bytes_left(&bytes) >= 12) {
        const uint32_t name_size = pug_bytes_take_32(&bytes), content = pug_bytes_take_32(&bytes);
        const uint32_t type = pug_bytes_take_32(&bytes);
        const uint8_t *name = pug_bytes_take(&bytes, ((size_t)name_size + 3) & ~(size_t)3);
        const uint8_t *id = pug_bytes_take(&bytes, ((size_t)content + 3) & ~(size_t)3);
        if (!id || type != NT_GNU_BUILD_ID || name_size != 4 || memcmp(name, "GNU", 4) != 0)
            continue;
        program->build_id_size = (uint8_t)(content < 20 ? content : 20);
        memcpy(program->build_id, id, program->build_id_size);
        break;
    }
    free(notes);
}

static enum pug_status read_segments(struct pug_perf_program *program, uint64_t offset,
                                     unsigned entry, unsigned count)
{
    const unsigned least = program->is64 ? 56 : 32;
    uint8_t header[56];
    if (count == 0)
        return PUG_OK;
    if (entry < least || count > SEGMENT_LIMIT)
        return PUG_ERR_FORMAT;
    program->segments = calloc(count, sizeof(*program->segments));
    if (!program->segments)
        return PUG_ERR_MEM;
    for (unsigned i = 0; i < count; i++) {
        if (!copy(program, offset + (uint64_t)i * entry, header, least))
            return PUG_ERR_FORMAT;
        const uint32_t type = pug_bytes_32(header);
        const uint64_t at = word(program, header, 4, 8), size = word(program, header, 16, 32);
        if (type == PT_NOTE)
            read_notes(program, at, size);
        if (type != PT_LOAD || size == 0)
            continue;
        program->segments[program->segment_count++] = (struct pug_perf_segment){
            .vaddr = word(program, header, 8, 16),
            .offset = at,
            .size = size,
            .executable = pug_bytes_32(header + (program->is64 ? 4 : 24)) & PF_X,
        };
    }
    return PUG_OK;
}

/* ---- sections ---- */

static void read_section(const struct pug_perf_program *program, const uint8_t *header,
                         struct pug_perf_section *section)
{
    *section = (struct pug_perf_section){
        .type = pug_bytes_32(header + 4),
        .flags = word(program, header, 8, 8),
        .vaddr = word(program, header, 12, 16),
        .offset = word(program, header, 16, 24),
        .size = word(program, header, 20, 32),
        .link = pug_bytes_32(header + (program->is64 ? 40 : 24)),
        .info = pug_bytes_32(header + (program->is64 ? 44 : 28)),
        .entry = word(program, header, 36, 56),
        .name = "",
    };
}

static void name_sections(struct pug_perf_program *program, const uint32_t *names, unsigned index)
{
    if (index >= program->section_count)
        return;
    const struct pug_perf_section *table = &program->sections[index];
    program->names = (char *)pug_perf_program_load(program, table);
    for (size_t i = 0; program->names && i < program->section_count; i++)
        if (names[i] < table->size)
            program->sections[i].name = program->names + names[i];
}

static enum pug_status read_sections(struct pug_perf_program *program, uint64_t offset,
                                     unsigned entry, unsigned count, unsigned names_index)
{
    const unsigned least = program->is64 ? 64 : 40;
    uint8_t header[64];
    if (count == 0 || offset == 0 || entry < least || count > SECTION_LIMIT)
        return PUG_OK;
    program->sections = calloc(count, sizeof(*program->sections));
    uint32_t *names = calloc(count, sizeof(*names));
    enum pug_status status = program->sections && names ? PUG_OK : PUG_ERR_MEM;
    for (unsigned i = 0; i < count && status == PUG_OK; i++) {
        /* A stripped or cut file still has its segments. */
        if (!copy(program, offset + (uint64_t)i * entry, header, least))
            break;
        names[i] = pug_bytes_32(header);
        read_section(program, header, &program->sections[program->section_count++]);
    }
    for (size_t i = 0; i < program->section_count && status == PUG_OK; i++) {
        const struct pug_perf_section *section = &program->sections[i];
        if (section->type == SHT_NOTE)
            read_notes(program, section->offset, section->size);
    }
    if (status == PUG_OK)
        name_sections(program, names, names_index);
    const struct pug_perf_section *text =
        program->relocatable ? pug_perf_program_section(program, ".text") : NULL;
    for (size_t i = 0; text && i < program->section_count; i++)
        program->sections[i].vaddr = program->sections[i].offset - text->offset;
    free(names);
    return status;
}

const struct pug_perf_section *pug_perf_program_section(const struct pug_perf_program *program,
                                                        const char *name)
{
    for (size_t i = 0; i < program->section_count; i++)
        if (strcmp(program->sections[i].name, name) == 0)
            return &program->sections[i];
    return NULL;
}

uint8_t *pug_perf_program_load(const struct pug_perf_program *program,
                               const struct pug_perf_section *section)
{
    if (section->type == SHT_NOBITS || section->size > LOAD_LIMIT ||
        section->size > pug_file_length(program->file) + 1)
        return NULL;
    uint8_t *bytes = take_memory(program, (size_t)section->size + 1);
    if (bytes && copy(program, section->offset, bytes, (size_t)section->size)) {
        bytes[section->size] = 0;
        return bytes;
    }
    free(bytes);
    return NULL;
}

/* ---- opening ---- */

/** Debug files have the headers of text, but not its bytes. */
static bool has_text(const struct pug_perf_program *program)
{
    bool sections = false;
    for (size_t i = 0; i < program->section_count; i++) {
        const struct pug_perf_section *section = &program->sections[i];
        if (!(section->flags & SHF_EXECINSTR) || !(section->flags & SHF_ALLOC))
            continue;
        if (section->type != SHT_NOBITS)
            return true;
        sections = true;
    }
    for (size_t i = 0; i < program->segment_count && !sections; i++)
        if (program->segments[i].executable)
            return true;
    return program->core;
}

static enum pug_status read_headers(struct pug_perf_program *program)
{
    uint8_t header[64] = {0};
    if (!copy(program, 0, header, 52) || memcmp(header, "\177ELF", 4) != 0 || header[5] != 1 ||
        (header[4] != 1 && header[4] != 2))
        return PUG_ERR_FORMAT;
    program->is64 = header[4] == 2;
    if (program->is64 && !copy(program, 0, header, 64))
        return PUG_ERR_FORMAT;
    const uint16_t type = pug_bytes_16(header + 16);
    const uint8_t *tail = header + (program->is64 ? 54 : 42);
    program->relocatable = type == ET_REL;
    program->core = type == ET_CORE;
    program->machine = pug_bytes_16(header + 18);
    enum pug_status status = read_segments(program, word(program, header, 28, 32),
                                           pug_bytes_16(tail), pug_bytes_16(tail + 2));
    if (status == PUG_OK)
        status = read_sections(program, word(program, header, 32, 40), pug_bytes_16(tail + 4),
                               pug_bytes_16(tail + 6), pug_bytes_16(tail + 8));
    program->has_text = has_text(program);
    return status;
}

static enum pug_status open_file(const char *path, struct pug_file **file)
{
    if (!pug_packed_is(path))
        return pug_file_open(path, false, file);
    const int unpacked = pug_packed_open(path);
    if (unpacked >= 0)
        return pug_file_adopt(unpacked, path, file);
    return errno == ENOMEM                     ? PUG_ERR_MEM
           : errno == EINVAL || errno == EFBIG ? PUG_ERR_FORMAT
                                               : PUG_ERR_FILE;
}

enum pug_status pug_perf_program_open(const char *path, atomic_bool *starved,
                                      struct pug_perf_program **out)
{
    struct pug_perf_program *program = calloc(1, sizeof(*program));
    enum pug_status status = program ? open_file(path, &program->file) : PUG_ERR_MEM;
    if (program)
        program->starved = starved;
    if (status == PUG_OK)
        status = read_headers(program);
    if (status == PUG_OK)
        *out = program;
    else
        pug_perf_program_free(program);
    if (status == PUG_ERR_MEM)
        atomic_store(starved, true);
    return status;
}

void pug_perf_program_free(struct pug_perf_program *program)
{
    if (!program)
        return;
    for (size_t i = 0; i < program->placed_count; i++) {
        free(program->placed[i].bytes);
        free(program->placed[i].holes);
    }
    free(program->placed);
    free(program->segments);
    free(program->sections);
    free(program->names);
    pug_file_free(program->file);
    free(program);
}

/* ---- addresses ---- */

const uint8_t *pug_perf_program_at_vaddr(const struct pug_perf_program *program, uint64_t vaddr,
                                         uint64_t *size)
{
    for (size_t i = 0; i < program->segment_count; i++) {
        const struct pug_perf_segment *segment = &program->segments[i];
        const uint64_t in = vaddr - segment->vaddr;
        if (in >= segment->size)
            continue;
        const uint8_t *bytes = pug_perf_program_at(program, segment->offset + in, size);
        if (bytes && *size > segment->size - in)
            *size = segment->size - in;
        return bytes;
    }
    return NULL;
}

const uint8_t *pug_perf_program_placed(const struct pug_perf_program *program, uint64_t address,
                                       uint64_t *size)
{
    for (size_t i = 0; i < program->placed_count; i++) {
        const struct pug_perf_placed *placed = &program->placed[i];
        const uint64_t in = address - placed->address;
        if (in >= placed->size)
            continue;
        *size = placed->size - in;
        for (size_t n = 0; n < placed->hole_count; n++) {
            if (in >= placed->holes[n] && in < placed->holes[n] + 4)
                return NULL;
            if (placed->holes[n] > in) {
                *size = placed->holes[n] - in;
                break;
            }
        }
        return placed->bytes + in;
    }
    return NULL;
}

bool pug_perf_program_vaddr(const struct pug_perf_program *program, uint64_t offset,
                            uint64_t *vaddr)
{
    /* Segments may overlap in the file by parts of pages: what is executed comes first. */
    for (int executable = 1; executable >= 0; executable--) {
        for (size_t i = 0; i < program->segment_count; i++) {
            const struct pug_perf_segment *segment = &program->segments[i];
            if (segment->executable != (executable == 1) || offset < segment->offset ||
                offset - segment->offset >= segment->size)
                continue;
            *vaddr = offset - segment->offset + segment->vaddr;
            return true;
        }
    }
    return false;
}

bool pug_perf_program_offset(const struct pug_perf_program *program, uint64_t vaddr,
                             uint64_t *offset)
{
    for (size_t i = 0; i < program->segment_count; i++) {
        const struct pug_perf_segment *segment = &program->segments[i];
        if (vaddr - segment->vaddr >= segment->size)
            continue;
        *offset = vaddr - segment->vaddr + segment->offset;
        return true;
    }
    return false;
}

/* ---- symbols ---- */

bool pug_perf_symbols_load(const struct pug_perf_program *program, struct pug_perf_symbols *symbols)
{
    const struct pug_perf_section *table = NULL;
    *symbols = (struct pug_perf_symbols){.is64 = program->is64};
    for (size_t i = 0; i < program->section_count; i++)
        if (program->sections[i].type == SHT_SYMTAB ||
            (program->sections[i].type == SHT_DYNSYM && !table))
            table = &program->sections[i];
    symbols->entry = program->is64 ? 24 : 16;
    if (!table || table->entry < symbols->entry || table->link >= program->section_count)
        return false;
    const struct pug_perf_section *names = &program->sections[table->link];
    symbols->entry = (size_t)table->entry;
    symbols->entries = pug_perf_program_load(program, table);
    symbols->names = (char *)pug_perf_program_load(program, names);
    symbols->names_size = (size_t)names->size;
    symbols->count = (size_t)(table->size / table->entry);
    if (symbols->entries && symbols->names)
        return true;
    pug_perf_symbols_free(symbols);
    return false;
}

void pug_perf_symbols_free(struct pug_perf_symbols *symbols)
{
    free(symbols->entries);
    free(symbols->names);
    *symbols = (struct pug_perf_symbols){0};
}

#define STT_SECTION 3

bool pug_perf_symbol_at(const struct pug_perf_symbols *symbols, size_t n,
                        struct pug_perf_elf_symbol *symbol)
{
    if (n >= symbols->count)
        return false;
    const uint8_t *entry = symbols->entries + n * symbols->entry;
    const uint32_t name = pug_bytes_32(entry);
    const uint8_t info = entry[symbols->is64 ? 4 : 12];
    *symbol = (struct pug_perf_elf_symbol){
        .name = name < symbols->names_size ? symbols->names + name : "",
        .section = pug_bytes_16(entry + (symbols->is64 ? 6 : 14)),
        .value = symbols->is64 ? pug_bytes_64(entry + 8) : pug_bytes_32(entry + 4),
        .section_itself = (info & 0xf) == STT_SECTION,
    };
    return true;
}

bool pug_perf_program_symbol(const struct pug_perf_program *program, const char *name,
                             uint64_t *value)
{
    struct pug_perf_symbols symbols;
    struct pug_perf_elf_symbol symbol;
    bool found = false;
    if (!pug_perf_symbols_load(program, &symbols))
        return false;
    for (size_t n = 0; !found && pug_perf_symbol_at(&symbols, n, &symbol); n++)
        found = symbol.section != 0 && strcmp(symbol.name, name) == 0;
    if (found)
        *value = symbol.value;
    pug_perf_symbols_free(&symbols);
    return found;
}
