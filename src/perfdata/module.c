// SPDX-License-Identifier: MIT
/**
 * @file Kernel modules (section 14): relocatable files, whose sections the kernel laid out by
 * itself, and whose branches lead nowhere until they are relocated.
 */
#include "perfdata/perfdata.h"
#include "perfdata/program.h"

#include <stdlib.h>
#include <string.h>

enum { SHT_RELA = 4, SHF_EXECINSTR = 4, SHT_PROGBITS = 1, EM_AARCH64 = 183 };
enum { R_TSTBR14 = 279, R_CONDBR19 = 280, R_JUMP26 = 282, R_CALL26 = 283 };

#define MOST_TEXT (64u << 20)

struct placing {
    struct pug_perf *perf;
    struct pug_perf_program *program;
    struct pug_perf_symbols symbols;
    char module[64];     /* as kallsyms calls it */
    uint64_t *addresses; /* of sections, in memory; 0: not known */
    const struct pug_perf_object *details;
};

/** "/lib/…/rq-stats.ko" and "[rq_stats]" are the module rq_stats. */
static void name_module(const char *path, char *name, size_t size)
{
    const char *slash = strrchr(path, '/');
    size_t at = 0;
    for (const char *from = slash ? slash + 1 : path; *from && at + 1 < size; from++) {
        if (*from == '.' || *from == ']')
            break;
        if (*from != '[')
            name[at++] = *from == '-' ? '_' : *from;
    }
    name[at] = 0;
}

/** Sections lie where their symbols do: the first one that kallsyms knows tells. */
static void find_sections(struct placing *placing)
{
    struct pug_perf_elf_symbol symbol;
    uint64_t address;
    for (size_t n = 0; pug_perf_symbol_at(&placing->symbols, n, &symbol); n++) {
        if (symbol.section == 0 || symbol.section >= placing->program->section_count ||
            placing->addresses[symbol.section] || !*symbol.name || *symbol.name == '$' ||
            !(placing->program->sections[symbol.section].flags & SHF_EXECINSTR))
            continue;
        if (pug_perf_kernel_symbol(placing->perf, placing->module, symbol.name, &address) &&
            address - placing->details->first_address < placing->details->first_size)
            placing->addresses[symbol.section] = address - symbol.value;
    }
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

/** Where a symbol is in memory; false: nobody knows. */
static bool symbol_address(const struct placing *placing, size_t number, uint64_t *address)
{
    struct pug_perf_elf_symbol symbol;
    if (!pug_perf_symbol_at(&placing->symbols, number, &symbol))
        return false;
    if (symbol.section > 0 && symbol.section < placing->program->section_count) {
        *address = placing->addresses[symbol.section] + symbol.value;
        return placing->addresses[symbol.section] != 0;
    }
    return pug_perf_kernel_symbol(placing->perf, placing->module, symbol.name, address);
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
    for (unsigned i = 0; i < 4; i++)
        bytes[i] = (uint8_t)(opcode >> 8 * i);
    return true;
}

/** An instruction of which nobody knows where it goes is not there. */
static void add_hole(struct pug_perf_placed *placed, uint64_t offset)
{
    uint64_t *holes = realloc(placed->holes, (placed->hole_count + 1) * sizeof(*holes));
    if (!holes)
        return;
    placed->holes = holes;
    size_t at = placed->hole_count++;
    for (; at > 0 && holes[at - 1] > offset; at--)
        holes[at] = holes[at - 1];
    holes[at] = offset;
}

static void relocate(const struct placing *placing, const struct pug_perf_section *table,
                     struct pug_perf_placed *placed)
{
    uint8_t *entries = pug_perf_program_load(placing->program, table);
    for (uint64_t at = 0; entries && at + 24 <= table->size; at += 24) {
        const uint64_t offset = pug_bytes_64(entries + at), info = pug_bytes_64(entries + at + 8);
        const unsigned bits = offset_bits((uint32_t)info);
        uint64_t target;
        if (bits == 0 || placed->size < 4 || offset > placed->size - 4)
            continue;
        if (!symbol_address(placing, (size_t)(info >> 32), &target) ||
            !patch(placed->bytes + offset, bits, placed->address + offset,
                   target + pug_bytes_64(entries + at + 16)))
            add_hole(placed, offset);
    }
    free(entries);
}

static bool place(const struct placing *placing, size_t number)
{
    struct pug_perf_program *program = placing->program;
    const struct pug_perf_section *section = &program->sections[number];
    if (section->type != SHT_PROGBITS || section->size > MOST_TEXT)
        return true;
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
        if (program->sections[i].type == SHT_RELA && program->sections[i].info == number &&
            program->machine == EM_AARCH64)
            relocate(placing, &program->sections[i], placed);
    return true;
}

enum pug_status pug_perf_place_module(struct pug_perf *perf, uint32_t object,
                                      struct pug_perf_program *program)
{
    struct placing placing = {
        .perf = perf, .program = program, .details = &pug_perf_details(perf)[object]};
    if (!program->relocatable)
        return PUG_OK;
    name_module(pug_capture_objects(perf->capture)[object]->path, placing.module,
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
