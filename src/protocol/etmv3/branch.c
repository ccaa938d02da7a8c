// SPDX-License-Identifier: MIT
/** @file ETMv3: branch addresses and their exception bytes. */
#include "protocol/etmv3/reader.h"

/** Bytes that may run out. */
struct cursor {
    const uint8_t *at, *end;
    bool out; /**< they did */
};

static uint8_t next_byte(struct cursor *cursor)
{
    if (cursor->at < cursor->end)
        return *cursor->at++;
    cursor->out = true;
    return 0;
}

/* ---- exceptions ---- */

static const uint8_t m_types[0x18] = {
    [0x00] = PUG_EXC_NO_EXCEPTION,    [0x01] = PUG_EXC_M_IRQ,        [0x02] = PUG_EXC_M_IRQ,
    [0x03] = PUG_EXC_M_IRQ,           [0x04] = PUG_EXC_M_IRQ,        [0x05] = PUG_EXC_M_IRQ,
    [0x06] = PUG_EXC_M_IRQ,           [0x07] = PUG_EXC_M_IRQ,        [0x08] = PUG_EXC_M_IRQ,
    [0x09] = PUG_EXC_M_USAGE_FAULT,   [0x0a] = PUG_EXC_M_NMI,        [0x0b] = PUG_EXC_SVC,
    [0x0c] = PUG_EXC_M_DEBUG_MONITOR, [0x0d] = PUG_EXC_M_MEM_MANAGE, [0x0e] = PUG_EXC_M_PEND_SV,
    [0x0f] = PUG_EXC_M_SYS_TICK,      [0x11] = PUG_EXC_RESET,        [0x13] = PUG_EXC_M_HARD_FAULT,
    [0x15] = PUG_EXC_M_BUS_FAULT, /* the others are reserved */
};

/** Exceptions in address byte 5, a deprecated form: what they are, and their modern numbers. */
static const struct {
    uint8_t type, number;
} old_exceptions[8] = {
    {PUG_EXC_RESET, 8},   {PUG_EXC_IRQ, 14}, {PUG_EXC_RESERVED, 6},         {PUG_EXC_RESERVED, 6},
    {PUG_EXC_JAZELLE, 5}, {PUG_EXC_FIQ, 15}, {PUG_EXC_ASYNC_DATA_ABORT, 4}, {PUG_EXC_DEBUG_HALT, 1},
};

static uint16_t m_irq(uint16_t number)
{
    if (number > 0x18)
        return number - 0x10;
    return number == 8 ? 0 : number;
}

static void set_m_exception(struct pug_etmv3_exception *exception, uint16_t number)
{
    exception->number = number;
    exception->m_profile = true;
    exception->type = number < sizeof(m_types) ? m_types[number] : PUG_EXC_M_IRQ;
    exception->irq = exception->type == PUG_EXC_M_IRQ ? m_irq(number) : 0;
}

static bool has_m_exceptions(const struct pug_etmv3_reader *reader)
{
    return reader->config->m_profile && !(reader->stage->quirks.etmv3_v8m_is_not_m &&
                                          reader->config->registers.arch >= PUG_ARCH_V8);
}

static bool may_have_m_exceptions(const struct pug_etmv3_reader *reader)
{
    return reader->config->registers.profile == PUG_PROFILE_UNKNOWN &&
           !pug_quirks_any(&reader->stage->quirks);
}

/** Of an unknown profile the numbers have names outside of T32 code, where they are the A's. */
static void settle_exception(const struct pug_etmv3_reader *reader, struct pug_etmv3_packet *packet)
{
    struct pug_etmv3_exception *exception = &packet->exception;
    if (!exception->present || !may_have_m_exceptions(reader))
        return;
    exception->unnamed = packet->isa == PUG_ISA_T32 && exception->number > 0;
    if (!exception->unnamed)
        exception->number &= 0x0f;
}

static void parse_exception(struct pug_etmv3_reader *reader, struct cursor *cursor)
{
    struct pug_etmv3_packet *packet = &reader->packet;
    struct pug_etmv3_exception *exception = &packet->exception;
    uint8_t byte = next_byte(cursor);
    if (cursor->out)
        return;
    uint16_t number = byte >> 1 & 0x0f;
    packet->context.non_secure = byte & 0x01;
    packet->context.alt_isa = byte & 0x40;
    packet->context.updated = true;
    exception->present = true;
    exception->cancel = byte & 0x20;
    exception->resume = 0;
    if (byte & 0x80) {
        byte = next_byte(cursor);
        bool last = byte & 0x40; /* byte 1 is left out, this is byte 2 */
        if (!last) {
            if (has_m_exceptions(reader) || may_have_m_exceptions(reader))
                number |= (uint16_t)((byte & 0x1f) << 4);
            packet->context.hyp = byte & 0x20;
            last = byte & 0x80;
            byte = last ? next_byte(cursor) : 0;
        }
        if (last)
            exception->resume = byte & 0x0f;
    }
    exception->unnamed = false;
    if (has_m_exceptions(reader)) {
        set_m_exception(exception, number);
        return;
    }
    exception->number = number;
    exception->type = pug_armv7_exception_type(number);
    exception->m_profile = false;
    exception->irq = 0;
}

static void set_old_exception(struct pug_etmv3_reader *reader, uint8_t byte)
{
    struct pug_etmv3_exception *exception = &reader->packet.exception;
    unsigned number = byte >> 3 & 7;
    *exception = (struct pug_etmv3_exception){.present = true,
                                              .cancel = byte & 0x40,
                                              .type = old_exceptions[number].type,
                                              .number = old_exceptions[number].number};
    if (reader->stage->quirks.etmv3_old_exceptions) {
        exception->number = (uint16_t)number;
        exception->m_profile = has_m_exceptions(reader);
    }
}

/* ---- addresses ---- */

static void set_isa(struct pug_etmv3_packet *packet, uint8_t isa)
{
    packet->previous_isa = packet->isa;
    packet->isa = isa;
    packet->has_isa = true;
}

/** Address byte 5: the ISA and the top of the address. False: it is malformed. */
static bool parse_byte5(struct pug_etmv3_reader *reader, struct cursor *cursor, uint8_t *byte)
{
    struct pug_etmv3_packet *packet = &reader->packet;
    *byte = next_byte(cursor);
    if (cursor->out)
        return true;
    if (*byte & 0x80) {
        set_isa(packet, PUG_ISA_A32);
        set_old_exception(reader, *byte);
        return true;
    }
    if (*byte & 0x40)
        parse_exception(reader, cursor);
    if (cursor->out)
        return true;
    switch (*byte >> 3 & 7) {
    case 0: return false;
    case 1: set_isa(packet, PUG_ISA_A32); break;
    case 2:
    case 3: set_isa(packet, packet->context.alt_isa ? PUG_ISA_TEE : PUG_ISA_T32); break;
    default: set_isa(packet, PUG_ISA_JAZELLE);
    }
    return true;
}

void pug_etmv3_parse_branch(struct pug_etmv3_reader *reader, const uint8_t *bytes, size_t size,
                            struct pug_armv7_address *address)
{
    struct pug_etmv3_packet *packet = &reader->packet;
    struct cursor cursor = {bytes, bytes + size, false};
    bool alternative = reader->config->alternative_branches, known = true;
    uint8_t byte = next_byte(&cursor);
    uint64_t value = (byte & 0x7e) >> 1;
    unsigned bits = 6, number = 1, top = 0;
    while ((byte & 0x80) && number < 4) {
        byte = next_byte(&cursor);
        number++;
        bool last = alternative && !(byte & 0x80);
        if (last && (byte & 0x40))
            parse_exception(reader, &cursor);
        value |= (uint64_t)(byte & (last ? 0x3f : 0x7f)) << bits;
        bits += last ? 6 : 7;
    }
    uint8_t byte5 = 0;
    if (byte & 0x80) {
        known = parse_byte5(reader, &cursor, &byte5);
        top = packet->isa == PUG_ISA_JAZELLE                             ? 5
              : packet->isa == PUG_ISA_T32 || packet->isa == PUG_ISA_TEE ? 4
                                                                         : 3;
        value |= (byte5 & pug_armv7_mask(top)) << 27;
        bits = 27 + top;
    }
    if (cursor.out) {
        pug_etmv3_malformed(reader, PUG_ERR_PACKET_SEQUENCE,
                            "Malformed Packet - oversized packet.");
        return;
    }
    if (!known) {
        pug_etmv3_malformed(reader, PUG_ERR_PACKET_SEQUENCE, "Malformed Packet - Unknown ISA.");
        return;
    }
    unsigned shift = packet->isa == PUG_ISA_JAZELLE                             ? 0
                     : packet->isa == PUG_ISA_T32 || packet->isa == PUG_ISA_TEE ? 1
                                                                                : 2;
    pug_armv7_set_address(address, value << shift, bits + shift);
    settle_exception(reader, packet);
}
