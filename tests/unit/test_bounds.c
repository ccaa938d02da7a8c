// SPDX-License-Identifier: MIT
/**
 * @file A few bytes of trace that stand for gigabytes of elements: what threads hold is bounded,
 * lack of memory is reported as such, and the expansion of a byte is a setting.
 */
#include "pugmark/advanced/counts.h"
#include "pugmark/advanced/image.h"
#include "pugmark/advanced/jobs.h"
#include "pugmark/advanced/tree.h"
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

static void open_tree(struct run *run, const char *transport,
                      const struct pug_source_config *source, const uint8_t *program, size_t size)
{
    *run = (struct run){.image = pug_image_new()};
    pug_image_add_buffer(run->image, NULL, 0x1000, program, size);
    assert_int_equal(
        pug_tree_new(&(struct pug_tree_config){.transport = transport, .image = run->image},
                     &run->tree),
        PUG_OK);
    assert_int_equal(pug_tree_add_source(run->tree, source, NULL), PUG_OK);
    pug_tree_on_elements(run->tree, count_elements, run);
}

static void open_run(struct run *run, uint32_t expansion)
{
    const struct pug_source_config source = {
        .protocol = "N-Trace", .decode = true, .options = {.expansion = expansion}};
    open_tree(run, "plain", &source, loop, sizeof(loop));
    uint8_t *at = run->trace;
    memcpy(at, sync_message, sizeof(sync_message));
    at += sizeof(sync_message);
    for (size_t i = 0; i < MESSAGES; i++, at += sizeof(full_message))
        memcpy(at, full_message, sizeof(full_message));
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

/** Allow this process so many bytes more than it has now. */
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
        /* the first message ends where 8 bytes may lead … */
        assert_int_equal(run.ranges, 8 * 1000);
        /* … and is bad: nothing is known after it */
        assert_in_range(run.others, 4, 8);
        close_run(&run);
    }
}

/* ---- repetitions ---- */

/** Branches of a loop that has a hundred instructions beside them. */
struct repeats {
    const char *protocol, *transport;
    const uint8_t *trace;
    size_t size;
    uint64_t ranges;
    uint32_t expansion;
};

static void decode_repeats(const struct repeats *repeats, bool counts)
{
    static const struct pug_setting settings[] = {
        {"xlen", 64, NULL},         {"iaddress_width_p", 64, NULL}, {"iaddress_lsb_p", 1, NULL},
        {"bpred_size_p", 10, NULL}, {"srcid_bits", 0, NULL},        {"branch_prediction", 1, NULL}};
    const struct pug_source_config source = {
        .protocol = repeats->protocol,
        .settings = {.items = settings, .count = sizeof(settings) / sizeof(settings[0])},
        .decode = true,
        .options = {.expansion = repeats->expansion}};
    struct pug_counts *counted = counts ? pug_counts_new_bare() : NULL;
    uint8_t program[202];
    struct run run;
    for (size_t i = 0; i < 200; i += 2)
        memcpy(program + i, (const uint8_t[]){0x01, 0x00}, 2); /* c.nop */
    memcpy(program + 200, (const uint8_t[]){0x05, 0xfd}, 2);   /* c.bnez a0, to the first */
    open_tree(&run, repeats->transport, &source, program, sizeof(program));
    if (counts)
        pug_tree_count(run.tree, counted);
    size_t used = 0;
    (void)pug_tree_data(run.tree, 0, repeats->trace, repeats->size, &used);
    (void)pug_tree_end(run.tree);
    if (counts) {
        uint64_t ranges, instructions;
        pug_tree_count(run.tree, NULL);
        pug_counts_total(counted, &ranges, &instructions);
        run.ranges += ranges;
    }
    assert_int_equal(run.ranges, repeats->ranges);
    assert_in_range(run.others, 3, 5); /* where trace begins, and its end */
    pug_counts_free(counted);
    close_run(&run);
}

static void decode_all_repeats(const struct repeats *repeats, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        decode_repeats(&repeats[i], false);
        decode_repeats(&repeats[i], true);
    }
}

/** As many as there can be. */
static void repetitions_are_decoded(void **state)
{
    /* ProgTraceSync; ResourceFull: 31 branches taken, 2^18 - 1 times */
    static const uint8_t histories[] = {0x24, 0x0d, 0x00, 0x83, 0x6c, 0xc8, 0xfc,
                                        0xfc, 0xfc, 0xfc, 0xfd, 0xfc, 0xfc, 0xff};
    /* ProgTraceSync; DirectBranch of a round, RepeatBranch: 2^18 - 1 times */
    static const uint8_t branches[] = {0x24, 0x0d, 0x00, 0x83, 0x0c, 0x94,
                                       0x07, 0x78, 0xfc, 0xfc, 0xff};
    /* synchronisation; 31 branches taken; 8,000,000 that are predicted, and one that is not */
    static const uint8_t predictions[] = {0x03, 0x63, 0x00, 0x04, 0x05, 0x01, 0x00, 0x00,
                                          0x00, 0x00, 0x05, 0x84, 0x47, 0xe8, 0x01, 0x00};
    static const struct repeats all[] = {
        {"N-Trace", "plain", histories, sizeof(histories), 31 * 262143, 0},
        {"N-Trace", "plain", branches, sizeof(branches), 1 + 262143, 0},
        {"E-Trace", "encapsulation", predictions, sizeof(predictions), 1 + 31 + 8000000 + 1, 0}};
    (void)state;
    decode_all_repeats(all, sizeof(all) / sizeof(all[0]));
}

/** However long what runs in between is. */
static void ranges_are_what_is_bounded(void **state)
{
    /* ProgTraceSync; ResourceFull: 31 branches taken */
    static const uint8_t history[] = {0x24, 0x0d, 0x00, 0x83, 0x6c, 0xc4,
                                      0xfc, 0xfc, 0xfc, 0xfc, 0xff};
    /* ProgTraceSync; ResourceFull: 31 branches taken, twice */
    static const uint8_t histories[] = {0x24, 0x0d, 0x00, 0x83, 0x6c, 0xc8,
                                        0xfc, 0xfc, 0xfc, 0xfc, 0xfd, 0x0b};
    static const struct repeats all[] = {
        {"N-Trace", "plain", history, sizeof(history), 31, 4},
        {"N-Trace", "plain", history, sizeof(history), 3 * 8, 3},
        {"N-Trace", "plain", histories, sizeof(histories), 62, 8},
        {"N-Trace", "plain", histories, sizeof(histories), 7 * 8, 7}};
    (void)state;
    decode_all_repeats(all, sizeof(all) / sizeof(all[0]));
}

/* ---- at the bound ---- */

/* c.nop; two jumps to what is next; c.bnez a0, to the nop */
static const uint8_t jumps[] = {0x01, 0x00, 0x09, 0xa0, 0x09, 0xa0, 0x6d, 0xfd};

/** The result of decoding: its elements, and the messages. */
struct came {
    uint64_t ranges, hash, messages;
};

static void hash_bytes(struct came *came, const void *bytes, size_t size)
{
    for (size_t i = 0; i < size; i++)
        came->hash = (came->hash ^ ((const uint8_t *)bytes)[i]) * UINT64_C(1099511628211);
}

static enum pug_response note_elements(void *context, const struct pug_element *elements,
                                       size_t count, size_t *taken)
{
    struct came *came = context;
    *taken = count;
    for (size_t i = 0; i < count; i++)
        came->ranges += elements[i].type == PUG_ELEM_INSTR_RANGE;
    hash_bytes(came, elements, count * sizeof(*elements));
    return PUG_RESP_CONT;
}

static void note_message(void *context, const struct pug_log_record *record)
{
    struct came *came = context;
    came->messages++;
    hash_bytes(came, record->text, strlen(record->text));
}

/** 31 branches that were taken, `predicted` as foreseen and one that was not. */
static size_t write_predictions(uint8_t *trace, uint64_t predicted)
{
    static const uint8_t begin[] = {0x03, 0x63, 0x00, 0x04, 0x05, 0x01,
                                    0x00, 0x00, 0x00, 0x00, 0x05};
    uint8_t *at = trace;
    memcpy(at, begin, sizeof(begin));
    at += sizeof(begin);
    for (unsigned i = 0; i < 5; i++)
        *at++ = (uint8_t)((predicted - 31) << 2 >> 8 * i);
    return (size_t)(at - trace);
}

/** How predictions are decoded. */
struct manner {
    bool jumps;  /**< the loop has some */
    bool steps;  /**< addresses are such that no more than one block is walked over at a time */
    bool counts; /**< ranges are no elements */
    uint64_t limit;
};

static struct came decode_predictions(uint64_t predicted, const struct manner *manner)
{
    const struct pug_setting settings[] = {{"xlen", 64, NULL},
                                           {"iaddress_width_p", 64, NULL},
                                           {"iaddress_lsb_p", 1, NULL},
                                           {"bpred_size_p", 10, NULL},
                                           {"srcid_bits", 0, NULL},
                                           {"branch_prediction", 1, NULL},
                                           {"branch_limit", manner->limit, NULL},
                                           {"iaddress_sign_extend", manner->steps, NULL}};
    const struct pug_source_config source = {
        .protocol = "E-Trace",
        .settings = {.items = settings, .count = sizeof(settings) / sizeof(settings[0])},
        .decode = true,
        .options = {.expansion = 16}};
    struct came came = {0};
    struct pug_log *log = pug_log_new(PUG_SEV_INFO);
    struct pug_counts *counts = manner->counts ? pug_counts_new() : NULL;
    uint8_t trace[32];
    const size_t size = write_predictions(trace, predicted);
    struct run run = {.image = pug_image_new()};
    const struct pug_tree_config config = {
        .transport = "encapsulation", .image = run.image, .log = log};
    size_t used = 0;
    pug_log_set_sink(log, note_message, &came);
    pug_image_add_buffer(run.image, NULL, 0x1000, manner->jumps ? jumps : loop,
                         manner->jumps ? sizeof(jumps) : sizeof(loop));
    assert_int_equal(pug_tree_new(&config, &run.tree), PUG_OK);
    assert_int_equal(pug_tree_add_source(run.tree, &source, NULL), PUG_OK);
    pug_tree_on_elements(run.tree, note_elements, &came);
    if (counts)
        pug_tree_count(run.tree, counts);
    (void)pug_tree_data(run.tree, 0, trace, size, &used);
    (void)pug_tree_end(run.tree);
    if (counts) {
        uint64_t instructions;
        pug_tree_count(run.tree, NULL);
        pug_counts_total(counts, &came.ranges, &instructions);
    }
    close_run(&run);
    pug_counts_free(counts);
    pug_log_free(log);
    return came;
}

/** Beyond a bound, the same part is reported, by whichever path it was reached. */
static void check_predictions(uint64_t predicted, uint64_t limit, bool has_jumps)
{
    struct manner manner = {.jumps = has_jumps, .limit = limit};
    const struct came hops = decode_predictions(predicted, &manner);
    manner.steps = true;
    const struct came steps = decode_predictions(predicted, &manner);
    manner.counts = true;
    const struct came counted_steps = decode_predictions(predicted, &manner);
    manner.steps = false;
    const struct came counted = decode_predictions(predicted, &manner);
    assert_memory_equal(&hops, &steps, sizeof(hops));
    assert_memory_equal(&counted, &counted_steps, sizeof(counted));
    assert_int_equal(counted.ranges, hops.ranges);
    assert_int_equal(counted.messages, hops.messages);
    const uint64_t most = limit < UINT64_C(8) * 16 ? limit : UINT64_C(8) * 16;
    if (!has_jumps)
        assert_int_equal(hops.messages > 0, most < 30 || predicted + 1 > most);
}

static void bounds_are_met_in_hops(void **state)
{
    static const uint64_t limits[] = {1, 31, 60, 1000};
    (void)state;
    for (size_t i = 0; i < sizeof(limits) / sizeof(limits[0]); i++)
        for (uint64_t predicted = 31; predicted < 200; predicted++) {
            const uint64_t count = predicted < 199 ? predicted : UINT32_MAX + UINT64_C(31);
            check_predictions(count, limits[i], false);
            check_predictions(count, limits[i], true);
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
        cmocka_unit_test(repetitions_are_decoded),
        cmocka_unit_test(ranges_are_what_is_bounded),
        cmocka_unit_test(bounds_are_met_in_hops),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
