// SPDX-License-Identifier: MIT
/**
 * @file Open SoC Debug: debug packets as the transport "osd" delivers them, and the events of the
 * Core Trace Module (CTM) and the System Trace Module (STM).
 *
 * A run of the transport is one debug transport datagram, 16-bit words with the most significant
 * byte first: the number of words that follow, DEST, SRC, FLAGS, payload.
 */
#ifndef PUGMARK_PACKET_OSD_H
#define PUGMARK_PACKET_OSD_H

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Words of a datagram in front of the payload, and of a debug packet. */
#define PUG_OSD_HEADER 4u
/** Words of a debug packet in front of the payload. */
#define PUG_OSD_PACKET_HEADER 3u

/** FLAGS: TYPE in bits 15:14, TYPE_SUB in bits 13:10, the others reserved. */
#define PUG_OSD_TYPE(flags) ((unsigned)(flags) >> 14)
/** TYPE_SUB of FLAGS. */
#define PUG_OSD_TYPE_SUB(flags) ((unsigned)(flags) >> 10 & 15)

/** TYPE of packets that there are. */
enum pug_osd_packet_type { PUG_OSD_REG = 0, PUG_OSD_EVENT = 2 };

/** TYPE_SUB of events. */
enum pug_osd_event_sub { PUG_OSD_LAST = 0, PUG_OSD_CONT = 1, PUG_OSD_OVERFLOW = 5 };

/** The kind of a packet that the packet reader delivers. */
enum pug_osd_kind {
    PUG_OSD_KIND_EVENT,      /**< a whole event */
    PUG_OSD_KIND_OVERFLOW,   /**< `missed` events were not sent */
    PUG_OSD_KIND_REGISTER,   /**< register access */
    PUG_OSD_KIND_OTHER,      /**< an event packet of an undefined TYPE_SUB */
    PUG_OSD_KIND_BAD,        /**< `problem` */
    PUG_OSD_KIND_INCOMPLETE, /**< the data end with pieces of an event */
};

/** The fault of a packet. */
enum pug_osd_problem {
    PUG_OSD_GOOD,
    PUG_OSD_BAD_LENGTH,     /**< an event whose length is not the module's */
    PUG_OSD_LOST_LAST,      /**< pieces of an event whose last one did not come */
    PUG_OSD_BAD_MODULE,     /**< registers say that the module is another one */
    PUG_OSD_OVERFLOW_PIECES /**< an overflow between the pieces of an event */
};

/** Words of payload that a packet holds; register accesses and events fit. */
#define PUG_OSD_WORDS 16u

/** One packet, or all pieces of an event together. */
struct pug_osd_packet {
    uint8_t kind;                  /**< enum pug_osd_kind */
    uint8_t problem;               /**< enum pug_osd_problem */
    bool gap;                      /**< packets of this module may be missing before this one */
    uint16_t dest, source, flags;  /**< header words */
    uint16_t count;                /**< words of payload, of all pieces together */
    uint16_t words[PUG_OSD_WORDS]; /**< the first of them */
    uint16_t missed;               /**< OVERFLOW */

    uint32_t timestamp; /**< EVENT: of 32 bits, it wraps */
    uint8_t width;      /**< EVENT: bits of addresses, or of the value */
    uint64_t now;       /**< EVENT: the timestamp, extended over its wraps */
    /* EVENT of a CTM */
    uint64_t npc, pc;           /**< addresses */
    uint8_t mode;               /**< privilege mode */
    bool ret, call, modechange; /**< flags of the event */
    /* EVENT of an STM */
    uint16_t id;    /**< of the event */
    uint64_t value; /**< of the event */
};

#ifdef __cplusplus
}
#endif
#endif
