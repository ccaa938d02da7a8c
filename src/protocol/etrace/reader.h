// SPDX-License-Identifier: MIT
/** @file The E-Trace packet reader from inside. */
#ifndef PUG_PROTOCOL_ETRACE_READER_H
#define PUG_PROTOCOL_ETRACE_READER_H

#include "protocol/etrace/etrace.h"

struct etrace_reader {
    const struct etrace_config *config;
    struct pug_stage *stage;
    struct pug_etrace_options options; /**< in force */
    uint8_t request_sizes[ETRACE_LRIDS];
    bool unknown_mode;         /**< an encoder mode that is not branch trace */
    bool plain;                /**< instruction packets may be plain */
    struct pug_unwrap *unwrap; /**< where the transport knows no packets */
    struct pug_etrace_packet packet;
};

/** The payload of a packet into reader->packet. */
void etrace_parse(struct etrace_reader *reader, const uint8_t *payload, unsigned size,
                  bool is_data);

/** What the wrapping says about the packet. */
void etrace_take_stamp(const struct pug_run *run, struct pug_etrace_packet *packet);

/* ---- packet_plain.c ---- */

/** What most packets say: those of formats 0 to 2. Fields as in struct pug_etrace_packet. */
struct etrace_plain {
    uint8_t type;
    uint8_t branches;
    bool has_address, difference;
    bool notify, updiscon, irreport;
    bool mispredicted; /**< COUNT */
    uint16_t ir_value, cache_index;
    uint32_t branch_map;
    uint64_t branch_count;
    uint64_t address;
};

/** Is the layout one that etrace_parse_plain() knows? */
bool etrace_has_plain_packets(const struct etrace_config *config);

/** False: it is another packet, or a bad one, and etrace_parse() has to look at it. */
bool etrace_parse_plain(const struct etrace_reader *reader, const uint8_t *payload, size_t size,
                        struct etrace_plain *plain);

#endif
