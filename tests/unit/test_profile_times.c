// SPDX-License-Identifier: MIT
/**
 * @file Time and cycles of some threads alone: what others did meanwhile on the same processor is
 * not theirs. Whoever is chosen, each thread has what it has in the profile of all.
 */
#include "profile/steps.h"
#include "support/turns_story.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

/** A thread's sums. */
struct sums {
    uint64_t instructions, cycles, time, contradictions;
};

static struct sums sums_of(const struct pug_profile *profile, int32_t tid)
{
    struct sums sums = {0};
    size_t frame_count, task_count, range_count, use_count;
    const struct pug_profile_frame *frames = pug_profile_frames(profile, &frame_count);
    const struct pug_profile_task *tasks = pug_profile_tasks(profile, &task_count);
    const struct pug_profile_range *ranges = pug_profile_ranges(profile, &range_count);
    const struct pug_profile_use *uses = pug_profile_uses(profile, &use_count);
    for (size_t i = 0; i < frame_count; i++)
        if (tasks[frames[i].task].tid == tid) {
            sums.cycles += frames[i].cycles;
            sums.time += frames[i].time;
        }
    for (size_t i = 0; i < use_count; i++)
        if (tasks[frames[uses[i].frame].task].tid == tid)
            sums.instructions += uses[i].count * ranges[uses[i].range].instructions;
    sums.contradictions = pug_profile_noted(profile, PUG_NOTE_CONTRADICTIONS);
    return sums;
}

static struct pug_profile *count(struct pug_capture *capture, unsigned threads, bool stacks,
                                 const struct pug_capture_selection *selection)
{
    struct pug_profile *profile = pug_profile_new();
    struct pug_names *names = pug_names_new(NULL);
    const struct pug_profiler_options options = {
        .threads = threads, .stacks = stacks, .names = names, .selection = selection};
    assert_non_null(profile);
    assert_int_equal(pug_profile_capture(profile, capture, &options, NULL), PUG_OK);
    pug_names_free(names);
    return profile;
}

static void assert_same_sums(const struct sums *found, const struct sums *expected)
{
    assert_int_equal(found->instructions, expected->instructions);
    assert_int_equal(found->cycles, expected->cycles);
    assert_int_equal(found->time, expected->time);
    assert_int_equal(found->contradictions, 0);
}

/** A thread alone is what it is among all, however it is chosen. */
static void check_thread(struct pug_capture *capture, const struct pug_profile *all, int32_t tid)
{
    const int32_t pid = tid - 1;
    const char *comm = tid == PERF_TURNS_FIRST ? perf_program_names[0] : perf_program_names[1];
    const struct pug_capture_selection selections[] = {{.tids = &tid, .tid_count = 1},
                                                       {.pids = &pid, .pid_count = 1},
                                                       {.comms = &comm, .comm_count = 1}};
    const struct sums expected = sums_of(all, tid);
    for (size_t i = 0; i < sizeof(selections) / sizeof(selections[0]); i++)
        for (unsigned threads = 1; threads <= 2; threads++) {
            struct pug_profile *profile = count(capture, threads, true, &selections[i]);
            const struct sums found = sums_of(profile, tid);
            assert_same_sums(&found, &expected);
            assert_int_equal(
                sums_of(profile, tid == PERF_TURNS_FIRST ? PERF_TURNS_SECOND : PERF_TURNS_FIRST)
                    .instructions,
                0);
            pug_profile_free(profile);
        }
}

static void check(const struct perf_turns *story, uint64_t first, uint64_t second)
{
    struct made_folder folder;
    struct pug_capture *capture = turns_story_open(story, &folder);
    struct pug_profile *all = count(capture, 1, true, NULL);
    assert_int_equal(sums_of(all, PERF_TURNS_FIRST).time, first);
    assert_int_equal(sums_of(all, PERF_TURNS_SECOND).time, second);
    assert_int_equal(sums_of(all, PERF_TURNS_FIRST).cycles, 3 * (PERF_TURNS_FIRST + 7));
    assert_int_equal(sums_of(all, PERF_TURNS_SECOND).cycles, 3 * (PERF_TURNS_SECOND + 7));
    check_thread(capture, all, PERF_TURNS_FIRST);
    check_thread(capture, all, PERF_TURNS_SECOND);
    pug_profile_free(all);
    turns_story_end(capture, &folder);
}

/*
 * The next one has the time of the switch, as its first timestamp follows that. A task that was
 * never seen before has no function yet that could get it.
 */
static void test_turns(void **state)
{
    (void)state;
    check(&(struct perf_turns){.gaps = false}, 300 + 2 * 400, 300 + 2 * 400);
}

/* Nobody has it where tracing was off. */
static void test_gaps(void **state)
{
    (void)state;
    check(&(struct perf_turns){.gaps = true}, 300, 300);
}

static void test_pieces(void **state)
{
    (void)state;
    check(&(struct perf_turns){.pieces = true}, 300, 300);
}

/*
 * Elements dated in a window have the time since the timestamp before it, as in the whole; but
 * after the cut a thread has no function before it runs again.
 */
static void test_windows(void **state)
{
    const struct perf_turns story = {.gaps = false};
    struct made_folder folder;
    struct pug_capture *capture = turns_story_open(&story, &folder);
    struct pug_profile *all = count(capture, 1, true, NULL);
    (void)state;
    for (uint64_t cut = 1000; cut < 4000; cut += 50) {
        const struct pug_capture_selection before = {.has_to = true, .to = cut},
                                           behind = {.has_from = true, .from = cut};
        struct pug_profile *early = count(capture, 1, true, &before),
                           *late = count(capture, 2, true, &behind);
        assert_int_equal(pug_profile_merge(early, late), PUG_OK);
        for (int i = 0; i < 2; i++) {
            const int32_t tid = i ? PERF_TURNS_SECOND : PERF_TURNS_FIRST;
            const struct sums expected = sums_of(all, tid), found = sums_of(early, tid);
            assert_int_equal(found.instructions, expected.instructions);
            assert_int_equal(found.cycles, expected.cycles);
            assert_true(found.time == expected.time || found.time + 400 == expected.time);
        }
        pug_profile_free(early);
        pug_profile_free(late);
    }
    pug_profile_free(all);
    turns_story_end(capture, &folder);
}

/* What was left out goes to other processes as what it is, once for all that comes in a row. */
static void test_travels(void **state)
{
    const struct perf_turns turns = {.gaps = false};
    const struct pug_origin origin = {.task = PUG_NO_TASK, .source = 7};
    const struct pug_element given[] = {{.type = PUG_ELEM_INSTR_RANGE, .source = 7},
                                        {.type = PUG_ELEM_TIMESTAMP, .source = 7, .timestamp = 5},
                                        {.type = PUG_ELEM_TRACE_ON, .source = 7}};
    struct made_folder folder;
    struct pug_state bytes = {0};
    struct pug_capture *capture = turns_story_open(&turns, &folder);
    struct profile_part *part = pug_profile_part_new(capture, true);
    (void)state;
    assert_non_null(part);
    pug_profile_part_left_out(part, &origin, given, 3);
    pug_profile_part_left_out(part, &origin, given, 1);
    pug_profile_part_pack(part, &bytes);
    assert_false(bytes.failed);
    struct profile_part *there = pug_profile_part_unpack(capture, bytes.bytes, bytes.size);
    assert_non_null(there);
    assert_int_equal(there->group_count, 1);
    assert_true(there->groups[0].left_out);
    assert_int_equal(there->groups[0].count, 2);
    assert_int_equal(there->other_count, 2);
    assert_int_equal(there->others[0].timestamp, 5);
    pug_profile_part_free(there);
    pug_profile_part_free(part);
    pug_state_free(&bytes);
    turns_story_end(capture, &folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_turns),   cmocka_unit_test(test_gaps),
        cmocka_unit_test(test_pieces),  cmocka_unit_test(test_windows),
        cmocka_unit_test(test_travels),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
