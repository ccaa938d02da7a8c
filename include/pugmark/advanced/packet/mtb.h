// SPDX-License-Identifier: MIT
/** @file Packets of a Micro Trace Buffer (MTB): pairs of words in memory. */
#ifndef PUGMARK_PACKET_MTB_H
#define PUGMARK_PACKET_MTB_H

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Bytes of a packet. */
#define PUG_MTB_PACKET 8u

/** From here on an address is none of code: EXC_RETURN, FNC_RETURN. */
#define PUG_MTB_MAGIC UINT32_C(0xf0000000)

/** The kind of a packet. */
enum pug_mtb_packet_type {
    PUG_MTB_BRANCH,     /**< an instruction branched */
    PUG_MTB_EXCEPTION,  /**< an exception, or a debugger that moved the PC */
    PUG_MTB_RETURN,     /**< an instruction returned from an exception: to EXC_RETURN … */
    PUG_MTB_RESUME,     /**< … and from there to where execution goes on */
    PUG_MTB_EMPTY,      /**< zeros: memory that nothing was written to */
    PUG_MTB_INCOMPLETE, /**< the data end inside a packet */
    PUG_MTB_TYPES
};

/** One packet, as it lies in memory. */
struct pug_mtb_packet {
    uint8_t type;         /**< enum pug_mtb_packet_type */
    bool atomic;          /**< the A bit: no instruction branched */
    bool start;           /**< the S bit: the first one since tracing started */
    uint32_t source;      /**< what branched; of an exception where execution will go on */
    uint32_t destination; /**< where it went */
};

#ifdef __cplusplus
}
#endif
#endif
