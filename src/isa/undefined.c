// SPDX-License-Identifier: MIT
/**
 * @file Encodings that the architecture leaves undefined. Execution does not pass them, so where a
 * trace says that it did, the program is another one, or the core is newer than these tables. Only
 * what is far from everything that is allocated is named: none of a vendor's, no hint, nothing of
 * coprocessors and vectors whose room fills from year to year.
 */
#include "base/bytes.h"
#include "pugmark/advanced/isa.h"

/** Bits [high:low]. */
static uint32_t bits(uint32_t word, unsigned high, unsigned low)
{
    return word >> low & (UINT32_MAX >> (31 - (high - low)));
}

/* ---- A64: DDI 0487, C4.1 ---- */

/** Unconditional branch (register): opc, op2, op3, Rn, op4. */
static bool branches_nowhere(uint32_t word)
{
    const uint32_t opc = bits(word, 24, 21), op3 = bits(word, 15, 10), op4 = bits(word, 4, 0);
    const bool keyed = op3 == 2 || op3 == 3; /* with pointer authentication */
    if (bits(word, 20, 16) != 31)
        return true;
    switch (opc) {
    case 0: /* BR */
    case 1: /* BLR */ return !(op3 == 0 && op4 == 0) && !(keyed && op4 == 31);
    case 2: /* RET; RETAASPPCR has a register in op4 */
        return !(op3 == 0 && op4 == 0) && !(keyed && bits(word, 9, 5) == 31);
    case 4: /* ERET */
        return bits(word, 9, 5) != 31 || (!(op3 == 0 && op4 == 0) && !(keyed && op4 == 31));
    case 5: /* DRPS */ return op3 != 0 || bits(word, 9, 5) != 31 || op4 != 0;
    case 7: /* TEXIT */ return false;
    case 8: /* BRAA */
    case 9: /* BLRAA */ return !keyed;
    default: return true;
    }
}

static bool is_undefined_a64(uint32_t word)
{
    switch (bits(word, 28, 25)) {
    case 0: return word >> 31 == 0; /* reserved, UDF among it; above it is SME */
    case 1:
    case 3: return true;
    case 11: /* branches and system instructions, bit 25 set */
        switch (bits(word, 31, 29)) {
        case 2:
        case 3:
        case 7: return true;
        case 6: return branches_nowhere(word);
        default: return false;
        }
    default: return false;
    }
}

/* ---- T32: DDI 0487, F3.1 ---- */

/** Data processing with a plain binary immediate: which operations there are, by bits 24 to 20. */
static bool is_undefined_plain(uint32_t word)
{
    static const uint32_t allocated = 1u << 0x00 | 1u << 0x04 | 1u << 0x0a | 1u << 0x0c |
                                      1u << 0x10 | 1u << 0x12 | 1u << 0x14 | 1u << 0x16 |
                                      1u << 0x18 | 1u << 0x1a | 1u << 0x1c;
    return (allocated >> bits(word, 24, 20) & 1) == 0;
}

/** `word`: the first halfword is the upper one. */
static bool is_undefined_t32(uint32_t word)
{
    return bits(word, 31, 27) == 0x1e && bits(word, 25, 25) == 1 && bits(word, 15, 15) == 0 &&
           is_undefined_plain(word);
}

/* ---- A32 ---- */

static bool is_undefined_a32(uint32_t word)
{
    return bits(word, 27, 20) == 0x7f && bits(word, 7, 4) == 0xf && bits(word, 31, 28) != 0xf;
}

/* ---- RISC-V: the unprivileged specification, chapters "C" and "RV32/64G listings" ---- */

static bool is_undefined_riscv(uint32_t word)
{
    switch (word & 0x7f) {
    case 0x67: return bits(word, 14, 12) != 0; /* JALR */
    case 0x03: return bits(word, 14, 12) == 7; /* LOAD */
    case 0x23: return bits(word, 14, 12) > 4;  /* STORE */
    case 0x6b: return true;                    /* reserved */
    default: return false;
    }
}

bool pug_isa_is_undefined(enum pug_isa isa, const uint8_t *bytes, unsigned size)
{
    const bool riscv = isa == PUG_ISA_RV32 || isa == PUG_ISA_RV64;
    if (size > 4)
        return riscv; /* no extension has any */
    const uint32_t first = size < 2 ? UINT32_MAX : pug_bytes_16(bytes);
    if (size < 4)
        return size == 2 && ((riscv && first == 0) || (isa == PUG_ISA_T32 && first >> 8 == 0xde));
    switch (isa) {
    case PUG_ISA_A64: return is_undefined_a64(pug_bytes_32(bytes));
    case PUG_ISA_A32: return is_undefined_a32(pug_bytes_32(bytes));
    case PUG_ISA_T32: return is_undefined_t32(first << 16 | pug_bytes_16(bytes + 2));
    case PUG_ISA_RV32:
    case PUG_ISA_RV64: return is_undefined_riscv(pug_bytes_32(bytes));
    default: return false;
    }
}
