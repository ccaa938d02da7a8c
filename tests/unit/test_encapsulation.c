// SPDX-License-Identifier: MIT
/**
 * @file The packet encapsulation against an encoder of its own, written from the specification bit
 * by bit: bits that are lost or come twice, types and sources that are none of ours, cuts at any
 * bit, padding of any kind; and whatever arrives in whatever pieces.
 */
#include "pugmark/packet/etrace.h"
#include "pugmark/pugmark.h"
#include "recorder/bytes.h"

#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
/* cmocka.h wants the three above first */
#include <cmocka.h>

/* ---- the encoder ---- */

#define MOST_BITS (1u << 20)

/** A stream as bits, in their order of transmission. */
struct wire {
    struct rec_random random;
    unsigned src_bits, timestamp_bytes;
    size_t count;
    uint8_t bits[MOST_BITS];
};

static uint32_t below(struct wire *wire, uint32_t limit)
{
    return rec_random_below(&wire->random, limit);
}

static void put(struct wire *wire, uint64_t value, unsigned width)
{
    assert_true(wire->count + width <= MOST_BITS);
    for (unsigned i = 0; i < width; i++)
        wire->bits[wire->count++] = i < 64 ? value >> i & 1 : 0;
}

enum filling { FILL_ANY, FILL_ZERO, FILL_ONE, FILL_SIGN };

struct packet {
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

static void put_packet(struct wire *wire, struct packet *packet, enum filling filling)
{
    unsigned shared = wire->src_bits % 8;
    unsigned payload = packet->type_bits + packet->bits;
    unsigned length = (payload + shared + 7) / 8; /* header.length, "Packet Length" */
    assert_true(length >= 1 && length <= 31);
    packet->at = wire->count;
    put(wire, length, 5);
    put(wire, packet->flow, 2);
    put(wire, packet->has_time, 1);
    put(wire, packet->source, wire->src_bits);
    if (packet->has_time)
        put(wire, packet->time, 8 * wire->timestamp_bytes);
    put(wire, packet->type, packet->type_bits);
    for (unsigned i = 0; i < packet->bits; i++)
        put(wire, packet->payload[i / 8] >> i % 8 & 1, 1);
    unsigned sign = wire->bits[wire->count - 1];
    for (unsigned left = 8 * length - shared - payload; left > 0; left--)
        put(wire,
            filling == FILL_SIGN  ? sign
            : filling == FILL_ANY ? below(wire, 2)
                                  : filling == FILL_ONE,
            1);
    packet->end = wire->count;
}

static void put_null(struct wire *wire, bool alignment, unsigned flow)
{
    put(wire, 0, 5);
    put(wire, flow, 2);
    put(wire, alignment, 1);
}

static unsigned most_nulls(const struct wire *wire)
{
    return 31 + wire->timestamp_bytes + wire->src_bits / 8;
}

/** "N consecutive null.idle packets, directly followed by one null.alignment packet" */
static void put_sequence(struct wire *wire, unsigned more)
{
    for (unsigned i = most_nulls(wire) + more; i > 0; i--)
        put_null(wire, false, 0);
    put_null(wire, true, 0);
}

static void random_packet(struct wire *wire, struct packet *packet, unsigned type_bits)
{
    *packet = (struct packet){.source = (uint16_t)below(wire, UINT32_C(1) << wire->src_bits),
                              .flow = (uint8_t)below(wire, 4),
                              .type_bits = type_bits};
    packet->type = (uint32_t)rec_random(&wire->random);
    if (type_bits < 32)
        packet->type &= (UINT32_C(1) << type_bits) - 1;
    packet->has_time = wire->timestamp_bytes > 0 && below(wire, 2);
    packet->time = rec_random(&wire->random);
    if (wire->timestamp_bytes < 8)
        packet->time &= (UINT64_C(1) << 8 * wire->timestamp_bytes) - 1;
    /* whole bytes, as many as there may be */
    unsigned most = (248 - type_bits - wire->src_bits % 8) / 8;
    packet->bits = 8 * (1 + below(wire, below(wire, 4) ? 8 : most));
    for (unsigned i = 0; i < packet->bits / 8; i++)
        packet->payload[i] = (uint8_t)rec_random(&wire->random);
}

/** The wire's bits from one to another, as bytes; the last one is filled with zeros. */
static uint8_t *bytes_of(const struct wire *wire, size_t from, size_t *size)
{
    size_t count = wire->count - from;
    *size = (count + 7) / 8;
    uint8_t *bytes = calloc(*size + 1, 1);
    assert_non_null(bytes);
    for (size_t i = 0; i < count; i++)
        bytes[i / 8] |= (uint8_t)(wire->bits[from + i] << i % 8);
    return bytes;
}

/** So many bits are lost at a place. */
static void lose_bits(struct wire *wire, size_t at, size_t count)
{
    memmove(wire->bits + at, wire->bits + at + count, wire->count - at - count);
    wire->count -= count;
}

/* ---- the reader ---- */

#define MOST_RUNS 8192u

struct got {
    size_t count;
    unsigned errors, warnings;
    char last[200];
    struct run {
        uint64_t index;
        uint16_t source;
        uint8_t flow, kind;
        uint32_t type;
        uint64_t time;
        size_t size;
        uint8_t bytes[32];
    } runs[MOST_RUNS];
};

static void on_run(void *context, const struct pug_run *run)
{
    struct got *got = context;
    assert_true(got->count < MOST_RUNS && run->size <= 32);
    struct run *to = &got->runs[got->count++];
    memset(to, 0, sizeof(*to));
    to->index = run->index;
    to->source = run->source;
    to->flow = run->flow;
    to->kind = run->kind;
    to->type = run->type;
    to->time = run->has_timestamp ? run->timestamp : 0;
    to->size = run->size;
    memcpy(to->bytes, run->bytes, run->size);
}

static void on_log(void *context, const struct pug_log_record *record)
{
    struct got *got = context;
    got->errors += record->severity == PUG_SEV_ERROR;
    got->warnings += record->severity == PUG_SEV_WARN;
    snprintf(got->last, sizeof(got->last), "%s", record->text);
}

/** `piece` 0: all at once; else of random sizes up to it. */
static void read_stream(const struct pug_settings *settings, const uint8_t *bytes, size_t size,
                        uint32_t piece, struct got *got)
{
    struct pug_log *log = pug_log_new(PUG_SEV_WARN);
    struct rec_random random = {piece};
    struct pug_tree *tree;
    got->count = got->errors = got->warnings = 0;
    got->last[0] = 0;
    pug_log_set_sink(log, on_log, got);
    struct pug_tree_config config = {
        .transport = "encapsulation", .settings = *settings, .log = log};
    assert_int_equal(pug_tree_new(&config, &tree), PUG_OK);
    pug_tree_on_runs(tree, on_run, got);
    for (size_t at = 0; at < size;) {
        size_t part = piece ? 1 + rec_random_below(&random, piece) : size, used;
        part = part < size - at ? part : size - at;
        assert_true(PUG_RESP_IS_CONT(pug_tree_data(tree, at, bytes + at, part, &used)));
        assert_int_equal(used, part);
        at += used;
    }
    pug_tree_end(tree);
    pug_tree_free(tree);
    pug_log_free(log);
}

/** The same in pieces: nothing may change. */
static void read_any(const struct pug_settings *settings, const uint8_t *bytes, size_t size,
                     struct got *got)
{
    static struct got other;
    static const uint32_t pieces[] = {1, 7, 600};
    read_stream(settings, bytes, size, 0, got);
    for (size_t i = 0; i < sizeof(pieces) / sizeof(pieces[0]); i++) {
        read_stream(settings, bytes, size, pieces[i], &other);
        assert_int_equal(other.count, got->count);
        assert_int_equal(other.errors, got->errors);
        assert_int_equal(other.warnings, got->warnings);
        assert_memory_equal(other.runs, got->runs, got->count * sizeof(got->runs[0]));
    }
}

static bool same(const struct packet *packet, const struct run *run)
{
    return run->source == packet->source && run->flow == packet->flow &&
           run->type == packet->type && run->time == (packet->has_time ? packet->time : 0) &&
           run->size >= packet->bits / 8 &&
           memcmp(run->bytes, packet->payload, packet->bits / 8) == 0;
}

struct setup {
    struct pug_setting items[16];
    size_t count;
};

static void set(struct setup *setup, const char *name, uint64_t value)
{
    setup->items[setup->count++] = (struct pug_setting){.name = name, .value = value};
}

static struct pug_settings settings_of(const struct setup *setup)
{
    return (struct pug_settings){.items = setup->items, .count = setup->count};
}

#define PACKETS 300u

static struct wire wire;
static struct got got;
static struct packet packets[PACKETS];

static struct setup begin(uint64_t seed, unsigned type_bits)
{
    struct setup setup = {.count = 0};
    wire.random = (struct rec_random){seed};
    wire.count = 0;
    wire.src_bits = below(&wire, 17);
    wire.timestamp_bytes = below(&wire, 2) ? below(&wire, 9) : 0;
    set(&setup, "src_bits", wire.src_bits);
    set(&setup, "timestamp_bytes", wire.timestamp_bytes);
    set(&setup, "type_bits", type_bits);
    return setup;
}

/* ---- bit streams ---- */

/** Packets from `from` on came last, and these in front of it first. Returns how many are missing.
 */
static size_t assert_around(size_t before, size_t from, uint64_t seed)
{
    size_t after = PACKETS - from;
    assert_true(got.count >= after);
    for (size_t i = 0; i < after; i++)
        if (!same(&packets[from + i], &got.runs[got.count - after + i]))
            fail_msg("seed %" PRIu64 ": packet %zu is another", seed, from + i);
    for (size_t i = 0; i < before; i++)
        if (!same(&packets[i], &got.runs[i]))
            fail_msg("seed %" PRIu64 ": packet %zu before it is another", seed, i);
    return PACKETS - before - after;
}

/** Each sequence realigns the stream, however many bits are gone. */
static void test_slips(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 200; seed++) {
        struct setup setup = begin(seed, (unsigned)seed % 5);
        size_t sequences[PACKETS], next = 0, from = PACKETS, before = 0;
        set(&setup, "bit_stream", 1);
        put(&wire, 0, below(&wire, 8)); /* the capture begins at any bit */
        put_sequence(&wire, 0);
        for (size_t i = 0; i < PACKETS; i++) {
            bool now = i > 0 && below(&wire, 12) == 0;
            if (now)
                put_sequence(&wire, below(&wire, 3) ? 0 : below(&wire, 20));
            else if (below(&wire, 6) == 0)
                put_null(&wire, true, 0);
            if (now)
                sequences[next++] = i;
            random_packet(&wire, &packets[i], (unsigned)seed % 5);
            put_packet(&wire, &packets[i], FILL_ANY);
        }
        size_t at = packets[20].at + below(&wire, (uint32_t)(wire.count / 2 - packets[20].at));
        size_t lost = 1 + below(&wire, 40);
        while (before < PACKETS && packets[before].end <= at)
            before++;
        /* a sequence counts that lies behind what is lost */
        for (size_t i = next; i-- > 0;)
            if (packets[sequences[i]].at - 8 * (most_nulls(&wire) + 1) >= at + lost)
                from = sequences[i];
        lose_bits(&wire, at, lost);
        size_t size;
        uint8_t *bytes = bytes_of(&wire, 0, &size);
        struct pug_settings settings = settings_of(&setup);
        read_any(&settings, bytes, size, &got);
        assert_around(before, from, seed);
        free(bytes);
    }
}

/** "every (N+1)th null" of an opportunistic sequence is a null.alignment. */
static void test_cut_at_any_bit(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 100; seed++) {
        struct setup setup = begin(seed, (unsigned)seed % 4);
        size_t first = PACKETS, last = PACKETS;
        set(&setup, "bit_stream", 1);
        for (size_t i = 0; i < PACKETS; i++) {
            random_packet(&wire, &packets[i], (unsigned)seed % 4);
            put_packet(&wire, &packets[i], FILL_ANY);
            if (i % 25 == 24)
                for (unsigned n = (1 + below(&wire, 3)) * (most_nulls(&wire) + 1); n > 0; n--)
                    put_null(&wire, (n - 1) % (most_nulls(&wire) + 1) == 0, 0);
        }
        size_t cut = below(&wire, (uint32_t)packets[200].at);
        for (size_t i = 225; i >= 25; i -= 25) /* sequences may be cut, too, and still be some */
            if (packets[i - 1].end + 8 * 3 * (most_nulls(&wire) + 1) >= cut)
                first = i;
        for (size_t i = 250; i >= 25; i -= 25)
            if (packets[i - 1].end >= cut)
                last = i;
        size_t size;
        uint8_t *bytes = bytes_of(&wire, cut, &size);
        struct pug_settings settings = settings_of(&setup);
        read_any(&settings, bytes, size, &got);
        assert_around(0, last, seed);
        assert_true(got.count <= PACKETS - first && got.count % 25 == 0);
        assert_around(0, PACKETS - got.count, seed);
        free(bytes);
    }
}

/** A packet of 31 zero bytes in front of one whose length is 16 is no sequence. */
static void test_no_sequence(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 20; seed++) {
        struct setup setup = {.count = 0};
        wire = (struct wire){.random = {seed}};
        set(&setup, "bit_stream", 1);
        put_sequence(&wire, 0);
        for (size_t i = 0; i < PACKETS; i++) {
            random_packet(&wire, &packets[i], 0);
            if (i % 10 == 3 || i % 10 == 4)
                packets[i].flow = 0, packets[i].bits = i % 10 == 3 ? 248 : 128;
            if (i % 10 == 3)
                memset(packets[i].payload, 0, sizeof(packets[i].payload));
            put_packet(&wire, &packets[i], FILL_ANY);
        }
        size_t size;
        uint8_t *bytes = bytes_of(&wire, 0, &size);
        struct pug_settings settings = settings_of(&setup);
        read_any(&settings, bytes, size, &got);
        assert_int_equal(got.count, PACKETS);
        assert_around(PACKETS, PACKETS, seed);
        free(bytes);
    }
}

/** Where there is no sequence nothing can be read: that is said, and it is an error. */
static void test_no_sequence_at_all(void **state)
{
    struct setup setup = begin(5, 0);
    (void)state;
    set(&setup, "bit_stream", 1);
    for (size_t i = 0; i < PACKETS; i++) {
        random_packet(&wire, &packets[i], 0);
        put_packet(&wire, &packets[i], FILL_ANY);
    }
    size_t size;
    char text[100];
    uint8_t *bytes = bytes_of(&wire, 0, &size);
    struct pug_settings settings = settings_of(&setup);
    read_any(&settings, bytes, size, &got);
    assert_int_equal(got.count, 0);
    assert_int_equal(got.errors, 1);
    snprintf(text, sizeof(text), "%zu bytes skipped, there is no packet that fits", size);
    assert_string_equal(got.last, text);
    free(bytes);
}

/* ---- framed streams ---- */

/** Whatever a framed stream begins with, it is a header. */
static void test_begins_with_a_header(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 200; seed++) {
        struct setup setup = begin(seed, (unsigned)seed % 9);
        for (size_t i = 0; i < PACKETS; i++) {
            if (i > 0 && below(&wire, 6) == 0)
                put_null(&wire, below(&wire, 2), below(&wire, 4));
            random_packet(&wire, &packets[i], (unsigned)seed % 9);
            put_packet(&wire, &packets[i], FILL_ANY);
        }
        size_t size;
        uint8_t *bytes = bytes_of(&wire, 0, &size);
        struct pug_settings settings = settings_of(&setup);
        read_any(&settings, bytes, size, &got);
        assert_int_equal(got.count, PACKETS);
        assert_int_equal(got.errors + got.warnings, 0);
        assert_around(PACKETS, PACKETS, seed);
        for (size_t i = 0; i < PACKETS; i++)
            assert_int_equal(got.runs[i].index, packets[i].at / 8);
        free(bytes);
    }
}

/** Widths and values of types, by source. */
static void test_sources(void **state)
{
    static const unsigned widths[] = {0, 1, 2, 3, 7, 16, 32};
    static char names[3 * 7][32];
    (void)state;
    for (uint64_t seed = 1; seed <= 50; seed++) {
        struct setup setup = {.count = 0};
        wire = (struct wire){.random = {seed}, .src_bits = 16};
        unsigned shift = below(&wire, 3);
        set(&setup, "src_bits", 16);
        set(&setup, "type_bits", 5);
        for (unsigned i = 0; i < 4; i++) { /* sources 0xfffc to 0xffff */
            char *name = names[3 * i];
            snprintf(name, sizeof(names[0]), "type_bits_%u", 0xfffc + i);
            set(&setup, name, widths[i + shift]);
            snprintf(names[3 * i + 1], sizeof(names[0]), "instruction_type_%u", 0xfffc + i);
            set(&setup, names[3 * i + 1], i % 2 ? 1 : 0);
            snprintf(names[3 * i + 2], sizeof(names[0]), "data_type_%u", 0xfffc + i);
            set(&setup, names[3 * i + 2], i % 2 ? 0 : 1);
        }
        for (size_t i = 0; i < PACKETS; i++) {
            unsigned n = below(&wire, 5);
            random_packet(&wire, &packets[i], n == 4 ? 5 : widths[n + shift]);
            packets[i].source = n == 4 ? (uint16_t)below(&wire, 100) : (uint16_t)(0xfffc + n);
            put_packet(&wire, &packets[i], FILL_ANY);
        }
        size_t size;
        uint8_t *bytes = bytes_of(&wire, 0, &size);
        struct pug_settings settings = settings_of(&setup);
        read_any(&settings, bytes, size, &got);
        assert_int_equal(got.count, PACKETS);
        assert_int_equal(got.errors + got.warnings, 0);
        assert_around(PACKETS, PACKETS, seed);
        for (size_t i = 0; i < PACKETS; i++) {
            const struct packet *p = &packets[i];
            bool turned = p->source >= 0xfffc && p->source % 2;
            unsigned kind = p->type > 1 ? PUG_ETRACE_OTHER_PAYLOAD : p->type ^ turned;
            if (p->type_bits == 0)
                kind = PUG_ETRACE_INSTRUCTION_TRACE;
            assert_int_equal(got.runs[i].kind, kind);
        }
        free(bytes);
    }
}

/* ---- padding ---- */

/** What an E-Trace reader makes of the packets. */
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

#define ADDRESS_BITS 63u /* of RV64, behind a format of 2 */
#define ALL_BITS     (2 + ADDRESS_BITS + 2)

/** Format 2: an address, and two flags that are told as differences to the bit before. */
static uint64_t address_packet(struct packet *packet, enum cutting cutting, unsigned width,
                               bool exact)
{
    uint64_t value = rec_random(&wire.random) >> (63 - width);
    if (exact)
        value |= UINT64_C(1) << width;
    if (below(&wire, 2))
        value = ~value;
    value &= (UINT64_C(1) << ADDRESS_BITS) - 1;
    unsigned sign = value >> (ADDRESS_BITS - 1) & 1;
    *packet = (struct packet){.bits = ALL_BITS};
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
    enum filling filling;
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
            padding->alike ? narrow + (below(&wire, 8) > 0) : 1 + below(&wire, 62);
        wanted[i] = address_packet(&packets[i], padding->cutting, width, padding->alike);
        packets[i].type_bits = type_bits;
        put_packet(&wire, &packets[i], padding->filling);
        if (!padding->foreign || type_bits < 2)
            continue;
        struct packet other = {.type = 2, .type_bits = type_bits, .bits = 1 + below(&wire, 100)};
        for (unsigned n = 0; n < 16; n++)
            other.payload[n] = (uint8_t)below(&wire, 256);
        put_packet(&wire, &other, FILL_ANY);
    }
}

static void round_of_padding(const struct padding *padding)
{
    static uint64_t wanted[PACKETS];
    static struct addresses addresses;
    for (uint64_t seed = 1; seed <= 64; seed++) {
        struct setup setup = begin(seed, (unsigned)seed % 8);
        wire.src_bits = (unsigned)seed / 8;
        setup.items[0].value = wire.src_bits;
        set(&setup, "xlen", 64);
        set(&setup, "iaddress_width_p", 64);
        set(&setup, "full_address", 1);
        set(&setup, "bit_stream", padding->bit_stream);
        if (padding->bit_stream)
            put_sequence(&wire, 0);
        put_padded(padding, seed, wanted);
        size_t size;
        uint8_t *bytes = bytes_of(&wire, 0, &size);
        struct pug_settings settings = settings_of(&setup);
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

/** Without being told: payloads of whole bytes behind which is anything, or copies of the sign … */
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_padding_between_others),
        cmocka_unit_test(test_padding_of_alike),
        cmocka_unit_test(test_slips),
        cmocka_unit_test(test_cut_at_any_bit),
        cmocka_unit_test(test_no_sequence),
        cmocka_unit_test(test_no_sequence_at_all),
        cmocka_unit_test(test_begins_with_a_header),
        cmocka_unit_test(test_sources),
        cmocka_unit_test(test_padding_of_bytes),
        cmocka_unit_test(test_padding_of_bits),
        cmocka_unit_test(test_padding_of_all),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
