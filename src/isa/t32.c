// SPDX-License-Identifier: MIT
/**
 * @file T32. The rules see the first halfword in bits 31:16 and the second one in bits 15:0; those
 * of 16-bit instructions look at bits 31:16 only.
 */
#include "isa/arm.h"

enum form { IMM8 = 1, IMM11, IMM20, IMM24, IMM24_EXCHANGE, CBZ, LOOP_BACK, LOOP_SKIP };

#define IMPLIED PUG_SUB_V7_IMPLIED_RET

/* clang-format off */
/* 1101, 11100: B<c>, B 16-bit; UDF, permanently undefined */
static const struct pug_arm_rule branches_16[] = {
    {0xf0000000, 0xd0000000, 0x0e000000, 0x0e000000, .type = BR, .form = IMM8, .cond = true},
    {0xf8000000, 0xe0000000, .type = BR, .form = IMM11},
    {0xff000000, 0xde000000, .needs = PUG_GATE_CHECK | RIGHT, .undefined = true},
};

/* 010001: BX LR, BXNS LR; BLX, BLXNS; BX, BXNS; MOV pc,lr; ADD pc,Rm and MOV pc,Rm */
static const struct pug_arm_rule special_data[] = {
    {0xfff80000, 0x47700000, .type = IBR, .subtype = IMPLIED},
    {0xff000000, 0x47000000, .type = IBR, .link = 23},
    {0xffff0000, 0x46f70000, .type = IBR, .subtype = IMPLIED},
    {0xfd870000, 0x44870000, .type = IBR},
};

/* 1011: CBZ, CBNZ; POP {…,pc}; WFE, WFI */
static const struct pug_arm_rule miscellaneous_16[] = {
    {0xf5000000, 0xb1000000, .type = BR, .form = CBZ, .cond = true},
    {0xff000000, 0xbd000000, .type = IBR, .subtype = IMPLIED},
    {0xffef0000, 0xbf200000, .needs = WFX, .type = PUG_INSTR_WFI_WFE},
};

/* 11110, second halfword 1: branches and miscellaneous control */
static const struct pug_arm_rule branches_32[] = {
    /* B<c>.W; B.W, BL; BLX label */
    {0xf800d000, 0xf0008000, 0x03800000, 0x03800000, .type = BR, .form = IMM20, .cond = true},
    {0xf8009000, 0xf0009000, .type = BR, .form = IMM24, .link = 14},
    {0xf800d001, 0xf000c000, .type = BR, .form = IMM24_EXCHANGE, .link = PUG_LINK_ALWAYS},
    /* LE LR; LE without a count; LETP; WLS; WLSTP. Those with a count may fall through. */
    {0xfffff001, 0xf00fc001, .needs = RIGHT, .type = BR, .form = LOOP_BACK, .cond = true},
    {0xfffff001, 0xf02fc001, .type = BR, .form = LOOP_BACK},
    {0xfffff001, 0xf01fc001, .needs = RIGHT, .type = BR, .form = LOOP_BACK, .cond = true},
    {0xfff0f001, 0xf040c001, .needs = RIGHT, .type = BR, .form = LOOP_SKIP, .cond = true},
    {0xffc0f001, 0xf000c001, .needs = RIGHT, .type = BR, .form = LOOP_SKIP, .cond = true},
    {0xfffff001, 0xf00fc001, .needs = REFERENCE, .type = BR, .form = LOOP_BACK},
    {0xfffff001, 0xf01fc001, .needs = REFERENCE, .type = BR, .form = LOOP_BACK},
    {0xfff0f001, 0xf040c001, .needs = REFERENCE, .type = BR, .form = LOOP_SKIP},
    {0xffc0f001, 0xf000c001, .needs = REFERENCE, .type = BR, .form = LOOP_SKIP},
    /* BXJ; SUBS pc,lr,#imm8 and ERET */
    {0xfff0d000, 0xf3c08000, .type = IBR},
    {0xfff0d000, 0xf3d08000, .type = IBR},
    /* ISB; DSB, DMB; WFE.W, WFI.W */
    {0xfffffff0, 0xf3bf8f60, .type = PUG_INSTR_ISB},
    {0xfffffff0, 0xf3bf8f40, .needs = DSB, .type = PUG_INSTR_DSB_DMB},
    {0xfffffff0, 0xf3bf8f50, .needs = DSB, .type = PUG_INSTR_DSB_DMB},
    {0xfffffffe, 0xf3af8002, .needs = WFX, .type = PUG_INSTR_WFI_WFE},
    /* UDF.W, permanently undefined */
    {0xfff0f000, 0xf7f0a000, .needs = PUG_GATE_CHECK | RIGHT, .undefined = true},
};

/* 1110100: loads and stores of several, and of two */
static const struct pug_arm_rule multiple_loads[] = {
    /* TBB, TBH; RFEDB; RFEIA */
    {0xfff0ffe0, 0xe8d0f000, .type = IBR},
    {0xffd00000, 0xe8100000, .type = IBR},
    {0xffd00000, 0xe9900000, .type = IBR},
    /* CLRM {…,APSR} sits where LDM pc would; POP.W {…,pc}; LDM.W, LDMDB with pc */
    {0xffff8000, 0xe89f8000, .needs = RIGHT, .type = PUG_INSTR_OTHER},
    {0xffff8000, 0xe8bd8000, .type = IBR, .subtype = IMPLIED},
    {0xfe508000, 0xe8108000, .type = IBR},
};

/* 11111000: LDR.W pc: [Rn,#imm12]; label; [sp],#imm8; [Rn,#±imm8] with index; [Rn,Rm] */
static const struct pug_arm_rule loads[] = {
    {0xfff0f000, 0xf8d0f000, .type = IBR},
    {0xff7ff000, 0xf85ff000, .type = IBR},
    {0xffffff00, 0xf85dfb00, .type = IBR, .subtype = IMPLIED},
    {0xfff0f800, 0xf850f800, .type = IBR},
    {0xfff0ffc0, 0xf850f000, .type = IBR},
};

/* 11101110: CP15ISB; CP15DSB, CP15DMB */
static const struct pug_arm_rule coprocessors[] = {
    {0xffff0fff, 0xee070f95, .type = PUG_INSTR_ISB},
    {0xffff0fff, 0xee070f9a, .needs = DSB, .type = PUG_INSTR_DSB_DMB},
    {0xffff0fff, 0xee070fba, .needs = DSB, .type = PUG_INSTR_DSB_DMB},
};

/* 11111011: BXAUT */
static const struct pug_arm_rule multiplies[] = {
    {0xfff00ff0, 0xfb500f10, .needs = RIGHT, .type = IBR},
};

static const struct pug_arm_group narrow[] = {
    {0xf0000000, 0xd0000000, PUG_ARM_RULES(branches_16)},
    {0xf8000000, 0xe0000000, PUG_ARM_RULES(branches_16)},
    {0xfc000000, 0x44000000, PUG_ARM_RULES(special_data)},
    {0xf0000000, 0xb0000000, PUG_ARM_RULES(miscellaneous_16)},
};

static const struct pug_arm_group wide[] = {
    {0xf8008000, 0xf0008000, PUG_ARM_RULES(branches_32)},
    {0xfe000000, 0xe8000000, PUG_ARM_RULES(multiple_loads)},
    {0xff000000, 0xf8000000, PUG_ARM_RULES(loads)},
    {0xff000000, 0xee000000, PUG_ARM_RULES(coprocessors)},
    {0xff000000, 0xfb000000, PUG_ARM_RULES(multiplies)},
};
/* clang-format on */

/* S:I1:I2:imm10:imm11 of B.W, BL and BLX. */
static int64_t imm24(uint32_t w)
{
    uint32_t s = pug_bits(w, 26, 26);
    uint32_t i1 = pug_bits(w, 13, 13) ^ s ^ 1, i2 = pug_bits(w, 11, 11) ^ s ^ 1;
    return pug_sign(s << 23 | i1 << 22 | i2 << 21 | pug_bits(w, 25, 16) << 11 | pug_bits(w, 10, 0),
                    24);
}

/* S:J2:J1:imm6:imm11 of B<c>.W. */
static int64_t imm20(uint32_t w)
{
    return pug_sign(pug_bits(w, 26, 26) << 19 | pug_bits(w, 11, 11) << 18 |
                        pug_bits(w, 13, 13) << 17 | pug_bits(w, 21, 16) << 11 | pug_bits(w, 10, 0),
                    20);
}

static void set_target(uint32_t address, uint32_t w, enum form form, struct pug_insn *insn)
{
    uint32_t pc = address + 4;
    uint32_t loop = pug_bits(w, 10, 1) * 4 + pug_bits(w, 11, 11) * 2;
    uint32_t target;
    switch (form) {
    case IMM8: target = pc + (uint32_t)(pug_sign(w >> 16, 8) * 2); break;
    case IMM11: target = pc + (uint32_t)(pug_sign(w >> 16, 11) * 2); break;
    case IMM20: target = pc + (uint32_t)(imm20(w) * 2); break;
    case IMM24: target = pc + (uint32_t)(imm24(w) * 2); break;
    case IMM24_EXCHANGE:
        target = (address & ~UINT32_C(3)) + 4 + (uint32_t)(imm24(w & ~UINT32_C(1)) * 2);
        insn->next_isa = PUG_ISA_A32;
        break;
    case CBZ: target = pc + (pug_bits(w, 25, 25) << 5 | pug_bits(w, 23, 19)) * 2; break;
    case LOOP_BACK: target = pc - loop; break;
    default: target = pc + loop; break;
    }
    insn->target = target & ~UINT32_C(1);
}

/* How many instructions an IT instruction covers; 0 for every other one. Those of IT AL cannot
   fail, so for the architecture it covers none. */
static uint8_t it_covers(uint32_t w, unsigned gates)
{
    uint32_t mask = pug_bits(w, 19, 16);
    if ((w & 0xff000000) != 0xbf000000 || mask == 0)
        return 0;
    if ((gates & RIGHT) && pug_bits(w, 23, 20) >= 14)
        return 0;
    return mask & 1 ? 4 : mask & 2 ? 3 : mask & 4 ? 2 : 1;
}

enum pug_status pug_isa_t32(const struct pug_isa_config *config, uint64_t address, uint32_t opcode,
                            uint8_t *it_count, struct pug_insn *insn)
{
    uint32_t w = opcode << 16 | opcode >> 16;
    unsigned gates = pug_arm_gates(config);
    const bool is_wide = w >= 0xe8000000;
    insn->size = is_wide ? 4 : 2;
    insn->next_isa = PUG_ISA_T32;
    const struct pug_arm_rule *rule =
        is_wide ? pug_arm_find(wide, sizeof(wide) / sizeof(wide[0]), gates, w)
                : pug_arm_find(narrow, sizeof(narrow) / sizeof(narrow[0]), gates, w);
    if (rule && rule->undefined)
        return PUG_ERR_INVALID_OPCODE;
    if (rule) {
        pug_arm_apply(rule, w, insn);
        if (rule->form != PUG_NO_TARGET)
            set_target((uint32_t)address, w, rule->form, insn);
    }
    if (!config->track_it)
        return PUG_OK;
    if (*it_count > 0) {
        insn->conditional = true;
        --*it_count;
    } else if (insn->type == PUG_INSTR_OTHER) {
        *it_count = it_covers(w, gates);
    }
    return PUG_OK;
}
