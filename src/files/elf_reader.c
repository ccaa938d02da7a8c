// SPDX-License-Identifier: MIT
#include "files/elf_reader.h"

#include "base/bytes.h"
#include "files/infile.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* As <elf.h> has them, which not every host has. */
enum {
    IDENT_SIZE = 16,
    IDENT_CLASS = 4,
    IDENT_DATA = 5,
    IDENT_VERSION = 6,
    CLASS_32 = 1,
    CLASS_64 = 2,
    LITTLE = 1,
    BIG = 2,
    MANY_SEGMENTS = 0xffff, /* their number is in section 0 */
    NAMES_ELSEWHERE = 0xffff,
    SECTION_STRINGS = 3,
    SECTION_NO_BITS = 8,
};

/* More than any real file has. */
#define SECTION_LIMIT (1u << 20)

/* Sizes in the file. */
enum { HEADER_32 = 52, HEADER_64 = 64, SEGMENT_32 = 32, SEGMENT_64 = 56 };
enum { SECTION_32 = 40, SECTION_64 = 64, SYMBOL_32 = 16, SYMBOL_64 = 24, NOTE_HEADER = 12 };

struct pug_elf_section {
    struct pug_elf *elf;
    struct pug_elf_section_header header;
    struct pug_elf_data data;
    bool loaded;
};

/* Bytes of a file beside those of its sections. */
struct chunk {
    struct chunk *next;
    struct pug_elf_data data;
};

struct pug_elf {
    struct pug_infile *file;
    uint64_t size;
    uint64_t left; /* so many bytes may still be loaded */
    struct pug_elf_header header;
    bool wide, big;
    size_t names; /* number of the section of names; 0: none */
    bool segments_lost;
    struct pug_elf_program_header *segments;
    size_t segment_count;
    struct pug_elf_section *sections;
    size_t section_count;
    struct chunk *chunks;
};

/* ---- numbers ---- */

/* Fields of an entry, one after another. */
struct fields {
    const uint8_t *at;
    bool wide, big;
};

static uint64_t take_number(struct fields *fields, unsigned size)
{
    uint64_t value = 0;
    if (!fields->big)
        value = pug_bytes_number(fields->at, size);
    for (unsigned i = 0; fields->big && i < size; i++)
        value = value << 8 | fields->at[i];
    fields->at += size;
    return value;
}

static uint16_t half(struct fields *fields)
{
    return (uint16_t)take_number(fields, 2);
}

static uint32_t word(struct fields *fields)
{
    return (uint32_t)take_number(fields, 4);
}

/* As wide as the file's addresses. */
static uint64_t address(struct fields *fields)
{
    return take_number(fields, fields->wide ? 8 : 4);
}

static struct fields fields_of(const struct pug_elf *elf, const void *bytes)
{
    return (struct fields){.at = bytes, .wide = elf->wide, .big = elf->big};
}

/* ---- tables ---- */

static bool within(const struct pug_elf *elf, uint64_t offset, uint64_t size)
{
    return offset <= elf->size && size <= elf->size - offset && size <= SIZE_MAX / 2;
}

/* Bytes of the file, followed by a 0; NULL with errno. */
static uint8_t *load(const struct pug_elf *elf, uint64_t offset, uint64_t size)
{
    errno = EINVAL;
    uint8_t *bytes = within(elf, offset, size) ? malloc((size_t)size + 1) : NULL;
    if (!bytes)
        return NULL;
    bytes[size] = 0;
    if (pug_infile_read(elf->file, offset, bytes, (size_t)size) == PUG_OK)
        return bytes;
    free(bytes);
    return NULL;
}

static struct pug_elf_section_header section_header(struct fields fields)
{
    struct pug_elf_section_header header = {.sh_name = word(&fields), .sh_type = word(&fields)};
    header.sh_flags = address(&fields);
    header.sh_addr = address(&fields);
    header.sh_offset = address(&fields);
    header.sh_size = address(&fields);
    header.sh_link = word(&fields);
    header.sh_info = word(&fields);
    (void)address(&fields); /* alignment */
    header.sh_entsize = address(&fields);
    return header;
}

static struct pug_elf_program_header program_header(struct fields fields)
{
    struct pug_elf_program_header header = {.p_type = word(&fields)};
    if (fields.wide)
        header.p_flags = word(&fields);
    header.p_offset = address(&fields);
    header.p_vaddr = address(&fields);
    (void)address(&fields); /* physical address */
    header.p_filesz = address(&fields);
    header.p_memsz = address(&fields);
    if (!fields.wide)
        header.p_flags = word(&fields);
    header.p_align = address(&fields);
    return header;
}

/* The tables that the file's header names. */
struct tables {
    uint64_t segments, sections; /* offsets; 0: none */
    uint64_t segment_count, section_count, names;
};

/* Large counts are in section 0. False: no memory. */
static bool large_counts(const struct pug_elf *elf, struct tables *tables)
{
    const bool large = tables->section_count == 0 || tables->segment_count == MANY_SEGMENTS ||
                       tables->names == NAMES_ELSEWHERE;
    const unsigned entry = elf->wide ? SECTION_64 : SECTION_32;
    if (!large || tables->sections == 0 || !within(elf, tables->sections, entry))
        return true;
    uint8_t *bytes = load(elf, tables->sections, entry);
    if (!bytes)
        return errno != ENOMEM;
    const struct pug_elf_section_header first = section_header(fields_of(elf, bytes));
    free(bytes);
    if (tables->section_count == 0)
        tables->section_count = first.sh_size;
    if (tables->segment_count == MANY_SEGMENTS)
        tables->segment_count = first.sh_info;
    if (tables->names == NAMES_ELSEWHERE)
        tables->names = first.sh_link;
    return true;
}

/* False: no memory. A table that begins in the file and continues after its end is taken as far as
 * the file has it. */
static bool load_segments(struct pug_elf *elf, const struct tables *tables)
{
    const unsigned entry = elf->wide ? SEGMENT_64 : SEGMENT_32;
    uint64_t count = tables->segment_count;
    if (count == 0)
        return true;
    elf->segments_lost = tables->segments == 0 || tables->segments >= elf->size;
    if (elf->segments_lost)
        return true;
    if (count > (elf->size - tables->segments) / entry)
        count = (elf->size - tables->segments) / entry;
    uint8_t *bytes = load(elf, tables->segments, count * entry);
    elf->segments = bytes ? calloc((size_t)count + 1, sizeof(*elf->segments)) : NULL;
    elf->segments_lost = !bytes;
    for (size_t i = 0; elf->segments && i < count; i++)
        elf->segments[elf->segment_count++] =
            program_header(fields_of(elf, bytes + i * (size_t)entry));
    free(bytes);
    return elf->segments || errno != ENOMEM;
}

/* False: no memory. A file whose table is not all there has no sections. */
static bool load_sections(struct pug_elf *elf, const struct tables *tables)
{
    const unsigned entry = elf->wide ? SECTION_64 : SECTION_32;
    const uint64_t count = tables->section_count;
    if (count == 0 || count > SECTION_LIMIT || tables->sections == 0 ||
        !within(elf, tables->sections, count * entry))
        return true;
    uint8_t *bytes = load(elf, tables->sections, count * entry);
    elf->sections = bytes ? calloc((size_t)count, sizeof(*elf->sections)) : NULL;
    for (size_t i = 0; elf->sections && i < count; i++)
        elf->sections[elf->section_count++] = (struct pug_elf_section){
            .elf = elf, .header = section_header(fields_of(elf, bytes + i * (size_t)entry))};
    free(bytes);
    elf->names = tables->names < elf->section_count ? (size_t)tables->names : 0;
    return elf->sections || errno != ENOMEM;
}

/* ---- the file ---- */

static bool read_ident(struct pug_elf *elf, const uint8_t *bytes)
{
    static const uint8_t magic[] = {0x7f, 'E', 'L', 'F'};
    elf->wide = bytes[IDENT_CLASS] == CLASS_64;
    elf->big = bytes[IDENT_DATA] == BIG;
    memcpy(elf->header.e_ident, bytes, IDENT_SIZE);
    return memcmp(bytes, magic, sizeof(magic)) == 0 && bytes[IDENT_VERSION] == 1 &&
           (elf->wide || bytes[IDENT_CLASS] == CLASS_32) &&
           (elf->big || bytes[IDENT_DATA] == LITTLE);
}

static bool read_header(struct pug_elf *elf)
{
    uint8_t bytes[HEADER_64] = {0};
    const size_t size = elf->size < sizeof(bytes) ? (size_t)elf->size : sizeof(bytes);
    if (size < HEADER_32 || pug_infile_read(elf->file, 0, bytes, size) != PUG_OK ||
        !read_ident(elf, bytes) || (elf->wide && size < HEADER_64))
        return false;
    struct fields fields = fields_of(elf, bytes + IDENT_SIZE);
    struct tables tables = {0};
    elf->header.e_type = half(&fields);
    elf->header.e_machine = half(&fields);
    (void)word(&fields);    /* version */
    (void)address(&fields); /* entry point */
    tables.segments = address(&fields);
    tables.sections = address(&fields);
    (void)word(&fields); /* flags */
    (void)word(&fields); /* sizes of this header and of a segment's */
    tables.segment_count = half(&fields);
    (void)half(&fields); /* size of a section's header */
    tables.section_count = half(&fields);
    tables.names = half(&fields);
    return large_counts(elf, &tables) && load_segments(elf, &tables) && load_sections(elf, &tables);
}

struct pug_elf *pug_elf_open(int descriptor)
{
    const int own = dup(descriptor);
    struct pug_elf *elf = own >= 0 ? calloc(1, sizeof(*elf)) : NULL;
    if (!elf) {
        if (own >= 0)
            close(own);
        return NULL;
    }
    if (pug_infile_adopt(own, &elf->file) == PUG_OK) {
        elf->size = pug_infile_size(elf->file);
        elf->left = elf->size <= UINT64_MAX / 2 ? elf->size * 2 : UINT64_MAX;
        if (read_header(elf))
            return elf;
    }
    pug_elf_close(elf);
    return NULL;
}

void pug_elf_close(struct pug_elf *elf)
{
    if (!elf)
        return;
    while (elf->chunks) {
        struct chunk *next = elf->chunks->next;
        free(elf->chunks->data.d_buf);
        free(elf->chunks);
        elf->chunks = next;
    }
    for (size_t i = 0; i < elf->section_count; i++)
        free(elf->sections[i].data.d_buf);
    free(elf->sections);
    free(elf->segments);
    pug_infile_close(elf->file);
    free(elf);
}

struct pug_elf_header *pug_elf_header(const struct pug_elf *elf, struct pug_elf_header *header)
{
    *header = elf->header;
    return header;
}

int pug_elf_segment_count(const struct pug_elf *elf, size_t *count)
{
    *count = elf->segment_count;
    return elf->segments_lost ? -1 : 0;
}

struct pug_elf_program_header *pug_elf_segment(const struct pug_elf *elf, int number,
                                               struct pug_elf_program_header *header)
{
    if (number < 0 || (size_t)number >= elf->segment_count)
        return NULL;
    *header = elf->segments[number];
    return header;
}

/* ---- sections ---- */

struct pug_elf_section *pug_elf_section(struct pug_elf *elf, size_t number)
{
    return number < elf->section_count ? &elf->sections[number] : NULL;
}

struct pug_elf_section *pug_elf_next_section(struct pug_elf *elf,
                                             const struct pug_elf_section *section)
{
    return pug_elf_section(elf, section ? (size_t)(section - elf->sections) + 1 : 1);
}

struct pug_elf_section_header *pug_elf_section_header(const struct pug_elf_section *section,
                                                      struct pug_elf_section_header *header)
{
    *header = section->header;
    return header;
}

int pug_elf_names_section(const struct pug_elf *elf, size_t *number)
{
    *number = elf->names;
    return elf->names ? 0 : -1;
}

/* Load bytes that are counted; NULL: too many, not in the file, or no memory. */
static uint8_t *load_counted(struct pug_elf *elf, uint64_t offset, uint64_t size)
{
    if (size > elf->left)
        return NULL;
    uint8_t *bytes = load(elf, offset, size);
    if (bytes)
        elf->left -= size;
    return bytes;
}

struct pug_elf_data *pug_elf_section_data(struct pug_elf_section *section,
                                          const struct pug_elf_data *before)
{
    const struct pug_elf_section_header *header = &section->header;
    if (before)
        return NULL;
    if (!section->loaded) {
        section->data.elf = section->elf;
        if (header->sh_type != SECTION_NO_BITS && header->sh_size > 0) {
            section->data.d_buf = load_counted(section->elf, header->sh_offset, header->sh_size);
            if (!section->data.d_buf)
                return NULL;
        }
        section->data.d_size = header->sh_size <= SIZE_MAX ? (size_t)header->sh_size : SIZE_MAX;
        section->loaded = true;
    }
    return &section->data;
}

struct pug_elf_data *pug_elf_bytes(struct pug_elf *elf, int64_t offset, size_t size,
                                   enum pug_elf_chunk type)
{
    struct chunk *chunk = offset >= 0 ? calloc(1, sizeof(*chunk)) : NULL;
    if (!chunk)
        return NULL;
    chunk->data = (struct pug_elf_data){.d_buf = load_counted(elf, (uint64_t)offset, size),
                                        .d_size = size,
                                        .elf = elf,
                                        .align = type == PUG_ELF_NOTES_8 ? 8 : 4};
    if (!chunk->data.d_buf) {
        free(chunk);
        return NULL;
    }
    chunk->next = elf->chunks;
    elf->chunks = chunk;
    return &chunk->data;
}

char *pug_elf_string(struct pug_elf *elf, size_t number, size_t offset)
{
    struct pug_elf_section *section = pug_elf_section(elf, number);
    const struct pug_elf_data *data = section && section->header.sh_type == SECTION_STRINGS
                                          ? pug_elf_section_data(section, NULL)
                                          : NULL;
    if (!data || !data->d_buf || offset >= data->d_size)
        return NULL;
    char *text = (char *)data->d_buf + offset;
    return memchr(text, 0, data->d_size - offset) ? text : NULL;
}

/* ---- entries ---- */

/* Entry `number` of a table with entries of this size; false: the table ends before. */
static bool entry_of(const struct pug_elf_data *data, int number, size_t size,
                     struct fields *fields)
{
    if (!data || !data->d_buf || number < 0 || (size_t)number >= data->d_size / size)
        return false;
    *fields = fields_of(data->elf, (const uint8_t *)data->d_buf + (size_t)number * size);
    return true;
}

struct pug_elf_symbol *pug_elf_symbol(const struct pug_elf_data *data, int number,
                                      struct pug_elf_symbol *symbol)
{
    struct fields fields;
    if (!data || !entry_of(data, number, data->elf->wide ? SYMBOL_64 : SYMBOL_32, &fields))
        return NULL;
    symbol->st_name = word(&fields);
    if (!fields.wide) {
        symbol->st_value = address(&fields);
        symbol->st_size = address(&fields);
    }
    symbol->st_info = *fields.at++;
    symbol->st_other = *fields.at++;
    symbol->st_shndx = half(&fields);
    if (fields.wide) {
        symbol->st_value = address(&fields);
        symbol->st_size = address(&fields);
    }
    return symbol;
}

static struct pug_elf_relocation *relocation_of(const struct pug_elf_data *data, int number,
                                                size_t words, struct pug_elf_relocation *relocation)
{
    struct fields fields;
    if (!data || !entry_of(data, number, words * (data->elf->wide ? 8 : 4), &fields))
        return NULL;
    relocation->r_offset = address(&fields);
    relocation->r_info = address(&fields);
    if (!fields.wide)
        relocation->r_info = relocation->r_info >> 8 << 32 | (relocation->r_info & 0xff);
    return relocation;
}

struct pug_elf_relocation *pug_elf_rel(const struct pug_elf_data *data, int number,
                                       struct pug_elf_relocation *relocation)
{
    return relocation_of(data, number, 2, relocation);
}

struct pug_elf_relocation *pug_elf_rela(const struct pug_elf_data *data, int number,
                                        struct pug_elf_relocation *relocation)
{
    return relocation_of(data, number, 3, relocation);
}

static uint64_t aligned(uint64_t offset, unsigned align)
{
    return (offset + align - 1) & ~(uint64_t)(align - 1);
}

size_t pug_elf_note(const struct pug_elf_data *data, size_t offset, struct pug_elf_note *note,
                    size_t *name, size_t *description)
{
    if (!data->d_buf || offset > data->d_size || data->d_size - offset < NOTE_HEADER)
        return 0;
    struct fields fields = fields_of(data->elf, (const uint8_t *)data->d_buf + offset);
    note->n_namesz = word(&fields);
    note->n_descsz = word(&fields);
    note->n_type = word(&fields);
    const uint64_t named = (uint64_t)offset + NOTE_HEADER;
    const uint64_t described = aligned(named + note->n_namesz, data->align);
    const uint64_t end = described + note->n_descsz;
    if (named + note->n_namesz > data->d_size || (note->n_descsz > 0 && end > data->d_size))
        return 0;
    *name = (size_t)named;
    *description = described < data->d_size ? (size_t)described : data->d_size;
    const uint64_t next = aligned(end, data->align);
    return next < data->d_size ? (size_t)next : data->d_size;
}
