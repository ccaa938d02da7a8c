// SPDX-License-Identifier: MIT
/** @file ETMv3: bytes to packets. Headers, and how many bytes belong to them. */
#include "protocol/etmv3/reader.h"

#define TYPE(name) PUG_ETMV3_##name

/** Packets by header >> 1, for even headers below 0x80. */
/* clang-format off */
static const uint8_t header_types[64] = {
    /* 0x00 */ TYPE(A_SYNC),           TYPE(NORM_DATA),        TYPE(CYCLE_COUNT),      TYPE(NORM_DATA),
    /* 0x08 */ TYPE(I_SYNC),           TYPE(NORM_DATA),        TYPE(TRIGGER),          TYPE(NORM_DATA),
    /* 0x10 */ TYPE(RESERVED),         TYPE(RESERVED),         TYPE(RESERVED),         TYPE(RESERVED),
    /* 0x18 */ TYPE(RESERVED),         TYPE(RESERVED),         TYPE(RESERVED),         TYPE(RESERVED),
    /* 0x20 */ TYPE(OOO_DATA),         TYPE(NORM_DATA),        TYPE(OOO_DATA),         TYPE(NORM_DATA),
    /* 0x28 */ TYPE(OOO_DATA),         TYPE(NORM_DATA),        TYPE(OOO_DATA),         TYPE(NORM_DATA),
    /* 0x30 */ TYPE(RESERVED),         TYPE(RESERVED),         TYPE(RESERVED),         TYPE(RESERVED),
    /* 0x38 */ TYPE(RESERVED),         TYPE(RESERVED),         TYPE(VMID),             TYPE(RESERVED),
    /* 0x40 */ TYPE(OOO_DATA),         TYPE(TIMESTAMP),        TYPE(OOO_DATA),         TYPE(TIMESTAMP),
    /* 0x48 */ TYPE(OOO_DATA),         TYPE(RESERVED),         TYPE(OOO_DATA),         TYPE(RESERVED),
    /* 0x50 */ TYPE(STORE_FAIL),       TYPE(RESERVED),         TYPE(OOO_ADDR_PLC),     TYPE(RESERVED),
    /* 0x58 */ TYPE(OOO_ADDR_PLC),     TYPE(RESERVED),         TYPE(OOO_ADDR_PLC),     TYPE(RESERVED),
    /* 0x60 */ TYPE(OOO_DATA),         TYPE(DATA_SUPPRESSED),  TYPE(OOO_DATA),         TYPE(IGNORE),
    /* 0x68 */ TYPE(OOO_DATA),         TYPE(VAL_NOT_TRACED),   TYPE(OOO_DATA),         TYPE(CONTEXT_ID),
    /* 0x70 */ TYPE(I_SYNC_CYCLE),     TYPE(RESERVED),         TYPE(OOO_ADDR_PLC),     TYPE(EXCEPTION_EXIT),
    /* 0x78 */ TYPE(OOO_ADDR_PLC),     TYPE(VAL_NOT_TRACED),   TYPE(OOO_ADDR_PLC),     TYPE(EXCEPTION_ENTRY),
};
/* clang-format on */

/** Value bytes by the SS bits of a data header. */
static const uint8_t value_bytes[4] = {0, 1, 2, 4};

void pug_etmv3_error(struct pug_etmv3_reader *reader, enum pug_status code, const char *text)
{
    if (code == PUG_ERR_PACKET_HEADER)
        reader->stage->stats.bad_headers++;
    else
        reader->stage->stats.bad_sequences++;
    pug_armv7_log(reader->stage, reader->stage->reader_name, code, reader->index, text);
}

void pug_etmv3_malformed(struct pug_etmv3_reader *reader, enum pug_status code, const char *text)
{
    pug_etmv3_error(reader, code, text);
    if (reader->stage->quirks.etmv3_malformed_passes)
        return;
    reader->packet.header_type = reader->packet.type;
    reader->packet.type = code == PUG_ERR_PACKET_HEADER ? TYPE(RESERVED) : TYPE(BAD_SEQUENCE);
}

/* ---- how long a packet is ---- */

static void plan(struct pug_etmv3_reader *reader, enum pug_etmv3_part kind, unsigned left)
{
    if (left == 0)
        return;
    reader->plan[reader->parts].kind = (uint8_t)kind;
    reader->plan[reader->parts].left = (uint16_t)left;
    reader->parts++;
}

/** Bytes to the first one with bit 7 clear. */
static void plan_continued(struct pug_etmv3_reader *reader, unsigned most)
{
    plan(reader, PUG_ETMV3_PART_CONTINUED, most);
}

/** Value bytes after an address, or alone. */
static void plan_data(struct pug_etmv3_reader *reader, bool has_address, unsigned bytes)
{
    if (has_address && reader->config->data_addresses) {
        plan_continued(reader, reader->stage->quirks.etmv3_endless_packets ? UINT16_MAX : 5);
        if (bytes == 0 && reader->packet.type == TYPE(NORM_DATA) &&
            reader->stage->quirks.etmv3_endless_packets)
            plan(reader, PUG_ETMV3_PART_ENDLESS, 1);
    }
    plan(reader, PUG_ETMV3_PART_FIXED, bytes);
}

/** The payload that a header announces. */
static void plan_payload(struct pug_etmv3_reader *reader, uint8_t header)
{
    const struct pug_etmv3_config *config = reader->config;
    const struct pug_quirks *quirks = &reader->stage->quirks;
    switch (reader->packet.type) {
    case TYPE(BRANCH_ADDRESS):
        if (header & 0x80)
            plan(reader, PUG_ETMV3_PART_BRANCH, 2);
        break;
    case TYPE(CYCLE_COUNT): plan_continued(reader, 5); break;
    case TYPE(I_SYNC_CYCLE):
        plan_continued(reader, 5);
        /* fall through */
    case TYPE(I_SYNC):
        plan(reader, PUG_ETMV3_PART_FIXED, config->context_id_bytes);
        plan(reader, PUG_ETMV3_PART_INFO, 1);
        break;
    case TYPE(VMID): plan(reader, PUG_ETMV3_PART_FIXED, 1); break;
    case TYPE(CONTEXT_ID):
        plan(reader, PUG_ETMV3_PART_FIXED,
             config->context_id_bytes == 0 && quirks->etmv3_malformed_passes
                 ? 1
                 : config->context_id_bytes);
        break;
    case TYPE(TIMESTAMP):
        plan_continued(reader,
                       quirks->etmv3_endless_packets ? UINT16_MAX : config->timestamp_bytes);
        break;
    case TYPE(OOO_DATA): plan(reader, PUG_ETMV3_PART_FIXED, value_bytes[header >> 2 & 3]); break;
    case TYPE(NORM_DATA): plan_data(reader, header & 0x20, value_bytes[header >> 2 & 3]); break;
    case TYPE(OOO_ADDR_PLC): plan_data(reader, header & 0x20, 0); break;
    case TYPE(VAL_NOT_TRACED):
        plan_data(reader, header & (quirks->etmv3_untraced_has_address ? 0x20 : 0x10), 0);
        break;
    default: break;
    }
}

/** A part is complete; true when the packet is. */
static bool next_part(struct pug_etmv3_reader *reader)
{
    return ++reader->part == reader->parts;
}

/** A branch packet goes on with up to three exception bytes. */
static bool expect_exception(struct pug_etmv3_reader *reader)
{
    reader->plan[reader->part].kind = PUG_ETMV3_PART_EXCEPTION;
    reader->plan[reader->part].left = PUG_ETMV3_BRANCH_EXCEPTION_MAX;
    return false;
}

/**
 * A byte of a branch address. In the original encoding only byte 5 can announce exception bytes, in
 * the alternative one the last address byte, unless it is the only one.
 */
static bool take_branch(struct pug_etmv3_reader *reader, uint8_t byte)
{
    unsigned number = reader->plan[reader->part].left++;
    bool announces = (byte & 0xc0) == 0x40;
    if (number == 1)
        return byte & 0x80 ? false : next_part(reader);
    if (reader->config->alternative_branches) {
        if (!(byte & 0x80))
            return announces ? expect_exception(reader) : next_part(reader);
        if (number < PUG_ETMV3_BRANCH_ADDRESS_MAX || reader->stage->quirks.etmv3_endless_packets)
            return false;
        reader->oversized = true;
        return next_part(reader);
    }
    if (number < PUG_ETMV3_BRANCH_ADDRESS_MAX)
        return byte & 0x80 ? false : next_part(reader);
    return announces ? expect_exception(reader) : next_part(reader);
}

static bool take_exception(struct pug_etmv3_reader *reader, uint8_t byte)
{
    if (!(byte & 0x80))
        return next_part(reader);
    if (reader->stage->quirks.etmv3_endless_packets || --reader->plan[reader->part].left > 0)
        return false;
    reader->oversized = true;
    return next_part(reader);
}

/** The information byte of an I-sync: an address follows unless only data are traced. */
static bool take_info(struct pug_etmv3_reader *reader, uint8_t byte)
{
    bool lsip = byte & 0x80, cut = lsip && reader->stage->quirks.etmv3_lsip_cut;
    if (reader->config->instructions) {
        plan(reader, cut ? PUG_ETMV3_PART_LSIP : PUG_ETMV3_PART_FIXED, 4);
        if (lsip && !cut)
            plan(reader, PUG_ETMV3_PART_BRANCH, 1);
    } else if (cut) {
        plan(reader, PUG_ETMV3_PART_LSIP, 1);
    }
    return next_part(reader);
}

/** A byte of the payload; true when the packet is complete. */
static bool take(struct pug_etmv3_reader *reader, uint8_t byte)
{
    uint16_t *left = &reader->plan[reader->part].left;
    switch (reader->plan[reader->part].kind) {
    case PUG_ETMV3_PART_FIXED: return --*left == 0 && next_part(reader);
    case PUG_ETMV3_PART_CONTINUED:
        if (*left != UINT16_MAX)
            --*left;
        if (!(byte & 0x80) || *left == 0)
            return next_part(reader);
        return false;
    case PUG_ETMV3_PART_BRANCH: return take_branch(reader, byte);
    case PUG_ETMV3_PART_EXCEPTION: return take_exception(reader, byte);
    case PUG_ETMV3_PART_INFO: return take_info(reader, byte);
    case PUG_ETMV3_PART_LSIP:
        if (*left > 1) {
            --*left;
            return false;
        }
        return !(byte & 0x80);
    default: return false;
    }
}

/* ---- headers ---- */

/** Clears the fields that belong to one packet. */
static void clear_packet(struct pug_etmv3_packet *packet)
{
    if (packet->isync.has_lsip) /* what follows is compressed relative to the second address */
        packet->address.value = packet->isync.lsip_address;
    packet->address.packet_bits = 0;
    packet->header_type = TYPE(NOERROR);
    packet->previous_isa = packet->isa;
    packet->has_isa = false;
    packet->exception.present = false;
    packet->atoms.count = 0;
    packet->cycle_count = 0;
    packet->context.updated = false;
    packet->context.updated_context_id = false;
    packet->context.updated_vmid = false;
    packet->data.tag = 0;
    packet->data.value = 0;
    packet->data.address.packet_bits = 0;
    packet->data.updated_address = false;
    packet->data.updated_big_endian = false;
    packet->data.updated_value = false;
    packet->timestamp_bits = 0;
    packet->clock_changed = false;
    packet->isync.has_cycle_count = false;
    packet->isync.has_lsip = false;
    packet->isync.no_address = false;
}

/** Why a data header cannot be in this trace, or NULL. */
static const char *not_traced(const struct pug_etmv3_config *config, uint8_t type)
{
    bool values = config->data_values, any = pug_etmv3_traces_data(config);
#define NOT_TRACED(what, which) "Invalid data trace header (" what ") - not tracing " which "."
    switch (type) {
    case TYPE(OOO_DATA): return values ? NULL : NOT_TRACED("out of order data", "data values");
    case TYPE(STORE_FAIL): return values ? NULL : NOT_TRACED("store failed", "data values");
    case TYPE(OOO_ADDR_PLC): return any ? NULL : NOT_TRACED("out of order placeholder", "data");
    case TYPE(NORM_DATA): return any ? NULL : NOT_TRACED("normal data", "data");
    case TYPE(DATA_SUPPRESSED): return any ? NULL : NOT_TRACED("data suppressed", "data");
    case TYPE(VAL_NOT_TRACED): return any ? NULL : NOT_TRACED("value not traced", "data");
    default: return NULL;
    }
#undef NOT_TRACED
}

/** A header byte below 0x80, not of a branch; true when it is a whole packet. */
static bool take_low_header(struct pug_etmv3_reader *reader, uint8_t header)
{
    struct pug_etmv3_packet *packet = &reader->packet;
    uint8_t type = header_types[header >> 1], previous = packet->type;
    packet->type = type;
    if (type == TYPE(RESERVED)) {
        pug_etmv3_error(reader, PUG_ERR_PACKET_HEADER,
                        header & 3 ? "Packet header reserved encoding."
                                   : "Packet header reserved encoding");
        return true;
    }
    const char *why = not_traced(reader->config, type);
    if (why) {
        pug_etmv3_error(reader, PUG_ERR_PACKET_HEADER, why);
        bool names_previous =
            reader->stage->quirks.etmv3_tracemode_names_previous && type != TYPE(OOO_ADDR_PLC);
        packet->header_type = names_previous ? previous : type;
        packet->type = TYPE(BAD_TRACEMODE);
        return true;
    }
    if (type == TYPE(OOO_ADDR_PLC))
        packet->data.tag = header >> 2 & 3;
    reader->a_sync = 1;
    plan_payload(reader, header);
    return reader->parts == 0 && type != TYPE(A_SYNC);
}

static bool take_header(struct pug_etmv3_reader *reader, uint8_t header)
{
    reader->raw.size = 0;
    reader->part = reader->parts = 0;
    reader->oversized = false;
    clear_packet(&reader->packet);
    if (header & 1) {
        reader->packet.type = TYPE(BRANCH_ADDRESS);
        plan_payload(reader, header);
        return reader->parts == 0;
    }
    if (header & 0x80) {
        reader->packet.type = TYPE(P_HDR);
        return true;
    }
    return take_low_header(reader, header);
}

/* ---- the reader ---- */

bool pug_etmv3_give(struct pug_etmv3_reader *reader, const uint8_t *bytes, size_t size,
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
static bool complete(struct pug_etmv3_reader *reader, const uint8_t *start, const uint8_t *end,
                     struct pug_packet *packet)
{
    size_t size = (size_t)(end - start);
    start = pug_rawbytes_whole(&reader->raw, start, &size);
    reader->state = PUG_ETMV3_AT_HEADER;
    pug_etmv3_parse(reader, start, size);
    return pug_etmv3_give(reader, start, size, packet);
}

static bool is_isync(uint8_t type)
{
    return type == TYPE(I_SYNC) || type == TYPE(I_SYNC_CYCLE);
}

/**
 * Returns the end of an I-sync of this type if all its bytes are there and its header was taken.
 * Returns NULL otherwise, or when it has a second address.
 */
static const uint8_t *isync_end(const struct pug_etmv3_config *config, uint8_t type,
                                const uint8_t *at, const uint8_t *end)
{
    const size_t there = (size_t)(end - at);
    size_t size = config->context_id_bytes;
    if (type == TYPE(I_SYNC_CYCLE)) {
        size_t last = 0;
        while (last < 4 && last < there && (at[last] & 0x80))
            last++;
        size += last + 1;
    }
    if (size >= there || (at[size] & 0x80))
        return NULL;
    size += config->instructions ? 5 : 1;
    return size <= there ? at + size : NULL;
}

size_t pug_etmv3_read_isync(struct pug_etmv3_reader *reader, const uint8_t *at, const uint8_t *end)
{
    const uint8_t type = header_types[(*at & 0x7f) >> 1];
    const uint8_t *behind = is_isync(type) ? isync_end(reader->config, type, at + 1, end) : NULL;
    if (!behind)
        return 0;
    const size_t size = (size_t)(behind - at);
    reader->oversized = false;
    clear_packet(&reader->packet);
    reader->packet.type = type;
    pug_etmv3_parse(reader, at, size);
    return size;
}

bool pug_etmv3_read(void *pointer, struct pug_span *span, struct pug_packet *packet)
{
    struct pug_etmv3_reader *reader = pointer;
    if (reader->state == PUG_ETMV3_UNSYNCED)
        return pug_etmv3_find_sync(reader, span, packet);
    if (span->at == span->end)
        return false;
    const uint8_t *start = span->at;
    if (reader->state == PUG_ETMV3_AT_HEADER) {
        reader->index = pug_span_index(span);
        if (take_header(reader, *span->at++))
            return complete(reader, start, span->at, packet);
        const uint8_t type = reader->packet.type;
        const uint8_t *end =
            is_isync(type) ? isync_end(reader->config, type, span->at, span->end) : NULL;
        if (end) {
            span->at = end;
            return complete(reader, start, end, packet);
        }
        reader->state = PUG_ETMV3_IN_PAYLOAD;
    }
    if (reader->parts == 0)
        return pug_etmv3_read_a_sync(reader, span, packet);
    while (span->at < span->end)
        if (take(reader, *span->at++))
            return complete(reader, start, span->at, packet);
    pug_rawbytes_add(&reader->raw, start, (size_t)(span->at - start));
    return false;
}

bool pug_etmv3_read_end(void *pointer, struct pug_packet *packet)
{
    struct pug_etmv3_reader *reader = pointer;
    struct pug_rawbytes *raw = &reader->raw;
    const uint8_t *bytes = pug_rawbytes_at(raw);
    size_t size = raw->size;
    bool unsynced = reader->state == PUG_ETMV3_UNSYNCED;
    if (unsynced && reader->given)
        size = 0;
    if (reader->state == PUG_ETMV3_AT_HEADER)
        return false;
    if (reader->state == PUG_ETMV3_IN_PAYLOAD && reader->parts == 0) {
        bytes = pug_etmv3_a_sync_bytes();
        size = reader->a_sync;
        reader->packet.type = TYPE(A_SYNC); /* it was not while it had a zero too many */
    }
    if (size == 0)
        return false;
    if (unsynced) {
        if (reader->split || !reader->stage->quirks.etmv3_first_zeros_reserved)
            reader->packet.type = TYPE(NOTSYNC);
        reader->stage->stats.unsynced += size;
    } else if (!reader->stage->quirks.etmv3_incomplete_is_whole) {
        reader->packet.header_type = reader->packet.type;
        reader->packet.type = TYPE(INCOMPLETE_EOT);
        pug_stage_log_cut(reader->stage, reader->index);
    }
    reader->given = reader->zeros = false;
    if (unsynced)
        reader->given = true;
    else
        reader->state = PUG_ETMV3_AT_HEADER;
    return pug_etmv3_give(reader, bytes, size, packet);
}

void pug_etmv3_reader_reset(void *pointer)
{
    struct pug_etmv3_reader *reader = pointer;
    reader->packet =
        (struct pug_etmv3_packet){.isa = PUG_ISA_UNKNOWN, .previous_isa = PUG_ISA_UNKNOWN};
    reader->packet.context.vmid_as_character = reader->stage->quirks.armv7_vmid_as_character;
    reader->state = PUG_ETMV3_UNSYNCED;
    reader->stage->takes = reader->stage->quirks.etmv3_unsynced_by_block ? 0 : PUG_TAKES_SPLICED;
    reader->raw.size = 0;
    reader->zeros = reader->given = reader->split = false;
}

enum pug_status pug_etmv3_reader_new(const void *config, struct pug_stage *stage, void **out)
{
    struct pug_etmv3_reader *reader = calloc(1, sizeof(*reader));
    if (!reader)
        return PUG_ERR_MEM;
    reader->config = config;
    reader->stage = stage;
    pug_etmv3_reader_reset(reader);
    *out = reader;
    return PUG_OK;
}

void pug_etmv3_reader_free(void *pointer)
{
    struct pug_etmv3_reader *reader = pointer;
    pug_rawbytes_free(&reader->raw);
    free(reader);
}
