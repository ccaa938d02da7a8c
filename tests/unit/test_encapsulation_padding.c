// SPDX-License-Identifier: MIT
/** @file E-Trace payloads in the packet encapsulation, with padding of any kind. */
#include "pugmark/advanced/encapsulation.h"
#include "pugmark/advanced/packet.h"
#include "pugmark/advanced/packet/etrace.h"
#include "pugmark/advanced/tree.h"
#include "support/wire.h"

#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
/* cmocka.h wants the three above first */
#include <cmocka.h>

#define PACKETS 300u

static struct wire wire;
static struct wire_packet packets[PACKETS];

/** The addresses that an E-Trace reader finds in the packets. */
struct addresses {
    size_t count;
    uint64_t values[PACKETS];
};

static void on_packet(void *context, enum pug_op op, const struct pug_packet *packet)
{
    struct addresses *addresses = context;
    const struct pug_etrace_packet *etrace = packet ? packet->data : NULL;
    if (op != PUG_OP_DATA || !etrace)
        return;
    assert_int_equal(etrace->type, PUG_ETRACE_ADDRESS);
    assert_true(addresses->count < PACKETS);
    addresses->values[addresses->count++] = etrace->address;
}

static void read_addresses(const struct pug_settings *settings, const uint8_t *bytes, size_t size,
                           struct addresses *addresses)
{
    struct pug_tree *tree;
    struct pug_source *source;
    size_t used;
    addresses->count = 0;
    struct pug_tree_config config = {.transport = "encapsulation", .settings = *settings};
    struct pug_source_config etrace = {.protocol = "E-Trace", .settings = *settings};
    assert_int_equal(pug_tree_new(&config, &tree), PUG_OK);
    assert_int_equal(pug_tree_add_source(tree, &etrace, &source), PUG_OK);
    pug_source_monitor(source, on_packet, addresses);
    pug_tree_data(tree, 0, bytes, size, &used);
    pug_tree_end(tree);
    pug_tree_free(tree);
}

enum cutting { CUT_TO_BYTES, CUT_TO_BITS, CUT_NOT };

#define ADDRESS_BITS 63u /* of RV64, after a format of 2 */
#define ALL_BITS     (2 + ADDRESS_BITS + 2)

/** Format 2: an address, and two flags that are sent as differences to the bit before. */
static uint64_t address_packet(struct wire_packet *packet, enum cutting cutting, unsigned width,
                               bool exact)
{
    uint64_t value = rec_random(&wire.random) >> (63 - width);
    if (exact)
        value |= UINT64_C(1) << width;
    if (wire_below(&wire, 2))
        value = ~value;
    value &= (UINT64_C(1) << ADDRESS_BITS) - 1;
    unsigned sign = value >> (ADDRESS_BITS - 1) & 1;
    *packet = (struct wire_packet){.bits = ALL_BITS};
    for (unsigned i = 0; i < 8 * sizeof(packet->payload); i++) {
        unsigned bit = i < 2 ? i : i < 2 + ADDRESS_BITS ? (unsigned)(value >> (i - 2) & 1) : sign;
        packet->payload[i / 8] |= (uint8_t)(bit << i % 8);
    }
    if (cutting == CUT_NOT)
        return value << 1;
    unsigned bits = ALL_BITS;
    while (bits > 1 && (packet->payload[(bits - 2) / 8] >> (bits - 2) % 8 & 1) == sign)
        bits--;
    packet->bits = cutting == CUT_TO_BITS ? bits : (bits + 7) / 8 * 8;
    return value << 1;
}

struct padding {
    enum cutting cutting;
    enum wire_filling filling;
    bool bit_stream;
    bool alike;   /* cut to the bit, most payloads end with a byte, the others one bit before */
    bool foreign; /* packets of another type are between the others, filled with anything */
};

static void put_padded(const struct padding *padding, uint64_t seed, uint64_t *wanted)
{
    const unsigned type_bits = (unsigned)seed % 8;
    const unsigned shared = wire.src_bits + type_bits + 4; /* format, highest bit and sign */
    const unsigned narrow = 16 + (7 - shared % 8);
    for (size_t i = 0; i < PACKETS; i++) {
        const unsigned width =
            padding->alike ? narrow + (wire_below(&wire, 8) > 0) : 1 + wire_below(&wire, 62);
        wanted[i] = address_packet(&packets[i], padding->cutting, width, padding->alike);
        packets[i].type_bits = type_bits;
        wire_put_packet(&wire, &packets[i], padding->filling);
        if (!padding->foreign || type_bits < 2)
            continue;
        struct wire_packet other = {
            .type = 2, .type_bits = type_bits, .bits = 1 + wire_below(&wire, 100)};
        for (unsigned n = 0; n < 16; n++)
            other.payload[n] = (uint8_t)wire_below(&wire, 256);
        wire_put_packet(&wire, &other, FILL_ANY);
    }
}

static void round_of_padding(const struct padding *padding)
{
    static uint64_t wanted[PACKETS];
    static struct addresses addresses;
    for (uint64_t seed = 1; seed <= 64; seed++) {
        struct wire_setup setup = wire_begin(&wire, seed, (unsigned)seed % 8);
        wire.src_bits = (unsigned)seed / 8;
        setup.items[0].value = wire.src_bits;
        wire_set(&setup, "xlen", 64);
        wire_set(&setup, "iaddress_width_p", 64);
        wire_set(&setup, "full_address", 1);
        wire_set(&setup, "bit_stream", padding->bit_stream);
        if (padding->bit_stream)
            wire_put_sequence(&wire, 0);
        put_padded(padding, seed, wanted);
        size_t size;
        uint8_t *bytes = wire_bytes(&wire, 0, &size);
        struct pug_settings settings = wire_settings(&setup);
        read_addresses(&settings, bytes, size, &addresses);
        assert_int_equal(addresses.count, PACKETS);
        for (size_t i = 0; i < PACKETS; i++)
            if (addresses.values[i] != wanted[i])
                fail_msg(
                    "cut %d, fill %d, seed %" PRIu64 ": packet %zu: %" PRIx64 " is not %" PRIx64,
                    padding->cutting, padding->filling, seed, i, addresses.values[i], wanted[i]);
        free(bytes);
    }
}

/** Without a setting: payloads of whole bytes, followed by anything or by copies of the sign … */
static void test_padding_of_bytes(void **state)
{
    (void)state;
    round_of_padding(&(struct padding){.cutting = CUT_TO_BYTES, .filling = FILL_ANY});
    round_of_padding(&(struct padding){.cutting = CUT_TO_BYTES, .filling = FILL_SIGN});
    round_of_padding(&(struct padding){.cutting = CUT_TO_BYTES, .filling = FILL_ZERO});
    round_of_padding(&(struct padding){.cutting = CUT_TO_BYTES, .filling = FILL_ONE});
    round_of_padding(
        &(struct padding){.cutting = CUT_TO_BYTES, .filling = FILL_ANY, .bit_stream = true});
}

/** … payloads that are cut to the bit … */
static void test_padding_of_bits(void **state)
{
    (void)state;
    round_of_padding(&(struct padding){.cutting = CUT_TO_BITS, .filling = FILL_SIGN});
    round_of_padding(
        &(struct padding){.cutting = CUT_TO_BITS, .filling = FILL_SIGN, .bit_stream = true});
}

/** … such as are not shortened at all … */
static void test_padding_of_all(void **state)
{
    (void)state;
    round_of_padding(&(struct padding){.cutting = CUT_NOT, .filling = FILL_ANY});
    round_of_padding(&(struct padding){.cutting = CUT_NOT, .filling = FILL_SIGN});
    round_of_padding(&(struct padding){.cutting = CUT_NOT, .filling = FILL_ZERO});
}

/** … where packets of other types are between them, which say nothing of it … */
static void test_padding_between_others(void **state)
{
    (void)state;
    round_of_padding(
        &(struct padding){.cutting = CUT_TO_BYTES, .filling = FILL_ZERO, .foreign = true});
    round_of_padding(
        &(struct padding){.cutting = CUT_TO_BYTES, .filling = FILL_ANY, .foreign = true});
    round_of_padding(
        &(struct padding){.cutting = CUT_TO_BITS, .filling = FILL_SIGN, .foreign = true});
}

/** … and where all payloads end at much the same place. */
static void test_padding_of_alike(void **state)
{
    (void)state;
    round_of_padding(
        &(struct padding){.cutting = CUT_TO_BYTES, .filling = FILL_ANY, .alike = true});
    round_of_padding(
        &(struct padding){.cutting = CUT_TO_BYTES, .filling = FILL_ZERO, .alike = true});
    round_of_padding(
        &(struct padding){.cutting = CUT_TO_BITS, .filling = FILL_SIGN, .alike = true});
}

/** Counts packets whose payloads have so many bits, and no more. */
static size_t count_whole(const struct pug_settings *settings, const uint8_t *bytes, size_t size,
                          unsigned bits)
{
    struct pug_encapsulation *reader;
    struct pug_encapsulation_packet packet;
    size_t whole = 0;
    assert_int_equal(pug_encapsulation_new(settings, NULL, &reader), PUG_OK);
    for (size_t at = 0; at < size;) {
        at += pug_encapsulation_fill(reader, at, bytes + at, size - at);
        while (pug_encapsulation_next(reader, &packet))
            whole += packet.bits == bits && packet.size == (bits + 7) / 8;
    }
    pug_encapsulation_end(reader);
    while (pug_encapsulation_next(reader, &packet))
        whole += packet.bits == bits && packet.size == (bits + 7) / 8;
    pug_encapsulation_free(reader);
    return whole;
}

/** … A payload that comes again and again is no evidence: all of its bits are kept. */
static void test_few_payloads(void **state)
{
    (void)state;
    unsigned runs = 0;
    for (unsigned type_bits = 1; type_bits < 8; type_bits++)
        for (unsigned first = 1; first < 256; first += 2, runs++) {
            struct wire_setup setup = wire_begin(&wire, first * 8 + type_bits, type_bits);
            const unsigned different = 1 + first % 7, bits = 16 - type_bits;
            wire.src_bits = 0;
            setup.items[0].value = 0;
            for (unsigned n = 0; n < 300; n++) {
                struct wire_packet packet = {.type_bits = type_bits, .bits = bits};
                packet.payload[0] = (uint8_t)(first + n % different);
                packet.payload[1] = (uint8_t)(first * 91 + n % different);
                wire_put_packet(&wire, &packet, FILL_ANY);
            }
            size_t size;
            uint8_t *bytes = wire_bytes(&wire, 0, &size);
            struct pug_settings settings = wire_settings(&setup);
            assert_int_equal(count_whole(&settings, bytes, size, bits), 300);
            free(bytes);
        }
    assert_int_equal(runs, 7 * 128);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_padding_of_bytes), cmocka_unit_test(test_padding_of_bits),
        cmocka_unit_test(test_padding_of_all),   cmocka_unit_test(test_padding_between_others),
        cmocka_unit_test(test_padding_of_alike), cmocka_unit_test(test_few_payloads),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
