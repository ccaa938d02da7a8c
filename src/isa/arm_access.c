// SPDX-License-Identifier: MIT
#include "isa/arm_access.h"

#include <stddef.h>

/** How a rule distinguishes loads from stores: always one of them, or by a bit of the opcode. */
enum { STORE = -1, LOAD = -2, SWAP = -3 };

struct rule {
    uint32_t mask, value;
    int8_t load;  /**< STORE, LOAD, SWAP, or the bit that is set in loads */
    uint8_t size; /**< bytes of a transfer; 0: none, the opcode only looks like one */
    bool doubleword, coprocessor;
};

/* clang-format off */
/* In order; the first that matches. Conditions are left out but for 1111. */
static const struct rule a32[] = {
    /* Unconditional: RFE, SRS, VLD and VST of elements, LDC2 and STC2; hints and barriers */
    {0xfe500000, 0xf8100000, LOAD, 4, false, false},
    {0xfe500000, 0xf8400000, STORE, 4, false, false},
    {0xff100000, 0xf4000000, 21, 4, false, false},
    {0xffe00000, 0xfc400000, 20, 4, false, true}, /* MCRR2, MRRC2 */
    {0xfe000000, 0xfc000000, 20, 4, false, false},
    {0xff000010, 0xfe000010, 20, 4, false, true}, /* MCR2, MRC2 */
    {0xf0000000, 0xf0000000, 0, 0, false, false},
    /* SWP, SWPB; exclusives by size */
    {0x0ff000f0, 0x01000090, SWAP, 4, false, false},
    {0x0ff000f0, 0x01400090, SWAP, 1, false, false},
    {0x0fe000f0, 0x01800090, 20, 4, false, false},
    {0x0fe000f0, 0x01a00090, 20, 4, true, false},
    {0x0fe000f0, 0x01c00090, 20, 1, false, false},
    {0x0fe000f0, 0x01e00090, 20, 2, false, false},
    /* Halfwords, signed bytes, doublewords; multiplies share their space */
    {0x0e0000f0, 0x000000b0, 20, 2, false, false},
    {0x0e1000f0, 0x000000d0, LOAD, 4, true, false},
    {0x0e1000f0, 0x000000f0, STORE, 4, true, false},
    {0x0e1000f0, 0x001000d0, LOAD, 1, false, false},
    {0x0e1000f0, 0x001000f0, LOAD, 2, false, false},
    /* Words and bytes; media instructions share the register form */
    {0x0e400000, 0x04000000, 20, 4, false, false},
    {0x0e400000, 0x04400000, 20, 1, false, false},
    {0x0e400010, 0x06000000, 20, 4, false, false},
    {0x0e400010, 0x06400000, 20, 1, false, false},
    /* LDM, STM; MCRR, MRRC; LDC, STC, VLDR, VSTR, VLDM, VSTM; MCR, MRC */
    {0x0e000000, 0x08000000, 20, 4, false, false},
    {0x0fe00000, 0x0c400000, 20, 4, false, true},
    {0x0fe00000, 0x0c000000, 0, 0, false, false},
    {0x0e000000, 0x0c000000, 20, 4, false, false},
    {0x0f000010, 0x0e000010, 20, 4, false, true},
};

/* 16-bit T32, in bits 15:0. */
static const struct rule t16[] = {
    {0xf800, 0x4800, LOAD, 4, false, false}, /* LDR literal */
    {0xfe00, 0x5000, STORE, 4, false, false}, /* register offset */
    {0xfe00, 0x5200, STORE, 2, false, false},
    {0xfe00, 0x5400, STORE, 1, false, false},
    {0xfe00, 0x5600, LOAD, 1, false, false},
    {0xfe00, 0x5800, LOAD, 4, false, false},
    {0xfe00, 0x5a00, LOAD, 2, false, false},
    {0xfe00, 0x5c00, LOAD, 1, false, false},
    {0xfe00, 0x5e00, LOAD, 2, false, false},
    {0xf000, 0x6000, 11, 4, false, false}, /* immediate offset */
    {0xf000, 0x7000, 11, 1, false, false},
    {0xf000, 0x8000, 11, 2, false, false},
    {0xf000, 0x9000, 11, 4, false, false}, /* SP-relative */
    {0xf600, 0xb400, 11, 4, false, false}, /* PUSH, POP */
    {0xf000, 0xc000, 11, 4, false, false}, /* STM, LDM */
};

/* 32-bit T32, the first halfword in bits 31:16. */
static const struct rule t32[] = {
    /* LDM, STM, RFE, SRS */
    {0xfe400000, 0xe8000000, 20, 4, false, false},
    /* TT and its kin sit among STREX; exclusives; TBB, TBH */
    {0xfff0f03f, 0xe840f000, 0, 0, false, false},
    {0xffe00000, 0xe8400000, 20, 4, false, false},
    {0xfff000f0, 0xe8d00000, LOAD, 1, false, false},
    {0xfff000f0, 0xe8d00010, LOAD, 2, false, false},
    {0xffe000f0, 0xe8c00040, 20, 1, false, false},
    {0xffe000f0, 0xe8c00050, 20, 2, false, false},
    {0xffe000f0, 0xe8c00070, 20, 4, true, false},
    /* acquire and release, also exclusive */
    {0xffe000b0, 0xe8c00080, 20, 1, false, false},
    {0xffe000b0, 0xe8c00090, 20, 2, false, false},
    {0xffe000b0, 0xe8c000a0, 20, 4, false, false},
    {0xffe000f0, 0xe8c000f0, 20, 4, true, false},
    /* LDRD, STRD with an index or writeback */
    {0xff600000, 0xe8600000, 20, 4, true, false},
    {0xff400000, 0xe9400000, 20, 4, true, false},
    /* PLD, PLDW, PLI */
    {0xfe70f000, 0xf810f000, 0, 0, false, false},
    {0xfe70f000, 0xf830f000, 0, 0, false, false},
    /* VLD and VST of elements */
    {0xff100000, 0xf9000000, 21, 4, false, false},
    /* Bytes, halfwords, words */
    {0xfe600000, 0xf8000000, 20, 1, false, false},
    {0xfe600000, 0xf8200000, 20, 2, false, false},
    {0xfe600000, 0xf8400000, 20, 4, false, false},
    /* MCRR, MRRC; LDC, STC, VLDR, VSTR, VLDM, VSTM; MCR, MRC */
    {0xefe00000, 0xec400000, 20, 4, false, true},
    {0xefe00000, 0xec000000, 0, 0, false, false},
    {0xee000000, 0xec000000, 20, 4, false, false},
    {0xef000010, 0xee000010, 20, 4, false, true},
};
/* clang-format on */

static bool match(const struct rule *rules, size_t count, uint32_t opcode,
                  struct pug_arm_access *access)
{
    for (size_t i = 0; i < count; i++) {
        const struct rule *rule = &rules[i];
        if ((opcode & rule->mask) != rule->value)
            continue;
        bool load = rule->load == LOAD || (rule->load >= 0 && (opcode >> rule->load & 1));
        access->access = rule->load == SWAP ? PUG_ACCESS_SWAP
                         : load             ? PUG_ACCESS_LOAD
                                            : PUG_ACCESS_STORE;
        access->size = rule->size;
        access->doubleword = rule->doubleword;
        access->coprocessor = rule->coprocessor;
        return rule->size > 0;
    }
    return false;
}

#define MATCH(rules, opcode, access)                                                               \
    match((rules), sizeof(rules) / sizeof((rules)[0]), (opcode), (access))

bool pug_arm_access(enum pug_isa isa, uint32_t opcode, struct pug_arm_access *access)
{
    if (isa == PUG_ISA_A32)
        return MATCH(a32, opcode, access);
    if (isa != PUG_ISA_T32)
        return false;
    if ((opcode & 0xffff) < 0xe800)
        return MATCH(t16, opcode & 0xffff, access);
    return MATCH(t32, opcode << 16 | opcode >> 16, access);
}
