// SPDX-License-Identifier: MIT
/** @file perf.data: who threads are, and what they are called. */
#include "support/perf_made.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

enum { FORK = 7, SWITCH = 14, SWITCH_CPU_WIDE = 15 };

#define MISC_OUT (1u << 13)

static void put_words(struct rec_perf *perf, uint32_t type, uint16_t misc, const int32_t *words,
                      unsigned count, const struct rec_perf_sample *sample)
{
    struct rec_bytes body = {0};
    for (unsigned i = 0; i < count; i++)
        rec_put_le(&body, (uint32_t)words[i], 4);
    rec_perf_record(perf, type, misc, &body, sample);
    rec_bytes_free(&body);
}

/** A thread of a process is there, under a name. */
static void check_task(const struct pug_capture *capture, int32_t pid, int32_t tid,
                       const char *name)
{
    const struct pug_capture_task *task, *last = NULL;
    for (size_t n = 0; (task = pug_capture_task_at(capture, n)) != NULL; n++)
        last = task->tid == tid ? task : last;
    assert_int_equal(last ? last->pid : -1, pid);
    assert_string_equal(last ? last->comm : "", name);
}

/** Whoever is new has the name of the thread that made it, not of that one's process. */
static void test_names_of_new_ones(void **state)
{
    const struct rec_perf_sample sample = {.pid = 100, .tid = 101, .time = 20};
    const struct rec_perf_sample first = {.pid = 100, .tid = 100, .time = 10};
    const int32_t thread[] = {100, 100, 102, 101, 20, 0}, process[] = {103, 100, 103, 101, 20, 0};
    const int32_t stranger[] = {100, 100, 104, 999, 20, 0};
    struct made_folder folder;
    struct rec_perf perf;
    (void)state;
    made_folder_begin(&folder);
    perf_made_begin(&perf);
    rec_perf_comm(&perf, &first, "main", true);
    rec_perf_comm(&perf, &(struct rec_perf_sample){.pid = 100, .tid = 101, .time = 11}, "worker",
                  false);
    put_words(&perf, FORK, 0, thread, 6, &sample);
    put_words(&perf, FORK, 0, process, 6, &sample);
    put_words(&perf, FORK, 0, stranger, 6, &sample);
    struct pug_capture *capture = perf_made_open(&perf, &folder);
    check_task(capture, 100, 101, "worker");
    check_task(capture, 100, 102, "worker");
    check_task(capture, 103, 103, "worker");
    check_task(capture, 100, 104, "main"); /* that thread has no name yet */
    pug_capture_free(capture);
    made_folder_end(&folder);
}

/** A switch gives the process of the task that came or went, and of the other one. */
static void test_switches(void **state)
{
    const int32_t other[] = {200, 201}, idle[] = {0, 0};
    struct made_folder folder;
    struct rec_perf perf;
    (void)state;
    made_folder_begin(&folder);
    perf_made_begin(&perf);
    put_words(&perf, SWITCH_CPU_WIDE, MISC_OUT, other, 2,
              &(struct rec_perf_sample){.pid = 100, .tid = 102, .time = 10});
    put_words(&perf, SWITCH_CPU_WIDE, 0, idle, 2,
              &(struct rec_perf_sample){.pid = 400, .tid = 402, .time = 11});
    put_words(&perf, SWITCH, 0, NULL, 0,
              &(struct rec_perf_sample){.pid = 300, .tid = 303, .time = 12});
    struct pug_capture *capture = perf_made_open(&perf, &folder);
    check_task(capture, 100, 102, "");
    check_task(capture, 200, 201, "");
    check_task(capture, 400, 402, "");
    check_task(capture, 300, 303, "");
    assert_null(pug_capture_task_at(capture, 4));
    pug_capture_free(capture);
    made_folder_end(&folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_names_of_new_ones),
        cmocka_unit_test(test_switches),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
