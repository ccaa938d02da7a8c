// SPDX-License-Identifier: MIT
/**
 * @file Sources that speak in turn in CoreSight frames are decoded each over many turns, and what
 * comes of them is what comes where somebody looks at each packet: elements, and the messages
 * between them. For whole captures and damaged ones, in one piece and in many, also where the
 * consumer waits.
 */
#include "pugmark/pugmark.h"
#include "recorder/bytes.h"
#include "recorder/frames.h"
#include "recorder/stm.h"
#include "support/captures.h"
#include "support/outcome.h"
#include "support/share.h"
#include "tree/embed.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define ENOUGH (UINT64_C(64) << 10)
#define PACKET 32 /* elements, at most */

/* ---- what there is to compare ---- */

/** An element or a message in short. */
struct event {
    uint64_t hash, index;
    uint16_t source;
    bool message;
};

struct seen {
    struct event *events;
    size_t count, room;
    enum pug_response worst; /* answer of the tree */
    unsigned wait_once_in;   /* 0: never */
    bool warns;              /* the answer to what comes first is a warning */
    struct rec_random random;
};

static void see(struct seen *seen, const struct event *event)
{
    if (seen->count == seen->room) {
        seen->room = seen->room * 2 + 1024;
        seen->events = realloc(seen->events, seen->room * sizeof(*seen->events));
        assert_non_null(seen->events);
    }
    seen->events[seen->count++] = *event;
}

/** Has each of them one here, and are these the same? */
static bool is_same(const struct seen *expected, size_t i, const struct seen *seen, size_t j)
{
    if (!expected->events || !seen->events || i >= expected->count || j >= seen->count)
        return false;
    const struct event *a = &expected->events[i], *b = &seen->events[j];
    return a->hash == b->hash && a->index == b->index && a->source == b->source;
}

static enum pug_response take(void *context, const struct pug_element *elements, size_t count,
                              size_t *taken)
{
    struct seen *seen = context;
    const bool warns = seen->warns && seen->count == 0;
    for (size_t i = 0; i < count; i++) {
        const struct pug_element *e = &elements[i];
        see(seen, &(struct event){outcome_hash(e), e->index, e->source, false});
        if (seen->wait_once_in && rec_random_once_in(&seen->random, seen->wait_once_in)) {
            *taken = i + 1;
            return PUG_RESP_WAIT;
        }
    }
    return warns ? PUG_RESP_WARN_CONT : PUG_RESP_CONT;
}

static void hear(void *context, const struct pug_log_record *record)
{
    uint64_t hash = outcome_mix(1, record->text, strlen(record->text));
    hash = outcome_mix(hash, record->component, strlen(record->component));
    hash = outcome_mix(hash, &record->code, sizeof(record->code));
    see(context, &(struct event){hash, record->index, (uint16_t)record->source, true});
}

/* ---- decoding ---- */

struct manner {
    bool watched; /* somebody looks at each packet: no fast path serves, and no source is ahead */
    bool each;    /* packet's elements are delivered before the next packet is read */
    size_t block; /* bytes at a time */
    unsigned wait_once_in;
    bool warns;
};

static void watch(void *context, enum pug_op op, const struct pug_packet *packet)
{
    (void)context;
    (void)op;
    (void)packet;
}

/** All that comes of some bytes. */
static struct seen feed(struct pug_tree *tree, struct pug_log *log, const uint8_t *bytes,
                        size_t size, const struct manner *manner)
{
    struct seen seen = {
        .wait_once_in = manner->wait_once_in, .warns = manner->warns, .random = {manner->block}};
    enum pug_response answer = PUG_RESP_CONT;
    pug_tree_on_elements(tree, take, &seen);
    pug_tree_deliver_each_packet(tree, manner->each);
    for (size_t n = 0; manner->watched && pug_tree_source_at(tree, n); n++)
        pug_source_monitor(pug_tree_source_at(tree, n), watch, NULL);
    pug_log_set_sink(log, hear, &seen);
    for (size_t at = 0, used; at < size && !PUG_RESP_IS_FATAL(answer); at += used) {
        const size_t left = size - at;
        answer =
            pug_tree_data(tree, at, bytes + at, left < manner->block ? left : manner->block, &used);
        if (answer > seen.worst)
            seen.worst = answer;
        while (PUG_RESP_IS_WAIT(answer))
            answer = pug_tree_flush(tree);
    }
    if (!PUG_RESP_IS_FATAL(answer))
        answer = pug_tree_end(tree);
    while (PUG_RESP_IS_WAIT(answer))
        answer = pug_tree_flush(tree);
    return seen;
}

static struct pug_tree *make_tree(const struct capture *capture, struct pug_image *image,
                                  struct pug_log *log)
{
    struct pug_tree *tree = NULL;
    const struct pug_snapshot_tree_config config = {.image = image, .decode = true, .log = log};
    (void)pug_snapshot_tree(capture->snapshot, capture->buffer, &config, &tree);
    return tree;
}

/** *turns: was something taken in turns? */
static struct seen decode(const struct capture *capture, const struct manner *manner, bool *turns)
{
    struct seen seen = {0};
    struct pug_log *log = pug_log_new(PUG_SEV_INFO);
    struct pug_image *image = pug_image_new();
    struct pug_tree *tree = make_tree(capture, image, log);
    if (tree)
        seen = feed(tree, log, capture->bytes, capture->size, manner);
    *turns = tree && pug_tree_gathers(tree);
    pug_tree_free(tree);
    pug_image_free(image);
    pug_log_free(log);
    return seen;
}

/**
 * Elements come in the same order, and so do messages. These overtake elements that wait in a
 * batch. They follow the same others as before, except those of their packet, which has at most so
 * many.
 */
static void assert_same(const struct seen *expected, const struct seen *seen, uint32_t most,
                        const char *name)
{
    size_t i = 0, j = 0, elements = 0, seen_elements = 0;
    for (; i < expected->count || j < seen->count;) {
        while (i < expected->count && expected->events[i].message)
            i++;
        while (j < seen->count && seen->events[j].message)
            j++;
        if (i == expected->count && j == seen->count)
            break;
        if (!is_same(expected, i, seen, j))
            fail_msg("%s: element %zu differs (%zu and %zu events)", name, elements,
                     expected->count, seen->count);
        i++, j++, elements++;
    }
    elements = 0;
    for (i = j = 0; i < expected->count || j < seen->count; i++, j++) {
        for (; i < expected->count && !expected->events[i].message; i++)
            elements++;
        for (; j < seen->count && !seen->events[j].message; j++)
            seen_elements++;
        if (i == expected->count && j == seen->count)
            break;
        if (!is_same(expected, i, seen, j))
            fail_msg("%s: a message behind %zu elements differs", name, elements);
        if (seen_elements > elements + most)
            fail_msg("%s: a message stands behind %zu elements, not %zu", name, seen_elements,
                     elements);
    }
}

static const struct manner manners[] = {{.block = SIZE_MAX},
                                        {.block = 4096, .wait_once_in = 7},
                                        {.block = 160},
                                        {.block = 10000, .wait_once_in = 300},
                                        {.each = true, .block = SIZE_MAX}};
static const struct manner watched = {.watched = true, .each = true, .block = SIZE_MAX};

static bool compare(const struct capture *capture, const char *name)
{
    bool turns, taken = false;
    struct seen expected = decode(capture, &watched, &turns);
    assert_false(turns);
    for (size_t i = 0; i < sizeof(manners) / sizeof(manners[0]); i++) {
        struct seen seen = decode(capture, &manners[i], &turns);
        taken |= turns;
        assert_same(&expected, &seen, PACKET, name);
        if (manners[i].wait_once_in == 0)
            assert_int_equal(seen.worst, expected.worst);
        free(seen.events);
    }
    free(expected.events);
    return taken;
}

/* ---- captures in which sources speak in turn ---- */

struct streams {
    struct rec_bytes of[128];
};

static void keep_run(void *context, const struct pug_run *run)
{
    struct streams *streams = context;
    if (run->source > 0 && run->source < 0x70)
        rec_put_n(&streams->of[run->source], run->bytes, run->size);
}

/** A source that says nothing takes the settings of another source of its protocol. */
static void lend(struct pug_tree *tree, struct streams *streams)
{
    const struct pug_source *source, *other;
    for (size_t n = 0; (source = pug_tree_source_at(tree, n)); n++)
        for (size_t m = 0; (other = pug_tree_source_at(tree, m)); m++) {
            struct rec_bytes *to = &streams->of[pug_source_slot(source)];
            const struct rec_bytes *from = &streams->of[pug_source_slot(other)];
            if (to->size == 0 && from->size > 0 &&
                pug_source_protocol(source) == pug_source_protocol(other))
                rec_put_n(to, from->data, from->size);
        }
}

/** The same bytes of each source, a few at a time; 0x6f has no decoder. */
static struct rec_bytes take_turns(struct streams *streams, unsigned most, unsigned seed)
{
    struct rec_random random = {seed};
    struct rec_bytes bytes = {0};
    struct rec_frames frames = {.out = &bytes, .random = seed % 2 ? &random : NULL};
    size_t done[128] = {0}, left = 0;
    uint8_t ids[128];
    unsigned count = 0;
    rec_put_n(&streams->of[0x6f], "nobody hears this, whatever it is", 33);
    for (unsigned id = 0; id < 128; id++)
        if (streams->of[id].size > 0) {
            ids[count++] = (uint8_t)id;
            left += streams->of[id].size;
        }
    while (left > 0 && bytes.size < ENOUGH) {
        const uint8_t id = ids[rec_random_below(&random, count)];
        size_t size = 1 + rec_random_below(&random, most);
        if (size > streams->of[id].size - done[id])
            size = streams->of[id].size - done[id];
        rec_frames_put(&frames, id, streams->of[id].data + done[id], size);
        done[id] += size;
        left -= size;
    }
    rec_frames_finish(&frames);
    return bytes;
}

/** Its sources in turn, whole and damaged. *several: captures that have more than one. */
static void check(const struct capture *capture, unsigned *several)
{
    static const unsigned mosts[] = {24, 3, 200};
    const char *name = pug_snapshot_directory(capture->snapshot);
    struct pug_image *image = pug_image_new();
    struct pug_tree *tree = make_tree(capture, image, NULL);
    struct streams streams = {0};
    size_t used;
    if (tree && strcmp(pug_tree_transport(tree)->name, "coresight") == 0) {
        pug_tree_on_runs(tree, keep_run, &streams);
        (void)pug_tree_data(tree, 0, capture->bytes, capture->size, &used);
        lend(tree, &streams);
        const bool alone = !pug_tree_source_at(tree, 1);
        *several += !alone;
        for (unsigned i = 0; i < share_of(3); i++) {
            const unsigned seed = (*several + i) % 3; /* another one for each capture */
            struct rec_bytes bytes = take_turns(&streams, mosts[seed], seed);
            struct rec_random random = {seed};
            const struct capture turns = {capture->snapshot, capture->buffer, bytes.data,
                                          bytes.size};
            assert_true(compare(&turns, name) != alone);
            for (unsigned n = 0; n < 1 + bytes.size / 500; n++)
                bytes.data[rec_random_below(&random, (uint32_t)bytes.size)] ^=
                    (uint8_t)(1 + rec_random_below(&random, 255));
            (void)compare(&turns, name);
            rec_bytes_free(&bytes);
        }
    }
    for (unsigned id = 0; id < 128; id++)
        rec_bytes_free(&streams.of[id]);
    pug_tree_free(tree);
    pug_image_free(image);
}

#define SHORT 2000 /* bytes */

/** Each byte that there is at some places, or a share of them: as a header, where it is one. */
static void put_headers(const struct capture *capture)
{
    const char *name = pug_snapshot_directory(capture->snapshot);
    struct rec_random random = {1};
    struct rec_bytes bytes = {0};
    bool turns;
    const unsigned step = 64 / share_of(64), first = (unsigned)capture->size % step;
    for (unsigned header = first; header < 64 && capture->size > 0; header += step) {
        bytes.size = 0;
        rec_put_n(&bytes, capture->bytes, capture->size < SHORT ? capture->size : SHORT);
        for (unsigned i = 0; i < 4 + bytes.size / 60; i++)
            bytes.data[rec_random_below(&random, (uint32_t)bytes.size)] =
                (uint8_t)(header + i % 4 * 64);
        const struct capture changed = {capture->snapshot, capture->buffer, bytes.data, bytes.size};
        struct seen expected = decode(&changed, &watched, &turns);
        struct seen seen = decode(&changed, &manners[0], &turns);
        assert_same(&expected, &seen, UINT16_MAX, name);
        free(expected.events);
        free(seen.events);
    }
    rec_bytes_free(&bytes);
}

static void one_capture(struct capture *capture, void *context)
{
    if (capture->size > ENOUGH)
        capture->size = ENOUGH;
    (void)compare(capture, pug_snapshot_directory(capture->snapshot));
    check(capture, context);
    put_headers(capture);
}

static void test_captures(void **state)
{
    unsigned several = 0;
    captures_each(*(const enum captures *)*state, one_capture, &several);
    assert_true(several > 2);
}

/* ---- payloads ---- */

/** Messages of two packets, each of which becomes an element with a payload. */
static struct rec_bytes make_messages(void)
{
    struct rec_bytes bytes = {0};
    struct rec_stm stm = {.bytes = &bytes};
    rec_stm_put(&stm, &(struct pug_stm_packet){.type = PUG_STM_ASYNC});
    rec_stm_put(&stm, &(struct pug_stm_packet){.type = PUG_STM_VERSION, .payload = 3});
    for (unsigned i = 0; bytes.size < 20000; i++) {
        rec_stm_put(&stm, &(struct pug_stm_packet){
                              .type = PUG_STM_D8, .marker = true, .payload = (uint8_t)i});
        rec_stm_put(&stm,
                    &(struct pug_stm_packet){.type = PUG_STM_D8, .payload = (uint8_t)(i >> 8)});
    }
    rec_stm_end(&stm);
    return bytes;
}

static struct seen decode_messages(const struct rec_bytes *bytes, const struct manner *manner)
{
    const struct pug_setting ids[] = {{.name = "STMTCSR", .value = 0x110005},
                                      {.name = "STMTCSR", .value = 0x120005}};
    struct pug_log *log = pug_log_new(PUG_SEV_INFO);
    struct pug_tree *tree;
    assert_int_equal(
        pug_tree_new(&(struct pug_tree_config){.transport = "coresight", .log = log}, &tree),
        PUG_OK);
    for (unsigned i = 0; i < 2; i++) {
        const struct pug_source_config source = {.protocol = "STM",
                                                 .settings = {.items = &ids[i], .count = 1},
                                                 .decode = true,
                                                 .options = {.join_payloads = true}};
        assert_int_equal(pug_tree_add_source(tree, &source, NULL), PUG_OK);
    }
    struct seen seen = feed(tree, log, bytes->data, bytes->size, manner);
    assert_true(manner->each || pug_tree_gathers(tree));
    pug_tree_free(tree);
    pug_log_free(log);
    return seen;
}

/** A payload lasts until its element is delivered, though one source speaks most of the time. */
static void test_payloads(void **state)
{
    (void)state;
    struct rec_bytes messages = make_messages(), bytes = {0};
    struct rec_frames frames = {.out = &bytes};
    struct seen expected;
    for (size_t at = 0, other = 0; at + 64 < messages.size; at += 64, other += 2) {
        rec_frames_put(&frames, 0x11, messages.data + at, 64);
        rec_frames_put(&frames, 0x12, messages.data + other, 2);
    }
    rec_frames_finish(&frames);
    expected = decode_messages(&bytes, &watched);
    assert_true(expected.count > 5000);
    for (size_t i = 0; i < sizeof(manners) / sizeof(manners[0]); i++) {
        struct seen seen = decode_messages(&bytes, &manners[i]);
        assert_same(&expected, &seen, PACKET, "payloads");
        free(seen.events);
    }
    free(expected.events);
    rec_bytes_free(&bytes);
    rec_bytes_free(&messages);
}

/** What was decoded before others speak is delivered before they are, and its answer counts. */
static void test_answer(void **state)
{
    (void)state;
    static const struct manner manner = {.block = SIZE_MAX, .warns = true};
    struct rec_bytes messages = make_messages(), bytes = {0};
    struct rec_frames frames = {.out = &bytes};
    rec_frames_put(&frames, 0x11, messages.data, 400);
    for (size_t at = 400; at < 2000; at += 8) {
        rec_frames_put(&frames, 0x12, messages.data + at - 400, 8);
        rec_frames_put(&frames, 0x11, messages.data + at, 8);
    }
    rec_frames_finish(&frames);
    struct seen seen = decode_messages(&bytes, &manner);
    assert_int_equal(seen.worst, PUG_RESP_WARN_CONT);
    free(seen.events);
    rec_bytes_free(&bytes);
    rec_bytes_free(&messages);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_payloads),
                                       cmocka_unit_test(test_answer), TEST_CAPTURES(test_captures)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
