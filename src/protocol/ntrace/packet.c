// SPDX-License-Identifier: MIT
/**
 * @file Bytes to messages (chapters "Nexus message protocol" and "message details").
 *
 * A byte is MDO[5:0] over MSEO[1:0]. A message is a row of segments, each ending at a byte whose
 * MSEO is 1 or 3. The first segment holds TCODE, SRC, the fixed fields and the first variable
 * field; each further segment is one variable field, the last one may be TSTAMP.
 */
#include "base/bytes.h"
#include "base/noise.h"
#include "protocol/ntrace/message.h"
#include "protocol/ntrace/reader.h"

#include <stdlib.h>

/** The bits of one segment; those beyond 128 are dropped. */
struct segment {
    uint64_t low, high;
    unsigned bits;
};

enum pug_status pug_ntrace_reader_new(const void *config, struct pug_stage *stage, void **out)
{
    struct pug_ntrace_reader *reader = calloc(1, sizeof(*reader));
    if (!reader)
        return PUG_ERR_MEM;
    reader->config = config;
    reader->stage = stage;
    pug_ntrace_reader_reset(reader);
    *out = reader;
    return PUG_OK;
}

void pug_ntrace_reader_free(void *reader)
{
    free(reader);
}

void pug_ntrace_reader_reset(void *data)
{
    struct pug_ntrace_reader *reader = data;
    const struct pug_ntrace_config *config = reader->config;
    reader->state = config->align == PUG_NTRACE_ALIGN_SEARCH  ? PUG_NTRACE_READER_SKIP
                    : config->align == PUG_NTRACE_ALIGN_START ? PUG_NTRACE_READER_BETWEEN
                                                              : PUG_NTRACE_READER_START;
    reader->src_locked = config->src_given;
    reader->src = config->src_id;
    reader->count = 0;
    reader->kept = 0;
    reader->time_known = false;
    reader->now = 0;
}

/* ---- fields ---- */

/** More of a segment than 60 bits; those beyond 128 are dropped. */
static const uint8_t *take_long(const uint8_t *at, struct segment *segment)
{
    uint8_t byte;
    do {
        byte = *at++;
        uint64_t mdo = byte >> 2;
        unsigned bits = segment->bits;
        if (bits < 64) {
            segment->low |= mdo << bits;
            segment->high |= mdo >> (64 - bits);
        } else if (bits < 128) {
            segment->high |= mdo << (bits - 64);
        }
        segment->bits += 6;
    } while ((byte & 3) == PUG_NEXUS_MSEO_MORE);
    return at;
}

/** The segment that begins at `at`; returns where it ends. Its end is there. */
static const uint8_t *take_segment(const uint8_t *at, struct segment *segment)
{
    uint64_t low = 0;
    unsigned bits = 0;
    uint8_t byte;
    do {
        byte = *at++;
        low |= (uint64_t)(byte >> 2) << bits;
        bits += 6;
    } while ((byte & 3) == PUG_NEXUS_MSEO_MORE && bits < 60);
    *segment = (struct segment){low, 0, bits};
    return (byte & 3) == PUG_NEXUS_MSEO_MORE ? take_long(at, segment) : at;
}

/** The field that begins at bit `from`, below 64, and what is above it. */
static uint64_t segment_bits(const struct segment *segment, unsigned from)
{
    return from == 0 ? segment->low : segment->low >> from | segment->high << (64 - from);
}

static void set_field(struct pug_ntrace_packet *packet, unsigned field, uint64_t value)
{
    packet->field[field] = value;
    packet->present |= 1u << field;
}

/** A variable field's value, and whether the specification allows it. */
static bool set_variable(const struct pug_ntrace_config *config, struct pug_ntrace_packet *packet,
                         unsigned field, uint64_t value, unsigned bits)
{
    if (field == PUG_NTRACE_ADDR && packet->tcode != PUG_NTRACE_AUX_ACCESS_WRITE)
        value = pug_ntrace_extend_address(config, value, bits);
    set_field(packet, field, value);
    if (field == PUG_NTRACE_DATA)
        packet->data_bits = (uint8_t)(bits < 128 ? bits : 128);
    unsigned limit = pug_ntrace_field_bits[field];
    return limit >= 64 || value >> limit == 0;
}

/** Bits before the first variable field: TCODE, SRC and the fixed fields, which it sets. */
static unsigned parse_fixed(struct pug_ntrace_packet *packet,
                            const struct pug_ntrace_layout *layout, const struct segment *segment,
                            unsigned src_bits)
{
    unsigned at = 6 + src_bits;
    if (src_bits > 0)
        packet->source = (uint16_t)(segment->low >> 6 & ((1u << src_bits) - 1));
    for (unsigned i = 0; i < layout->fixed_count; i++) {
        unsigned bits = pug_ntrace_field_bits[layout->fixed[i]];
        set_field(packet, layout->fixed[i], segment->low >> at & ((1u << bits) - 1));
        at += bits;
    }
    return at;
}

/** The reader's packet, without fields. */
static struct pug_ntrace_packet *blank_packet(struct pug_ntrace_reader *reader, unsigned type,
                                              unsigned tcode)
{
    struct pug_ntrace_packet *packet = &reader->packet;
    for (uint32_t left = packet->present; left; left &= left - 1)
        packet->field[__builtin_ctz(left)] = 0;
    packet->present = 0;
    packet->number = reader->count;
    packet->type = (uint8_t)type;
    packet->tcode = (uint8_t)tcode;
    packet->problem = PUG_NTRACE_GOOD;
    packet->data_bits = 0;
    packet->source = 0;
    return packet;
}

/** A whole message's fields; its problem, if it has one. *extra: segments that no field needs. */
static enum pug_ntrace_problem parse(struct pug_ntrace_reader *reader, const uint8_t *at,
                                     size_t size, unsigned *extra)
{
    const struct pug_ntrace_config *config = reader->config;
    const uint8_t *end = at + size;
    unsigned tcode = *at >> 2;
    struct pug_ntrace_packet *packet = blank_packet(reader, tcode, tcode);
    const struct pug_ntrace_layout *layout = pug_ntrace_layout(packet->tcode);
    struct segment segment;
    at = take_segment(at, &segment);
    unsigned from = parse_fixed(packet, layout, &segment, config->src_bits);
    uint8_t buffer[PUG_NTRACE_VARIABLES];
    const uint8_t *variable = layout->variable;
    unsigned wanted = layout->variable_count;
    bool fits = true;
    if (layout->conditional) {
        wanted = pug_ntrace_variables(layout, packet, buffer);
        variable = buffer;
    }
    if (segment.bits < from)
        return PUG_NTRACE_TOO_SHORT;
    if (wanted > 0 && segment.bits == from)
        pug_stage_log(reader->stage, reader->stage->reader_name, PUG_SEV_WARN,
                      PUG_ERR_PACKET_SEQUENCE, reader->index, "empty variable field");
    for (unsigned i = 0; i < wanted; i++, from = 0) {
        if (i > 0 && at == end)
            return PUG_NTRACE_TOO_SHORT;
        if (i > 0)
            at = take_segment(at, &segment);
        fits &= set_variable(config, packet, variable[i], segment_bits(&segment, from),
                             segment.bits - from);
    }
    *extra = 0;
    if (at < end && wanted > 0) {
        for (; at < end; ++*extra)
            at = take_segment(at, &segment);
        if (config->timestamps != PUG_NTRACE_TS_OFF)
            set_field(packet, PUG_NTRACE_TSTAMP, segment.low);
    }
    if (!fits)
        return PUG_NTRACE_TOO_WIDE;
    if (config->timestamps == PUG_NTRACE_TS_ON && pug_ntrace_is_sync(packet->type) &&
        !pug_ntrace_has(packet, PUG_NTRACE_TSTAMP))
        return PUG_NTRACE_NO_TIMESTAMP;
    return PUG_NTRACE_GOOD;
}

/* ---- times ---- */

/** An absolute time, of `width` bits where it wraps: less than before is one wrap. */
static uint64_t extend(uint64_t before, uint64_t stamp, unsigned width)
{
    const uint64_t wrap = width ? UINT64_C(1) << width : 0;
    if (!wrap)
        return stamp;
    const uint64_t time = (before & ~(wrap - 1)) | (stamp & (wrap - 1));
    return time < before ? time + wrap : time;
}

/** Timestamps of sync messages are absolute, the others differences from the last one. */
static void take_time(struct pug_ntrace_reader *reader)
{
    const struct pug_ntrace_packet *packet = &reader->packet;
    const struct pug_ntrace_config *config = reader->config;
    const bool absolute =
        pug_ntrace_is_sync(packet->type) || (config->sifive && packet->type == PUG_NTRACE_ICT_SYNC);
    const uint64_t stamp = packet->field[PUG_NTRACE_TSTAMP], before = reader->now;
    if (!pug_ntrace_has(packet, PUG_NTRACE_TSTAMP) || (!absolute && !reader->time_known))
        return;
    if (!reader->time_known)
        reader->now = stamp;
    else if (absolute)
        reader->now = extend(before, stamp, config->ts_width);
    else
        reader->now =
            config->sifive ? extend(before, stamp ^ before, config->ts_width) : before + stamp;
    reader->time_known = true;
}

/* ---- what is given out ---- */

static bool give(struct pug_ntrace_reader *reader, struct pug_packet *packet, uint32_t flags,
                 const uint8_t *raw, size_t raw_size)
{
    *packet = (struct pug_packet){.index = reader->index,
                                  .data = &reader->packet,
                                  .raw = raw,
                                  .raw_size = (uint32_t)raw_size,
                                  .type = reader->packet.type,
                                  .flags = flags};
    reader->packet.time_known = reader->time_known;
    reader->packet.now = reader->now;
    reader->packet.gap = reader->gap && flags & PUG_PACKET_DECODE;
    reader->gap &= !reader->packet.gap;
    reader->count++;
    return true;
}

static void tell_bad(struct pug_ntrace_reader *reader, enum pug_ntrace_problem problem)
{
    reader->stage->stats.bad_sequences++;
    pug_stage_log(reader->stage, reader->stage->reader_name, PUG_SEV_ERROR,
                  pug_ntrace_problem_status(problem), reader->index,
                  pug_ntrace_problem_text(problem));
}

static bool give_bad(struct pug_ntrace_reader *reader, struct pug_packet *packet,
                     enum pug_ntrace_problem problem, const uint8_t *raw, size_t raw_size)
{
    reader->packet.type = PUG_NTRACE_BAD;
    reader->packet.problem = (uint8_t)problem;
    tell_bad(reader, problem);
    return give(reader, packet, PUG_PACKET_MONITOR | PUG_PACKET_DECODE | PUG_PACKET_BAD, raw,
                raw_size);
}

/** The message is broken in a way that leaves its end, and whose it was, unknown. */
static bool give_broken(struct pug_ntrace_reader *reader, struct pug_packet *packet,
                        enum pug_ntrace_problem problem, const uint8_t *raw, size_t raw_size)
{
    blank_packet(reader, PUG_NTRACE_BAD, *raw >> 2);
    reader->state = (raw[raw_size - 1] & 3) == PUG_NEXUS_MSEO_END_MESSAGE
                        ? PUG_NTRACE_READER_BETWEEN
                        : PUG_NTRACE_READER_SKIP;
    return give_bad(reader, packet, problem, raw, raw_size);
}

static void tell_idle(const struct pug_ntrace_reader *reader, uint8_t byte)
{
    if (byte != 0xff)
        pug_stage_log(reader->stage, reader->stage->reader_name, PUG_SEV_WARN,
                      PUG_ERR_PACKET_SEQUENCE, reader->index, "end of message between messages");
}

static bool give_idle(struct pug_ntrace_reader *reader, struct pug_packet *packet,
                      const uint8_t *raw)
{
    blank_packet(reader, PUG_NTRACE_IDLE, PUG_NTRACE_IDLE);
    reader->state = PUG_NTRACE_READER_BETWEEN;
    tell_idle(reader, *raw);
    return give(reader, packet, PUG_PACKET_MONITOR, raw, 1);
}

/** The pre-1.0 dialect's messages of points in the program, used where nothing else is traced. */
static bool is_point(const struct pug_ntrace_config *config, const struct pug_ntrace_packet *packet)
{
    const uint32_t kinds = 1u << 0 | 1u << 8 | 1u << 9 | 1u << 10 | 1u << 11 | 7u << 13;
    if (!config->sifive)
        return false;
    if (packet->type == PUG_NTRACE_ICT || packet->type == PUG_NTRACE_ICT_SYNC)
        return packet->field[PUG_NTRACE_CKDF] <= 1 && kinds >> packet->field[PUG_NTRACE_CKSRC] & 1;
    return pug_ntrace_is_sample(config, packet);
}

/**
 * Can a capture start with this message? Only one that starts the trace, with nothing left over, is
 * believed: in the middle of a message any six bits can look like a TCODE.
 */
static bool starts_trace(const struct pug_ntrace_config *config,
                         const struct pug_ntrace_packet *packet, enum pug_ntrace_problem problem,
                         unsigned extra)
{
    if (problem != PUG_NTRACE_GOOD || extra > 1)
        return false;
    return is_point(config, packet) || (pug_ntrace_is_sync(packet->type) &&
                                        PUG_NTRACE_RESTARTS >> packet->field[PUG_NTRACE_SYNC] & 1 &&
                                        packet->field[PUG_NTRACE_ICNT] == 0);
}

/** Is the message this source's? Without a setting for SRC, the first one is taken. */
static bool is_mine(struct pug_ntrace_reader *reader)
{
    if (reader->config->src_bits == 0)
        return true;
    if (!reader->src_locked) {
        reader->src_locked = true;
        reader->src = reader->packet.source;
        reader->stage->source = reader->stage->out.blank.source = reader->src;
    }
    return reader->packet.source == reader->src;
}

/** A whole message: give it out, unless it is another's or not to be trusted. */
static bool finish(struct pug_ntrace_reader *reader, struct pug_packet *packet, const uint8_t *raw,
                   size_t raw_size)
{
    unsigned extra = 0;
    enum pug_ntrace_problem problem = parse(reader, raw, raw_size, &extra);
    reader->state = PUG_NTRACE_READER_BETWEEN;
    if (reader->first && !starts_trace(reader->config, &reader->packet, problem, extra)) {
        reader->stage->stats.unsynced += raw_size;
        return false;
    }
    if (!is_mine(reader)) {
        reader->count++;
        return false;
    }
    if (problem != PUG_NTRACE_GOOD)
        return give_bad(reader, packet, problem, raw, raw_size);
    take_time(reader);
    uint32_t sync = pug_ntrace_is_sync(reader->packet.type) ? PUG_PACKET_SYNC : 0;
    return give(reader, packet, PUG_PACKET_MONITOR | PUG_PACKET_DECODE | sync, raw, raw_size);
}

/* ---- bytes ---- */

/** The first byte with the second bit of MSEO, with both or not; or `end`. */
static inline const uint8_t *find_mseo(const uint8_t *at, const uint8_t *end, bool both)
{
    for (; end - at >= 8; at += 8) {
        const uint64_t word = pug_bytes_64(at),
                       found = word & (both ? word << 1 : word) & UINT64_C(0x0202020202020202);
        if (found != 0)
            return at + __builtin_ctzll(found) / 8;
    }
    while (at < end && (*at & 3) < (both ? PUG_NEXUS_MSEO_END_MESSAGE : PUG_NEXUS_MSEO_RESERVED))
        at++;
    return at;
}

/** An end of message, or a reserved MSEO. */
static const uint8_t *find_second_bit(const uint8_t *at, const uint8_t *end)
{
    return find_mseo(at, end, false);
}

/** The message whose last piece is the `size` bytes at `bytes`. */
static const uint8_t *in_one_piece(struct pug_ntrace_reader *reader, const uint8_t *bytes,
                                   size_t *size)
{
    if (reader->kept == 0)
        return bytes;
    memcpy(reader->raw + reader->kept, bytes, *size);
    *size += reader->kept;
    reader->kept = 0;
    return reader->raw;
}

/** Go on in a message. True when there is something to give. */
static bool read_message(struct pug_ntrace_reader *reader, struct pug_span *span,
                         struct pug_packet *packet)
{
    const uint8_t *from = span->at, *at = from;
    uint8_t head = reader->kept ? reader->raw[0] : *from;
    size_t room = pug_nexus_limit(head >> 2) - reader->kept;
    const uint8_t *end = room < (size_t)(span->end - from) ? from + room : span->end;
    at = find_second_bit(at, end);
    if (at == span->end) {
        span->at = at;
        memcpy(reader->raw + reader->kept, from, (size_t)(at - from));
        reader->kept += (uint32_t)(at - from);
        return false;
    }
    bool endless = at == end;
    bool whole = !endless && (*at & 3) == PUG_NEXUS_MSEO_END_MESSAGE;
    span->at = endless ? at : at + 1;
    size_t size = (size_t)(span->at - from);
    const uint8_t *raw = in_one_piece(reader, from, &size);
    if (whole)
        return finish(reader, packet, raw, size);
    if (endless)
        return give_broken(reader, packet, PUG_NTRACE_TOO_LONG, raw, size);
    reader->index = pug_span_index(span) - 1;
    return give_broken(reader, packet, PUG_NTRACE_RESERVED_MSEO, raw, size);
}

/** The first byte of what should be a message. True when it is something else, to be given. */
static bool read_start(struct pug_ntrace_reader *reader, struct pug_span *span,
                       struct pug_packet *packet)
{
    unsigned mseo = *span->at & 3;
    reader->index = pug_span_index(span);
    reader->first = reader->state == PUG_NTRACE_READER_START;
    reader->state = PUG_NTRACE_READER_INSIDE;
    if (mseo == PUG_NEXUS_MSEO_MORE || mseo == PUG_NEXUS_MSEO_RESERVED)
        return false;
    if (mseo == PUG_NEXUS_MSEO_END_MESSAGE)
        return give_idle(reader, packet, span->at++);
    if (!reader->first)
        return give_broken(reader, packet, PUG_NTRACE_NO_START, span->at++, 1);
    reader->state = PUG_NTRACE_READER_SKIP;
    return false;
}

static void skip(struct pug_ntrace_reader *reader, struct pug_span *span)
{
    const uint8_t *at = find_mseo(span->at, span->end, true);
    if (at < span->end) {
        reader->state = PUG_NTRACE_READER_BETWEEN;
        at++;
    }
    reader->stage->stats.unsynced += (uint64_t)(at - span->at);
    span->at = at;
}

/** Messages are missing, or bytes of the one underway; the transport finds the next one's begin. */
static void note_gap(struct pug_ntrace_reader *reader)
{
    reader->gap = reader->state != PUG_NTRACE_READER_START;
    reader->kept = 0;
    if (reader->gap)
        reader->state = PUG_NTRACE_READER_BETWEEN;
}

void pug_ntrace_pass_over_idle(void *data, struct pug_span *span)
{
    struct pug_ntrace_reader *reader = data;
    if (reader->state != PUG_NTRACE_READER_BETWEEN || pug_ntrace_follows_gap(reader, span))
        return;
    const size_t idle = pug_noise_run(span->at, span->end, 0xff);
    reader->count += idle;
    span->at += idle;
}

/** Where it shows that the next message is broken; NULL: it may be whole. */
static const uint8_t *find_broken(const struct pug_span *span)
{
    const size_t limit = pug_nexus_limit(*span->at >> 2), left = (size_t)(span->end - span->at);
    const uint8_t *const end = span->at + (limit < left ? limit : left), *at = span->at;
    if ((*at & 3) == PUG_NEXUS_MSEO_END_FIELD)
        return at;
    at = find_second_bit(at, end);
    return at < end && (*at & 3) == PUG_NEXUS_MSEO_RESERVED ? at : NULL;
}

struct pug_ntrace_broken pug_ntrace_pass_over_broken(struct pug_ntrace_reader *reader,
                                                     struct pug_span *span)
{
    struct pug_ntrace_broken broken = {.any = false};
    if (reader->state != PUG_NTRACE_READER_BETWEEN || pug_ntrace_follows_gap(reader, span) ||
        span->run->type == PUG_NEXUS_MESSAGES)
        return broken;
    for (; span->at < span->end; reader->count++) {
        const bool idle = (*span->at & 3) == PUG_NEXUS_MSEO_END_MESSAGE;
        const uint8_t *const at = idle ? span->at : find_broken(span);
        if (!at)
            break;
        span->at = at;
        reader->index = pug_span_index(span);
        span->at++;
        broken.last = !idle;
        if (idle) {
            tell_idle(reader, *at);
            continue;
        }
        broken.any = true;
        broken.index = reader->index;
        tell_bad(reader, (*at & 3) == PUG_NEXUS_MSEO_RESERVED ? PUG_NTRACE_RESERVED_MSEO
                                                              : PUG_NTRACE_NO_START);
        reader->state = PUG_NTRACE_READER_SKIP;
        skip(reader, span);
    }
    return broken;
}

bool pug_ntrace_read(void *data, struct pug_span *span, struct pug_packet *packet)
{
    struct pug_ntrace_reader *reader = data;
    if (pug_ntrace_at_gap(span))
        note_gap(reader);
    while (span->at < span->end) {
        if (span->run->type == PUG_NEXUS_MESSAGES && reader->state != PUG_NTRACE_READER_INSIDE)
            reader->state = PUG_NTRACE_READER_BETWEEN;
        if (reader->state == PUG_NTRACE_READER_SKIP)
            skip(reader, span);
        else if (reader->state != PUG_NTRACE_READER_INSIDE && read_start(reader, span, packet))
            return true;
        if (reader->state == PUG_NTRACE_READER_INSIDE && read_message(reader, span, packet))
            return true;
    }
    return false;
}

bool pug_ntrace_read_end(void *data, struct pug_packet *packet)
{
    struct pug_ntrace_reader *reader = data;
    if (reader->state != PUG_NTRACE_READER_INSIDE)
        return false;
    size_t size = reader->kept;
    reader->state = PUG_NTRACE_READER_BETWEEN;
    reader->kept = 0;
    blank_packet(reader, PUG_NTRACE_INCOMPLETE, reader->raw[0] >> 2);
    pug_stage_log(reader->stage, reader->stage->reader_name, PUG_SEV_WARN, PUG_ERR_TRUNCATED,
                  reader->index, "the trace ends inside a message");
    return give(reader, packet, PUG_PACKET_MONITOR | PUG_PACKET_DECODE, reader->raw, size);
}
