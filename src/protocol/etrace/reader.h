// SPDX-License-Identifier: MIT
/** @file The E-Trace packet reader from inside. */
#ifndef PUG_PROTOCOL_ETRACE_READER_H
#define PUG_PROTOCOL_ETRACE_READER_H

#include "protocol/etrace/etrace.h"

struct pug_etrace_reader {
    const struct pug_etrace_config *config;
    struct pug_stage *stage;
    struct pug_etrace_options options; /**< in force */
    uint8_t request_sizes[PUG_ETRACE_LRIDS];
    bool unknown_mode;         /**< an encoder mode that is not branch trace */
    struct pug_unwrap *unwrap; /**< where the transport knows no packets */
    struct pug_etrace_packet packet;
};

/** A packet as the transport has it. */
struct pug_etrace_carried {
    const uint8_t *bytes;
    unsigned size;
    uint64_t index;
    bool is_data, gap;
    uint8_t padding; /**< enum pug_run_padding … */
    unsigned bits;   /**< … of those up to this one */
    uint8_t timestamp_bits;
    uint64_t timestamp;
};

/** The next one of a run of whole packets. The answer is where the one behind it begins. */
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
    payload->index = pug_span_index(span);
    payload->timestamp_bits = (uint8_t)(8 * stamp);
    for (unsigned i = 0; i < stamp; i++)
        payload->timestamp |= (uint64_t)at[i] << 8 * i;
    return payload->bytes + payload->size;
}

/** The packet is read: the span begins behind it. */
static inline void pug_etrace_used_payload(struct pug_etrace_reader *reader, struct pug_span *span,
                                           const uint8_t *behind)
{
    if (span->run->header > 0) /* that is not the source's */
        reader->stage->stats.bytes -= (uint64_t)(behind - span->at) - (*span->at & 0x1f);
    span->at = behind;
}

/** The packet that it is into reader->packet. */
void pug_etrace_parse_payload(struct pug_etrace_reader *reader, struct pug_etrace_carried *payload);

#endif
