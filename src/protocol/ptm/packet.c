// SPDX-License-Identifier: MIT
/** @file PTM: bytes to packets. Headers, and how many bytes belong to them. */
#include "protocol/ptm/reader.h"

#define TYPE(name) PUG_PTM_##name

void pug_ptm_error(struct pug_ptm_reader *reader, enum pug_status code, const char *text)
{
    reader->stage->stats.bad_sequences++;
    pug_armv7_log(reader->stage, reader->stage->reader_name, code, reader->index, text);
}

/* ---- how long a packet is ---- */

static void expect(struct pug_ptm_reader *reader, enum pug_ptm_part part, unsigned left)
{
    reader->part = (uint8_t)part;
    reader->left = (uint8_t)left;
}

/** The cycle count is over, or there is none; true when the packet is complete. */
static bool after_cycles(struct pug_ptm_reader *reader)
{
    unsigned bytes = reader->config->context_id_bytes;
    if (reader->packet.type != TYPE(I_SYNC) || bytes == 0)
        return true;
    expect(reader, PUG_PTM_PART_FIXED, bytes);
    return false;
}

/** A cycle count comes now, if they are traced. */
static bool before_cycles(struct pug_ptm_reader *reader)
{
    if (!reader->config->cycle_accurate)
        return after_cycles(reader);
    expect(reader, PUG_PTM_PART_CYCLES, 0);
    return false;
}

static bool take_address(struct pug_ptm_reader *reader, uint8_t byte)
{
    bool fifth = ++reader->left == 5, more = byte & 0x40;
    if ((byte & 0x80) && !fifth)
        return false;
    if (reader->packet.type == TYPE(WPOINT_UPDATE)) {
        expect(reader, PUG_PTM_PART_ALT_ISA, 0);
        return !fifth || !more;
    }
    if (!more)
        return before_cycles(reader);
    expect(reader, PUG_PTM_PART_EXCEPTION1, 0);
    return false;
}

/** A byte of the payload; true when the packet is complete. */
static bool take(struct pug_ptm_reader *reader, uint8_t byte)
{
    bool more = byte & 0x80;
    switch (reader->part) {
    case PUG_PTM_PART_FIXED: return --reader->left == 0;
    case PUG_PTM_PART_ISYNC:
        if (--reader->left > 0)
            return false;
        return byte & 0x60 ? before_cycles(reader) : after_cycles(reader);
    case PUG_PTM_PART_ADDRESS: return take_address(reader, byte);
    case PUG_PTM_PART_EXCEPTION1:
        if (!more)
            return before_cycles(reader);
        expect(reader, PUG_PTM_PART_EXCEPTION2, 0);
        return false;
    case PUG_PTM_PART_EXCEPTION2: return before_cycles(reader);
    case PUG_PTM_PART_TIMESTAMP: return (!more || --reader->left == 0) && before_cycles(reader);
    case PUG_PTM_PART_CYCLES:
        if (!(byte & 0x40))
            return after_cycles(reader);
        expect(reader, PUG_PTM_PART_MORE_CYCLES, 4);
        return false;
    case PUG_PTM_PART_MORE_CYCLES: return (!more || --reader->left == 0) && after_cycles(reader);
    default: return true; /* ALT_ISA */
    }
}

/* ---- headers ---- */

void pug_ptm_clear_packet(struct pug_ptm_packet *packet)
{
    packet->header_type = TYPE(NOERROR);
    packet->previous_isa = packet->isa;
    packet->address.packet_bits = 0;
    packet->has_cycle_count = false;
    packet->cycle_count = 0;
    packet->context.updated = false;
    packet->context.updated_context_id = false;
    packet->context.updated_vmid = false;
    packet->timestamp_bits = 0;
    packet->clock_changed = false;
    packet->atoms.bits = 0;
    packet->exception.present = false;
}

/** Header bytes that are neither branch nor atom. */
static uint8_t header_type(uint8_t header)
{
    switch (header) {
    case 0x00: return TYPE(A_SYNC);
    case 0x08: return TYPE(I_SYNC);
    case 0x0c: return TYPE(TRIGGER);
    case 0x3c: return TYPE(VMID);
    case 0x42:
    case 0x46: return TYPE(TIMESTAMP);
    case 0x66: return TYPE(IGNORE);
    case 0x6e: return TYPE(CONTEXT_ID);
    case 0x72: return TYPE(WPOINT_UPDATE);
    case 0x76: return TYPE(EXCEPTION_RET);
    default: return TYPE(RESERVED);
    }
}

/** True when the header is a whole packet. */
static bool take_header(struct pug_ptm_reader *reader, uint8_t header)
{
    struct pug_ptm_packet *packet = &reader->packet;
    reader->raw.size = 0;
    pug_ptm_clear_packet(packet);
    if (header & 1) {
        packet->type = TYPE(BRANCH_ADDRESS);
        if (!(header & 0x80))
            return before_cycles(reader);
        expect(reader, PUG_PTM_PART_ADDRESS, 1);
        return false;
    }
    if (header & 0x80) {
        packet->type = TYPE(ATOM);
        expect(reader, PUG_PTM_PART_MORE_CYCLES, 4);
        return !reader->config->cycle_accurate || !(header & 0x40);
    }
    packet->type = header_type(header);
    switch (packet->type) {
    case TYPE(A_SYNC):
        expect(reader, PUG_PTM_PART_ZERO, 0);
        reader->zeros = (struct pug_ptm_zeros){.count = 1};
        return false;
    case TYPE(I_SYNC): expect(reader, PUG_PTM_PART_ISYNC, 5); return false;
    case TYPE(VMID): expect(reader, PUG_PTM_PART_FIXED, 1); return false;
    case TYPE(TIMESTAMP):
        expect(reader, PUG_PTM_PART_TIMESTAMP, reader->config->timestamp_bytes);
        return false;
    case TYPE(CONTEXT_ID):
        expect(reader, PUG_PTM_PART_FIXED, reader->config->context_id_bytes);
        return reader->left == 0;
    case TYPE(WPOINT_UPDATE): expect(reader, PUG_PTM_PART_ADDRESS, 0); return false;
    case TYPE(RESERVED):
        reader->stage->stats.bad_headers++;
        if (!reader->stage->quirks.ptm_bad_packet_silent)
            pug_armv7_log(reader->stage, reader->stage->reader_name, PUG_ERR_PACKET_HEADER,
                          reader->index, "Packet header reserved encoding.");
        return true;
    default: return true;
    }
}

/* ---- the reader ---- */

bool pug_ptm_give(struct pug_ptm_reader *reader, const uint8_t *bytes, size_t size,
                  struct pug_packet *packet)
{
    const uint8_t type = reader->packet.type;
    const uint32_t is = type >= TYPE(BAD_SEQUENCE) ? PUG_PACKET_BAD
                        : type == TYPE(A_SYNC)     ? PUG_PACKET_SYNC
                                                   : 0;
    pug_armv7_give(packet, type, &reader->packet, reader->index, bytes, size, is);
    return true;
}

/** The packet's last byte is taken: its bytes, in one piece, and what they say. */
static bool complete(struct pug_ptm_reader *reader, const uint8_t *start, const uint8_t *end,
                     struct pug_packet *packet)
{
    size_t size = (size_t)(end - start);
    start = pug_rawbytes_whole(&reader->raw, start, &size);
    reader->state = PUG_PTM_AT_HEADER;
    pug_ptm_parse(reader, start, size);
    return pug_ptm_give(reader, start, size, packet);
}

bool pug_ptm_read(void *pointer, struct pug_span *span, struct pug_packet *packet)
{
    struct pug_ptm_reader *reader = pointer;
    if (reader->state == PUG_PTM_UNSYNCED)
        return pug_ptm_find_sync(reader, span, packet);
    if (span->at == span->end)
        return false;
    const uint8_t *start = span->at;
    if (reader->state == PUG_PTM_AT_HEADER) {
        reader->index = pug_span_index(span);
        if (take_header(reader, *span->at++))
            return complete(reader, start, span->at, packet);
        reader->state = PUG_PTM_IN_PAYLOAD;
    }
    if (reader->part == PUG_PTM_PART_ZERO)
        return pug_ptm_read_a_sync(reader, span, packet);
    while (span->at < span->end)
        if (take(reader, *span->at++))
            return complete(reader, start, span->at, packet);
    pug_rawbytes_add(&reader->raw, start, (size_t)(span->at - start));
    return false;
}

bool pug_ptm_read_end(void *pointer, struct pug_packet *packet)
{
    struct pug_ptm_reader *reader = pointer;
    bool unsynced = reader->state == PUG_PTM_UNSYNCED;
    if (unsynced && pug_ptm_end_unsynced(reader, packet))
        return true;
    if (reader->state == PUG_PTM_AT_HEADER)
        return false;
    if (unsynced || reader->part == PUG_PTM_PART_ZERO)
        pug_ptm_make_zeros(reader, reader->zeros.count, NULL);
    if (reader->raw.size == 0)
        return false;
    if (unsynced && !reader->stage->quirks.ptm_unsynced_by_block)
        reader->index = reader->zeros.index;
    reader->zeros = (struct pug_ptm_zeros){0};
    if (!unsynced)
        reader->state = PUG_PTM_AT_HEADER;
    reader->packet.header_type = unsynced ? TYPE(NOTSYNC) : reader->packet.type;
    reader->packet.type = TYPE(INCOMPLETE_EOT);
    if (!unsynced)
        pug_stage_log_cut(reader->stage, reader->index);
    return pug_ptm_give(reader, pug_rawbytes_at(&reader->raw), reader->raw.size, packet);
}

void pug_ptm_reader_reset(void *pointer)
{
    struct pug_ptm_reader *reader = pointer;
    uint32_t zeros = reader->stage->quirks.ptm_reset_keeps_zeros ? reader->zeros.count : 0;
    reader->packet = (struct pug_ptm_packet){.type = TYPE(NOTSYNC),
                                             .header_type = TYPE(NOERROR),
                                             .isa = PUG_ISA_UNKNOWN,
                                             .previous_isa = PUG_ISA_UNKNOWN};
    reader->packet.context.vmid_as_character = reader->stage->quirks.armv7_vmid_as_character;
    reader->state = PUG_PTM_UNSYNCED;
    reader->stage->takes = reader->stage->quirks.ptm_unsynced_by_block ? 0 : PUG_TAKES_SPLICED;
    reader->alt_isa = false;
    reader->raw.size = 0;
    reader->zeros = (struct pug_ptm_zeros){.count = zeros};
    pug_ptm_forget_unsynced(reader);
    reader->in_block = reader->told = reader->given = reader->zeros_reported = false;
}

enum pug_status pug_ptm_reader_new(const void *config, struct pug_stage *stage, void **out)
{
    struct pug_ptm_reader *reader = calloc(1, sizeof(*reader));
    if (!reader)
        return PUG_ERR_MEM;
    reader->config = config;
    reader->stage = stage;
    pug_ptm_reader_reset(reader);
    *out = reader;
    return PUG_OK;
}

void pug_ptm_reader_free(void *pointer)
{
    struct pug_ptm_reader *reader = pointer;
    pug_rawbytes_free(&reader->raw);
    pug_rawbytes_free(&reader->unsynced);
    free(reader);
}
