// SPDX-License-Identifier: MIT
/** @file Packets of the System Trace Macrocell: what pug_packet.data points to for "STM". */
#ifndef PUGMARK_PACKET_STM_H
#define PUGMARK_PACKET_STM_H

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Kinds of packet, with the reference's numbers. */
enum pug_stm_packet_type {
    PUG_STM_NOTSYNC,        /**< bytes passed over in search of an ASYNC */
    PUG_STM_INCOMPLETE_EOT, /**< the trace ends inside a packet; `error_type` is its kind */
    PUG_STM_NO_ERR_TYPE,    /**< `error_type` of a packet that is fine */
    PUG_STM_ASYNC,
    PUG_STM_VERSION, /**< `payload.d8`: the version number */
    PUG_STM_FREQ,    /**< `payload.d32`: Hz */
    PUG_STM_NULL,
    PUG_STM_TRIG, /**< `payload.d8` */
    PUG_STM_GERR, /**< `payload.d8` */
    PUG_STM_MERR, /**< `payload.d8` */
    PUG_STM_M8,
    PUG_STM_C8,
    PUG_STM_C16,
    PUG_STM_FLAG,
    PUG_STM_D4, /**< `payload.d8` */
    PUG_STM_D8,
    PUG_STM_D16,
    PUG_STM_D32,
    PUG_STM_D64,
    PUG_STM_BAD_SEQUENCE, /**< a packet that breaks the rules; `error_type` is its kind */
    PUG_STM_RESERVED,     /**< an opcode that means nothing: `payload.d16`, first nibble lowest */
    PUG_STM_TYPE_COUNT
};

/** How timestamps are encoded; VERSION packets say it. */
enum pug_stm_ts_type {
    PUG_STM_TS_UNKNOWN,
    PUG_STM_TS_NATURAL,
    PUG_STM_TS_GREY,
};

/**
 * One packet. `master`, `channel`, `timestamp` and `ts_type` are the stream's state after it;
 * `payload` is meaningful for the types that say so, by the member they name.
 */
struct pug_stm_packet {
    uint8_t type;       /**< enum pug_stm_packet_type */
    uint8_t error_type; /**< the same, PUG_STM_NO_ERR_TYPE unless noted above */
    uint8_t master;
    uint8_t ts_type; /**< enum pug_stm_ts_type */
    uint8_t ts_bits; /**< how many low bits of the timestamp this packet gave */
    bool has_ts;
    bool marker;
    uint16_t channel;
    uint64_t timestamp; /**< Grey code already undone */
    union {
        uint8_t d8;
        uint16_t d16;
        uint32_t d32;
        uint64_t d64;
    } payload;
};

#ifdef __cplusplus
}
#endif
#endif
