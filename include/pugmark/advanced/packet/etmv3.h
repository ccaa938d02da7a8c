// SPDX-License-Identifier: MIT
/** @file Packets of ETMv3, as the reader gives them in pug_packet.data. */
#ifndef PUGMARK_PACKET_ETMV3_H
#define PUGMARK_PACKET_ETMV3_H

#include "pugmark/advanced/packet/armv7.h"

/** Packet types; the numbers are the reference's. */
enum pug_etmv3_packet_type {
    PUG_ETMV3_NOERROR,
    PUG_ETMV3_NOTSYNC,        /**< bytes before the first A-sync */
    PUG_ETMV3_INCOMPLETE_EOT, /**< the trace ends inside a packet */
    PUG_ETMV3_BRANCH_ADDRESS,
    PUG_ETMV3_A_SYNC,
    PUG_ETMV3_CYCLE_COUNT,
    PUG_ETMV3_I_SYNC,
    PUG_ETMV3_I_SYNC_CYCLE,
    PUG_ETMV3_TRIGGER,
    PUG_ETMV3_P_HDR,
    PUG_ETMV3_STORE_FAIL,
    PUG_ETMV3_OOO_DATA,
    PUG_ETMV3_OOO_ADDR_PLC,
    PUG_ETMV3_NORM_DATA,
    PUG_ETMV3_DATA_SUPPRESSED,
    PUG_ETMV3_VAL_NOT_TRACED,
    PUG_ETMV3_IGNORE,
    PUG_ETMV3_CONTEXT_ID,
    PUG_ETMV3_VMID,
    PUG_ETMV3_EXCEPTION_ENTRY,
    PUG_ETMV3_EXCEPTION_EXIT,
    PUG_ETMV3_TIMESTAMP,
    PUG_ETMV3_BRANCH_OR_BYPASS_EOT, /**< never given */
    PUG_ETMV3_BAD_SEQUENCE,
    PUG_ETMV3_BAD_TRACEMODE,
    PUG_ETMV3_RESERVED,
};

/** I-sync: the part of its own. */
struct pug_etmv3_isync {
    uint64_t lsip_address; /**< where the processor went on under the load or store in progress */
    uint8_t reason;        /**< enum pug_isync_reason */
    bool has_cycle_count;  /**< a cycle count stood before it */
    bool has_lsip;         /**< the instruction at the address is a load or store in progress */
    bool no_address;       /**< of a stream of data alone */
};

/** The exception part of a branch address packet. */
struct pug_etmv3_exception {
    uint16_t number; /**< as sent */
    uint16_t irq;    /**< M profile: the number of the interrupt */
    uint8_t type;    /**< enum pug_armv7_exception */
    uint8_t resume;  /**< M profile: where the interrupted instruction goes on */
    bool present;    /**< the packet had it */
    bool cancel;     /**< the last instruction traced did not execute */
    bool m_profile;  /**< `type` and `irq` are the M profile's */
    bool unnamed;    /**< the number is the A or the M profile's: the profile is unknown */
};

/** Data trace packets. */
struct pug_etmv3_data {
    struct pug_armv7_address address;                        /**< of the data */
    uint32_t value;                                          /**< of the data */
    uint8_t tag;                                             /**< of out-of-order packets: 1 to 3 */
    bool big_endian;                                         /**< data are big-endian */
    bool updated_big_endian, updated_address, updated_value; /**< this packet carried it */
};

/** One packet. What a type does not carry is what earlier packets left, or zero. */
struct pug_etmv3_packet {
    uint8_t type;              /**< enum pug_etmv3_packet_type */
    uint8_t header_type;       /**< of bad and incomplete packets: what the header announced */
    uint8_t isa, previous_isa; /**< enum pug_isa */
    bool has_isa;              /**< this packet carried isa */
    struct pug_armv7_context context;     /**< after the packet */
    struct pug_armv7_address address;     /**< after the packet */
    struct pug_etmv3_isync isync;         /**< of an I-sync */
    struct pug_etmv3_exception exception; /**< of a branch */
    struct pug_armv7_atoms atoms;         /**< of a P-header */
    uint8_t format;                       /**< of the last P-header: 1 to 4 */
    uint32_t cycle_count;                 /**< of this packet */
    uint64_t timestamp;                   /**< as sent: Gray-coded where ETMCCER says so */
    uint8_t timestamp_bits;               /**< how many of them the packet gave */
    bool clock_changed;         /**< timestamp: the clock frequency changed since the last one */
    struct pug_etmv3_data data; /**< of a data packet */
};

#endif
