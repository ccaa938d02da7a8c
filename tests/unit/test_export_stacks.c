// SPDX-License-Identifier: MIT
/**
 * @file Call stacks in callgrind's and pprof's profiles: where each function was entered, and what
 * it cost. Profiles are made up, of functions without names; tests/run/profile_stacks.sh has more.
 */
#include "export/export.h"
#include "pugmark/names.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define NONE PUG_PROFILE_NONE

/* ---- profiles ---- */

static uint32_t add_object(struct pug_profile *profile, const char *path)
{
    const struct pug_profile_object object = {.path = path};
    uint32_t number;
    assert_int_equal(pug_profile_object(profile, &object, &number), PUG_OK);
    return number;
}

/* A profile of one task, whose number is 0. */
static struct pug_profile *begin(void)
{
    struct pug_profile *profile = pug_profile_new();
    const struct pug_profile_task task = {.pid = 5, .tid = 5, .name = "t"};
    uint32_t number;
    assert_non_null(profile);
    assert_int_equal(pug_profile_task(profile, &task, &number), PUG_OK);
    return profile;
}

/* A frame of a function, entered from a site; `site` 0: from nowhere that is known. */
static uint32_t add_frame(struct pug_profile *profile, uint32_t parent, uint32_t object,
                          uint64_t function, uint32_t site_object, uint64_t site)
{
    uint32_t number;
    const struct pug_profile_frame frame = {.function = function,
                                            .site = site,
                                            .calls = parent != NONE,
                                            .parent = parent,
                                            .object = object,
                                            .site_object = site ? site_object : NONE};
    assert_int_equal(pug_profile_frame(profile, &frame, &number), PUG_OK);
    return number;
}

/* So many instructions at an address ran on a frame, and it ended like this. */
static void add_range(struct pug_profile *profile, uint32_t frame, uint32_t object, uint64_t first,
                      uint32_t instructions, unsigned end)
{
    struct pug_profile_use use = {.count = 1, .frame = frame};
    const struct pug_profile_range range = {.first = first,
                                            .last = first + 4 * (instructions - 1),
                                            .count = 1,
                                            .object = object,
                                            .instructions = instructions,
                                            .last_size = 4,
                                            .isa = PUG_ISA_A64,
                                            .end = (uint8_t)end};
    assert_int_equal(pug_profile_range(profile, &range, &use.range), PUG_OK);
    assert_int_equal(pug_profile_use(profile, &use), PUG_OK);
}

#define CALL (PUG_END_BRANCH | PUG_END_CALL | PUG_END_TAKEN)
#define JUMP (PUG_END_BRANCH | PUG_END_TAKEN)

/* ---- callgrind ---- */

static void assert_callgrind(struct pug_profile *profile, const char *object, const char *wanted)
{
    struct pug_memory memory = {0};
    struct pug_sink sink = pug_memory_sink(&memory);
    struct pug_names *names = pug_names_new(NULL);
    const struct pug_export_options options = {
        .names = names, .objects = &object, .object_count = object != NULL};
    assert_int_equal(pug_export(profile, "callgrind", &options, sink.put, sink.context), PUG_OK);
    pug_sink_put(&sink, "", 1);
    const char *body = strstr((const char *)memory.bytes, "summary: ");
    assert_non_null(body);
    assert_string_equal(body, wanted);
    free(memory.bytes);
    pug_names_free(names);
}

/*
 * 1000 calls 2000, which is interrupted; that calls 3000 in a library, which jumps to 3100. Later
 * 2000 is there once more without a caller. No file is there.
 */
static struct pug_profile *interrupted(void)
{
    struct pug_profile *profile = begin();
    const uint32_t a = add_object(profile, "/a"), b = add_object(profile, "/b");
    const uint32_t first = add_frame(profile, NONE, a, 0x1000, NONE, 0);
    const uint32_t second = add_frame(profile, first, a, 0x2000, a, 0x1004);
    const uint32_t handler = add_frame(profile, second, a, 0x4000, NONE, 0);
    const uint32_t jumps = add_frame(profile, second, b, 0x3000, a, 0x2008);
    const uint32_t tail = add_frame(profile, second, b, 0x3100, b, 0x3004);
    const uint32_t again = add_frame(profile, NONE, a, 0x2000, NONE, 0);
    add_range(profile, first, a, 0x1000, 2, CALL);
    add_range(profile, second, a, 0x2000, 3, CALL);
    add_range(profile, handler, a, 0x4000, 100, 0);
    add_range(profile, jumps, b, 0x3000, 2, JUMP);
    add_range(profile, tail, b, 0x3100, 30, 0);
    add_range(profile, again, a, 0x2010, 7, 0);
    return profile;
}

/** What tail calls and exceptions cost is in the function that they return to. */
static void test_callgrind(void **state)
{
    (void)state;
    struct pug_profile *profile = interrupted();
    assert_callgrind(profile, NULL,
                     "summary: 144\n"
                     "\nob=/a\nfl=???\nfn=[1000]\n"
                     "0x1000 0 2\n"
                     "cfn=[2000]\ncalls=1 0x2000 0\n0x1004 0 135\n"
                     "\nob=/a\nfl=???\nfn=[2000]\n"
                     "0x2000 0 3\n"
                     "cfn=[4000]\ncalls=1 0x4000 0\n0x2000 0 100\n"
                     "cob=/b\ncfn=[3000]\ncalls=1 0x3000 0\n0x2008 0 2\n"
                     "cob=/b\ncfn=[3100]\ncalls=1 0x3100 0\n0x2008 0 30\n"
                     "0x2010 0 7\n"
                     "\nob=/a\nfl=???\nfn=[4000]\n0x4000 0 100\n"
                     "\nob=/b\nfl=???\nfn=[3000]\n0x3000 0 2\n"
                     "\nob=/b\nfl=???\nfn=[3100]\n0x3100 0 30\n"
                     "\nob=???\nfl=???\nfn=[unknown]\n"
                     "cob=/a\ncfn=[1000]\ncalls=1 0x1000 0\n0x0 0 137\n"
                     "cob=/a\ncfn=[2000]\ncalls=1 0x2000 0\n0x0 0 7\n"
                     "\ntotals: 144\n");
    pug_profile_free(profile);
}

/** One object alone, with its calls into others, and without callers. */
static void test_callgrind_of_an_object(void **state)
{
    (void)state;
    struct pug_profile *profile = interrupted();
    assert_callgrind(profile, "/b",
                     "summary: 32\n"
                     "\nob=/b\nfl=???\nfn=[3000]\n0x3000 0 2\n"
                     "\nob=/b\nfl=???\nfn=[3100]\n0x3100 0 30\n"
                     "\nob=???\nfl=???\nfn=[unknown]\n"
                     "cob=/b\ncfn=[3000]\ncalls=1 0x3000 0\n0x0 0 2\n"
                     "cob=/b\ncfn=[3100]\ncalls=1 0x3100 0\n0x0 0 30\n"
                     "\ntotals: 32\n");
    pug_profile_free(profile);
}

/** Memory of no object has functions, too. */
static void test_callgrind_of_no_object(void **state)
{
    (void)state;
    struct pug_profile *profile = begin();
    const uint32_t a = add_object(profile, "/a");
    const uint32_t first = add_frame(profile, NONE, a, 0x1000, NONE, 0);
    const uint32_t page = add_frame(profile, first, NONE, 0x1000, a, 0x1004);
    add_range(profile, first, a, 0x1000, 2, CALL);
    add_range(profile, page, NONE, 0x1008, 5, 0);
    assert_callgrind(profile, NULL,
                     "summary: 7\n"
                     "\nob=/a\nfl=???\nfn=[1000]\n0x1000 0 2\n"
                     "cob=???\ncfn=[1000]\ncalls=1 0x1000 0\n0x1004 0 5\n"
                     "\nob=???\nfl=???\nfn=[1000]\n0x1008 0 5\n"
                     "\nob=???\nfl=???\nfn=[unknown]\n"
                     "cob=/a\ncfn=[1000]\ncalls=1 0x1000 0\n0x0 0 7\n"
                     "\ntotals: 7\n");
    pug_profile_free(profile);
}

/* ---- callers ---- */

/* The frame of a function, and where it was entered. */
static struct export_caller caller_of(struct pug_profile *profile, uint64_t function)
{
    size_t count;
    const struct pug_export_options options = {0};
    assert_int_equal(pug_profile_sort(profile), PUG_OK);
    struct export_caller *callers =
        pug_export_callers(&(struct exporter){.profile = profile, .options = &options});
    const struct pug_profile_frame *frames = pug_profile_frames(profile, &count);
    assert_non_null(callers);
    size_t i = 0;
    while (i < count && frames[i].function != function)
        i++;
    assert_true(i < count);
    const struct export_caller caller = callers[i];
    free(callers);
    return caller;
}

static void assert_caller(struct pug_profile *profile, uint64_t function, uint64_t vaddr,
                          bool exact)
{
    const struct export_caller caller = caller_of(profile, function);
    assert_int_equal(caller.vaddr, vaddr);
    assert_int_equal(caller.exact, exact);
}

/** 2000 jumps to 3000, that to 4000, and that to 2000 again, or calls 5000. */
static void test_callers(void **state)
{
    (void)state;
    struct pug_profile *profile = begin();
    const uint32_t a = add_object(profile, "/a");
    const uint32_t first = add_frame(profile, NONE, a, 0x1000, NONE, 0);
    const uint32_t called = add_frame(profile, first, a, 0x2000, a, 0x1010);
    add_frame(profile, first, a, 0x3000, a, 0x2010);
    const uint32_t last = add_frame(profile, first, a, 0x4000, a, 0x3010);
    add_frame(profile, first, a, 0x2000, a, 0x4010);
    add_frame(profile, last, a, 0x5000, a, 0x4018);
    add_frame(profile, first, a, 0x6000, NONE, 0);
    add_range(profile, first, a, 0x1010, 1, CALL);
    add_range(profile, called, a, 0x2010, 1, JUMP);
    add_range(profile, last, a, 0x4018, 1, CALL);
    assert_caller(profile, 0x3000, 0x1010, true);
    assert_caller(profile, 0x4000, 0x1010, true);
    assert_caller(profile, 0x5000, 0x4018, true);
    assert_caller(profile, 0x6000, 0x1000, false); /* an exception */
    pug_profile_free(profile);
}

/** Code called from two places jumps: which call it was is unknown. */
static void test_callers_of_two(void **state)
{
    (void)state;
    struct pug_profile *profile = begin();
    const uint32_t a = add_object(profile, "/a");
    const uint32_t first = add_frame(profile, NONE, a, 0x1000, NONE, 0);
    add_frame(profile, first, a, 0x2000, a, 0x1010);
    add_frame(profile, first, a, 0x2000, a, 0x1020);
    add_frame(profile, first, a, 0x3000, a, 0x2010);
    add_frame(profile, first, a, 0x4000, a, 0x3010);
    add_range(profile, first, a, 0x1010, 1, CALL);
    add_range(profile, first, a, 0x1020, 1, CALL);
    assert_caller(profile, 0x2000, 0x1010, true);
    assert_caller(profile, 0x3000, 0x1000, false);
    assert_caller(profile, 0x4000, 0x1000, false);
    pug_profile_free(profile);
}

/** Tail calls in a row that are more than are followed. */
static void test_callers_of_many(void **state)
{
    (void)state;
    struct pug_profile *profile = begin();
    const uint32_t a = add_object(profile, "/a");
    const uint32_t first = add_frame(profile, NONE, a, 0x1000, NONE, 0);
    add_range(profile, first, a, 0x1010, 1, CALL);
    add_frame(profile, first, a, 0x100000, a, 0x1010);
    for (uint64_t i = 1; i < 1000; i++) /* each to the one before it in memory */
        add_frame(profile, first, a, 0x100000 - i * 0x100, a, 0x100010 - (i - 1) * 0x100);
    assert_caller(profile, 0x100000, 0x1010, true);
    assert_caller(profile, 0x100000 - 999 * 0x100, 0x1000, false);
    pug_profile_free(profile);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_callgrind),
        cmocka_unit_test(test_callgrind_of_an_object),
        cmocka_unit_test(test_callgrind_of_no_object),
        cmocka_unit_test(test_callers),
        cmocka_unit_test(test_callers_of_two),
        cmocka_unit_test(test_callers_of_many),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
