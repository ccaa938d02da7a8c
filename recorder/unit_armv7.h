// SPDX-License-Identifier: MIT
/** @file What the engine's views of ETMv3 and of PTM share. */
#ifndef PUG_RECORDER_UNIT_ARMV7_H
#define PUG_RECORDER_UNIT_ARMV7_H

#include "recorder/armv7.h"
#include "recorder/unit.h"

/* Options of both: of time and context; and the choices that they are free in. */
#define REC_ARMV7_OPTIONS                                                                          \
    [TIMESTAMPS] = {"timestamps", 1, 1, 1, "timestamps"},                                          \
    [WIDE_TIMESTAMPS] = {"wide_timestamps", 1, 1, 1, "of 64 bits, not 48"},                        \
    [CONTEXT_BYTES] = {"context_bytes", 4, 4, 4, "bytes of a context id: 0, 1, 2, 4"},             \
    [BROADCAST] = {"branch_broadcast", 0, 1, 1, "direct branches tell their targets, too"},        \
    [OTHERS] = {"others", 0, 1, 1, "triggers, VMIDs and IGNORE packets"},                          \
    [LONGER] = {"longer_once_in", 0, 65535, 7, "addresses in more bytes than they need"},          \
    [SHORTER] = {"shorter_once_in", 0, 65535, 7, "atoms that do not wait for a full packet"}

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

static inline struct rec_armv7_freedom rec_armv7_freedom_of(const struct rec_unit_setup *setup,
                                                            uint64_t longer, uint64_t shorter)
{
    return (struct rec_armv7_freedom){.longer_once_in = (uint32_t)longer,
                                      .shorter_once_in = (uint32_t)shorter,
                                      .random = {setup->seed + 1}};
}

/** Registers of both: [regs] lines. */
void rec_armv7_describe(FILE *file, uint32_t control, uint32_t id, uint32_t code, uint16_t source);

const char *rec_armv7_format(const struct rec_unit_setup *setup);

#endif
