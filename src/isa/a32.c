// SPDX-License-Identifier: MIT
/** @file A32. */
#include "isa/arm.h"

enum form { IMM24 = 1, IMM24_EXCHANGE };

#define IMPLIED PUG_SUB_V7_IMPLIED_RET

/* clang-format off */
/* Condition field 1111. */
static const struct pug_arm_rule unconditional[] = {
    /* RFE; BLX label; ISB; DSB, DMB */
    {0xfe500000, 0xf8100000, .type = IBR},
    {0xfe000000, 0xfa000000, .type = BR, .form = IMM24_EXCHANGE, .link = PUG_LINK_ALWAYS},
    {0xfff000f0, 0xf5700060, .type = PUG_INSTR_ISB},
    {0xfff000f0, 0xf5700040, .needs = DSB, .type = PUG_INSTR_DSB_DMB},
    {0xfff000f0, 0xf5700050, .needs = DSB, .type = PUG_INSTR_DSB_DMB},
    /* MCR2 is no CP15 barrier */
    {0x0fff0fff, 0x0e070f95, .needs = REFERENCE, .type = PUG_INSTR_ISB},
    {0x0fff0fff, 0x0e070f9a, .needs = REFERENCE | DSB, .type = PUG_INSTR_DSB_DMB},
    {0x0fff0fff, 0x0e070fba, .needs = REFERENCE | DSB, .type = PUG_INSTR_DSB_DMB},
};

/* 000: data processing, registers; miscellaneous; multiplies and extra loads */
static const struct pug_arm_rule registers[] = {
    /* BX LR; BLX Rm; BX Rm; BXJ Rm */
    {0x0ff000ff, 0x0120001e, .type = IBR, .subtype = IMPLIED},
    {0x0ff000f0, 0x01200030, .type = IBR, .link = PUG_LINK_ALWAYS},
    {0x0ff000d0, 0x01200010, .type = IBR},
    {0x0ff000f0, 0x01200020, .type = IBR},
    /* MOV pc,lr; MOV and shifts with pc as destination; ERET */
    {0x0ff0ffff, 0x01a0f00e, .type = IBR, .subtype = IMPLIED},
    {0x0fe0f000, 0x01a0f000, .type = IBR},
    {0x0fffffff, 0x0160006e, .needs = RIGHT, .type = IBR},
    /* No destination register there: miscellaneous and TST … CMN; exclusive stores */
    {0x0f900080, 0x01000000, .type = PUG_INSTR_OTHER},
    {0x0f9000f0, 0x01800090, .type = PUG_INSTR_OTHER},
    /* Data processing with pc as destination */
    {0x0e00f000, 0x0000f000, .type = IBR},
};

/* 001: data processing, immediate; MSR, hints */
static const struct pug_arm_rule immediates[] = {
    {0x0ffffffe, 0x0320f002, .needs = WFX, .type = PUG_INSTR_WFI_WFE},
    /* No destination register there: MSR, hints; TST … CMN */
    {0x0fb0f000, 0x0320f000, .type = PUG_INSTR_OTHER},
    {0x0f90f000, 0x0310f000, .type = PUG_INSTR_OTHER},
    {0x0e00f000, 0x0200f000, .type = IBR},
};

/* 01: LDR pc,[sp],#imm; LDR pc,[Rn,#imm]; LDR pc,[Rn,Rm,shift] */
static const struct pug_arm_rule loads[] = {
    {0x0ffff000, 0x049df000, .type = IBR, .subtype = IMPLIED},
    {0x0e50f000, 0x0410f000, .type = IBR},
    {0x0e50f010, 0x0610f000, .type = IBR},
};

/* 100: POP {…,pc}; LDM {…,pc} */
static const struct pug_arm_rule multiple_loads[] = {
    {0x0fffa000, 0x08bd8000, .type = IBR, .subtype = IMPLIED},
    {0x0e108000, 0x08108000, .type = IBR},
};

/* 101: B, BL */
static const struct pug_arm_rule branches[] = {
    {0x0e000000, 0x0a000000, .type = BR, .form = IMM24, .link = 24},
};

/* 111: CP15ISB; CP15DSB, CP15DMB */
static const struct pug_arm_rule coprocessors[] = {
    {0x0fff0fff, 0x0e070f95, .type = PUG_INSTR_ISB},
    {0x0fff0fff, 0x0e070f9a, .needs = DSB, .type = PUG_INSTR_DSB_DMB},
    {0x0fff0fff, 0x0e070fba, .needs = DSB, .type = PUG_INSTR_DSB_DMB},
};

static const struct pug_arm_group conditional[] = {
    {0x0e000000, 0x00000000, PUG_ARM_RULES(registers)},
    {0x0e000000, 0x02000000, PUG_ARM_RULES(immediates)},
    {0x0c000000, 0x04000000, PUG_ARM_RULES(loads)},
    {0x0e000000, 0x08000000, PUG_ARM_RULES(multiple_loads)},
    {0x0e000000, 0x0a000000, PUG_ARM_RULES(branches)},
    {0x0e000000, 0x0e000000, PUG_ARM_RULES(coprocessors)},
};
/* clang-format on */

#define COUNT(table) (sizeof(table) / sizeof((table)[0]))

/* An odd result, of BLX or of an odd address, goes to T32. */
static void set_target(uint32_t address, uint32_t opcode, enum form form, struct pug_insn *insn)
{
    uint32_t raw = address + 8 + (uint32_t)(pug_sign(opcode, 24) * 4);
    if (form == IMM24_EXCHANGE)
        raw |= 1 | pug_bits(opcode, 24, 24) << 1;
    if (raw & 1)
        insn->next_isa = PUG_ISA_T32;
    insn->target = raw & ~UINT32_C(1);
}

enum pug_status pug_isa_a32(const struct pug_isa_config *config, uint64_t address, uint32_t opcode,
                            struct pug_insn *insn)
{
    insn->size = 4;
    insn->next_isa = PUG_ISA_A32;
    unsigned gates = pug_arm_gates(config);
    /* UDF, permanently undefined. */
    if (config->check_opcode && (gates & RIGHT) && (opcode & 0xfff000f0) == 0xe7f000f0)
        return PUG_ERR_INVALID_OPCODE;
    uint32_t condition = pug_bits(opcode, 31, 28);
    const struct pug_arm_rule *rule =
        condition == 15 ? pug_arm_match(unconditional, COUNT(unconditional), gates, opcode)
                        : pug_arm_find(conditional, COUNT(conditional), gates, opcode);
    if (rule) {
        pug_arm_apply(rule, opcode, insn);
        if (rule->form != PUG_NO_TARGET)
            set_target((uint32_t)address, opcode, rule->form, insn);
    }
    insn->conditional = condition < 14;
    return PUG_OK;
}
