// SPDX-License-Identifier: MIT
/**
 * @file Packets to marks, when no consumer reads anything else. With a standard encoder, packets of
 * format 3 have marks or change the meaning of later packets; so do packets with the notify flag.
 * They are left to the reader; of others the wrapping's timestamps count alone.
 */
#include "protocol/etrace/packet_fields.h"
#include "protocol/etrace/reader.h"

/** Returns up to nine bits at a place of the payload; its sign follows the last bit. */
static inline unsigned bits_at(const struct pug_etrace_carried *payload, unsigned at,
                               unsigned count)
{
    const uint8_t *bytes = payload->bytes;
    const unsigned bit = at + payload->lead, first = bit / 8, size = payload->size;
    const uint8_t sign = bytes[size - 1] & 0x80 ? 0xff : 0;
    const unsigned low = first < size ? bytes[first] : sign;
    const unsigned high = first + 1 < size ? bytes[first + 1] : sign;
    return (low | high << 8) >> bit % 8 & ((1u << count) - 1);
}

/** Where the address of a packet of format 0 to 2 begins; 0: it has none. */
static unsigned address_at(const struct pug_etrace_options *options,
                           const struct pug_etrace_carried *payload, unsigned start)
{
    const unsigned branches = start >> 2 & 31, width = options->f0s_width;
    const unsigned behind_count = 2 + width + 32 + 2;
    if ((start & 3) == 2)
        return 2;
    if ((start & 3) == 1)
        return branches > 0 ? 7 + pug_etrace_map_width(branches) : 0;
    if (width > 0 ? bits_at(payload, 2, width) != 0 : pug_etrace_subformat_unsaid(options))
        return 0;
    return bits_at(payload, behind_count - 2, 2) >= 2 ? behind_count : 0;
}

/** The bit after the address is sent as a difference to its sign. */
static bool notifies(const struct pug_etrace_reader *reader,
                     const struct pug_etrace_carried *payload, unsigned start)
{
    const struct pug_etrace_config *config = reader->config;
    const unsigned at = address_at(&reader->options, payload, start);
    const unsigned last = at + config->iaddress_width - config->iaddress_lsb - 1u;
    const unsigned bits = at > 0 ? bits_at(payload, last, 2) : 0;
    return bits == 1 || bits == 2;
}

/** A packet's time, of which its own format says nothing. */
static void put_time(struct pug_etrace_reader *reader, const struct pug_etrace_carried *payload)
{
    if (payload->timestamp_bits > 0)
        pug_mark_list_add(
            reader->stage->marks, PUG_MARK_TIMESTAMP, payload->index,
            pug_etrace_take_stamp(reader, payload->timestamp_bits, payload->timestamp));
}

void pug_etrace_scan_marks(void *data, struct pug_span *span)
{
    struct pug_etrace_reader *reader = data;
    const struct pug_run *run = span->run;
    if (!(run->whole || run->header > 0) || run->kind != PUG_ETRACE_INSTRUCTION_TRACE ||
        reader->config->only_data || reader->config->layout != PUG_ETRACE_LAYOUT_STANDARD)
        return;
    while (span->at != span->end && pug_mark_list_ready(reader->stage->marks)) {
        struct pug_etrace_carried payload;
        const uint8_t *behind = pug_etrace_next_payload(span, &payload);
        const unsigned start = (unsigned)pug_etrace_start(&payload);
        if (payload.size == 0 || (start & 3) == 3 || notifies(reader, &payload, start))
            return;
        put_time(reader, &payload);
        pug_etrace_used_payload(reader, span, behind);
    }
}
