// SPDX-License-Identifier: MIT
/** @file Stubs of the procedure linkage table: the function whose address each one loads. */
#include "names/elf.h"
#include "names/names.h"
#include "pugmark/element.h"

#include <string.h>

#define STUB_LIMIT 64u /* bytes that are looked at from one stub on */

static uint32_t word_at(const struct pug_names_code *code, uint64_t address)
{
    const uint8_t *at = code->bytes + (address - code->start);
    return at[0] | (uint32_t)at[1] << 8 | (uint32_t)at[2] << 16 | (uint32_t)at[3] << 24;
}

static bool is_adrp(uint32_t word)
{
    return (word & 0x9f00001f) == 0x90000010; /* ADRP X16 */
}

/* ADRP X16, page; LDR X17, [X16, #offset] */
static bool a64_slot(const struct pug_names_code *code, uint64_t at, uint64_t *slot)
{
    const uint32_t adrp = word_at(code, at), load = word_at(code, at + 4);
    if (!is_adrp(adrp) || (load & 0xffc003ff) != 0xf9400211)
        return false;
    const uint64_t pages = (adrp >> 5 & 0x7ffff) << 2 | (adrp >> 29 & 3);
    const uint64_t moved = pages & 0x100000 ? pages | ~UINT64_C(0x1fffff) : pages;
    *slot = (at & ~UINT64_C(0xfff)) + moved * 4096 + (load >> 10 & 0xfff) * 8;
    return true;
}

/* AUIPC t3, high; LW/LD t3, low(t3) */
static bool riscv_slot(const struct pug_names_code *code, uint64_t at, uint64_t *slot)
{
    const uint32_t upper = word_at(code, at), load = word_at(code, at + 4);
    if ((upper & 0xfff) != 0xe17 || ((load & 0xfffff) != 0xe3e03 && (load & 0xfffff) != 0xe2e03))
        return false;
    *slot = at + (uint64_t)(int64_t)(int32_t)(upper & 0xfffff000) +
            (uint64_t)(int64_t)((int32_t)load >> 20);
    return true;
}

static bool slot_of(const struct pug_names_code *code, uint64_t at, uint64_t *slot)
{
    if (at < code->start || code->end - at < 8 || at >= code->end)
        return false;
    return code->isa == PUG_ISA_A64                                 ? a64_slot(code, at, slot)
           : code->isa == PUG_ISA_RV64 || code->isa == PUG_ISA_RV32 ? riscv_slot(code, at, slot)
                                                                    : false;
}

static const char *symbol_name(Elf *elf, const GElf_Shdr *relocations, size_t index)
{
    GElf_Shdr header;
    GElf_Sym symbol;
    Elf_Scn *table = elf_getscn(elf, relocations->sh_link);
    if (!table || !gelf_getshdr(table, &header) ||
        !gelf_getsym(elf_getdata(table, NULL), (int)index, &symbol))
        return NULL;
    return elf_strptr(elf, header.sh_link, symbol.st_name);
}

/* The symbol of the relocation that fills a slot. */
static const char *slot_name(Elf *elf, uint64_t slot)
{
    Elf_Scn *section = NULL;
    while ((section = elf_nextscn(elf, section)) != NULL) {
        GElf_Shdr header;
        if (!gelf_getshdr(section, &header) || !(header.sh_flags & SHF_ALLOC) ||
            (header.sh_type != SHT_RELA && header.sh_type != SHT_REL) || header.sh_entsize == 0)
            continue;
        Elf_Data *data = elf_getdata(section, NULL);
        const size_t count = data ? data->d_size / header.sh_entsize : 0;
        for (size_t i = 0; i < count; i++) {
            GElf_Rela rela;
            GElf_Rel rel;
            if (header.sh_type == SHT_RELA && gelf_getrela(data, (int)i, &rela) &&
                rela.r_offset == slot)
                return symbol_name(elf, &header, GELF_R_SYM(rela.r_info));
            if (header.sh_type == SHT_REL && gelf_getrel(data, (int)i, &rel) &&
                rel.r_offset == slot)
                return symbol_name(elf, &header, GELF_R_SYM(rel.r_info));
        }
    }
    return NULL;
}

const char *pug_names_stub(struct pug_names_file *file, uint64_t vaddr, uint64_t *start)
{
    for (size_t i = 0; i < file->code_count; i++) {
        const struct pug_names_code *code = &file->code[i];
        if (!code->plt || vaddr < code->start || vaddr >= code->end)
            continue;
        /* the load that contains the address or precedes it */
        uint64_t at = vaddr & ~UINT64_C(3), slot;
        for (unsigned back = 0; back < STUB_LIMIT && !slot_of(code, at, &slot); back += 4, at -= 4)
            if (at == code->start)
                return NULL;
        if (!slot_of(code, at, &slot))
            return NULL;
        *start = at;
        if (at - code->start >= 4 && word_at(code, at - 4) == 0xd503245f) /* BTI C */
            *start = at - 4;
        const char *name = slot_name(file->elf->elf, slot);
        return name && *name ? pug_names_string(&file->names->strings, name) : NULL;
    }
    return NULL;
}
