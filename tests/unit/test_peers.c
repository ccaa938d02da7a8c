// SPDX-License-Identifier: MIT
/**
 * @file Several processes give what one gives, whole or damaged, with spans and pieces that are far
 * too small: here they are threads that share nothing but messages.
 */
#include "pugmark/advanced/jobs.h"
#include "pugmark/pugmark.h"
#include "support/captures.h"
#include "support/crew.h"
#include "support/hash_parts.h"
#include "support/share.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* Beyond ENOUGH the places to go over repeat. */
#define ENOUGH (UINT64_C(96) / share_step(1, 3) << 10)

struct manner {
    unsigned peers, threads;
    size_t block, piece;
    bool folds, chunks, packets;
};

static const struct manner manners[] = {
    {2, 1, 64, 512, false, false, false},  {3, 2, 16, 128, true, false, false},
    {5, 1, 64, 1024, true, false, false},  {8, 2, 128, 1024, false, true, false},
    {2, 3, 512, 8192, true, false, false}, {3, 2, 64, 512, false, true, true},
    {5, 1, 64, 1024, true, false, true},
};

/* ---- decoding ---- */

struct decoding {
    const struct capture *capture;
    const struct manner *manner;
    struct outcome outcome; /* of the first one */
};

static struct outcome decode(const struct capture *capture, const struct manner *manner,
                             struct pug_peers *peers)
{
    struct outcome outcome = {0};
    struct pug_consumer parts = hash_parts(&outcome, manner->chunks ? 4096 : 0);
    hash_parts_pack(&parts, manner->folds);
    if (manner->packets)
        hash_parts_watch(&parts);
    struct pug_image *image = pug_image_new();
    struct pug_log *log = pug_log_new(PUG_SEV_INFO);
    struct pug_tree *tree = NULL;
    const struct pug_snapshot_tree_config config = {
        .image = image, .decode = true, .options = {.data_elements = true}, .log = log};
    if (pug_snapshot_tree(capture->snapshot, capture->buffer, &config, &tree) == PUG_OK) {
        const struct pug_jobs jobs = {
            .threads = manner->threads, .consumers = &parts, .consumer_count = 1, .peers = peers};
        struct pug_jobs_result result;
        pug_log_set_sink(log, outcome_record, &outcome);
        assert_int_equal(pug_tree_decode(tree, &jobs, capture->bytes, capture->size, &result),
                         PUG_OK);
        outcome.response = result.response;
        outcome.at = result.at;
    }
    pug_tree_free(tree);
    pug_image_free(image);
    pug_log_free(log);
    return outcome;
}

static void decode_span(struct pug_peers *peers, void *context)
{
    struct decoding *decoding = context;
    const struct outcome outcome = decode(decoding->capture, decoding->manner, peers);
    if (peers->number == 0)
        decoding->outcome = outcome;
}

static void compare(const struct capture *capture, const char *what)
{
    const struct outcome elements = decode(capture, &(struct manner){.threads = 1}, NULL);
    const struct outcome packets =
        decode(capture, &(struct manner){.threads = 1, .packets = true}, NULL);
    for (size_t i = 0; i < sizeof(manners) / sizeof(manners[0]); i++) {
        const struct manner *manner = &manners[i];
        struct decoding decoding = {.capture = capture, .manner = manner};
        (void)crew_run(manner->peers, manner->piece, manner->block, decode_span, &decoding);
        const struct outcome *outcome = &decoding.outcome;
        const struct outcome serial = manner->packets ? packets : elements;
        if (!outcome_equals(outcome, &serial))
            fail_msg("%s %s, %s: %u peers, blocks of %zu, pieces of %zu: %llu elements (%llu), "
                     "%llu messages (%llu), answer %d (%d) at %llu (%llu)",
                     pug_snapshot_directory(capture->snapshot), capture->buffer->name, what,
                     manner->peers, manner->block, manner->piece,
                     (unsigned long long)outcome->elements, (unsigned long long)serial.elements,
                     (unsigned long long)outcome->records, (unsigned long long)serial.records,
                     outcome->response, serial.response, (unsigned long long)outcome->at,
                     (unsigned long long)serial.at);
    }
}

static void test_captures(void **state)
{
    captures_damaged(*(const enum captures *)*state, ENOUGH, share_of(4), compare);
}

/** A join in a long capture reports hardly anything, however long it is. */
static void join_cheaply(struct capture *capture, void *context)
{
    const struct manner manner = {.peers = 2, .threads = 1, .folds = true};
    struct capture repeated = capture_repeated(capture, (size_t)4 << 20);
    (void)context;
    struct decoding decoding = {.capture = &repeated, .manner = &manner};
    const struct outcome alone = decode(&repeated, &(struct manner){.threads = 1}, NULL);
    (void)crew_run(2, 0, 0, decode_span, &decoding);
    assert_true(outcome_equals(&decoding.outcome, &alone));
    free(repeated.bytes);
}

static void test_joins(void **state)
{
    (void)state;
    captures_bundled(join_cheaply, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST_CAPTURES(test_captures),
        cmocka_unit_test(test_joins),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
