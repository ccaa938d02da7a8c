// SPDX-License-Identifier: MIT
#include "opcode.h"

#include <string.h>

static unsigned half_of(const uint8_t *bytes)
{
    return bytes[0] | (unsigned)bytes[1] << 8;
}

static uint32_t word_of(const uint8_t *bytes)
{
    return half_of(bytes) | (uint32_t)half_of(bytes + 2) << 16;
}

unsigned opcode_size(enum rec_path_isa isa, const uint8_t *bytes)
{
    if (isa == REC_PATH_T32)
        return half_of(bytes) >= 0xe800 ? 4 : 2;
    if (isa == REC_PATH_RISCV)
        return (bytes[0] & 3) == 3 ? 4 : 2;
    return 4;
}

static bool a64_accesses(uint32_t op)
{
    bool load_store = (op & 0x0a000000) == 0x08000000;
    bool system = (op & 0xffc00000) == 0xd5000000; /* DC ZVA and the like */
    return load_store || system;
}

static bool a32_accesses(uint32_t op)
{
    unsigned group = op >> 25 & 7;
    if (op >> 28 == 0xf)
        return group != 5; /* NEON, PLD, RFE, SRS, …, but for BLX */
    if (group == 0)
        return (op & 0x90) == 0x90; /* extra loads and stores, LDREX, SWP; multiplies, too */
    return group == 2 || group == 4 || group == 6 || (group == 3 && !(op & 0x10));
}

static bool t32_accesses(unsigned half)
{
    if (half >= 0xe800)
        return (half & 0xfe00) == 0xe800 || (half & 0xee00) == 0xec00 || (half & 0xfe00) == 0xf800;
    unsigned top = half >> 12;
    return (top >= 5 && top <= 9) || top == 0xc || (half & 0xf800) == 0x4800 ||
           (half & 0xf600) == 0xb400;
}

static bool riscv_accesses(unsigned half)
{
    unsigned low = half & 0x7f, quadrant = half & 3, funct3 = half >> 13;
    if (quadrant == 3)
        return low == 0x03 || low == 0x07 || low == 0x23 || low == 0x27 || low == 0x2f;
    return quadrant != 1 && funct3 != 0 && funct3 != 4;
}

bool opcode_accesses(enum rec_path_isa isa, const uint8_t *bytes)
{
    switch (isa) {
    case REC_PATH_A64: return a64_accesses(word_of(bytes));
    case REC_PATH_A32: return a32_accesses(word_of(bytes));
    case REC_PATH_T32: return t32_accesses(half_of(bytes));
    case REC_PATH_RISCV: return riscv_accesses(half_of(bytes));
    }
    return true;
}

bool opcode_sleeps(enum rec_path_isa isa, const uint8_t *bytes)
{
    return isa == REC_PATH_RISCV && word_of(bytes) == 0x10500073; /* WFI; Arm's end their blocks */
}

bool opcode_surely_accesses(enum rec_path_isa isa, const uint8_t *bytes)
{
    uint32_t op = word_of(bytes);
    switch (isa) {
    case REC_PATH_A64: /* exclusives may give up, prefetches do not fault */
        return (op & 0x0a000000) == 0x08000000 && (op & 0x3f000000) != 0x08000000 &&
               (op & 0xff000000) != 0xd8000000 && (op & 0xffc00000) != 0xf9800000 &&
               (op & 0xffe00000) != 0xf8a00000 && (op & 0xffe00000) != 0xf8800000;
    case REC_PATH_A32: return op >> 28 == 0xe && ((op >> 25 & 7) == 2 || (op >> 25 & 7) == 4);
    case REC_PATH_RISCV: return (op & 0x5f) == 0x03 || (op & 0x7f) == 0x27;
    default: return false; /* an IT block may skip it */
    }
}

bool opcode_traps(enum rec_path_isa isa, const uint8_t *bytes)
{
    uint32_t op = word_of(bytes), half = half_of(bytes);
    switch (isa) {
    case REC_PATH_A64: /* UDF, BRK */ return op >> 16 == 0 || (op & 0xffe0001f) == 0xd4200000;
    case REC_PATH_A32: /* UDF, BKPT */
        return (op & 0xfff000f0) == 0xe7f000f0 || (op & 0xfff000f0) == 0xe1200070;
    case REC_PATH_T32: /* UDF, BKPT but for semihosting, UDF.W, whose second half is the upper */
        return half >> 8 == 0xde || (half >> 8 == 0xbe && half != 0xbeab) ||
               (op & 0xf000fff0) == 0xa000f7f0;
    case REC_PATH_RISCV: /* no instruction, C.EBREAK, EBREAK, UNIMP */
        return half == 0 || half == 0x9002 || op == 0x00100073 || op == 0xc0001073;
    }
    return false;
}

static bool a32_returns(uint32_t op)
{
    bool data = (op & 0x0c10f000) == 0x0010f000; /* MOVS pc, SUBS pc, … */
    bool extra = (op & 0x02000090) == 0x90;      /* multiplies, and loads and stores */
    bool compares = (op >> 23 & 3) == 2;
    bool all = (op & 0x0e508000) == 0x08508000; /* LDM with pc and ^ */
    if (op >> 28 == 0xf)
        return (op & 0xfe50ffff) == 0xf8100a00; /* RFE */
    return (data && !extra && !compares) || all || (op & 0x0fffffff) == 0x0160006e;
}

bool opcode_returns(enum rec_path_isa isa, const uint8_t *bytes)
{
    unsigned half = half_of(bytes), next = half < 0xe800 ? 0 : half_of(bytes + 2);
    uint32_t op = isa == REC_PATH_T32 ? 0 : word_of(bytes);
    switch (isa) {
    case REC_PATH_A64: return op == 0xd69f03e0 || (op & 0xfffffbff) == 0xd69f0bff;
    case REC_PATH_A32: return a32_returns(op);
    case REC_PATH_T32: /* SUBS pc, lr; RFE */
        return (half == 0xf3de && (next & 0xff00) == 0x8f00) ||
               (((half & 0xffd0) == 0xe810 || (half & 0xffd0) == 0xe990) && next == 0xc000);
    case REC_PATH_RISCV: /* MRET, SRET, DRET, MNRET */
        return op == 0x30200073 || op == 0x10200073 || op == 0x7b200073 || op == 0x70200073;
    }
    return false;
}

bool opcode_sets_context(enum rec_path_isa isa, const uint8_t *bytes, unsigned *number)
{
    uint32_t op = half_of(bytes);
    if (isa == REC_PATH_T32 && op < 0xe800)
        return false;
    op = isa == REC_PATH_T32 ? op << 16 | half_of(bytes + 2) : word_of(bytes);
    *number = isa == REC_PATH_A64 ? op & 31 : op >> 12 & 15;
    switch (isa) {
    case REC_PATH_A64: return (op & 0xffffffe0) == 0xd518d020;
    case REC_PATH_A32:
    case REC_PATH_T32: return (op & 0xffff0fff) == 0xee0d0f30; /* MCR p15, 0, Rt, c13, c0, 1 */
    default: return false;
    }
}

/** Does the text begin with one of the names, which `|` separates? */
static bool begins(const char *text, const char *names)
{
    while (*names) {
        size_t length = strcspn(names, "|");
        if (strncmp(text, names, length) == 0)
            return true;
        names += length + (names[length] == '|');
    }
    return false;
}

/** First letters of the A32 instruction's name, or names; "": any. */
static const char *a32_names(uint32_t op)
{
    static const char *const data[16] = {
        "and", "eor", "sub|neg", "rsb|neg", "add|adr", "adc", "sbc",
        "rsc", "tst", "teq",     "cmp",     "cmn",     "orr", "mov|nop|lsl|lsr|asr|ror|rrx",
        "bic", "mvn"};
    if ((op & 0x0fffffd0) == 0x012fff10)
        return op & 0x20 ? "blx" : "bx";
    switch (op >> 25 & 7) {
    case 7: return op >> 24 & 1 ? "svc|swi" : "cdp|mcr|mrc|v|fm";
    case 6: return "ldc|stc|mcrr|mrrc|v|f";
    case 5: return op >> 24 & 1 ? "bl" : "b";
    case 4: return op >> 20 & 1 ? "ldm|pop" : "stm|push";
    case 2:
    case 3:
        if (op & 0x02000010 && op >> 25 & 1)
            return ""; /* media instructions */
        return op >> 20 & 1 ? "ldr|pop" : "str|push";
    default:
        if ((op & 0x01900000) == 0x01000000 || (op & 0x02000090) == 0x90)
            return ""; /* miscellaneous, multiplies, extra loads and stores */
        return data[op >> 21 & 15];
    }
}

/** The same where there is no condition. */
static const char *unconditional_names(uint32_t op)
{
    switch (op >> 25 & 7) {
    case 0: return "cps|setend";
    case 1: return "v";
    case 4: return op >> 20 & 1 ? "rfe" : "srs";
    case 5: return "blx";
    case 7: return "cdp2|mcr2|mrc2";
    default: return "pl|clrex|dsb|dmb|isb|sb|ldc2|stc2|mcrr2|mrrc2|v|nop";
    }
}

/** Does the name, of so many letters, end with the instruction's condition? */
static bool ends_with_condition(uint32_t op, const char *name, size_t length)
{
    static const char *const conditions[14] = {"eq", "ne", "hs|cs", "lo|cc", "mi", "pl", "vs",
                                               "vc", "hi", "ls",    "ge",    "lt", "gt", "le"};
    return length > 2 && begins(name + length - 2, conditions[op >> 28]);
}

bool opcode_text_is_t32(const uint8_t *bytes, const char *text)
{
    uint32_t op = word_of(bytes), condition = op >> 28;
    size_t length = strcspn(text, " \t"), name = strcspn(text, " \t.");
    if (length > 2 && strncmp(text + length - 2, ".w", 2) == 0)
        return true;
    if (condition == 0xf)
        return !begins(text, unconditional_names(op));
    if (condition < 0xe && !ends_with_condition(op, text, name))
        return true;
    if ((op >> 25 & 7) == 5) /* of names that begin so there are many */
        return name != strlen(a32_names(op)) + (condition < 0xe ? 2 : 0) || text[0] != 'b';
    return a32_names(op)[0] && !begins(text, a32_names(op));
}

bool opcode_stores(const uint8_t *bytes, unsigned *number)
{
    const unsigned half = bytes[0] | (unsigned)bytes[1] << 8;
    if ((half & 0xf800) == 0x9000) { /* STR, relative to SP */
        *number = half >> 8 & 7;
        return true;
    }
    if ((half & 0xf800) == 0x6000 || (half & 0xf800) == 0x7000 || (half & 0xf800) == 0x8000 ||
        ((half & 0xf800) == 0x5000 && (half & 0x0600) != 0x0600)) {
        *number = half & 7;
        return true;
    }
    *number = (unsigned)bytes[3] >> 4; /* STR.W, STRB.W, STRH.W */
    return (half & 0xff10) == 0xf800 && (half & 0x0060) != 0x0060;
}
