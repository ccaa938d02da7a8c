// SPDX-License-Identifier: MIT
/**
 * @file The packet encapsulation against an encoder of its own, written from the specification bit
 * by bit: bits that are lost or come twice, types and sources that are none of ours, cuts at any
 * bit; and whatever arrives in whatever pieces.
 */
#include "pugmark/advanced/packet.h"
#include "pugmark/advanced/packet/etrace.h"
#include "pugmark/advanced/transport.h"
#include "pugmark/advanced/tree.h"
#include "pugmark/pugmark.h"
#include "support/wire.h"

#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
/* cmocka.h wants the three above first */
#include <cmocka.h>

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

static bool same(const struct wire_packet *packet, const struct run *run)
{
    return run->source == packet->source && run->flow == packet->flow &&
           run->type == packet->type && run->time == (packet->has_time ? packet->time : 0) &&
           run->size >= packet->bits / 8 &&
           memcmp(run->bytes, packet->payload, packet->bits / 8) == 0;
}

#define PACKETS 300u

static struct wire wire;
static struct got got;
static struct wire_packet packets[PACKETS];

/* ---- bit streams ---- */

/**
 * Packets from `from` on came last, and these in front of it first. Returns how many are missing.
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
        struct wire_setup setup = wire_begin(&wire, seed, (unsigned)seed % 5);
        size_t sequences[PACKETS], next = 0, from = PACKETS, before = 0;
        wire_set(&setup, "bit_stream", 1);
        wire_put(&wire, 0, wire_below(&wire, 8)); /* the capture begins at any bit */
        wire_put_sequence(&wire, 0);
        for (size_t i = 0; i < PACKETS; i++) {
            bool now = i > 0 && wire_below(&wire, 12) == 0;
            if (now)
                wire_put_sequence(&wire, wire_below(&wire, 3) ? 0 : wire_below(&wire, 20));
            else if (wire_below(&wire, 6) == 0)
                wire_put_null(&wire, true, 0);
            if (now)
                sequences[next++] = i;
            wire_random_packet(&wire, &packets[i], (unsigned)seed % 5);
            wire_put_packet(&wire, &packets[i], FILL_ANY);
        }
        size_t at = packets[20].at + wire_below(&wire, (uint32_t)(wire.count / 2 - packets[20].at));
        size_t lost = 1 + wire_below(&wire, 40);
        while (before < PACKETS && packets[before].end <= at)
            before++;
        /* a sequence counts that follows what is lost */
        for (size_t i = next; i-- > 0;)
            if (packets[sequences[i]].at - 8 * (wire_most_nulls(&wire) + 1) >= at + lost)
                from = sequences[i];
        wire_lose_bits(&wire, at, lost);
        size_t size;
        uint8_t *bytes = wire_bytes(&wire, 0, &size);
        struct pug_settings settings = wire_settings(&setup);
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
        struct wire_setup setup = wire_begin(&wire, seed, (unsigned)seed % 4);
        size_t first = PACKETS, last = PACKETS;
        wire_set(&setup, "bit_stream", 1);
        for (size_t i = 0; i < PACKETS; i++) {
            wire_random_packet(&wire, &packets[i], (unsigned)seed % 4);
            wire_put_packet(&wire, &packets[i], FILL_ANY);
            if (i % 25 == 24)
                for (unsigned n = (1 + wire_below(&wire, 3)) * (wire_most_nulls(&wire) + 1); n > 0;
                     n--)
                    wire_put_null(&wire, (n - 1) % (wire_most_nulls(&wire) + 1) == 0, 0);
        }
        size_t cut = wire_below(&wire, (uint32_t)packets[200].at);
        for (size_t i = 225; i >= 25; i -= 25) /* sequences may be cut, too, and still be some */
            if (packets[i - 1].end + 8 * 3 * (wire_most_nulls(&wire) + 1) >= cut)
                first = i;
        for (size_t i = 250; i >= 25; i -= 25)
            if (packets[i - 1].end >= cut)
                last = i;
        size_t size;
        uint8_t *bytes = wire_bytes(&wire, cut, &size);
        struct pug_settings settings = wire_settings(&setup);
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
        struct wire_setup setup = {.count = 0};
        wire = (struct wire){.random = {seed}};
        wire_set(&setup, "bit_stream", 1);
        wire_put_sequence(&wire, 0);
        for (size_t i = 0; i < PACKETS; i++) {
            wire_random_packet(&wire, &packets[i], 0);
            if (i % 10 == 3 || i % 10 == 4)
                packets[i].flow = 0, packets[i].bits = i % 10 == 3 ? 248 : 128;
            if (i % 10 == 3)
                memset(packets[i].payload, 0, sizeof(packets[i].payload));
            wire_put_packet(&wire, &packets[i], FILL_ANY);
        }
        size_t size;
        uint8_t *bytes = wire_bytes(&wire, 0, &size);
        struct pug_settings settings = wire_settings(&setup);
        read_any(&settings, bytes, size, &got);
        assert_int_equal(got.count, PACKETS);
        assert_around(PACKETS, PACKETS, seed);
        free(bytes);
    }
}

/** Where there is no sequence nothing can be read: that is said, and it is an error. */
static void test_no_sequence_at_all(void **state)
{
    struct wire_setup setup = wire_begin(&wire, 5, 0);
    (void)state;
    wire_set(&setup, "bit_stream", 1);
    for (size_t i = 0; i < PACKETS; i++) {
        wire_random_packet(&wire, &packets[i], 0);
        wire_put_packet(&wire, &packets[i], FILL_ANY);
    }
    size_t size;
    char text[100];
    uint8_t *bytes = wire_bytes(&wire, 0, &size);
    struct pug_settings settings = wire_settings(&setup);
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
        struct wire_setup setup = wire_begin(&wire, seed, (unsigned)seed % 9);
        for (size_t i = 0; i < PACKETS; i++) {
            if (i > 0 && wire_below(&wire, 6) == 0)
                wire_put_null(&wire, wire_below(&wire, 2), wire_below(&wire, 4));
            wire_random_packet(&wire, &packets[i], (unsigned)seed % 9);
            wire_put_packet(&wire, &packets[i], FILL_ANY);
        }
        size_t size;
        uint8_t *bytes = wire_bytes(&wire, 0, &size);
        struct pug_settings settings = wire_settings(&setup);
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
        struct wire_setup setup = {.count = 0};
        wire = (struct wire){.random = {seed}, .src_bits = 16};
        unsigned shift = wire_below(&wire, 3);
        wire_set(&setup, "src_bits", 16);
        wire_set(&setup, "type_bits", 5);
        for (unsigned i = 0; i < 4; i++) { /* sources 0xfffc to 0xffff */
            char *name = names[3 * i];
            snprintf(name, sizeof(names[0]), "type_bits_%u", 0xfffc + i);
            wire_set(&setup, name, widths[i + shift]);
            snprintf(names[3 * i + 1], sizeof(names[0]), "instruction_type_%u", 0xfffc + i);
            wire_set(&setup, names[3 * i + 1], i % 2 ? 1 : 0);
            snprintf(names[3 * i + 2], sizeof(names[0]), "data_type_%u", 0xfffc + i);
            wire_set(&setup, names[3 * i + 2], i % 2 ? 0 : 1);
        }
        for (size_t i = 0; i < PACKETS; i++) {
            unsigned n = wire_below(&wire, 5);
            wire_random_packet(&wire, &packets[i], n == 4 ? 5 : widths[n + shift]);
            packets[i].source = n == 4 ? (uint16_t)wire_below(&wire, 100) : (uint16_t)(0xfffc + n);
            wire_put_packet(&wire, &packets[i], FILL_ANY);
        }
        size_t size;
        uint8_t *bytes = wire_bytes(&wire, 0, &size);
        struct pug_settings settings = wire_settings(&setup);
        read_any(&settings, bytes, size, &got);
        assert_int_equal(got.count, PACKETS);
        assert_int_equal(got.errors + got.warnings, 0);
        assert_around(PACKETS, PACKETS, seed);
        for (size_t i = 0; i < PACKETS; i++) {
            const struct wire_packet *p = &packets[i];
            bool turned = p->source >= 0xfffc && p->source % 2;
            unsigned kind = p->type > 1 ? PUG_ETRACE_OTHER_PAYLOAD : p->type ^ turned;
            if (p->type_bits == 0)
                kind = PUG_ETRACE_INSTRUCTION_TRACE;
            assert_int_equal(got.runs[i].kind, kind);
        }
        free(bytes);
    }
}

/* ---- rows ---- */

static void on_packet(void *context, enum pug_op op, const struct pug_packet *packet)
{
    struct got *to = context;
    if (op != PUG_OP_DATA)
        return;
    const struct pug_etrace_packet *etrace = packet->data;
    assert_true(to->count < MOST_RUNS && packet->raw_size <= 32);
    struct run *run = &to->runs[to->count++];
    memset(run, 0, sizeof(*run));
    run->index = packet->index;
    run->type = packet->type;
    run->time = etrace->timestamp_bits > 0 ? etrace->timestamp : 0;
    run->size = packet->raw_size;
    memcpy(run->bytes, packet->raw, packet->raw_size);
}

/** Packets of the sources 0 and 1, as their readers have them; `piece` as above. */
static void read_packets(const struct pug_settings *settings, const uint8_t *bytes, size_t size,
                         size_t piece, struct got *of)
{
    const struct pug_tree_config config = {.transport = "encapsulation", .settings = *settings};
    struct pug_tree *tree;
    assert_int_equal(pug_tree_new(&config, &tree), PUG_OK);
    for (unsigned id = 0; id < 2; id++) {
        struct pug_setting items[17] = {{.name = "srcid", .value = id}};
        struct pug_source *source;
        memcpy(&items[1], settings->items, settings->count * sizeof(items[0]));
        const struct pug_source_config etrace = {
            .protocol = "E-Trace", .settings = {.items = items, .count = settings->count + 1}};
        of[id].count = 0;
        assert_int_equal(pug_tree_add_source(tree, &etrace, &source), PUG_OK);
        pug_source_monitor(source, on_packet, &of[id]);
    }
    for (size_t at = 0, used; at < size; at += used) {
        const size_t part = piece > 0 && piece < size - at ? piece : size - at;
        pug_tree_data(tree, at, bytes + at, part, &used);
        assert_int_equal(used, part);
    }
    pug_tree_end(tree);
    const struct pug_transport_stats *stats = pug_tree_transport_stats(tree);
    assert_int_equal(stats->delivered + stats->framing + stats->no_decoder, size);
    pug_tree_free(tree);
}

/**
 * Where packets that follow each other are read where they lie they are the same as one by one,
 * whatever bit their payloads begin at; so are those of a source that has no reader.
 */
static void test_rows(void **state)
{
    static struct got rows[2], single[2];
    (void)state;
    for (unsigned seed = 1; seed <= 51; seed++) {
        struct wire_setup setup = {.count = 0};
        wire =
            (struct wire){.random = {seed}, .src_bits = seed % 17, .timestamp_bytes = seed % 3 * 4};
        wire_set(&setup, "src_bits", wire.src_bits);
        wire_set(&setup, "timestamp_bytes", wire.timestamp_bytes);
        setup.items[setup.count++] = (struct pug_setting){.name = "padding", .text = "sign"};
        for (size_t i = 0; i < PACKETS; i++) {
            const unsigned sources = wire.src_bits == 0 ? 1 : wire.src_bits == 1 ? 2 : 3;
            wire_random_packet(&wire, &packets[i], 0);
            const bool same_again = i > 0 && wire_below(&wire, 8) > 0;
            packets[i].source =
                same_again ? packets[i - 1].source : (uint16_t)wire_below(&wire, sources);
            wire_put_packet(&wire, &packets[i], FILL_SIGN);
            if (wire_below(&wire, 40) == 0)
                wire_put_null(&wire, false, 0);
        }
        size_t size;
        uint8_t *bytes = wire_bytes(&wire, 0, &size);
        const struct pug_settings settings = wire_settings(&setup);
        read_packets(&settings, bytes, size, 0, rows);
        read_packets(&settings, bytes, size, 1, single);
        size_t next[2] = {0, 0};
        for (size_t i = 0; i < PACKETS; i++)
            if (packets[i].source < 2)
                assert_int_equal(rows[packets[i].source].runs[next[packets[i].source]++].index,
                                 packets[i].at / 8);
        for (unsigned id = 0; id < 2; id++) {
            assert_int_equal(rows[id].count, next[id]);
            assert_int_equal(single[id].count, next[id]);
            assert_memory_equal(rows[id].runs, single[id].runs, next[id] * sizeof(struct run));
        }
        free(bytes);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_slips),
        cmocka_unit_test(test_cut_at_any_bit),
        cmocka_unit_test(test_no_sequence),
        cmocka_unit_test(test_no_sequence_at_all),
        cmocka_unit_test(test_begins_with_a_header),
        cmocka_unit_test(test_sources),
        cmocka_unit_test(test_rows),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
