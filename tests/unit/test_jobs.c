// SPDX-License-Identifier: MIT
/**
 * @file Many threads give what one gives: elements, payloads, messages, answers, in the same order;
 * for whole captures and damaged ones, with pieces that are far too small, so that there are many
 * places where one decoder takes over from another.
 */
#include "pugmark/advanced/counts.h"
#include "pugmark/advanced/encapsulation.h"
#include "pugmark/pugmark.h"
#include "recorder/frames.h"
#include "support/captures.h"
#include "support/harts.h"
#include "support/hash_parts.h"
#include "support/share.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* Beyond ENOUGH the places to join repeat. Sanitizers take up to twenty times as long. */
#if defined(__SANITIZE_THREAD__)
#define ENOUGH      (UINT64_C(32) << 10)
#define LOSSES      1
#define MANNER_STEP 2
#define JOIN_BYTES  ((size_t)1 << 20)
#define ITM_PIECE   ((size_t)64 << 10)
#elif defined(__SANITIZE_ADDRESS__)
#define ENOUGH      (UINT64_C(96) << 10)
#define LOSSES      2
#define MANNER_STEP 1
#define JOIN_BYTES  ((size_t)2 << 20)
#define ITM_PIECE   ((size_t)128 << 10)
#else
#define ENOUGH      (UINT64_C(128) << 10)
#define LOSSES      3
#define MANNER_STEP 1
#define JOIN_BYTES  ((size_t)2 << 20)
#define ITM_PIECE   ((size_t)384 << 10)
#endif

/** How a capture is decoded. */
struct manner {
    unsigned threads;
    size_t block, piece;
    bool parts, chunks, packets;
};

static const struct manner manners[] = {
    {1, 0, 0, true, false, false},      {2, 64, 1024, false, false, false},
    {3, 64, 512, true, true, false},    {8, 128, 4096, false, false, false},
    {2, 512, 16384, true, true, false}, {3, 16, 128, false, false, false},
    {1, 0, 0, true, true, false},       {8, 64, 512, true, false, false},
    {2, 64, 512, true, false, true},    {8, 16, 256, true, true, true},
};

static enum pug_response take_elements(void *context, const struct pug_element *elements,
                                       size_t count, size_t *taken)
{
    struct outcome *outcome = context;
    /* one more wait now and then must change nothing */
    if (outcome->elements % 97 == 5 && count > 1) {
        *taken = 1;
        outcome_add(outcome, outcome_hash(elements));
        return PUG_RESP_WAIT;
    }
    for (size_t i = 0; i < count; i++)
        outcome_add(outcome, outcome_hash(&elements[i]));
    return PUG_RESP_CONT;
}

/* Size of a chunk: so large that the others have to wait. */
#define CHUNK_SIZE ((size_t)10 << 20)

/* ---- decoding ---- */

static struct outcome decode(const struct capture *capture, const struct manner *manner)
{
    struct outcome outcome = {0};
    struct pug_consumer parts = hash_parts(&outcome, manner->chunks ? CHUNK_SIZE : 0);
    if (manner->packets)
        hash_parts_watch(&parts);
    struct pug_image *image = pug_image_new();
    struct pug_log *log = pug_log_new(PUG_SEV_INFO);
    struct pug_tree *tree = NULL;
    const struct pug_snapshot_tree_config config = {
        .image = image, .decode = true, .options = {.data_elements = true}, .log = log};
    if (pug_snapshot_tree(capture->snapshot, capture->buffer, &config, &tree) == PUG_OK) {
        const struct pug_jobs jobs = {.threads = manner->threads,
                                      .block = manner->block,
                                      .piece = manner->piece,
                                      .consumers = &parts,
                                      .consumer_count = manner->parts};
        struct pug_jobs_result result;
        pug_log_set_sink(log, outcome_record, &outcome);
        pug_tree_on_elements(tree, take_elements, &outcome);
        assert_int_equal(pug_tree_decode(tree, &jobs, capture->bytes, capture->size, &result),
                         PUG_OK);
        outcome.response = result.response;
        outcome.at = result.at;
        outcome.repeated = result.repeated;
        outcome.threads = result.threads;
    }
    pug_tree_free(tree);
    pug_image_free(image);
    pug_log_free(log);
    return outcome;
}

static uint64_t packets_seen;

static void compare(const struct capture *capture, const char *what)
{
    const struct outcome elements = decode(capture, &(struct manner){.threads = 1});
    const struct outcome packets =
        decode(capture, &(struct manner){.threads = 1, .parts = true, .packets = true});
    packets_seen += packets.elements - elements.elements;
    for (size_t i = 0; i < sizeof(manners) / sizeof(manners[0]); i += MANNER_STEP) {
        const struct manner *manner = &manners[i];
        const struct outcome outcome = decode(capture, manner);
        const struct outcome serial = manner->packets ? packets : elements;
        if (!outcome_equals(&outcome, &serial))
            fail_msg("%s %s, %s: %u threads, blocks of %zu, pieces of %zu: %llu elements "
                     "(%llu), %llu messages (%llu), answer %d (%d) at %llu (%llu)",
                     pug_snapshot_directory(capture->snapshot), capture->buffer->name, what,
                     manner->threads, manner->block, manner->piece,
                     (unsigned long long)outcome.elements, (unsigned long long)serial.elements,
                     (unsigned long long)outcome.records, (unsigned long long)serial.records,
                     outcome.response, serial.response, (unsigned long long)outcome.at,
                     (unsigned long long)serial.at);
    }
}

/** Blocks and pieces are as large as the capture where more is asked for. */
static void decode_largely(struct capture *capture, void *context)
{
    static const size_t sizes[] = {SIZE_MAX / 16 + 1, SIZE_MAX / 8 + 1, SIZE_MAX / 2 + 1, SIZE_MAX};
    const struct outcome serial = decode(capture, &(struct manner){.threads = 1});
    (void)context;
    for (size_t i = 0; i < 2 * sizeof(sizes) / sizeof(sizes[0]); i++) {
        const size_t size = sizes[i / 2];
        const struct manner manner = {
            .threads = 2, .block = size, .piece = i % 2 ? size : 0, .parts = true};
        const struct outcome outcome = decode(capture, &manner);
        assert_true(outcome_equals(&outcome, &serial));
    }
}

static void test_large_blocks(void **state)
{
    (void)state;
    captures_bundled(decode_largely, NULL);
}

static void test_captures(void **state)
{
    captures_damaged(*(const enum captures *)*state, ENOUGH, share_of(12), compare);
    assert_true(packets_seen > 0);
}

/** A long capture is worth the threads: hardly anything of it is decoded twice. */
static void join_often(struct capture *capture, void *context)
{
    struct capture repeated = capture_repeated(capture, JOIN_BYTES);
    (void)context;
    const struct outcome alone = decode(&repeated, &(struct manner){.threads = 1});
    const struct outcome together = decode(&repeated, &(struct manner){.threads = 2});
    assert_int_equal(together.threads, 2);
    assert_int_equal(together.elements, alone.elements);
    assert_int_equal(together.element_hash, alone.element_hash);
    assert_true(together.repeated < repeated.size / 5);
    free(repeated.bytes);
}

static void test_joins(void **state)
{
    (void)state;
    captures_bundled(join_often, NULL);
}

/* ---- harts that sleep ---- */

#define SLEEPERS     ((size_t)256 << 10)
#define WAKE_SEGMENT 8192u

/** What is lost while a hart sleeps is reported when it wakes; and only that. */
static void sleep_and_wake(struct capture *capture, void *context)
{
    static const struct manner ways[] = {{2, 256, 65536, true, false, false},
                                         {3, 128, 16384, true, false, false},
                                         {8, 128, 4096, true, false, false}};
    unsigned *count = context;
    struct capture repeated = capture_repeated(capture, SLEEPERS);
    if (!harts_share(pug_snapshot_directory(capture->snapshot), repeated.bytes, repeated.size,
                     WAKE_SEGMENT)) {
        free(repeated.bytes);
        return;
    }
    ++*count;
    uint64_t least = repeated.size; /* decoded twice by two */
    for (size_t lost = 0; lost < LOSSES; lost++) {
        if (lost > 0) /* while the one sleeps, then while the other does */
            memset(repeated.bytes + WAKE_SEGMENT * (lost == 1 ? 13 : 16) + 999, 0xff, 300);
        const struct outcome alone = decode(&repeated, &(struct manner){.threads = 1});
        for (size_t i = 0; i < sizeof(ways) / sizeof(ways[0]); i++) {
            const struct outcome together = decode(&repeated, &ways[i]);
            assert_true(outcome_equals(&together, &alone));
            if (i == 0 && together.repeated < least)
                least = together.repeated;
        }
    }
    assert_true(least < repeated.size / 3);
    free(repeated.bytes);
}

static void test_sleepers(void **state)
{
    unsigned captures = 0;
    (void)state;
    captures_each(CAPTURES_OWN, sleep_and_wake, &captures);
    assert_int_equal(captures, 2);
}

/* ---- where parts begin ---- */

/** How many elements each part has: a hash of that. */
struct cuts {
    uint64_t parts, hash;
};

static void *cuts_begin(void *context, unsigned worker, struct pug_piece *piece)
{
    (void)piece;
    (void)context;
    (void)worker;
    return calloc(1, sizeof(uint64_t));
}

static void cuts_elements(void *part, const struct pug_origin *origin,
                          const struct pug_element *elements, size_t count)
{
    (void)origin;
    (void)elements;
    *(uint64_t *)part += count;
}

static bool cuts_take(void *context, void *part)
{
    struct cuts *cuts = context;
    cuts->parts++;
    cuts->hash = (cuts->hash ^ *(uint64_t *)part) * UINT64_C(0x100000001b3);
    free(part);
    return true;
}

static struct cuts decode_cuts(const struct capture *capture, unsigned threads)
{
    struct cuts cuts = {0};
    const struct pug_consumer parts = {.context = &cuts,
                                       .begin = cuts_begin,
                                       .elements = cuts_elements,
                                       .take = cuts_take,
                                       .drop = free};
    const struct pug_jobs jobs = {.threads = threads, .consumers = &parts, .consumer_count = 1};
    struct pug_image *image = pug_image_new();
    struct pug_tree *tree = NULL;
    const struct pug_snapshot_tree_config config = {.image = image, .decode = true};
    assert_int_equal(pug_snapshot_tree(capture->snapshot, capture->buffer, &config, &tree), PUG_OK);
    assert_int_equal(pug_tree_decode(tree, &jobs, capture->bytes, capture->size, NULL), PUG_OK);
    pug_tree_free(tree);
    pug_image_free(image);
    return cuts;
}

/** What a consumer keeps of each part, as evidence of a wrong program, is that of one thread. */
static void same_parts(struct capture *capture, void *context)
{
    struct capture repeated = capture_repeated(capture, (size_t)2 << 20);
    (void)context;
    const struct cuts alone = decode_cuts(&repeated, 1), together = decode_cuts(&repeated, 3);
    assert_true(alone.parts > 1);
    assert_int_equal(together.parts, alone.parts);
    assert_int_equal(together.hash, alone.hash);
    free(repeated.bytes);
}

static void test_parts(void **state)
{
    (void)state;
    captures_bundled(same_parts, NULL);
}

/* ---- where strands meet late, or never ---- */

#define ITM_PIECES 64u
#define ITM_BYTES  (ITM_PIECES * ITM_PIECE)

/** ITM that repeats these four bytes, with a synchronisation every so many bytes. */
static uint8_t *itm(const uint8_t packets[4], size_t period)
{
    static const uint8_t sync[] = {0, 0, 0, 0, 0, 0x80};
    uint8_t *bytes = malloc(ITM_BYTES);
    assert_non_null(bytes);
    for (size_t i = 0; i < ITM_BYTES; i++)
        bytes[i] =
            i % period < sizeof(sync) ? sync[i % period] : packets[(i % period - sizeof(sync)) % 4];
    return bytes;
}

static struct pug_tree *itm_tree(const char *transport)
{
    static const struct pug_setting id = {.name = "ITMTCR", .value = 0x00100000};
    const struct pug_source_config source = {
        .protocol = "ITM", .settings = {.items = &id, .count = 1}, .decode = true};
    struct pug_tree *tree;
    assert_int_equal(pug_tree_new(&(struct pug_tree_config){.transport = transport}, &tree),
                     PUG_OK);
    assert_int_equal(pug_tree_add_source(tree, &source, NULL), PUG_OK);
    return tree;
}

static struct outcome decode_itm(const uint8_t *bytes, unsigned threads)
{
    struct outcome outcome = {0};
    const struct pug_consumer parts = hash_parts(&outcome, 0);
    const struct pug_jobs jobs = {
        .threads = threads, .piece = ITM_PIECE, .consumers = &parts, .consumer_count = 1};
    struct pug_jobs_result result;
    struct pug_tree *tree = itm_tree("plain");
    assert_int_equal(pug_tree_decode(tree, &jobs, bytes, ITM_BYTES, &result), PUG_OK);
    outcome.repeated = result.repeated;
    outcome.threads = result.threads;
    pug_tree_free(tree);
    return outcome;
}

static struct outcome decode_itm_together(const uint8_t *bytes)
{
    const struct outcome alone = decode_itm(bytes, 1), together = decode_itm(bytes, 2);
    assert_int_equal(together.threads, 2);
    assert_true(outcome_equals(&together, &alone));
    assert_true(together.repeated > 0);
    return together;
}

/**
 * Local timestamps that add up from the first byte on: no two strands know the same sum. Then one
 * goes on alone; others that read it all as well would only be in its way. Until then an eighth is
 * read in vain, and what the other has begun by then is no more than four pieces.
 */
static void test_apart(void **state)
{
    (void)state;
    uint8_t *bytes = itm((const uint8_t[]){0x01, 0x55, 0xc0, 0x05}, 4096);
    const struct outcome together = decode_itm_together(bytes);
    assert_true(together.repeated < ITM_BYTES / 4);
    free(bytes);
}

/** Synchronisation is so seldom that pieces are read in vain: the others go on helping. */
static void test_seldom(void **state)
{
    (void)state;
    uint8_t *bytes = itm((const uint8_t[]){0x01, 0x55, 0x01, 0xaa}, 2 * ITM_PIECE + 999);
    const struct outcome together = decode_itm_together(bytes);
    assert_true(together.made[0] > together.elements / 8);
    assert_true(together.made[1] > together.elements / 8);
    free(bytes);
}

/** A source that is switched off gets nothing, not even the end: it hinders no other one. */
static void test_switched_off(void **state)
{
    (void)state;
    const struct pug_source_config other = {.protocol = "STM", .decode = true};
    uint8_t *packets = itm((const uint8_t[]){0x01, 0x55, 0x01, 0xaa}, 4096);
    struct rec_bytes bytes = {0};
    struct rec_frames frames = {.out = &bytes};
    rec_frames_put(&frames, 0x10, packets, ITM_PIECE + ITM_PIECE / 2);
    rec_frames_finish(&frames);
    struct outcome outcomes[2];
    for (unsigned i = 0; i < 2; i++) {
        const struct pug_consumer parts = hash_parts(&outcomes[i], 0);
        const struct pug_jobs jobs = {
            .threads = 1 + i, .piece = ITM_PIECE, .consumers = &parts, .consumer_count = 1};
        struct pug_jobs_result result;
        struct pug_tree *tree = itm_tree("coresight");
        assert_int_equal(pug_tree_add_source(tree, &other, NULL), PUG_OK);
        assert_int_equal(pug_tree_enable(tree, 0, false), PUG_OK);
        outcomes[i] = (struct outcome){0};
        assert_int_equal(pug_tree_decode(tree, &jobs, bytes.data, bytes.size, &result), PUG_OK);
        assert_int_equal(result.threads, 1 + i);
        assert_true(result.repeated < bytes.size / 8); /* the second piece is a third */
        pug_tree_free(tree);
    }
    assert_true(outcome_equals(&outcomes[0], &outcomes[1]));
    rec_bytes_free(&bytes);
    free(packets);
}

/** A threshold of cycle counts, and then, each after an ASYNC, trace infos that have none. */
static void put_thresholds(struct rec_bytes *bytes)
{
    static const uint8_t async[] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x80};
    static const uint8_t with[] = {1, 9, 1, 0x16}, without[] = {1, 1, 1};
    rec_put_n(bytes, async, sizeof(async));
    rec_put_n(bytes, with, sizeof(with));
    for (unsigned n = 0; n < 20000; n++) {
        for (unsigned atom = 0; atom < 20; atom++)
            rec_put(bytes, 0xf7);
        rec_put_n(bytes, async, sizeof(async));
        rec_put_n(bytes, without, sizeof(without));
    }
}

/** State that is kept only for the text of packets does not keep threads from meeting. */
static void test_stale(void **state)
{
    (void)state;
    static const struct pug_setting settings[] = {
        {.name = "TRCIDR0", .value = 0x28000ea1},
        {.name = "TRCIDR1", .value = 0x4100f420},
        {.name = "TRCIDR2", .value = 0x488},
        {.name = "TRCCONFIGR", .value = 0x10},
    };
    const struct pug_source_config source = {
        .protocol = "ETMV4I", .settings = {.items = settings, .count = 4}, .decode = true};
    struct rec_bytes bytes = {0};
    struct outcome outcomes[2][2];
    put_thresholds(&bytes);
    for (unsigned i = 0; i < 4; i++) {
        const unsigned threads = 1 + i % 2;
        struct outcome *outcome = &outcomes[i / 2][i % 2];
        struct pug_consumer parts = hash_parts(outcome, 0);
        if (i >= 2)
            hash_parts_watch(&parts);
        const struct pug_jobs jobs = {
            .threads = threads, .piece = 64 << 10, .consumers = &parts, .consumer_count = 1};
        struct pug_jobs_result result;
        struct pug_tree *tree;
        assert_int_equal(pug_tree_new(&(struct pug_tree_config){.transport = "plain"}, &tree),
                         PUG_OK);
        assert_int_equal(pug_tree_add_source(tree, &source, NULL), PUG_OK);
        *outcome = (struct outcome){0};
        assert_int_equal(pug_tree_decode(tree, &jobs, bytes.data, bytes.size, &result), PUG_OK);
        if (i < 2)
            assert_true(result.repeated < bytes.size / 16);
        pug_tree_free(tree);
    }
    assert_true(outcome_equals(&outcomes[0][0], &outcomes[0][1]));
    assert_true(outcome_equals(&outcomes[1][0], &outcomes[1][1]));
    rec_bytes_free(&bytes);
}

/* ---- what one thread has to do ---- */

static void on_wrapping(void *context, uint16_t id, const struct pug_encapsulation_packet *packet)
{
    (void)context;
    (void)id;
    (void)packet;
}

static enum pug_status no_class(void *context, const struct pug_isa_config *config,
                                enum pug_isa isa, uint64_t address, const uint8_t *bytes,
                                unsigned avail, uint8_t *it_count, struct pug_insn *insn)
{
    (void)context;
    (void)config;
    (void)isa;
    (void)address;
    (void)bytes;
    (void)avail;
    (void)it_count;
    (void)insn;
    return PUG_ERR_UNSUPPORTED_ISA;
}

static void take_marks(struct pug_mark_list *list)
{
    list->count = 0;
}

/** Decode, and free the tree. */
static void check_threads(struct pug_tree *tree, const uint8_t *bytes, unsigned threads)
{
    const struct pug_jobs jobs = {.threads = 2, .piece = ITM_PIECE};
    struct pug_jobs_result result;
    assert_int_equal(pug_tree_decode(tree, &jobs, bytes, ITM_BYTES, &result), PUG_OK);
    assert_int_equal(result.threads, threads);
    pug_tree_free(tree);
}

/** What a client attached to the tree would not be heard of those of other threads. */
static void test_attached(void **state)
{
    (void)state;
    struct pug_counts *counts = pug_counts_new();
    struct pug_placed_mark marks[64];
    struct pug_mark_list list = {.marks = marks, .room = 64, .full = take_marks};
    const struct pug_source_config own = {.protocol = "STM", .decode = true, .classify = no_class};
    uint8_t *bytes = itm((const uint8_t[]){0x01, 0x55, 0x01, 0xaa}, 4096);
    struct pug_tree *tree = itm_tree("plain");
    check_threads(tree, bytes, 2);
    tree = itm_tree("plain");
    pug_tree_on_encapsulation(tree, on_wrapping, NULL);
    check_threads(tree, bytes, 1);
    tree = itm_tree("plain");
    pug_tree_count(tree, counts);
    check_threads(tree, bytes, 1);
    tree = itm_tree("plain");
    pug_source_hide_bad_packets(pug_tree_source_at(tree, 0), true, false);
    check_threads(tree, bytes, 1);
    tree = itm_tree("plain");
    pug_source_marks(pug_tree_source_at(tree, 0), &list);
    check_threads(tree, bytes, 1);
    tree = itm_tree("coresight");
    assert_int_equal(pug_tree_add_source(tree, &own, NULL), PUG_OK);
    check_threads(tree, bytes, 1);
    pug_counts_free(counts);
    free(bytes);
}

static enum pug_response refuse(void *context, const struct pug_element *elements, size_t count,
                                size_t *taken)
{
    (void)elements;
    (void)taken;
    *(uint64_t *)context += count;
    return *(uint64_t *)context > 9999 ? PUG_RESP_FATAL_SYS_ERR : PUG_RESP_CONT;
}

/** A consumer's fatal answer is reported as such, not as a part that stopped. */
static void test_refused(void **state)
{
    (void)state;
    uint8_t *bytes = itm((const uint8_t[]){0x01, 0x55, 0x01, 0xaa}, 4096);
    for (unsigned threads = 1; threads < 4; threads++) {
        const struct pug_jobs jobs = {.threads = threads, .piece = ITM_PIECE};
        struct pug_jobs_result result;
        struct pug_tree *tree = itm_tree("plain");
        uint64_t count = 0;
        pug_tree_on_elements(tree, refuse, &count);
        assert_int_equal(pug_tree_decode(tree, &jobs, bytes, ITM_BYTES, &result), PUG_OK);
        assert_int_equal(result.threads, threads);
        assert_int_equal(result.response, PUG_RESP_FATAL_SYS_ERR);
        assert_false(result.stopped);
        assert_true(result.at < ITM_BYTES);
        pug_tree_free(tree);
    }
    free(bytes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST_CAPTURES(test_captures),        cmocka_unit_test(test_joins),
        cmocka_unit_test(test_large_blocks), cmocka_unit_test(test_sleepers),
        cmocka_unit_test(test_parts),        cmocka_unit_test(test_apart),
        cmocka_unit_test(test_seldom),       cmocka_unit_test(test_switched_off),
        cmocka_unit_test(test_attached),     cmocka_unit_test(test_refused),
        cmocka_unit_test(test_stale),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
