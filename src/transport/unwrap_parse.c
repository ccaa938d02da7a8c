// SPDX-License-Identifier: MIT
/** @file One packet of each wrapping: header, source, timestamp, type, payload. */
#include "transport/unwrap.h"

#include <limits.h>
#include <string.h>

#define SMI_INSTRUCTION 2u
#define SMI_DATA        3u
#define PULP_RECORD     40u
#define PULP_PAYLOAD    31u
#define ESP_HEADER      3u
#define ESP_LONGEST     13u
#define ESP_ANCHOR      14u /* zero bytes */

/** `width` bits (at most 64) from bit `from` on, least significant first. */
static uint64_t field(const uint8_t *bytes, unsigned from, unsigned width)
{
    uint64_t value = 0;
    for (unsigned got = 0; got < width;) {
        unsigned shift = (from + got) % 8, here = 8 - shift;
        if (here > width - got)
            here = width - got;
        uint64_t part = (uint64_t)(bytes[(from + got) / 8] >> shift) & ((1u << here) - 1);
        value |= part << got;
        got += here;
    }
    return value;
}

/* ---- RISC-V packet encapsulation ---- */

static unsigned type_width(const struct pug_unwrap_config *config, uint16_t source)
{
    for (unsigned i = 0; i < config->type_count; i++)
        if (config->types[i].source == source)
            return config->types[i].bits;
    return config->type_bits;
}

static uint8_t kind_of_type(const struct pug_unwrap_config *config, unsigned width, unsigned type)
{
    if (width == 0)
        return config->only_data ? PUG_PAYLOAD_DATA : PUG_PAYLOAD_INSTRUCTION;
    if (type == config->instruction_type)
        return PUG_PAYLOAD_INSTRUCTION;
    return type == config->data_type ? PUG_PAYLOAD_DATA : PUG_PAYLOAD_UNKNOWN;
}

/**
 * The payload is `bits` bits from bit `from` of the body. Padding: with `floor` the incomplete last
 * byte is left out, else it is completed by copies of its last bit.
 */
static void take_payload(const struct pug_unwrap_config *config, const uint8_t *body, unsigned from,
                         unsigned bits, uint8_t *scratch, struct pug_unwrapped *packet)
{
    unsigned whole = bits / 8, rest = bits % 8;
    packet->size = config->floor || rest == 0 ? whole : whole + 1;
    packet->payload = body + from / 8;
    if (from % 8 == 0)
        return; /* then `rest` is 0 too: the body ends with a byte */
    for (unsigned i = 0; i < whole; i++)
        scratch[i] = (uint8_t)field(body, from + 8 * i, 8);
    if (packet->size > whole) {
        unsigned last = (unsigned)field(body, from + 8 * whole, rest);
        if (last >> (rest - 1) & 1)
            last |= 0xffu << rest;
        scratch[whole] = (uint8_t)last;
    }
    packet->payload = scratch;
}

static enum pug_unwrap_parsed parse_encapsulation(const struct pug_unwrap_config *config,
                                                  const uint8_t *at, size_t size, uint8_t *scratch,
                                                  struct pug_unwrapped *packet)
{
    unsigned length = at[0] & 0x1f;
    packet->flow = at[0] >> 5 & 3;
    packet->extend = at[0] >> 7;
    packet->length = 1;
    if (length == 0)
        return PUG_PARSED;
    unsigned stamp = packet->extend ? config->timestamp_bytes : 0;
    unsigned bytes = config->src_bits / 8 + stamp + length;
    packet->length = 1 + bytes;
    if (size < packet->length)
        return PUG_PARSED_SHORT;
    const uint8_t *body = at + 1;
    unsigned from = config->src_bits;
    packet->source = (uint16_t)field(body, 0, from);
    packet->timestamp = field(body, from, 8 * stamp);
    packet->timestamp_bits = (uint8_t)(8 * stamp);
    from += 8 * stamp;
    unsigned width = type_width(config, packet->source);
    if (from + width >= 8 * bytes)
        return PUG_PARSED_BAD;
    packet->type = (uint16_t)field(body, from, width);
    packet->kind = kind_of_type(config, width, packet->type);
    from += width;
    take_payload(config, body, from, 8 * bytes - from, scratch, packet);
    return packet->size > 0 ? PUG_PARSED : PUG_PARSED_BAD;
}

/* ---- the others ---- */

static enum pug_unwrap_parsed parse_smi(const struct pug_unwrap_config *config, const uint8_t *at,
                                        size_t size, struct pug_unwrapped *packet)
{
    unsigned length = at[0] & 0x1f, tag = at[0] >> 7 ? 2 : 0, hart = (config->src_bits + 7) / 8;
    packet->length = 1 + tag + hart + length;
    packet->type = at[0] >> 5 & 3;
    packet->extend = at[0] >> 7;
    packet->kind = packet->type == SMI_INSTRUCTION ? PUG_PAYLOAD_INSTRUCTION
                   : packet->type == SMI_DATA      ? PUG_PAYLOAD_DATA
                                                   : PUG_PAYLOAD_UNKNOWN;
    if (length == 0) {
        packet->length = 1;
        return PUG_PARSED_BAD;
    }
    if (size < packet->length)
        return PUG_PARSED_SHORT;
    packet->timestamp = field(at + 1, 0, 8 * tag);
    packet->timestamp_bits = (uint8_t)(8 * tag);
    packet->source = (uint16_t)field(at + 1 + tag, 0, 8 * hart);
    packet->payload = at + 1 + tag + hart;
    packet->size = length;
    return PUG_PARSED;
}

static enum pug_unwrap_parsed parse_esp32(const struct pug_unwrap_config *config, const uint8_t *at,
                                          size_t size, struct pug_unwrapped *packet)
{
    packet->length = 1;
    if (at[0] == 0)
        return PUG_PARSED; /* filler, or of an anchor */
    if (at[0] <= ESP_HEADER || at[0] > ESP_LONGEST)
        return PUG_PARSED_BAD;
    packet->length = at[0];
    if (size < packet->length)
        return PUG_PARSED_SHORT;
    packet->type = (uint16_t)field(at + 1, 0, 16); /* the packet's number */
    packet->kind = config->only_data ? PUG_PAYLOAD_DATA : PUG_PAYLOAD_INSTRUCTION;
    packet->payload = at + ESP_HEADER;
    packet->size = packet->length - ESP_HEADER;
    return PUG_PARSED;
}

/** Big-endian records: payload right-justified in 31 bytes, 8 of timestamp, 0x80 | length. */
static enum pug_unwrap_parsed parse_pulp(const struct pug_unwrap_config *config, const uint8_t *at,
                                         size_t size, uint8_t *scratch,
                                         struct pug_unwrapped *packet)
{
    packet->length = PULP_RECORD;
    if (size < PULP_RECORD)
        return PUG_PARSED_SHORT;
    unsigned length = at[PULP_RECORD - 1] & 0x1f;
    if ((at[PULP_RECORD - 1] & 0xe0) != 0x80 || length == 0)
        return PUG_PARSED_BAD;
    for (unsigned i = 0; i < length; i++)
        scratch[i] = at[PULP_PAYLOAD - 1 - i];
    for (unsigned i = PULP_PAYLOAD; i < PULP_RECORD - 1; i++)
        packet->timestamp = packet->timestamp << 8 | at[i];
    packet->timestamp_bits = 64;
    packet->kind = config->only_data ? PUG_PAYLOAD_DATA : PUG_PAYLOAD_INSTRUCTION;
    packet->payload = scratch;
    packet->size = length;
    return PUG_PARSED;
}

static enum pug_unwrap_parsed parse_raw(const struct pug_unwrap_config *config, const uint8_t *at,
                                        size_t size, struct pug_unwrapped *packet)
{
    unsigned header = config->fixed ? 0 : 1;
    unsigned length = config->fixed ? config->fixed : at[0] & 0x1fu;
    packet->length = header + length;
    if (size < packet->length)
        return PUG_PARSED_SHORT;
    packet->kind = config->only_data ? PUG_PAYLOAD_DATA : PUG_PAYLOAD_INSTRUCTION;
    packet->payload = at + header;
    packet->size = length;
    return PUG_PARSED;
}

enum pug_unwrap_parsed pug_unwrap_parse(const struct pug_unwrap_config *config, const uint8_t *at,
                                        size_t size, uint8_t scratch[PUG_UNWRAP_LONGEST],
                                        struct pug_unwrapped *packet)
{
    *packet = (struct pug_unwrapped){.raw = at, .length = 1};
    if (size == 0)
        return PUG_PARSED_SHORT;
    switch (config->wrapping) {
    case PUG_WRAP_ENCAPSULATION: return parse_encapsulation(config, at, size, scratch, packet);
    case PUG_WRAP_SMI: return parse_smi(config, at, size, packet);
    case PUG_WRAP_ESP32: return parse_esp32(config, at, size, packet);
    case PUG_WRAP_PULP: return parse_pulp(config, at, size, scratch, packet);
    case PUG_WRAP_RAW: return parse_raw(config, at, size, packet);
    }
    return PUG_PARSED_BAD;
}

/* ---- what the search needs to know ---- */

unsigned pug_unwrap_longest(const struct pug_unwrap_config *config)
{
    switch (config->wrapping) {
    case PUG_WRAP_ENCAPSULATION: return 1 + config->src_bits / 8 + config->timestamp_bytes + 31;
    case PUG_WRAP_SMI: return 1 + 2 + (config->src_bits + 7) / 8 + 31;
    case PUG_WRAP_ESP32: return ESP_LONGEST;
    case PUG_WRAP_PULP: return PULP_RECORD;
    default: return config->fixed ? config->fixed : 32;
    }
}

/** Optional timestamps count too. */
unsigned pug_unwrap_nulls(const struct pug_unwrap_config *config)
{
    switch (config->wrapping) {
    case PUG_WRAP_ENCAPSULATION: return 31 + config->timestamp_bytes + config->src_bits / 8;
    case PUG_WRAP_ESP32: return ESP_ANCHOR - 1;
    case PUG_WRAP_RAW: return config->fixed ? UINT_MAX : 31;
    default: return UINT_MAX;
    }
}

bool pug_unwrap_plausible(const struct pug_unwrap_config *config,
                          const struct pug_unwrapped *previous, const struct pug_unwrapped *packet)
{
    if (packet->size == 0)
        return true;
    switch (config->wrapping) {
    case PUG_WRAP_ENCAPSULATION:
        return !(packet->extend && config->timestamp_bytes == 0) &&
               packet->kind != PUG_PAYLOAD_UNKNOWN;
    case PUG_WRAP_SMI: return packet->source >> config->src_bits == 0;
    case PUG_WRAP_ESP32: return !previous || packet->type == (uint16_t)(previous->type + 1);
    default: return true;
    }
}

enum pug_unwrap_beginning pug_unwrap_beginning(const struct pug_unwrap_config *config,
                                               const struct pug_unwrapped *packet)
{
    if (packet->kind != PUG_PAYLOAD_INSTRUCTION || packet->size == 0)
        return PUG_BEGINNING_NONE;
    unsigned first = packet->payload[0];
    bool support = first == 0x0f || first == 0x1f; /* trace off, on */
    bool address = (first & 0x0f) == 0x03 || (first & 0x0f) == 0x07;
    if (support && packet->size <= config->longest_support)
        return first == 0x1f ? PUG_BEGINNING_CERTAIN : PUG_BEGINNING_LIKELY;
    return address && packet->size > 1 ? PUG_BEGINNING_LIKELY : PUG_BEGINNING_NONE;
}
