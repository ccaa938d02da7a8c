// SPDX-License-Identifier: MIT
/** @file Bytes to packets, from each A-sync to the first packet whose length is not known. */
#include "protocol/etmv4d/etmv4d.h"

/* ---- headers ---- */

/** Header bytes, as they are public with OpenCSD: the lowest and the highest of each kind. */
static const struct {
    uint8_t first, last;
    uint8_t type;
} headers[] = {
    {0x01, 0x01, PUG_ETMV4D_UNNUM_DS_MKR}, {0x02, 0x02, PUG_ETMV4D_TIMESTAMP},
    {0x03, 0x03, PUG_ETMV4D_SUPPRESSION},  {0x04, 0x04, PUG_ETMV4D_EVENT},
    {0x10, 0x13, PUG_ETMV4D_VALUE_F4},     {0x14, 0x17, PUG_ETMV4D_ADDRESS_F3},
    {0x18, 0x1f, PUG_ETMV4D_VALUE_F5},     {0x20, 0x2f, PUG_ETMV4D_VALUE_F1},
    {0x30, 0x37, PUG_ETMV4D_VALUE_F2},     {0x38, 0x3f, PUG_ETMV4D_VALUE_F6},
    {0x40, 0x5f, PUG_ETMV4D_VALUE_F3},     {0x60, 0x6f, PUG_ETMV4D_ADDRESS_F4},
    {0x70, 0x7f, PUG_ETMV4D_ADDRESS_F1},   {0x80, 0xbf, PUG_ETMV4D_ADDRESS_F2},
    {0xf5, 0xf5, PUG_ETMV4D_ADDRESS_F7},   {0xf6, 0xf7, PUG_ETMV4D_ADDRESS_F6},
    {0xf8, 0xff, PUG_ETMV4D_ADDRESS_F5},
};

/** Headers that follow a 0x00 byte. */
static const struct {
    uint8_t header, type;
} extensions[] = {
    {0x01, PUG_ETMV4D_TRACE_INFO},
    {0x03, PUG_ETMV4D_DISCARD},
    {0x05, PUG_ETMV4D_OVERFLOW},
    {0x11, PUG_ETMV4D_NUM_DS_MKR},
};

enum pug_etmv4d_type pug_etmv4d_type_of(uint8_t header, bool extended)
{
    for (size_t i = 0; extended && i < sizeof(extensions) / sizeof(extensions[0]); i++)
        if (extensions[i].header == header)
            return (enum pug_etmv4d_type)extensions[i].type;
    for (size_t i = 0; !extended && i < sizeof(headers) / sizeof(headers[0]); i++)
        if (header >= headers[i].first && header <= headers[i].last)
            return (enum pug_etmv4d_type)headers[i].type;
    return PUG_ETMV4D_RESERVED;
}

/** Of all others somebody with the specification knows how they go on. */
bool pug_etmv4d_is_bare(enum pug_etmv4d_type type)
{
    return type == PUG_ETMV4D_DISCARD || type == PUG_ETMV4D_OVERFLOW ||
           type == PUG_ETMV4D_UNNUM_DS_MKR || type == PUG_ETMV4D_SUPPRESSION;
}

/* ---- what is passed over ---- */

static void pass(struct pug_etmv4d_reader *r, uint64_t index, uint8_t byte)
{
    struct pug_etmv4d_passed *passed = &r->passed;
    if (passed->size == 0)
        passed->index = index;
    if (passed->size < PUG_ETMV4D_SHOWN)
        passed->bytes[passed->size] = byte;
    passed->size++;
    r->stage->stats.unsynced++;
}

/** Returns the index of the oldest zero that is still known. */
static uint64_t oldest_zero(const struct pug_etmv4d_reader *r)
{
    return r->zero_index[r->zeros < PUG_ETMV4D_ZEROS ? 0 : r->zeros % PUG_ETMV4D_ZEROS];
}

/** One more zero: of those before, more than an A-sync has are none of it. */
static void take_zero(struct pug_etmv4d_reader *r, uint64_t index)
{
    if (r->zeros >= PUG_ETMV4D_ZEROS)
        pass(r, oldest_zero(r), 0);
    r->zero_index[r->zeros++ % PUG_ETMV4D_ZEROS] = index;
}

/** No A-sync comes of the zeros. */
static void pass_zeros(struct pug_etmv4d_reader *r)
{
    const uint64_t kept = r->zeros < PUG_ETMV4D_ZEROS ? r->zeros : PUG_ETMV4D_ZEROS;
    for (uint64_t i = 0; i < kept; i++)
        pass(r, r->zero_index[(r->zeros - kept + i) % PUG_ETMV4D_ZEROS], 0);
    r->zeros = 0;
}

/** Up to an A-sync. False: the span is used up. */
static bool search(struct pug_etmv4d_reader *r, struct pug_span *span)
{
    while (span->at < span->end) {
        const uint64_t index = pug_span_index(span);
        const uint8_t byte = *span->at++;
        if (byte == 0) {
            take_zero(r, index);
            continue;
        }
        r->found = byte == 0x80 && r->zeros >= PUG_ETMV4D_ZEROS;
        if (r->found)
            return true;
        pass_zeros(r);
        pass(r, index, byte);
    }
    return false;
}

/* ---- packets ---- */

static void give(struct pug_etmv4d_reader *r, struct pug_packet *packet, enum pug_etmv4d_type type,
                 uint64_t index, const uint8_t *raw, size_t size)
{
    r->packet.type = (uint8_t)type;
    *packet = (struct pug_packet){.index = index,
                                  .data = &r->packet,
                                  .raw = raw,
                                  .raw_size = (uint32_t)size,
                                  .type = type,
                                  .flags = PUG_PACKET_MONITOR | PUG_PACKET_DECODE};
}

static void give_passed(struct pug_etmv4d_reader *r, struct pug_packet *packet)
{
    const uint64_t size = r->passed.size;
    r->packet = (struct pug_etmv4d_packet){.size = size};
    give(r, packet, r->lost ? PUG_ETMV4D_UNREAD : PUG_ETMV4D_NOTSYNC, r->passed.index,
         r->passed.bytes, size < PUG_ETMV4D_SHOWN ? (size_t)size : PUG_ETMV4D_SHOWN);
    r->passed.size = 0;
}

static void give_async(struct pug_etmv4d_reader *r, struct pug_packet *packet)
{
    static const uint8_t raw[PUG_ETMV4D_ZEROS + 1] = {[PUG_ETMV4D_ZEROS] = 0x80};
    r->packet = (struct pug_etmv4d_packet){.header = 0};
    give(r, packet, PUG_ETMV4D_ASYNC, oldest_zero(r), raw, sizeof(raw));
    packet->flags |= PUG_PACKET_SYNC;
    r->zeros = 0;
    r->found = r->lost = false;
    r->synced = true;
}

/** A packet's header is whole. */
static void give_header(struct pug_etmv4d_reader *r, struct pug_packet *packet)
{
    const uint8_t header = r->raw[r->extended];
    const enum pug_etmv4d_type type = pug_etmv4d_type_of(header, r->extended);
    const size_t size = 1 + (size_t)r->extended;
    r->packet = (struct pug_etmv4d_packet){.header = header};
    give(r, packet, type, r->index, r->raw, size);
    r->extended = false;
    if (type == PUG_ETMV4D_RESERVED) {
        packet->flags |= PUG_PACKET_BAD;
        r->stage->stats.bad_headers++;
        pug_stage_log(r->stage, r->stage->reader_name, PUG_SEV_WARN, PUG_ERR_PACKET_HEADER,
                      r->index, "reserved header of a data stream");
    }
    r->packet.length_unknown = type != PUG_ETMV4D_RESERVED && !pug_etmv4d_is_bare(type);
    r->synced = pug_etmv4d_is_bare(type);
    r->lost = r->packet.length_unknown;
}

/** A byte at a packet's place. True: a packet is whole. */
static bool take(struct pug_etmv4d_reader *r, struct pug_span *span, struct pug_packet *packet)
{
    const uint64_t index = pug_span_index(span);
    const uint8_t byte = *span->at++;
    r->raw[r->extended] = byte;
    if (!r->extended)
        r->index = index;
    if (byte != 0) {
        give_header(r, packet);
        return true;
    }
    if (r->extended) { /* an A-sync begins */
        r->extended = r->synced = false;
        take_zero(r, r->index);
        take_zero(r, index);
    } else {
        r->extended = true;
    }
    return false;
}

bool pug_etmv4d_read(void *reader, struct pug_span *span, struct pug_packet *packet)
{
    struct pug_etmv4d_reader *r = reader;
    for (;;) {
        if (r->found || (!r->synced && search(r, span))) {
            if (r->passed.size > 0)
                give_passed(r, packet);
            else
                give_async(r, packet);
            return true;
        }
        if (span->at == span->end)
            return false;
        if (take(r, span, packet))
            return true;
    }
}

bool pug_etmv4d_read_end(void *reader, struct pug_packet *packet)
{
    struct pug_etmv4d_reader *r = reader;
    if (r->synced && r->extended) {
        r->extended = false;
        r->packet = (struct pug_etmv4d_packet){.header = 0};
        pug_stage_log_cut(r->stage, r->index);
        give(r, packet, PUG_ETMV4D_INCOMPLETE_EOT, r->index, r->raw, 1);
        return true;
    }
    pass_zeros(r);
    if (r->passed.size == 0)
        return false;
    give_passed(r, packet);
    return true;
}
