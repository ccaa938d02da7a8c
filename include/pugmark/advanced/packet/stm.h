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
    PUG_STM_VERSION, /**< `payload`, 8 bits: the version number */
    PUG_STM_FREQ,    /**< `payload`, 32 bits: Hz */
    PUG_STM_NULL,
    PUG_STM_TRIG, /**< `payload`, 8 bits */
    PUG_STM_GERR, /**< `payload`, 8 bits */
    PUG_STM_MERR, /**< `payload`, 8 bits */
    PUG_STM_M8,
    PUG_STM_C8,
    PUG_STM_C16,
    PUG_STM_FLAG,
    PUG_STM_D4, /**< data: `payload` */
    PUG_STM_D8,
    PUG_STM_D16,
    PUG_STM_D32,
    PUG_STM_D64,
    PUG_STM_BAD_SEQUENCE, /**< a packet that breaks the rules; `error_type` is its kind */
    PUG_STM_RESERVED, /**< an opcode that means nothing: `payload`, 16 bits, first nibble lowest */
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
 * `payload` is meaningful for the types that say so.
 */
struct pug_stm_packet {
    uint8_t type;       /**< enum pug_stm_packet_type */
    uint8_t error_type; /**< the same, PUG_STM_NO_ERR_TYPE unless noted above */
    uint8_t ts_bits;    /**< how many low bits of the timestamp this packet gave */
    bool has_ts;        /**< it has a timestamp */
    bool marker;        /**< it is marked */
    uint8_t ts_type;    /**< enum pug_stm_ts_type */
    uint8_t master;     /**< master */
    uint16_t channel;   /**< channel */
    uint64_t timestamp; /**< Grey code already undone */
    uint64_t payload;   /**< its lowest bits, as many as the type has; above are older ones */
};

#ifdef __cplusplus
}
#endif
#endif
