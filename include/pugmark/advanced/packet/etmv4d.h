// SPDX-License-Identifier: MIT
/**
 * @file Packets of an ETMv4 data stream, as far as they are public: what a header byte says, and no
 * payload. Only the specification gives the length of the payloads of addresses, values, times and
 * events. So nothing is read between such a packet and the next A-sync.
 */
#ifndef PUGMARK_PACKET_ETMV4D_H
#define PUGMARK_PACKET_ETMV4D_H

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/** The kind of a packet. */
enum pug_etmv4d_type {
    PUG_ETMV4D_NOTSYNC,  /**< bytes before the first A-sync, or after a reserved header */
    PUG_ETMV4D_UNREAD,   /**< bytes after a packet of unknown length */
    PUG_ETMV4D_RESERVED, /**< a header that there is not */
    PUG_ETMV4D_INCOMPLETE_EOT,
    PUG_ETMV4D_ASYNC,
    PUG_ETMV4D_TRACE_INFO,
    PUG_ETMV4D_DISCARD,
    PUG_ETMV4D_OVERFLOW,
    PUG_ETMV4D_NUM_DS_MKR,
    PUG_ETMV4D_UNNUM_DS_MKR,
    PUG_ETMV4D_TIMESTAMP,
    PUG_ETMV4D_SUPPRESSION,
    PUG_ETMV4D_EVENT,
    PUG_ETMV4D_VALUE_F4,
    PUG_ETMV4D_ADDRESS_F3,
    PUG_ETMV4D_VALUE_F5,
    PUG_ETMV4D_VALUE_F1,
    PUG_ETMV4D_VALUE_F2,
    PUG_ETMV4D_VALUE_F6,
    PUG_ETMV4D_VALUE_F3,
    PUG_ETMV4D_ADDRESS_F4,
    PUG_ETMV4D_ADDRESS_F1,
    PUG_ETMV4D_ADDRESS_F2,
    PUG_ETMV4D_ADDRESS_F7,
    PUG_ETMV4D_ADDRESS_F6,
    PUG_ETMV4D_ADDRESS_F5,
    PUG_ETMV4D_TYPES
};

/** A packet. */
struct pug_etmv4d_packet {
    uint8_t type;        /**< enum pug_etmv4d_type */
    uint8_t header;      /**< the header byte; after 0x00 the second byte */
    bool length_unknown; /**< nothing is read from here to the next A-sync */
    uint64_t size;       /**< NOTSYNC, UNREAD: how many bytes there were */
};

#ifdef __cplusplus
}
#endif
#endif
