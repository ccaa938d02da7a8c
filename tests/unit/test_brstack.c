// SPDX-License-Identifier: MIT
/** @file Branch stacks as text: where files are said to lie. */
#include "pugmark/profiler.h"
#include "text/sink.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static char *stacks_of(struct pug_capture *capture)
{
    struct pug_memory memory = {0};
    struct pug_sink sink = pug_memory_sink(&memory);
    const struct pug_profiler_options options = {.threads = 1};
    assert_int_equal(pug_profile_brstack(capture, &options, sink.put, sink.context, NULL), PUG_OK);
    pug_sink_put(&sink, "", 1);
    assert_false(memory.failed);
    return (char *)memory.bytes;
}

/* ---- where files lie ---- */

static unsigned mappings_in(const char *text)
{
    unsigned count = 0;
    while ((text = strstr(text, "PERF_RECORD_MMAP2"))) {
        text++;
        count++;
    }
    return count;
}

static void expect_one_mapping(const char *name, const char *where)
{
    char path[512];
    struct pug_capture *capture;
    snprintf(path, sizeof(path), "%s/tests/captures/%s", PUG_SOURCE_DIR, name);
    assert_int_equal(pug_capture_open(path, NULL, &capture), PUG_OK);
    char *text = stacks_of(capture);
    assert_int_equal(mappings_in(text), 1);
    text[strlen(where)] = '\0';
    assert_string_equal(text, where);
    free(text);
    pug_capture_free(capture);
}

/** A segment is one mapping of whole pages, wherever in it execution was first. */
static void test_segment_by_pages(void **state)
{
    (void)state;
    expect_one_mapping("ete-a64-cycles",
                       "PERF_RECORD_MMAP2 1/1: [0x210000(0x1000) @ 0 00:00 0 0]: r-xp ");
}

/** A copy of memory that does not lie in its file as in memory has no pages, but is one piece. */
static void test_memory_as_it_is(void **state)
{
    (void)state;
    expect_one_mapping("etmv4-a64-broadcast",
                       "PERF_RECORD_MMAP2 1/1: [0x210200(0x810) @ 0 00:00 0 0]: r-xp ");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_segment_by_pages),
        cmocka_unit_test(test_memory_as_it_is),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
