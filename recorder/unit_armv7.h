// SPDX-License-Identifier: MIT
/** @file What the engine's views of ETMv3 and of PTM share. */
#ifndef PUG_RECORDER_UNIT_ARMV7_H
#define PUG_RECORDER_UNIT_ARMV7_H

#include "recorder/unit.h"

/* Options of both. */
#define REC_ARMV7_LONGER                                                                           \
    {                                                                                              \
        "longer_once_in", 0, 65535, 7, "addresses in more bytes than they need"                    \
    }
#define REC_ARMV7_SHORTER                                                                          \
    {                                                                                              \
        "shorter_once_in", 0, 65535, 7, "atoms that do not wait for a full packet"                 \
    }

/* Exception numbers of ETMv3 and PTM, A and R profiles. */
enum rec_armv7_exception {
    REC_ARMV7_HALT = 1,
    REC_ARMV7_SVC = 10,
    REC_ARMV7_DATA_ABORT = 12,
    REC_ARMV7_IRQ = 14,
};

static inline uint16_t rec_armv7_number(enum rec_path_trap kind)
{
    return kind == REC_TRAP_CALL        ? REC_ARMV7_SVC
           : kind == REC_TRAP_INTERRUPT ? REC_ARMV7_IRQ
                                        : REC_ARMV7_DATA_ABORT;
}

/** Where an exception goes whose handler is not traced: Linux has its vectors high. */
static inline struct rec_place rec_armv7_vector(enum rec_path_trap kind)
{
    uint32_t offset = kind == REC_TRAP_CALL ? 0x08 : kind == REC_TRAP_INTERRUPT ? 0x18 : 0x10;
    return (struct rec_place){0xffff0000u + offset, PUG_ISA_A32};
}

/** ETMCR's field for context ids of so many bytes. */
static inline uint32_t rec_armv7_context_field(uint64_t bytes)
{
    return (bytes >= 4 ? 3u : (uint32_t)bytes) << 14;
}

/** Registers of both: [regs] lines. */
void rec_armv7_describe(FILE *file, uint32_t control, uint32_t id, uint32_t code, uint16_t source);

const char *rec_armv7_format(const struct rec_unit_setup *setup);

#endif
