// SPDX-License-Identifier: MIT
/** @file What simpleperf's features say of files that are not here: names of their code. */
#include "pugmark/pugmark.h"
#include "recorder/perfdata.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

static const struct rec_perf_cpu cpu = {
    .unit = REC_PERF_ETMV4, .words = {0, 0x10, 0x28000ea1, 0x4100f403, 0x20001088}, .count = 7};

static void put_text(struct rec_bytes *out, const char *text)
{
    rec_put_n(out, (const uint8_t *)text, strlen(text) + 1);
}

/** Of feature 128: all plain. */
static void put_plain(struct rec_bytes *out)
{
    struct rec_bytes file = {0};
    put_text(&file, "/gone/libold.so");
    rec_put_le(&file, 2, 4);
    rec_put_le(&file, 0x1000, 8);
    rec_put_le(&file, 2, 4);
    rec_put_le(&file, 0x1010, 8);
    rec_put_le(&file, 0x20, 4);
    put_text(&file, "first(int, char)");
    rec_put_le(&file, 0x1030, 8);
    rec_put_le(&file, 8, 4);
    put_text(&file, "second");
    rec_put_le(out, file.size, 4);
    rec_put_n(out, file.data, file.size);
    rec_bytes_free(&file);
}

static void put_number(struct rec_bytes *out, unsigned field, uint64_t value)
{
    rec_put_le(out, field << 3, 1);
    for (; value > 0x7f; value >>= 7)
        rec_put_le(out, (value & 0x7f) | 0x80, 1);
    rec_put_le(out, value, 1);
}

static void put_bytes(struct rec_bytes *out, unsigned field, const void *bytes, size_t size)
{
    rec_put_le(out, field << 3 | 2, 1);
    rec_put_le(out, size, 1);
    rec_put_n(out, bytes, size);
}

/** Of feature 132: messages. */
static void put_message(struct rec_bytes *out)
{
    struct rec_bytes file = {0}, symbol = {0};
    put_bytes(&file, 1, "/gone/libnew.so", 15);
    put_number(&file, 2, 2);
    put_number(&file, 3, 0x2000);
    put_number(&symbol, 1, 0x2040);
    put_number(&symbol, 2, 0x10);
    put_bytes(&symbol, 3, "third", 5);
    put_bytes(&file, 4, symbol.data, symbol.size);
    rec_put_le(out, file.size, 4);
    rec_put_n(out, file.data, file.size);
    rec_bytes_free(&symbol);
    rec_bytes_free(&file);
}

static void put_feature(struct rec_perf *perf, uint64_t bit, void (*put)(struct rec_bytes *out))
{
    struct rec_bytes body = {0};
    rec_put_le(&body, bit, 8);
    put(&body);
    while (body.size % 8)
        rec_put_le(&body, 0, 1);
    rec_perf_record(perf, 80, 0, &body, NULL);
    rec_bytes_free(&body);
}

static void write_file(const char *path)
{
    static const struct rec_perf_sample sample = {.pid = 7, .tid = 7, .time = 5};
    static const struct rec_perf_map maps[] = {
        {.address = 0x400000,
         .size = 0x1000,
         .offset = 0x3000,
         .prot = 5,
         .path = "/gone/libold.so"},
        {.address = 0x500000,
         .size = 0x1000,
         .offset = 0x3000,
         .prot = 5,
         .path = "/gone/libnew.so"},
    };
    struct rec_perf perf;
    struct rec_bytes bytes = {0};
    rec_perf_begin(
        &perf, &(struct rec_perf_config){.version = 1, .cpus = &cpu, .cpu_count = 1, .pipe = true});
    put_feature(&perf, 128, put_plain);
    put_feature(&perf, 132, put_message);
    rec_perf_map(&perf, &sample, &maps[0]);
    rec_perf_map(&perf, &sample, &maps[1]);
    rec_perf_finish(&perf, &bytes);
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes.data, 1, bytes.size, file), bytes.size);
    fclose(file);
    rec_bytes_free(&bytes);
    rec_bytes_free(&perf.data);
    rec_bytes_free(&perf.index);
}

/** The name of an address of an object, by its path; "" where there is none. */
static void check_name(struct pug_capture *capture, struct pug_names *names, const char *path,
                       uint64_t vaddr, const char *wanted)
{
    const struct pug_capture_object *object;
    struct pug_names_file *file;
    struct pug_names_function function;
    for (uint32_t n = 0; (object = pug_capture_object_at(capture, n)) != NULL; n++) {
        if (strcmp(object->path, path) != 0)
            continue;
        assert_int_equal(object->state, PUG_OBJECT_MISSING);
        assert_true(pug_capture_names(capture, n, names, &file));
        assert_int_equal(pug_names_function(file, vaddr, &function), *wanted != 0);
        if (*wanted)
            assert_string_equal(function.name, wanted);
        return;
    }
    fail_msg("there is no %s", path);
}

static void test_names(void **state)
{
    char path[] = "/tmp/pug-simpleperf-XXXXXX";
    struct pug_capture *capture;
    (void)state;
    const int file = mkstemp(path);
    assert_true(file >= 0);
    close(file);
    write_file(path);
    const struct pug_capture_options options = {
        .roots = {.symfs = "/nowhere/at/all", .build_ids = ""}};
    assert_int_equal(pug_capture_open(path, &options, &capture), PUG_OK);
    struct pug_names *names = pug_names_new(NULL);
    assert_non_null(names);
    check_name(capture, names, "/gone/libold.so", 0x1010, "first(int, char)");
    check_name(capture, names, "/gone/libold.so", 0x102f, "first(int, char)");
    check_name(capture, names, "/gone/libold.so", 0x1030, "second");
    check_name(capture, names, "/gone/libold.so", 0x1008, "");
    check_name(capture, names, "/gone/libold.so", 0x1038, "");
    check_name(capture, names, "/gone/libnew.so", 0x2048, "third");
    check_name(capture, names, "/gone/libnew.so", 0x2050, "");
    pug_names_free(names);
    pug_capture_free(capture);
    unlink(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_names)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
