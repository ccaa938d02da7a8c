// SPDX-License-Identifier: MIT
/** @file pug_capture_timeline(): its formats, what it counts, and wrong arguments. */
#include "pugmark/pugmark.h"
#include "text/sink.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void put(void *context, const void *bytes, size_t size)
{
    struct pug_sink sink = pug_memory_sink(context);
    pug_sink_put(&sink, bytes, size);
}

static bool append(void *context, uint32_t number, const void *bytes, size_t size)
{
    (void)number;
    put(context, bytes, size);
    return true;
}

static struct pug_capture *open_demo(void)
{
    struct pug_capture *capture;
    assert_int_equal(pug_capture_open(PUG_SOURCE_DIR "/examples/demo", NULL, &capture), PUG_OK);
    return capture;
}

static struct pug_memory write_timeline(struct pug_capture *capture,
                                        struct pug_timeline_options options,
                                        struct pug_timeline_result *result)
{
    struct pug_memory memory = {.bytes = NULL};
    options.put = put;
    options.append = append;
    options.context = &memory;
    assert_int_equal(pug_capture_timeline(capture, &options, result), PUG_OK);
    assert_true(memory.count > 100);
    return memory;
}

/** Each format has bytes, and the same ones again. */
static void has_formats(void **state)
{
    struct pug_capture *capture = open_demo();
    const struct pug_timeline_format *format;
    size_t n = 0;
    (void)state;
    for (; (format = pug_timeline_format_at(n)) != NULL; n++) {
        const struct pug_timeline_options options = {.format = format->name};
        struct pug_memory first = write_timeline(capture, options, NULL);
        struct pug_memory second = write_timeline(capture, options, NULL);
        assert_int_equal(first.count, second.count);
        assert_memory_equal(first.bytes, second.bytes, first.count);
        free(first.bytes);
        free(second.bytes);
    }
    assert_int_equal(n, 4);
    pug_capture_free(capture);
}

static struct pug_timeline_result count(struct pug_capture *capture,
                                        struct pug_timeline_options options)
{
    struct pug_timeline_result result;
    struct pug_memory memory = write_timeline(capture, options, &result);
    free(memory.bytes);
    return result;
}

static void counts_calls(void **state)
{
    struct pug_capture *capture = open_demo();
    (void)state;
    const struct pug_timeline_result all = count(capture, (struct pug_timeline_options){0});
    const struct pug_timeline_result exact =
        count(capture, (struct pug_timeline_options){.exact = true});
    const struct pug_timeline_result flat =
        count(capture, (struct pug_timeline_options){.depth = 1});
    assert_true(all.calls > 10 && all.estimated > 0 && all.has_times);
    assert_string_equal(all.unit, "ticks");
    assert_int_equal(exact.calls, all.calls);
    assert_int_equal(exact.estimated, 0);
    assert_int_equal(flat.calls + flat.left_out, all.calls);
    assert_true(flat.left_out > 0);
    pug_capture_free(capture);
}

/** What slices add up to, and whether they nest. */
struct sum {
    uint64_t calls, estimated, others, last_end[64];
    bool nests;
};

static void take_slice(void *context, const struct pug_slice *slice)
{
    struct sum *sum = context;
    assert_true(slice->end >= slice->begin && slice->track && slice->name);
    sum->others += slice->kind != PUG_SLICE_CALL;
    if (slice->kind != PUG_SLICE_CALL)
        return;
    sum->calls++;
    sum->estimated += slice->estimated;
    assert_true(slice->depth < 64 && slice->name[0]);
    sum->nests &= slice->end >= sum->last_end[slice->depth]; /* by one source: in order */
    sum->last_end[slice->depth] = slice->end;
}

/** The slices are those of the file. */
static void gives_slices(void **state)
{
    struct pug_capture *capture = open_demo();
    struct sum sum = {.nests = true};
    struct pug_timeline_result result;
    const struct pug_timeline_options options = {.slice = take_slice, .context = &sum};
    (void)state;
    assert_int_equal(pug_capture_timeline(capture, &options, &result), PUG_OK);
    assert_int_equal(sum.calls, result.calls);
    assert_int_equal(sum.estimated, result.estimated);
    assert_true(sum.nests && sum.calls > 10 && sum.others > 0);
    pug_capture_free(capture);
}

static void refuses_what_is_wrong(void **state)
{
    struct pug_capture *capture = open_demo();
    struct pug_memory memory = {.bytes = NULL};
    struct pug_timeline_options options = {.format = "pdf", .put = put, .context = &memory};
    (void)state;
    assert_int_equal(pug_capture_timeline(capture, &options, NULL), PUG_ERR_INVALID_PARAM_TYPE);
    options.format = "ctf"; /* and no append() */
    assert_int_equal(pug_capture_timeline(capture, &options, NULL), PUG_ERR_INVALID_PARAM_VAL);
    options = (struct pug_timeline_options){.put = put, .rtos = "no-kernel", .context = &memory};
    assert_int_equal(pug_capture_timeline(capture, &options, NULL), PUG_ERR_INVALID_PARAM_VAL);
    options = (struct pug_timeline_options){.put = NULL};
    assert_int_equal(pug_capture_timeline(capture, &options, NULL), PUG_ERR_INVALID_PARAM_VAL);
    assert_int_equal(pug_capture_timeline(NULL, &options, NULL), PUG_ERR_INVALID_PARAM_VAL);
    assert_int_equal(pug_capture_timeline(capture, NULL, NULL), PUG_ERR_INVALID_PARAM_VAL);
    free(memory.bytes);
    pug_capture_free(capture);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(has_formats),
        cmocka_unit_test(counts_calls),
        cmocka_unit_test(gives_slices),
        cmocka_unit_test(refuses_what_is_wrong),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
