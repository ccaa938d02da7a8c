// SPDX-License-Identifier: MIT
/** @file perf.data: which bytes of which piece of a buffer are a stretch, and whose trace it is. */
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

static void check_stretch(const struct pug_capture *capture, size_t n, uint64_t offset,
                          uint64_t size)
{
    const struct pug_capture_stretch *stretch = pug_capture_stretch_at(capture, n);
    assert_non_null(stretch);
    assert_int_equal(stretch->offset, offset);
    assert_int_equal(stretch->size, size);
}

/**
 * Snapshots of a ring of 4096 bytes: each piece begins where the ring's oldest byte was, so that
 * they overlap. A stretch is as long as the piece that has most of it.
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
    check_stretch(capture, 0, 0, 2000);
    check_stretch(capture, 1, 0, 3008);
    check_stretch(capture, 2, 912, 4096);
    check_stretch(capture, 3, 5008, 16);
    assert_null(pug_capture_stretch_at(capture, 4));
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
    put_aux(&perf, 0, 30, 960, 80, 0);            /* it ends behind the piece */
    put_aux(&perf, 0, 40, UINT64_MAX - 7, 16, 0); /* … and this one behind all there can be */
    put_aux(&perf, 1, 50, 64, 16, 0);
    struct pug_capture *capture = perf_made_open(&perf, &folder);
    check_stretch(capture, 0, 32, 512);
    check_stretch(capture, 1, 960, 64);
    assert_null(pug_capture_stretch_at(capture, 2));
    pug_capture_free(capture);
    made_folder_end(&folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_snapshots_overlap),
        cmocka_unit_test(test_nested_pieces),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
