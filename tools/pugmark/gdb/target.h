// SPDX-License-Identifier: MIT
/** @file The processor as GDB sees it: its registers, and where each is known. */
#ifndef PUGMARK_TOOL_GDB_TARGET_H
#define PUGMARK_TOOL_GDB_TARGET_H

#include "debug/session.h"
#include "text/sink.h"

enum gdb_target { GDB_AARCH64, GDB_ARM, GDB_ARM_M, GDB_RISCV32, GDB_RISCV64 };

/** The knowledge of a thread's registers. */
struct gdb_state {
    const struct pug_history_place *place;
    const struct pug_snapshot_device *core; /**< its registers are those at the place; or NULL */
};

/** What a thread runs on. `core` is its name, or NULL. */
enum gdb_target gdb_target_of(const struct pug_history_thread *thread, const char *core);

/** The architecture in GDB's words. */
const char *gdb_target_name(enum gdb_target target);

/** Writes the target description. */
void gdb_target_describe(enum gdb_target target, struct pug_sink *sink);

/** Writes all registers as a `g` packet has them; unknown ones are `x`. */
void gdb_target_registers(enum gdb_target target, const struct gdb_state *state,
                          struct pug_sink *sink);

/** Writes one register as a `p` packet has it. False: there is no such register. */
bool gdb_target_register(enum gdb_target target, const struct gdb_state *state, unsigned number,
                         struct pug_sink *sink);

/** Writes the registers that a stop contains at once. */
void gdb_target_expedite(enum gdb_target target, const struct gdb_state *state,
                         struct pug_sink *sink);

/** The signal of the exception at a place, by GDB's numbers. */
unsigned gdb_signal_of(const struct pug_history_place *place);

/** The place where the server keeps the call stack for the unwinder. */
uint64_t gdb_target_window(enum gdb_target target);

#endif
