// SPDX-License-Identifier: MIT
/** @file Packets of the Instrumentation Trace Macrocell: what pug_packet.data is for "ITM". */
#ifndef PUGMARK_PACKET_ITM_H
#define PUGMARK_PACKET_ITM_H

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Kinds of packet, with the reference's numbers. */
enum pug_itm_packet_type {
    PUG_ITM_PKT_NOTSYNC,        /**< bytes passed over in search of an ASYNC */
    PUG_ITM_PKT_INCOMPLETE_EOT, /**< the trace ends inside a packet; `error_type` is its kind */
    PUG_ITM_PKT_NO_ERR_TYPE,    /**< `error_type` of a packet that is fine */
    PUG_ITM_PKT_ASYNC,
    PUG_ITM_PKT_OVERFLOW,
    PUG_ITM_PKT_SWIT,     /**< software source: `source` is the port in `page` */
    PUG_ITM_PKT_DWT,      /**< hardware source: `source` is the discriminator */
    PUG_ITM_PKT_TS_LOCAL, /**< `source` is TC, the relation to the packets before */
    PUG_ITM_PKT_GTS1,     /**< `source`: bit 0 clock change, bit 1 wrap */
    PUG_ITM_PKT_GTS2,
    PUG_ITM_PKT_EXTENSION, /**< `source`: bit 7 hardware (SH), low bits the number of the top bit */
    PUG_ITM_PKT_BAD_SEQUENCE, /**< a packet that breaks the rules; `error_type` is its kind */
    PUG_ITM_PKT_RESERVED,     /**< a header that means nothing */
    PUG_ITM_PKT_TYPE_COUNT
};

/** `source` of the extension that selects the stimulus port page (software, 3 bits). */
#define PUG_ITM_EXTENSION_PAGE 2
/** EXTENSION: of a hardware source. */
#define PUG_ITM_EXTENSION_HARDWARE 0x80
/** GTS1: the clock changed since the last one. */
#define PUG_ITM_GTS1_CLOCK_CHANGE 1
/** GTS1: the upper bits changed since the last GTS2. */
#define PUG_ITM_GTS1_WRAP 2

/** One packet. Fields that its type does not define are zero. */
struct pug_itm_packet {
    uint8_t type;       /**< enum pug_itm_packet_type */
    uint8_t error_type; /**< the same, PUG_ITM_PKT_NO_ERR_TYPE unless noted above */
    uint8_t source;     /**< stimulus port, or discriminator of a hardware source */
    uint8_t size;       /**< payload bytes; GTS2: 5 for the long form, EXTENSION: always 4 */
    uint8_t value_top;  /**< GTS2 of size 5: bits 39 to 32 of the value */
    bool has_time;      /**< GTS1, GTS2: `time` is the whole global time */
    uint8_t page;       /**< SWIT: of stimulus ports, 32 each; as the last EXTENSION selected it */
    uint32_t value;     /**< payload */
    uint64_t time;      /**< GTS2 and local timestamps: the time */
};

#ifdef __cplusplus
}
#endif
#endif
