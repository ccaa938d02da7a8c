// SPDX-License-Identifier: MIT
/** @file What the files of traps.h share: what the log's lines were about so far. */
#ifndef PUG_RECORDER_PLUGIN_TRAPS_PRIVATE_H
#define PUG_RECORDER_PLUGIN_TRAPS_PRIVATE_H

#include "traps.h"

#define TRAPS 64u /* between two blocks; there are rarely more than two */

/* QEMU's numbers of exceptions: target/arm/cpu.h. */
enum qemu_exception {
    QEMU_UNDEFINED = 1,
    QEMU_SVC = 2,
    QEMU_PREFETCH_ABORT = 3,
    QEMU_DATA_ABORT = 4,
    QEMU_IRQ = 5,
    QEMU_FIQ = 6,
    QEMU_BREAKPOINT = 7,
    QEMU_EXCEPTION_EXIT = 8,
    QEMU_HVC = 11,
    QEMU_HYP_TRAP = 12,
    QEMU_SMC = 13,
    QEMU_VIRQ = 14,
    QEMU_VFIQ = 15,
    QEMU_VSERR = 24,
};

extern struct traps {
    enum rec_path_family family;
    bool on;
    unsigned taking; /* QEMU's number; 0: nothing */
    struct trap found[TRAPS];
    unsigned count;
} traps;

/** Adds one, without a number and an address. */
struct trap *traps_add(enum rec_path_trap kind);

/* The M profile. Each of them takes its lines in their order, and at the end finds the addresses
 * that stand in no line. */
void traps_m_begin(void);
void traps_m_line(const char *line);
void traps_m_end(unsigned cpu);
/* Arm's A and R profiles. */
void traps_a_begin(void);
void traps_a_line(const char *line);
void traps_a_end(unsigned cpu);
/* RISC-V. */
void traps_riscv_line(const char *line);

#endif
