// SPDX-License-Identifier: MIT
/**
 * @file Allocations that fail, at the library's doors: an answer of PUG_OK is the one that there is
 * with memory, and nothing faults, leaks or hangs. fuzz_memory_files.c has the doors for files.
 *
 * The first byte of an input chooses the door and the number of threads (1 to 4). The second
 * chooses the capture, and whether all allocations after the first failing one fail, too. The next
 * two choose the first one. Trace follows; without it the capture's own is used.
 */
#include "driver.h"
#include "pugmark/advanced/capture.h"
#include "pugmark/advanced/index.h"
#include "pugmark/advanced/jobs.h"
#include "pugmark/pugmark.h"
#include "starve.h"
#include "support/outcome.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const captures[] = {"etmv4-a64-broadcast", "ntrace-rv64", "etrace-rv64",
                                       "etmv3-arm",           "ptm-arm",     "ete-a64"};
#define CAPTURES (sizeof(captures) / sizeof(captures[0]))

/* ---- doors ---- */

struct attempt {
    uint8_t door;
    unsigned threads;
    const uint8_t *bytes;
    size_t size;
    struct pug_capture *capture;
    struct outcome outcome; /**< the answer, where the status is PUG_OK */
};

static enum pug_response take(void *context, const struct pug_element *elements, size_t count,
                              size_t *taken)
{
    struct outcome *outcome = context;
    (void)taken;
    for (size_t i = 0; i < count; i++)
        outcome_add(outcome, outcome_hash(&elements[i]));
    return PUG_RESP_CONT;
}

static enum pug_status decode(struct attempt *attempt, struct pug_tree *tree)
{
    const struct pug_jobs jobs = {.threads = attempt->threads, .block = 64, .piece = 256};
    struct pug_jobs_result result;
    pug_tree_on_elements(tree, take, &attempt->outcome);
    const enum pug_status status =
        pug_tree_decode(tree, &jobs, attempt->bytes, attempt->size, &result);
    if (status == PUG_OK)
        attempt->outcome.at = result.at, attempt->outcome.response = result.response;
    return status;
}

static enum pug_status build_index(struct attempt *attempt, struct pug_tree *tree)
{
    const struct pug_index_options options = {.block = PUG_INDEX_BLOCK_MIN,
                                              .full = attempt->door & 4,
                                              .elements = attempt->door & 8,
                                              .jobs = attempt->threads};
    struct pug_index *index = NULL;
    size_t size = 0;
    const enum pug_status status =
        pug_index_build(tree, attempt->bytes, attempt->size, &options, &index);
    if (status == PUG_OK) {
        const void *bytes = pug_index_bytes(index, &size);
        attempt->outcome.element_hash = outcome_mix(0, bytes, size);
    }
    pug_index_free(index);
    return status;
}

/** Make a profile of the capture's own trace. */
static enum pug_status make_profile(struct attempt *attempt)
{
    const struct pug_profiler_options options = {.threads = attempt->threads,
                                                 .stacks = attempt->door & 4};
    struct pug_profile *profile = pug_profile_new();
    struct pug_capture_result result;
    uint8_t *bytes = NULL;
    size_t size = 0;
    enum pug_status status =
        profile ? pug_profile_capture(profile, attempt->capture, &options, &result) : PUG_ERR_MEM;
    if (status == PUG_OK)
        status = pug_profile_write(profile, &bytes, &size);
    if (status == PUG_OK)
        attempt->outcome.element_hash = outcome_mix(0, bytes, size);
    free(bytes);
    pug_profile_free(profile);
    return status;
}

static enum pug_status with_tree(struct attempt *attempt)
{
    struct pug_tree *tree = NULL;
    enum pug_status status = pug_capture_tree(attempt->capture, 0, true, NULL, &tree);
    if (status == PUG_OK)
        status = attempt->door % 3 == 0 ? decode(attempt, tree) : build_index(attempt, tree);
    pug_tree_free(tree);
    return status;
}

static enum pug_status open_and_try(const char *folder, struct attempt *attempt)
{
    const struct pug_capture_options options = {.decode = {.data_elements = true}};
    struct pug_read_failure failure;
    enum pug_status status = pug_capture_open(folder, &options, &attempt->capture);
    if (status != PUG_OK)
        return status;
    status = attempt->door % 3 == 2 ? make_profile(attempt) : with_tree(attempt);
    if (pug_capture_failure(attempt->capture, &failure))
        status = failure.status;
    pug_capture_free(attempt->capture);
    return status;
}

static void compare(const struct attempt *with, const struct attempt *without, const char *folder)
{
    if (outcome_equals(&with->outcome, &without->outcome))
        return;
    fprintf(stderr, "%s: PUG_OK, and not what there is with memory\n", folder);
    abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char folder[4096];
    if (size < 4)
        return 0;
    struct attempt with = {.door = data[0] & 15,
                           .threads = 1 + (data[0] >> 4 & 3),
                           .bytes = data + 4,
                           .size = size - 4},
                   without = with;
    snprintf(folder, sizeof(folder), "%s/tests/captures/%s", PUG_SOURCE_DIR,
             captures[(data[1] & 127) % CAPTURES]);
    if (open_and_try(folder, &with) != PUG_OK)
        return 0;
    fuzz_starve(data[2] | (unsigned)data[3] << 8, data[1] & 128);
    const enum pug_status status = open_and_try(folder, &without);
    (void)fuzz_feast();
    if (status == PUG_OK)
        compare(&with, &without, folder);
    return 0;
}

/** A piece of a capture's trace; of the first few hundred allocations one fails. */
size_t fuzz_begin(uint8_t *data, size_t room, struct rec_random *random)
{
    struct pug_capture *capture;
    char folder[4096];
    enum pug_status status;
    data[0] = (uint8_t)rec_random(random);
    data[1] = (uint8_t)rec_random(random);
    data[2] = (uint8_t)rec_random(random);
    data[3] = rec_random_once_in(random, 3) ? 1 : 0;
    snprintf(folder, sizeof(folder), "%s/tests/captures/%s", PUG_SOURCE_DIR,
             captures[(data[1] & 127) % CAPTURES]);
    if (pug_capture_open(folder, NULL, &capture) != PUG_OK) {
        fprintf(stderr, "%s cannot be opened\n", folder);
        exit(2);
    }
    const uint64_t all = pug_capture_segment_at(capture, 0)->size;
    size_t most = 256u << rec_random_below(random, 5);
    most = most < room - 4 ? most : room - 4;
    const uint64_t from =
        all > most ? rec_random_below(random, (uint32_t)(all - most)) & ~UINT64_C(15) : 0;
    const size_t head = 4 + pug_capture_bytes(capture, 0, from, data + 4, most, &status);
    pug_capture_free(capture);
    return head;
}
