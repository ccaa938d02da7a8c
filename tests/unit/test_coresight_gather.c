// SPDX-License-Identifier: MIT
/**
 * @file CoreSight frames source by source (pug_tree_any_order()): each byte comes to its source
 * under its index, in its order, whatever the frames and the blocks are; what a consumer that waits
 * leaves comes later. So it is where they are gathered for the trace's order (test_turns.c).
 */
#include "pugmark/advanced/counts.h"
#include "pugmark/advanced/packet.h"
#include "pugmark/advanced/transport.h"
#include "pugmark/advanced/tree.h"
#include "pugmark/pugmark.h"
#include "recorder/bytes.h"
#include "recorder/frames.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#define SOURCES 128u

/* ---- what there is to compare ---- */

struct seen {
    struct rec_bytes
        bytes[SOURCES + 1]; /* by source: each with its index; the last one: those of no source */
    uint16_t last;          /* who was heard last */
    unsigned changes;       /* how often another was */
};

static void see_run(void *context, const struct pug_run *run)
{
    struct seen *seen = context;
    struct rec_bytes *bytes = &seen->bytes[run->source < SOURCES ? run->source : SOURCES];
    seen->changes += seen->last != run->source;
    seen->last = run->source;
    for (size_t i = 0; i < run->size; i++) {
        const uint64_t index = run->index + i + (run->gaps ? run->gaps[i] : 0);
        for (unsigned shift = 0; shift < 64; shift += 8)
            rec_put(bytes, (uint8_t)(index >> shift));
        rec_put(bytes, run->bytes[i]);
    }
}

struct manner {
    const char *flag; /**< of the transport */
    bool dstream, strict;
    bool counts; /**< or delivers elements */
};

static struct pug_tree *make_tree(const struct manner *manner)
{
    const struct pug_setting settings[] = {{.name = manner->flag, .value = 1},
                                           {.name = "dstream", .value = manner->dstream}};
    struct pug_tree_config config = {.transport = "coresight",
                                     .settings = {.items = settings, .count = 2}};
    struct pug_tree *tree;
    config.quirks.empty_run_fatal = manner->strict;
    assert_int_equal(pug_tree_new(&config, &tree), PUG_OK);
    return tree;
}

/** The runs of a stream, in blocks as `seed` has it (0: one), and what the transport counted. */
static struct seen see(const struct manner *manner, const struct rec_bytes *stream, bool any_order,
                       unsigned seed, struct pug_transport_stats *stats)
{
    struct rec_random random = {seed};
    struct seen seen = {.last = UINT16_MAX};
    struct pug_counts *counts = pug_counts_new();
    struct pug_tree *tree = make_tree(manner);
    pug_tree_on_runs(tree, see_run, &seen);
    pug_tree_splice_runs(tree, true);
    if (manner->counts)
        pug_tree_count(tree, counts);
    pug_tree_any_order(tree, any_order);
    for (size_t at = 0, used; at < stream->size; at += used) {
        size_t size = seed == 0 ? stream->size : 1 + rec_random_below(&random, 40000);
        if (size > stream->size - at)
            size = stream->size - at;
        const enum pug_response answer = pug_tree_data(tree, at, stream->data + at, size, &used);
        if (PUG_RESP_IS_FATAL(answer))
            break;
        assert_int_equal(used, size);
    }
    (void)pug_tree_end(tree);
    *stats = *pug_tree_transport_stats(tree);
    pug_tree_count(tree, NULL);
    pug_tree_free(tree);
    pug_counts_free(counts);
    return seen;
}

static void compare(const struct manner *manner, const struct rec_bytes *stream, unsigned seed,
                    unsigned most_changes)
{
    struct pug_transport_stats ordered_stats, stats;
    struct seen ordered = see(manner, stream, false, 0, &ordered_stats);
    struct seen seen = see(manner, stream, true, seed, &stats);
    for (unsigned i = 0; i <= SOURCES; i++) {
        assert_int_equal(seen.bytes[i].size, ordered.bytes[i].size);
        if (seen.bytes[i].size > 0)
            assert_memory_equal(seen.bytes[i].data, ordered.bytes[i].data, seen.bytes[i].size);
        rec_bytes_free(&seen.bytes[i]);
        rec_bytes_free(&ordered.bytes[i]);
    }
    assert_memory_equal(&stats, &ordered_stats, sizeof(stats));
    assert_true(most_changes == 0 || seen.changes <= most_changes);
}

/* ---- frames of all kinds ---- */

/** Several sources in turn, a few bytes at a time; `odd`: with ids that are not needed. */
static struct rec_bytes take_turns(unsigned seed, unsigned sources, unsigned sync_every, bool odd)
{
    struct rec_random random = {seed};
    struct rec_bytes bytes = {0};
    struct rec_frames frames = {
        .out = &bytes, .sync_every = sync_every, .random = odd ? &random : NULL};
    uint8_t data[40];
    while (bytes.size < 100000) {
        for (size_t i = 0; i < sizeof(data); i++)
            data[i] = (uint8_t)rec_random(&random);
        const uint8_t id = (uint8_t)(1 + rec_random_below(&random, sources));
        rec_frames_put(&frames, id, data, 1 + rec_random_below(&random, sizeof(data)));
    }
    rec_frames_finish(&frames);
    return bytes;
}

static const struct manner manners[] = {
    {"mem_align", false, false, false}, {"mem_align", true, false, true},
    {"mem_align", false, true, false},  {"fsyncs", false, false, false},
    {"hsyncs", false, false, true},
};

static void test_turns(void **state)
{
    (void)state;
    for (unsigned seed = 1; seed <= 12; seed++)
        for (size_t i = 0; i < sizeof(manners) / sizeof(manners[0]); i++) {
            const unsigned sources = seed % 3 == 0 ? 100 : 1 + seed; /* more than are gathered */
            struct rec_bytes bytes =
                take_turns(seed, sources, manners[i].flag[0] == 'f' ? 50 : 0, seed % 2);
            compare(&manners[i], &bytes, seed % 4, 0);
            rec_bytes_free(&bytes);
        }
}

/** It is done at all: four sources change as often as a window ends, not as often as they speak. */
static void test_gathers(void **state)
{
    (void)state;
    struct rec_bytes bytes = take_turns(1, 4, 0, false);
    for (unsigned counts = 0; counts < 2; counts++) {
        const struct manner manner = {.flag = "mem_align", .counts = counts};
        compare(&manner, &bytes, 0, 5 * (unsigned)(bytes.size / 16384 + 1));
    }
    rec_bytes_free(&bytes);
}

/** Bytes that are no frames: every id there is, padding, halves of synchronisations. */
static void test_any_bytes(void **state)
{
    (void)state;
    for (unsigned seed = 1; seed <= 60; seed++) {
        struct rec_random random = {seed};
        struct rec_bytes bytes = {0};
        while (bytes.size < 20000) {
            const uint8_t byte = (uint8_t)rec_random(&random);
            if (rec_random_once_in(&random, 300))
                for (unsigned i = 0; i < 16; i++)
                    rec_put(&bytes, i % 4 == 3 ? 0x7f : 0xff);
            rec_put(&bytes, seed % 3 && rec_random_once_in(&random, 2) ? byte & 0xfe : byte);
        }
        compare(&manners[seed % 5], &bytes, seed % 4, 0);
        rec_bytes_free(&bytes);
    }
}

/* ---- who waits ---- */

struct taker {
    struct rec_bytes bytes[SOURCES];
    struct rec_random random;
    unsigned wait_once_in;
};

static enum pug_response take(void *context, const struct pug_element *elements, size_t count,
                              size_t *taken)
{
    struct taker *taker = context;
    for (size_t i = 0; i < count; i++) {
        const struct pug_element *e = &elements[i];
        for (unsigned shift = 0; shift < 64; shift += 8)
            rec_put(&taker->bytes[e->source], (uint8_t)(e->index >> shift));
        rec_put(&taker->bytes[e->source], (uint8_t)e->type);
        if (taker->wait_once_in && rec_random_once_in(&taker->random, taker->wait_once_in)) {
            *taken = i + 1;
            return PUG_RESP_WAIT;
        }
    }
    return PUG_RESP_CONT;
}

/** Elements of sources of ITM, which reads any bytes. */
static struct taker decode(const struct manner *manner, const struct rec_bytes *stream,
                           bool any_order, bool counted, unsigned wait_once_in)
{
    struct taker taker = {.random = {wait_once_in + 1}, .wait_once_in = wait_once_in};
    struct pug_tree *tree = make_tree(manner);
    struct pug_counts *counts = pug_counts_new();
    size_t used = 0;
    for (unsigned id = 1; id <= 4; id++) {
        const struct pug_setting setting = {.name = "src_id", .value = id};
        const struct pug_source_config source = {
            .protocol = "ITM", .settings = {.items = &setting, .count = 1}, .decode = true};
        assert_int_equal(pug_tree_add_source(tree, &source, NULL), PUG_OK);
    }
    pug_tree_on_elements(tree, take, &taker);
    if (counted)
        pug_tree_count(tree, counts);
    pug_tree_any_order(tree, any_order);
    for (size_t at = 0; at < stream->size; at += used) {
        enum pug_response answer =
            pug_tree_data(tree, at, stream->data + at, stream->size - at, &used);
        while (PUG_RESP_IS_WAIT(answer))
            answer = pug_tree_flush(tree);
        assert_true(PUG_RESP_IS_CONT(answer));
    }
    enum pug_response answer = pug_tree_end(tree);
    while (PUG_RESP_IS_WAIT(answer))
        answer = pug_tree_flush(tree);
    pug_tree_count(tree, NULL);
    pug_tree_free(tree);
    pug_counts_free(counts);
    return taker;
}

/** Each source begins with synchronisation, and goes on with anything. */
static struct rec_bytes make_itm(unsigned sync_every)
{
    static const uint8_t async[] = {0, 0, 0, 0, 0, 0x80};
    struct rec_bytes bytes = {0}, tail = take_turns(3, 4, sync_every, false);
    struct rec_frames frames = {.out = &bytes, .sync_every = sync_every};
    for (uint8_t id = 1; id <= 4; id++)
        rec_frames_put(&frames, id, async, sizeof(async));
    rec_frames_finish(&frames);
    for (size_t i = 0; i < tail.size; i++)
        rec_put(&bytes, tail.data[i]);
    rec_bytes_free(&tail);
    return bytes;
}

static void wait_in(const struct manner *manner, unsigned sync_every)
{
    struct rec_bytes bytes = make_itm(sync_every);
    struct taker plain = decode(manner, &bytes, false, true, 0);
    for (unsigned n = 0; n < 12; n++) {
        const unsigned once_in = n / 2 * 7;
        struct taker waiting = decode(manner, &bytes, n % 2, n % 2 && once_in % 2, once_in);
        for (unsigned i = 0; i < SOURCES; i++) {
            assert_int_equal(waiting.bytes[i].size, plain.bytes[i].size);
            if (plain.bytes[i].size > 0)
                assert_memory_equal(waiting.bytes[i].data, plain.bytes[i].data,
                                    plain.bytes[i].size);
            rec_bytes_free(&waiting.bytes[i]);
        }
    }
    for (unsigned i = 0; i < SOURCES; i++)
        rec_bytes_free(&plain.bytes[i]);
    rec_bytes_free(&bytes);
}

static void test_waits(void **state)
{
    (void)state;
    wait_in(&manners[0], 0);
    wait_in(&manners[3], 50);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_turns),
        cmocka_unit_test(test_gathers),
        cmocka_unit_test(test_any_bytes),
        cmocka_unit_test(test_waits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
