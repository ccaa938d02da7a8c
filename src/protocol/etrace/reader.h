// SPDX-License-Identifier: MIT
/** @file The E-Trace packet reader from inside. */
#ifndef PUG_PROTOCOL_ETRACE_READER_H
#define PUG_PROTOCOL_ETRACE_READER_H

#include "protocol/etrace/etrace.h"

#define PUG_ETRACE_ROW_PAYLOAD 31u /* bytes that a payload in a row has at most */

struct pug_etrace_reader {
    const struct pug_etrace_config *config;
    struct pug_stage *stage;
    struct pug_etrace_options options; /**< in force */
    uint8_t request_sizes[PUG_ETRACE_LRIDS];
    bool unknown_mode; /**< an encoder mode that is not branch trace */
    bool time_known;
    uint8_t time_bits;         /**< that a time was sent with, at most */
    uint64_t now;              /**< the last time that a packet gave */
    struct pug_unwrap *unwrap; /**< where the transport knows no packets */
    struct pug_etrace_packet packet;
    uint8_t aligned[PUG_ETRACE_ROW_PAYLOAD]; /**< of a row, where it does not begin with a byte */
};

/** A packet as the transport has it. */
struct pug_etrace_carried {
    const uint8_t *bytes;
    unsigned size;
    uint64_t index;
    uint8_t lead; /**< bits of its first byte that are not its own */
    bool is_data, gap;
    uint8_t padding; /**< enum pug_run_padding … */
    unsigned bits;   /**< … of those up to this one */
    uint8_t timestamp_bits;
    uint64_t timestamp;
};

/** Eight bits from a bit of the byte at `at` on. */
static inline uint8_t pug_etrace_shifted(const uint8_t *at, unsigned bit)
{
    return (uint8_t)((at[0] | at[1] << 8) >> bit);
}

/** The next one of a run of whole packets. Returns the start of the next one. */
static inline const uint8_t *pug_etrace_next_payload(const struct pug_span *span,
                                                     struct pug_etrace_carried *payload)
{
    const struct pug_run *run = span->run;
    *payload =
        (struct pug_etrace_carried){.bytes = run->bytes,
                                    .size = (unsigned)run->size,
                                    .index = run->index,
                                    .is_data = run->kind == PUG_ETRACE_DATA_TRACE,
                                    .gap = run->gap,
                                    .padding = run->padding,
                                    .bits = run->bits,
                                    .timestamp_bits = run->has_timestamp ? run->timestamp_bits : 0,
                                    .timestamp = run->timestamp};
    if (run->header == 0)
        return span->end;
    const uint8_t *at = span->at + run->header;
    unsigned stamp = *span->at >> 7 ? run->stamp : 0;
    payload->bytes = at + stamp;
    payload->size = *span->at & 0x1f;
    payload->lead = run->lead;
    payload->index = pug_span_index(span);
    payload->timestamp_bits = (uint8_t)(8 * stamp);
    for (unsigned i = 0; i < stamp; i++)
        payload->timestamp |= (uint64_t)pug_etrace_shifted(at + i, run->lead) << 8 * i;
    return payload->bytes + payload->size;
}

/** Returns its first bits, followed by its sign where it is short. */
static inline int pug_etrace_start(const struct pug_etrace_carried *payload)
{
    const uint8_t *bytes = payload->bytes;
    return (payload->size > 1 ? bytes[0] | bytes[1] << 8 : (int8_t)bytes[0]) >> payload->lead;
}

/** The packet is read: the span now starts after it. */
static inline void pug_etrace_used_payload(struct pug_etrace_reader *reader, struct pug_span *span,
                                           const uint8_t *behind)
{
    if (span->run->header > 0) /* that is not the source's */
        reader->stage->stats.bytes -= (uint64_t)(behind - span->at) - (*span->at & 0x1f);
    span->at = behind;
}

/** Takes a timestamp of so many bits from the transport. Returns the complete time. */
static inline uint64_t pug_etrace_take_stamp(struct pug_etrace_reader *reader, unsigned bits,
                                             uint64_t stamp)
{
    if (!reader->time_known || bits >= 64)
        reader->now = stamp;
    else
        reader->now += (stamp - reader->now) & ((UINT64_C(1) << bits) - 1);
    reader->time_known = true;
    reader->time_bits = bits > reader->time_bits ? (uint8_t)bits : reader->time_bits;
    return reader->now;
}

/**
 * Sets the time of reader->packet from its own field or from the transport's, whichever has more
 * bits.
 */
void pug_etrace_take_time(struct pug_etrace_reader *reader);

/** The packet that it is into reader->packet. */
void pug_etrace_parse_payload(struct pug_etrace_reader *reader, struct pug_etrace_carried *payload);

#endif
