// SPDX-License-Identifier: MIT
/**
 * @file RISC-V: RV32 and RV64 with C, Zcmp and Zcmt. Two tables, of 32-bit instructions and of
 * 16-bit ones; the first rule that matches fills in the instruction. What no table has goes on at
 * the next instruction.
 */
#include "isa/riscv.h"
#include "isa/arm.h"

/** One instruction on its way through the tables. */
struct rv {
    const struct pug_isa_config *config;
    struct pug_insn *insn;
    uint64_t pc;
    uint32_t op;
    unsigned xlen;
};

struct rule {
    uint32_t mask, value;
    void (*fill)(struct rv *rv);
    uint8_t access;
    uint8_t xlen;    /**< only for this one; 0: both */
    uint8_t zcm : 1; /**< only with Zcmp and Zcmt */
    uint8_t csr : 1;
};

enum { ZERO = 0, RA = 1, T0 = 5 };

static bool is_link(unsigned reg)
{
    return reg == RA || reg == T0;
}

static uint64_t wrap(const struct rv *rv, uint64_t value)
{
    return rv->xlen == 32 ? (uint32_t)value : value;
}

/* ---- what instructions do ---- */

static void direct(struct rv *rv, unsigned rd, uint64_t target)
{
    struct pug_insn *insn = rv->insn;
    insn->type = PUG_INSTR_BR;
    insn->target = wrap(rv, target & ~UINT64_C(1));
    insn->rd = (uint8_t)rd;
    if (is_link(rd)) {
        insn->kind = PUG_RV_CALL;
        insn->subtype = PUG_SUB_BR_LINK;
        insn->link = true;
    } else {
        insn->kind = rd == ZERO ? PUG_RV_JUMP : PUG_RV_JUMP_LINK;
    }
}

static void branch(struct rv *rv, int64_t offset)
{
    rv->insn->type = PUG_INSTR_BR;
    rv->insn->kind = PUG_RV_BRANCH;
    rv->insn->conditional = true;
    rv->insn->target = wrap(rv, rv->pc + (uint64_t)offset);
}

/* The hints of the unprivileged architecture's return-address stack table. */
static enum pug_riscv_kind jump_kind(unsigned rd, unsigned rs1)
{
    if (is_link(rd))
        return is_link(rs1) && rd != rs1 ? PUG_RV_SWAP : PUG_RV_CALL;
    if (is_link(rs1))
        return PUG_RV_RETURN;
    return rd == ZERO ? PUG_RV_JUMP : PUG_RV_JUMP_LINK;
}

static void indirect(struct rv *rv, unsigned rd, unsigned rs1, int64_t offset)
{
    struct pug_insn *insn = rv->insn;
    insn->type = PUG_INSTR_BR_INDIRECT;
    insn->kind = (uint8_t)jump_kind(rd, rs1);
    insn->rd = (uint8_t)rd;
    insn->rs1 = (uint8_t)rs1;
    insn->constant = (uint64_t)offset;
    if (insn->kind == PUG_RV_CALL || insn->kind == PUG_RV_SWAP) {
        insn->subtype = PUG_SUB_BR_LINK;
        insn->link = true;
    } else if (insn->kind == PUG_RV_RETURN) {
        insn->subtype = PUG_SUB_RETURN;
    }
}

static void constant(struct rv *rv, unsigned rd, uint64_t value)
{
    if (rd == ZERO) /* a hint, or a landing pad */
        return;
    rv->insn->kind = PUG_RV_CONSTANT;
    rv->insn->rd = (uint8_t)rd;
    rv->insn->constant = wrap(rv, value);
}

static void trap(struct rv *rv)
{
    rv->insn->kind = PUG_RV_TRAP;
}

static void xret(struct rv *rv)
{
    rv->insn->type = PUG_INSTR_BR_INDIRECT;
    rv->insn->subtype = PUG_SUB_EXCEPTION_RETURN;
    rv->insn->kind = PUG_RV_XRET;
}

/* ---- 32-bit instructions ---- */

static unsigned rd_of(uint32_t op)
{
    return pug_bits(op, 11, 7);
}

static void op_branch(struct rv *rv)
{
    uint32_t op = rv->op;
    branch(rv, pug_sign(pug_bits(op, 31, 31) << 12 | pug_bits(op, 7, 7) << 11 |
                            pug_bits(op, 30, 25) << 5 | pug_bits(op, 11, 8) << 1,
                        13));
}

static void op_jal(struct rv *rv)
{
    uint32_t op = rv->op;
    int64_t offset = pug_sign(pug_bits(op, 31, 31) << 20 | pug_bits(op, 19, 12) << 12 |
                                  pug_bits(op, 20, 20) << 11 | pug_bits(op, 30, 21) << 1,
                              21);
    direct(rv, rd_of(op), rv->pc + (uint64_t)offset);
}

static void op_jalr(struct rv *rv)
{
    unsigned rs1 = pug_bits(rv->op, 19, 15);
    int64_t offset = pug_sign(rv->op >> 20, 12);
    if (rs1 == ZERO)
        direct(rv, rd_of(rv->op), (uint64_t)offset);
    else
        indirect(rv, rd_of(rv->op), rs1, offset);
}

static void op_lui(struct rv *rv)
{
    constant(rv, rd_of(rv->op), (uint64_t)pug_sign(rv->op & 0xfffff000, 32));
}

static void op_auipc(struct rv *rv)
{
    constant(rv, rd_of(rv->op), rv->pc + (uint64_t)pug_sign(rv->op & 0xfffff000, 32));
}

/* ---- 16-bit instructions ---- */

static void c_branch(struct rv *rv)
{
    uint32_t op = rv->op;
    branch(rv,
           pug_sign(pug_bits(op, 12, 12) << 8 | pug_bits(op, 6, 5) << 6 | pug_bits(op, 2, 2) << 5 |
                        pug_bits(op, 11, 10) << 3 | pug_bits(op, 4, 3) << 1,
                    9));
}

static uint64_t c_jump_target(const struct rv *rv)
{
    uint32_t op = rv->op;
    int64_t offset =
        pug_sign(pug_bits(op, 12, 12) << 11 | pug_bits(op, 8, 8) << 10 | pug_bits(op, 10, 9) << 8 |
                     pug_bits(op, 6, 6) << 7 | pug_bits(op, 7, 7) << 6 | pug_bits(op, 2, 2) << 5 |
                     pug_bits(op, 11, 11) << 4 | pug_bits(op, 5, 3) << 1,
                 12);
    return rv->pc + (uint64_t)offset;
}

static void c_j(struct rv *rv)
{
    direct(rv, ZERO, c_jump_target(rv));
}

static void c_jal(struct rv *rv)
{
    direct(rv, RA, c_jump_target(rv));
}

static void c_jr(struct rv *rv)
{
    if (rd_of(rv->op) != ZERO) /* rs1 is where rd otherwise is; 0 is reserved */
        indirect(rv, ZERO, rd_of(rv->op), 0);
}

static void c_jalr(struct rv *rv)
{
    if (rd_of(rv->op) == ZERO)
        trap(rv); /* C.EBREAK */
    else
        indirect(rv, RA, rd_of(rv->op), 0);
}

static void c_lui(struct rv *rv)
{
    uint32_t imm = pug_bits(rv->op, 12, 12) << 17 | pug_bits(rv->op, 6, 2) << 12;
    if (rd_of(rv->op) != 2 && imm != 0) /* C.ADDI16SP; reserved, or a may-be-operation */
        constant(rv, rd_of(rv->op), (uint64_t)pug_sign(imm, 18));
}

/* The saved registers of a Zcmp list: 4 is {ra}, each more adds one, 15 adds s10 and s11. */
static void cm_list(struct rv *rv)
{
    unsigned list = pug_bits(rv->op, 7, 4);
    if (list >= 4)
        rv->insn->access = (uint8_t)(list == 15 ? 13 : list - 3);
}

/* Its link register comes from the stack, so no constant before it gives the target. */
static void cm_popret(struct rv *rv)
{
    if (pug_bits(rv->op, 7, 4) < 4)
        return; /* reserved */
    indirect(rv, ZERO, RA, 0);
    rv->insn->rs1 = ZERO;
    cm_list(rv);
}

static void cm_jt(struct rv *rv)
{
    unsigned index = pug_bits(rv->op, 9, 2);
    direct(rv, index < 32 ? ZERO : RA, rv->config->jvt_base + index * (rv->xlen / 8));
    rv->insn->table_jump = true;
}

/* ---- the tables ---- */

/* clang-format off */
static const struct rule wide[] = {
    /* BEQ, BNE, BLT, BGE, BLTU, BGEU: funct3 2 and 3 are reserved */
    {0x0000607f, 0x00000063, .fill = op_branch},
    {0x0000407f, 0x00004063, .fill = op_branch},
    {0x0000007f, 0x0000006f, .fill = op_jal},
    {0x0000707f, 0x00000067, .fill = op_jalr},
    {0x0000007f, 0x00000037, .fill = op_lui},
    {0x0000007f, 0x00000017, .fill = op_auipc},
    /* ECALL, EBREAK; URET, SRET, MRET, MNRET, DRET */
    {0xffffffff, 0x00000073, .fill = trap},
    {0xffffffff, 0x00100073, .fill = trap},
    {0xffffffff, 0x00200073, .fill = xret},
    {0xffffffff, 0x10200073, .fill = xret},
    {0xffffffff, 0x30200073, .fill = xret},
    {0xffffffff, 0x70200073, .fill = xret},
    {0xffffffff, 0x7b200073, .fill = xret},
    /* CSRRW, CSRRS, CSRRC and their immediate forms; HLV, HLVX, HSV */
    {0x0000307f, 0x00001073, .csr = 1},
    {0x0000207f, 0x00002073, .csr = 1},
    {0xf000707f, 0x60004073, .access = 1},
    /* Loads, stores, atomics */
    {0x0000707f, 0x00007003, .access = 0},
    {0x0000007f, 0x00000003, .access = 1},
    {0x0000407f, 0x00000023, .access = 1},
    {0x0000007f, 0x0000002f, .access = 1},
    /* Floating-point loads and stores (funct3 1 to 4); vector ones */
    {0x0000707f, 0x00000007, .access = PUG_RV_ACCESS_VECTOR},
    {0x0000707f, 0x00004007, .access = 1},
    {0x0000407f, 0x00000007, .access = 1},
    {0x0000007f, 0x00000007, .access = PUG_RV_ACCESS_VECTOR},
    {0x0000707f, 0x00000027, .access = PUG_RV_ACCESS_VECTOR},
    {0x0000707f, 0x00004027, .access = 1},
    {0x0000407f, 0x00000027, .access = 1},
    {0x0000007f, 0x00000027, .access = PUG_RV_ACCESS_VECTOR},
};

static const struct rule compressed[] = {
    /* quadrant 0: C.FLD, C.LW, C.FLW or C.LD; Zcb loads and stores; C.FSD, C.SW, C.FSW or C.SD */
    {0xe003, 0x2000, .access = 1},
    {0xe003, 0x4000, .access = 1},
    {0xe003, 0x6000, .access = 1},
    {0xf003, 0x8000, .access = 1},
    {0xe003, 0xa000, .access = 1},
    {0xe003, 0xc000, .access = 1},
    {0xe003, 0xe000, .access = 1},
    /* quadrant 1: C.JAL, C.LUI, C.J, C.BEQZ, C.BNEZ */
    {0xe003, 0x2001, .fill = c_jal, .xlen = 32},
    {0xe003, 0x6001, .fill = c_lui},
    {0xe003, 0xa001, .fill = c_j},
    {0xc003, 0xc001, .fill = c_branch},
    /* quadrant 2: C.JR; C.JALR and C.EBREAK */
    {0xf07f, 0x8002, .fill = c_jr},
    {0xf07f, 0x9002, .fill = c_jalr},
    /* CM.JT, CM.JALT; CM.PUSH; CM.POP; CM.POPRETZ, CM.POPRET; else no C.FSDSP */
    {0xfc03, 0xa002, .fill = cm_jt, .zcm = 1},
    {0xff03, 0xb802, .fill = cm_list, .zcm = 1},
    {0xff03, 0xba02, .fill = cm_list, .zcm = 1},
    {0xfd03, 0xbc02, .fill = cm_popret, .zcm = 1},
    {0xe003, 0xa002, .zcm = 1},
    /* C.FLDSP, C.LWSP, C.FLWSP or C.LDSP; C.FSDSP, C.SWSP, C.FSWSP or C.SDSP */
    {0xe003, 0x2002, .access = 1},
    {0xe003, 0x4002, .access = 1},
    {0xe003, 0x6002, .access = 1},
    {0xe003, 0xa002, .access = 1},
    {0xe003, 0xc002, .access = 1},
    {0xe003, 0xe002, .access = 1},
};
/* clang-format on */

static void apply(struct rv *rv, const struct rule *rules, size_t count)
{
    for (const struct rule *rule = rules; rule < rules + count; rule++) {
        if ((rv->op & rule->mask) != rule->value || (rule->xlen && rule->xlen != rv->xlen) ||
            (rule->zcm && !rv->config->zcmp_zcmt))
            continue;
        rv->insn->access = rule->access;
        rv->insn->csr = rule->csr;
        if (rule->fill)
            rule->fill(rv);
        return;
    }
}

/* Bytes of the instruction that begins with this parcel; 0 where the encoding is reserved. */
static unsigned length(unsigned parcel)
{
    if ((parcel & 0x03) != 0x03)
        return 2;
    if ((parcel & 0x1f) != 0x1f)
        return 4;
    if ((parcel & 0x3f) == 0x1f)
        return 6;
    return (parcel & 0x7f) == 0x3f ? 8 : 0;
}

enum pug_status pug_isa_riscv(const struct pug_isa_config *config, unsigned xlen, uint64_t address,
                              const uint8_t *bytes, unsigned avail, struct pug_insn *insn)
{
    if (avail < 2)
        return PUG_ERR_NO_PROGRAM_MEMORY;
    struct rv rv = {config, insn, address, bytes[0] | (uint32_t)bytes[1] << 8, xlen};
    unsigned size = length(rv.op);
    if (size == 0)
        return PUG_ERR_INVALID_OPCODE;
    if (avail < size)
        return PUG_ERR_NO_PROGRAM_MEMORY;
    insn->size = (uint8_t)size;
    if (size == 2) {
        apply(&rv, compressed, sizeof(compressed) / sizeof(compressed[0]));
    } else if (size == 4) {
        rv.op |= (uint32_t)bytes[2] << 16 | (uint32_t)bytes[3] << 24;
        apply(&rv, wide, sizeof(wide) / sizeof(wide[0]));
    }
    return PUG_OK;
}
