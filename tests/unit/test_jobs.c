// SPDX-License-Identifier: MIT
/**
 * @file Many threads give what one gives: elements, payloads, messages, answers, in the same order;
 * for whole captures and damaged ones, with pieces that are far too small, so that there are many
 * places where one decoder takes over from another.
 */
#include "pugmark/pugmark.h"
#include "recorder/bytes.h"
#include "support/captures.h"
#include "support/outcome.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* Beyond this the places to join repeat. */
#define ENOUGH  (UINT64_C(128) << 10)
#define DAMAGES 12

/** How a capture is decoded. */
struct manner {
    unsigned threads;
    size_t block, piece;
    bool parts, portions;
};

static const struct manner manners[] = {
    {1, 0, 0, true, false},       {2, 64, 1024, false, false}, {3, 64, 512, true, true},
    {8, 128, 4096, false, false}, {2, 512, 16384, true, true}, {3, 16, 128, false, false},
    {1, 0, 0, true, true},        {8, 64, 512, true, false},
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

/* ---- parts: the hashes of their elements ---- */

struct part {
    uint64_t *hashes;
    size_t count, room;
    struct pug_passage *passage;
};

/* As if a few hashes were so much that the others have to wait. */
#define PORTION      24
#define PORTION_SIZE ((size_t)10 << 20)

static void *part_begin(void *context, unsigned worker)
{
    (void)context;
    assert_true(worker < 8);
    return calloc(1, sizeof(struct part));
}

static void part_passage(void *context, struct pug_passage *passage)
{
    ((struct part *)context)->passage = passage;
}

static void hand_on(struct part *part)
{
    struct part *portion = malloc(sizeof(*portion));
    *portion = *part;
    *part = (struct part){.passage = part->passage};
    if (!pug_passage_give(part->passage, portion, PORTION_SIZE))
        part->passage = NULL;
}

static void part_elements(void *context, const struct pug_element *elements, size_t count)
{
    struct part *part = context;
    if (count > part->room - part->count) {
        part->room = (part->room + count) * 2;
        part->hashes = realloc(part->hashes, part->room * sizeof(*part->hashes));
    }
    for (size_t i = 0; i < count; i++)
        part->hashes[part->count++] = outcome_hash(&elements[i]);
    if (part->passage && part->count >= PORTION)
        hand_on(part);
}

static void part_drop(void *context)
{
    struct part *part = context;
    free(part->hashes);
    free(part);
}

static bool part_take(void *context, void *taken)
{
    struct part *part = taken;
    for (size_t i = 0; i < part->count; i++)
        outcome_add(context, part->hashes[i]);
    part_drop(part);
    return true;
}

/* ---- decoding ---- */

static struct outcome decode(const struct capture *capture, const struct manner *manner)
{
    struct outcome outcome = {0};
    const struct pug_parts parts = {.context = &outcome,
                                    .begin = part_begin,
                                    .elements = part_elements,
                                    .take = part_take,
                                    .drop = part_drop,
                                    .passage = manner->portions ? part_passage : NULL};
    struct pug_image *image = pug_image_new();
    struct pug_log *log = pug_log_new(PUG_SEV_INFO);
    struct pug_tree *tree = NULL;
    const struct pug_snapshot_tree_config config = {
        .image = image, .decode = true, .options = {.data_elements = true}, .log = log};
    if (pug_snapshot_tree(capture->snapshot, capture->buffer, &config, &tree) == PUG_OK) {
        const struct pug_jobs jobs = {.threads = manner->threads,
                                      .block = manner->block,
                                      .piece = manner->piece,
                                      .parts = manner->parts ? &parts : NULL};
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

static void compare(const struct capture *capture, const char *what)
{
    const struct outcome serial = decode(capture, &(struct manner){.threads = 1});
    for (size_t i = 0; i < sizeof(manners) / sizeof(manners[0]); i++) {
        const struct manner *manner = &manners[i];
        const struct outcome outcome = decode(capture, manner);
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

static void damage(struct capture *capture, struct rec_random *random)
{
    for (unsigned n = 1 + (unsigned)rec_random_below(random, 8); n > 0; n--) {
        size_t at = (size_t)rec_random_below(random, capture->size);
        capture->bytes[at] ^= (uint8_t)(1 + rec_random_below(random, 255));
    }
}

static void one_capture(struct capture *capture, void *context)
{
    struct rec_random random = {.state = 7};
    (void)context;
    if (capture->size > ENOUGH)
        capture->size = ENOUGH;
    compare(capture, "whole");
    for (unsigned n = 0; n < DAMAGES && capture->size <= ENOUGH / 4; n++) {
        damage(capture, &random);
        compare(capture, "damaged");
    }
}

static void test_captures(void **state)
{
    captures_each(*(const enum captures *)*state, one_capture, NULL);
}

/** A long capture is worth the threads: hardly anything of it is decoded twice. */
static void join_often(struct capture *capture, void *context)
{
    const size_t times = ((size_t)2 << 20) / capture->size;
    uint8_t *many = malloc(capture->size * times);
    struct capture repeated = *capture;
    (void)context;
    assert_non_null(many);
    for (size_t i = 0; i < times; i++)
        memcpy(many + i * capture->size, capture->bytes, capture->size);
    repeated.bytes = many;
    repeated.size = capture->size * times;
    const struct outcome alone = decode(&repeated, &(struct manner){.threads = 1});
    const struct outcome together = decode(&repeated, &(struct manner){.threads = 2});
    assert_int_equal(together.threads, 2);
    assert_int_equal(together.elements, alone.elements);
    assert_int_equal(together.element_hash, alone.element_hash);
    assert_true(together.repeated < repeated.size / 5);
    free(many);
}

static void test_joins(void **state)
{
    (void)state;
    captures_bundled(join_often, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST_CAPTURES(test_captures),
        cmocka_unit_test(test_joins),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
