// SPDX-License-Identifier: MIT
/** @file Which A32 and T32 instructions transfer data, for data trace. */
#ifndef PUG_ISA_ARM_ACCESS_H
#define PUG_ISA_ARM_ACCESS_H

#include "pugmark/element.h"

#include <stdbool.h>
#include <stdint.h>

/** The data transfers of one instruction. */
struct pug_arm_access {
    uint8_t access;   /**< enum pug_access: PUG_ACCESS_LOAD, PUG_ACCESS_STORE or PUG_ACCESS_SWAP */
    uint8_t size;     /**< bytes of a transfer */
    bool doubleword;  /**< one access of 8 bytes, traced as two transfers */
    bool coprocessor; /**< between registers: MCR, MRC, MCRR, MRRC; there is no address */
};

/**
 * Does the instruction transfer data? `opcode` is the little-endian word at its address (of a
 * 16-bit T32 instruction the low half counts). False also for instruction sets other than A32, T32.
 */
bool pug_arm_access(enum pug_isa isa, uint32_t opcode, struct pug_arm_access *access);

#endif
