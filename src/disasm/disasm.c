// SPDX-License-Identifier: MIT
#include "pugmark/disasm.h"

#include "base/text.h"
#include "disasm/llvm.h"
#include "pugmark/advanced/isa.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct pug_disasm {
    pug_disasm_fn *function;
    void *context;
    struct pug_llvm *llvm; /* or NULL */
};

enum pug_status pug_disasm_new(const struct pug_disasm_options *options, struct pug_disasm **out)
{
    if (!out)
        return PUG_ERR_INVALID_PARAM_VAL;
    *out = NULL;
    struct pug_disasm *disasm = calloc(1, sizeof(*disasm));
    if (!disasm)
        return PUG_ERR_MEM;
    if (options && options->function) {
        disasm->function = options->function;
        disasm->context = options->context;
    } else {
        disasm->llvm = pug_llvm_new();
        disasm->function = pug_llvm_text;
        disasm->context = disasm->llvm;
        if (!disasm->llvm) {
            free(disasm);
            return PUG_ERR_MEM;
        }
    }
    *out = disasm;
    return PUG_OK;
}

void pug_disasm_free(struct pug_disasm *disasm)
{
    if (!disasm)
        return;
    pug_llvm_free(disasm->llvm);
    free(disasm);
}

/** One blank where there are many, none at the ends. */
static void fold_blanks(char *text)
{
    char *to = text;
    for (const char *from = text; *from; from++)
        if (!isspace((unsigned char)*from))
            *to++ = *from;
        else if (to > text && to[-1] != ' ')
            *to++ = ' ';
    if (to > text && to[-1] == ' ')
        to--;
    *to = 0;
}

/** The last operand of a direct branch is how far it leads: say where to. */
static void name_target(enum pug_isa isa, uint64_t address, const uint8_t *bytes, size_t size,
                        char *text, size_t room)
{
    static const struct pug_isa_config config;
    struct pug_insn insn;
    uint8_t it = 0;
    if (pug_isa_classify(&config, isa, address, bytes, (unsigned)size, &it, &insn) != PUG_OK ||
        insn.type != PUG_INSTR_BR)
        return;
    char *last = strrchr(text, ' ');
    if (!last || strspn(last + 1, "-0123456789abcdefx") != strlen(last + 1))
        return;
    last++;
    snprintf(last, room - (size_t)(last - text), "0x%" PRIx64, insn.target);
}

/** ADR and ADRP: where a comment says which address it is, or the offset, the address itself. */
static void name_address(uint64_t address, const uint8_t *bytes, char *text, size_t room)
{
    const uint32_t opcode =
        bytes[0] | (uint32_t)bytes[1] << 8 | (uint32_t)bytes[2] << 16 | (uint32_t)bytes[3] << 24;
    const bool pages = opcode >> 31;
    char *comma = strchr(text, ',');
    if ((opcode & 0x1f000000) != 0x10000000 || !comma)
        return;
    uint64_t offset = (opcode >> 5 & 0x7ffff) << 2 | (opcode >> 29 & 3);
    if (offset >> 20)
        offset |= ~UINT64_C(0x1fffff);
    const uint64_t target =
        pages ? (address & ~UINT64_C(0xfff)) + (offset << 12) : address + offset;
    snprintf(comma, room - (size_t)(comma - text), ", 0x%" PRIx64, target);
}

/** The opcode as a number, in the form of an assembler's directive. */
static void put_bytes(const uint8_t *bytes, size_t size, char *text, size_t room)
{
    struct pug_text out = PUG_TEXT(text, room);
    uint64_t word = 0;
    for (size_t i = 0; i < size && i < 8; i++)
        word |= (uint64_t)bytes[i] << 8 * i;
    pug_text_put(&out, size == 2 ? ".short 0x" : size == 4 ? ".word 0x" : ".byte 0x");
    pug_text_hex(&out, word, size < 8 ? 2 * (unsigned)size : 16);
    pug_text_end(&out);
}

enum pug_status pug_disasm_status(const struct pug_disasm *disasm)
{
    if (!disasm)
        return PUG_ERR_INVALID_PARAM_VAL;
    return disasm->llvm && pug_llvm_starved(disasm->llvm) ? PUG_ERR_MEM : PUG_OK;
}

bool pug_disasm_text(struct pug_disasm *disasm, enum pug_isa isa, uint64_t address,
                     const uint8_t *bytes, size_t size, char *text, size_t room)
{
    char words[PUG_DISASM_TEXT] = "";
    bool known = disasm->function &&
                 disasm->function(disasm->context, isa, address, bytes, size, words, sizeof(words));
    words[sizeof(words) - 1] = 0;
    if (known) {
        fold_blanks(words);
        if (disasm->llvm && isa == PUG_ISA_A64)
            name_address(address, bytes, words, sizeof(words));
        if (disasm->llvm && pug_llvm_writes_offsets(isa))
            name_target(isa, address, bytes, size, words, sizeof(words));
    } else {
        put_bytes(bytes, size, words, sizeof(words));
    }
    if (room > 0)
        snprintf(text, room, "%s", words);
    return known;
}
