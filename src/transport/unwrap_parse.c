// SPDX-License-Identifier: MIT
/** @file One packet of each wrapping: header, source, timestamp, type, payload. */
#include "base/bytes.h"
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
    if (width > 0 && from % 8 + width <= 8)
        return bytes[from / 8] >> from % 8 & ((1u << width) - 1);
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

static uint8_t kind_of_type(const struct pug_unwrap_config *config,
                            const struct pug_unwrap_types *types, unsigned type)
{
    if (types->bits == 0)
        return config->only_data ? PUG_PAYLOAD_DATA : PUG_PAYLOAD_INSTRUCTION;
    if (type == types->instruction)
        return PUG_PAYLOAD_INSTRUCTION;
    return type == types->data ? PUG_PAYLOAD_DATA : PUG_PAYLOAD_OTHER;
}

/**
 * The payload is `bits` bits from bit `from` of the body. Its last byte is completed by copies of
 * its last bit; where padding may be anything, what is no whole byte is left out.
 */
static void take_payload(const struct pug_unwrap_config *config, const uint8_t *body, unsigned from,
                         unsigned bits, uint8_t *scratch, struct pug_unwrapped *packet)
{
    unsigned whole = bits / 8, rest = bits % 8;
    if (config->padding == PUG_PADDING_ANY && rest > 0)
        bits -= rest, rest = 0;
    packet->bits = bits;
    packet->size = whole + (rest > 0);
    packet->payload = body + from / 8;
    if (from % 8 == 0)
        return; /* then `rest` is 0 too: the body ends with a byte */
    const uint8_t *const bytes = packet->payload;
    for (unsigned i = 0; i < whole; i++)
        scratch[i] = (uint8_t)(bytes[i] >> from % 8 | bytes[i + 1] << (8 - from % 8));
    if (rest > 0) {
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
    packet->null = length == 0;
    if (packet->null)
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
    const struct pug_unwrap_types *types = pug_unwrap_types_of(config, packet->source);
    if (from + types->bits > 8 * bytes)
        return PUG_PARSED_BAD;
    packet->type = (uint32_t)field(body, from, types->bits);
    packet->kind = kind_of_type(config, types, packet->type);
    from += types->bits;
    take_payload(config, body, from, 8 * bytes - from, scratch, packet);
    return PUG_PARSED;
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
                                                   : PUG_PAYLOAD_OTHER;
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
    packet->null = at[0] == 0; /* filler, or of an anchor */
    if (packet->null)
        return PUG_PARSED;
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
    packet->null = length == 0;
    return PUG_PARSED;
}

static enum pug_unwrap_parsed parse_other(const struct pug_unwrap_config *config, const uint8_t *at,
                                          size_t size, uint8_t *scratch,
                                          struct pug_unwrapped *packet)
{
    switch (config->wrapping) {
    case PUG_WRAP_SMI: return parse_smi(config, at, size, packet);
    case PUG_WRAP_ESP32: return parse_esp32(config, at, size, packet);
    case PUG_WRAP_PULP: return parse_pulp(config, at, size, scratch, packet);
    case PUG_WRAP_RAW: return parse_raw(config, at, size, packet);
    default: return PUG_PARSED_BAD;
    }
}

enum pug_unwrap_parsed pug_unwrap_parse(const struct pug_unwrap_config *config, const uint8_t *at,
                                        size_t size, uint8_t scratch[PUG_UNWRAP_LONGEST],
                                        struct pug_unwrapped *packet)
{
    *packet = (struct pug_unwrapped){.raw = at, .length = 1};
    if (size == 0)
        return PUG_PARSED_SHORT;
    if (config->wrapping == PUG_WRAP_ENCAPSULATION)
        return parse_encapsulation(config, at, size, scratch, packet);
    enum pug_unwrap_parsed parsed = parse_other(config, at, size, scratch, packet);
    packet->bits = 8 * packet->size;
    return parsed;
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

/** Of the encapsulation any type and source will do: what else the wire carries is not known. */
bool pug_unwrap_plausible(const struct pug_unwrap_config *config,
                          const struct pug_unwrapped *previous, const struct pug_unwrapped *packet)
{
    if (packet->null)
        return true;
    switch (config->wrapping) {
    case PUG_WRAP_ENCAPSULATION: return !(packet->extend && config->timestamp_bytes == 0);
    case PUG_WRAP_SMI: return packet->source >> config->src_bits == 0;
    case PUG_WRAP_ESP32: return !previous || packet->type == (uint16_t)(previous->type + 1);
    default: return true;
    }
}

#define ONES UINT64_C(0x0101010101010101)

/** Of eight bytes those from `low` to `high`, which are below 0x80: the highest bit of each. */
static inline uint64_t within(uint64_t bytes, unsigned low, unsigned high)
{
    const uint64_t rest = bytes & 0x7f * ONES;
    return (rest + (0x80 - low) * ONES) & ~(rest + (0x7f - high) * ONES) & ~bytes & 0x80 * ONES;
}

/** Eight places at which records may end. */
static inline uint64_t pulp_ends(const uint8_t *at)
{
    return within(pug_bytes_64(at + PULP_RECORD - 1) ^ 0x80 * ONES, 1, 0x1f);
}

/** At which of eight places may chains of packets begin? The highest bit of each byte. */
static inline uint64_t may_begin(enum pug_wrapping wrapping, const uint8_t *at)
{
    switch (wrapping) {
    case PUG_WRAP_ESP32: {
        const uint64_t bytes = pug_bytes_64(at);
        return within(bytes, 0, 0) | within(bytes, ESP_HEADER + 1, ESP_LONGEST);
    }
    case PUG_WRAP_SMI: return within(pug_bytes_64(at) & 0x1f * ONES, 1, 0x1f);
    case PUG_WRAP_PULP:
        return pulp_ends(at) & pulp_ends(at + PULP_RECORD) & pulp_ends(at + 2 * PULP_RECORD);
    default: return 0x80 * ONES;
    }
}

static inline const uint8_t *behind_esp32(const uint8_t *at)
{
    return at + (*at ? *at : 1);
}

static inline bool is_esp32(const uint8_t *at)
{
    return *at == 0 || (*at > ESP_HEADER && *at <= ESP_LONGEST);
}

/** May it be that a chain begins here, where one may begin? */
static inline bool is_hopeful(const struct pug_unwrap_config *config, enum pug_wrapping wrapping,
                              const uint8_t *at)
{
    switch (wrapping) {
    case PUG_WRAP_ENCAPSULATION:
        return !(at[0] & 0x1f) || !(at[0] >> 7) || config->timestamp_bytes > 0;
    case PUG_WRAP_ESP32: at = behind_esp32(at); return is_esp32(at) && is_esp32(behind_esp32(at));
    default: return true;
    }
}

static inline unsigned count_hopeless(const struct pug_unwrap_config *config,
                                      enum pug_wrapping wrapping, const uint8_t *at, unsigned limit)
{
    for (unsigned count = 0; count < limit; count += 8)
        for (uint64_t left = may_begin(wrapping, at + count); left; left &= left - 1) {
            const unsigned place = count + (unsigned)__builtin_ctzll(left) / 8;
            if (place >= limit)
                break;
            if (is_hopeful(config, wrapping, at + place))
                return place;
        }
    return limit;
}

unsigned pug_unwrap_hopeless(const struct pug_unwrap_config *config, const uint8_t *at,
                             unsigned limit)
{
    switch (config->wrapping) { /* each a loop of its own */
    case PUG_WRAP_ESP32: return count_hopeless(config, PUG_WRAP_ESP32, at, limit);
    case PUG_WRAP_PULP: return count_hopeless(config, PUG_WRAP_PULP, at, limit);
    case PUG_WRAP_SMI: return count_hopeless(config, PUG_WRAP_SMI, at, limit);
    default: return count_hopeless(config, config->wrapping, at, limit);
    }
}

bool pug_unwrap_is_support(const struct pug_unwrapped *packet)
{
    enum { LONGEST = 6, OFF = 0x0f, ON = 0x1f };
    return packet->kind == PUG_PAYLOAD_INSTRUCTION && packet->size > 0 && packet->size <= LONGEST &&
           (packet->payload[0] == OFF || packet->payload[0] == ON);
}
