// SPDX-License-Identifier: MIT
/**
 * @file A megabyte of perf.data takes at most 512 MiB, whatever its records are: it is filled with
 * compressed records of one type, as many as the reader lets it unpack to. Each is opened in a
 * process of its own, whose greatest memory the system knows.
 */
#include "support/perf_made.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* Sanitizers take memory for themselves. */
#if defined(PUG_WITH_ZSTD) && !defined(_WIN32) && !defined(__SANITIZE_ADDRESS__) &&                \
    !defined(__SANITIZE_THREAD__)
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>
#include <zstd.h>

#define MOST_MEMORY  (512L << 10) /* KiB */
#define MOST_SECONDS 20           /* of the processor: beyond it something is endless */
#define VARIANTS     300u         /* of a record, which follow each other again and again */
/* As much as is taken; of forks, which take most memory for a byte, far more than that. */
#define UNPACKED       ((size_t)25 << 20)
#define UNPACKED_FORKS ((size_t)64 << 20)
/* Of records of which nothing is kept: less shows as well if something is. */
#define UNPACKED_LIGHT ((size_t)8 << 20)
#define NOISE          ((size_t)1000000) /* that does not compress: what permits to unpack so much */
#define NOISE_RECORD   ((size_t)50000)
#define AUX            11u
#define NOBODY         0x63u /* a type that no reader knows */

/** The n-th record of its type. */
typedef void put_body(struct rec_bytes *body, unsigned n);

static void put_ids(struct rec_bytes *body, uint32_t pid, uint32_t tid)
{
    rec_put_le(body, pid, 4);
    rec_put_le(body, tid, 4);
}

static void put_text(struct rec_bytes *body, const char *prefix, unsigned n)
{
    char text[32];
    const int length = snprintf(text, sizeof(text), "%s%u", prefix, n);
    rec_put_n(body, (const uint8_t *)text, (size_t)length + 1);
}

static void fork_of(struct rec_bytes *body, unsigned n)
{
    put_ids(body, 2 + n, 1 + n);
    put_ids(body, 2 + n, 1 + n);
    rec_put_le(body, 0, 8);
}

static void same_fork(struct rec_bytes *body, unsigned n)
{
    (void)n;
    fork_of(body, 7);
}

static void name(struct rec_bytes *body, unsigned n)
{
    put_ids(body, 1 + n % 3, 1 + n % 3);
    put_text(body, n % 2 ? "a" : "b", n % 7);
}

static void ids(struct rec_bytes *body, unsigned n)
{
    put_ids(body, 1 + n % 8, 1 + n % 5);
}

static void map(struct rec_bytes *body, unsigned n)
{
    put_ids(body, 1 + n % 4, 1 + n % 4);
    rec_put_le(body, UINT64_C(0x1000) * (n * 7919 % 4096), 8);
    rec_put_le(body, 0x1000, 8);
    rec_put_le(body, 0, 8);
    put_text(body, "/x", n % 256);
}

static void map2(struct rec_bytes *body, unsigned n)
{
    put_ids(body, 1, 1);
    rec_put_le(body, UINT64_C(0x1000) * n, 8);
    rec_put_le(body, 0x1000, 8);
    rec_put_le(body, 0, 8);
    for (unsigned i = 0; i < 4; i++)
        rec_put_le(body, i == 2 ? n : 0, 8);
    put_text(body, "/y", n);
}

static void symbol(struct rec_bytes *body, unsigned n)
{
    rec_put_le(body, (UINT64_C(1) << 63) + UINT64_C(64) * n, 8);
    rec_put_le(body, 64, 4);
    rec_put_le(body, n % 5 == 4 ? 0x10001 : 1, 4);
    put_text(body, "f", n);
}

static void poke(struct rec_bytes *body, unsigned n)
{
    rec_put_le(body, (UINT64_C(1) << 63) + UINT64_C(4) * n, 8);
    rec_put_le(body, 0x10000, 4);
    rec_put(body, 1);
}

static void words(struct rec_bytes *body, unsigned n)
{
    rec_put_le(body, UINT64_C(64) * n, 8);
    rec_put_le(body, 64, 8);
    rec_put_le(body, n, 8);
}

static void mounts(struct rec_bytes *body, unsigned n)
{
    put_ids(body, 1, 1);
    rec_put_le(body, 7, 8);
    for (unsigned i = 0; i < 14; i++)
        rec_put_le(body, n + i, 8);
}

static void build_id(struct rec_bytes *body, unsigned n)
{
    rec_put_le(body, UINT32_MAX, 4);
    rec_put_le(body, n, 8);
    for (unsigned i = 0; i < 2; i++)
        rec_put_le(body, 0, 8);
    put_text(body, "/l", n);
}

static void feature(struct rec_bytes *body, unsigned n)
{
    rec_put_le(body, 2 + n % 31, 8);
    rec_put_le(body, 1, 8);
    rec_put_le(body, n, 8);
}

static void nothing(struct rec_bytes *body, unsigned n)
{
    (void)body;
    (void)n;
}

static const struct {
    uint16_t type, misc;
    put_body *put;
} kinds[] = {
    {1, 0, map},       {1, 2, map},       {2, 0, words},       {3, 0, name},    {3, 1 << 13, name},
    {4, 0, fork_of},   {5, 0, words},     {7, 0, same_fork},   {7, 0, fork_of}, {9, 0, words},
    {10, 0, map2},     {11, 0, words},    {12, 0, ids},        {13, 0, words},  {14, 0, nothing},
    {15, 0, ids},      {16, 0, mounts},   {17, 0, symbol},     {18, 0, words},  {19, 0, words},
    {20, 0, poke},     {21, 0, words},    {64, 0, words},      {66, 0, words},  {67, 0, build_id},
    {68, 0, nothing},  {70, 0, words},    {71, 0, words},      {72, 0, words},  {73, 0, words},
    {74, 0, words},    {79, 0, words},    {80, 0, feature},    {81, 0, words},  {32768, 0, words},
    {32769, 0, words}, {32772, 0, words}, {32773, 0, nothing},
};

static void put_record(struct rec_bytes *out, uint16_t type, uint16_t misc,
                       const struct rec_bytes *body)
{
    const size_t padding = (8 - body->size % 8) % 8, size = 8 + body->size + padding;
    rec_put_le(out, type, 4);
    rec_put_le(out, misc, 2);
    rec_put_le(out, size, 2);
    if (body->size > 0)
        rec_put_n(out, body->data, body->size);
    for (size_t i = 0; i < padding; i++)
        rec_put(out, 0);
}

/** Records of a kind, with so much noise between them that the whole is not too well packed. */
static void fill(struct rec_bytes *records, size_t kind)
{
    struct rec_bytes unit = {0}, body = {0};
    struct rec_random random = {kind + 1};
    for (unsigned n = 0; n < VARIANTS; n++) {
        kinds[kind].put(&body, n);
        put_record(&unit, kinds[kind].type, kinds[kind].misc, &body);
        body.size = 0;
    }
    size_t noise = 0;
    const bool light = (kinds[kind].put == words && kinds[kind].type != AUX) ||
                       kinds[kind].put == nothing || kinds[kind].put == mounts;
    const size_t wanted = light                          ? UNPACKED_LIGHT
                          : kinds[kind].put == same_fork ? UNPACKED_FORKS
                                                         : UNPACKED;
    while (records->size < wanted) {
        for (; noise < NOISE && noise < records->size / 24 + NOISE_RECORD; noise += NOISE_RECORD) {
            body.size = 0;
            for (size_t i = 0; i < NOISE_RECORD; i += 8)
                rec_put_le(&body, rec_random(&random), 8);
            put_record(records, NOBODY, 0, &body);
        }
        rec_put_n(records, unit.data, unit.size);
    }
    rec_bytes_free(&body);
    rec_bytes_free(&unit);
}

/** The file that a recorder would have written, with these in place of its records. */
static void put_file(struct rec_bytes *out, const struct rec_bytes *data)
{
    enum { SAMPLE_ID_ALL = 4, FLAGS = 40 + 2 };
    struct rec_perf perf;
    struct rec_bytes file = {0};
    perf_made_begin(&perf);
    rec_perf_finish(&perf, &file);
    assert_false(file.failed);
    const uint64_t attr_size = pug_bytes_number(file.data + 16, 8),
                   attrs = pug_bytes_number(file.data + 24, 8),
                   attrs_size = pug_bytes_number(file.data + 32, 8),
                   at = pug_bytes_number(file.data + 40, 8),
                   size = pug_bytes_number(file.data + 48, 8);
    for (uint64_t i = 0; i + attr_size <= attrs_size; i += attr_size)
        file.data[attrs + i + FLAGS] &= (uint8_t)~SAMPLE_ID_ALL; /* shorter records: more of them */
    rec_put_n(out, file.data, 48);
    rec_put_le(out, size + data->size, 8);
    rec_put_n(out, file.data + 56, (size_t)(at + size) - 56);
    rec_put_n(out, data->data, data->size);
    rec_bytes_free(&file);
}

static void pack(struct rec_bytes *out, const struct rec_bytes *records)
{
    enum { COMPRESSED = 81, PIECE = 60000 };
    const size_t room = ZSTD_compressBound(records->size);
    uint8_t *packed = malloc(room);
    assert_non_null(packed);
    const size_t size = ZSTD_compress(packed, room, records->data, records->size, 3);
    assert_false(ZSTD_isError(size));
    for (size_t at = 0, step; at < size; at += step) {
        step = size - at < PIECE ? size - at : PIECE;
        rec_put_le(out, COMPRESSED, 4);
        rec_put_le(out, (uint64_t)(8 + step) << 16, 4);
        rec_put_n(out, packed + at, step);
    }
    free(packed);
}

/** Opens the file in a process of its own. Returns whether that stayed within its memory. */
static bool opens_within(const char *path)
{
    int status;
    const pid_t child = fork();
    if (child == 0) {
        const struct rlimit seconds = {MOST_SECONDS, MOST_SECONDS};
        struct rusage usage;
        struct pug_capture *capture;
        const struct pug_capture_options options = {.roots = {.symfs = "/none", .build_ids = ""}};
        setrlimit(RLIMIT_CPU, &seconds);
        const enum pug_status opened = pug_capture_open(path, &options, &capture);
        if (opened == PUG_OK)
            pug_capture_free(capture);
        const bool measured = getrusage(RUSAGE_SELF, &usage) == 0;
        if (usage.ru_maxrss > MOST_MEMORY)
            print_message("it took %ld MiB\n", usage.ru_maxrss >> 10);
        _exit(measured && opened != PUG_ERR_MEM && usage.ru_maxrss <= MOST_MEMORY ? 0 : 1);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

static void test_every_type(void **state)
{
    struct made_folder folder;
    (void)state;
    for (size_t kind = 0; kind < sizeof(kinds) / sizeof(kinds[0]); kind++) {
        made_folder_begin(&folder);
        struct rec_bytes records = {0}, data = {0}, file = {0};
        fill(&records, kind);
        pack(&data, &records);
        rec_bytes_free(&records);
        put_file(&file, &data);
        rec_bytes_free(&data);
        assert_in_range(file.size, NOISE / 4, 2 * NOISE);
        const char *path = made_folder_file(&folder, "perf.data", file.data, file.size);
        rec_bytes_free(&file);
        if (!opens_within(path))
            fail_msg("records of type %u, the %zuth kind", kinds[kind].type, kind);
        made_folder_end(&folder);
    }
}
#else
static void test_every_type(void **state)
{
    (void)state;
    skip();
}
#endif

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_every_type)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
