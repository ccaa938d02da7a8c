// SPDX-License-Identifier: MIT
/**
 * @file perf.data counted by several processes: with call stacks, with selections and without, and
 * after they ended in the middle: the profile of one.
 */
#include "pugmark/pugmark.h"
#include "support/crew.h"
#include "support/kept_folder.h"
#include "support/perf_story.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

struct counting {
    const char *path, *symfs;
    struct pug_profiler_options options;
    const char *folder; /* what is done is kept there; NULL: it is not */
    unsigned times[8];  /* by process: as if it died after so many */
    uint8_t *bytes;     /* of the profile */
    size_t size;
    uint64_t read[8];
};

static void count(struct counting *counting, struct pug_peers *peers)
{
    const struct pug_capture_options options = {.peers = peers,
                                                .roots = {.symfs = counting->symfs}};
    struct pug_capture *capture;
    struct pug_capture_result result;
    struct pug_profile *profile = pug_profile_new();
    assert_int_equal(pug_capture_open(counting->path, &options, &capture), PUG_OK);
    assert_int_equal(pug_profile_capture(profile, capture, &counting->options, &result), PUG_OK);
    assert_int_equal(result.stopped, 0);
    if (!peers || peers->number == 0)
        assert_int_equal(pug_profile_write(profile, &counting->bytes, &counting->size), PUG_OK);
    pug_profile_free(profile);
    pug_capture_free(capture);
}

static void count_among(struct pug_peers *peers, void *context)
{
    struct counting *counting = context;
    struct pug_peers_keep keep = {.folder = counting->folder,
                                  .settle = kept_folder_settle,
                                  .context = &counting->times[peers->number]};
    peers->keep = counting->folder ? &keep : NULL;
    count(counting, peers);
    counting->read[peers->number] = peers->read_bytes;
}

/** Compare the records of all of them. */
static uint64_t compare(struct counting *counting, unsigned peers, const struct counting *wanted)
{
    uint64_t read = 0;
    (void)crew_run(peers, 0, 0, count_among, counting);
    assert_int_equal(counting->size, wanted->size);
    assert_memory_equal(counting->bytes, wanted->bytes, wanted->size);
    free(counting->bytes);
    for (unsigned i = 0; i < peers; i++)
        read += counting->read[i];
    return read;
}

static void set_times(struct counting *counting, unsigned times)
{
    for (unsigned i = 0; i < 8; i++)
        counting->times[i] = times;
}

static void compare_all(const struct perf_story *story, struct counting *counting, bool by_cpu)
{
    const bool little = counting->options.selection;       /* a thread's few segments may be done */
    const bool alone = counting->options.stacks && by_cpu; /* by time: one does it */
    struct counting one = *counting;
    count(&one, NULL);
    for (unsigned peers = 2; peers <= 8; peers += 3)
        (void)compare(counting, peers, &one);
    for (unsigned peers = 1; peers <= 3 && !alone; peers += 2) {
        counting->folder = kept_folder_empty();
        set_times(counting, 2);
        const uint64_t all = compare(counting, peers, &one);
        assert_true(little || all >= story->trace_bytes);
        set_times(counting, KEPT_ALWAYS);
        const uint64_t rest = compare(counting, peers, &one);
        assert_true(little ? rest <= all : rest > 0 && rest < all);
        assert_int_equal(compare(counting, peers, &one), 0);
        counting->folder = NULL;
    }
    free(one.bytes);
}

static void count_story(const struct perf_story_config *config)
{
    struct perf_story story;
    perf_story_make(&story, config);
    const char *path = perf_story_write(&story);
    for (unsigned n = 0; n < 6; n++) {
        const int32_t tid = story.paths[n % story.path_count].tid, cpu = 0;
        const struct pug_capture_selection tids = {.tids = &tid, .tid_count = 1},
                                           cpus = {.cpus = &cpu, .cpu_count = 1};
        struct counting counting = {.path = path,
                                    .symfs = story.folder,
                                    .options = {.threads = 1 + n % 2,
                                                .piece = 64,
                                                .stacks = n % 2,
                                                .selection = n / 2 == 0   ? NULL
                                                             : n / 2 == 1 ? &tids
                                                                          : &cpus}};
        compare_all(&story, &counting, !config->per_thread);
    }
    perf_story_free(&story);
}

static void test_stories(void **state)
{
    (void)state;
    count_story(&(struct perf_story_config){.seed = 5, .slices = 120, .cpus = 3, .kernel = true});
    count_story(&(struct perf_story_config){.seed = 6, .slices = 40, .cpus = 2, .shuffled = true});
    count_story(
        &(struct perf_story_config){.seed = 7, .slices = 40, .cpus = 2, .per_thread = true});
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_stories)};
    return cmocka_run_group_tests(tests, kept_folder_open, kept_folder_close);
}
