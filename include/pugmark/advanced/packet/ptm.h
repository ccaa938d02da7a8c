// SPDX-License-Identifier: MIT
/** @file Packets of the Program Flow Trace protocol (PTM), as the reader gives them. */
#ifndef PUGMARK_PACKET_PTM_H
#define PUGMARK_PACKET_PTM_H

#include "pugmark/advanced/packet/armv7.h"

/** Packet types; the numbers are the reference's. */
enum pug_ptm_packet_type {
    PUG_PTM_NOTSYNC,        /**< bytes before the first A-sync */
    PUG_PTM_INCOMPLETE_EOT, /**< the trace ends inside a packet */
    PUG_PTM_NOERROR,
    PUG_PTM_BRANCH_ADDRESS,
    PUG_PTM_A_SYNC,
    PUG_PTM_I_SYNC,
    PUG_PTM_TRIGGER,
    PUG_PTM_WPOINT_UPDATE,
    PUG_PTM_IGNORE,
    PUG_PTM_CONTEXT_ID,
    PUG_PTM_VMID,
    PUG_PTM_ATOM,
    PUG_PTM_TIMESTAMP,
    PUG_PTM_EXCEPTION_RET,
    PUG_PTM_BRANCH_OR_BYPASS_EOT, /**< never given */
    PUG_PTM_TPIU_PAD_EOB,         /**< never given */
    PUG_PTM_BAD_SEQUENCE,
    PUG_PTM_RESERVED,
};

/** The exception part of a branch address packet. */
struct pug_ptm_exception {
    uint16_t number; /**< as sent */
    uint8_t type;    /**< enum pug_armv7_exception */
    bool present;    /**< the packet had it */
};

/** One packet. What a type does not carry is what earlier packets left, or zero. */
struct pug_ptm_packet {
    uint8_t type;              /**< enum pug_ptm_packet_type */
    uint8_t header_type;       /**< of bad and incomplete packets: what the header announced */
    uint8_t isa, previous_isa; /**< enum pug_isa */
    bool has_isa;              /**< branch, waypoint update: this packet carried isa */
    struct pug_armv7_address address; /**< after the packet */
    struct pug_armv7_context context; /**< after the packet */
    struct pug_armv7_atoms atoms;     /**< of an atom packet */
    uint8_t isync_reason;             /**< enum pug_isync_reason */
    bool has_cycle_count;             /**< a cycle count stood with it */
    uint32_t cycle_count;             /**< of this packet */
    uint64_t timestamp;               /**< as sent: Gray-coded where ETMCCER says so */
    uint8_t timestamp_bits;           /**< how many of them the packet gave */
    bool clock_changed; /**< timestamp: the clock frequency changed since the last one */
    struct pug_ptm_exception exception; /**< of a branch */
};

#endif
