// SPDX-License-Identifier: MIT
/**
 * @file An encoder of the packet encapsulation, written from the specification bit by bit, so that
 * bits can be lost, and streams be cut, anywhere.
 */
#ifndef PUG_TESTS_SUPPORT_WIRE_H
#define PUG_TESTS_SUPPORT_WIRE_H

#include "pugmark/pugmark.h"
#include "recorder/bytes.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define WIRE_BITS (1u << 20)

/** A stream as bits, in their order of transmission. */
struct wire {
    struct rec_random random;
    unsigned src_bits, timestamp_bytes;
    size_t count;
    uint8_t bits[WIRE_BITS];
};

enum wire_filling { FILL_ANY, FILL_ZERO, FILL_ONE, FILL_SIGN };

struct wire_packet {
    size_t at, end; /* bits */
    uint16_t source;
    uint8_t flow;
    unsigned type_bits;
    uint32_t type;
    bool has_time;
    uint64_t time;
    unsigned bits;
    uint8_t payload[32];
};

struct wire_setup {
    struct pug_setting items[16];
    size_t count;
};

/** An empty wire, whose fields have widths as the seed has them; and the settings for it. */
struct wire_setup wire_begin(struct wire *wire, uint64_t seed, unsigned type_bits);
void wire_set(struct wire_setup *setup, const char *name, uint64_t value);
struct pug_settings wire_settings(const struct wire_setup *setup);

/** A random number below a limit. */
uint32_t wire_below(struct wire *wire, uint32_t limit);
void wire_put(struct wire *wire, uint64_t value, unsigned width);
void wire_put_packet(struct wire *wire, struct wire_packet *packet, enum wire_filling filling);
void wire_put_null(struct wire *wire, bool alignment, unsigned flow);
/** No packet is so long as so many nulls. */
unsigned wire_most_nulls(const struct wire *wire);
/** "N consecutive null.idle packets, directly followed by one null.alignment packet" */
void wire_put_sequence(struct wire *wire, unsigned more);
void wire_random_packet(struct wire *wire, struct wire_packet *packet, unsigned type_bits);
/**
 * The wire's bits from one on, as bytes; the last one is filled with zeros. The caller frees it.
 */
uint8_t *wire_bytes(const struct wire *wire, size_t from, size_t *size);
/** Lose so many bits at a place. */
void wire_lose_bits(struct wire *wire, size_t at, size_t count);

#endif
