// SPDX-License-Identifier: MIT
/** @file A64. */
#include "isa/arm.h"

enum form { IMM19 = 1, IMM14, IMM26, IMM9 };

/* clang-format off */
static const struct pug_arm_rule rules[] = {
    /* BR, BLR; RET; ERET */
    {0xffdffc1f, 0xd61f0000, .type = IBR, .link = 21},
    {0xfffffc1f, 0xd65f0000, .type = IBR, .subtype = PUG_SUB_V8_RET},
    {0xffffffff, 0xd69f03e0, .type = IBR, .subtype = PUG_SUB_V8_ERET},
    /* BRAA, BRAB, BLRAA, BLRAB; BRAAZ, BRABZ, BLRAAZ, BLRABZ */
    {0xffdff800, 0xd71f0800, .needs = V8R3, .type = IBR, .link = 21},
    {0xffdff81f, 0xd61f081f, .needs = V8R3, .type = IBR, .link = 21},
    /* ERETAA, ERETAB; RETAA, RETAB; RETAASPPC, RETABSPPC; RETAASPPCR, RETABSPPCR; TEXIT */
    {0xfffffbff, 0xd69f0bff, .needs = V8R3, .type = IBR, .subtype = PUG_SUB_V8_ERET},
    {0xfffffbff, 0xd65f0bff, .needs = V8R3, .type = IBR, .subtype = PUG_SUB_V8_RET},
    {0xffc0001f, 0x5500001f, .needs = V8R3, .type = IBR, .subtype = PUG_SUB_V8_RET},
    {0xfffffbe0, 0xd65f0be0, 0x0000001f, 0x0000001f, V8R3, IBR, .subtype = PUG_SUB_V8_RET},
    {0xfffffbff, 0xd6ff03e0, .needs = V8R3, .type = IBR, .subtype = PUG_SUB_V8_ERET},
    /* CBZ, CBNZ; TBZ, TBNZ */
    {0x7e000000, 0x34000000, .type = BR, .form = IMM19, .cond = true},
    {0x7e000000, 0x36000000, .type = BR, .form = IMM14, .cond = true},
    /* B.AL, B.NV, BC.AL, BC.NV are always taken; B.cond, BC.cond */
    {0xff00000e, 0x5400000e, .needs = RIGHT, .type = BR, .form = IMM19},
    {0xff000000, 0x54000000, .type = BR, .form = IMM19, .cond = true},
    /* B, BL */
    {0x7c000000, 0x14000000, .type = BR, .form = IMM26, .link = 31},
    /* CB<cc> W, CBB<cc>, CBH<cc>; CB<cc> X; CB<cc> immediate: cc 10x is not allocated */
    {0xff000000, 0x74000000, 0x0000c000, 0x00004000, REFERENCE, BR, .form = IMM9},
    {0xff00c000, 0xf4000000, .needs = REFERENCE, .type = BR, .form = IMM9},
    {0x7f004000, 0x75000000, .needs = REFERENCE, .type = BR, .form = IMM9},
    {0x7e800000, 0x74800000, 0x00400000, 0x00400000, .needs = RIGHT, .type = PUG_INSTR_OTHER},
    {0xff000000, 0x74000000, 0x0000c000, 0x00004000, RIGHT, BR, .form = IMM9, .cond = true},
    {0xff00c000, 0xf4000000, .needs = RIGHT, .type = BR, .form = IMM9, .cond = true},
    {0x7f004000, 0x75000000, .needs = RIGHT, .type = BR, .form = IMM9, .cond = true},
    /* ISB; DSB, DMB, DSB nXS; WFE, WFI; WFET, WFIT; TSTART */
    {0xfffff0ff, 0xd50330df, .type = PUG_INSTR_ISB},
    {0xfffff0ff, 0xd503309f, .needs = DSB, .type = PUG_INSTR_DSB_DMB},
    {0xfffff0ff, 0xd50330bf, .needs = DSB, .type = PUG_INSTR_DSB_DMB},
    {0xfffff3ff, 0xd503323f, .needs = DSB | RIGHT, .type = PUG_INSTR_DSB_DMB},
    {0xffffffdf, 0xd503205f, .needs = WFX, .type = PUG_INSTR_WFI_WFE},
    {0xffffffc0, 0xd5031000, .needs = WFX | AA64, .type = PUG_INSTR_WFI_WFE},
    {0xffffffe0, 0xd5233060, .needs = AA64, .type = PUG_INSTR_TSTART},
};

/* The groups without instructions: the architecture's "reserved" (UDF among them) and the two
   unallocated main encodings. */
static const struct pug_arm_rule undefined[] = {
    {0xffff0000, 0x00000000, .needs = PUG_GATE_CHECK, .undefined = true},
    {0x9e000000, 0x00000000, .needs = PUG_GATE_CHECK | RIGHT, .undefined = true},
    {0x1e000000, 0x02000000, .needs = PUG_GATE_CHECK | RIGHT, .undefined = true},
    {0x1e000000, 0x06000000, .needs = PUG_GATE_CHECK | RIGHT, .undefined = true},
};
/* clang-format on */

#define COUNT(table) (sizeof(table) / sizeof((table)[0]))

static uint64_t target(uint64_t address, uint32_t opcode, enum form form)
{
    switch (form) {
    case IMM19: return address + (uint64_t)(pug_sign(opcode >> 5, 19) * 4);
    case IMM14: return address + (uint64_t)(pug_sign(opcode >> 5, 14) * 4);
    case IMM26: return address + (uint64_t)(pug_sign(opcode, 26) * 4);
    default: return address + (uint64_t)(pug_sign(opcode >> 5, 9) * 4);
    }
}

enum pug_status pug_isa_a64(const struct pug_isa_config *config, uint64_t address, uint32_t opcode,
                            struct pug_insn *insn)
{
    insn->size = 4;
    insn->next_isa = PUG_ISA_A64;
    /* Branches, exception generation and system instructions are one main encoding group. */
    bool branch_group = (opcode & 0x1c000000) == 0x14000000;
    if (!branch_group && !config->check_opcode)
        return PUG_OK;
    unsigned gates = pug_arm_gates(config);
    if (pug_arm_match(undefined, COUNT(undefined), gates, opcode))
        return PUG_ERR_INVALID_OPCODE;
    const struct pug_arm_rule *rule =
        branch_group ? pug_arm_match(rules, COUNT(rules), gates, opcode) : NULL;
    if (!rule)
        return PUG_OK;
    pug_arm_apply(rule, opcode, insn);
    if (rule->form != PUG_NO_TARGET)
        insn->target = target(address, opcode, rule->form);
    return PUG_OK;
}
