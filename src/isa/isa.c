// SPDX-License-Identifier: MIT
/** @file One door to all instruction sets. */
#include "isa/arm.h"
#include "isa/riscv.h"

#include <string.h>

void pug_isa_config_quirks(struct pug_isa_config *config, const struct pug_quirks *quirks)
{
    config->reference_classes = quirks->reference_classes;
    config->t32_word_reads = quirks->t32_word_reads;
}

static uint32_t word(const uint8_t *bytes, unsigned avail)
{
    uint32_t value = 0;
    for (unsigned i = 0; i < 4 && i < avail; i++)
        value |= (uint32_t)bytes[i] << (8 * i);
    return value;
}

static enum pug_status classify_t32(const struct pug_isa_config *config, uint64_t address,
                                    const uint8_t *bytes, unsigned avail, uint8_t *it_count,
                                    struct pug_insn *insn)
{
    if (avail < 2)
        return PUG_ERR_NO_PROGRAM_MEMORY;
    uint32_t opcode = word(bytes, avail);
    bool wide = (opcode & 0xffff) >= 0xe800;
    if (avail < 4 && (wide || config->t32_word_reads))
        return PUG_ERR_NO_PROGRAM_MEMORY;
    return pug_isa_t32(config, address, opcode, it_count, insn);
}

enum pug_status pug_isa_classify(const struct pug_isa_config *config, enum pug_isa isa,
                                 uint64_t address, const uint8_t *bytes, unsigned avail,
                                 uint8_t *it_count, struct pug_insn *insn)
{
    if (!config || !insn || !it_count || (!bytes && avail > 0))
        return PUG_ERR_INVALID_PARAM_VAL;
    memset(insn, 0, sizeof(*insn));
    insn->next_isa = (uint8_t)isa;
    switch (isa) {
    case PUG_ISA_A64:
        if (avail < 4)
            return PUG_ERR_NO_PROGRAM_MEMORY;
        *it_count = 0;
        return pug_isa_a64(config, address, word(bytes, avail), insn);
    case PUG_ISA_A32:
        if (avail < 4)
            return PUG_ERR_NO_PROGRAM_MEMORY;
        *it_count = 0;
        return pug_isa_a32(config, address, word(bytes, avail), insn);
    case PUG_ISA_T32: return classify_t32(config, address, bytes, avail, it_count, insn);
    case PUG_ISA_RV32: return pug_isa_riscv(config, 32, address, bytes, avail, insn);
    case PUG_ISA_RV64: return pug_isa_riscv(config, 64, address, bytes, avail, insn);
    default:
        return avail < 4 && config->t32_word_reads ? PUG_ERR_NO_PROGRAM_MEMORY
                                                   : PUG_ERR_UNSUPPORTED_ISA;
    }
}
