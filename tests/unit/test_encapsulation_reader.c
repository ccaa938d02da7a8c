// SPDX-License-Identifier: MIT
/**
 * @file The public reader of the encapsulation: packets with all they carry, types of one's own.
 */
#include "pugmark/advanced/encapsulation.h"
#include "pugmark/advanced/jobs.h"
#include "pugmark/advanced/packet.h"
#include "pugmark/advanced/tree.h"
#include "pugmark/pugmark.h"
#include "recorder/encapsulation.h"
#include "recorder/frames.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
/* cmocka.h wants the three above first */
#include <cmocka.h>

static const struct pug_setting items[] = {{.name = "src_bits", .value = 8},
                                           {.name = "timestamp_bytes", .value = 2},
                                           {.name = "type_bits", .value = 8}};

/* source 2, type 7, time 0x1234, flow 1; nulls; source 3, type 0; source 2, type 9 */
static const uint8_t stream[] = {0xa3, 0x02, 0x34, 0x12, 0x07, 0xbe, 0xba, 0x60, 0x80, 0x02,
                                 0x03, 0x00, 0x1f, 0x02, 0x02, 0x09, 0x55, 0x01, 0x02};

struct taken {
    unsigned count;
    uint8_t last;
};

static void take(void *context, const struct pug_encapsulation_packet *packet)
{
    struct taken *taken = context;
    taken->count++;
    taken->last = packet->payload[0];
}

static size_t words(void *context, const struct pug_encapsulation_packet *packet, char *buffer,
                    size_t size)
{
    (void)context;
    return (size_t)snprintf(buffer, size, "%u bytes", packet->size);
}

static struct pug_encapsulation *open_reader(size_t count, struct pug_log *log)
{
    struct pug_encapsulation *reader;
    const struct pug_settings settings = {.items = items, .count = count};
    assert_int_equal(pug_encapsulation_new(&settings, log, &reader), PUG_OK);
    return reader;
}

static void test_packets(void **state)
{
    static const char *const lines[] = {
        ("Idx:0; SRC:2; [0xa3 0x02 0x34 0x12 0x07 0xbe 0xba ];\tENCAP_PKT : len=3 flow=1 ts=0x1234 "
         "type=7 MINE : 2 bytes"),
        "Idx:7; SRC:0; [0x60 ];\tENCAP_NULL_IDLE : flow=3",
        "Idx:8; SRC:0; [0x80 ];\tENCAP_NULL_ALIGN : flow=0",
        "Idx:9; SRC:3; [0x02 0x03 0x00 0x1f ];\tENCAP_PKT : len=2 flow=0 type=0",
        "Idx:13; SRC:2; [0x02 0x02 0x09 0x55 ];\tENCAP_PKT : len=2 flow=0 type=9 ANY"};
    (void)state;
    for (size_t piece = 1; piece <= sizeof(stream); piece++) {
        struct taken mine = {0}, any = {0};
        const struct pug_encapsulation_type types[] = {{.source = PUG_ENCAPSULATION_ANY_SOURCE,
                                                        .type = 7,
                                                        .name = "ANY",
                                                        .take = take,
                                                        .context = &any},
                                                       {.source = PUG_ENCAPSULATION_ANY_SOURCE,
                                                        .type = 9,
                                                        .name = "ANY",
                                                        .take = take,
                                                        .context = &any},
                                                       {.source = 2,
                                                        .type = 7,
                                                        .name = "MINE",
                                                        .text = words,
                                                        .take = take,
                                                        .context = &mine}};
        struct pug_encapsulation *reader = open_reader(3, NULL);
        struct pug_encapsulation_packet packet;
        for (size_t i = 0; i < 3; i++)
            assert_int_equal(pug_encapsulation_register(reader, &types[i]), PUG_OK);
        size_t at = 0, count = 0;
        for (bool ended = false; !ended;) {
            size_t left = sizeof(stream) - at;
            if (left == 0) {
                pug_encapsulation_end(reader);
                ended = true;
            }
            at += pug_encapsulation_fill(reader, at, stream + at, left < piece ? left : piece);
            while (pug_encapsulation_next(reader, &packet)) {
                char line[300];
                assert_true(count < 5);
                size_t length = pug_encapsulation_line(&packet, line, sizeof(line));
                assert_int_equal(length, strlen(line));
                assert_string_equal(line, lines[count++]);
            }
        }
        assert_int_equal(count, 5);
        assert_int_equal(mine.count, 1);
        assert_int_equal(mine.last, 0xbe);
        assert_int_equal(any.count, 1);
        assert_int_equal(any.last, 0x55);
        assert_int_equal(pug_encapsulation_skipped(reader), 2); /* the last packet is cut */
        pug_encapsulation_free(reader);
    }
}

static void test_one_packet(void **state)
{
    struct pug_encapsulation *reader = open_reader(3, NULL);
    struct pug_encapsulation_packet packet;
    (void)state;
    assert_false(pug_encapsulation_parse(reader, 0, stream, 6, &packet));
    assert_true(pug_encapsulation_parse(reader, 40, stream, sizeof(stream), &packet));
    assert_int_equal(packet.index, 40);
    assert_int_equal(packet.raw_size, 7);
    assert_int_equal(packet.type, 7);
    assert_int_equal(packet.content, PUG_ENCAPSULATION_OTHER);
    pug_encapsulation_free(reader);
    pug_encapsulation_free(NULL);
}

static void test_bad_settings(void **state)
{
    static const struct pug_setting bad = {.name = "src_bits", .value = 99};
    struct pug_encapsulation *reader;
    (void)state;
    assert_int_equal(
        pug_encapsulation_new(&(struct pug_settings){.items = &bad, .count = 1}, NULL, &reader),
        PUG_ERR_INVALID_PARAM_VAL);
}

/* ---- inside of CoreSight frames ---- */

#define STREAMS 2u

static const uint16_t ids[STREAMS] = {0x10, 0x2a};

/** What was put into one trace id's stream, and what was read from it. */
struct inner {
    struct rec_bytes bytes[4]; /* by flow */
    struct rec_bytes seen;
    unsigned packets, nulls, monitored;
    uint64_t last;
};

struct watcher {
    struct inner streams[STREAMS];
};

static void on_inner(void *context, uint16_t id, const struct pug_encapsulation_packet *packet)
{
    struct watcher *watcher = context;
    struct inner *one = &watcher->streams[id == ids[1]];
    assert_true(id == ids[0] || id == ids[1]);
    assert_int_equal(packet->source, id);
    rec_put_n(&one->seen, packet->raw, packet->raw_size);
    assert_int_equal(packet->raw[0] >> 5 & 3, packet->flow);
    one->packets += packet->kind == PUG_ENCAPSULATION_PACKET;
    one->nulls += packet->kind != PUG_ENCAPSULATION_PACKET;
    one->last = packet->index;
}

/** A payload comes directly after its packet. */
static void on_payload(void *context, enum pug_op op, const struct pug_packet *packet)
{
    struct inner *one = context;
    if (op != PUG_OP_DATA)
        return;
    one->monitored++;
    assert_int_equal(packet->index, one->last);
}

/** Some packets and nulls of one flow, of both types, after the existing ones. */
static void put_inner(struct inner *one, struct rec_bytes *all, struct rec_random *random)
{
    const size_t from = all->size;
    const bool begins = from == 0;
    const unsigned flow = begins ? 0 : (unsigned)rec_random_below(random, 4);
    struct rec_encapsulation to = {.type_bits = 8,
                                   .timestamp_bytes = 2,
                                   .flow = flow,
                                   .null_flow = flow,
                                   .unframed = rec_random_below(random, 2),
                                   .padding = REC_PAD_ZERO,
                                   .out = all};
    const uint64_t time = rec_random(random);
    const uint8_t support[] = {0x1f, 0, (uint8_t)rec_random(random)};
    if (begins)
        rec_encapsulation_sync(&to);
    else if (rec_random_below(random, 3) == 0)
        rec_encapsulation_nulls(&to, 1 + rec_random_below(random, 4));
    else
        assert_true(rec_encapsulate(&to, 0, 0, rec_random_below(random, 2) ? &time : NULL, support,
                                    sizeof(support)));
    rec_put_n(&one->bytes[flow], all->data + from, all->size - from);
}

static struct pug_tree *watch(struct watcher *watcher, const struct pug_setting *flow)
{
    struct pug_tree *tree;
    const struct pug_tree_config config = {.transport = "coresight"};
    assert_int_equal(pug_tree_new(&config, &tree), PUG_OK);
    for (unsigned n = 0; n < STREAMS; n++) {
        const struct pug_setting settings[] = {{.name = "src_id", .value = ids[n]},
                                               {.name = "timestamp_bytes", .value = 2},
                                               {.name = "type_bits", .value = 8},
                                               flow ? *flow : (struct pug_setting){.name = "-"}};
        struct pug_source *source;
        if (n == 1) /* it does not matter which is first */
            pug_tree_on_encapsulation(tree, on_inner, watcher);
        assert_int_equal(
            pug_tree_add_source(
                tree,
                &(struct pug_source_config){.protocol = "E-Trace", .settings = {settings, 4, NULL}},
                &source),
            PUG_OK);
        pug_source_monitor(source, on_payload, &watcher->streams[n]);
    }
    return tree;
}

static void feed(struct pug_tree *tree, const struct rec_bytes *frames, size_t piece)
{
    for (size_t at = 0, used; at < frames->size; at += used) {
        const size_t left = frames->size - at;
        assert_int_equal(
            pug_tree_data(tree, at, frames->data + at, left < piece ? left : piece, &used),
            PUG_RESP_CONT);
    }
    assert_int_equal(pug_tree_end(tree), PUG_RESP_CONT);
}

static void test_in_frames(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 30; seed++) {
        struct rec_random random = {seed};
        struct watcher watcher = {.streams[0].packets = 0};
        struct rec_bytes out = {0}, all[STREAMS] = {{0}, {0}};
        struct rec_frames frames = {.out = &out};
        for (unsigned i = 0; i < 60; i++) {
            const unsigned n = rec_random_below(&random, STREAMS);
            const size_t from = all[n].size;
            put_inner(&watcher.streams[n], &all[n], &random);
            rec_frames_put(&frames, (uint8_t)ids[n], all[n].data + from, all[n].size - from);
        }
        rec_frames_finish(&frames);
        struct pug_tree *tree = watch(&watcher, NULL);
        feed(tree, &out, 16 * (1 + seed % 7));
        pug_tree_free(tree);
        for (unsigned n = 0; n < STREAMS; n++) {
            struct inner *one = &watcher.streams[n];
            assert_int_equal(one->seen.size, all[n].size);
            assert_memory_equal(one->seen.data, all[n].data, all[n].size);
            assert_int_equal(one->monitored, one->packets);
            assert_true(one->nulls > 0);
            one->seen.size = 0;
            one->monitored = one->packets = 0;
        }
        /* packets of one flow alone, and their payloads */
        const struct pug_setting flow = {.name = "flow", .value = seed % 4};
        tree = watch(&watcher, &flow);
        feed(tree, &out, 16);
        pug_tree_free(tree);
        for (unsigned n = 0; n < STREAMS; n++) {
            struct inner *one = &watcher.streams[n];
            const struct rec_bytes *wanted = &one->bytes[seed % 4];
            assert_int_equal(one->seen.size, wanted->size);
            if (wanted->size > 0)
                assert_memory_equal(one->seen.data, wanted->data, wanted->size);
            assert_int_equal(one->monitored, one->packets);
            rec_bytes_free(&one->seen);
            rec_bytes_free(&all[n]);
            for (unsigned f = 0; f < 4; f++)
                rec_bytes_free(&one->bytes[f]);
        }
        rec_bytes_free(&out);
    }
}

/*
 * A source that is silent at first begins with a header, like one that is not; one that is read
 * from the middle of a capture on may not.
 */
static void test_late_in_frames(void **state)
{
    (void)state;
    struct rec_bytes out = {0}, all[STREAMS] = {{0}, {0}};
    struct rec_frames frames = {.out = &out};
    for (unsigned i = 0; i < 40; i++) {
        const unsigned n = i >= 30;
        const size_t from = all[n].size;
        struct rec_encapsulation to = {
            .type_bits = 8, .timestamp_bytes = 2, .padding = REC_PAD_ZERO, .out = &all[n]};
        const uint8_t payload[] = {(uint8_t)(0x55 + 2 * i), (uint8_t)i, 0x60};
        assert_true(rec_encapsulate(&to, 0, 0, NULL, payload, sizeof(payload)));
        rec_frames_put(&frames, (uint8_t)ids[n], all[n].data + from, all[n].size - from);
    }
    rec_frames_finish(&frames);
    for (size_t piece = 1; piece < 400; piece = piece * 2 + 5) {
        struct watcher watcher = {.streams[0].packets = 0};
        struct pug_tree *tree = watch(&watcher, NULL);
        feed(tree, &out, piece);
        pug_tree_free(tree);
        for (unsigned n = 0; n < STREAMS; n++) {
            assert_int_equal(watcher.streams[n].seen.size, all[n].size);
            assert_memory_equal(watcher.streams[n].seen.data, all[n].data, all[n].size);
            rec_bytes_free(&watcher.streams[n].seen);
        }
    }
    rec_bytes_free(&all[0]);
    rec_bytes_free(&all[1]);
    rec_bytes_free(&out);
}

static enum pug_response count_unknown(void *context, const struct pug_element *elements,
                                       size_t count, size_t *taken)
{
    unsigned *seen = context;
    (void)taken;
    for (size_t i = 0; i < count; i++)
        seen[elements[i].source == ids[1]]++;
    return PUG_RESP_CONT;
}

/** As many elements on any threads, and from any piece on, as on one. */
static void test_late_on_threads(void **state)
{
    (void)state;
    struct rec_bytes out = {0}, all[STREAMS] = {{0}, {0}};
    struct rec_frames frames = {.out = &out};
    unsigned expected[STREAMS] = {0};
    for (unsigned i = 0; i < 6000; i++) {
        const unsigned n = i >= 4000 && i % 3 == 0;
        const size_t from = all[n].size;
        struct rec_encapsulation to = {
            .type_bits = 8, .timestamp_bytes = 2, .padding = REC_PAD_ZERO, .out = &all[n]};
        const uint8_t payload[] = {(uint8_t)(0x55 + 2 * i), (uint8_t)i, 0x60};
        if (n == 0 && i % 500 == 0)
            rec_encapsulation_sync(&to);
        assert_true(rec_encapsulate(&to, 0, 0, NULL, payload, sizeof(payload)));
        rec_frames_put(&frames, (uint8_t)ids[n], all[n].data + from, all[n].size - from);
    }
    rec_frames_finish(&frames);
    for (unsigned threads = 1; threads <= 8; threads *= 2) {
        unsigned seen[STREAMS] = {0};
        struct pug_tree *tree;
        const struct pug_tree_config config = {.transport = "coresight"};
        assert_int_equal(pug_tree_new(&config, &tree), PUG_OK);
        const struct pug_jobs jobs = {.threads = threads, .piece = 1024};
        struct pug_jobs_result result;
        for (unsigned n = 0; n < STREAMS; n++) {
            const struct pug_setting settings[] = {{.name = "src_id", .value = ids[n]},
                                                   {.name = "timestamp_bytes", .value = 2},
                                                   {.name = "type_bits", .value = 8},
                                                   {.name = "xlen", .value = 64}};
            const struct pug_source_config source = {
                .protocol = "E-Trace", .decode = true, .settings = {settings, 4, NULL}};
            assert_int_equal(pug_tree_add_source(tree, &source, NULL), PUG_OK);
        }
        pug_tree_on_elements(tree, count_unknown, seen);
        assert_int_equal(pug_tree_decode(tree, &jobs, out.data, out.size, &result), PUG_OK);
        pug_tree_free(tree);
        if (threads == 1)
            memcpy(expected, seen, sizeof(seen));
        assert_memory_equal(seen, expected, sizeof(seen));
        assert_true(seen[1] > 0);
    }
    rec_bytes_free(&all[0]);
    rec_bytes_free(&all[1]);
    rec_bytes_free(&out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_packets),        cmocka_unit_test(test_in_frames),
        cmocka_unit_test(test_late_in_frames), cmocka_unit_test(test_late_on_threads),
        cmocka_unit_test(test_one_packet),     cmocka_unit_test(test_bad_settings),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
