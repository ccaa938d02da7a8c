// SPDX-License-Identifier: MIT
/**
 * @file Kernel modules (section 14): relocatable files, whose sections the kernel laid out by
 * itself, and whose branches lead nowhere until they are relocated.
 */
#include "perfdata/perfdata.h"
#include "perfdata/program.h"

#include <stdlib.h>
#include <string.h>

enum { SHT_PROGBITS = 1, SHT_RELA = 4, SHT_REL = 9, SHF_EXECINSTR = 4 };
enum { R_TSTBR14 = 279, R_CONDBR19 = 280, R_JUMP26 = 282, R_CALL26 = 283 };
enum { R_ARM_PC24 = 1, R_ARM_THM_CALL = 10, R_ARM_CALL = 28, R_ARM_JUMP24, R_ARM_THM_JUMP24 };

#define MOST_TEXT (64u << 20)
#define MOST_NAME 1024u /* bytes of a function's: the kernel has none of 512 */

struct placing {
    struct pug_perf *perf;
    struct pug_perf_program *program;
    struct pug_perf_symbols symbols;
    char module[64];     /* as kallsyms calls it */
    uint64_t *addresses; /* of sections, in memory; 0: not known */
    /* Sections do not lie over each other: all together they are no larger than the file. */
    uint64_t text_left, tables_left;
    const struct pug_perf_object *details;
};

/** A function of the module. */
struct function {
    const char *name;
    uint64_t value;
    uint32_t section;
};

static int by_name(const void *left, const void *right)
{
    const struct function *a = left, *b = right;
    const int names = strcmp(a->name, b->name);
    if (names != 0)
        return names;
    return a->value < b->value ? -1 : a->value > b->value;
}

/** The module's functions, by name; *count: how many. NULL: none, or no memory. */
static struct function *list_functions(const struct placing *placing, size_t *count)
{
    const struct pug_perf_program *program = placing->program;
    struct pug_perf_elf_symbol symbol;
    struct function *functions =
        placing->symbols.count ? calloc(placing->symbols.count, sizeof(*functions)) : NULL;
    *count = 0;
    for (size_t n = 0; functions && pug_perf_symbol_at(&placing->symbols, n, &symbol); n++)
        if (symbol.section > 0 && symbol.section < program->section_count && *symbol.name &&
            *symbol.name != '$' && !symbol.section_itself &&
            strnlen(symbol.name, MOST_NAME) < MOST_NAME &&
            (program->sections[symbol.section].flags & SHF_EXECINSTR))
            functions[(*count)++] =
                (struct function){symbol.name, symbol.value, (uint32_t)symbol.section};
    if (!functions && placing->symbols.count > 0)
        pug_capture_starve(placing->perf->capture);
    if (*count > 0)
        qsort(functions, *count, sizeof(*functions), by_name);
    return functions;
}

/**
 * Functions of one name tell where their section is, if it has all of them that the kernel knows:
 * static ones of several files may be called the same. The lowest one there is the lowest here.
 */
static void place_section(struct placing *placing, const struct function *functions, size_t count)
{
    uint64_t address, value = functions[0].value;
    const uint32_t section = functions[0].section;
    for (size_t i = 1; i < count; i++)
        if (functions[i].section != section)
            return;
    if (placing->addresses[section] ||
        pug_perf_kernel_symbols(placing->perf, placing->details->guest, placing->module,
                                functions[0].name, &address) != count)
        return;
    if (placing->program->machine == PUG_PERF_EM_ARM) { /* bit 0 marks T32, here or there */
        address &= ~UINT64_C(1);
        value &= ~UINT64_C(1);
    }
    if (address - placing->details->first_address < placing->details->first_size)
        placing->addresses[section] = address - value;
}

/** Sections lie where their functions do. */
static void find_sections(struct placing *placing)
{
    size_t count;
    struct function *functions = list_functions(placing, &count);
    for (size_t from = 0, to; from < count; from = to) {
        for (to = from + 1; to < count && strcmp(functions[to].name, functions[from].name) == 0;)
            to++;
        place_section(placing, functions + from, to - from);
    }
    free(functions);
}

/** Without symbols: .text is where the recorder says, or else where the module begins. */
static void assume_text(struct placing *placing)
{
    const struct pug_perf_section *text = pug_perf_program_section(placing->program, ".text");
    if (!text)
        return;
    uint64_t *address = &placing->addresses[text - placing->program->sections];
    if (!*address)
        *address = placing->details->first_address +
                   (placing->details->has_memory_offset ? placing->details->memory_offset : 0);
}

/* ---- relocations ---- */

/** Returns the address of a symbol in memory; false: unknown. */
static bool symbol_address(const struct placing *placing, size_t number, uint64_t *address)
{
    struct pug_perf_elf_symbol symbol;
    if (!pug_perf_symbol_at(&placing->symbols, number, &symbol))
        return false;
    if (symbol.section > 0 && symbol.section < placing->program->section_count) {
        *address = placing->addresses[symbol.section] + symbol.value;
        return placing->addresses[symbol.section] != 0;
    }
    return pug_perf_kernel_global(placing->perf, placing->details->guest, symbol.name, address);
}

/** Bits of the offset that a branch has, in words; 0: it is no branch that says where it goes. */
static unsigned offset_bits(uint32_t type)
{
    switch (type) {
    case R_TSTBR14: return 14;
    case R_CONDBR19: return 19;
    case R_JUMP26:
    case R_CALL26: return 26;
    default: return 0;
    }
}

static void put_words(uint8_t *bytes, uint32_t opcode)
{
    for (unsigned i = 0; i < 4; i++)
        bytes[i] = (uint8_t)(opcode >> 8 * i);
}

static bool patch(uint8_t *bytes, unsigned bits, uint64_t from, uint64_t to)
{
    const int64_t distance = (int64_t)(to - from);
    const int64_t reach = INT64_C(1) << (bits + 1);
    const unsigned shift = bits == 26 ? 0 : 5;
    const uint32_t mask = ((UINT32_C(1) << bits) - 1) << shift;
    if ((distance & 3) != 0 || distance < -reach || distance >= reach)
        return false;
    uint32_t opcode = pug_bytes_32(bytes);
    opcode = (opcode & ~mask) | ((uint32_t)(distance >> 2) << shift & mask);
    put_words(bytes, opcode);
    return true;
}

/** A32: what is to be added stands in the instruction. */
static bool patch_a32(uint8_t *bytes, uint64_t from, uint64_t to)
{
    const uint32_t opcode = pug_bytes_32(bytes);
    const int32_t addend = (int32_t)((opcode & 0xffffff) << 8) >> 6;
    const int64_t distance = (int64_t)(to & ~UINT64_C(1)) - (int64_t)from + addend;
    const int64_t reach = INT64_C(1) << 25;
    if ((distance & 3) != 0 || distance < -reach || distance >= reach)
        return false;
    put_words(bytes, (opcode & 0xff000000) | ((uint32_t)(distance >> 2) & 0xffffff));
    return true;
}

/** T32: two halfwords, with the offset in five parts (the instructions BL and B.W). */
static bool patch_t32(uint8_t *bytes, uint64_t from, uint64_t to)
{
    const uint32_t upper = pug_bytes_16(bytes), lower = pug_bytes_16(bytes + 2);
    const uint32_t sign = upper >> 10 & 1;
    const uint32_t i1 = ~(lower >> 13 ^ sign) & 1, i2 = ~(lower >> 11 ^ sign) & 1;
    const uint32_t word =
        sign << 24 | i1 << 23 | i2 << 22 | (upper & 0x3ff) << 12 | (lower & 0x7ff) << 1;
    const int32_t addend = (int32_t)(word << 7) >> 7;
    const int64_t distance = (int64_t)(to & ~UINT64_C(1)) - (int64_t)from + addend;
    const int64_t reach = INT64_C(1) << 24;
    if (distance < -reach || distance >= reach)
        return false;
    const uint32_t moved = (uint32_t)distance, s = moved >> 24 & 1;
    const uint32_t j1 = (~(moved >> 23) ^ s) & 1, j2 = (~(moved >> 22) ^ s) & 1;
    const uint32_t first = (upper & 0xf800) | s << 10 | (moved >> 12 & 0x3ff);
    const uint32_t second = (lower & 0xd000) | j1 << 13 | j2 << 11 | (moved >> 1 & 0x7ff);
    put_words(bytes, first | second << 16);
    return true;
}

/** One branch that says where it goes. False: it cannot go there. */
static bool patch_branch(uint16_t machine, uint32_t type, uint8_t *bytes, uint64_t from,
                         uint64_t to)
{
    if (machine == PUG_PERF_EM_AARCH64)
        return patch(bytes, offset_bits(type), from, to);
    return type == R_ARM_THM_CALL || type == R_ARM_THM_JUMP24 ? patch_t32(bytes, from, to)
                                                              : patch_a32(bytes, from, to);
}

static bool is_branch(uint16_t machine, uint32_t type)
{
    if (machine == PUG_PERF_EM_AARCH64)
        return offset_bits(type) > 0;
    return machine == PUG_PERF_EM_ARM && (type == R_ARM_PC24 || type == R_ARM_THM_CALL ||
                                          (type >= R_ARM_CALL && type <= R_ARM_THM_JUMP24));
}

/** Leave out an instruction whose target is unknown. */
static void add_hole(const struct pug_perf *perf, struct pug_perf_placed *placed, uint64_t offset)
{
    const size_t count = placed->hole_count;
    if ((count & (count - 1)) == 0) { /* a power of two: there is room for no more */
        uint64_t *holes = realloc(placed->holes, (count ? 2 * count : 1) * sizeof(*holes));
        if (!holes) {
            pug_capture_starve(perf->capture);
            return;
        }
        placed->holes = holes;
    }
    placed->holes[placed->hole_count++] = offset;
}

static int by_offset(const void *left, const void *right)
{
    const uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;
    return (a > b) - (a < b);
}

/** A relocation of either class, with or without an addend of its own. */
struct relocation {
    uint64_t offset, addend;
    uint32_t type, symbol;
};

static struct relocation read_relocation(const uint8_t *entry, bool is64, bool has_addend)
{
    if (is64)
        return (struct relocation){.offset = pug_bytes_64(entry),
                                   .type = pug_bytes_32(entry + 8),
                                   .symbol = pug_bytes_32(entry + 12),
                                   .addend = has_addend ? pug_bytes_64(entry + 16) : 0};
    const uint32_t info = pug_bytes_32(entry + 4);
    return (struct relocation){.offset = pug_bytes_32(entry),
                               .type = info & 0xff,
                               .symbol = info >> 8,
                               .addend = has_addend ? pug_bytes_32(entry + 8) : 0};
}

static void relocate(struct placing *placing, const struct pug_perf_section *table,
                     struct pug_perf_placed *placed)
{
    const struct pug_perf_program *program = placing->program;
    const bool has_addend = table->type == SHT_RELA;
    const unsigned size = (has_addend ? 3u : 2u) * (program->is64 ? 8 : 4);
    const bool fits = table->size <= placing->tables_left;
    uint8_t *entries = fits ? pug_perf_program_load(program, table) : NULL;
    placing->tables_left -= fits ? table->size : 0;
    for (uint64_t at = 0; entries && at + size <= table->size; at += size) {
        const struct relocation entry = read_relocation(entries + at, program->is64, has_addend);
        uint64_t target;
        if (!is_branch(program->machine, entry.type) || placed->size < 4 ||
            entry.offset > placed->size - 4)
            continue;
        if (!symbol_address(placing, entry.symbol, &target) ||
            !patch_branch(program->machine, entry.type, placed->bytes + entry.offset,
                          placed->address + entry.offset, target + entry.addend))
            add_hole(placing->perf, placed, entry.offset);
    }
    free(entries);
}

static bool place(struct placing *placing, size_t number)
{
    struct pug_perf_program *program = placing->program;
    const struct pug_perf_section *section = &program->sections[number];
    if (section->type != SHT_PROGBITS || section->size > MOST_TEXT ||
        section->size > placing->text_left)
        return true;
    placing->text_left -= section->size;
    uint8_t *bytes = pug_perf_program_load(program, section);
    struct pug_perf_placed *all =
        bytes ? realloc(program->placed, (program->placed_count + 1) * sizeof(*all)) : NULL;
    if (!all) {
        free(bytes);
        return false;
    }
    program->placed = all;
    struct pug_perf_placed *placed = &all[program->placed_count++];
    *placed = (struct pug_perf_placed){.address = placing->addresses[number],
                                       .vaddr = section->vaddr,
                                       .bytes = bytes,
                                       .size = (size_t)section->size};
    for (size_t i = 0; i < program->section_count; i++)
        if ((program->sections[i].type == SHT_RELA || program->sections[i].type == SHT_REL) &&
            program->sections[i].info == number)
            relocate(placing, &program->sections[i], placed);
    if (placed->hole_count > 0)
        qsort(placed->holes, placed->hole_count, sizeof(*placed->holes), by_offset);
    return true;
}

enum pug_status pug_perf_place_module(struct pug_perf *perf, uint32_t object,
                                      struct pug_perf_program *program)
{
    const uint64_t length = pug_file_length(program->file);
    struct placing placing = {.perf = perf,
                              .program = program,
                              .details = &pug_perf_details(perf)[object],
                              .text_left = length,
                              .tables_left = length};
    if (!program->relocatable)
        return PUG_OK;
    pug_perf_module_name(pug_capture_objects(perf->capture)[object]->path, placing.module,
                         sizeof(placing.module));
    placing.addresses = calloc(program->section_count + 1, sizeof(*placing.addresses));
    if (!placing.addresses)
        return PUG_ERR_MEM;
    bool good = true;
    (void)pug_perf_symbols_load(program, &placing.symbols);
    find_sections(&placing);
    assume_text(&placing);
    for (size_t i = 0; good && i < program->section_count; i++)
        if (placing.addresses[i])
            good = place(&placing, i);
    pug_perf_symbols_free(&placing.symbols);
    free(placing.addresses);
    return good ? PUG_OK : PUG_ERR_MEM;
}
