// SPDX-License-Identifier: MIT
/**
 * @file Processes that keep what they have done, end anywhere, and begin again: what they give then
 * is what one gives that did all at once, and what was done is not read again.
 */
#include "pugmark/advanced/jobs.h"
#include "pugmark/pugmark.h"
#include "support/captures.h"
#include "support/crew.h"
#include "support/hash_parts.h"
#include "support/kept_folder.h"
#include "support/share.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define SIZE  ((size_t)192 << 10)
#define PIECE ((size_t)8 << 10)

struct manner {
    unsigned peers, threads;
    bool folds, chunks;
};

static const struct manner manners[] = {
    {1, 2, false, false}, {2, 1, true, false}, {3, 2, false, true}, {5, 1, true, false}};

/** One run, which ends when some of its processes kept something so many times. */
struct running {
    const struct capture *capture;
    const struct manner *manner;
    const char *folder;
    unsigned times[8]; /* by process */
    uint64_t identity;
    struct outcome outcome; /* of the first process */
    uint64_t read[8];
};

static struct outcome decode(const struct running *running, struct pug_peers *peers)
{
    const struct capture *capture = running->capture;
    struct outcome outcome = {0};
    struct pug_consumer parts = hash_parts(&outcome, running->manner->chunks ? 4096 : 0);
    hash_parts_pack(&parts, running->manner->folds);
    struct pug_image *image = pug_image_new();
    struct pug_log *log = pug_log_new(PUG_SEV_INFO);
    struct pug_tree *tree = NULL;
    const struct pug_snapshot_tree_config config = {.image = image, .decode = true, .log = log};
    const struct pug_jobs jobs = {.threads = running->manner->threads,
                                  .consumers = &parts,
                                  .consumer_count = 1,
                                  .peers = peers};
    struct pug_jobs_result result;
    assert_int_equal(pug_snapshot_tree(capture->snapshot, capture->buffer, &config, &tree), PUG_OK);
    pug_log_set_sink(log, outcome_record, &outcome);
    assert_int_equal(pug_tree_decode(tree, &jobs, capture->bytes, capture->size, &result), PUG_OK);
    outcome.response = result.response;
    outcome.at = result.at;
    pug_tree_free(tree);
    pug_image_free(image);
    pug_log_free(log);
    return outcome;
}

static void decode_span(struct pug_peers *peers, void *context)
{
    struct running *running = context;
    struct pug_peers_keep keep = {.folder = running->folder,
                                  .identity = running->identity,
                                  .settle = kept_folder_settle,
                                  .context = &running->times[peers->number]};
    peers->keep = &keep;
    const struct outcome outcome = decode(running, peers);
    running->read[peers->number] = peers->read_bytes;
    if (peers->number == 0)
        running->outcome = outcome;
}

/** All of them read together; the outcome has to equal that of one. */
static uint64_t run(struct running *running, const struct outcome *wanted)
{
    uint64_t read = 0;
    (void)crew_run(running->manner->peers, PIECE, 1024, decode_span, running);
    assert_true(outcome_equals(&running->outcome, wanted));
    for (unsigned i = 0; i < running->manner->peers; i++)
        read += running->read[i];
    return read;
}

static struct running running_of(const struct capture *capture, const struct manner *manner)
{
    struct running running = {
        .capture = capture, .manner = manner, .folder = kept_folder(), .identity = 7};
    for (unsigned i = 0; i < 8; i++)
        running.times[i] = KEPT_ALWAYS;
    return running;
}

/**
 * So many places to end at; all of them with all manners come in turns, since these are not as
 * many.
 */
#define ENDS 3u

/** Processes end after some pieces, some of them soon, and go on. */
static void end_and_go_on(const struct capture *capture, const struct manner *manner,
                          const struct outcome *wanted, unsigned n)
{
    struct running running = running_of(capture, manner);
    (void)kept_folder_empty();
    for (unsigned i = 0; i < manner->peers; i++)
        running.times[i] = n * (1 + i * 7 % 4) * 5;
    (void)run(&running, wanted);
    running = running_of(capture, manner);
    const uint64_t again = run(&running, wanted);
    if (n == 0)
        assert_true(again >= capture->size); /* nothing had been kept */
    /* all of it is done, and comes out again */
    running = running_of(capture, manner);
    assert_true(run(&running, wanted) == 0 || capture->size < 2 * PIECE);
}

static void go_on(struct capture *capture, void *context)
{
    const size_t *size = context;
    const unsigned count = sizeof(manners) / sizeof(manners[0]);
    if (capture->size == 0)
        return;
    struct capture repeated = capture_repeated(capture, *size);
    const struct manner alone = {.threads = 1};
    const struct running one = running_of(&repeated, &alone);
    const struct outcome wanted = decode(&one, NULL);
    for (unsigned i = 0; i < share_of(ENDS) * count; i++)
        end_and_go_on(&repeated, &manners[i % count], &wanted, i % ENDS);
    free(repeated.bytes);
}

static void test_goes_on(void **state)
{
    const enum captures captures = *(const enum captures *)*state;
    size_t size = SIZE / share_step(1, 3) / 4;
    captures_each(captures, go_on, &size);
    size = SIZE / share_step(1, 3);
    if (captures == CAPTURES_OWN)
        captures_bundled(go_on, &size);
}

/** A process that had most of its span reads the rest, and a piece or two for where it goes on. */
static void read_little(struct capture *capture, void *context)
{
    static const struct manner manner = {.peers = 2, .threads = 1, .folds = true};
    struct capture repeated = capture_repeated(capture, SIZE);
    struct running running = running_of(&repeated, &manner);
    const struct outcome wanted = decode(&running, NULL);
    (void)context;
    (void)kept_folder_empty();
    running.times[1] = 80;
    (void)run(&running, &wanted);
    running = running_of(&repeated, &manner);
    (void)run(&running, &wanted);
    assert_int_equal(running.read[0], 0);
    assert_true(running.read[1] > 0 && running.read[1] < SIZE / 2 - 80 * 1024 + 3 * PIECE);
    running = running_of(&repeated, &manner);
    assert_int_equal(run(&running, &wanted), 0);
    free(repeated.bytes);
}

static void test_done_is_not_read(void **state)
{
    (void)state;
    captures_bundled(read_little, NULL);
}

/** What was kept of something else, by others, or is damaged, does not count. */
static void keep_of_others(struct capture *capture, void *context)
{
    static const struct manner two = {.peers = 2, .threads = 1}, three = {.peers = 3, .threads = 1};
    struct capture repeated = capture_repeated(capture, SIZE);
    struct running running = running_of(&repeated, &two);
    const struct outcome wanted = decode(&running, NULL);
    char path[512];
    (void)context;
    (void)kept_folder_empty();
    (void)run(&running, &wanted);
    running = running_of(&repeated, &two);
    running.identity = 8;
    assert_true(run(&running, &wanted) >= repeated.size);
    running = running_of(&repeated, &three);
    running.identity = 8;
    assert_true(run(&running, &wanted) >= repeated.size);
    snprintf(path, sizeof(path), "%s/000001.1.record", kept_folder());
    FILE *file = fopen(path, "r+b");
    assert_non_null(file);
    (void)fseek(file, 60, SEEK_SET);
    fputs("damage", file);
    fclose(file);
    running = running_of(&repeated, &three);
    running.identity = 8;
    (void)run(&running, &wanted);
    assert_true(running.read[0] == 0 && running.read[1] > 0 && running.read[2] == 0);
    free(repeated.bytes);
}

static void test_others(void **state)
{
    (void)state;
    captures_bundled(keep_of_others, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST_CAPTURES(test_goes_on),
        cmocka_unit_test(test_done_is_not_read),
        cmocka_unit_test(test_others),
    };
    return cmocka_run_group_tests(tests, kept_folder_open, kept_folder_close);
}
