// SPDX-License-Identifier: MIT
/** @file The packet reader's state. */
#ifndef PUG_PROTOCOL_NTRACE_READER_H
#define PUG_PROTOCOL_NTRACE_READER_H

#include "protocol/ntrace/ntrace.h"

enum pug_ntrace_reader_state {
    PUG_NTRACE_READER_START,   /* nothing seen: the first byte may be in the middle of a message */
    PUG_NTRACE_READER_BETWEEN, /* a message starts with the next byte */
    PUG_NTRACE_READER_INSIDE,
    PUG_NTRACE_READER_SKIP, /* up to and including the next end of a message */
};

struct pug_ntrace_reader {
    const struct pug_ntrace_config *config;
    struct pug_stage *stage;
    enum pug_ntrace_reader_state state;
    bool first; /* the message underway is the first one, and its start is a guess */
    bool src_locked;
    uint16_t src;
    uint64_t count; /* messages */

    uint64_t index; /* of the message underway */
    uint32_t kept;  /* bytes of it from earlier runs, in `raw` */
    uint8_t raw[PUG_NEXUS_LIMIT];
    struct pug_ntrace_packet packet;
};

#endif
