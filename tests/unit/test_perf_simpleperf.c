// SPDX-License-Identifier: MIT
/** @file What simpleperf's features say of files that are not here: names of their code. */
#include "perfdata/perfdata.h"
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
#include <unistd.h>

#include <cmocka.h>

static const struct rec_perf_cpu cpu = {
    .unit = REC_PERF_ETMV4, .words = {0, 0x10, 0x28000ea1, 0x4100f403, 0x20001088}, .count = 7};

static void put_text(struct rec_bytes *out, const char *text)
{
    rec_put_n(out, (const uint8_t *)text, strlen(text) + 1);
}

/** Feature 128: all plain. */
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

/** Feature 132: messages. */
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

static const char kernel_text[] = "ffff800008000000 T _text\nffff800008000100 t work\n"
                                  "ffff800001000000 t helper\t[helper]\n";

/** simpleperf's record of the kernel's symbols. */
static void put_kernel_symbols(struct rec_perf *perf)
{
    struct rec_bytes body = {0};
    rec_put_le(&body, sizeof(kernel_text), 4);
    rec_put_n(&body, (const uint8_t *)kernel_text, sizeof(kernel_text));
    while (body.size % 8)
        rec_put_le(&body, 0, 1);
    rec_perf_record(perf, PUG_PERF_KERNEL_SYMBOLS, 0, &body, NULL);
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
        {.address = UINT64_C(0xffff800008000000),
         .size = 0x10000,
         .kernel = true,
         .path = "[kernel.kallsyms]"},
        {.address = UINT64_C(0xffff800001000000),
         .size = 0x1000,
         .kernel = true,
         .path = "/gone/helper.ko"},
        {.address = UINT64_C(0xffff800001002000),
         .size = 0x1000,
         .kernel = true,
         .path = "/gone/silent.ko"},
    };
    struct rec_perf perf;
    struct rec_bytes bytes = {0};
    rec_perf_begin(
        &perf, &(struct rec_perf_config){.version = 1, .cpus = &cpu, .cpu_count = 1, .pipe = true});
    put_feature(&perf, 128, put_plain);
    put_feature(&perf, 132, put_message);
    put_kernel_symbols(&perf);
    for (size_t i = 0; i < sizeof(maps) / sizeof(maps[0]); i++)
        rec_perf_map(&perf, &sample, &maps[i]);
    rec_perf_finish(&perf, &bytes);
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes.data, 1, bytes.size, file), bytes.size);
    fclose(file);
    rec_bytes_free(&bytes);
    rec_bytes_free(&perf.data);
    rec_bytes_free(&perf.index);
}

static uint32_t find_object(struct pug_capture *capture, const char *path)
{
    const struct pug_capture_object *object;
    for (uint32_t n = 0; (object = pug_capture_object_at(capture, n)) != NULL; n++)
        if (strcmp(object->path, path) == 0)
            return n;
    fail_msg("there is no %s", path);
    return 0;
}

/** The name of an address of an object, by its path; "" where there is none. */
static void check_name(struct pug_capture *capture, struct pug_names *names, const char *path,
                       uint64_t vaddr, const char *wanted)
{
    const uint32_t object = find_object(capture, path);
    struct pug_names_file *file;
    struct pug_names_function function;
    assert_int_equal(pug_capture_object_at(capture, object)->state, PUG_OBJECT_MISSING);
    assert_true(pug_capture_names(capture, object, names, &file));
    assert_int_equal(pug_names_function(file, vaddr, &function), *wanted != 0);
    if (*wanted)
        assert_string_equal(function.name, wanted);
}

static struct pug_capture *open_file(char *path, size_t size)
{
    struct pug_capture *capture;
    const int file = temporary_file(path, size, "simpleperf");
    assert_true(file >= 0);
    close(file);
    write_file(path);
    const struct pug_capture_options options = {
        .roots = {.symfs = "/nowhere/at/all", .build_ids = ""}};
    assert_int_equal(pug_capture_open(path, &options, &capture), PUG_OK);
    return capture;
}

static void test_names(void **state)
{
    char path[128];
    struct pug_capture *capture = open_file(path, sizeof(path));
    (void)state;
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

/** The kernel's symbols are one long text, which is not read for each question. */
static void test_kernel(void **state)
{
    char path[128];
    struct pug_capture *capture = open_file(path, sizeof(path));
    struct pug_names *names = pug_names_new(NULL);
    struct pug_perf *perf = capture->own;
    struct pug_names_file *file;
    (void)state;
    assert_non_null(names);
    const uint32_t silent = find_object(capture, "/gone/silent.ko");
    check_name(capture, names, "[kernel.kallsyms]", UINT64_C(0xffff800008000104), "work");
    check_name(capture, names, "/gone/helper.ko", UINT64_C(0), "helper");
    assert_false(pug_capture_names(capture, silent, names, &file));
    const size_t texts = capture->texts.count;
    memcpy(strstr(perf->kallsyms, "[helper]"), "[silent]", 8);
    assert_false(pug_capture_names(capture, silent, names, &file));
    check_name(capture, names, "/gone/helper.ko", UINT64_C(0), "helper");
    assert_int_equal(capture->texts.count, texts);
    pug_names_free(names);
    pug_capture_free(capture);
    unlink(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_names), cmocka_unit_test(test_kernel)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
