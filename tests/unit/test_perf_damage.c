// SPDX-License-Identifier: MIT
/** @file What is said of damaged perf.data: which file, where in it, which record or feature. */
#include "pugmark/advanced/capture.h"
#include "pugmark/pugmark.h"
#include "recorder/perfdata.h"
#include "support/said.h"
#include "support/temporary.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

static char path[128];

static const struct rec_perf_cpu cpu = {
    .unit = REC_PERF_ETMV4, .words = {0, 0x10, 0x28000ea1, 0x4100f403, 0x20001088}, .count = 7};
static const struct rec_perf_sample sample = {.pid = 7, .tid = 7, .cpu = 0, .time = 5};

static int make_file(void **state)
{
    (void)state;
    const int file = temporary_file(path, sizeof(path), "damage");
    return file < 0 ? -1 : close(file);
}

static int remove_file(void **state)
{
    (void)state;
    return unlink(path);
}

/** Write the file and open it. */
static struct said open_file(const struct rec_bytes *bytes, enum pug_status *status)
{
    struct said said = {""};
    struct pug_capture *capture = NULL;
    struct pug_log *log = pug_log_new(PUG_SEV_WARN);
    FILE *file = fopen(path, "wb");
    assert_non_null(log);
    assert_non_null(file);
    assert_int_equal(fwrite(bytes->data, 1, bytes->size, file), bytes->size);
    fclose(file);
    pug_log_set_sink(log, said_record, &said);
    *status = pug_capture_open(path, &(struct pug_capture_options){.log = log}, &capture);
    pug_capture_free(capture);
    pug_log_free(log);
    return said;
}

/** It says this and nothing else: the file, the place, and what is wrong there. */
static void check(const struct rec_bytes *bytes, bool opens, uint64_t offset, const char *what)
{
    char wanted[400];
    enum pug_status status;
    const struct said said = open_file(bytes, &status);
    snprintf(wanted, sizeof(wanted), "%s: offset %llu, %s\n", path, (unsigned long long)offset,
             what);
    assert_string_equal(said.text, wanted);
    assert_int_equal(status == PUG_OK, opens);
}

/* ---- records ---- */

/** A stream with a record after its preamble; `what` is reported for that record's place. */
static void check_stream(uint32_t type, uint16_t misc, const struct rec_bytes *body,
                         const struct rec_perf_sample *by, bool opens, const char *what)
{
    struct rec_perf perf;
    struct rec_bytes bytes = {0};
    rec_perf_begin(
        &perf, &(struct rec_perf_config){.version = 2, .cpus = &cpu, .cpu_count = 1, .pipe = true});
    rec_perf_finish(&perf, &bytes);
    const uint64_t place = bytes.size;
    rec_perf_record(&perf, type, misc, body, by);
    rec_put_n(&bytes, perf.data.data, perf.data.size);
    check(&bytes, opens, place, what);
    rec_bytes_free(&perf.data);
    rec_bytes_free(&perf.index);
    rec_bytes_free(&bytes);
}

static void check_record(uint32_t type, uint16_t misc, const struct rec_bytes *body,
                         const struct rec_perf_sample *by, const char *what)
{
    char text[300];
    snprintf(text, sizeof(text), "record of type %u: %s", (unsigned)type, what);
    check_stream(type, misc, body, by, type != 21 || !strstr(what, "version"), text);
}

/** Each record that is shorter than its type is says so. */
static void test_short(void **state)
{
    static const uint32_t of_kernel[] = {1, 2, 3, 4, 7, 10, 11, 12, 13, 15, 16, 17, 20, 21};
    static const uint32_t of_perf[] = {79, 80};
    const struct rec_bytes nothing = {0};
    (void)state;
    for (size_t i = 0; i < sizeof(of_kernel) / sizeof(of_kernel[0]); i++)
        if (of_kernel[i] != 4) /* EXIT: nothing is read of it */
            check_record(of_kernel[i], 0, &nothing, &sample, "it is too short");
    for (size_t i = 0; i < sizeof(of_perf) / sizeof(of_perf[0]); i++)
        check_record(of_perf[i], 0, &nothing, NULL, "it is too short");
    check_record(11, 0, &nothing, NULL, "it is too short"); /* without its sample id */
    check_record(67, 0, &nothing, NULL, "it holds no build id");
    check_record(64, 0, &nothing, NULL, "its attribute has no possible size");
    check_record(71, 0, &nothing, NULL,
                 "the bytes behind it are not all there; what follows is not read");
}

/** Samples of other events end with whatever these sample: nothing is read of them. */
static void test_samples(void **state)
{
    static const uint64_t ends[] = {0, 99, UINT64_MAX};
    (void)state;
    for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++) {
        struct rec_perf perf;
        struct rec_bytes file = {0}, body = {0};
        struct pug_capture *capture;
        enum pug_status status;
        rec_perf_begin(&perf,
                       &(struct rec_perf_config){.version = 1, .cpus = &cpu, .cpu_count = 1});
        rec_perf_comm(&perf, &sample, "app", true);
        for (size_t n = 0; n < 8 * i; n++)
            rec_put_le(&body, ends[i], 8);
        rec_perf_record(&perf, 9, 2, &body, NULL);
        rec_perf_finish(&perf, &file);
        const struct said said = open_file(&file, &status);
        assert_int_equal(status, PUG_OK);
        assert_string_equal(said.text, "");
        assert_int_equal(pug_capture_open(path, NULL, &capture), PUG_OK);
        assert_int_equal(pug_capture_record_times(capture).last, sample.time);
        pug_capture_free(capture);
        rec_bytes_free(&file);
        rec_bytes_free(&body);
    }
}

/** Numbers of 8 bytes each. */
static struct rec_bytes words(const uint64_t *values, size_t count)
{
    struct rec_bytes body = {0};
    for (size_t i = 0; i < count; i++)
        rec_put_le(&body, values[i], 8);
    return body;
}

struct record {
    uint32_t type;
    uint16_t misc;
    bool own; /* perf's: without a sample id */
    uint64_t words[12];
    size_t count;
    const char *what;
};

/** Values that cannot be. */
static void test_values(void **state)
{
    static const uint64_t most = UINT64_MAX;
    static const struct record records[] = {
        {1, 2, false, {0, 0x1000, 0, 0, 0}, 5, "its range is empty"},
        {10,
         2 | 1 << 14,
         false,
         {0, 0x1000, 0x1000, 0, 21, 0, 0, UINT64_C(4), 0},
         9,
         "its build id has no possible size"},
        {20, 0, false, {most, UINT64_C(8) << 16, 0}, 3, "its text would leave the address space"},
        {21,
         0,
         false,
         {UINT64_C(1) << 60},
         1,
         "it has a version that is not known: nothing can be decoded"},
        {79, 0, true, {64, 1, 0}, 3, "no times can be made with its numbers"},
        {79, 0, true, {0, 0, 0}, 3, "no times can be made with its numbers"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(records) / sizeof(records[0]); i++) {
        const struct record *record = &records[i];
        struct rec_bytes body = words(record->words, record->count);
        check_record(record->type, record->misc, &body, record->own ? NULL : &sample, record->what);
        rec_bytes_free(&body);
    }
}

/** A trace id of a processor without a description, and a processor without a trace id. */
static void test_processors(void **state)
{
    static const uint64_t id = 0x10;
    const struct rec_perf_sample other = {.pid = 7, .tid = 7, .cpu = 9, .time = 5};
    const struct rec_perf_sample none = {.pid = 7, .tid = 7, .cpu = -1, .time = 5};
    struct rec_bytes body = words(&id, 1);
    (void)state;
    check_record(21, 0, &body, &other, "it is of a processor that AUXTRACE_INFO does not have");
    check_record(21, 0, &body, &none, "it tells no processor");
    rec_bytes_free(&body);
}

/** Segments that come to nothing: the first of them is named. */
static void test_segments(void **state)
{
    static const uint64_t missing[] = {0, 64, 0}, strange[] = {0, 64, 0x300};
    struct rec_bytes body = words(missing, 3);
    (void)state;
    check_record(11, 0, &body, &sample,
                 "64 bytes of trace in 1 stretches, from this one on, were not saved: the recorder "
                 "could not keep up");
    rec_bytes_free(&body);
    body = words(strange, 3);
    check_record(11, 0, &body, &sample,
                 "64 bytes of trace in 1 stretches, from this one on, have a format that is not "
                 "known; they are left out");
    rec_bytes_free(&body);
}

/* ---- features ---- */

static void check_feature(uint64_t bit, const uint64_t *values, size_t count, const char *what)
{
    struct rec_bytes body = {0};
    char text[300];
    rec_put_le(&body, bit, 8);
    for (size_t i = 0; i < count; i++)
        rec_put_le(&body, values[i], 8);
    snprintf(text, sizeof(text), "feature %u: %s", (unsigned)bit, what);
    check_stream(80, 0, &body, NULL, true, text);
    rec_bytes_free(&body);
}

static void test_features(void **state)
{
    static const uint64_t long_string = 1000, small_entry = UINT64_C(4) << 48;
    static const uint64_t no_id = UINT64_C(8) << 48, tall = UINT64_C(0x0101010101010101);
    static const uint64_t big_id[] = {UINT64_C(48) << 48 | UINT64_C(1) << 47, 0, 0, 0, 99, 0};
    (void)state;
    check_feature(3, &long_string, 1, "it is too short");
    check_feature(11, &long_string, 1, "it is too short");
    check_feature(21, &long_string, 1, "it is too short");
    check_feature(7, NULL, 0, "it is too short");
    check_feature(10, NULL, 0, "it is too short");
    check_feature(2, &small_entry, 1, "an entry has no possible size");
    check_feature(2, &no_id, 1, "an entry holds no build id");
    check_feature(2, big_id, 6, "an entry holds no build id");
    check_feature(129, &tall, 1, "it ends inside of what it tells");
    check_feature(132, &tall, 1, "it ends inside of what it tells");
    check_feature(133, &tall, 1,
                  "its branch lists are damaged, or of another kind; what was read before is used");
}

/* ---- the header ---- */

struct patch {
    size_t at;
    uint64_t value;
    bool opens;
    uint64_t offset;
    const char *what;
};

static void test_header(void **state)
{
    static const uint64_t most = UINT64_MAX;
    static const struct patch patches[] = {
        {0, UINT64_C(0x50455246494C4532), false, 0,
         "header: it was written by a big-endian machine, which is not supported"},
        {0, UINT64_C(0x454C494646524550), false, 0,
         "header: it has perf's first format, of before 2010"},
        {8, 40, false, 8, "header: it cannot have such a size"},
        {16, 8, false, 16, "header: attributes of such a size, or at such a place, cannot be"},
        {24, most, false, 16, "header: attributes of such a size, or at such a place, cannot be"},
        {40, most, false, 40, "header: the data would begin behind the end of the file"},
        {48, 0, true, 48,
         "header: the recording was never finished; all up to the end of the file is taken"},
    };
    struct rec_perf perf;
    struct rec_bytes bytes = {0};
    (void)state;
    rec_perf_begin(&perf, &(struct rec_perf_config){.version = 1, .cpus = &cpu, .cpu_count = 1});
    rec_perf_finish(&perf, &bytes);
    for (size_t i = 0; i < sizeof(patches) / sizeof(patches[0]); i++) {
        uint8_t was[8];
        memcpy(was, bytes.data + patches[i].at, 8);
        for (unsigned n = 0; n < 8; n++)
            bytes.data[patches[i].at + n] = (uint8_t)(patches[i].value >> 8 * n);
        check(&bytes, patches[i].opens, patches[i].offset, patches[i].what);
        memcpy(bytes.data + patches[i].at, was, 8);
    }
    const size_t whole = bytes.size;
    bytes.size = 12;
    check(&bytes, false, 12, "header: the file ends inside of it");
    bytes.size = whole;
    rec_bytes_free(&bytes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_short),      cmocka_unit_test(test_values),
        cmocka_unit_test(test_processors), cmocka_unit_test(test_segments),
        cmocka_unit_test(test_features),   cmocka_unit_test(test_header),
        cmocka_unit_test(test_samples),
    };
    return cmocka_run_group_tests(tests, make_file, remove_file);
}
