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

/** MSEO of a byte. */
enum pug_nexus_mseo {
    PUG_NEXUS_MSEO_MORE = 0,
    PUG_NEXUS_MSEO_END_FIELD = 1,
    PUG_NEXUS_MSEO_RESERVED = 2,
    PUG_NEXUS_MSEO_END_MESSAGE = 3
};

struct pug_ntrace_reader {
    const struct pug_ntrace_config *config;
    struct pug_stage *stage;
    enum pug_ntrace_reader_state state;
    bool first; /* the message underway is the first one, and its start is a guess */
    bool src_locked;
    bool gap; /* messages may be missing before the next one that is given */
    uint16_t src;
    uint64_t count; /* messages */
    bool time_known;
    uint64_t now; /* the time of the last TSTAMP */

    uint64_t index; /* of the message underway */
    uint32_t kept;  /* bytes of it from earlier runs, in `raw` */
    uint8_t raw[PUG_NEXUS_LIMIT];
    struct pug_ntrace_packet packet;
};

/** Does the run begin here, and after a gap? */
static inline bool pug_ntrace_at_gap(const struct pug_span *span)
{
    return span->run->gap && span->at == span->run->bytes;
}

/** Is the next message the first one after a gap? */
static inline bool pug_ntrace_follows_gap(const struct pug_ntrace_reader *reader,
                                          const struct pug_span *span)
{
    return reader->gap || pug_ntrace_at_gap(span);
}

/** Broken messages that were passed over. */
struct pug_ntrace_broken {
    bool any, last; /* were there some, and did nothing follow them? */
    uint64_t index; /* of the last one */
};

/**
 * Idle bytes and broken messages, up to a possible whole message, while no flow can be lost: they
 * have no effect except their reports.
 */
struct pug_ntrace_broken pug_ntrace_pass_over_broken(struct pug_ntrace_reader *reader,
                                                     struct pug_span *span);

/** Virtual address optimisation: the highest bit sent stands for all above it, but for the top. */
static inline uint64_t pug_ntrace_extend_address(const struct pug_ntrace_config *config,
                                                 uint64_t value, unsigned bits)
{
    unsigned top = config->xlen - 2u;
    if (!config->extend_addr_msb || bits == 0 || bits > top || !(value >> (bits - 1) & 1))
        return value;
    return value | (~UINT64_C(0) << bits & ((UINT64_C(2) << top) - 1));
}

#endif
