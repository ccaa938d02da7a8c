// SPDX-License-Identifier: MIT
/** @file What the packets of ETMv3 and PTM have in common: both trace ARMv7 processors. */
#ifndef PUGMARK_PACKET_ARMV7_H
#define PUGMARK_PACKET_ARMV7_H

#include "pugmark/element.h"

#include <stdbool.h>
#include <stdint.h>

/** An address as far as packets have given it. */
struct pug_armv7_address {
    uint64_t value;      /**< of the address */
    uint8_t packet_bits; /**< low bits that this packet carried; 0: it carried none */
    uint8_t valid_bits;  /**< low bits that are known */
};

/** The processor's context as far as packets have given it. */
struct pug_armv7_context {
    uint32_t context_id;     /**< context id */
    uint8_t vmid;            /**< virtual machine */
    bool alt_isa;            /**< ThumbEE where Thumb would be */
    bool non_secure;         /**< else secure */
    bool hyp;                /**< in the hypervisor */
    bool updated;            /**< this packet carried alt_isa, non_secure, hyp */
    bool updated_context_id; /**< this packet carried context_id */
    bool updated_vmid;       /**< this packet carried vmid */
    bool vmid_as_character;  /**< quirk: printed as the character that it is */
};

/** Why there is an I-sync packet. */
enum pug_isync_reason {
    PUG_ISYNC_PERIODIC,
    PUG_ISYNC_TRACE_ENABLE,
    PUG_ISYNC_RESTART_OVERFLOW,
    PUG_ISYNC_DEBUG_EXIT,
};

/** What an exception number means. The numbers are the reference's. */
enum pug_armv7_exception {
    PUG_EXC_RESERVED,
    PUG_EXC_NO_EXCEPTION,
    PUG_EXC_RESET,
    PUG_EXC_IRQ,
    PUG_EXC_FIQ,
    PUG_EXC_ASYNC_DATA_ABORT,
    PUG_EXC_DEBUG_HALT,
    PUG_EXC_JAZELLE,
    PUG_EXC_SVC,
    PUG_EXC_SMC,
    PUG_EXC_HYP,
    PUG_EXC_UNDEF,
    PUG_EXC_PREFETCH_ABORT,
    PUG_EXC_GENERIC,
    PUG_EXC_SYNC_DATA_ABORT,
    PUG_EXC_M_USAGE_FAULT,
    PUG_EXC_M_NMI,
    PUG_EXC_M_DEBUG_MONITOR,
    PUG_EXC_M_MEM_MANAGE,
    PUG_EXC_M_PEND_SV,
    PUG_EXC_M_SYS_TICK,
    PUG_EXC_M_BUS_FAULT,
    PUG_EXC_M_HARD_FAULT,
    PUG_EXC_M_IRQ,
    PUG_EXC_THUMBEE_CHECK_FAIL,
};

/** Atoms of one packet: bit 0 of `bits` is the oldest; 1 is E (passed, taken), 0 is N. */
struct pug_armv7_atoms {
    uint32_t bits; /**< the oldest atom lowest; 1: E */
    uint8_t count; /**< how many there are */
};

#endif
