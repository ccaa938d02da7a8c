// SPDX-License-Identifier: MIT
/** @file Timelines: the same calls in each format. tests/run/timeline.sh has other programs read
 * them. */
#include "export/timeline.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
/* cmocka.h wants the three above first */
#include <cmocka.h>

/** What each format is asked to write: two threads by turns, nesting, an end too many, one too few.
 */
static struct pug_memory written(enum pug_timeline_form form,
                                 bool (*append)(void *, uint32_t, const void *, size_t),
                                 void *context)
{
    struct pug_memory memory = {0};
    struct pug_sink sink = pug_memory_sink(&memory);
    const struct pug_timeline_output options = {.sink = &sink,
                                                .title = "a \"test\"",
                                                .unit = "ns",
                                                .append = append,
                                                .append_context = context};
    struct pug_timeline *timeline;
    assert_int_equal(pug_timeline_new(form, &options, &timeline), PUG_OK);
    pug_timeline_track(timeline, 0, &(struct pug_track){.pid = 500, .tid = 500, .name = "paw"});
    pug_timeline_track(timeline, 2, &(struct pug_track){.pid = -1, .tid = -1, .name = "cpu 2"});
    pug_timeline_name(timeline, 1, "main", "paw.c", 12);
    pug_timeline_name(timeline, 3, "f<T>\xff", NULL, 0);
    pug_timeline_enter(timeline, 0, 1000, 1, false);
    pug_timeline_enter(timeline, 2, 900, 3, true);
    pug_timeline_enter(timeline, 0, 1500, 3, false);
    pug_timeline_instant(timeline, 0, 1600, 1, "irq");
    pug_timeline_counter(timeline, 2, 1700, 3, UINT64_MAX);
    pug_timeline_leave(timeline, 0, 1400); /* goes back: it is 1600 */
    pug_timeline_leave(timeline, 2, 1800);
    pug_timeline_leave(timeline, 2, 1900); /* nothing is open */
    pug_timeline_gap(timeline, 2, 2000, 2500, "trace lost");
    pug_timeline_enter(timeline, 7, 2000, 1, false); /* no such track */
    pug_timeline_enter(timeline, 0, 2000, 9, false); /* no such name */
    assert_int_equal(pug_timeline_end(timeline), PUG_OK);
    assert_false(memory.failed);
    pug_sink_put(&sink, "", 1);
    return memory;
}

static void chrome(void **state)
{
    (void)state;
    struct pug_memory text = written(PUG_TIMELINE_CHROME, NULL, NULL);
    assert_string_equal(text.bytes,
                        "{\"displayTimeUnit\": \"ns\", \"otherData\": {\"title\": \"a "
                        "\\\"test\\\"\", \"unit\": \"ns\"}, "
                        "\"traceEvents\": [\n"
                        "{\"ph\": \"M\", \"name\": \"process_name\", \"pid\": 500, \"tid\": 500, "
                        "\"args\": {\"name\": \"paw\"}}\n"
                        ", {\"ph\": \"M\", \"name\": \"thread_name\", \"pid\": 500, \"tid\": 500, "
                        "\"args\": {\"name\": \"paw\"}}\n"
                        ", {\"ph\": \"M\", \"name\": \"thread_name\", \"pid\": 0, \"tid\": 3, "
                        "\"args\": {\"name\": \"cpu 2\"}}\n"
                        ", {\"ph\": \"B\", \"name\": \"main\", \"pid\": 500, \"tid\": 500, \"ts\": "
                        "1.000, \"cat\": \"call\", "
                        "\"args\": {\"file\": \"paw.c\", \"line\": 12}}\n"
                        ", {\"ph\": \"B\", \"name\": \"f<T>\\ufffd\", \"pid\": 0, \"tid\": 3, "
                        "\"ts\": 0.900, \"cat\": \"call\", "
                        "\"args\": {\"estimated\": true}}\n"
                        ", {\"ph\": \"B\", \"name\": \"f<T>\\ufffd\", \"pid\": 500, \"tid\": 500, "
                        "\"ts\": 1.500, \"cat\": "
                        "\"call\"}\n"
                        ", {\"ph\": \"i\", \"name\": \"main\", \"pid\": 500, \"tid\": 500, \"ts\": "
                        "1.600, \"s\": \"t\", \"args\": "
                        "{\"detail\": \"irq\"}}\n"
                        ", {\"ph\": \"C\", \"name\": \"f<T>\\ufffd\", \"pid\": 0, \"tid\": 3, "
                        "\"ts\": 1.700, \"args\": {\"value\": "
                        "-1}}\n"
                        ", {\"ph\": \"E\", \"pid\": 500, \"tid\": 500, \"ts\": 1.600}\n"
                        ", {\"ph\": \"E\", \"pid\": 0, \"tid\": 3, \"ts\": 1.800}\n"
                        ", {\"ph\": \"X\", \"name\": \"trace lost\", \"pid\": 0, \"tid\": 3, "
                        "\"ts\": 2.000, \"dur\": 0.500}\n"
                        ", {\"ph\": \"E\", \"pid\": 500, \"tid\": 500, \"ts\": 2.000}]}\n");
    free(text.bytes);
}

static void speedscope(void **state)
{
    (void)state;
    struct pug_memory text = written(PUG_TIMELINE_SPEEDSCOPE, NULL, NULL);
    assert_string_equal(
        text.bytes,
        "{\"$schema\": \"https://www.speedscope.app/file-format-schema.json\", \"name\": \"a "
        "\\\"test\\\"\", "
        "\"exporter\": \"pugmark\", \"profiles\": [\n"
        "{\"type\": \"evented\", \"name\": \"paw\", \"unit\": \"nanoseconds\", \"startValue\": "
        "1000, "
        "\"endValue\": 2000, \"events\": [{\"type\": \"O\", \"frame\": 1, \"at\": 1000}, "
        "{\"type\": \"O\", "
        "\"frame\": 3, \"at\": 1500}, {\"type\": \"C\", \"frame\": 3, \"at\": 1600}, {\"type\": "
        "\"C\", "
        "\"frame\": 1, \"at\": 2000}]}\n"
        ", {\"type\": \"evented\", \"name\": \"cpu 2\", \"unit\": \"nanoseconds\", \"startValue\": "
        "900, "
        "\"endValue\": 1800, \"events\": [{\"type\": \"O\", \"frame\": 3, \"at\": 900}, {\"type\": "
        "\"C\", "
        "\"frame\": 3, \"at\": 1800}]}], \"shared\": {\"frames\": [{\"name\": \"\"}, {\"name\": "
        "\"main\", "
        "\"file\": \"paw.c\", \"line\": 12}, {\"name\": \"\"}, {\"name\": \"f<T>\\ufffd\"}]}}\n");
    free(text.bytes);
}

/** Events that wait in the file come back in their order. */
static void speedscope_waits(void **state)
{
    enum { CALLS = 5000 };
    struct pug_memory memory = {0};
    struct pug_sink sink = pug_memory_sink(&memory);
    const struct pug_timeline_output options = {.sink = &sink, .title = "", .unit = "cycles"};
    struct pug_timeline *timeline;
    (void)state;
    assert_int_equal(pug_timeline_new(PUG_TIMELINE_SPEEDSCOPE, &options, &timeline), PUG_OK);
    pug_timeline_track(timeline, 0, &(struct pug_track){.pid = 1, .tid = 1, .name = "a"});
    pug_timeline_track(timeline, 1, &(struct pug_track){.pid = 1, .tid = 2, .name = "b"});
    pug_timeline_name(timeline, 0, "f", NULL, 0);
    for (uint64_t i = 0; i < CALLS; i++) {
        pug_timeline_enter(timeline, i & 1, i, 0, false);
        pug_timeline_leave(timeline, i & 1, i + 1);
    }
    assert_int_equal(pug_timeline_end(timeline), PUG_OK);
    pug_sink_put(&sink, "", 1);
    uint64_t expected = 0;
    const char *at = memory.bytes;
    for (unsigned event = 0; event < 2 * CALLS; event++) {
        at = strstr(at, "\"at\": ");
        assert_non_null(at);
        at += 6;
        if (event == CALLS)
            expected = 1; /* the other track */
        assert_int_equal(strtoull(at, NULL, 10), expected);
        expected++;
    }
    free(memory.bytes);
}

struct streams {
    struct pug_memory of[3];
};

static bool append(void *context, uint32_t track, const void *bytes, size_t size)
{
    struct streams *streams = context;
    assert_true(track < 3);
    struct pug_sink sink = pug_memory_sink(&streams->of[track]);
    pug_sink_put(&sink, bytes, size);
    return true;
}

static void ctf(void **state)
{
    struct streams streams = {0};
    (void)state;
    struct pug_memory text = written(PUG_TIMELINE_CTF, append, &streams);
    assert_memory_equal(text.bytes, "/* CTF 1.8 */", 13);
    assert_non_null(strstr(text.bytes, "title = \"a \\\"test\\\"\";"));
    assert_memory_equal(streams.of[0].bytes, "\xc1\x1f\xfc\xc1", 4);
    assert_int_equal((uint8_t)streams.of[0].bytes[4] | (uint8_t)streams.of[0].bytes[5] << 8,
                     8 * streams.of[0].count);
    assert_int_equal(streams.of[1].count, 0);
    assert_true(streams.of[2].count > 36);
    free(text.bytes);
    for (unsigned i = 0; i < 3; i++)
        free(streams.of[i].bytes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(chrome),
        cmocka_unit_test(speedscope),
        cmocka_unit_test(speedscope_waits),
        cmocka_unit_test(ctf),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
