// SPDX-License-Identifier: MIT
/** @file N-Trace messages, as the packet reader gives them. */
#ifndef PUGMARK_PACKET_NTRACE_H
#define PUGMARK_PACKET_NTRACE_H

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Transfer codes, and what the reader gives besides messages. The packet's type. */
enum pug_ntrace_type {
    PUG_NTRACE_OWNERSHIP = 2,
    PUG_NTRACE_DIRECT_BRANCH = 3,
    PUG_NTRACE_INDIRECT_BRANCH = 4,
    PUG_NTRACE_DATA_ACQUISITION = 7,
    PUG_NTRACE_ERROR = 8,
    PUG_NTRACE_PROG_TRACE_SYNC = 9,
    PUG_NTRACE_DIRECT_BRANCH_SYNC = 11,
    PUG_NTRACE_INDIRECT_BRANCH_SYNC = 12,
    PUG_NTRACE_AUX_ACCESS_WRITE = 23,
    PUG_NTRACE_RESOURCE_FULL = 27,
    PUG_NTRACE_INDIRECT_BRANCH_HIST = 28,
    PUG_NTRACE_INDIRECT_BRANCH_HIST_SYNC = 29,
    PUG_NTRACE_REPEAT_BRANCH = 30,
    PUG_NTRACE_PROG_TRACE_CORRELATION = 33,
    PUG_NTRACE_ICT = 34,
    PUG_NTRACE_ICT_SYNC = 35,
    PUG_NTRACE_IDLE = 63,
    PUG_NTRACE_BAD = 64,        /**< broken: `problem` */
    PUG_NTRACE_INCOMPLETE = 65, /**< the data end inside a message */
};

/** The fields of messages. */
enum pug_ntrace_field {
    /* of fixed size */
    PUG_NTRACE_SYNC,
    PUG_NTRACE_BTYPE,
    PUG_NTRACE_ETYPE,
    PUG_NTRACE_RCODE,
    PUG_NTRACE_EVCODE,
    PUG_NTRACE_CDF,
    PUG_NTRACE_CKSRC,
    PUG_NTRACE_CKDF,
    /* of variable size */
    PUG_NTRACE_ICNT,    /**< also RDATA of ResourceFull with RCODE 0 */
    PUG_NTRACE_ADDR,    /**< FADDR or UADDR, from address bit 1 up, sign-extended where the encoder
                           compresses so; of AuxAccessWrite: as it is */
    PUG_NTRACE_HIST,    /**< also RDATA of ResourceFull with RCODE 1 and 2 */
    PUG_NTRACE_HREPEAT, /**< also BCNT of RepeatBranch */
    PUG_NTRACE_PROCESS,
    PUG_NTRACE_ECODE,
    PUG_NTRACE_RDATA, /**< of ResourceFull with the other RCODEs */
    PUG_NTRACE_IDTAG,
    PUG_NTRACE_DATA, /**< DQDATA, and DATA of AuxAccessWrite */
    PUG_NTRACE_CKDATA0,
    PUG_NTRACE_CKDATA1,
    PUG_NTRACE_TSTAMP,
    PUG_NTRACE_FIELDS
};

/** The fault of a message. */
enum pug_ntrace_problem {
    PUG_NTRACE_GOOD,
    PUG_NTRACE_RESERVED_MSEO, /**< MSEO is 2; whose message it was is not known */
    PUG_NTRACE_NO_START,      /**< MSEO is 1 where a message must start; as above */
    PUG_NTRACE_TOO_LONG,      /**< a message of an unknown kind does not end; as above */
    PUG_NTRACE_TOO_SHORT,     /**< the message ends before its fields do */
    PUG_NTRACE_TOO_WIDE,      /**< a field has a value that the specification rules out */
    PUG_NTRACE_NO_TIMESTAMP,  /**< a sync message without TSTAMP where timestamps are on */
};

/** A problem in words. */
const char *pug_ntrace_problem_text(enum pug_ntrace_problem problem);

/** One message. */
struct pug_ntrace_packet {
    uint8_t type;      /**< enum pug_ntrace_type, or any other TCODE */
    uint8_t tcode;     /**< as sent; also of broken messages, as far as it is known */
    uint8_t problem;   /**< enum pug_ntrace_problem */
    uint8_t data_bits; /**< bits that DATA occupied */
    bool gap;          /**< messages may be missing before this one */
    bool time_known;   /**< an absolute TSTAMP came, with this message or before */
    uint16_t source;   /**< SRC, 0 where there is no such field */
    uint32_t present;  /**< bit n: the message has field n */
    uint64_t number;   /**< messages before this one, idle bytes counted */
    uint64_t now; /**< where time_known: the time of the last TSTAMP, this one's if it has one */
    uint64_t field[PUG_NTRACE_FIELDS]; /**< by enum pug_ntrace_field */
};

/** Has the message this field? */
static inline bool pug_ntrace_has(const struct pug_ntrace_packet *packet,
                                  enum pug_ntrace_field field)
{
    return packet->present >> field & 1;
}

/** Does the message carry a full address that decoding can start from? */
static inline bool pug_ntrace_is_sync(unsigned type)
{
    const uint64_t types =
        1ull << PUG_NTRACE_PROG_TRACE_SYNC | 1ull << PUG_NTRACE_DIRECT_BRANCH_SYNC |
        1ull << PUG_NTRACE_INDIRECT_BRANCH_SYNC | 1ull << PUG_NTRACE_INDIRECT_BRANCH_HIST_SYNC;
    return type < 64 && types >> type & 1;
}

/* ---- between the transport "nexus" and the packet reader ---- */

/** What a run of bytes is: its `type`. Other transports than "nexus" give 0. */
enum pug_nexus_run {
    PUG_NEXUS_BYTES,    /**< bytes; whether a message begins with the first is not known */
    PUG_NEXUS_MESSAGES, /**< one source's messages; the first such run begins with a message */
};

/** TCODEs with a known layout, or idle, a bit each. */
#define PUG_NEXUS_KNOWN_TCODES                                                                     \
    (1ull << PUG_NTRACE_OWNERSHIP | 1ull << PUG_NTRACE_DIRECT_BRANCH |                             \
     1ull << PUG_NTRACE_INDIRECT_BRANCH | 1ull << PUG_NTRACE_DATA_ACQUISITION |                    \
     1ull << PUG_NTRACE_ERROR | 1ull << PUG_NTRACE_PROG_TRACE_SYNC |                               \
     1ull << PUG_NTRACE_DIRECT_BRANCH_SYNC | 1ull << PUG_NTRACE_INDIRECT_BRANCH_SYNC |             \
     1ull << PUG_NTRACE_AUX_ACCESS_WRITE | 1ull << PUG_NTRACE_RESOURCE_FULL |                      \
     1ull << PUG_NTRACE_INDIRECT_BRANCH_HIST | 1ull << PUG_NTRACE_INDIRECT_BRANCH_HIST_SYNC |      \
     1ull << PUG_NTRACE_REPEAT_BRANCH | 1ull << PUG_NTRACE_PROG_TRACE_CORRELATION |                \
     1ull << PUG_NTRACE_ICT | 1ull << PUG_NTRACE_ICT_SYNC)

/** Longest message: of a known TCODE, generously; of another one, the longest standard message. */
#define PUG_NEXUS_LIMIT 255u
/** Bytes of a message of an unknown kind at most. */
#define PUG_NEXUS_UNKNOWN_LIMIT 38u

/** A message with more bytes than this is none: memory that was never written reads as one. */
static inline unsigned pug_nexus_limit(unsigned tcode)
{
    return PUG_NEXUS_KNOWN_TCODES >> tcode & 1 ? PUG_NEXUS_LIMIT : PUG_NEXUS_UNKNOWN_LIMIT;
}

#ifdef __cplusplus
}
#endif
#endif
