// SPDX-License-Identifier: MIT
/** @file ETMv3: what the bytes of a packet say. */
#include "protocol/etmv3/reader.h"

#define TYPE(name) PUG_ETMV3_##name

/* ---- P-headers ---- */

void pug_etmv3_parse_p_header(struct pug_etmv3_reader *reader, uint8_t byte)
{
    struct pug_etmv3_packet *packet = &reader->packet;
    const struct pug_etmv3_p_header *header = &reader->config->p_headers[byte];
    if (header->format != 0) {
        packet->format = header->format;
        packet->atoms.bits = header->bits;
        packet->atoms.count = header->count;
        packet->cycle_count = header->cycles;
    }
    if (!header->valid)
        pug_etmv3_malformed(reader, PUG_ERR_PACKET_HEADER, "Invalid P-Header.");
}

/* ---- fields ---- */

/** 7 bits a byte, low first, while bit 7 is set; of the fifth byte 4 bits. Returns its length. */
static size_t parse_cycle_count(const uint8_t *bytes, size_t size, uint32_t *count)
{
    uint32_t value = 0;
    size_t at = 0;
    bool more = true;
    while (more && at < size && at < 5) {
        value |= (uint32_t)(bytes[at] & (at == 4 ? 0x0f : 0x7f)) << 7 * at;
        more = bytes[at++] & 0x80;
    }
    *count = value;
    return at;
}

static void parse_context_id(struct pug_etmv3_reader *reader, const uint8_t *bytes)
{
    unsigned count = reader->config->context_id_bytes;
    if (count == 0) {
        pug_etmv3_malformed(reader, PUG_ERR_PACKET_SEQUENCE, "Malformed context id packet.");
        return;
    }
    reader->packet.context.context_id = pug_armv7_little_endian(bytes + 1, count);
    reader->packet.context.updated_context_id = true;
}

/* ---- I-sync ---- */

static uint8_t isync_isa(const struct pug_etmv3_config *config, uint8_t info, bool thumb)
{
    if (info & 0x10)
        return PUG_ISA_JAZELLE;
    if (!thumb)
        return PUG_ISA_A32;
    return (info & 0x04) && config->minor >= 3 ? PUG_ISA_TEE : PUG_ISA_T32;
}

/** The address of a load or store in progress: where the processor went on. */
static void parse_lsip(struct pug_etmv3_reader *reader, const uint8_t *bytes, size_t size)
{
    struct pug_etmv3_packet *packet = &reader->packet;
    if (reader->stage->quirks.etmv3_lsip_cut) {
        pug_etmv3_parse_branch(reader, bytes, size, &packet->address);
        return;
    }
    struct pug_armv7_address address = packet->address;
    pug_etmv3_parse_branch(reader, bytes, size, &address);
    packet->isync.lsip_address = address.value;
    packet->isync.has_lsip = packet->type != TYPE(BAD_SEQUENCE);
}

static void parse_isync(struct pug_etmv3_reader *reader, const uint8_t *bytes, size_t size)
{
    const struct pug_etmv3_config *config = reader->config;
    struct pug_etmv3_packet *packet = &reader->packet;
    size_t at = 1;
    if (packet->type == TYPE(I_SYNC_CYCLE)) {
        at += parse_cycle_count(bytes + at, size - at, &packet->cycle_count);
        packet->isync.has_cycle_count = true;
    }
    if (config->context_id_bytes > 0) {
        packet->context.context_id = pug_armv7_little_endian(bytes + at, config->context_id_bytes);
        packet->context.updated_context_id = true;
        at += config->context_id_bytes;
    }
    uint8_t info = bytes[at++];
    packet->isync.reason = info >> 5 & 3;
    packet->context.non_secure = info & 0x08;
    if (config->has_hyp)
        packet->context.hyp = info & 0x02;
    packet->context.updated = true;
    if (!config->instructions) {
        packet->isync.no_address = true;
        return;
    }
    uint32_t address = pug_armv7_little_endian(bytes + at, 4);
    packet->previous_isa = packet->isa;
    packet->isa = isync_isa(config, info, address & 1);
    packet->has_isa = true;
    pug_armv7_set_address(&packet->address, address & ~UINT32_C(1), 32);
    if (info & 0x80)
        parse_lsip(reader, bytes + at + 4, size - at - 4);
}

/* ---- data trace ---- */

/**
 * A data address: up to five bytes of 7 bits, bit 7 set when more follow; the fifth has 4 bits and
 * the endianness. Returns its length.
 */
static size_t parse_data_address(struct pug_etmv3_reader *reader, const uint8_t *bytes, size_t size)
{
    struct pug_etmv3_packet *packet = &reader->packet;
    struct pug_etmv3_data *data = &packet->data;
    if (reader->stage->quirks.etmv3_data_fields) {
        pug_armv7_set_address(&packet->address, bytes[0], 7);
        data->updated_address = true;
        return 1;
    }
    uint32_t value = 0;
    size_t length = parse_cycle_count(bytes, size, &value);
    pug_armv7_set_address(&data->address, value, length == 5 ? 32 : (unsigned)length * 7);
    data->updated_address = true;
    if (length == 5) {
        data->big_endian = bytes[4] & 0x10;
        data->updated_big_endian = true;
    }
    return length;
}

/** Address and value of a data packet, as many of them as its header and the settings say. */
static void parse_data(struct pug_etmv3_reader *reader, const uint8_t *bytes, size_t size,
                       bool has_address, unsigned value_bytes)
{
    struct pug_etmv3_data *data = &reader->packet.data;
    size_t at = 1;
    if (has_address && reader->config->data_addresses)
        at += parse_data_address(reader, bytes + at, size - at);
    if (size - at > value_bytes && !reader->stage->quirks.etmv3_data_fields)
        at = size - value_bytes;
    data->value = pug_armv7_little_endian(bytes + at, value_bytes);
}

void pug_etmv3_parse(struct pug_etmv3_reader *reader, const uint8_t *bytes, size_t size)
{
    static const uint8_t value_bytes[4] = {0, 1, 2, 4};
    struct pug_etmv3_packet *packet = &reader->packet;
    uint8_t header = bytes[0];
    unsigned value = value_bytes[header >> 2 & 3];
    switch (packet->type) {
    case TYPE(P_HDR): pug_etmv3_parse_p_header(reader, header); break;
    case TYPE(BRANCH_ADDRESS): pug_etmv3_parse_branch(reader, bytes, size, &packet->address); break;
    case TYPE(CYCLE_COUNT): parse_cycle_count(bytes + 1, size - 1, &packet->cycle_count); break;
    case TYPE(I_SYNC):
    case TYPE(I_SYNC_CYCLE): parse_isync(reader, bytes, size); break;
    case TYPE(VMID):
        packet->context.vmid = bytes[1];
        packet->context.updated_vmid = true;
        break;
    case TYPE(CONTEXT_ID): parse_context_id(reader, bytes); break;
    case TYPE(TIMESTAMP):
        pug_armv7_parse_timestamp(bytes + 1, size - 1, reader->config->timestamp_bytes,
                                  &packet->timestamp, &packet->timestamp_bits);
        packet->clock_changed = header & 0x04;
        break;
    case TYPE(OOO_DATA):
        packet->data.tag = header >> 5 & 3;
        packet->data.updated_value = true;
        parse_data(reader, bytes, size, false, value);
        break;
    case TYPE(OOO_ADDR_PLC): parse_data(reader, bytes, size, header & 0x20, 0); break;
    case TYPE(NORM_DATA):
        packet->data.updated_value =
            reader->config->data_values || reader->stage->quirks.etmv3_data_fields;
        parse_data(reader, bytes, size, header & 0x20, value);
        break;
    case TYPE(VAL_NOT_TRACED):
        parse_data(reader, bytes, size,
                   header & (reader->stage->quirks.etmv3_untraced_has_address ? 0x20 : 0x10), 0);
        break;
    case TYPE(DATA_SUPPRESSED): /* up to ETMv3.2 a whole address must come before short ones */
        if (reader->config->minor <= 2)
            packet->data.address.valid_bits = 0;
        break;
    default: break;
    }
    if (reader->oversized && packet->type < TYPE(BAD_SEQUENCE))
        pug_etmv3_malformed(reader, PUG_ERR_PACKET_SEQUENCE,
                            "Malformed Packet - oversized packet.");
}
