// SPDX-License-Identifier: MIT
/** @file Bytes to packets, once the stream is synchronised. */
#include "protocol/itm/reader.h"

/** The parts that can follow a header. */
enum itm_shape {
    ITM_ALONE,     /**< nothing */
    ITM_FIXED,     /**< `limit` bytes */
    ITM_CONTINUED, /**< 7 bits a byte, low group first, while bit 7 is set; at most `limit` bytes */
    ITM_ZEROS,     /**< the rest of an ASYNC */
};

struct header {
    uint8_t type, shape, limit, source;
};

#define GTS1_BYTES      4
#define GTS2_BYTES      6
#define EXTENSION_BYTES 4

/** Headers with bits [1:0] clear. */
static struct header protocol_header(const struct pug_itm_reader *r, uint8_t byte)
{
    bool continued = byte & 0x80;
    if (byte == 0)
        return (struct header){PUG_ITM_PKT_ASYNC, ITM_ZEROS, 0, 0};
    if (byte == 0x70)
        return (struct header){PUG_ITM_PKT_OVERFLOW, ITM_ALONE, 0, 0};
    if ((byte & 0x0f) == 0) {
        /* 0b10xx0000 is reserved. */
        if ((byte & 0xc0) == 0x80 && !r->stage->quirks.itm_reserved_timestamps)
            return (struct header){PUG_ITM_PKT_RESERVED, ITM_ALONE, 0, 0};
        if (!continued)
            return (struct header){PUG_ITM_PKT_TS_LOCAL, ITM_ALONE, 0, 0};
        return (struct header){PUG_ITM_PKT_TS_LOCAL, ITM_CONTINUED, PUG_ITM_LOCAL_TS_BYTES,
                               byte >> 4 & 3};
    }
    if (byte & 0x08)
        return (struct header){PUG_ITM_PKT_EXTENSION, continued ? ITM_CONTINUED : ITM_ALONE,
                               EXTENSION_BYTES, byte & 4 ? PUG_ITM_EXTENSION_HARDWARE : 0};
    if (byte == 0x94)
        return (struct header){PUG_ITM_PKT_GTS1, ITM_CONTINUED, GTS1_BYTES, 0};
    if (byte == 0xb4)
        return (struct header){PUG_ITM_PKT_GTS2, ITM_CONTINUED, GTS2_BYTES, 0};
    return (struct header){PUG_ITM_PKT_RESERVED, ITM_ALONE, 0, 0};
}

/** aaaaa0ss: software source; aaaaa1ss: hardware source. */
static struct header source_header(uint8_t byte)
{
    static const uint8_t sizes[4] = {0, 1, 2, 4};
    return (struct header){byte & 4 ? PUG_ITM_PKT_DWT : PUG_ITM_PKT_SWIT, ITM_FIXED,
                           sizes[byte & 3], byte >> 3};
}

enum progress { MORE, DONE, BAD };

static void begin_packet(struct pug_itm_reader *r, struct pug_span *span)
{
    r->index = pug_span_index(span);
    r->raw.size = 0;
    r->open = true;
    r->count = 0;
    uint8_t byte = *span->at++;
    struct header header = byte & 3 ? source_header(byte) : protocol_header(r, byte);
    r->shape = header.shape;
    r->limit = header.limit;
    bool short_ts = header.type == PUG_ITM_PKT_TS_LOCAL && header.shape == ITM_ALONE;
    r->value = short_ts || header.type == PUG_ITM_PKT_EXTENSION ? byte >> 4 & 7 : 0;
    if (header.shape == ITM_ZEROS)
        r->zeros = r->stage->quirks.itm_zeros_of_one_packet ? 1 : r->zeros + 1;
    r->packet = (struct pug_itm_packet){
        .type = header.type, .error_type = PUG_ITM_PKT_NO_ERR_TYPE, .source = header.source};
}

static enum progress take_fixed(struct pug_itm_reader *r, struct pug_span *span)
{
    while (r->count < r->limit) {
        if (span->at == span->end)
            return MORE;
        r->value |= (uint64_t)*span->at++ << 8 * r->count++;
    }
    r->zeros = 0;
    while (r->zeros < r->limit && (uint8_t)(r->value >> 8 * (r->limit - 1 - r->zeros)) == 0)
        r->zeros++;
    return DONE;
}

static enum progress take_continued(struct pug_itm_reader *r, struct pug_span *span)
{
    bool extension = r->packet.type == PUG_ITM_PKT_EXTENSION;
    unsigned offset = extension ? 3 : 0;
    while (span->at != span->end) {
        uint8_t byte = *span->at++;
        unsigned shift = 7u * r->count++ + offset;
        /* The last byte of a 32-bit extension is all value. */
        bool whole = extension && r->count == r->limit && !r->stage->quirks.itm_extension_31_bits;
        r->value |= (uint64_t)(whole ? byte : byte & 0x7f) << shift;
        r->zeros = byte == 0;
        if (whole || !(byte & 0x80))
            return DONE;
        if (r->count == r->limit)
            return BAD;
    }
    return MORE;
}

static enum progress take_zeros(struct pug_itm_reader *r, struct pug_span *span)
{
    while (span->at != span->end) {
        uint8_t byte = *span->at++;
        if (byte == 0) {
            r->zeros++;
            continue;
        }
        bool complete = byte == PUG_ITM_ASYNC_END && r->zeros >= PUG_ITM_ASYNC_ZEROS;
        r->zeros = 0;
        return complete ? DONE : BAD;
    }
    return MORE;
}

static enum progress take(struct pug_itm_reader *r, struct pug_span *span)
{
    switch (r->shape) {
    case ITM_FIXED: return take_fixed(r, span);
    case ITM_CONTINUED: return take_continued(r, span);
    case ITM_ZEROS: return take_zeros(r, span);
    default: r->zeros = 0; return r->packet.type == PUG_ITM_PKT_RESERVED ? BAD : DONE;
    }
}

/** Low bits of the global time. Where its upper bits wrapped around, a GTS2 has to tell them. */
static void take_gts1(struct pug_itm_reader *r)
{
    struct pug_itm_packet *packet = &r->packet;
    unsigned bits = packet->size < GTS1_BYTES ? 7u * packet->size : PUG_ITM_GTS1_BITS;
    uint64_t mask = (UINT64_C(1) << bits) - 1;
    r->global_time = (r->global_time & ~mask) | (packet->value & mask);
    r->has_upper = r->has_upper && !(packet->source & PUG_ITM_GTS1_WRAP);
}

static void take_gts2(struct pug_itm_reader *r)
{
    uint64_t mask = (UINT64_C(1) << PUG_ITM_GTS1_BITS) - 1;
    r->global_time = (r->global_time & mask) | r->value << PUG_ITM_GTS1_BITS;
    r->has_upper = true;
}

static void give_time(struct pug_itm_reader *r)
{
    r->packet.has_time = r->has_upper;
    r->packet.time = r->has_upper ? r->global_time : 0;
}

/** The fields of a packet that is complete. */
static void finish_fields(struct pug_itm_reader *r)
{
    struct pug_itm_packet *packet = &r->packet;
    packet->value = (uint32_t)r->value;
    packet->size = r->count;
    switch (packet->type) {
    case PUG_ITM_PKT_TS_LOCAL:
        if (packet->size == 0)
            packet->size = 1;
        break;
    case PUG_ITM_PKT_GTS1:
        /* The fourth byte has 5 bits of time and the two flags. */
        if (r->count == GTS1_BYTES) {
            packet->source = packet->value >> 26 & 3;
            packet->value &= 0x3ffffff;
        }
        take_gts1(r);
        give_time(r);
        break;
    case PUG_ITM_PKT_GTS2:
        if (r->count > 4) {
            packet->value_top = (uint8_t)(r->value >> 32);
            packet->size = 5;
        }
        take_gts2(r);
        give_time(r);
        break;
    case PUG_ITM_PKT_EXTENSION:
        packet->source |= r->count < EXTENSION_BYTES ? (uint8_t)(2 + 7 * r->count) : 31;
        packet->size = 4;
        if (packet->source == PUG_ITM_EXTENSION_PAGE)
            r->page = (uint8_t)packet->value;
        break;
    case PUG_ITM_PKT_SWIT: packet->page = r->page; break;
    case PUG_ITM_PKT_ASYNC:
        /* The page is sent again with each synchronisation. */
        if (!r->stage->quirks.itm_page_survives_sync)
            r->page = 0;
        break;
    default: break;
    }
}

/* ---- bad packets ---- */

static const char *fault_text(enum pug_itm_packet_type type)
{
    switch (type) {
    case PUG_ITM_PKT_TS_LOCAL: return "Local TS packet: Payload continuation value too long";
    case PUG_ITM_PKT_GTS1: return "GTS1 packet: Payload continuation value too long";
    case PUG_ITM_PKT_GTS2: return "GTS2 packet: Payload continuation value too long";
    case PUG_ITM_PKT_EXTENSION: return "Extension packet: Payload continuation value too long";
    case PUG_ITM_PKT_ASYNC: return "Async Packet: unexpected none zero value";
    default: return "";
    }
}

static void finish_bad(struct pug_itm_reader *r)
{
    struct pug_stage *stage = r->stage;
    bool header = r->packet.type == PUG_ITM_PKT_RESERVED;
    if (header)
        stage->stats.bad_headers++;
    else
        stage->stats.bad_sequences++;
    pug_stage_log(stage, stage->reader_name, PUG_SEV_ERROR,
                  header ? PUG_ERR_PACKET_HEADER : PUG_ERR_PACKET_SEQUENCE, r->index,
                  fault_text(r->packet.type));
    if (!header) {
        r->packet.error_type = r->packet.type;
        r->packet.type = PUG_ITM_PKT_BAD_SEQUENCE;
        r->packet.source = 0;
    }
    r->page = 0;
    if (!stage->quirks.bad_software_packet_fatal)
        r->synced = false;
}

/* ---- the reader ---- */

static void describe(struct pug_itm_reader *r, const uint8_t *raw, size_t size,
                     struct pug_packet *packet)
{
    packet->index = r->index;
    packet->data = &r->packet;
    packet->raw = raw;
    packet->raw_size = (uint32_t)size;
    packet->type = r->packet.type;
    packet->flags = PUG_PACKET_MONITOR | PUG_PACKET_DECODE |
                    (r->packet.type == PUG_ITM_PKT_ASYNC ? PUG_PACKET_SYNC : 0u);
}

/** The reference masks the flags out of the bytes that it shows. */
static const uint8_t *without_flags(struct pug_itm_reader *r, const uint8_t *raw, size_t size)
{
    if (r->raw.size == 0)
        pug_rawbytes_add(&r->raw, raw, size);
    uint8_t *bytes = pug_rawbytes_at(&r->raw);
    bytes[GTS1_BYTES] &= 0x1f;
    return bytes;
}

bool pug_itm_read(void *reader, struct pug_span *span, struct pug_packet *packet)
{
    struct pug_itm_reader *r = reader;
    if (!r->synced)
        return pug_itm_search(r, span, packet);
    if (span->at == span->end)
        return false;
    const uint8_t *raw = span->at;
    if (!r->open)
        begin_packet(r, span);
    enum progress progress = take(r, span);
    size_t size = (size_t)(span->at - raw);
    if (r->raw.size > 0 || progress == MORE) {
        pug_rawbytes_add(&r->raw, raw, size);
        raw = pug_rawbytes_at(&r->raw);
        size = r->raw.size;
    }
    if (progress == MORE)
        return false;
    r->open = false;
    if (progress == DONE)
        finish_fields(r);
    else
        finish_bad(r);
    if (r->packet.type == PUG_ITM_PKT_GTS1 && r->count == GTS1_BYTES &&
        r->stage->quirks.itm_gts1_bytes_altered)
        raw = without_flags(r, raw, size);
    describe(r, raw, size, packet);
    if (progress == BAD)
        packet->flags |= PUG_PACKET_BAD;
    if (!r->synced)
        r->given = r->raw.size;
    return true;
}

bool pug_itm_read_end(void *reader, struct pug_packet *packet)
{
    struct pug_itm_reader *r = reader;
    if (!r->synced)
        return pug_itm_search_end(r, packet);
    if (!r->open)
        return false;
    r->open = false;
    r->packet.error_type = r->packet.type;
    r->packet.type = PUG_ITM_PKT_INCOMPLETE_EOT;
    pug_stage_log_cut(r->stage, r->index);
    describe(r, pug_rawbytes_at(&r->raw), r->raw.size, packet);
    return true;
}

enum pug_status pug_itm_reader_new(const void *config, struct pug_stage *stage, void **reader)
{
    const struct pug_itm_config *itm = config;
    struct pug_itm_reader *r = calloc(1, sizeof(*r));
    if (!r)
        return PUG_ERR_MEM;
    r->stage = stage;
    r->config = itm;
    pug_itm_reader_reset(r);
    *reader = r;
    return PUG_OK;
}

void pug_itm_reader_free(void *reader)
{
    struct pug_itm_reader *r = reader;
    pug_rawbytes_free(&r->raw);
    free(r);
}

void pug_itm_reader_reset(void *reader)
{
    struct pug_itm_reader *r = reader;
    pug_rawbytes_free(&r->raw);
    r->stage->takes = r->stage->quirks.itm_search_reports ? 0 : PUG_TAKES_SPLICED;
    *r =
        (struct pug_itm_reader){.stage = r->stage,
                                .config = r->config,
                                .begins = r->config->begins && !r->stage->quirks.itm_search_reports,
                                .ahead = r->config->begin_at,
                                .synced = r->config->assume_sync};
}
