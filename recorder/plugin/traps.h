// SPDX-License-Identifier: MIT
/**
 * @file Exceptions of a machine and returns from them, out of QEMU's log and the processor's
 * registers.
 */
#ifndef PUG_RECORDER_PLUGIN_TRAPS_H
#define PUG_RECORDER_PLUGIN_TRAPS_H

#include "../path_format.h"

#include <stdbool.h>
#include <stdint.h>

struct trap {
    enum rec_path_trap kind;
    uint32_t number;
    uint64_t address;
    bool numbered, known; /**< known: `address` is */
    bool t32;             /**< of the A and R profiles: T32 instructions are there */
    bool fault;           /**< the instruction at `address` was begun, and did not retire */
    bool gateway;         /**< none at all: an SG instruction ran at `address`, outside of blocks */
};

/** Starts to follow a machine with so many processors. Returns false where this QEMU cannot. */
bool traps_begin(enum rec_path_family family, unsigned cpus);
/** Returns whether something happened since it was asked the last time: cheap, for each block. */
bool traps_wait(void);
/**
 * Reads what happened to the processor before the block that begins at `next`. Returns how many
 * traps that were. They stay until the next call.
 */
unsigned traps_read(unsigned cpu, uint64_t next, const struct trap **found);

#endif
