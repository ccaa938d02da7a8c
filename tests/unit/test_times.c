// SPDX-License-Identifier: MIT
/** @file Times in one unit: what origins are dated, and what a selection of times gives. */
#include "recorder/bytes.h"
#include "support/perf_story.h"

#include "pugmark/advanced/capture.h"
#include "pugmark/advanced/consumer.h"
#include "pugmark/pugmark.h"
#include "support/temporary.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#define SOURCES 65536u /* of all buffers */

/** Elements with their times: in order of decoding. */
struct dated {
    uint64_t time, index, hash, source;
};

struct heard {
    const struct pug_capture *capture;
    const struct pug_capture_selection *selection;
    struct dated *items;
    size_t count, room;
    uint64_t outside;   /* of what was selected */
    uint64_t otherwise; /* timestamps with another time than their own */
    uint64_t backwards;
    uint64_t last[SOURCES];
};

struct part {
    struct heard *heard;
    struct dated *items;
    size_t count, room;
    uint64_t otherwise;
};

static void *begin(void *context, unsigned worker, struct pug_piece *piece)
{
    struct part *part = calloc(1, sizeof(*part));
    (void)worker;
    (void)piece;
    if (part)
        part->heard = context;
    return part;
}

static void elements(void *context, const struct pug_origin *origin,
                     const struct pug_element *given, size_t count)
{
    struct part *part = context;
    if (part->count + count > part->room) {
        part->room = 2 * part->room + count;
        part->items = realloc(part->items, part->room * sizeof(*part->items));
        assert_non_null(part->items);
    }
    for (size_t i = 0; i < count; i++) {
        const struct pug_element *e = &given[i];
        uint64_t own = e->timestamp;
        part->items[part->count++] =
            (struct dated){origin->time, e->index,
                           e->type * UINT64_C(0x9e3779b97f4a7c15) ^ e->start ^ e->end << 20,
                           origin->buffer << 8 | (e->source & 0xff)};
        if (e->type != PUG_ELEM_TIMESTAMP || own == 0)
            continue;
        (void)pug_capture_clock(part->heard->capture, own, &own);
        part->otherwise += own != origin->time;
    }
}

static void drop(void *context)
{
    struct part *part = context;
    free(part->items);
    free(part);
}

static bool take(void *context, void *taken)
{
    struct heard *heard = context;
    struct part *part = taken;
    if (heard->count + part->count > heard->room) {
        heard->room = 2 * heard->room + part->count;
        heard->items = realloc(heard->items, heard->room * sizeof(*heard->items));
        assert_non_null(heard->items);
    }
    if (part->count > 0)
        memcpy(heard->items + heard->count, part->items, part->count * sizeof(*part->items));
    heard->count += part->count;
    heard->otherwise += part->otherwise;
    drop(part);
    return true;
}

static struct heard *listen_to(struct pug_capture *capture, unsigned threads, bool any_order,
                               bool has_from, uint64_t from, bool has_to, uint64_t to)
{
    struct heard *heard = calloc(1, sizeof(*heard));
    const struct pug_capture_selection selection = {
        .has_from = has_from, .from = from, .has_to = has_to, .to = to};
    const struct pug_consumer consumer = {.context = heard,
                                          .wants = PUG_WANTS_TIMES |
                                                   (any_order ? PUG_WANTS_ANY_ORDER : 0u),
                                          .begin = begin,
                                          .elements = elements,
                                          .take = take,
                                          .drop = drop};
    const struct pug_capture_decode decode = {.consumers = &consumer,
                                              .consumer_count = 1,
                                              .threads = threads,
                                              .piece = 4096,
                                              .selection = &selection};
    struct pug_capture_result result;
    assert_non_null(heard);
    heard->capture = capture;
    assert_int_equal(pug_capture_decode(capture, &decode, &result), PUG_OK);
    for (size_t i = 0; i < heard->count; i++) {
        const struct dated *one = &heard->items[i];
        heard->backwards += one->time < heard->last[one->source];
        heard->last[one->source] = one->time;
        heard->outside += (has_from && one->time < from) || (has_to && one->time >= to);
    }
    return heard;
}

static struct heard *listen(struct pug_capture *capture, unsigned threads, bool has_from,
                            uint64_t from, bool has_to, uint64_t to)
{
    return listen_to(capture, threads, false, has_from, from, has_to, to);
}

static void heard_free(struct heard *heard)
{
    free(heard->items);
    free(heard);
}

static int by_time(const void *left, const void *right)
{
    const struct dated *a = left, *b = right;
    return a->time < b->time ? -1 : a->time > b->time;
}

/** A time of an element in the middle of what has times. */
static uint64_t middle(const struct heard *heard)
{
    struct dated *sorted = malloc(heard->count * sizeof(*sorted));
    assert_non_null(sorted);
    memcpy(sorted, heard->items, heard->count * sizeof(*sorted));
    qsort(sorted, heard->count, sizeof(*sorted), by_time);
    const uint64_t time = sorted[heard->count / 2].time;
    free(sorted);
    return time;
}

/** What is selected is what has such times, on any number of threads. */
static void check_window(struct pug_capture *capture, const struct heard *all, bool has_from,
                         uint64_t from, bool has_to, uint64_t to)
{
    for (unsigned threads = 1; threads <= 3; threads++) {
        struct heard *some = listen(capture, threads, has_from, from, has_to, to);
        size_t n = 0;
        for (size_t i = 0; i < all->count; i++) {
            const struct dated *one = &all->items[i];
            if (one->time == 0 || (has_from && one->time < from) || (has_to && one->time >= to))
                continue;
            assert_true(n < some->count);
            assert_int_equal(some->items[n].index, one->index);
            assert_int_equal(some->items[n].hash, one->hash);
            assert_int_equal(some->items[n++].time, one->time);
        }
        assert_int_equal(n, some->count);
        assert_int_equal(some->outside, 0);
        heard_free(some);
    }
}

/** When sources may come in any order, each of them is unchanged. */
static void check_any_order(struct pug_capture *capture, const struct heard *all, bool has_from,
                            uint64_t from)
{
    for (unsigned threads = 1; threads <= 3; threads += 2) {
        struct heard *mixed = listen_to(capture, threads, true, has_from, from, false, 0);
        size_t *next = calloc(SOURCES, sizeof(*next));
        assert_non_null(next);
        assert_int_equal(mixed->count, all->count);
        for (size_t i = 0; i < mixed->count; i++) {
            size_t *n = &next[mixed->items[i].source];
            while (*n < all->count && all->items[*n].source != mixed->items[i].source)
                ++*n;
            assert_true(*n < all->count);
            assert_memory_equal(&all->items[(*n)++], &mixed->items[i], sizeof(*mixed->items));
        }
        free(next);
        heard_free(mixed);
    }
}

static void check(struct pug_capture *capture)
{
    /* Of perf.data origins are finer where times are selected. */
    const bool perf = pug_capture_kind(capture) == PUG_CAPTURE_PERF;
    struct heard *all = listen(capture, 1, perf, 1, false, 0);
    assert_true(all->count > 2);
    assert_int_equal(all->backwards, 0);
    assert_int_equal(all->otherwise, 0);
    struct heard *again = listen(capture, 3, perf, 1, false, 0);
    assert_int_equal(all->count, again->count);
    assert_memory_equal(all->items, again->items, all->count * sizeof(*all->items));
    check_any_order(capture, all, perf, 1);
    const uint64_t time = middle(all);
    assert_true(time > 0);
    check_window(capture, all, true, time, false, 0);
    check_window(capture, all, false, 0, true, time);
    check_window(capture, all, true, time, true, time + (time >> 10) + 1);
    struct heard *before = listen(capture, 1, false, 0, true, time);
    struct heard *behind = listen(capture, 1, true, time, false, 0);
    assert_true(behind->count > 0 && behind->count <= all->count);
    assert_true(before->count + behind->count <= all->count);
    heard_free(before);
    heard_free(behind);
    heard_free(all);
    heard_free(again);
}

static struct pug_capture *open_with(const char *path, const char *protocol,
                                     const struct pug_setting *settings, size_t count)
{
    struct pug_capture *capture;
    const struct pug_capture_options options = {.protocol = protocol,
                                                .roots = {.symfs = "/nowhere", .build_ids = ""},
                                                .settings = {.items = settings, .count = count}};
    assert_int_equal(pug_capture_open(path, &options, &capture), PUG_OK);
    return capture;
}

/* ---- snapshots: of each protocol with timestamps ---- */

static void test_snapshots(void **state)
{
    static const char *const names[] = {"etmv4-a64",   "ete-a64",     "etmv3-arm",
                                        "ptm-arm",     "ntrace-rv64", "ntrace-rv64-btm",
                                        "etrace-rv64", "ete-a64-loss"};
    const struct pug_setting hertz = {.name = "timestamp_hz", .value = 3};
    (void)state;
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        char path[256];
        snprintf(path, sizeof(path), PUG_SOURCE_DIR "/tests/captures/%s", names[i]);
        struct pug_capture *capture = open_with(path, NULL, NULL, 0);
        struct pug_capture_time times = pug_capture_times(capture);
        assert_int_equal(times.unit, PUG_CAPTURE_TICKS);
        assert_string_equal(times.origin, "trace timestamps");
        assert_int_equal(pug_capture_record_times(capture).unit, PUG_CAPTURE_NO_TIME);
        check(capture);
        struct heard *ticks = listen(capture, 2, false, 0, false, 0);
        struct pug_capture *timed = open_with(path, NULL, &hertz, 1);
        times = pug_capture_times(timed);
        assert_int_equal(times.unit, PUG_CAPTURE_NANOSECONDS);
        assert_non_null(strstr(times.origin, "3 a second"));
        struct heard *seconds = listen(timed, 2, false, 0, false, 0);
        assert_int_equal(ticks->count, seconds->count);
        for (size_t n = 0; n < ticks->count; n++)
            assert_int_equal(seconds->items[n].time, ticks->items[n].time / 3 * 1000000000 +
                                                         ticks->items[n].time % 3 * 1000000000 / 3);
        check(timed);
        heard_free(ticks);
        heard_free(seconds);
        pug_capture_free(timed);
        pug_capture_free(capture);
    }
}

/* ---- one file: local timestamps are differences ---- */

static const uint8_t local[] = {0,   0,    0,    0,    0,    0x80, 0x01, 'a',  0x30, 0x01,
                                'b', 0xc0, 0x85, 0x01, 0x01, 'c',  0x20, 0x01, 'd'};

static void test_local(void **state)
{
    char path[128];
    (void)state;
    const int file = temporary_file(path, sizeof(path), "times");
    assert_true(file >= 0);
    assert_int_equal(write(file, local, sizeof(local)), sizeof(local));
    close(file);
    struct pug_capture *capture = open_with(path, "itm", NULL, 0);
    assert_int_equal(pug_capture_times(capture).unit, PUG_CAPTURE_TICKS);
    static const uint64_t expected[] = {3, 3 + 133, 3 + 133 + 2, 3 + 133 + 2};
    struct heard *all = listen(capture, 1, false, 0, false, 0);
    static const uint64_t places[] = {6, 9, 14, 17};
    size_t found = 0;
    for (size_t i = 0; i < all->count; i++)
        for (size_t n = 0; n < 4; n++)
            if (all->items[i].index == places[n]) {
                assert_int_equal(all->items[i].time, expected[n]);
                found++;
            }
    assert_true(found >= 4);
    check_window(capture, all, true, 4, true, 137);
    heard_free(all);
    pug_capture_free(capture);
    unlink(path);
}

/* ---- a stream: it is read into memory where times are selected ---- */

static void test_stream(void **state)
{
    int ends[2];
    (void)state;
    assert_int_equal(pipe(ends), 0);
    assert_int_equal(write(ends[1], local, sizeof(local)), sizeof(local));
    close(ends[1]);
    const int before = dup(0);
    assert_int_equal(dup2(ends[0], 0), 0);
    close(ends[0]);
    struct pug_capture *capture = open_with("-", "itm", NULL, 0);
    assert_true(pug_capture_is_live(capture));
    struct heard *some = listen(capture, 2, true, 136, true, 137);
    assert_int_equal(some->outside, 0);
    assert_true(some->count > 0);
    heard_free(some);
    pug_capture_free(capture);
    dup2(before, 0);
    close(before);
}

/* ---- perf.data ---- */

/** Nobody says which counter the trace's timestamps are of. */
static void forget_source(struct rec_bytes *file)
{
    static const uint8_t magic[8] = {0x40, 0x40, 0x40, 0x40, 0x40, 0x40, 0x40, 0x40};
    unsigned found = 0;
    for (size_t i = 0; i + 88 <= file->size; i += 8)
        if (memcmp(file->data + i, magic, 8) == 0 && file->data[i + 16] > 7) {
            memset(file->data + i + 80, 0xff, 8);
            found++;
        }
    assert_true(found > 0);
}

static void test_perf(void **state)
{
    const struct pug_setting settings[] = {{.name = "timestamp_virtual", .value = 1},
                                           {.name = "timestamp_hz", .value = 1000}};
    struct perf_story story;
    (void)state;
    perf_story_make(&story, &(struct perf_story_config){.seed = 5, .slices = 20, .cpus = 2});
    struct pug_capture *capture = open_with(perf_story_write(&story), NULL, NULL, 0);
    assert_int_equal(pug_capture_times(capture).unit, PUG_CAPTURE_NANOSECONDS);
    assert_string_equal(pug_capture_times(capture).origin, "perf clock");
    struct heard *known = listen(capture, 2, false, 0, false, 0);
    check(capture);
    pug_capture_free(capture);

    forget_source(&story.file);
    const char *path = perf_story_write(&story);
    capture = open_with(path, NULL, NULL, 0);
    assert_int_equal(pug_capture_times(capture).unit, PUG_CAPTURE_TICKS);
    assert_int_equal(pug_capture_record_times(capture).unit, PUG_CAPTURE_NANOSECONDS);
    check(capture);
    struct heard *ticks = listen(capture, 2, false, 0, false, 0);
    pug_capture_free(capture);

    capture = open_with(path, NULL, settings, 1);
    assert_string_equal(pug_capture_times(capture).origin, "perf clock");
    struct heard *told = listen(capture, 2, false, 0, false, 0);
    assert_int_equal(told->count, known->count);
    assert_memory_equal(told->items, known->items, told->count * sizeof(*told->items));
    pug_capture_free(capture);

    capture = open_with(path, NULL, settings + 1, 1);
    assert_int_equal(pug_capture_times(capture).unit, PUG_CAPTURE_NANOSECONDS);
    struct heard *seconds = listen(capture, 2, false, 0, false, 0);
    assert_int_equal(seconds->count, ticks->count);
    for (size_t i = 0; i < ticks->count; i++)
        assert_int_equal(seconds->items[i].time, ticks->items[i].time * 1000000);
    pug_capture_free(capture);
    heard_free(known);
    heard_free(ticks);
    heard_free(told);
    heard_free(seconds);
    perf_story_free(&story);
}

/** Records that have times of another clock (perf record -k) are not compared with trace. */
static void test_other_clock(void **state)
{
    enum { ATTRS = 120, ATTR = 144, FLAGS = 40, CLOCK = 92 };
    struct perf_story story;
    (void)state;
    perf_story_make(&story, &(struct perf_story_config){.seed = 5, .slices = 20, .cpus = 2});
    for (size_t at = ATTRS; at < ATTRS + 2 * ATTR; at += ATTR) {
        story.file.data[at + FLAGS + 3] |= 1u << 1; /* use_clockid */
        story.file.data[at + CLOCK] = 1;
    }
    struct pug_capture *capture = open_with(perf_story_write(&story), NULL, NULL, 0);
    assert_int_equal(pug_capture_times(capture).unit, PUG_CAPTURE_TICKS);
    assert_int_equal(pug_capture_record_times(capture).unit, PUG_CAPTURE_NANOSECONDS);
    assert_string_equal(pug_capture_record_times(capture).origin, "CLOCK_MONOTONIC");
    check(capture);
    pug_capture_free(capture);
    perf_story_free(&story);
}

/* ---- both ways ---- */

/** The place of a time is the first timestamp of it, or later. */
static void check_first(const struct pug_capture *capture, uint64_t time)
{
    uint64_t stamp, then;
    assert_true(pug_capture_timestamp(capture, time, &stamp));
    assert_true(pug_capture_clock(capture, stamp, &then));
    assert_true(then >= time);
    if (stamp > 0) {
        assert_true(pug_capture_clock(capture, stamp - 1, &then));
        assert_true(then < time);
    }
}

static void test_ways_of_settings(void **state)
{
    static const uint64_t hertz[] = {1, 3, 1000, 19200000, 999999999, 1000000000, 3000000000};
    struct perf_story story;
    struct pug_capture *capture;
    uint64_t stamp;
    (void)state;
    perf_story_make(&story, &(struct perf_story_config){.seed = 5, .slices = 2, .cpus = 1});
    forget_source(&story.file);
    const char *path = perf_story_write(&story);
    for (size_t i = 0; i < sizeof(hertz) / sizeof(hertz[0]); i++) {
        const struct pug_setting setting = {.name = "timestamp_hz", .value = hertz[i]};
        capture = open_with(path, NULL, &setting, 1);
        for (uint64_t time = 1; time < UINT64_C(1) << 62; time = time * 7 + 3)
            check_first(capture, time);
        assert_true(pug_capture_timestamp(capture, 0, &stamp) && stamp == 0);
        pug_capture_free(capture);
    }
    capture = open_with(path, NULL, NULL, 0); /* times are timestamps */
    assert_true(pug_capture_timestamp(capture, 12345, &stamp) && stamp == 12345);
    pug_capture_free(capture);
    perf_story_free(&story);
}

/** perf's clock: zero may lie before the counter's begin, which is a number near 2^64. */
static void test_ways_of_perf(void **state)
{
    static const struct {
        uint64_t shift, mult, zero;
    } clocks[] = {{0, 1, 0},
                  {10, 40960, 0},
                  {10, 40960, 1000000000},
                  {31, 85899345920, UINT64_C(0) - 5000000},
                  {20, 349525, 77}};
    struct perf_story story;
    uint64_t stamp;
    (void)state;
    perf_story_make(&story, &(struct perf_story_config){.seed = 5, .slices = 2, .cpus = 1});
    for (size_t i = 0; i < sizeof(clocks) / sizeof(clocks[0]); i++) {
        size_t at = 0;
        while (story.file.data[at] != 79 || story.file.data[at + 6] != 32) /* TIME_CONV */
            at++;
        const uint64_t words[] = {clocks[i].shift, clocks[i].mult, clocks[i].zero};
        for (size_t n = 0; n < 24; n++)
            story.file.data[at + 8 + n] = (uint8_t)(words[n / 8] >> n % 8 * 8);
        struct pug_capture *capture = open_with(perf_story_write(&story), NULL, NULL, 0);
        for (uint64_t since = 1; since < UINT64_C(1) << 40; since = since * 5 + 1)
            if (since + clocks[i].zero < UINT64_C(1) << 62)
                check_first(capture, since + clocks[i].zero);
        assert_true(pug_capture_timestamp(capture, clocks[i].zero, &stamp) && stamp == 0);
        pug_capture_free(capture);
    }
    perf_story_free(&story);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_snapshots),    cmocka_unit_test(test_local),
        cmocka_unit_test(test_stream),       cmocka_unit_test(test_perf),
        cmocka_unit_test(test_other_clock),  cmocka_unit_test(test_ways_of_settings),
        cmocka_unit_test(test_ways_of_perf),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
