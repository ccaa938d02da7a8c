// SPDX-License-Identifier: MIT
/**
 * @file Counts are those of the elements: range by range and jump by jump, for whole captures and
 * damaged ones, in one piece and in many, on one thread and on several, whatever the consumer of
 * the other elements answers; and these others are delivered as ever. Sources that may come in any
 * order come with the same elements, each in its own order.
 */
#include "pugmark/advanced/counts.h"
#include "pugmark/advanced/jobs.h"
#include "pugmark/pugmark.h"
#include "recorder/bytes.h"
#include "support/captures.h"
#include "support/counts.h"
#include "support/share.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define ENOUGH (UINT64_C(512) << 10)

/* ---- decoding ---- */

static struct pug_tree *make_tree(const struct capture *capture, struct pug_image *image,
                                  size_t code_limit)
{
    struct pug_tree *tree = NULL;
    const struct pug_snapshot_tree_config config = {
        .image = image, .decode = true, .code_limit = code_limit};
    (void)pug_snapshot_tree(capture->snapshot, capture->buffer, &config, &tree);
    return tree;
}

/** In blocks of a size; counted on the way, or not. */
static void feed(struct pug_tree *tree, const struct capture *capture, size_t block)
{
    for (size_t at = 0, used; at < capture->size; at += used) {
        const size_t left = capture->size - at;
        enum pug_response answer =
            pug_tree_data(tree, at, capture->bytes + at, left < block ? left : block, &used);
        while (PUG_RESP_IS_WAIT(answer))
            answer = pug_tree_flush(tree);
        if (PUG_RESP_IS_FATAL(answer))
            return;
    }
    enum pug_response answer = pug_tree_end(tree);
    while (PUG_RESP_IS_WAIT(answer))
        answer = pug_tree_flush(tree);
}

static void count_alone(const struct capture *capture, struct pug_counts *expected,
                        const struct counts_seen *plain, size_t block, unsigned waits,
                        size_t code_limit, bool any_order, const char *name)
{
    struct pug_image *image = pug_image_new();
    struct pug_tree *tree = make_tree(capture, image, code_limit);
    struct pug_counts *counts = pug_counts_new();
    struct counts_seen seen = {.counted = true, .wait_once_in = waits, .random = {.state = block}};
    pug_tree_on_elements(tree, counts_take, &seen);
    pug_tree_count(tree, counts);
    pug_tree_any_order(tree, any_order);
    feed(tree, capture, block);
    pug_tree_count(tree, NULL);
    counts_assert_equal(expected, counts, name,
                        waits        ? "waiting"
                        : code_limit ? "little room"
                        : any_order  ? "in any order"
                                     : "alone");
    counts_assert_others_equal(plain, &seen);
    pug_counts_free(counts);
    pug_tree_free(tree);
    pug_image_free(image);
}

static void count_together(const struct capture *capture, struct pug_counts *expected,
                           unsigned threads, size_t block, size_t piece, const char *name)
{
    struct pug_image *image = pug_image_new();
    struct pug_tree *tree = make_tree(capture, image, 0);
    struct pug_counts *counts = pug_counts_new();
    struct pug_jobs_result result;
    const struct pug_jobs jobs = {.threads = threads, .block = block, .piece = piece};
    assert_int_equal(
        pug_tree_count_all(tree, &jobs, capture->bytes, capture->size, counts, &result), PUG_OK);
    counts_assert_equal(expected, counts, name, threads == 1 ? "one thread" : "many threads");
    pug_counts_free(counts);
    pug_tree_free(tree);
    pug_image_free(image);
}

static void assert_totals_equal(const struct pug_counts *expected, const struct pug_counts *counts)
{
    uint64_t ranges, instructions, expected_ranges, expected_instructions;
    pug_counts_total(expected, &expected_ranges, &expected_instructions);
    pug_counts_total(counts, &ranges, &instructions);
    assert_int_equal(ranges, expected_ranges);
    assert_int_equal(instructions, expected_instructions);
}

/** Totals alone; also where these are put to others. */
static void count_barely(const struct capture *capture, struct pug_counts *expected,
                         unsigned threads)
{
    struct pug_image *image = pug_image_new();
    struct pug_tree *tree = make_tree(capture, image, 0);
    struct pug_counts *counts = pug_counts_new_bare(), *other = pug_counts_new_bare();
    const struct pug_jobs jobs = {.threads = threads, .block = 64, .piece = 4096};
    size_t count;
    assert_int_equal(pug_tree_count_all(tree, &jobs, capture->bytes, capture->size, counts, NULL),
                     PUG_OK);
    assert_totals_equal(expected, counts);
    assert_int_equal((pug_counts_ranges(counts, &count), count), 0);
    pug_counts_append(other, counts);
    assert_totals_equal(expected, other);
    pug_counts_clear(other);
    pug_counts_append(other, expected);
    assert_totals_equal(expected, other);
    pug_counts_free(other);
    other = pug_counts_new();
    pug_counts_append(other, counts);
    assert_totals_equal(expected, other);
    pug_counts_free(other);
    pug_counts_free(counts);
    pug_tree_free(tree);
    pug_image_free(image);
}

/** Half of it is counted and half delivered; and twice into the same counts. */
static void count_by_halves(const struct capture *capture, struct pug_counts *expected,
                            const char *name)
{
    struct pug_image *image = pug_image_new();
    struct pug_tree *tree = make_tree(capture, image, 0);
    struct pug_counts *first = pug_counts_new(), *second = pug_counts_new();
    struct counts_seen seen = {0};
    struct capture half = *capture;
    size_t used = 0;
    half.size = capture->size / 32 * 16;
    pug_tree_on_elements(tree, counts_take, &seen);
    pug_tree_count(tree, first);
    if (half.size > 0 && PUG_RESP_IS_FATAL(pug_tree_data(tree, 0, half.bytes, half.size, &used)))
        goto out;
    pug_tree_count(tree, NULL);
    seen.counts = second;
    for (size_t at = used; at < capture->size; at += used)
        if (PUG_RESP_IS_FATAL(
                pug_tree_data(tree, at, capture->bytes + at, capture->size - at, &used)))
            goto out;
    if (PUG_RESP_IS_FATAL(pug_tree_end(tree)))
        goto out;
    pug_counts_append(first, second);
    counts_assert_equal(expected, first, name, "by halves");
out:
    pug_counts_free(first);
    pug_counts_free(second);
    pug_tree_free(tree);
    pug_image_free(image);
}

/** Of every fourth block ranges are shown; counted by the tree where there are `counts`. */
static struct counts_seen feed_shown(const struct capture *capture, struct pug_counts *counts,
                                     size_t block)
{
    struct pug_image *image = pug_image_new();
    struct pug_tree *tree = make_tree(capture, image, 0);
    struct counts_seen seen = {.counted = counts != NULL};
    enum pug_response answer = PUG_RESP_CONT;
    pug_tree_on_elements(tree, counts_take, &seen);
    pug_tree_count(tree, counts);
    for (size_t n = 0, at = 0, used; at < capture->size && !PUG_RESP_IS_FATAL(answer); n++) {
        const size_t left = capture->size - at;
        seen.shown = n % 4 == 1;
        pug_tree_show_ranges(tree, seen.shown);
        answer = pug_tree_data(tree, at, capture->bytes + at, left < block ? left : block, &used);
        at += used;
    }
    if (!PUG_RESP_IS_FATAL(answer))
        (void)pug_tree_end(tree);
    pug_tree_count(tree, NULL);
    pug_tree_free(tree);
    pug_image_free(image);
    return seen;
}

static void count_shown(const struct capture *capture, struct pug_counts *expected, size_t block,
                        const char *name)
{
    struct pug_counts *counts = pug_counts_new();
    const struct counts_seen plain = feed_shown(capture, NULL, block);
    const struct counts_seen counted = feed_shown(capture, counts, block);
    counts_assert_equal(expected, counts, name, "some are shown");
    counts_assert_others_equal(&plain, &counted);
    pug_counts_free(counts);
}

/* ---- not counted ---- */

/** All elements, on several threads where there is a `piece` for each. */
static struct counts_seen deliver(const struct capture *capture, bool any_order, size_t block,
                                  size_t piece, unsigned waits)
{
    struct pug_image *image = pug_image_new();
    struct pug_tree *tree = make_tree(capture, image, 0);
    struct counts_seen seen = {.shown = true, .wait_once_in = waits, .random = {.state = block}};
    const struct pug_jobs jobs = {.threads = 3, .block = block, .piece = piece};
    pug_tree_on_elements(tree, counts_take, &seen);
    pug_tree_any_order(tree, any_order);
    if (piece)
        assert_int_equal(pug_tree_decode(tree, &jobs, capture->bytes, capture->size, NULL), PUG_OK);
    else
        feed(tree, capture, block);
    pug_tree_free(tree);
    pug_image_free(image);
    return seen;
}

static void deliver_in_any_order(const struct capture *capture)
{
    const struct counts_seen ordered = deliver(capture, false, SIZE_MAX, 0, 0);
    const struct counts_seen all[] = {deliver(capture, true, SIZE_MAX, 0, 0),
                                      deliver(capture, true, 4096, 0, 7),
                                      deliver(capture, true, 512, 16384, 0)};
    for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
        counts_assert_others_equal(&ordered, &all[i]);
}

static void check(const struct capture *capture, bool whole)
{
    const char *name = pug_snapshot_directory(capture->snapshot);
    struct pug_image *image = pug_image_new();
    struct pug_tree *tree = make_tree(capture, image, 0);
    if (!tree) {
        pug_image_free(image);
        return;
    }
    struct counts_seen plain = {.counts = pug_counts_new()};
    pug_tree_on_elements(tree, counts_take, &plain);
    feed(tree, capture, SIZE_MAX);
    for (unsigned any_order = 0; any_order < 2; any_order++) {
        count_alone(capture, plain.counts, &plain, SIZE_MAX, 0, 0, any_order, name);
        count_alone(capture, plain.counts, &plain, 4096, 5, 0, any_order, name);
    }
    deliver_in_any_order(capture);
    count_shown(capture, plain.counts, 512, name);
    count_barely(capture, plain.counts, whole ? 1 : 3);
    if (whole) {
        count_shown(capture, plain.counts, 48, name);
        count_alone(capture, plain.counts, &plain, 48, 0, 0, false, name);
        count_alone(capture, plain.counts, &plain, 1 << 16, 0, 1 << 16, true, name);
        count_by_halves(capture, plain.counts, name);
        count_together(capture, plain.counts, 1, 0, 0, name);
    }
    count_together(capture, plain.counts, 3, 64, 1024, name);
    count_together(capture, plain.counts, 2, 64, SIZE_MAX, name);
    count_together(capture, plain.counts, 2, 512, 16384, name);
    pug_counts_free(plain.counts);
    pug_tree_free(tree);
    pug_image_free(image);
}

static void damage(struct capture *capture, struct rec_random *random, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++)
        capture->bytes[rec_random_below(random, (uint32_t)capture->size)] ^=
            (uint8_t)(1 + rec_random_below(random, 255));
}

/** A few bytes more each time, and then so many that little is as the program has it. */
static void one_capture(struct capture *capture, void *context)
{
    struct rec_random random = {.state = 11};
    const unsigned damages = share_of(8);
    (void)context;
    if (capture->size > ENOUGH)
        capture->size = ENOUGH;
    check(capture, true);
    for (unsigned n = 0; n < damages && capture->size <= ENOUGH / 4; n++) {
        damage(capture, &random,
               n + 1 < damages ? 1 + rec_random_below(&random, 8) : capture->size / 128);
        check(capture, false);
    }
}

static void test_captures(void **state)
{
    captures_each(*(const enum captures *)*state, one_capture, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {TEST_CAPTURES(test_captures)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
