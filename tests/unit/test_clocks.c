// SPDX-License-Identifier: MIT
/**
 * @file Clocks that wrap, of which packets have the lower bits: who reads from the middle of a
 * trace on does not know the others. Without consumers threads still meet, and indexes have the
 * whole times that one reader reports.
 */
#include "base/bytes.h"
#include "index/format.h"
#include "pugmark/pugmark.h"
#include "recorder/encapsulation.h"
#include "recorder/osd.h"
#include "tree/embed.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define PACKETS 4000u
#define BLOCK   1024u

/* ---- traces ---- */

/** The next time of a clock of so many bits; it wraps often. */
static uint64_t step(struct rec_random *random, unsigned bits)
{
    return rec_random(random) & (UINT64_MAX >> (64 - bits) >> rec_random_below(random, 6));
}

/** Synchronisations; after `stamped` of them some have no time but their own. */
static struct rec_bytes make_stamped(uint64_t seed, unsigned stamped)
{
    struct rec_bytes bytes = {0};
    struct rec_encapsulation out = {
        .src_bits = 2, .timestamp_bytes = 1, .padding = REC_PAD_ZERO, .out = &bytes};
    struct rec_random random = {.state = seed};
    uint64_t times[3] = {0};
    rec_encapsulation_sync(&out);
    for (unsigned n = 0; n < PACKETS; n++) {
        const uint8_t sync[] = {0x83, 0x10, (uint8_t)rec_random(&random), 0x40, 0, 0, 0, 0};
        const uint16_t id = n > PACKETS / 2 && n < PACKETS / 3 * 2 ? 1 : n % 2;
        times[id] += step(&random, 8);
        if (rec_random_once_in(&random, 50))
            rec_encapsulation_sync(&out);
        rec_encapsulate(&out, id, 0, n < stamped || n % 5 ? &times[id] : NULL, sync, sizeof(sync));
    }
    return bytes;
}

static struct rec_bytes make_etrace(uint64_t seed)
{
    return make_stamped(seed, 0);
}

/** They have a field of a whole time. */
static struct rec_bytes make_own(uint64_t seed)
{
    return make_stamped(seed, PACKETS / 3 * 2);
}

static struct rec_bytes make_osd(uint64_t seed)
{
    struct rec_bytes bytes = {0};
    struct rec_random random = {.state = seed};
    struct rec_osd *osd = rec_osd_new(&(struct rec_osd_options){.longest = 12, .dest = 1}, &bytes);
    uint64_t times[2] = {0};
    assert_non_null(osd);
    for (unsigned n = 0; n < PACKETS; n++) {
        times[n % 2] += step(&random, 32);
        rec_osd_stm(osd, n % 2, 32, (uint32_t)times[n % 2], 7, n);
        if (rec_random_once_in(&random, 100))
            rec_osd_overflow(osd, n % 2, 3);
    }
    rec_osd_finish(osd);
    rec_osd_free(osd);
    return bytes;
}

static void put_time(struct rec_bytes *bytes, uint64_t time)
{
    for (; time > 63; time >>= 6)
        rec_put(bytes, (uint8_t)((time & 63) << 2));
    rec_put(bytes, (uint8_t)(time << 2 | 3));
}

/** ProgTraceSync with a time of 12 bits, Ownership with the difference. */
static struct rec_bytes make_ntrace(uint64_t seed)
{
    struct rec_bytes bytes = {0};
    struct rec_random random = {.state = seed};
    uint64_t time = 0;
    for (unsigned n = 0; n < PACKETS; n++) {
        const uint64_t more = step(&random, 12);
        time += more;
        if (rec_random_once_in(&random, 4)) {
            rec_put_n(&bytes, (const uint8_t[]){0x24, 0x0d, 0x00, 0x81}, 4);
            put_time(&bytes, time & 0xfff);
        } else {
            rec_put_n(&bytes, (const uint8_t[]){0x08, 0x89}, 2);
            put_time(&bytes, more);
        }
    }
    return bytes;
}

struct trace {
    const char *protocol, *transport;
    unsigned sources;
    struct rec_bytes (*make)(uint64_t seed);
    bool whole; /* in the end the time is known */
    struct pug_setting settings[7];
};

#define ETRACE                                                                                     \
    {"src_bits", 2, NULL}, {"timestamp_bytes", 1, NULL}, {"xlen", 64, NULL},                       \
        {"iaddress_lsb_p", 1, NULL},                                                               \
    {                                                                                              \
        "iaddress_width_p", 32, NULL                                                               \
    }

static const struct trace traces[] = {
    {"E-Trace", "encapsulation", 2, make_etrace, false, {ETRACE}},
    {"E-Trace",
     "encapsulation",
     2,
     make_own,
     true,
     {ETRACE, {"time_width_p", 8, NULL}, {"notime_p", 0, NULL}}},
    {"OSD-STM", "osd", 2, make_osd, false, {{NULL, 0, NULL}}},
    {"N-Trace", "plain", 1, make_ntrace, false, {{"xlen", 64, NULL}, {"ts_width", 12, NULL}}}};

static struct pug_tree *new_tree(const struct trace *trace)
{
    struct pug_setting settings[8];
    size_t count = 0;
    for (; count < 7 && trace->settings[count].name; count++)
        settings[count] = trace->settings[count];
    const struct pug_tree_config config = {.transport = trace->transport,
                                           .settings = {settings, count, NULL}};
    struct pug_tree *tree = NULL;
    assert_int_equal(pug_tree_new(&config, &tree), PUG_OK);
    for (unsigned id = 0; id < trace->sources; id++) {
        settings[count] = (struct pug_setting){"src_id", id, NULL};
        const struct pug_source_config source = {
            .protocol = trace->protocol,
            .settings = {settings, count + (trace->sources > 1), NULL}};
        assert_int_equal(pug_tree_add_source(tree, &source, NULL), PUG_OK);
    }
    return tree;
}

/** Each of them, and damaged. */
static void each_trace(void (*visit)(const struct trace *trace, const struct rec_bytes *bytes))
{
    for (size_t i = 0; i < sizeof(traces) / sizeof(traces[0]); i++) {
        for (uint64_t seed = 1; seed < 6; seed++) {
            struct rec_bytes bytes = traces[i].make(seed);
            struct rec_random random = {.state = seed};
            for (unsigned n = 0; n < 8 * (seed - 1); n++)
                bytes.data[rec_random_below(&random, (uint32_t)bytes.size)] ^=
                    (uint8_t)rec_random(&random);
            visit(&traces[i], &bytes);
            rec_bytes_free(&bytes);
        }
    }
}

/* ---- indexes ---- */

static struct pug_index *build(const struct trace *trace, const struct rec_bytes *bytes,
                               const struct pug_index_options *options)
{
    struct pug_tree *tree = new_tree(trace);
    struct pug_index *index = NULL;
    assert_int_equal(pug_index_build(tree, bytes->data, bytes->size, options, &index), PUG_OK);
    pug_tree_free(tree);
    return index;
}

static void assert_same(struct pug_index *index, const struct pug_index *other)
{
    assert_int_equal(index->size, other->size);
    assert_memory_equal(index->bytes, other->bytes, index->size);
    pug_index_free(index);
}

/** However many threads make it, and where it goes on. */
static void compare_indexes(const struct trace *trace, const struct rec_bytes *bytes)
{
    for (unsigned full = 0; full < 2; full++) {
        struct pug_index_options options = {.block = BLOCK, .jobs = 1, .full = full};
        struct pug_index *one = build(trace, bytes, &options), *whole = NULL;
        for (options.jobs = 2; options.jobs < 5; options.jobs++) {
            assert_same(build(trace, bytes, &options), one);
            options.limit = bytes->size / options.jobs;
            struct pug_index *part = build(trace, bytes, &options);
            struct pug_tree *tree = new_tree(trace);
            options.limit = 0;
            assert_int_equal(
                pug_index_extend(part, tree, bytes->data, bytes->size, &options, &whole), PUG_OK);
            assert_same(whole, one);
            pug_tree_free(tree);
            pug_index_free(part);
        }
        pug_index_free(one);
    }
}

static void indexes_are_the_same(void **state)
{
    (void)state;
    each_trace(compare_indexes);
}

/** Each time is found by what is there in part, as by all. */
static void find_times(const struct trace *trace, const struct rec_bytes *bytes)
{
    struct pug_index *index = build(trace, bytes, &(struct pug_index_options){.block = BLOCK});
    struct pug_index *full =
        build(trace, bytes, &(struct pug_index_options){.block = BLOCK, .full = true});
    struct pug_tree *tree = new_tree(trace);
    struct rec_random random = {.state = 3};
    for (unsigned n = 0; n < 40; n++) {
        struct pug_index_mark mark = {0}, other = {0};
        const struct pug_index_query query = {.kind = PUG_MARK_TIMESTAMP,
                                              .source = PUG_INDEX_ANY,
                                              .from =
                                                  rec_random_below(&random, (uint32_t)bytes->size),
                                              .least = n % 4 > 1 ? step(&random, 44) : 0,
                                              .greatest = UINT64_MAX,
                                              .backwards = n % 2};
        const enum pug_status status =
            pug_index_find(index, tree, bytes->data, bytes->size, &query, &mark);
        assert_int_equal(pug_index_find(full, tree, bytes->data, bytes->size, &query, &other),
                         status);
        assert_true(mark.at == other.at && mark.value == other.value);
    }
    pug_tree_free(tree);
    pug_index_free(full);
    pug_index_free(index);
}

static void times_are_found(void **state)
{
    (void)state;
    each_trace(find_times);
}

/* ---- who begins in the middle ---- */

static void forget(struct pug_mark_list *list)
{
    list->count = 0;
}

/** Is there one state at the end of the trace, wherever reading began? */
static bool meet(const struct trace *trace, const struct rec_bytes *bytes,
                 struct pug_mark_list *list, bool untimed)
{
    struct pug_state states[2] = {{0}, {0}};
    struct pug_tree *trees[2];
    for (unsigned n = 0; n < 2; n++) {
        trees[n] = new_tree(trace);
        for (size_t i = 0; i < pug_tree_source_count(trees[n]); i++)
            pug_source_marks(pug_tree_source_at(trees[n], i), list);
        if (untimed)
            pug_tree_skip_unwatched(trees[n], true);
        uint64_t at = n * (bytes->size / 2 / PUG_INDEX_ALIGNMENT * PUG_INDEX_ALIGNMENT);
        assert_int_equal(pug_tree_feed(trees[n], bytes->data, &at, bytes->size), PUG_RESP_CONT);
        assert_true(pug_tree_state(trees[n], &states[n]));
    }
    const bool met = pug_state_equal(&states[0], &states[1]);
    for (unsigned n = 0; n < 2; n++) {
        pug_state_free(&states[n]);
        pug_tree_free(trees[n]);
    }
    return met;
}

/** Only who looks at the times as packets have them has to know all of them. */
static void threads_meet(void **state)
{
    struct pug_placed_mark marks[2 * PUG_MARK_LIMIT];
    struct pug_mark_list list = {.marks = marks, .room = 2 * PUG_MARK_LIMIT, .full = forget};
    (void)state;
    for (size_t i = 0; i < sizeof(traces) / sizeof(traces[0]); i++) {
        struct rec_bytes bytes = traces[i].make(1);
        assert_true(meet(&traces[i], &bytes, &list, false));
        assert_true(meet(&traces[i], &bytes, NULL, true));
        assert_int_equal(meet(&traces[i], &bytes, NULL, false), traces[i].whole);
        rec_bytes_free(&bytes);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(indexes_are_the_same),
        cmocka_unit_test(times_are_found),
        cmocka_unit_test(threads_meet),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
