// SPDX-License-Identifier: MIT
/**
 * @file Bytes to messages (chapters "Nexus message protocol" and "message details").
 *
 * A byte is MDO[5:0] over MSEO[1:0]. A message is a row of segments, each ending at a byte whose
 * MSEO is 1 or 3. The first segment holds TCODE, SRC, the fixed fields and the first variable
 * field; each further segment is one variable field, the last one may be TSTAMP.
 */
#include "protocol/ntrace/message.h"
#include "protocol/ntrace/ntrace.h"

#include <stdlib.h>

enum mseo { MSEO_MORE = 0, MSEO_END_FIELD = 1, MSEO_RESERVED = 2, MSEO_END_MESSAGE = 3 };

/** Segments kept: the longest message has 4 variable fields with TSTAMP; the rest share the last.
 */
#define SEGMENTS 5u

/** Bytes of a message kept for who wants to see them when it comes in pieces. */
#define RAW_LIMIT 64u

enum reader_state {
    READER_START,   /* nothing seen: the first byte may be in the middle of a message */
    READER_BETWEEN, /* a message starts with the next byte */
    READER_INSIDE,
    READER_SKIP, /* up to and including the next end of a message */
};

struct segment {
    uint64_t low, high;
    uint32_t bits;
};

struct ntrace_reader {
    const struct ntrace_config *config;
    struct pug_stage *stage;
    enum reader_state state;
    bool first; /* the message underway is the first one, and its start is a guess */
    bool src_locked;
    uint16_t src;
    uint64_t count; /* messages */

    uint64_t index; /* of the message underway */
    uint32_t size;  /* bytes of it so far */
    uint32_t raw_size;
    uint32_t segments; /* complete ones */
    struct segment segment[SEGMENTS];
    uint8_t raw[RAW_LIMIT];
    struct pug_ntrace_packet packet;
};

enum pug_status ntrace_reader_new(const void *config, struct pug_stage *stage, void **out)
{
    struct ntrace_reader *reader = calloc(1, sizeof(*reader));
    if (!reader)
        return PUG_ERR_MEM;
    reader->config = config;
    reader->stage = stage;
    ntrace_reader_reset(reader);
    *out = reader;
    return PUG_OK;
}

void ntrace_reader_free(void *reader)
{
    free(reader);
}

void ntrace_reader_reset(void *data)
{
    struct ntrace_reader *reader = data;
    const struct ntrace_config *config = reader->config;
    reader->state = config->align == NTRACE_ALIGN_SEARCH  ? READER_SKIP
                    : config->align == NTRACE_ALIGN_START ? READER_BETWEEN
                                                          : READER_START;
    reader->src_locked = config->src_given;
    reader->src = config->src_id;
    reader->count = 0;
    reader->size = 0;
    reader->raw_size = 0;
}

/* ---- fields ---- */

static uint64_t segment_bits(const struct segment *segment, unsigned from)
{
    if (from == 0)
        return segment->low;
    if (from >= 64)
        return segment->high >> (from - 64);
    return segment->low >> from | segment->high << (64 - from);
}

static void set_field(struct pug_ntrace_packet *packet, unsigned field, uint64_t value)
{
    packet->field[field] = value;
    packet->present |= 1u << field;
}

/** Virtual address optimisation: the highest bit sent stands for all above it, but for the top. */
static uint64_t extend_address(const struct ntrace_config *config, uint64_t value, unsigned bits)
{
    unsigned top = config->xlen - 2u;
    if (!config->extend_addr_msb || bits == 0 || bits > top || !(value >> (bits - 1) & 1))
        return value;
    return value | (~UINT64_C(0) << bits & ((UINT64_C(2) << top) - 1));
}

/** A variable field's value, and whether the specification allows it. */
static bool set_variable(const struct ntrace_config *config, struct pug_ntrace_packet *packet,
                         unsigned field, uint64_t value, unsigned bits)
{
    if (field == PUG_NTRACE_ADDR && packet->tcode != PUG_NTRACE_AUX_ACCESS_WRITE)
        value = extend_address(config, value, bits);
    set_field(packet, field, value);
    if (field == PUG_NTRACE_DATA)
        packet->data_bits = (uint8_t)(bits < 128 ? bits : 128);
    unsigned limit = ntrace_variable_bits(field);
    return limit >= 64 || value >> limit == 0;
}

/** Bits before the first variable field: TCODE, SRC and the fixed fields, which it sets. */
static unsigned parse_fixed(struct pug_ntrace_packet *packet, const struct ntrace_layout *layout,
                            const struct segment *segment, unsigned src_bits)
{
    unsigned at = 6;
    packet->source = (uint16_t)(segment_bits(segment, at) & ((1u << src_bits) - 1));
    at += src_bits;
    for (unsigned i = 0; i < layout->fixed_count; i++) {
        unsigned bits = ntrace_fixed_bits(layout->fixed[i]);
        set_field(packet, layout->fixed[i], segment_bits(segment, at) & ((1u << bits) - 1));
        at += bits;
    }
    return at;
}

/** The complete message in the segments, as a packet; its problem, if it has one. */
static enum pug_ntrace_problem parse(struct ntrace_reader *reader)
{
    const struct ntrace_config *config = reader->config;
    struct pug_ntrace_packet *packet = &reader->packet;
    const struct segment *first = &reader->segment[0];
    *packet = (struct pug_ntrace_packet){.number = reader->count};
    packet->type = packet->tcode = (uint8_t)(first->low & 63);
    const struct ntrace_layout *layout = ntrace_layout(packet->tcode);
    unsigned at = parse_fixed(packet, layout, first, config->src_bits);
    uint8_t variable[NTRACE_VARIABLES];
    unsigned wanted = ntrace_variables(layout, packet, variable);
    bool fits = true;
    /* PROCESS and what nobody knows may be cut short: missing high bits are 0 */
    if (first->bits < at && (wanted > 0 || first->bits < 6u + config->src_bits))
        return PUG_NTRACE_TOO_SHORT;
    if (reader->segments < wanted)
        return PUG_NTRACE_TOO_SHORT;
    for (unsigned i = 0; i < wanted; i++) {
        const struct segment *segment = &reader->segment[i];
        unsigned from = i == 0 ? at : 0;
        fits &= set_variable(config, packet, variable[i], segment_bits(segment, from),
                             segment->bits - from);
    }
    if (wanted > 0 && first->bits == at)
        pug_stage_log(reader->stage, reader->stage->reader_name, PUG_SEV_WARN,
                      PUG_ERR_BAD_PACKET_SEQ, reader->index, "empty variable field");
    if (wanted > 0 && reader->segments > wanted && config->timestamps != NTRACE_TS_OFF) {
        unsigned last = reader->segments < SEGMENTS ? reader->segments - 1 : SEGMENTS - 1;
        set_field(packet, PUG_NTRACE_TSTAMP, reader->segment[last].low);
    }
    if (!fits)
        return PUG_NTRACE_TOO_WIDE;
    if (config->timestamps == NTRACE_TS_ON && pug_ntrace_is_sync(packet->type) &&
        !pug_ntrace_has(packet, PUG_NTRACE_TSTAMP))
        return PUG_NTRACE_NO_TIMESTAMP;
    return PUG_NTRACE_GOOD;
}

/* ---- what is given out ---- */

static bool give(struct ntrace_reader *reader, struct pug_packet *packet, uint32_t flags,
                 const uint8_t *raw, uint32_t raw_size)
{
    *packet = (struct pug_packet){.index = reader->index,
                                  .data = &reader->packet,
                                  .raw = raw,
                                  .raw_size = raw_size,
                                  .type = reader->packet.type,
                                  .flags = flags};
    reader->count++;
    reader->size = 0;
    reader->raw_size = 0;
    return true;
}

static bool give_bad(struct ntrace_reader *reader, struct pug_packet *packet,
                     enum pug_ntrace_problem problem, const uint8_t *raw, uint32_t raw_size)
{
    reader->packet.type = PUG_NTRACE_BAD;
    reader->packet.problem = (uint8_t)problem;
    reader->packet.number = reader->count;
    reader->stage->stats.bad_sequences++;
    pug_stage_log(reader->stage, reader->stage->reader_name, PUG_SEV_ERROR,
                  ntrace_problem_status(problem), reader->index, ntrace_problem_text(problem));
    return give(reader, packet, PUG_PACKET_MONITOR | PUG_PACKET_DECODE | PUG_PACKET_BAD, raw,
                raw_size);
}

/** The message is broken in a way that leaves its end, and whose it was, unknown. */
static bool give_broken(struct ntrace_reader *reader, struct pug_packet *packet,
                        enum pug_ntrace_problem problem, const uint8_t *raw, uint32_t raw_size,
                        bool ended)
{
    reader->packet = (struct pug_ntrace_packet){.tcode = (uint8_t)(reader->segment[0].low & 63)};
    reader->state = ended ? READER_BETWEEN : READER_SKIP;
    return give_bad(reader, packet, problem, raw, raw_size);
}

static bool give_idle(struct ntrace_reader *reader, struct pug_packet *packet, const uint8_t *raw)
{
    reader->packet = (struct pug_ntrace_packet){
        .type = PUG_NTRACE_IDLE, .tcode = PUG_NTRACE_IDLE, .number = reader->count};
    if (*raw != 0xff)
        pug_stage_log(reader->stage, reader->stage->reader_name, PUG_SEV_WARN,
                      PUG_ERR_BAD_PACKET_SEQ, reader->index, "end of message between messages");
    return give(reader, packet, PUG_PACKET_MONITOR, raw, 1);
}

/* ---- bytes ---- */

/**
 * Can a capture start with this message? Only one that starts the trace, with nothing left over, is
 * believed: in the middle of a message any six bits can look like a TCODE.
 */
static bool starts_trace(const struct ntrace_reader *reader, enum pug_ntrace_problem problem)
{
    const uint32_t reasons = 1u << 1 | 1u << 3 | 1u << 5 | 1u << 7 | 1u << 9;
    const struct pug_ntrace_packet *packet = &reader->packet;
    unsigned fields = ntrace_layout(packet->tcode)->variable_count;
    return problem == PUG_NTRACE_GOOD && pug_ntrace_is_sync(packet->type) &&
           reasons >> packet->field[PUG_NTRACE_SYNC] & 1 && packet->field[PUG_NTRACE_ICNT] == 0 &&
           reader->segments <= fields + 1;
}

/** A whole message was read: give it out, unless it is another's or not to be trusted. */
static bool finish(struct ntrace_reader *reader, struct pug_packet *packet, const uint8_t *raw,
                   uint32_t raw_size)
{
    enum pug_ntrace_problem problem = parse(reader);
    reader->state = READER_BETWEEN;
    if (reader->first && !starts_trace(reader, problem)) {
        reader->first = false;
        reader->stage->stats.unsynced += reader->size;
        reader->size = 0;
        reader->raw_size = 0;
        return false;
    }
    reader->first = false;
    if (!reader->src_locked) {
        reader->src_locked = true;
        reader->src = reader->packet.source;
    }
    if (reader->config->src_bits > 0 && reader->packet.source != reader->src) {
        reader->size = 0;
        reader->raw_size = 0;
        reader->count++;
        return false;
    }
    if (problem != PUG_NTRACE_GOOD)
        return give_bad(reader, packet, problem, raw, raw_size);
    uint32_t sync = pug_ntrace_is_sync(reader->packet.type) ? PUG_PACKET_SYNC : 0;
    return give(reader, packet, PUG_PACKET_MONITOR | PUG_PACKET_DECODE | sync, raw, raw_size);
}

static void add_bits(struct segment *segment, uint64_t mdo)
{
    if (segment->bits < 64)
        segment->low |= mdo << segment->bits;
    if (segment->bits > 58 && segment->bits < 128)
        segment->high |=
            segment->bits < 64 ? mdo >> (64 - segment->bits) : mdo << (segment->bits - 64);
    segment->bits += segment->bits < 4096 ? 6 : 0;
}

static struct segment *open_segment(struct ntrace_reader *reader)
{
    unsigned n = reader->segments;
    return &reader->segment[n < SEGMENTS ? n : SEGMENTS - 1];
}

/** Keep the bytes of a message that a run ends in. */
static void keep_raw(struct ntrace_reader *reader, const uint8_t *bytes, size_t size)
{
    size_t room = RAW_LIMIT - reader->raw_size;
    size_t kept = size < room ? size : room;
    memcpy(reader->raw + reader->raw_size, bytes, kept);
    reader->raw_size += (uint32_t)kept;
}

/** The bytes of the message that ends at `end`, the last piece of it beginning at `from`. */
static const uint8_t *whole_raw(struct ntrace_reader *reader, const uint8_t *from,
                                const uint8_t *end, uint32_t *size)
{
    if (reader->raw_size == 0) {
        *size = (uint32_t)(end - from);
        return from;
    }
    keep_raw(reader, from, (size_t)(end - from));
    *size = reader->raw_size;
    return reader->raw;
}

/** Unknown messages have a bound, for memory that was never written reads as one. */
static bool is_endless(const struct ntrace_reader *reader)
{
    return !(PUG_NEXUS_KNOWN_TCODES >> (reader->segment[0].low & 63) & 1);
}

/** Bytes of a message. True when there is something to give. */
static bool read_message(struct ntrace_reader *reader, struct pug_span *span,
                         struct pug_packet *packet)
{
    const uint8_t *from = span->at, *raw;
    uint32_t raw_size;
    struct segment *segment = open_segment(reader);
    while (span->at < span->end) {
        uint8_t byte = *span->at++;
        unsigned mseo = byte & 3;
        reader->size++;
        if (mseo == MSEO_RESERVED) {
            uint64_t index = pug_span_index(span) - 1;
            raw = whole_raw(reader, from, span->at, &raw_size);
            reader->index = index;
            return give_broken(reader, packet, PUG_NTRACE_RESERVED_MSEO, raw, raw_size, false);
        }
        add_bits(segment, byte >> 2);
        if (reader->size > PUG_NEXUS_UNKNOWN_LIMIT && is_endless(reader)) {
            raw = whole_raw(reader, from, span->at, &raw_size);
            return give_broken(reader, packet, PUG_NTRACE_TOO_LONG, raw, raw_size,
                               mseo == MSEO_END_MESSAGE);
        }
        if (mseo == MSEO_MORE)
            continue;
        reader->segments += reader->segments < SEGMENTS + 1;
        if (mseo == MSEO_END_MESSAGE) {
            raw = whole_raw(reader, from, span->at, &raw_size);
            return finish(reader, packet, raw, raw_size);
        }
        segment = open_segment(reader);
        *segment = (struct segment){0};
    }
    keep_raw(reader, from, (size_t)(span->at - from));
    return false;
}

/** The first byte of what should be a message. True when it is something else, to be given. */
static bool read_start(struct ntrace_reader *reader, struct pug_span *span,
                       struct pug_packet *packet)
{
    uint8_t byte = *span->at;
    reader->index = pug_span_index(span);
    reader->first = reader->state == READER_START;
    switch (byte & 3) {
    case MSEO_END_MESSAGE:
        reader->state = READER_BETWEEN;
        span->at++;
        return give_idle(reader, packet, span->at - 1);
    case MSEO_END_FIELD:
        if (reader->first) {
            reader->state = READER_SKIP;
            return false;
        }
        reader->segment[0] = (struct segment){.low = byte >> 2};
        span->at++;
        return give_broken(reader, packet, PUG_NTRACE_NO_START, span->at - 1, 1, false);
    default:
        reader->state = READER_INSIDE;
        reader->segments = 0;
        reader->segment[0] = (struct segment){0};
        return false;
    }
}

static void skip(struct ntrace_reader *reader, struct pug_span *span)
{
    while (span->at < span->end && reader->state == READER_SKIP) {
        if ((*span->at++ & 3) == MSEO_END_MESSAGE)
            reader->state = READER_BETWEEN;
        reader->stage->stats.unsynced++;
    }
}

/** The transport says that the stream is broken here; it finds the next message itself. */
static bool read_lost(struct ntrace_reader *reader, struct pug_span *span,
                      struct pug_packet *packet)
{
    static const uint8_t problems[4] = {PUG_NTRACE_TOO_LONG, PUG_NTRACE_NO_START,
                                        PUG_NTRACE_RESERVED_MSEO, PUG_NTRACE_TOO_SHORT};
    const uint8_t *raw = span->at++;
    reader->index = pug_span_index(span) - 1;
    reader->segment[0] = (struct segment){.low = *raw >> 2};
    return give_broken(reader, packet, problems[*raw & 3], raw, 1, true);
}

bool ntrace_read(void *data, struct pug_span *span, struct pug_packet *packet)
{
    struct ntrace_reader *reader = data;
    while (span->at < span->end) {
        if (span->run->type == PUG_NEXUS_LOST)
            return read_lost(reader, span, packet);
        if (span->run->type == PUG_NEXUS_MESSAGES &&
            (reader->state == READER_START || reader->state == READER_SKIP))
            reader->state = READER_BETWEEN;
        if (reader->state == READER_SKIP)
            skip(reader, span);
        else if (reader->state != READER_INSIDE && read_start(reader, span, packet))
            return true;
        if (reader->state == READER_INSIDE && read_message(reader, span, packet))
            return true;
    }
    return false;
}

bool ntrace_read_end(void *data, struct pug_packet *packet)
{
    struct ntrace_reader *reader = data;
    if (reader->state != READER_INSIDE)
        return false;
    reader->state = READER_BETWEEN;
    reader->packet = (struct pug_ntrace_packet){.type = PUG_NTRACE_INCOMPLETE,
                                                .tcode = (uint8_t)(reader->segment[0].low & 63),
                                                .number = reader->count};
    pug_stage_log(reader->stage, reader->stage->reader_name, PUG_SEV_WARN, PUG_ERR_TRUNCATED,
                  reader->index, "the trace ends inside a message");
    return give(reader, packet, PUG_PACKET_MONITOR | PUG_PACKET_DECODE, reader->raw,
                reader->raw_size);
}
