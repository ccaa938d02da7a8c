// SPDX-License-Identifier: MIT
#include "support/wire.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

uint32_t wire_below(struct wire *wire, uint32_t limit)
{
    return rec_random_below(&wire->random, limit);
}

void wire_put(struct wire *wire, uint64_t value, unsigned width)
{
    assert_true(wire->count + width <= WIRE_BITS);
    for (unsigned i = 0; i < width; i++)
        wire->bits[wire->count++] = i < 64 ? value >> i & 1 : 0;
}

void wire_put_packet(struct wire *wire, struct wire_packet *packet, enum wire_filling filling)
{
    unsigned shared = wire->src_bits % 8;
    unsigned payload = packet->type_bits + packet->bits;
    unsigned length = (payload + shared + 7) / 8; /* header.length, "Packet Length" */
    assert_true(length >= 1 && length <= 31);
    packet->at = wire->count;
    wire_put(wire, length, 5);
    wire_put(wire, packet->flow, 2);
    wire_put(wire, packet->has_time, 1);
    wire_put(wire, packet->source, wire->src_bits);
    if (packet->has_time)
        wire_put(wire, packet->time, 8 * wire->timestamp_bytes);
    wire_put(wire, packet->type, packet->type_bits);
    for (unsigned i = 0; i < packet->bits; i++)
        wire_put(wire, packet->payload[i / 8] >> i % 8 & 1, 1);
    unsigned sign = wire->bits[wire->count - 1];
    for (unsigned left = 8 * length - shared - payload; left > 0; left--)
        wire_put(wire,
                 filling == FILL_SIGN  ? sign
                 : filling == FILL_ANY ? wire_below(wire, 2)
                                       : filling == FILL_ONE,
                 1);
    packet->end = wire->count;
}

void wire_put_null(struct wire *wire, bool alignment, unsigned flow)
{
    wire_put(wire, 0, 5);
    wire_put(wire, flow, 2);
    wire_put(wire, alignment, 1);
}

unsigned wire_most_nulls(const struct wire *wire)
{
    return 31 + wire->timestamp_bytes + wire->src_bits / 8;
}

void wire_put_sequence(struct wire *wire, unsigned more)
{
    for (unsigned i = wire_most_nulls(wire) + more; i > 0; i--)
        wire_put_null(wire, false, 0);
    wire_put_null(wire, true, 0);
}

void wire_random_packet(struct wire *wire, struct wire_packet *packet, unsigned type_bits)
{
    *packet =
        (struct wire_packet){.source = (uint16_t)wire_below(wire, UINT32_C(1) << wire->src_bits),
                             .flow = (uint8_t)wire_below(wire, 4),
                             .type_bits = type_bits};
    packet->type = (uint32_t)rec_random(&wire->random);
    if (type_bits < 32)
        packet->type &= (UINT32_C(1) << type_bits) - 1;
    packet->has_time = wire->timestamp_bytes > 0 && wire_below(wire, 2);
    packet->time = rec_random(&wire->random);
    if (wire->timestamp_bytes < 8)
        packet->time &= (UINT64_C(1) << 8 * wire->timestamp_bytes) - 1;
    /* whole bytes, as many as there may be */
    unsigned most = (248 - type_bits - wire->src_bits % 8) / 8;
    packet->bits = 8 * (1 + wire_below(wire, wire_below(wire, 4) ? 8 : most));
    for (unsigned i = 0; i < packet->bits / 8; i++)
        packet->payload[i] = (uint8_t)rec_random(&wire->random);
}

uint8_t *wire_bytes(const struct wire *wire, size_t from, size_t *size)
{
    size_t count = wire->count - from;
    *size = (count + 7) / 8;
    uint8_t *bytes = calloc(*size + 1, 1);
    assert_non_null(bytes);
    for (size_t i = 0; i < count; i++)
        bytes[i / 8] |= (uint8_t)(wire->bits[from + i] << i % 8);
    return bytes;
}

void wire_lose_bits(struct wire *wire, size_t at, size_t count)
{
    memmove(wire->bits + at, wire->bits + at + count, wire->count - at - count);
    wire->count -= count;
}

void wire_set(struct wire_setup *setup, const char *name, uint64_t value)
{
    setup->items[setup->count++] = (struct pug_setting){.name = name, .value = value};
}

struct pug_settings wire_settings(const struct wire_setup *setup)
{
    return (struct pug_settings){.items = setup->items, .count = setup->count};
}

struct wire_setup wire_begin(struct wire *wire, uint64_t seed, unsigned type_bits)
{
    struct wire_setup setup = {.count = 0};
    wire->random = (struct rec_random){seed};
    wire->count = 0;
    wire->src_bits = wire_below(wire, 17);
    wire->timestamp_bytes = wire_below(wire, 2) ? wire_below(wire, 9) : 0;
    wire_set(&setup, "src_bits", wire->src_bits);
    wire_set(&setup, "timestamp_bytes", wire->timestamp_bytes);
    wire_set(&setup, "type_bits", type_bits);
    return setup;
}
