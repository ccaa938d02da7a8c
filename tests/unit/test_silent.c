// SPDX-License-Identifier: MIT
/**
 * @file A source that spoke long ago and speaks again at the end, without a synchronisation point:
 * what it knew is not lost where several threads read, and not looked for all over the capture by
 * who starts in the middle.
 */
#include "index/format.h"
#include "pugmark/advanced/jobs.h"
#include "pugmark/pugmark.h"
#include "recorder/frames.h"
#include "recorder/stm.h"
#include "support/crew.h"
#include "support/hash_parts.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define BUSY     0x10
#define RARE     0x20
#define MESSAGES 20000u
#define BLOCK    4096u

/** Nibbles in hex, blanks between them, of one source. */
static void put(struct rec_frames *frames, uint8_t id, const char *text)
{
    struct rec_bytes bytes = {0};
    struct rec_stm stm = {.bytes = &bytes};
    rec_stm_nibbles(&stm, text);
    rec_stm_end(&stm);
    rec_frames_put(frames, id, bytes.data, bytes.size);
    rec_bytes_free(&bytes);
}

/**
 * Of the rare source's last message only the data are sent: master and channel are those before.
 */
static struct rec_bytes make_capture_of(bool rare)
{
    static const char *const messages[] = {"3 71 6 89ABCDEF", "3 72 4 55 3 73 4 66",
                                           "6 00000001 6 00000002"};
    struct rec_bytes capture = {0};
    struct rec_frames frames = {.out = &capture};
    for (unsigned n = 0; n < MESSAGES; n++) {
        if (n % 100 == 0)
            put(&frames, BUSY, "FFFFFFFFFFFFFFFFFFFFF0 F003 1 24 3 70");
        if (rare && n == 10)
            put(&frames, RARE, "FFFFFFFFFFFFFFFFFFFFF0 F003 1 42 3 11 4 12");
        if (rare && n == MESSAGES - 100)
            put(&frames, RARE, "4 34 4 56");
        put(&frames, BUSY, messages[n % 3]);
    }
    rec_frames_finish(&frames);
    return capture;
}

static struct rec_bytes make_capture(void)
{
    return make_capture_of(true);
}

static struct pug_tree *new_tree(bool decode)
{
    struct pug_tree *tree = NULL;
    assert_int_equal(pug_tree_new(&(struct pug_tree_config){.transport = "coresight"}, &tree),
                     PUG_OK);
    for (uint64_t id = BUSY; id <= RARE; id += RARE - BUSY) {
        const struct pug_setting setting = {.name = "STMTCSR", .value = id << 16 | 7};
        const struct pug_source_config source = {
            .protocol = "STM", .settings = {.items = &setting, .count = 1}, .decode = decode};
        assert_int_equal(pug_tree_add_source(tree, &source, NULL), PUG_OK);
    }
    return tree;
}

/* ---- decoding ---- */

struct heard {
    uint64_t elements, rare; /* of all, and of the rare source with its master and channel */
};

static enum pug_response on_elements(void *context, const struct pug_element *elements,
                                     size_t count, size_t *taken)
{
    struct heard *heard = context;
    (void)taken;
    heard->elements += count;
    for (size_t i = 0; i < count; i++)
        heard->rare += elements[i].source == RARE && PUG_SW_MASTER(&elements[i]) == 0x42 &&
                       PUG_SW_CHANNEL(&elements[i]) == 0x11;
    return PUG_RESP_CONT;
}

static void threads_hand_it_on(void **state)
{
    struct rec_bytes capture = make_capture();
    struct heard heard[2] = {{0}};
    struct pug_jobs_result result = {0};
    (void)state;
    for (unsigned n = 0; n < 2; n++) {
        struct pug_tree *tree = new_tree(true);
        const struct pug_jobs jobs = {.threads = 1 + 2 * n, .piece = 16384, .block = 256};
        pug_tree_on_elements(tree, on_elements, &heard[n]);
        assert_int_equal(pug_tree_decode(tree, &jobs, capture.data, capture.size, &result), PUG_OK);
        pug_tree_free(tree);
    }
    assert_int_equal(result.threads, 3);
    assert_int_equal(heard[0].elements, heard[1].elements);
    assert_int_equal(heard[0].rare, heard[1].rare);
    assert_true(heard[0].rare >= 3);
    assert_true(result.repeated < capture.size / 2);
    rec_bytes_free(&capture);
}

struct among {
    const struct rec_bytes *capture;
    struct outcome outcome; /* of the first peer */
    uint64_t read[8];       /* by peer: bytes */
};

static struct outcome decode_parts(const struct rec_bytes *capture, struct pug_peers *peers)
{
    struct outcome outcome = {0};
    struct pug_consumer parts = hash_parts(&outcome, 0);
    hash_parts_pack(&parts, true);
    const struct pug_jobs jobs = {.threads = peers ? 3 : 1,
                                  .piece = 16384,
                                  .block = 256,
                                  .consumers = &parts,
                                  .consumer_count = 1,
                                  .peers = peers};
    struct pug_tree *tree = new_tree(true);
    assert_int_equal(pug_tree_decode(tree, &jobs, capture->data, capture->size, NULL), PUG_OK);
    pug_tree_free(tree);
    return outcome;
}

static void decode_span(struct pug_peers *peers, void *context)
{
    struct among *among = context;
    const struct outcome outcome = decode_parts(among->capture, peers);
    among->read[peers->number] = peers->read_bytes;
    if (peers->number == 0)
        among->outcome = outcome;
}

/** What a source on one peer knows the others do not, and do not take for theirs. */
static void peers_do_not_lose_it(void **state)
{
    struct rec_bytes capture = make_capture();
    const struct outcome alone = decode_parts(&capture, NULL);
    (void)state;
    for (unsigned count = 2; count <= 8; count *= 2) {
        struct among among = {.capture = &capture};
        (void)crew_run(count, 0, 0, decode_span, &among);
        assert_true(alone.elements > 3 && outcome_equals(&among.outcome, &alone));
    }
    rec_bytes_free(&capture);
}

/**
 * One synchronisation, at the beginning: no other peer can begin anywhere, and the first one reads
 * it all.
 */
static void nothing_to_begin_with(void **state)
{
    struct rec_bytes capture = {0};
    struct rec_frames frames = {.out = &capture};
    (void)state;
    put(&frames, BUSY, "FFFFFFFFFFFFFFFFFFFFF0 F003 1 24 3 70");
    for (unsigned n = 0; n < MESSAGES; n++)
        put(&frames, BUSY, n % 2 ? "4 12" : "6 00000001");
    rec_frames_finish(&frames);
    const struct outcome alone = decode_parts(&capture, NULL);
    for (unsigned count = 2; count <= 8; count += 3) {
        struct among among = {.capture = &capture};
        (void)crew_run(count, 0, 0, decode_span, &among);
        assert_true(alone.elements > MESSAGES && outcome_equals(&among.outcome, &alone));
        assert_true(among.read[0] >= capture.size);
    }
    rec_bytes_free(&capture);
}

/**
 * A source that speaks again, and is synchronised, after the border: there the next one continues.
 */
static void met_where_it_speaks(void **state)
{
    struct rec_bytes capture = {0};
    struct rec_frames frames = {.out = &capture};
    (void)state;
    for (unsigned n = 0; n < 16 * MESSAGES; n++) {
        if (n % 100 == 0)
            put(&frames, BUSY, "FFFFFFFFFFFFFFFFFFFFF0 F003 1 24 3 70");
        if (n == 10 || n == 16 * MESSAGES * 5 / 8)
            put(&frames, RARE, "FFFFFFFFFFFFFFFFFFFFF0 F003 1 42 3 11 4 12");
        put(&frames, BUSY, "4 34");
    }
    rec_frames_finish(&frames);
    const struct outcome alone = decode_parts(&capture, NULL);
    struct among among = {.capture = &capture};
    (void)crew_run(2, 0, 0, decode_span, &among);
    assert_true(outcome_equals(&among.outcome, &alone));
    assert_true(among.read[0] > capture.size * 5 / 8 && among.read[0] < capture.size * 7 / 8);
    rec_bytes_free(&capture);
}

/* ---- indexes ---- */

static struct pug_index *build(const struct rec_bytes *capture, unsigned jobs, bool elements,
                               struct pug_peers *peers)
{
    const struct pug_index_options options = {
        .block = BLOCK, .jobs = jobs, .elements = elements, .peers = peers};
    struct pug_tree *tree = new_tree(elements);
    struct pug_index *index = NULL;
    assert_int_equal(pug_index_build(tree, capture->data, capture->size, &options, &index), PUG_OK);
    pug_tree_free(tree);
    return index;
}

static void assert_same_index(const struct pug_index *index, const struct pug_index *wanted)
{
    assert_int_equal(index->size, wanted->size);
    assert_memory_equal(index->bytes, wanted->bytes, wanted->size);
}

struct building {
    const struct rec_bytes *capture;
    bool elements;
    const struct pug_index *wanted;
};

static void build_among(struct pug_peers *peers, void *context)
{
    const struct building *building = context;
    struct pug_index *index = build(building->capture, 1, building->elements, peers);
    if (peers->number == 0)
        assert_same_index(index, building->wanted);
    pug_index_free(index);
}

static void indexes_are_the_same(void **state)
{
    (void)state;
    for (unsigned n = 0; n < 4; n++) {
        struct rec_bytes capture = make_capture_of(n / 2);
        const bool elements = n % 2;
        struct pug_index *one = build(&capture, 1, elements, NULL);
        for (unsigned jobs = 2; jobs <= 8; jobs *= 2) {
            struct pug_index *many = build(&capture, jobs, elements, NULL);
            assert_same_index(many, one);
            pug_index_free(many);
            struct building building = {&capture, elements, one};
            (void)crew_run(jobs, 16384, 0, build_among, &building);
        }
        pug_index_free(one);
        rec_bytes_free(&capture);
    }
}

/** In the middle, where it is silent, and after its last message. */
static void places_are_reached(void **state)
{
    struct rec_bytes capture = make_capture();
    struct pug_index *index = build(&capture, 2, true, NULL);
    (void)state;
    for (unsigned n = 0; n < 4; n++) {
        const bool decode = n % 2;
        struct pug_tree *tree = new_tree(decode), *reached = NULL;
        const uint64_t before = n < 2 ? capture.size / 2 : capture.size;
        uint64_t at;
        assert_true(pug_index_reach(index, tree, capture.data, capture.size, decode, before,
                                    &reached, &at));
        assert_true(at < before && before - at <= BLOCK);
        assert_true(pug_tree_transport_stats(reached)->delivered < capture.size / 8);
        pug_tree_free(reached);
        pug_tree_free(tree);
    }
    pug_index_free(index);
    rec_bytes_free(&capture);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(threads_hand_it_on),    cmocka_unit_test(peers_do_not_lose_it),
        cmocka_unit_test(nothing_to_begin_with), cmocka_unit_test(met_where_it_speaks),
        cmocka_unit_test(indexes_are_the_same),  cmocka_unit_test(places_are_reached),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
