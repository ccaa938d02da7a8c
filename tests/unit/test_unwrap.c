// SPDX-License-Identifier: MIT
/** @file The packet encapsulation: any widths, any pieces, any start; bits that are not aligned. */
#include "recorder/encapsulation.h"
#include "transport/unwrap.h"

#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
/* cmocka.h wants the three above first */
#include <cmocka.h>

#define ROUNDS  200
#define PACKETS 300

struct packet {
    uint64_t index;
    uint16_t source, type;
    bool has_timestamp;
    uint64_t timestamp;
    unsigned size;
    uint8_t payload[31];
};

struct round {
    struct rec_random random;
    struct pug_unwrap_config config;
    struct rec_encapsulation wrap;
    struct rec_bytes bytes;
    struct packet packets[PACKETS];
    size_t count;
};

static uint32_t below(struct round *round, uint32_t limit)
{
    return rec_random_below(&round->random, limit);
}

static void choose(struct round *round, uint64_t seed)
{
    *round = (struct round){.random = {seed}};
    struct rec_encapsulation *wrap = &round->wrap;
    wrap->out = &round->bytes;
    wrap->src_bits = below(round, 17);
    wrap->type_bits = below(round, 4);
    wrap->timestamp_bytes = below(round, 9);
    wrap->flow = below(round, 4);
    wrap->block = below(round, 4) ? 0 : 128;
    wrap->padding = below(round, 3) ? REC_PAD_SIGN : REC_PAD_ZERO;
    round->config = (struct pug_unwrap_config){
        .wrapping = PUG_WRAP_ENCAPSULATION,
        .start = PUG_START_SYNCED,
        .src_bits = wrap->src_bits,
        .timestamp_bytes = wrap->timestamp_bytes,
        .types = {.bits = (uint8_t)wrap->type_bits, .instruction = 0, .data = 1},
        .padding = wrap->padding == REC_PAD_SIGN ? PUG_PADDING_SIGN : PUG_PADDING_ANY,
        .block = wrap->block,
    };
}

static void put_packet(struct round *round)
{
    struct packet *packet = &round->packets[round->count++];
    *packet = (struct packet){.size = 1 + below(round, 24)};
    for (unsigned i = 0; i < packet->size; i++)
        packet->payload[i] = (uint8_t)rec_random(&round->random);
    while (packet->size > 1 && round->wrap.padding == REC_PAD_SIGN &&
           packet->payload[packet->size - 1] ==
               (packet->payload[packet->size - 2] & 0x80 ? 0xff : 0))
        packet->payload[packet->size - 1] ^= 0x55; /* a sign byte would be left out */
    packet->source = (uint16_t)below(round, 1u << round->wrap.src_bits);
    packet->type = round->wrap.type_bits ? (uint16_t)below(round, 2) : 0;
    packet->has_timestamp = round->wrap.timestamp_bytes > 0 && below(round, 2);
    packet->timestamp = rec_random(&round->random);
    if (round->wrap.timestamp_bytes < 8)
        packet->timestamp &= (UINT64_C(1) << 8 * round->wrap.timestamp_bytes) - 1;
    rec_encapsulate(&round->wrap, packet->source, packet->type,
                    packet->has_timestamp ? &packet->timestamp : NULL, packet->payload,
                    packet->size);
}

static void fill(struct round *round, unsigned sync_once_in)
{
    while (round->count < PACKETS) {
        if (sync_once_in && below(round, sync_once_in) == 0)
            rec_encapsulation_sync(&round->wrap);
        else if (below(round, 8) == 0)
            rec_encapsulation_nulls(&round->wrap, 1 + below(round, 3));
        put_packet(round);
    }
}

/** Is it the packet that was put? Padding may have made its payload a sign byte longer. */
static bool same(const struct packet *packet, const struct pug_unwrapped *got)
{
    bool sized = got->size == packet->size || got->size == packet->size + 1;
    return sized && memcmp(got->payload, packet->payload, packet->size) == 0 &&
           got->source == packet->source && got->type == packet->type &&
           (got->timestamp_bits > 0) == packet->has_timestamp &&
           (!packet->has_timestamp || got->timestamp == packet->timestamp);
}

/**
 * Unwrap the bytes from `from` on, in pieces of up to `piece`. All packets that come must be the
 * last ones that were put. Returns how many came.
 */
static size_t unwrap(struct round *round, size_t from, size_t piece)
{
    static struct pug_unwrapped heads[2 * PACKETS];
    static uint8_t payloads[2 * PACKETS][PUG_UNWRAP_LONGEST];
    struct pug_unwrap *unwrap = pug_unwrap_new(&round->config, NULL, NULL);
    struct pug_unwrapped packet;
    size_t count = 0, at = from;
    assert_non_null(unwrap);
    for (;;) {
        while (pug_unwrap_next(unwrap, &packet)) {
            if (packet.null)
                continue;
            assert_true(count < 2 * PACKETS);
            memcpy(payloads[count], packet.payload, packet.size);
            packet.payload = payloads[count];
            heads[count++] = packet;
        }
        if (at == round->bytes.size + 1)
            break;
        size_t left = round->bytes.size - at;
        size_t size = left < piece ? left : piece;
        size_t took = pug_unwrap_fill(unwrap, at, round->bytes.data + at, size);
        assert_true(took > 0 || size == 0);
        at += took;
        if (at == round->bytes.size && took == size) {
            pug_unwrap_end(unwrap);
            at++;
        }
    }
    pug_unwrap_free(unwrap);
    assert_true(count <= round->count);
    for (size_t i = 0; i < count; i++)
        if (!same(&round->packets[round->count - count + i], &heads[i]))
            fail_msg("packet %zu of %zu from %zu on is another", i, count, from);
    return count;
}

static void test_any_pieces(void **state)
{
    static struct round round;
    (void)state;
    for (uint64_t seed = 1; seed <= ROUNDS; seed++) {
        choose(&round, seed);
        fill(&round, 0);
        assert_int_equal(unwrap(&round, 0, 1), PACKETS);
        assert_int_equal(unwrap(&round, 0, 7), PACKETS);
        assert_int_equal(unwrap(&round, 0, 1 << 20), PACKETS);
        rec_bytes_free(&round.bytes);
    }
}

/** With synchronisation sequences now and then, or without any: headers are found again. */
static void test_any_start(void **state)
{
    static struct round round;
    size_t came = 0;
    (void)state;
    for (uint64_t seed = 1; seed <= ROUNDS; seed++) {
        choose(&round, seed);
        round.wrap.block = round.config.block = 0;
        fill(&round, seed % 2 ? 20 : 0);
        round.config.start = PUG_START_SEARCH;
        for (unsigned i = 0; i < 5; i++) {
            size_t from = below(&round, (uint32_t)round.bytes.size / 2);
            size_t count = unwrap(&round, from, 1 << 20);
            assert_int_equal(unwrap(&round, from, 1 + below(&round, 100)), count);
            came += count;
        }
        rec_bytes_free(&round.bytes);
    }
    assert_true(came > ROUNDS * 5 * PACKETS / 2);
}

static void test_any_bit(void **state)
{
    static struct round round;
    (void)state;
    for (uint64_t seed = 1; seed <= ROUNDS; seed++) {
        choose(&round, seed);
        round.wrap.block = round.config.block = 0;
        round.wrap.flow = 0;
        rec_encapsulation_sync(&round.wrap);
        fill(&round, 0);
        rec_shift_bits(&round.bytes, seed % 8);
        round.config.bit_stream = true;
        assert_int_equal(unwrap(&round, 0, 1 << 20), PACKETS);
        assert_int_equal(unwrap(&round, 0, 3), PACKETS);
        rec_bytes_free(&round.bytes);
    }
}

/** Sources may differ in the width of their type field. */
static void test_types_of_sources(void **state)
{
    static const struct pug_setting items[] = {{.name = "src_bits", .value = 8},
                                               {.name = "type_bits", .value = 0},
                                               {.name = "type_bits_7", .value = 1},
                                               {.name = "start", .text = "synced"}};
    static const uint8_t bytes[] = {0x01, 0x07, 0x3e, 0x01, 0x08, 0x1f};
    struct pug_unwrap_config config;
    struct pug_unwrapped packet;
    (void)state;
    assert_int_equal(pug_unwrap_configure(&config, PUG_WRAP_ENCAPSULATION,
                                          &(struct pug_settings){.items = items, .count = 4}, NULL),
                     PUG_OK);
    struct pug_unwrap *unwrap_ = pug_unwrap_new(&config, NULL, NULL);
    pug_unwrap_fill(unwrap_, 0, bytes, sizeof(bytes));
    pug_unwrap_end(unwrap_);
    for (unsigned i = 0; i < 2; i++) {
        assert_true(pug_unwrap_next(unwrap_, &packet));
        assert_int_equal(packet.source, 7 + i);
        assert_int_equal(packet.payload[0], 0x1f);
    }
    assert_false(pug_unwrap_next(unwrap_, &packet));
    pug_unwrap_free(unwrap_);
    pug_unwrap_config_clear(&config);
}

static void test_bad_settings(void **state)
{
    static const struct pug_setting bad[] = {
        {.name = "src_bits", .value = 17},      {.name = "timestamp_bytes", .value = 9},
        {.name = "type_bits", .value = 33},     {.name = "block_size", .value = 63},
        {.name = "payload_bytes", .value = 41}, {.name = "type_bits_70000", .value = 1},
        {.name = "start", .text = "now"},       {.name = "padding", .text = "some"},
        {.name = "type_bits_x", .value = 1},    {.name = "data_type_", .value = 1},
        {.name = "type_bits_1", .text = "two"}, {.name = "flow", .value = 4},
        {.name = "flow", .text = "1,"},         {.name = "flow", .text = "0;1"}};
    struct pug_unwrap_config config;
    (void)state;
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        enum pug_status status =
            pug_unwrap_configure(&config, PUG_WRAP_ENCAPSULATION,
                                 &(struct pug_settings){.items = &bad[i], .count = 1}, NULL);
        assert_int_equal(status, PUG_ERR_INVALID_PARAM_VAL);
    }
}

/** The nulls, types and lengths that the recorder can write. */
static void test_recorder(void **state)
{
    static const uint8_t payload[32] = {0x7f, [31] = 0x55};
    static const struct rec_type_width widths[] = {{5, 8}};
    static const uint8_t wanted[] = {0x60, 0xe0, 0x01, 0x04, 0x7f, 0x02, 0x05, 0x99, 0x7f};
    struct rec_bytes bytes = {0};
    struct rec_encapsulation wrap = {.out = &bytes,
                                     .src_bits = 8,
                                     .widths = widths,
                                     .width_count = 1,
                                     .null_flow = 3,
                                     .unframed = true,
                                     .padding = REC_PAD_ZERO};
    (void)state;
    rec_encapsulation_nulls(&wrap, 2);
    assert_true(rec_encapsulate(&wrap, 4, 0x99, NULL, payload, 1));
    assert_true(rec_encapsulate(&wrap, 5, 0x99, NULL, payload, 1));
    assert_false(rec_encapsulate(&wrap, 4, 0, NULL, payload, 32));
    assert_false(rec_encapsulate(&wrap, 5, 0, NULL, payload, 31));
    assert_false(rec_encapsulate(&wrap, 4, 0, NULL, payload, 0));
    assert_int_equal(bytes.size, sizeof(wanted));
    assert_memory_equal(bytes.data, wanted, sizeof(wanted));
    bytes.size = 0;
    wrap.unframed = false;
    wrap.idle_syncs = true;
    rec_encapsulation_sync(&wrap);
    assert_int_equal(bytes.size, 31 + 1 + 1);
    assert_int_equal(bytes.data[bytes.size - 1], 0x60);
    rec_bytes_free(&bytes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_any_pieces),   cmocka_unit_test(test_any_start),
        cmocka_unit_test(test_any_bit),      cmocka_unit_test(test_types_of_sources),
        cmocka_unit_test(test_bad_settings), cmocka_unit_test(test_recorder),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
