// SPDX-License-Identifier: MIT
/** @file A perf.data of 1 GiB: opening it reads its records, and none of its trace. */
#include "pugmark/pugmark.h"
#include "recorder/perfdata.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cmocka.h>

#define PIECES 64u
#define PIECE  (UINT64_C(16) << 20)

/* What may be read of it, and how often a page may be missing: touching all of it would be 16384
   times or more. An emulator has faults of its own. */
#define MOST_READ  (UINT64_C(2) << 20)
#define MOST_PAGES 8192

/** A stream of perf's, in a file: the trace behind its AUXTRACE records are holes. */
static void write_file(FILE *file)
{
    static const struct rec_perf_cpu cpu = {
        .unit = REC_PERF_ETMV4, .words = {0, 0x10, 0x28000ea1, 0x4100f403, 0x20001088}, .count = 7};
    static const struct rec_perf_sample sample = {.time = 100};
    static const struct rec_bytes nothing;
    struct rec_perf perf;
    struct rec_bytes bytes = {0};
    uint64_t at = 0;
    rec_perf_begin(
        &perf, &(struct rec_perf_config){.version = 1, .cpus = &cpu, .cpu_count = 1, .pipe = true});
    rec_perf_finish(&perf, &bytes);
    for (unsigned i = 0; i < PIECES; i++) {
        rec_perf_aux(&perf, &sample, i * PIECE, PIECE, 0);
        rec_perf_trace(&perf, 0, -1, i * PIECE, &nothing);
        const size_t header = perf.data.size - 48;
        for (unsigned n = 0; n < 8; n++)
            perf.data.data[header + 8 + n] = (uint8_t)(PIECE >> 8 * n);
        rec_put_n(&bytes, perf.data.data, perf.data.size);
        rec_bytes_free(&perf.data);
        perf.data = (struct rec_bytes){0};
        assert_int_equal(fseeko(file, (off_t)at, SEEK_SET), 0);
        assert_int_equal(fwrite(bytes.data, 1, bytes.size, file), bytes.size);
        at += bytes.size + PIECE;
        bytes.size = 0;
    }
    rec_bytes_free(&perf.index);
    rec_bytes_free(&bytes);
    assert_int_equal(fflush(file), 0);
    assert_int_equal(ftruncate(fileno(file), (off_t)at), 0);
}

/** Bytes that this process read; 0 where the host does not count them. */
static uint64_t bytes_read(void)
{
    FILE *file = fopen("/proc/self/io", "r");
    unsigned long long count = 0;
    if (file && fscanf(file, "rchar: %llu", &count) != 1)
        count = 0;
    if (file)
        fclose(file);
    return count;
}

static long pages_touched(void)
{
    struct rusage usage;
    assert_int_equal(getrusage(RUSAGE_SELF, &usage), 0);
    return usage.ru_minflt + usage.ru_majflt;
}

static void test_opening(void **state)
{
    char path[] = "/tmp/pug-large-XXXXXX";
    struct pug_capture *capture;
    (void)state;
    const int descriptor = mkstemp(path);
    assert_true(descriptor >= 0);
    FILE *file = fdopen(descriptor, "wb");
    assert_non_null(file);
    write_file(file);
    fclose(file);
    const uint64_t before = bytes_read();
    const long pages = pages_touched();
    assert_int_equal(pug_capture_open(path, NULL, &capture), PUG_OK);
    assert_true(pages_touched() - pages < MOST_PAGES);
    assert_true(bytes_read() - before < MOST_READ);
    assert_int_equal(pug_capture_buffer_at(capture, 0)->size, PIECES * PIECE);
    assert_non_null(pug_capture_stretch_at(capture, PIECES - 1));
    assert_null(pug_capture_stretch_at(capture, PIECES));
    pug_capture_free(capture);
    unlink(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_opening)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
