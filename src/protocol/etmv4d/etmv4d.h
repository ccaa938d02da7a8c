// SPDX-License-Identifier: MIT
/** @file The ETMv4 data stream's room: what its files share. */
#ifndef PUG_PROTOCOL_ETMV4D_H
#define PUG_PROTOCOL_ETMV4D_H

#include "pugmark/advanced/packet/etmv4d.h"
#include "pugmark/author/protocol.h"

/** Zeros before the 0x80 of an A-sync. */
#define PUG_ETMV4D_ZEROS 11u

/** Number of bytes to show of those that are not decoded. */
#define PUG_ETMV4D_SHOWN 16u

struct pug_etmv4d_config {
    uint16_t id;
};

/** Bytes that are passed over: where they begin, how many they are, and the first of them. */
struct pug_etmv4d_passed {
    uint64_t index, size;
    uint8_t bytes[PUG_ETMV4D_SHOWN];
};

struct pug_etmv4d_reader {
    struct pug_stage *stage;
    struct pug_etmv4d_packet packet;
    uint8_t raw[2];
    bool synced;   /**< the next byte begins a packet, or follows the 0x00 of one */
    bool extended; /**< it follows that */
    bool lost;     /**< the bytes that are passed over follow a packet of unknown length */
    bool found;    /**< an A-sync ended; what was passed over before it goes first */
    uint64_t index;
    uint64_t zeros;                        /**< in a row, that may belong to an A-sync */
    uint64_t zero_index[PUG_ETMV4D_ZEROS]; /**< of the last ones, in a ring */
    struct pug_etmv4d_passed passed;
};

struct pug_etmv4d_decoder {
    struct pug_stage *stage;
    bool told; /**< NO_SYNC, at the beginning */
    uint64_t last;
};

/** What a header byte says. `extended`: it follows 0x00. */
enum pug_etmv4d_type pug_etmv4d_type_of(uint8_t header, bool extended);
/** Does a packet of this type end with its header? */
bool pug_etmv4d_is_bare(enum pug_etmv4d_type type);

bool pug_etmv4d_read(void *reader, struct pug_span *span, struct pug_packet *packet);
bool pug_etmv4d_read_end(void *reader, struct pug_packet *packet);

enum pug_response pug_etmv4d_decode(void *decoder, const struct pug_packet *packet);
enum pug_response pug_etmv4d_decode_end(void *decoder);

size_t pug_etmv4d_packet_text(const void *packet, char *buffer, size_t size);
const char *pug_etmv4d_packet_name(uint32_t type);

#endif
