// SPDX-License-Identifier: MIT
/** @file Bytes to packets: synchronisation, and where each packet ends. */
#include "base/noise.h"
#include "protocol/etmv4/etmv4.h"

#include <stdlib.h>

/** Bytes of a search that are reported at once. */
#define DUMP_BYTES 8u

typedef struct pug_etmv4_reader reader;

/* ---- the length of a packet ---- */

static void next_field(reader *r)
{
    r->fields >>= 4;
    r->have = 0;
}

/** Returns the REST after context information: its VMID and context id bytes. */
static uint8_t context_rest(const reader *r, uint8_t info)
{
    const struct pug_etmv4_config *config = r->config;
    unsigned rest = 0;
    if (info & 0x40)
        rest += config->vmid_size;
    if (info & 0x80)
        rest += config->context_id_size;
    if (rest == 0 && (info & 0xC0) && r->header->form == PUG_ETMV4_FORM_CTXT &&
        r->stage->quirks.etm4_context_extra_byte)
        rest = 1;
    return (uint8_t)rest;
}

/**
 * Returns the REST after an exception's first byte. ETE: PE reset and transaction failure have one.
 */
static uint8_t except_rest(const reader *r, uint8_t byte)
{
    unsigned type = byte >> 1 & 0x1F;
    return (byte & 0x80) || (r->config->ete && (type == 0x00 || type == 0x18));
}

/** A field of one byte that says what follows. */
static void take_key_byte(reader *r, uint8_t byte)
{
    enum pug_etmv4_field field = r->fields & 0xF;
    next_field(r);
    switch (field) {
    case PUG_ETMV4_FIELD_CONTEXT:
        r->rest = context_rest(r, byte);
        r->fields = r->rest ? r->fields << 4 | PUG_ETMV4_FIELD_REST : r->fields;
        break;
    case PUG_ETMV4_FIELD_EXCEPT:
        r->rest = except_rest(r, byte);
        r->fields = r->rest ? PUG_ETMV4_FIELD_REST : 0;
        break;
    case PUG_ETMV4_FIELD_PLCTL:
        for (unsigned bit = 0; bit < 5; bit++)
            if (byte & 1u << bit)
                r->fields = r->fields << 4 | PUG_ETMV4_FIELD_LEB;
        if (byte & 0x80) /* more control bytes, which say nothing */
            r->fields = r->fields << 4 | PUG_ETMV4_FIELD_LEB;
        break;
    default: /* EXTENSION */
        if (byte == 0x00)
            r->fields = PUG_ETMV4_FIELD_ASYNC;
    }
}

/** Bytes of a field that ends with one that has bit 7 clear, or at its limit. */
static const uint8_t *take_leb(reader *r, const uint8_t *at, const uint8_t *end, uint32_t limit)
{
    while (at < end) {
        if (r->have < UINT32_MAX)
            r->have++;
        if (!(*at++ & 0x80) || r->have == limit) {
            next_field(r);
            break;
        }
    }
    return at;
}

static const uint8_t *take_fixed(reader *r, const uint8_t *at, const uint8_t *end, uint32_t size)
{
    size_t missing = size - r->have, available = (size_t)(end - at);
    if (available < missing) {
        r->have += (uint32_t)available;
        return end;
    }
    next_field(r);
    return at + missing;
}

/** The zeros of an ASYNC, from its third byte on; a wrong byte ends it. */
static const uint8_t *take_async(reader *r, const uint8_t *at, const uint8_t *end)
{
    while (at < end) {
        r->have++;
        if (*at++ != 0x00 || r->have == PUG_ETMV4_ASYNC_SIZE - 2) {
            next_field(r);
            break;
        }
    }
    return at;
}

/** Go on along the fields; when `r->fields` is 0 the packet ends at the answer. */
static const uint8_t *scan(reader *r, const uint8_t *at, const uint8_t *end)
{
    while (r->fields && at < end) {
        switch ((enum pug_etmv4_field)(r->fields & 0xF)) {
        case PUG_ETMV4_FIELD_LEB: at = take_leb(r, at, end, UINT32_MAX); break;
        case PUG_ETMV4_FIELD_SHORT: at = take_leb(r, at, end, 2); break;
        case PUG_ETMV4_FIELD_TS: at = take_leb(r, at, end, 9); break;
        case PUG_ETMV4_FIELD_1: at = take_fixed(r, at, end, 1); break;
        case PUG_ETMV4_FIELD_4: at = take_fixed(r, at, end, 4); break;
        case PUG_ETMV4_FIELD_8: at = take_fixed(r, at, end, 8); break;
        case PUG_ETMV4_FIELD_9: at = take_fixed(r, at, end, 9); break;
        case PUG_ETMV4_FIELD_REST: at = take_fixed(r, at, end, r->rest); break;
        case PUG_ETMV4_FIELD_ASYNC: at = take_async(r, at, end); break;
        default: take_key_byte(r, *at++);
        }
    }
    return at;
}

/* ---- packets ---- */

/** Keep bytes of a packet that goes on in the next run. */
static void hold(reader *r, const uint8_t *bytes, size_t size)
{
    size_t room = PUG_ETMV4_RAW_LIMIT - r->held;
    if (size > room)
        size = room;
    memcpy(r->bytes + r->held, bytes, size);
    r->held += (uint32_t)size;
    r->special |= PUG_ETMV4_HELD;
}

static bool put_packet(reader *r, const uint8_t *raw, size_t size, struct pug_packet *packet)
{
    uint32_t type = r->packet.type;
    bool bad = type >= 0x300 && (type < 0x400 || r->stage->quirks.etm4_reset_is_bad);
    packet->index = r->index;
    packet->data = &r->packet;
    packet->raw = raw;
    packet->raw_size = (uint32_t)(size < PUG_ETMV4_RAW_LIMIT ? size : PUG_ETMV4_RAW_LIMIT);
    packet->type = type;
    packet->flags = PUG_PACKET_MONITOR | PUG_PACKET_DECODE | (bad ? PUG_PACKET_BAD : 0u) |
                    (type == PUG_ETMV4_ASYNC ? PUG_PACKET_SYNC : 0u);
    return true;
}

/** All bytes of a packet are there. */
static bool finish(reader *r, const uint8_t *raw, size_t size, struct pug_packet *packet)
{
    const struct pug_etmv4_header *header = r->header;
    r->packet.type = header->type;
    pug_etmv4_set_atoms(&r->packet, header);
    r->held = 0;
    r->special &= (uint8_t)~PUG_ETMV4_HELD;
    pug_etmv4_read_fields(r, raw, size < PUG_ETMV4_RAW_LIMIT ? size : PUG_ETMV4_RAW_LIMIT);
    return put_packet(r, raw, size, packet);
}

/** A packet that is not one byte of atoms. */
static PUG_NOINLINE bool begin(reader *r, struct pug_span *span, struct pug_packet *packet)
{
    const uint8_t *raw = span->at;
    r->index = pug_span_index(span);
    r->header = &r->config->headers[*raw];
    size_t size = pug_etmv4_fixed_size(r->header, raw, span->end);
    if (size > 0) {
        span->at = raw + size;
        return finish(r, raw, size, packet);
    }
    r->fields = r->header->fields;
    r->have = 0;
    r->rest = 0;
    span->at = scan(r, raw + 1, span->end);
    if (r->fields) {
        hold(r, raw, (size_t)(span->at - raw));
        return false;
    }
    return finish(r, raw, (size_t)(span->at - raw), packet);
}

/** A packet that began in an earlier run. */
static PUG_NOINLINE bool go_on(reader *r, struct pug_span *span, struct pug_packet *packet)
{
    const uint8_t *from = span->at;
    span->at = scan(r, from, span->end);
    hold(r, from, (size_t)(span->at - from));
    return !r->fields && finish(r, r->bytes, r->held, packet);
}

/** Forget what only the last packet said. */
static PUG_NOINLINE void clean(reader *r)
{
    struct pug_etmv4_packet *packet = &r->packet;
    r->special &= (uint8_t)~PUG_ETMV4_USED;
    packet->err_type = PUG_ETMV4_NO_ERR_TYPE;
    packet->valid &=
        ~(uint32_t)(PUG_ETMV4_HAS_CYCLE_COUNT | PUG_ETMV4_HAS_COMMIT | PUG_ETMV4_HAS_CANCEL);
    packet->context.updated = false;
    packet->context.updated_context_id = false;
    packet->context.updated_vmid = false;
    packet->trace_info &= ~(uint32_t)(PUG_ETMV4_INFO_INITIAL | PUG_ETMV4_INFO_SPEC_FIELD);
}

/* ---- the search for the first ASYNC ---- */

/** Bytes that are no packet, as a packet of the monitor; the decoder gets the first only. */
static bool put_dump(reader *r, struct pug_packet *packet)
{
    uint32_t size = r->dump;
    memcpy(r->dumped, r->bytes, size);
    r->packet.type = r->stage->quirks.etm4_hunt_labels ? r->hunt_type : PUG_ETMV4_NOT_SYNC;
    put_packet(r, r->dumped, size, packet);
    if (r->unsynced_told)
        packet->flags &= ~(uint32_t)PUG_PACKET_DECODE;
    r->unsynced_told = true;
    r->stage->stats.unsynced += size;
    r->held -= size;
    memmove(r->bytes, r->bytes + size, r->held);
    memmove(r->indexes, r->indexes + size, r->held * sizeof(r->indexes[0]));
    r->dump = 0;
    if (!r->stage->quirks.etm4_hunt_labels)
        r->index = r->indexes[0]; /* of the next byte, where none is held */
    else if (r->next_index)
        r->index = r->next_index;
    r->next_index = 0;
    return true;
}

static void hunt_any(reader *r, uint8_t byte, uint64_t index)
{
    if (byte == 0x00) {
        if (r->held > 1) {
            r->dump = (uint8_t)(r->held - 1);
            r->next_index = index;
        } else {
            r->index = index;
        }
        r->hunt = PUG_ETMV4_HUNT_EXTENSION;
    } else if (r->held >= DUMP_BYTES) {
        r->dump = (uint8_t)r->held;
        r->next_index = index + 1;
    }
}

/** One more zero, or the end, of what may be an ASYNC. True: the held bytes are a packet. */
static bool hunt_async(reader *r, uint8_t byte)
{
    bool complete = r->held == PUG_ETMV4_ASYNC_SIZE;
    if (byte == 0x00) {
        r->dump = complete;
        return false;
    }
    if (!complete) {
        r->hunt_type = PUG_ETMV4_NOT_SYNC;
        r->hunt = PUG_ETMV4_HUNT;
        return false;
    }
    r->hunting = false;
    r->special |= PUG_ETMV4_USED;
    if (byte == 0x80) {
        r->special &= (uint8_t)~PUG_ETMV4_UNSYNCED;
        r->packet.type = PUG_ETMV4_ASYNC;
    } else {
        r->packet.type = PUG_ETMV4_BAD_SEQUENCE;
        r->packet.err_type = PUG_ETMV4_ASYNC;
    }
    return true;
}

/** One byte; true when the held bytes are a packet. */
static bool hunt_byte(reader *r, uint8_t byte, uint64_t index)
{
    if (!r->hunting) {
        r->hunting = true;
        r->hunt = PUG_ETMV4_HUNT;
        r->hunt_type = PUG_ETMV4_NOT_SYNC;
        r->index = index;
    }
    if (r->held == 0 && !r->stage->quirks.etm4_hunt_labels)
        r->index = index;
    r->indexes[r->held] = index;
    r->bytes[r->held++] = byte;
    switch ((enum pug_etmv4_hunt)r->hunt) {
    case PUG_ETMV4_HUNT: hunt_any(r, byte, index); break;
    case PUG_ETMV4_HUNT_EXTENSION:
        r->hunt = byte == 0x00 ? PUG_ETMV4_HUNT_ASYNC : PUG_ETMV4_HUNT;
        r->hunt_type = byte == 0x00 ? PUG_ETMV4_ASYNC : PUG_ETMV4_NOT_SYNC;
        break;
    case PUG_ETMV4_HUNT_ASYNC: return hunt_async(r, byte);
    }
    return false;
}

/*
 * Bytes that leave the search as it is: pieces of eight in which no ASYNC can begin, and zeros
 * where as many as an ASYNC has are held already. The last bytes are looked at, for their indexes.
 */
void pug_etmv4_pass_over_noise(reader *r, struct pug_span *span)
{
    static const struct pug_noise noise = {
        .piece = DUMP_BYTES, .zeros = DUMP_BYTES - 1, .zeros_cut = true};
    size_t passed = 0;
    if (!r->unsynced_told || !r->hunting || r->dump > 0 || r->stage->quirks.etm4_hunt_labels ||
        span->at == span->end)
        return;
    if (r->hunt == PUG_ETMV4_HUNT && r->held == 0) {
        passed = pug_noise_pass(&noise, span->at, (size_t)(span->end - span->at) - 1, 0).size;
    } else if (r->hunt == PUG_ETMV4_HUNT_ASYNC && r->held == PUG_ETMV4_ASYNC_SIZE - 1) {
        const size_t zeros = pug_noise_run(span->at, span->end, 0);
        passed = zeros > PUG_ETMV4_ASYNC_SIZE ? zeros - PUG_ETMV4_ASYNC_SIZE - 1 : 0;
    }
    r->stage->stats.unsynced += passed;
    span->at += passed;
}

static PUG_NOINLINE bool hunt(reader *r, struct pug_span *span, struct pug_packet *packet)
{
    while (span->at < span->end) {
        if (r->dump)
            return put_dump(r, packet);
        uint64_t index = pug_span_index(span);
        if (hunt_byte(r, *span->at++, index)) {
            uint32_t size = r->held;
            r->held = 0;
            return put_packet(r, r->bytes, size, packet);
        }
    }
    return false;
}

/* ---- the reader ---- */

bool pug_etmv4_read(void *state, struct pug_span *span, struct pug_packet *packet)
{
    reader *r = state;
    if (r->special & PUG_ETMV4_USED)
        clean(r);
    if (span->at == span->end)
        return false;
    if (r->special)
        return r->special & PUG_ETMV4_UNSYNCED ? hunt(r, span, packet) : go_on(r, span, packet);
    const struct pug_etmv4_header *header = &r->config->headers[*span->at];
    if (header->form != PUG_ETMV4_FORM_ATOM)
        return begin(r, span, packet);
    r->packet.type = header->type;
    pug_etmv4_set_atoms(&r->packet, header);
    packet->index = pug_span_index(span);
    packet->data = &r->packet;
    packet->raw = span->at++;
    packet->raw_size = 1;
    packet->type = header->type;
    packet->flags = PUG_PACKET_MONITOR | PUG_PACKET_DECODE;
    return true;
}

bool pug_etmv4_read_end(void *state, struct pug_packet *packet)
{
    reader *r = state;
    uint32_t size = r->held;
    if (r->special & PUG_ETMV4_USED)
        clean(r);
    r->held = 0;
    r->special &= (uint8_t)~PUG_ETMV4_HELD;
    r->hunting = false;
    r->dump = 0;
    if (size == 0)
        return false;
    bool async = (r->fields & 0xF) == PUG_ETMV4_FIELD_ASYNC;
    r->packet.err_type = r->special & PUG_ETMV4_UNSYNCED ? r->hunt_type
                         : async                         ? PUG_ETMV4_ASYNC
                                                         : r->header->type;
    r->packet.type = PUG_ETMV4_INCOMPLETE_EOT;
    if (!(r->special & PUG_ETMV4_UNSYNCED))
        pug_stage_log_cut(r->stage, r->index);
    r->packet.atom_count = 0;
    r->special |= PUG_ETMV4_USED;
    put_packet(r, r->bytes, size, packet);
    /* How many bytes of the search are held depends on the size of the input pieces. For the
     * decoder they are the rest of what it received. */
    if ((r->special & PUG_ETMV4_UNSYNCED) && r->unsynced_told && !r->stage->quirks.etm4_hunt_labels)
        packet->flags &= ~(uint32_t)PUG_PACKET_DECODE;
    return true;
}

void pug_etmv4_reader_reset(void *state)
{
    reader *r = state;
    struct pug_etmv4_packet *packet = &r->packet;
    r->index = 0;
    r->held = 0;
    r->dump = 0;
    r->special = PUG_ETMV4_UNSYNCED;
    r->hunting = r->info_seen = r->unsynced_told = false;
    r->fields = 0;
    packet->valid = 0;
    packet->address.valid_bits = packet->address.pkt_bits = packet->address.is = 0;
    r->stack[PUG_ETMV4_REGISTER] = packet->address;
    packet->timestamp = 0;
    packet->timestamp_bits = 0;
    clean(r);
}

enum pug_status pug_etmv4_reader_new(const void *config, struct pug_stage *stage, void **out)
{
    reader *r = calloc(1, sizeof(*r));
    if (!r)
        return PUG_ERR_MEM;
    r->config = config;
    r->stage = stage;
    stage->takes = PUG_TAKES_SPLICED | PUG_TAKES_RESUME;
    r->packet.version = r->config->version;
    r->packet.address.size = 32;
    for (unsigned i = 0; i < 3; i++)
        r->stack[i] = (struct pug_etmv4_address){.size = 64, .valid_bits = 64};
    pug_etmv4_reader_reset(r);
    *out = r;
    return PUG_OK;
}

void pug_etmv4_reader_free(void *state)
{
    free(state);
}
