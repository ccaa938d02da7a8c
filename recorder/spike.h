// SPDX-License-Identifier: MIT
/**
 * @file Reads what Spike's commit log says about an instruction besides its place: registers that
 * it wrote, and memory.
 */
#ifndef PUG_RECORDER_SPIKE_H
#define PUG_RECORDER_SPIKE_H

#include "recorder/path.h"

#define REC_SPIKE_ACCESSES 64u /* of an instruction; one that makes more has none reported */

/** Integer registers, as far as the log has given them. */
struct rec_spike_registers {
    uint64_t value[32];
    uint32_t known; /**< bits */
};

/**
 * The accesses of an instruction, from the text after its opcode; the registers then have their
 * values after it. Returns how many. The value of a load is that of the register that it wrote.
 */
unsigned rec_spike_accesses(struct rec_spike_registers *registers, enum rec_path_family family,
                            const uint8_t *bytes, const char *text,
                            struct rec_path_access accesses[REC_SPIKE_ACCESSES]);

#endif
