// SPDX-License-Identifier: MIT
/** @file Packets of Efficient Trace for RISC-V (E-Trace 2.0): instruction and data trace. */
#ifndef PUGMARK_PACKET_ETRACE_H
#define PUGMARK_PACKET_ETRACE_H

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Payloads as transports tell them apart: pug_run::type. */
enum pug_etrace_payload {
    PUG_ETRACE_INSTRUCTION_TRACE,
    PUG_ETRACE_DATA_TRACE,
    PUG_ETRACE_OTHER_PAYLOAD, /**< of a type that is no E-Trace: passed over */
};

/** The kind of a packet, by format and subformat. */
enum pug_etrace_type {
    PUG_ETRACE_SYNC,       /**< format 3 subformat 0 */
    PUG_ETRACE_TRAP,       /**< format 3 subformat 1 */
    PUG_ETRACE_CONTEXT,    /**< format 3 subformat 2 */
    PUG_ETRACE_SUPPORT,    /**< format 3 subformat 3 */
    PUG_ETRACE_ADDRESS,    /**< format 2 */
    PUG_ETRACE_BRANCHES,   /**< format 1, with or without address */
    PUG_ETRACE_COUNT,      /**< format 0 subformat 0: correctly predicted branches */
    PUG_ETRACE_JUMP_CACHE, /**< format 0 subformat 1: index into the jump target cache */
    PUG_ETRACE_DATA,       /**< data trace: an access, or a request whose data come later */
    PUG_ETRACE_DATA_REPLY, /**< data trace: the data of a request */
    PUG_ETRACE_UNKNOWN,    /**< of an encoder mode that is not known */
    PUG_ETRACE_BAD,        /**< reserved or impossible fields */
    PUG_ETRACE_TYPE_COUNT
};

/** Why tracing begins or ends, of support packets. */
enum pug_etrace_qual {
    PUG_ETRACE_NO_CHANGE,
    PUG_ETRACE_ENDED_REP,
    PUG_ETRACE_TRACE_LOST,
    PUG_ETRACE_ENDED_NTR,
};

/** Everything that may change while tracing; support packets give what their layout has of it. */
struct pug_etrace_options {
    bool sijump, implicit_return, branch_prediction; /**< by their names */
    bool jump_target_cache, implicit_exception;      /**< … in the specification */
    bool full_address, resync_disabled;              /**< … */
    bool irets; /**< the implicit return field counts returns, else it is the stack's depth */
    bool data_no_address, data_no_value;     /**< of data trace */
    bool data_full_address, data_full_value; /**< … */
    bool data_mma_cas;                       /**< the draft's set of data packets */
    uint8_t time_width, f0s_width;           /**< bits of these fields */
    uint8_t return_stack_size, call_counter_size, bpred_size, cache_size; /**< exponents of two */
};

/** Fields of a data trace packet, as sent. */
struct pug_etrace_data {
    uint8_t access; /**< enum pug_access, without the operand bit */
    uint8_t size;   /**< 2^size bytes */
    uint8_t diff;   /**< field `diff`, or `resp` of a reply */
    bool multi;     /**< one of several accesses of an instruction (draft set) */
    bool split;     /**< request: the data come later */
    bool unaligned; /**< its address is not a multiple of its size */
    bool has_address, has_value, has_operand; /**< which of the fields it has */
    uint16_t lrid;                            /**< of requests and replies */
    uint64_t address;                         /**< units of 2^size bytes where aligned */
    uint64_t value, operand;                  /**< value, and of atomics the operand */
};

/** One packet. Only the fields of its type have a meaning. */
struct pug_etrace_packet {
    uint8_t type; /**< enum pug_etrace_type */

    /* context: SYNC, TRAP, CONTEXT */
    uint8_t privilege;          /**< 0 U, 1 S, 3 M, 4 D, 5 VU, 6 VS */
    bool has_time, has_context; /**< whether `time` and `context` are there */

    /* address: bytes; a signed difference to the last reported one where `difference` */
    bool has_address, difference; /**< whether `address` is there; whether it is a difference */
    bool branch; /**< SYNC, TRAP: false: the reported instruction is a branch and was taken */

    /* TRAP */
    bool interrupt, thaddr, has_epc; /**< fields by their names; whether `epc` is there */

    /* ADDRESS, BRANCHES, COUNT, JUMP_CACHE */
    bool notify, updiscon, irreport; /**< resolved: the bits are sent as differences */
    bool irets;                      /**< `ir_value` is irets, else irdepth */
    bool has_ir;                     /**< the field has a width */
    uint8_t branches;                /**< valid bits of `branch_map` */
    uint8_t branch_fmt;              /**< field branch_fmt */

    /* SUPPORT; `options` below */
    bool ienable, denable, dloss; /**< fields by their names */
    uint8_t encoder_mode;         /**< field encoder_mode */
    uint8_t qual_status;          /**< enum pug_etrace_qual */

    /* from the wrapping */
    bool gap;               /**< packets may be missing before this one */
    uint8_t timestamp_bits; /**< 0: none */

    bool moves_flow; /**< BAD: it contained executed instructions */
    bool tells_time; /**< by `time`, or by `timestamp`: then it is `now` */

    uint16_t cache_index;   /**< JUMP_CACHE: the entry */
    uint16_t ir_value;      /**< what the implicit return field says */
    uint32_t branch_map;    /**< bit 0 is the oldest branch; 1: not taken */
    uint64_t branch_count;  /**< COUNT: correctly predicted branches, the 31 implied included */
    uint64_t address;       /**< of instructions, in bytes */
    uint64_t time, context; /**< where has_time and has_context say that they are there */
    uint64_t ecause, tval;  /**< TRAP */
    uint64_t epc;           /**< TRAP: if the packet itself has it (ESP32) */
    uint64_t timestamp;     /**< from the wrapping */
    uint64_t now;           /**< the complete time of the packet */
    const char *problem;    /**< BAD: what is wrong */

    struct pug_etrace_options options; /**< SUPPORT: in force after the packet */
    struct pug_etrace_data data;       /**< DATA, DATA_REPLY */
};

#ifdef __cplusplus
}
#endif
#endif
