// SPDX-License-Identifier: MIT
/** @file A perf.data of 1 GiB: opening it reads its records, and none of its trace. */
#include "pugmark/pugmark.h"
#include "recorder/perfdata.h"
#include "support/temporary.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cmocka.h>

#define PIECES 64u
#define PIECE  (UINT64_C(16) << 20)

/* What may be read of it, and how often a page may be missing: touching all of it would be 16384
   times or more. An emulator has faults of its own. */
#define MOST_READ  (UINT64_C(2) << 20)
#define MOST_PAGES 8192

/** A stream of perf's, in a file: the trace after its AUXTRACE records are holes. */
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
    char path[128];
    struct pug_capture *capture;
    (void)state;
    const int descriptor = temporary_file(path, sizeof(path), "large");
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
    assert_non_null(pug_capture_segment_at(capture, PIECES - 1));
    assert_null(pug_capture_segment_at(capture, PIECES));
    pug_capture_free(capture);
    unlink(path);
}

/* ---- many pieces, by many threads ---- */

#define SMALL  UINT64_C(8192)
#define SMALLS 6000u
#define INDEX  18u

static const struct rec_perf_cpu two[2] = {
    {.unit = REC_PERF_ETMV4, .words = {0, 0x10, 0x28000ea1, 0x4100f403, 0x20001088}, .count = 7},
    {.unit = REC_PERF_ETMV4,
     .cpu = 1,
     .words = {0, 0x12, 0x28000ea1, 0x4100f403, 0x20001088},
     .count = 7},
};

static uint64_t get(const uint8_t *at)
{
    uint64_t value = 0;
    for (unsigned i = 0; i < 8; i++)
        value |= (uint64_t)at[i] << 8 * i;
    return value;
}

/**
 * Pieces of two processors, and between them names, maps, and records without trace. The last so
 * many are older than the others; after each period times restart.
 */
static void make_pieces(struct rec_bytes *bytes, unsigned older, unsigned period)
{
    struct rec_perf perf;
    struct rec_bytes trace = {0};
    for (unsigned i = 0; i < SMALL; i++)
        rec_put_le(&trace, 0, 1);
    rec_perf_begin(&perf, &(struct rec_perf_config){
                              .version = 1, .cpus = two, .cpu_count = 2, .arch = "aarch64"});
    for (unsigned i = 0; i < SMALLS; i++) {
        char name[32];
        struct rec_perf_sample sample = {.pid = 100 + (int32_t)(i / 500),
                                         .cpu = (int32_t)(i % 2),
                                         .time = 1000 + 10 * ((i + older) % period)};
        sample.tid = sample.pid;
        snprintf(name, sizeof(name), "/lib/number-%u", i / 700);
        if (i % 500 == 0)
            rec_perf_comm(&perf, &sample, name + 5, i % 1000 == 0);
        if (i % 7 == 0)
            rec_perf_map(&perf, &sample,
                         &(struct rec_perf_map){
                             .address = 0x400000, .size = 0x1000, .prot = 5, .path = name});
        rec_perf_aux(&perf, &sample, i / 2 * SMALL, 0, 0);
        rec_perf_aux(&perf, &sample, i / 2 * SMALL, SMALL / 2, 0);
        rec_perf_aux(&perf, &sample, i / 2 * SMALL + SMALL / 2, SMALL / 2, 1);
        rec_perf_trace(&perf, sample.cpu, -1, i / 2 * SMALL, &trace);
        rec_perf_round(&perf);
    }
    rec_perf_finish(&perf, bytes);
    rec_bytes_free(&trace);
    rec_bytes_free(&perf.data);
    rec_bytes_free(&perf.index);
}

/** The start of the index; it has no other bytes after its number. */
static uint8_t *index_of(struct rec_bytes *bytes)
{
    uint8_t *table = bytes->data + get(bytes->data + 40) + get(bytes->data + 48);
    assert_true(bytes->data[72 + INDEX / 8] >> INDEX % 8 & 1);
    for (unsigned bit = 0; bit < INDEX; bit++)
        table += bytes->data[72 + bit / 8] >> bit % 8 & 1 ? 16 : 0;
    assert_int_equal(get(bytes->data + get(table)), SMALLS);
    return bytes->data + get(table);
}

/** Everything that opening found, as a number. */
static uint64_t found_in(const char *path, const struct rec_bytes *bytes)
{
    struct pug_capture *capture;
    const struct pug_capture_segment *segment;
    const struct pug_capture_task *task;
    const struct pug_capture_object *object;
    uint64_t hash = 0, segments = 0;
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes->data, 1, bytes->size, file), bytes->size);
    fclose(file);
    const struct pug_capture_options options = {.roots = {.symfs = "/nowhere", .build_ids = ""}};
    assert_int_equal(pug_capture_open(path, &options, &capture), PUG_OK);
    for (size_t n = 0; (segment = pug_capture_segment_at(capture, n)) != NULL; n++) {
        hash = hash * 31 +
               (segment->buffer ^ segment->flags << 4 ^ segment->offset << 8 ^ segment->time << 40);
        segments++;
    }
    for (size_t n = 0; (task = pug_capture_task_at(capture, n)) != NULL; n++)
        hash = hash * 31 + (uint64_t)task->tid + task->begin * 1000 + (uint8_t)task->comm[7];
    for (size_t n = 0; (object = pug_capture_object_at(capture, n)) != NULL; n++)
        for (const char *at = object->path; *at; at++)
            hash = hash * 31 + (uint8_t)*at;
    hash = hash * 31 + pug_capture_times(capture).last;
    assert_int_equal(segments, 2 * SMALLS);
    pug_capture_free(capture);
    return hash;
}

/** The result equals that of one thread, whatever the index says. */
static void compare_parts(unsigned older, unsigned period)
{
    char path[128];
    struct rec_bytes bytes = {0};
    const int descriptor = temporary_file(path, sizeof(path), "large");
    assert_true(descriptor >= 0);
    close(descriptor);
    make_pieces(&bytes, older, period);
    uint8_t *const index = index_of(&bytes);
    const uint64_t all = found_in(path, &bytes);
    /* In the middle of a record; after the file; before the data; one entry is wrong. */
    static const uint64_t wrong[] = {8, UINT64_C(1) << 60, -UINT64_C(1), 0};
    for (size_t n = 0; n < sizeof(wrong) / sizeof(wrong[0]); n++) {
        uint8_t *const kept = malloc(16 * SMALLS);
        assert_non_null(kept);
        memcpy(kept, index + 8, 16 * SMALLS);
        for (size_t i = 0; i < SMALLS; i++) {
            uint8_t *at = index + 8 + 16 * i;
            uint64_t value = wrong[n] == -UINT64_C(1) ? 0 : get(at) + wrong[n];
            if (wrong[n] == 0 && i == SMALLS / 2)
                value += 16;
            for (unsigned k = 0; k < 8; k++)
                at[k] = (uint8_t)(value >> 8 * k);
        }
        assert_true(found_in(path, &bytes) == all);
        memcpy(index + 8, kept, 16 * SMALLS);
        free(kept);
    }
    rec_bytes_free(&bytes);
    unlink(path);
}

static void test_parts(void **state)
{
    (void)state;
    compare_parts(0, SMALLS);
    compare_parts(SMALLS / 3, SMALLS);
    compare_parts(SMALLS / 2 + 1, SMALLS);
    compare_parts(0, 5); /* as a recording that is repeated */
    compare_parts(0, 700);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_opening),
                                       cmocka_unit_test(test_parts)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
