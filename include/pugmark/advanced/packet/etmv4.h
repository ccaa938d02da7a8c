// SPDX-License-Identifier: MIT
/** @file Packets of ETMv4 and ETE: what `data` of a struct pug_packet points to. */
#ifndef PUGMARK_PACKET_ETMV4_H
#define PUGMARK_PACKET_ETMV4_H

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Packet types: the first header byte of each, and numbers above 0xFF for what has none. */
enum pug_etmv4_type {
    PUG_ETMV4_EXTENSION = 0x00,
    PUG_ETMV4_TRACE_INFO = 0x01,
    PUG_ETMV4_TIMESTAMP = 0x02,
    PUG_ETMV4_TRACE_ON = 0x04,
    PUG_ETMV4_FUNC_RET = 0x05,
    PUG_ETMV4_EXCEPT = 0x06,
    PUG_ETMV4_EXCEPT_RTN = 0x07,
    PUG_ETMV4_ITE = 0x09,
    PUG_ETMV4_TRANS_ST = 0x0A,
    PUG_ETMV4_TRANS_COMMIT = 0x0B,
    PUG_ETMV4_CCNT_F2 = 0x0C,
    PUG_ETMV4_CCNT_F1 = 0x0E,
    PUG_ETMV4_CCNT_F3 = 0x10,
    PUG_ETMV4_NUM_DS_MKR = 0x20,
    PUG_ETMV4_UNNUM_DS_MKR = 0x28,
    PUG_ETMV4_COMMIT = 0x2D,
    PUG_ETMV4_CANCEL_F1 = 0x2E,
    PUG_ETMV4_CANCEL_F1_MISPRED = 0x2F,
    PUG_ETMV4_MISPREDICT = 0x30,
    PUG_ETMV4_CANCEL_F2 = 0x34,
    PUG_ETMV4_CANCEL_F3 = 0x38,
    PUG_ETMV4_COND_I_F2 = 0x40,
    PUG_ETMV4_COND_FLUSH = 0x43,
    PUG_ETMV4_COND_RES_F4 = 0x44,
    PUG_ETMV4_COND_RES_F2 = 0x48,
    PUG_ETMV4_COND_RES_F3 = 0x50,
    PUG_ETMV4_COND_RES_F1 = 0x68,
    PUG_ETMV4_COND_I_F1 = 0x6C,
    PUG_ETMV4_COND_I_F3 = 0x6D,
    PUG_ETMV4_IGNORE = 0x70,
    PUG_ETMV4_EVENT = 0x71,
    PUG_ETMV4_CTXT = 0x80,
    PUG_ETMV4_ADDR_CTXT_L_32IS0 = 0x82,
    PUG_ETMV4_ADDR_CTXT_L_32IS1 = 0x83,
    PUG_ETMV4_ADDR_CTXT_L_64IS0 = 0x85,
    PUG_ETMV4_ADDR_CTXT_L_64IS1 = 0x86,
    PUG_ETMV4_TS_MARKER = 0x88,
    PUG_ETMV4_ADDR_MATCH = 0x90,
    PUG_ETMV4_ADDR_S_IS0 = 0x95,
    PUG_ETMV4_ADDR_S_IS1 = 0x96,
    PUG_ETMV4_ADDR_L_32IS0 = 0x9A,
    PUG_ETMV4_ADDR_L_32IS1 = 0x9B,
    PUG_ETMV4_ADDR_L_64IS0 = 0x9D,
    PUG_ETMV4_ADDR_L_64IS1 = 0x9E,
    PUG_ETMV4_Q = 0xA0,
    PUG_ETMV4_SRC_ADDR_MATCH = 0xB0,
    PUG_ETMV4_SRC_ADDR_S_IS0 = 0xB4,
    PUG_ETMV4_SRC_ADDR_S_IS1 = 0xB5,
    PUG_ETMV4_SRC_ADDR_L_32IS0 = 0xB6,
    PUG_ETMV4_SRC_ADDR_L_32IS1 = 0xB7,
    PUG_ETMV4_SRC_ADDR_L_64IS0 = 0xB8,
    PUG_ETMV4_SRC_ADDR_L_64IS1 = 0xB9,
    PUG_ETMV4_ATOM_F6 = 0xC0,
    PUG_ETMV4_ATOM_F5 = 0xD5,
    PUG_ETMV4_ATOM_F2 = 0xD8,
    PUG_ETMV4_ATOM_F4 = 0xDC,
    PUG_ETMV4_ATOM_F1 = 0xF6,
    PUG_ETMV4_ATOM_F3 = 0xF8,
    PUG_ETMV4_ASYNC = 0x100,
    PUG_ETMV4_DISCARD = 0x103,
    PUG_ETMV4_OVERFLOW = 0x105,
    PUG_ETMV4_NOT_SYNC = 0x200,       /**< bytes before the first ASYNC */
    PUG_ETMV4_INCOMPLETE_EOT = 0x201, /**< the trace ended in the packet */
    PUG_ETMV4_NO_ERR_TYPE = 0x202,
    PUG_ETMV4_BAD_SEQUENCE = 0x300, /**< a byte that cannot follow */
    PUG_ETMV4_BAD_TRACEMODE = 0x301,
    PUG_ETMV4_RESERVED = 0x302,     /**< a header that does not exist */
    PUG_ETMV4_RESERVED_CFG = 0x303, /**< a header that this configuration does not have */
    PUG_ETMV4_PE_RESET = 0x400,     /**< ETE: EXCEPT with type 0 */
    PUG_ETMV4_TRANS_FAIL = 0x401,   /**< ETE: EXCEPT with type 0x18 */
};

/** Bits of `valid`. */
enum pug_etmv4_valid {
    PUG_ETMV4_HAS_CONTEXT = 1 << 0,
    PUG_ETMV4_HAS_TIMESTAMP = 1 << 1,
    PUG_ETMV4_HAS_SPEC_DEPTH = 1 << 2,
    PUG_ETMV4_HAS_P0_KEY = 1 << 3,
    PUG_ETMV4_HAS_COND_C_KEY = 1 << 4,
    PUG_ETMV4_HAS_COND_R_KEY = 1 << 5,
    PUG_ETMV4_HAS_TRACE_INFO = 1 << 6,
    PUG_ETMV4_HAS_CC_THRESHOLD = 1 << 7,
    PUG_ETMV4_HAS_CYCLE_COUNT = 1 << 8,
    PUG_ETMV4_HAS_COMMIT = 1 << 9,
    PUG_ETMV4_HAS_CANCEL = 1 << 10,
};

/** Bits of `trace_info`. */
enum pug_etmv4_trace_info {
    PUG_ETMV4_INFO_CC = 1 << 0,
    PUG_ETMV4_INFO_COND = 7 << 1,
    PUG_ETMV4_INFO_P0_LOAD = 1 << 4,
    PUG_ETMV4_INFO_P0_STORE = 1 << 5,
    PUG_ETMV4_INFO_IN_TRANSACTION = 1 << 6,
    PUG_ETMV4_INFO_INITIAL = 1 << 16,    /**< not in the trace: the first since the reset */
    PUG_ETMV4_INFO_SPEC_FIELD = 1 << 17, /**< not in the trace: it has a SPEC field */
};

/** The address register: what the last address packet left. */
struct pug_etmv4_address {
    uint64_t value;     /**< the address */
    uint8_t size;       /**< bits: 32 or 64 */
    uint8_t valid_bits; /**< how many of them are known */
    uint8_t pkt_bits;   /**< how many the packet gave; 0: none */
    uint8_t is;         /**< instruction set: 0 IS0, 1 IS1 */
};

/** The processor's context as far as packets have given it. */
struct pug_etmv4_context {
    uint8_t el;                                     /**< exception level */
    bool sf;                                        /**< AArch64 */
    bool ns;                                        /**< non-secure */
    bool nse;                                       /**< root (with ns 0) or realm (with ns 1) */
    bool updated, updated_context_id, updated_vmid; /**< by this packet */
    uint32_t context_id, vmid;                      /**< from the last packet that had them */
};

/** Conditional instruction packets. */
struct pug_etmv4_cond_instr {
    uint32_t key;                         /**< of the condition */
    uint8_t elements;                     /**< how many conditional elements */
    bool key_set, f3_final, f2_increment; /**< form of the packet */
};

/** Conditional result packets. */
struct pug_etmv4_cond_result {
    uint32_t key[2];                      /**< of one or two results */
    uint8_t result[2];                    /**< what they are */
    bool ci[2];                           /**< the current key is incremented */
    bool has[2];                          /**< which of the two are there */
    uint8_t f2_key_increment, f2f4_token; /**< fields of formats 2 and 4 */
    uint16_t f3_tokens;                   /**< field of format 3 */
};

/**
 * One packet. The reader has one such object and reuses it: what a packet does not carry keeps the
 * value that an earlier one gave; `type` and `valid` tell what counts.
 */
struct pug_etmv4_packet {
    uint32_t type;      /**< enum pug_etmv4_type */
    uint32_t err_type;  /**< of bad and incomplete packets: what the header announced */
    uint32_t atom_bits; /**< bit 0 is the oldest atom; 1: E, 0: N */
    uint8_t atom_count; /**< 0: the packet carries no atoms */
    uint8_t err_header; /**< the header of RESERVED and RESERVED_CFG */
    uint8_t version;    /**< of the protocol, major and minor: 0x42 is ETM 4.2, 0x51 ETE 1.1 */
    uint8_t match;      /**< of exact match packets: which entry of the address stack */
    uint32_t valid;     /**< enum pug_etmv4_valid */
    struct pug_etmv4_address address; /**< of address packets, and others that have one */
    struct pug_etmv4_context context; /**< of context packets */
    uint64_t timestamp;               /**< as far as packets have given it */
    uint8_t timestamp_bits;           /**< how many of them the packet gave */
    uint8_t marker;                   /**< data synchronisation marker */
    uint8_t event;                    /**< numbers of events, a bit each */
    uint8_t q_type;                   /**< type of the Q packet */
    uint32_t q_count;                 /**< instructions, where q_has_count */
    bool q_has_address, q_has_match, q_has_count; /**< what the Q packet has */
    uint8_t exception_address; /**< 1: an address follows; 2: it is also the branch's target */
    uint16_t exception_type;   /**< number of the exception */
    bool exception_fault;      /**< M profile: fault pending */
    bool exception_m;          /**< the numbers are the M profile's */
    bool exception_unnamed;    /**< A or M profile's number: the profile is unknown */
    uint32_t trace_info;       /**< enum pug_etmv4_trace_info */
    uint32_t cc_threshold;     /**< of cycle counts, by trace info */
    uint32_t cycle_count;      /**< of this packet */
    uint32_t spec_depth;       /**< speculation depth, by trace info */
    uint32_t p0_key;           /**< right-hand key, by trace info */
    uint32_t commit_count;     /**< elements that are committed */
    uint32_t cancel_count;     /**< elements that are cancelled */
    uint8_t ite_el;            /**< instrumentation: exception level */
    uint64_t ite_value;        /**< instrumentation: what the program gave */
    struct pug_etmv4_cond_instr cond_instr;   /**< of conditional instruction packets */
    struct pug_etmv4_cond_result cond_result; /**< of conditional result packets */
};

#ifdef __cplusplus
}
#endif
#endif
