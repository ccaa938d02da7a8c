// SPDX-License-Identifier: MIT
/** @file perf.data: which bytes of which piece of a buffer are a segment, and whose trace it is. */
#include "recorder/etmv4.h"
#include "recorder/frames.h"
#include "support/perf_made.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static void put_piece(struct rec_perf *perf, int32_t cpu, int32_t tid, uint64_t offset, size_t size)
{
    struct rec_bytes bytes = {0};
    for (size_t i = 0; i < size; i++)
        rec_put(&bytes, 0);
    rec_perf_trace(perf, cpu, tid, offset, &bytes);
    rec_bytes_free(&bytes);
}

static void put_aux(struct rec_perf *perf, int32_t cpu, uint64_t time, uint64_t offset,
                    uint64_t size, uint64_t flags)
{
    const struct rec_perf_sample sample = {.pid = 7, .tid = 7, .cpu = cpu, .time = time};
    rec_perf_aux(perf, &sample, offset, size, flags);
}

static void check_segment(const struct pug_capture *capture, size_t n, uint64_t offset,
                          uint64_t size)
{
    const struct pug_capture_segment *segment = pug_capture_segment_at(capture, n);
    assert_non_null(segment);
    assert_int_equal(segment->offset, offset);
    assert_int_equal(segment->size, size);
}

/**
 * Snapshots of a ring of 4096 bytes: each piece begins where the ring's oldest byte was, so that
 * they overlap. A segment is as long as the piece that has most of it.
 */
static void test_snapshots_overlap(void **state)
{
    struct made_folder folder;
    struct rec_perf perf;
    (void)state;
    made_folder_begin(&folder);
    perf_made_begin(&perf);
    put_aux(&perf, 0, 10, 2000, 2000, REC_PERF_AUX_OVERWRITE);
    put_aux(&perf, 0, 20, 3008, 4096, REC_PERF_AUX_OVERWRITE);
    put_piece(&perf, 0, 0, 0, 3008);
    put_aux(&perf, 0, 30, 5008, 4096, REC_PERF_AUX_OVERWRITE);
    put_piece(&perf, 0, 0, 912, 4096);
    put_aux(&perf, 0, 40, 5024, 16, REC_PERF_AUX_OVERWRITE);
    put_piece(&perf, 0, 0, 928, 4096);
    struct pug_capture *capture = perf_made_open(&perf, &folder);
    check_segment(capture, 0, 0, 2000);
    check_segment(capture, 1, 0, 3008);
    check_segment(capture, 2, 912, 4096);
    check_segment(capture, 3, 5008, 16);
    assert_null(pug_capture_segment_at(capture, 4));
    pug_capture_free(capture);
    made_folder_end(&folder);
}

/** A long piece with shorter ones inside: what they do not hold is in the long one. */
static void test_nested_pieces(void **state)
{
    struct made_folder folder;
    struct rec_perf perf;
    (void)state;
    made_folder_begin(&folder);
    perf_made_begin(&perf);
    put_piece(&perf, 0, 0, 0, 1024);
    put_piece(&perf, 0, 0, 64, 64);
    put_piece(&perf, 1, 0, 0, 64);
    put_aux(&perf, 0, 10, 32, 512, 0);
    put_aux(&perf, 0, 20, 960, 64, 0);
    put_aux(&perf, 0, 30, 960, 80, 0);            /* it ends after the piece */
    put_aux(&perf, 0, 40, UINT64_MAX - 7, 16, 0); /* … and this one after the largest possible end
                                                   */
    put_aux(&perf, 1, 50, 64, 16, 0);
    struct pug_capture *capture = perf_made_open(&perf, &folder);
    check_segment(capture, 0, 32, 512);
    check_segment(capture, 1, 960, 64);
    assert_null(pug_capture_segment_at(capture, 2));
    pug_capture_free(capture);
    made_folder_end(&folder);
}

/* ---- whose trace it is ---- */

/** A few packets of a processor's unit, in frames. */
static struct rec_bytes some_trace(uint8_t id)
{
    const struct rec_etmv4_config config = {
        .idr0 = 0x28000ea1, .idr2 = 0x20001088, .configr = 0x840, .seed = 1};
    struct rec_bytes bytes = {0}, framed = {0};
    struct rec_frames frames = {.out = &framed};
    struct rec_etmv4 *unit = rec_etmv4_new(&config, &bytes);
    assert_non_null(unit);
    rec_etmv4_sync(unit);
    rec_etmv4_trace_on(unit);
    rec_etmv4_start(unit, 0x1000, false, &(struct rec_context){.sf = true, .ns = true});
    rec_etmv4_exception(unit, 0x0e, 0x1000, false, false);
    rec_etmv4_finish(unit);
    rec_etmv4_free(unit);
    rec_frames_put(&frames, id, bytes.data, bytes.size);
    rec_frames_finish(&frames);
    rec_bytes_free(&bytes);
    return framed;
}

/** A segment of thread 7, taken on a processor. */
static void put_segment(struct rec_perf *perf, int32_t cpu, uint64_t *offset)
{
    struct rec_bytes trace = some_trace(0x10);
    put_aux(perf, cpu, 100 + *offset, *offset, trace.size, 0);
    rec_perf_trace(perf, -1, 7, *offset, &trace);
    *offset += trace.size;
    rec_bytes_free(&trace);
}

struct seen {
    int32_t cpus[8];
    size_t count;
};

static bool note_cpu(void *context, const struct pug_origin *origin,
                     const struct pug_element *elements, size_t count)
{
    struct seen *seen = context;
    for (size_t i = 0; i < count; i++)
        if (elements[i].type == PUG_ELEM_TRACE_ON && seen->count < 8)
            seen->cpus[seen->count++] = origin->cpu;
    return true;
}

/**
 * Two processors have one trace id, each in a sink of its own: the one that a thread left counts.
 */
static void test_thread_between_sinks(void **state)
{
    static const uint32_t sinks[] = {0xaa00, 0xaa01};
    struct made_folder folder;
    struct seen seen = {.count = 0};
    struct rec_perf perf;
    uint64_t offset = 0;
    (void)state;
    made_folder_begin(&folder);
    perf_made_begin(&perf);
    perf.config.version = 2;
    for (int32_t cpu = 0; cpu < 2; cpu++)
        rec_perf_hw_id(&perf, &(struct rec_perf_sample){.pid = 7, .tid = 7, .cpu = cpu, .time = 1},
                       0x10, &sinks[cpu]);
    put_segment(&perf, 1, &offset);
    put_segment(&perf, 0, &offset);
    rec_perf_hw_id(&perf, &(struct rec_perf_sample){.pid = 7, .tid = 7, .cpu = 1, .time = 300},
                   0x10, &sinks[1]); /* repeated */
    put_segment(&perf, 1, &offset);
    struct pug_capture *capture = perf_made_open(&perf, &folder);
    assert_int_equal(pug_capture_elements(capture, note_cpu, &seen), PUG_OK);
    assert_int_equal(seen.count, 3);
    assert_int_equal(seen.cpus[0], 1);
    assert_int_equal(seen.cpus[1], 0);
    assert_int_equal(seen.cpus[2], 1);
    const struct pug_capture_source *source;
    size_t count = 0;
    for (; (source = pug_capture_source_at(capture, count)) != NULL; count++)
        assert_int_equal(source->cpu, count);
    assert_int_equal(count, 2);
    pug_capture_free(capture);
    made_folder_end(&folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_snapshots_overlap),
        cmocka_unit_test(test_nested_pieces),
        cmocka_unit_test(test_thread_between_sinks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
