// SPDX-License-Identifier: MIT
/* Several consumers share one pass: each gets what it would get alone, in threads and processes. */
#include "schedule/stream.h"
#include "support/captures.h"
#include "support/crew.h"
#include "support/hash_parts.h"

#include "pugmark/advanced/counts.h"
#include "pugmark/pugmark.h"

#include <stdlib.h>

#define CONSUMERS 3u

/* How a pass is cut. Blocks are small, so that short captures have many parts. */
struct manner {
    unsigned peers, threads;
    size_t piece, block;
    bool folds;
};

static const struct manner manners[] = {
    {1, 1, 4096, 512, false}, {1, 2, 4096, 512, false}, {1, 3, 2048, 256, false},
    {2, 1, 512, 64, true},    {3, 2, 512, 64, false},
};

struct pass {
    const struct capture *capture;
    const struct manner *manner;
    size_t count; /* of consumers */
    struct outcome outcomes[CONSUMERS];
};

/* The first emits no chunks, the second small ones, the third large ones. */
static void run(struct pug_peers *peers, void *context)
{
    static const size_t chunks[CONSUMERS] = {0, 4096, (size_t)10 << 20};
    struct pass *pass = context;
    struct outcome outcomes[CONSUMERS] = {{0}};
    struct pug_consumer consumers[CONSUMERS];
    struct pug_image *image = pug_image_new();
    struct pug_tree *tree = NULL;
    for (size_t i = 0; i < pass->count; i++) {
        consumers[i] = hash_parts(&outcomes[i], chunks[i]);
        hash_parts_pack(&consumers[i], pass->manner->folds);
    }
    const struct pug_snapshot_tree_config config = {.image = image, .decode = true};
    const struct pug_jobs jobs = {.threads = pass->manner->threads,
                                  .consumers = consumers,
                                  .consumer_count = pass->count,
                                  .piece = pass->manner->piece,
                                  .block = pass->manner->block,
                                  .peers = peers};
    assert_int_equal(
        pug_snapshot_tree(pass->capture->snapshot, pass->capture->buffer, &config, &tree), PUG_OK);
    assert_int_equal(pug_tree_decode(tree, &jobs, pass->capture->bytes, pass->capture->size, NULL),
                     PUG_OK);
    if (!peers || peers->number == 0)
        memcpy(pass->outcomes, outcomes, sizeof(outcomes));
    pug_tree_free(tree);
    pug_image_free(image);
}

static void compare(struct capture *capture, void *context)
{
    unsigned *compared = context;
    struct pass alone = {.capture = capture, .manner = &manners[0], .count = 1};
    run(NULL, &alone);
    if (alone.outcomes[0].elements == 0)
        return;
    ++*compared;
    for (size_t i = 0; i < sizeof(manners) / sizeof(manners[0]); i++) {
        const struct manner *manner = &manners[i];
        struct pass pass = {.capture = capture, .manner = manner, .count = CONSUMERS};
        if (manner->peers > 1)
            (void)crew_run(manner->peers, manner->piece, manner->block, run, &pass);
        else
            run(NULL, &pass);
        for (size_t n = 0; n < CONSUMERS; n++) {
            assert_int_equal(pass.outcomes[n].elements, alone.outcomes[0].elements);
            assert_int_equal(pass.outcomes[n].element_hash, alone.outcomes[0].element_hash);
        }
    }
}

static void each_gets_what_it_gets_alone(void **state)
{
    unsigned compared = 0;
    (void)state;
    captures_each(CAPTURES_OWN, compare, &compared);
    assert_true(compared > 10);
}

/* ---- streams ---- */

/* A capture in blocks of a few bytes. */
struct blocks {
    const struct capture *capture;
    size_t size;
};

static const uint8_t *next_block(void *context, uint64_t at, size_t *size, bool *more)
{
    const struct blocks *blocks = context;
    const size_t left = blocks->capture->size - (size_t)at;
    *size = left < blocks->size ? left : blocks->size;
    *more = *size < left;
    return blocks->capture->bytes + at;
}

static void compare_stream(struct capture *capture, void *context)
{
    struct pass alone = {.capture = capture, .manner = &manners[0], .count = 1};
    unsigned *compared = context;
    run(NULL, &alone);
    for (size_t size = 1000; size < 100000; size *= 7) {
        struct outcome outcome = {0};
        const struct pug_consumer consumer = hash_parts(&outcome, 4096);
        const struct pug_jobs jobs = {.consumers = &consumer, .consumer_count = 1};
        const struct pug_snapshot_tree_config config = {.image = pug_image_new(), .decode = true};
        struct blocks blocks = {capture, size};
        const struct pug_stream stream = {.context = &blocks, .next = next_block};
        struct pug_jobs_result result;
        struct pug_tree *tree;
        assert_int_equal(pug_snapshot_tree(capture->snapshot, capture->buffer, &config, &tree),
                         PUG_OK);
        assert_int_equal(pug_tree_decode_stream(tree, &jobs, &stream, &result), PUG_OK);
        assert_int_equal(result.at, capture->size);
        assert_int_equal(outcome.elements, alone.outcomes[0].elements);
        assert_int_equal(outcome.element_hash, alone.outcomes[0].element_hash);
        pug_tree_free(tree);
        pug_image_free(config.image);
        *compared += outcome.elements > 0;
    }
}

static void a_stream_gives_what_its_bytes_give(void **state)
{
    unsigned compared = 0;
    (void)state;
    captures_each(CAPTURES_OWN, compare_stream, &compared);
    assert_true(compared > 10);
}

/* ---- the tree's own function ---- */

static enum pug_response hash_one(void *context, const struct pug_element *elements, size_t count,
                                  size_t *taken)
{
    struct outcome *outcome = context;
    *taken = count > 3 ? 3 : count; /* it waits, and nothing is lost or repeated */
    for (size_t i = 0; i < *taken; i++)
        outcome_add(outcome, outcome_hash(&elements[i]));
    return *taken < count ? PUG_RESP_WAIT : PUG_RESP_CONT;
}

static void deliver_and_consume(struct capture *capture, void *context)
{
    unsigned *compared = context;
    struct pass alone = {.capture = capture, .manner = &manners[0], .count = 1};
    run(NULL, &alone);
    for (unsigned threads = 1; threads <= 3; threads++) {
        struct outcome outcome = {0}, delivered = {0};
        const struct pug_consumer consumer = hash_parts(&outcome, 4096);
        const struct pug_jobs jobs = {.threads = threads,
                                      .consumers = &consumer,
                                      .consumer_count = 1,
                                      .deliver = true,
                                      .piece = 4096,
                                      .block = 512};
        const struct pug_snapshot_tree_config config = {.image = pug_image_new(), .decode = true};
        struct pug_tree *tree;
        assert_int_equal(pug_snapshot_tree(capture->snapshot, capture->buffer, &config, &tree),
                         PUG_OK);
        pug_tree_on_elements(tree, hash_one, &delivered);
        assert_int_equal(pug_tree_decode(tree, &jobs, capture->bytes, capture->size, NULL), PUG_OK);
        assert_int_equal(outcome.elements, alone.outcomes[0].elements);
        assert_int_equal(outcome.element_hash, alone.outcomes[0].element_hash);
        assert_int_equal(delivered.elements, outcome.elements);
        assert_int_equal(delivered.element_hash, outcome.element_hash);
        pug_tree_free(tree);
        pug_image_free(config.image);
        *compared += outcome.elements > 0;
    }
}

static void the_trees_function_shares_a_pass(void **state)
{
    unsigned compared = 0;
    (void)state;
    captures_each(CAPTURES_OWN, deliver_and_consume, &compared);
    assert_true(compared > 10);
}

/* ---- counting beside others ---- */

struct counting {
    struct pug_counts *sum;
    uint64_t ranges; /* that came as elements */
    uint64_t from;   /* the offset from which on they are shown; 0: it does not say */
};

static void no_elements(void *part, const struct pug_origin *origin,
                        const struct pug_element *elements, size_t count)
{
    (void)part;
    (void)origin;
    (void)elements;
    (void)count;
}

static void add_counts(void *context, struct pug_counts *counts)
{
    struct counting *counting = context;
    pug_counts_append(counting->sum, counts);
}

static void *begin_number(void *context, unsigned worker, struct pug_piece *piece)
{
    (void)context;
    (void)worker;
    (void)piece;
    return calloc(1, sizeof(uint64_t));
}

static void count_ranges(void *part, const struct pug_origin *origin,
                         const struct pug_element *elements, size_t count)
{
    uint64_t *ranges = part;
    (void)origin;
    for (size_t i = 0; i < count; i++)
        *ranges += elements[i].type == PUG_ELEM_INSTR_RANGE;
}

static bool take_number(void *context, void *part)
{
    struct counting *counting = context;
    counting->ranges += *(uint64_t *)part;
    free(part);
    return true;
}

static bool show_from(void *context, uint64_t at, uint64_t *end)
{
    const struct counting *counting = context;
    const bool shown = at >= counting->from;
    *end = shown ? UINT64_MAX : counting->from;
    return shown;
}

/* Two that count, and one that wants ranges as elements, too, from an offset on. */
static void count(struct capture *capture, unsigned threads, uint64_t from,
                  struct counting counting[3])
{
    const struct pug_consumer counter = {.begin = begin_number,
                                         .elements = no_elements,
                                         .counted = add_counts,
                                         .take = take_number,
                                         .drop = free};
    const struct pug_consumer seer = {.begin = begin_number,
                                      .elements = count_ranges,
                                      .shows = from > 0 ? show_from : NULL,
                                      .take = take_number,
                                      .drop = free};
    struct pug_consumer consumers[] = {counter, seer, counter};
    struct pug_image *image = pug_image_new();
    struct pug_tree *tree = NULL;
    const struct pug_snapshot_tree_config config = {.image = image, .decode = true};
    const struct pug_jobs jobs = {.threads = threads,
                                  .consumers = consumers,
                                  .consumer_count = 3,
                                  .piece = 4096,
                                  .block = 512};
    for (size_t i = 0; i < 3; i++) {
        counting[i] = (struct counting){.sum = pug_counts_new(), .from = from};
        consumers[i].context = &counting[i];
    }
    assert_int_equal(pug_snapshot_tree(capture->snapshot, capture->buffer, &config, &tree), PUG_OK);
    assert_int_equal(pug_tree_decode(tree, &jobs, capture->bytes, capture->size, NULL), PUG_OK);
    pug_tree_free(tree);
    pug_image_free(image);
}

static void compare_counts(struct capture *capture, void *context)
{
    uint64_t *partly = context;
    for (unsigned threads = 1; threads <= 2; threads++) {
        uint64_t all = 0;
        for (uint64_t from = 0; from <= capture->size + 1; from += capture->size / 2 + 1) {
            struct counting counting[3];
            uint64_t ranges[2], instructions[2];
            count(capture, threads, from, counting);
            pug_counts_total(counting[0].sum, &ranges[0], &instructions[0]);
            pug_counts_total(counting[2].sum, &ranges[1], &instructions[1]);
            assert_int_equal(ranges[0], ranges[1]);
            assert_int_equal(instructions[0], instructions[1]);
            if (from == 0) /* it says nothing of what it wants to see: it gets all ranges */
                assert_int_equal(counting[1].ranges, all = ranges[0]);
            else
                assert_true(counting[1].ranges <= all && ranges[0] == all);
            *partly += from > 0 && counting[1].ranges > 0 && counting[1].ranges < all;
            for (size_t i = 0; i < 3; i++)
                pug_counts_free(counting[i].sum);
        }
    }
}

static void one_counts_and_another_sees_ranges(void **state)
{
    uint64_t partly = 0;
    (void)state;
    captures_each(CAPTURES_OWN, compare_counts, &partly);
    assert_true(partly > 0);
}

/* ---- consumers of captures ---- */

/* What is left out, and what is counted, beside a consumer that takes elements. */
struct beside {
    uint64_t given, left_out, counted;
};

static void *begin_beside(void *context, unsigned worker, struct pug_piece *piece)
{
    (void)context;
    (void)worker;
    assert_true(piece->segment != UINT32_MAX);
    return calloc(1, sizeof(struct beside));
}

static void note_given(void *part, const struct pug_origin *origin,
                       const struct pug_element *elements, size_t count)
{
    struct beside *beside = part;
    assert_non_null(origin);
    for (size_t i = 0; i < count; i++)
        beside->given += elements[i].type == PUG_ELEM_INSTR_RANGE;
}

static void note_left_out(void *part, const struct pug_origin *origin,
                          const struct pug_element *elements, size_t count)
{
    struct beside *beside = part;
    assert_non_null(origin);
    for (size_t i = 0; i < count; i++)
        beside->left_out += elements[i].type == PUG_ELEM_INSTR_RANGE;
}

static void note_counted(void *context, struct pug_counts *counts)
{
    struct beside *sum = context;
    uint64_t ranges, instructions;
    pug_counts_total(counts, &ranges, &instructions);
    sum->counted += ranges;
}

static bool take_beside(void *context, void *part)
{
    struct beside *sum = context, *beside = part;
    sum->given += beside->given;
    sum->left_out += beside->left_out;
    free(beside);
    return true;
}

/* One that counts, one that takes ranges, and one that takes what is left out, too. */
static void decode_beside(struct pug_capture *capture, unsigned threads,
                          const struct pug_capture_selection *selection, struct beside beside[3],
                          struct outcome *outcome)
{
    const struct pug_consumer plain = {
        .begin = begin_beside, .elements = note_given, .take = take_beside, .drop = free};
    struct pug_consumer consumers[] = {plain, plain, plain, hash_parts(outcome, 4096)};
    const struct pug_capture_decode decode = {.consumers = consumers,
                                              .consumer_count = 4,
                                              .threads = threads,
                                              .piece = 4096,
                                              .selection = selection};
    struct pug_capture_result result;
    consumers[0].counted = note_counted;
    consumers[2].left_out = note_left_out;
    for (size_t i = 0; i < 3; i++) {
        beside[i] = (struct beside){0};
        consumers[i].context = &beside[i];
    }
    assert_int_equal(pug_capture_decode(capture, &decode, &result), PUG_OK);
}

static void consumers_of_a_capture_share_a_pass(void **state)
{
    static const char *const names[] = {"etmv4-a64", "etmv3-arm-threads", "etrace-rv64", "ptm-arm"};
    uint64_t hash = 0;
    (void)state;
    for (size_t i = 0; i < 2 * sizeof(names) / sizeof(names[0]); i++) {
        const unsigned threads = 1 + i % 2;
        const struct pug_capture_selection none = {.has_from = true, .from = UINT64_MAX};
        struct outcome outcome = {0}, nothing = {0};
        struct beside beside[3], out[3];
        struct pug_capture *capture;
        char path[4096];
        snprintf(path, sizeof(path), "%s/tests/captures/%s", PUG_SOURCE_DIR, names[i / 2]);
        assert_int_equal(pug_capture_open(path, NULL, &capture), PUG_OK);
        decode_beside(capture, threads, NULL, beside, &outcome);
        assert_true(beside[0].counted > 0 && outcome.elements > 0);
        assert_int_equal(beside[0].counted, beside[1].given);
        assert_int_equal(beside[0].given, beside[1].given); /* they are shown to all */
        assert_int_equal(beside[2].left_out, 0);
        assert_true(threads == 1 || outcome.element_hash == hash);
        hash = outcome.element_hash;
        decode_beside(capture, threads, &none, out, &nothing);
        assert_int_equal(out[0].counted + out[1].given + nothing.elements, 0);
        assert_int_equal(out[2].left_out, beside[1].given);
        pug_capture_free(capture);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_gets_what_it_gets_alone),
        cmocka_unit_test(a_stream_gives_what_its_bytes_give),
        cmocka_unit_test(the_trees_function_shares_a_pass),
        cmocka_unit_test(one_counts_and_another_sees_ranges),
        cmocka_unit_test(consumers_of_a_capture_share_a_pass),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
