// SPDX-License-Identifier: MIT
/**
 * @file A few bytes of trace that stand for gigabytes of elements: what threads hold is bounded, no
 * memory is told as what it is, and what a byte may stand for is a setting.
 */
#include "pugmark/pugmark.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

/* c.nop; c.bnez a0, to the nop */
static const uint8_t loop[] = {0x01, 0x00, 0x7d, 0xfd};

/* ProgTraceSync at 0x1000; ResourceFull: 31 branches taken, 4096 times. */
static const uint8_t sync_message[] = {0x24, 0x0d, 0x00, 0x83};
static const uint8_t full_message[] = {0x6c, 0xc8, 0xfc, 0xfc, 0xfc, 0xfc, 0xfd, 0x00, 0x00, 0x07};
#define ROUNDS   UINT64_C(4096)
#define BRANCHES UINT64_C(31)
#define MESSAGES UINT64_C(128)

struct run {
    struct pug_image *image;
    struct pug_tree *tree;
    uint8_t trace[sizeof(sync_message) + MESSAGES * sizeof(full_message)];
    uint64_t ranges, others;
};

static enum pug_response count_elements(void *context, const struct pug_element *elements,
                                        size_t count, size_t *taken)
{
    struct run *run = context;
    *taken = count;
    for (size_t i = 0; i < count; i++) {
        if (elements[i].type == PUG_ELEM_INSTR_RANGE)
            run->ranges++;
        else
            run->others++;
    }
    return PUG_RESP_CONT;
}

static void open_run(struct run *run, uint32_t expansion)
{
    uint8_t *at = run->trace;
    *run = (struct run){.image = pug_image_new()};
    memcpy(at, sync_message, sizeof(sync_message));
    at += sizeof(sync_message);
    for (size_t i = 0; i < MESSAGES; i++, at += sizeof(full_message))
        memcpy(at, full_message, sizeof(full_message));
    pug_image_add_buffer(run->image, NULL, 0x1000, loop, sizeof(loop));
    assert_int_equal(
        pug_tree_new(&(struct pug_tree_config){.transport = "plain", .image = run->image},
                     &run->tree),
        PUG_OK);
    const struct pug_source_config source = {
        .protocol = "N-Trace", .decode = true, .options = {.expansion = expansion}};
    assert_int_equal(pug_tree_add_source(run->tree, &source, NULL), PUG_OK);
    pug_tree_on_elements(run->tree, count_elements, run);
}

static void close_run(struct run *run)
{
    pug_tree_free(run->tree);
    pug_image_free(run->image);
}

static const struct pug_jobs two = {.threads = 2, .piece = 256, .block = 32};

/* ---- memory ---- */

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)

static bool is_whole(const struct run *run)
{
    return run->ranges == MESSAGES * ROUNDS * BRANCHES;
}

enum outcome { WHOLE, NO_MEMORY, WRONG };

/** So many bytes of memory more than this process has by now. */
static void limit_memory(size_t more)
{
    unsigned long pages = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    if (!file || fscanf(file, "%lu", &pages) != 1)
        _exit(77);
    fclose(file);
    const struct rlimit limit = {pages * (rlim_t)sysconf(_SC_PAGESIZE) + more, RLIM_INFINITY};
    setrlimit(RLIMIT_AS, &limit);
}

/** Decode on two threads in a process of its own that gets so much memory. */
static enum outcome decode_within(size_t more)
{
    int status;
    const pid_t child = fork();
    if (child == 0) {
        struct run run;
        struct pug_jobs_result result;
        open_run(&run, 0);
        limit_memory(more);
        const enum pug_status decoded =
            pug_tree_decode(run.tree, &two, run.trace, sizeof(run.trace), &result);
        _exit(decoded == PUG_OK        ? (is_whole(&run) ? WHOLE : WRONG)
              : decoded == PUG_ERR_MEM ? NO_MEMORY
                                       : WRONG);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    if (WEXITSTATUS(status) == 77)
        skip();
    return (enum outcome)WEXITSTATUS(status);
}

static void what_threads_hold_is_bounded(void **state)
{
    (void)state;
    /* 1 GiB of elements; threads, their stacks and the rooms that their allocators reserve */
    assert_int_equal(decode_within((size_t)512 << 20), WHOLE);
}

static void no_memory_is_said(void **state)
{
    unsigned missed = 0;
    (void)state;
    /* with less one thread does it all; with more the others may be done before they hold much */
    for (size_t more = (size_t)1 << 20; more <= (size_t)64 << 20; more += more / 4) {
        const enum outcome outcome = decode_within(more);
        assert_int_not_equal(outcome, WRONG);
        missed += outcome == NO_MEMORY;
    }
    assert_true(missed > 0);
}

#endif

/* ---- expansion ---- */

static void a_byte_stands_for_so_much(void **state)
{
    (void)state;
    for (unsigned threads = 1; threads <= 2; threads++) {
        struct pug_jobs jobs = two;
        struct run run;
        open_run(&run, 1000);
        jobs.threads = threads;
        assert_int_equal(pug_tree_decode(run.tree, &jobs, run.trace, sizeof(run.trace), NULL),
                         PUG_OK);
        /* the first message ends where ten bytes may lead, which is four halfwords a range … */
        assert_in_range(run.ranges, 10 * 1000, 10 * 1000 * 8);
        /* … and is bad: nothing is known behind it */
        assert_in_range(run.others, 4, 8);
        close_run(&run);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
        cmocka_unit_test(what_threads_hold_is_bounded),
        cmocka_unit_test(no_memory_is_said),
#endif
        cmocka_unit_test(a_byte_stands_for_so_much),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
