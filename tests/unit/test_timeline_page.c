// SPDX-License-Identifier: MIT
/**
 * @file The report's form of timelines: bounded, and yet every slice is counted, in the finest
 * level and in each coarser one, and what ran adds up.
 */
#include "export/timeline.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
/* cmocka.h wants the three above first */
#include <cmocka.h>

#define SLICES 200000u
#define ROOM   40000u

/** The content of a timeline, for comparison. */
struct told {
    uint64_t slices, instructions;
    uint64_t shorter[64]; /* slices shorter than 2^n */
};

static uint64_t random_state;

static uint64_t draw(uint64_t below)
{
    random_state = random_state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (random_state >> 33) % below;
}

static void tell_slice(struct told *told, uint64_t took)
{
    told->slices++;
    for (unsigned n = 0; n < 64; n++)
        told->shorter[n] += took >> n == 0;
}

/** A task of nested slices, some of no time at all, some long. */
static void tell_task(struct pug_timeline *timeline, uint32_t track, uint64_t time,
                      struct told *told)
{
    uint64_t starts[8], instructions = 0;
    uint32_t depth = 0;
    pug_timeline_ran(timeline, track, time, 0, 0);
    for (uint32_t i = 0; i < SLICES || depth > 0;) {
        const uint64_t ran = draw(10);
        time += draw(8) == 0 ? draw(3000) : draw(3);
        instructions += ran;
        told->instructions += depth > 0 ? ran : 0; /* else it is no slice's */
        pug_timeline_ran(timeline, track, time, instructions, i);
        if (i < SLICES && depth < 8 && (depth == 0 || draw(2))) {
            pug_timeline_enter(timeline, track, time, (uint32_t)draw(20), false);
            starts[depth++] = time;
            i++;
        } else {
            pug_timeline_leave(timeline, track, time);
            tell_slice(told, time - starts[--depth]);
        }
    }
}

/** The sum of the numbers of all arrays with this key from `at` to `end`. */
static uint64_t sum_of(const char *at, const char *end, const char *key)
{
    uint64_t sum = 0;
    for (; (at = strstr(at, key)) != NULL && at < end; at++)
        for (at = strchr(at, '[') + 1; *at != ']'; at += strspn(at, ", ")) {
            char *behind;
            sum += strtoull(at, &behind, 10);
            at = behind;
        }
    return sum;
}

static struct pug_timeline *new_timeline(struct pug_sink *sink)
{
    struct pug_timeline *timeline;
    const struct pug_timeline_output options = {
        .sink = sink, .title = "test", .unit = "ticks", .room = ROOM};
    assert_int_equal(pug_timeline_new(PUG_TIMELINE_PAGE, &options, &timeline), PUG_OK);
    for (uint32_t track = 0; track < 2; track++)
        pug_timeline_track(timeline, track, &(struct pug_track){.pid = 1, .tid = 1, .name = "t"});
    for (uint32_t name = 0; name < 20; name++)
        pug_timeline_name(timeline, name, "function", NULL, 0);
    return timeline;
}

static char *finished(struct pug_timeline *timeline, struct pug_memory *memory)
{
    struct pug_sink sink = pug_memory_sink(memory);
    assert_int_equal(pug_timeline_end(timeline), PUG_OK);
    pug_sink_put(&sink, "", 1);
    assert_false(memory->failed);
    return memory->bytes;
}

static void test_all_is_counted(void **state)
{
    struct pug_memory memory = {.bytes = NULL};
    struct pug_sink sink = pug_memory_sink(&memory);
    struct told told = {0};
    (void)state;
    random_state = 1;
    struct pug_timeline *timeline = new_timeline(&sink);
    tell_task(timeline, 0, UINT64_C(1) << 40, &told);
    tell_task(timeline, 1, (UINT64_C(1) << 40) - 12345, &told);
    const char *json = finished(timeline, &memory);
    const char *sums = strstr(json, "\"sums\"");
    const char *end = json + memory.count;
    assert_non_null(sums);
    assert_int_equal(sum_of(sums, end, "\"calls\""), told.slices);
    assert_int_equal(sum_of(sums, end, "\"instructions\""), told.instructions);
    /* bounded: some 40 bytes an item, of which coarser levels have as many again */
    assert_true(memory.count < ROOM * 200);
    uint64_t fine = 0;
    unsigned levels = 0;
    for (const char *track = json; (track = strstr(track, "\"lanes\": ")) != NULL; track++) {
        const char *coarse = strstr(track, "\"levels\"");
        if (!coarse)
            break;
        fine += sum_of(track, coarse, "\"count\"");
        track = strstr(coarse, "\"instants\"");
    }
    assert_int_equal(fine, told.slices);
    /* Each level has what is shorter than its width, of both tracks together. */
    for (unsigned level = 0; level < 64; level++) {
        char key[32];
        uint64_t shown = 0;
        bool found = false;
        snprintf(key, sizeof(key), "{\"level\": %u,", level);
        for (const char *at = json; (at = strstr(at, key)) != NULL && at < sums; at++) {
            const char *next = strstr(at + 1, "{\"level\": "), *last = strstr(at, "\"instants\"");
            shown += sum_of(at, next && next < last ? next : last, "\"count\"");
            found = true;
        }
        if (found)
            assert_int_equal(shown, told.shorter[level]);
        levels += found;
    }
    assert_true(levels > 0);
    free(memory.bytes);
}

static void test_a_small_one_is_exact(void **state)
{
    struct pug_memory memory = {.bytes = NULL};
    struct pug_sink sink = pug_memory_sink(&memory);
    (void)state;
    struct pug_timeline *timeline = new_timeline(&sink);
    pug_timeline_ran(timeline, 0, 100, 0, 7);
    pug_timeline_enter(timeline, 0, 100, 3, false);
    pug_timeline_ran(timeline, 0, 104, 40, 8);
    pug_timeline_enter(timeline, 0, 104, 4, true);
    pug_timeline_ran(timeline, 0, 104, 40, 9);
    pug_timeline_leave(timeline, 0, 104);
    pug_timeline_instant(timeline, 0, 104, 5, "a <b>");
    pug_timeline_counter(timeline, 0, 104, 6, UINT64_MAX);
    pug_timeline_gap(timeline, 0, 104, 110, "trace lost");
    pug_timeline_ran(timeline, 0, 110, 40, 20);
    pug_timeline_leave(timeline, 0, 110);
    const char *json = finished(timeline, &memory);
    assert_non_null(strstr(json, "\"level\": 0, \"span\": 10"));
    assert_non_null(strstr(json, "\"length\": [10]"));
    assert_non_null(strstr(json, "\"length\": [0]"));
    assert_non_null(strstr(json, "\"instants\": [[4, 2, 1, 9, \"a \\u003cb>\"]]"));
    assert_non_null(strstr(json, "\"counters\": [[4, 3, 1, 9, -1, -1, -1"));
    assert_non_null(strstr(json, "\"gaps\": [[4, 10, \"trace lost\", 1, 9]]"));
    /* The gap's time belongs to no task. */
    assert_int_equal(sum_of(strstr(json, "\"sums\""), json + memory.count, "\"time\""), 4);
    assert_int_equal(sum_of(strstr(json, "\"sums\""), json + memory.count, "\"instructions\""), 40);
    free(memory.bytes);
}

static void test_hostile_times(void **state)
{
    struct pug_memory memory = {.bytes = NULL};
    struct pug_sink sink = pug_memory_sink(&memory);
    (void)state;
    struct pug_timeline *timeline = new_timeline(&sink);
    for (uint64_t i = 0; i < 1000; i++) {
        const uint64_t time = i < 500 ? i : UINT64_MAX - 1000 + i;
        pug_timeline_ran(timeline, 0, time, i, i);
        pug_timeline_enter(timeline, 0, time, (uint32_t)(i % 20), false);
        if (i % 3 == 0)
            pug_timeline_leave(timeline, 0, time);
        for (unsigned n = 0; n < 5; n++)
            pug_timeline_instant(timeline, 0, time, (uint32_t)(i % 20), "text");
    }
    assert_non_null(finished(timeline, &memory));
    free(memory.bytes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_all_is_counted),
        cmocka_unit_test(test_a_small_one_is_exact),
        cmocka_unit_test(test_hostile_times),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
