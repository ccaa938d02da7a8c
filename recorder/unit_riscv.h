// SPDX-License-Identifier: MIT
/** @file What the engine's views of E-Trace and of N-Trace share. */
#ifndef PUG_RECORDER_UNIT_RISCV_H
#define PUG_RECORDER_UNIT_RISCV_H

#include "recorder/unit.h"

/* Options of both. */
#define REC_RISCV_OPTIONS                                                                          \
    [SRC_BITS] = {"src_bits", 4, 12, 12, "width of the source id"},                                \
    [ZCMT] = {"zcmt", 0, 1, 0, "the core has Zcmp and Zcmt"},                                      \
    [JVT_BASE] = {"jvt_base", 0, UINT64_MAX, 0, "where Zcmt's table of jumps is"}

/* And of their classes. */
#define REC_RISCV_CLASS                                                                            \
    .core = "RISC-V", .families = 1u << REC_FAMILY_RV32 | 1u << REC_FAMILY_RV64, .every = true,    \
    .options = options, .option_count = OPTIONS, .reaches = reaches, REC_UNIT_FUNCTIONS,           \
    .describe_buffer = describe_buffer, .format = format

static inline unsigned rec_riscv_width(uint8_t family)
{
    return family == REC_FAMILY_RV32 ? 32 : 64;
}

static inline unsigned rec_riscv_xlen(const struct rec_unit_setup *setup)
{
    return rec_riscv_width(setup->family);
}

/** Is the address what is made of its lowest bits? */
static inline bool rec_riscv_repeats(uint64_t address, unsigned width, unsigned xlen,
                                     bool is_signed)
{
    uint64_t low = address << (64 - width);
    uint64_t made = is_signed ? (uint64_t)((int64_t)low >> (64 - width)) : low >> (64 - width);
    return ((made ^ address) << (64 - xlen)) == 0;
}

/** The fields of the code in a device's [regs] that both share. */
static inline void rec_riscv_describe(FILE *file, uint64_t zcmt, uint64_t jvt_base)
{
    fprintf(file, "zcmt=%u\njvt_base=0x%llx\n", (unsigned)zcmt, (unsigned long long)jvt_base);
}

#endif
