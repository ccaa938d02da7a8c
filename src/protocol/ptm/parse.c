// SPDX-License-Identifier: MIT
/** @file PTM: what the bytes of a packet say. */
#include "protocol/ptm/reader.h"

#define TYPE(name) PUG_PTM_##name

/* ---- fields ---- */

/** Cycle count: 4 bits in the first byte, then 7 a byte, five bytes at most. Returns its length. */
static size_t parse_cycles(struct pug_ptm_packet *packet, const uint8_t *bytes, size_t size)
{
    if (size == 0)
        return 0;
    uint64_t value = bytes[0] >> 2 & 0x0f;
    bool more = bytes[0] & 0x40;
    size_t at = 1;
    for (; more && at < size && at < 5; at++) {
        value |= (uint64_t)(bytes[at] & 0x7f) << (7 * at - 3);
        more = bytes[at] & 0x80;
    }
    packet->cycle_count = (uint32_t)value;
    packet->has_cycle_count = true;
    return at;
}

static bool is_thumb(uint8_t isa)
{
    return isa != PUG_ISA_A32 && isa != PUG_ISA_JAZELLE; /* unknown is taken for Thumb */
}

/** The ISA of an address: of its fifth byte, or the one before; Thumb or ThumbEE by AltISA. */
static void set_isa(struct pug_ptm_reader *reader, bool fifth, uint8_t byte)
{
    struct pug_ptm_packet *packet = &reader->packet;
    if (fifth)
        packet->isa = byte & 0x20 ? PUG_ISA_JAZELLE : byte & 0x10 ? PUG_ISA_T32 : PUG_ISA_A32;
    if (packet->isa == PUG_ISA_TEE && !reader->alt_isa)
        packet->isa = PUG_ISA_T32;
    else if (packet->isa == PUG_ISA_T32 && reader->alt_isa)
        packet->isa = PUG_ISA_TEE;
}

/** Exception bytes: security, number, AltISA, Hyp. Returns their length. */
static size_t parse_exception(struct pug_ptm_reader *reader, const uint8_t *bytes)
{
    struct pug_ptm_packet *packet = &reader->packet;
    uint16_t number = bytes[0] >> 1 & 0x0f;
    size_t length = 1;
    packet->context.non_secure = bytes[0] & 0x01;
    packet->context.updated = true;
    reader->alt_isa = bytes[0] & 0x40;
    if (bytes[0] & 0x80) {
        number |= (uint16_t)((bytes[1] & 0x1f) << 4);
        packet->context.hyp = bytes[1] & 0x20;
        length = 2;
    }
    packet->context.alt_isa = reader->alt_isa;
    packet->exception = (struct pug_ptm_exception){.number = number, .present = true};
    packet->exception.type =
        number == 5 ? PUG_EXC_THUMBEE_CHECK_FAIL : pug_armv7_exception_type(number);
    return length;
}

/* ---- packets ---- */

/** A compressed address in `bytes`, and what follows it up to the cycle count. Their length. */
static size_t parse_address(struct pug_ptm_reader *reader, const uint8_t *bytes)
{
    struct pug_ptm_packet *packet = &reader->packet;
    uint64_t value = bytes[0] & 0x7e;
    unsigned bits = 7;
    size_t length = 1;
    while ((bytes[length - 1] & 0x80) && length < 4) {
        bool last = !(bytes[length] & 0x80);
        value |= (uint64_t)(bytes[length] & (last ? 0x3f : 0x7f)) << bits;
        bits += last ? 6 : 7;
        length++;
    }
    bool fifth = length == 4 && (bytes[3] & 0x80);
    if (fifth)
        length++;
    uint8_t end = bytes[length - 1];
    size_t after = length;
    if (packet->type == TYPE(BRANCH_ADDRESS) && length > 1 && (end & 0x40))
        after += parse_exception(reader, bytes + length);
    else if (packet->type == TYPE(WPOINT_UPDATE) && fifth && (end & 0x40))
        reader->alt_isa = bytes[after++] & 0x40;
    set_isa(reader, fifth, end);
    packet->has_isa = fifth;
    if (fifth) {
        unsigned top = packet->isa == PUG_ISA_JAZELLE ? 5 : is_thumb(packet->isa) ? 4 : 3;
        value |= (end & pug_armv7_mask(top)) << 28;
        bits = 28 + top;
    }
    if (packet->isa == PUG_ISA_JAZELLE)
        pug_armv7_set_address(&packet->address, value >> 1, bits - 1);
    else if (packet->isa == PUG_ISA_A32)
        pug_armv7_set_address(&packet->address, value << 1, bits + 1);
    else
        pug_armv7_set_address(&packet->address, value, bits);
    return after;
}

static void parse_isync(struct pug_ptm_reader *reader, const uint8_t *bytes, size_t size)
{
    struct pug_ptm_packet *packet = &reader->packet;
    uint32_t address = pug_armv7_little_endian(bytes + 1, 4);
    uint8_t info = bytes[5];
    size_t at = 6;
    packet->isync_reason = info >> 5 & 3;
    packet->context.non_secure = info & 0x08;
    packet->context.alt_isa = info & 0x04;
    packet->context.hyp = info & 0x02;
    packet->context.updated = true;
    packet->isa = !(address & 1) ? PUG_ISA_A32 : info & 0x04 ? PUG_ISA_TEE : PUG_ISA_T32;
    if (!reader->stage->quirks.ptm_alt_isa_apart)
        reader->alt_isa = packet->isa == PUG_ISA_TEE;
    pug_armv7_set_address(&packet->address, address & ~UINT32_C(1), 32);
    if (reader->config->cycle_accurate && packet->isync_reason != PUG_ISYNC_PERIODIC)
        at += parse_cycles(packet, bytes + at, size - at);
    if (reader->config->context_id_bytes > 0) {
        packet->context.context_id =
            pug_armv7_little_endian(bytes + at, reader->config->context_id_bytes);
        packet->context.updated_context_id = true;
    }
}

static void parse_timestamp(struct pug_ptm_reader *reader, const uint8_t *bytes, size_t size)
{
    struct pug_ptm_packet *packet = &reader->packet;
    size_t at = 1 + pug_armv7_parse_timestamp(bytes + 1, size - 1, reader->config->timestamp_bytes,
                                              &packet->timestamp, &packet->timestamp_bits);
    packet->clock_changed = bytes[0] & 0x04;
    if (reader->config->cycle_accurate)
        parse_cycles(packet, bytes + at, size - at);
}

static void parse_atoms(struct pug_ptm_reader *reader, const uint8_t *bytes, size_t size)
{
    struct pug_ptm_packet *packet = &reader->packet;
    uint8_t header = bytes[0];
    packet->atoms.bits = reader->config->atoms[header].bits;
    packet->atoms.count = reader->config->atoms[header].count;
    if (reader->config->cycle_accurate)
        parse_cycles(packet, bytes, size);
}

void pug_ptm_parse(struct pug_ptm_reader *reader, const uint8_t *bytes, size_t size)
{
    struct pug_ptm_packet *packet = &reader->packet;
    size_t at;
    switch (packet->type) {
    case TYPE(BRANCH_ADDRESS):
        at = parse_address(reader, bytes);
        if (reader->config->cycle_accurate)
            parse_cycles(packet, bytes + at, size - at);
        break;
    case TYPE(WPOINT_UPDATE): parse_address(reader, bytes + 1); break;
    case TYPE(ATOM): parse_atoms(reader, bytes, size); break;
    case TYPE(I_SYNC): parse_isync(reader, bytes, size); break;
    case TYPE(TIMESTAMP): parse_timestamp(reader, bytes, size); break;
    case TYPE(VMID):
        packet->context.vmid = bytes[1];
        packet->context.updated_vmid = true;
        break;
    case TYPE(CONTEXT_ID):
        packet->context.context_id =
            pug_armv7_little_endian(bytes + 1, reader->config->context_id_bytes);
        packet->context.updated_context_id = true;
        break;
    default: break;
    }
}
