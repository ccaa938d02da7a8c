// SPDX-License-Identifier: MIT
/** @file Program memory in files: regions, what is refused, who sees what, many readers at once. */
#include "support/memory.h"
#include "support/temporary.h"

#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

static const struct pug_place anywhere = {.space = PUG_SPACE_ANY};
static const struct pug_place nonsecure = {.space = PUG_SPACE_N};
static uint8_t bytes[0x4000]; /* byte i is i ^ i >> 8 */
static char folder[64];

static const char *make_file(const char *name, size_t size)
{
    static char path[128];
    snprintf(path, sizeof(path), "%s/%s", folder, name);
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    for (size_t i = 0; i < size; i++)
        fputc(pattern(i), file);
    fclose(file);
    return path;
}

static enum pug_status add_region(struct pug_image *image, const char *path, uint64_t offset,
                                  uint64_t address, uint64_t size)
{
    struct pug_region region = {offset, address, size};
    return pug_image_add_file(image, &anywhere, path, &region, 1);
}

static void files_are_read_in_pieces(void **state)
{
    (void)state;
    enum { SIZE = 200001 };
    const char *path = make_file("large", SIZE);
    struct pug_image *image = pug_image_new();
    assert_int_equal(add_region(image, path, 0, 0x10000, 0), PUG_OK);
    uint8_t *buffer = malloc(SIZE);
    assert_int_equal(read_at(image, PUG_SPACE_ANY, 0x10000, buffer, SIZE), SIZE);
    for (size_t i = 0; i < SIZE; i++)
        assert_int_equal(buffer[i], pattern(i));
    assert_int_equal(read_at(image, PUG_SPACE_ANY, 0x10000 + 65534, buffer, 4), 4);
    assert_int_equal(buffer[3], pattern(65537));
    assert_int_equal(first_byte(image, PUG_SPACE_ANY, 0x10000 + SIZE), -1);
    pug_image_free(image);

    image = pug_image_new();
    pug_image_set_quirks(image, &(struct pug_quirks){.reference_files = 1});
    assert_int_equal(add_region(image, path, 0, 0x10000, 0), PUG_OK);
    assert_int_equal(read_at(image, PUG_SPACE_ANY, 0x10000, buffer, SIZE), SIZE - 1);
    free(buffer);
    pug_image_free(image);
}

/** However many regions a file is added for, it takes one descriptor, and is read once. */
static void a_file_is_held_once(void **state)
{
    (void)state;
    enum { REGIONS = 200, APART = 1000 };
    const char *path = make_file("large", 200001);
    struct pug_image *image = pug_image_new();
    struct rlimit before, few;
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
    few = before;
    few.rlim_cur = 32;
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &few), 0);
    for (unsigned i = 0; i < REGIONS; i++)
        assert_int_equal(add_region(image, path, i * APART, 0x10000 * (i + 1ull), 16), PUG_OK);
    assert_int_equal(pug_image_remove(image, 0x10000, PUG_SPACE_ANY), PUG_OK);
    assert_int_equal(first_byte(image, PUG_SPACE_ANY, 0x10000), -1);
    for (unsigned i = 1; i < REGIONS; i++)
        assert_int_equal(first_byte(image, PUG_SPACE_ANY, 0x10000 * (i + 1ull)),
                         pattern(i * APART));
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
    /* one that grew, or went, since it was added is looked at again */
    assert_int_equal(add_region(image, path, 200001, 0x1000, 16), PUG_ERR_TRUNCATED);
    path = make_file("large", 200100);
    assert_int_equal(add_region(image, path, 200001, 0x1000, 16), PUG_OK);
    assert_int_equal(first_byte(image, PUG_SPACE_ANY, 0x1000), pattern(200001));
    unlink(path);
    assert_int_equal(add_region(image, path, 0, 0x2000, 16), PUG_ERR_FILE);
    pug_image_free(image);
}

static void files_are_checked(void **state)
{
    (void)state;
    char empty[128], fifo[128], path[128];
    snprintf(empty, sizeof(empty), "%s", make_file("empty", 0));
    snprintf(path, sizeof(path), "%s", make_file("file", 0x1000));
    snprintf(fifo, sizeof(fifo), "%s/fifo", folder);
    assert_int_equal(mkfifo(fifo, 0600), 0);
    struct pug_image *image = pug_image_new();
    assert_int_equal(add_region(image, "/nonexistent/file", 0, 0, 0), PUG_ERR_FILE);
    assert_int_equal(errno, ENOENT);
    assert_int_equal(add_region(image, folder, 0, 0, 0), PUG_ERR_FILE);
    assert_int_equal(errno, EISDIR);
    assert_int_equal(add_region(image, fifo, 0, 0, 0), PUG_ERR_FILE);
    assert_int_equal(add_region(image, empty, 0, 0, 0), PUG_ERR_TRUNCATED);
    assert_int_equal(add_region(image, "", 0, 0, 0), PUG_ERR_INVALID_PARAM_VAL);
    assert_int_equal(add_region(image, NULL, 0, 0, 0), PUG_ERR_INVALID_PARAM_VAL);
    assert_int_equal(pug_image_add_file(image, &anywhere, path, NULL, 0),
                     PUG_ERR_INVALID_PARAM_VAL);
    assert_int_equal(add_region(image, path, 0, 0, 0x1002), PUG_ERR_TRUNCATED);
    assert_int_equal(add_region(image, path, 0x800, 0, 0x802), PUG_ERR_TRUNCATED);
    assert_int_equal(add_region(image, path, UINT64_MAX - 1, 0, 4), PUG_ERR_TRUNCATED);
    assert_int_equal(add_region(image, path, 0x10, 0, UINT64_MAX - 1), PUG_ERR_TRUNCATED);
    assert_int_equal(add_region(image, path, 0, UINT64_MAX - 0xff, 0x200), PUG_ERR_MEMORY_RANGE);
    assert_int_equal(add_region(image, path, 0, 1, 0), PUG_OK);
    pug_image_free(image);

    /* by the reference's rules */
    image = pug_image_new();
    pug_image_set_quirks(image, &(struct pug_quirks){.reference_files = 1});
    assert_int_equal(add_region(image, "/nonexistent/file", 0, 0, 0), PUG_ERR_NOT_READY);
    assert_int_equal(add_region(image, make_file("byte", 1), 0, 0, 0), PUG_ERR_NOT_READY);
    assert_int_equal(add_region(image, path, 0, 0, 0x1002), PUG_ERR_NOT_READY);
    assert_int_equal(add_region(image, path, 0, 1, 0), PUG_ERR_MEMORY_RANGE);
    pug_image_free(image);
}

static void each_region_has_its_own_offset(void **state)
{
    (void)state;
    const char *path = make_file("regions", 0x1000);
    const struct pug_region regions[] = {
        {0, 0x20000, 0x100}, {0x800, 0x30000, 0x100}, {0x400, 0x10000, 0}};
    struct pug_image *image = pug_image_new();
    struct pug_image_range range;
    assert_int_equal(pug_image_add_file(image, &nonsecure, path, regions, 3), PUG_OK);
    assert_true(pug_image_has_file(image, path));
    assert_int_equal(first_byte(image, PUG_SPACE_N, 0x20004), pattern(4));
    assert_int_equal(first_byte(image, PUG_SPACE_N, 0x20100), -1);
    assert_int_equal(first_byte(image, PUG_SPACE_N, 0x300ff), pattern(0x8ff));
    assert_int_equal(first_byte(image, PUG_SPACE_N, 0x30100), -1);
    assert_int_equal(first_byte(image, PUG_SPACE_N, 0x10bff), pattern(0xfff));
    assert_int_equal(first_byte(image, PUG_SPACE_S, 0x20004), -1);
    assert_true(pug_image_range(image, 2, &range));
    assert_string_equal(range.kind, "file");
    assert_string_equal(range.path, path);
    assert_int_equal(range.start, 0x10000);
    assert_int_equal(range.end, 0x10bff);
    assert_int_equal(range.offset, 0x400);
    assert_int_equal(range.place.space, PUG_SPACE_N);
    assert_false(range.first);
    assert_false(pug_image_range(image, 3, &range));
    /* its regions must not overlap each other, or others */
    const struct pug_region twice[] = {{0, 0x50000, 0x100}, {0x100, 0x50080, 0x100}};
    assert_int_equal(pug_image_add_file(image, &anywhere, path, twice, 2), PUG_ERR_MEMORY_OVERLAP);
    assert_int_equal(add_region(image, path, 0x10, 0x30080, 0x100), PUG_ERR_MEMORY_OVERLAP);
    assert_int_equal(add_region(image, path, 0x10, 0x60000, 0x100), PUG_OK);
    assert_int_equal(first_byte(image, PUG_SPACE_N, 0x60000), pattern(0x10));
    pug_image_free(image);
}

/** Dumps begin and end where they were taken, at odd places, too. */
static void files_of_any_length_anywhere(void **state)
{
    (void)state;
    const char *path = make_file("odd", 11);
    uint8_t read[16];
    struct pug_image *image = pug_image_new();
    assert_int_equal(add_region(image, path, 0, 0x1001, 0), PUG_OK);
    assert_int_equal(add_region(image, path, 4, 0x2000, 3), PUG_OK);
    assert_int_equal(add_region(image, path, 10, 0x3003, 1), PUG_OK);
    assert_int_equal(read_at(image, PUG_SPACE_ANY, 0x1001, read, 16), 11);
    assert_int_equal(read[10], pattern(10));
    assert_int_equal(read_at(image, PUG_SPACE_ANY, 0x2001, read, 16), 2);
    assert_int_equal(read[0], pattern(5));
    assert_int_equal(read_at(image, PUG_SPACE_ANY, 0x3003, read, 16), 1);
    assert_int_equal(first_byte(image, PUG_SPACE_ANY, 0x3002), -1);
    pug_image_free(image);
}

/** Memory of lowest priority: what a bus shows where no core's memory is known. */
static void memory_behind(void **state)
{
    (void)state;
    const struct pug_place behind = {.space = PUG_SPACE_ANY, .behind = true};
    struct pug_image *image = pug_image_new();
    uint64_t hash;
    assert_int_equal(pug_image_add_buffer(image, &behind, 0x1000, bytes, 0x100), PUG_OK);
    hash = pug_image_hash(image);
    assert_int_equal(pug_image_add_buffer(image, &anywhere, 0x1040, bytes + 0x200, 0x40), PUG_OK);
    assert_int_equal(first_byte(image, PUG_SPACE_ANY, 0x103f), bytes[0x3f]);
    assert_int_equal(first_byte(image, PUG_SPACE_ANY, 0x1040), bytes[0x200]);
    assert_int_equal(first_byte(image, PUG_SPACE_ANY, 0x107f), bytes[0x200 + 0x3f]);
    assert_int_equal(first_byte(image, PUG_SPACE_ANY, 0x1080), bytes[0x80]);
    assert_int_equal(pug_image_add_buffer(image, &behind, 0x1080, bytes + 0x200, 0x100),
                     PUG_ERR_MEMORY_OVERLAP);
    pug_image_free(image);
    image = pug_image_new();
    assert_int_equal(pug_image_add_buffer(image, &anywhere, 0x1000, bytes, 0x100), PUG_OK);
    assert_true(pug_image_hash(image) != hash);
    pug_image_free(image);
}

static void files_can_get_more_regions(void **state)
{
    (void)state;
    char path[128];
    snprintf(path, sizeof(path), "%s", make_file("update", 0x1000));
    struct pug_image *image = pug_image_new();
    struct pug_region more = {0x200, 0x4000, 0x100};
    assert_int_equal(pug_image_update_file(image, path, &more, 1), PUG_ERR_INVALID_PARAM_VAL);
    assert_int_equal(add_region(image, path, 0x100, 0x1000, 0x100), PUG_OK);
    uint64_t generation = pug_image_generation(image);
    assert_int_equal(pug_image_update_file(image, path, &more, 1), PUG_OK);
    assert_int_not_equal(pug_image_generation(image), generation);
    assert_int_equal(first_byte(image, PUG_SPACE_ANY, 0x4001), pattern(0x201));
    more.offset = 0; /* begins where one begins: skipped */
    assert_int_equal(pug_image_update_file(image, path, &more, 1), PUG_OK);
    assert_int_equal(first_byte(image, PUG_SPACE_ANY, 0x4001), pattern(0x201));
    more.address = 0x4002;
    assert_int_equal(pug_image_update_file(image, path, &more, 1), PUG_ERR_INVALID_PARAM_VAL);
    more.address = UINT64_MAX;
    assert_int_equal(pug_image_update_file(image, path, &more, 1), PUG_ERR_INVALID_PARAM_VAL);
    assert_int_equal(first_byte(image, PUG_SPACE_ANY, UINT64_MAX), -1);
    pug_image_free(image);
}

/* The same calls, by the reference's rules. */
static void reference_files(void **state)
{
    (void)state;
    char path[128], other[128];
    snprintf(path, sizeof(path), "%s", make_file("reference", 0x1000));
    snprintf(other, sizeof(other), "%s", make_file("reference-too", 0x1000));
    const struct pug_quirks quirks = {.reference_files = 1};
    const struct pug_region regions[] = {
        {0, 0x20000, 0x100},                              /* grows up to the offset of the next */
        {0x800, 0x30000, 0x100}, {0x900, 0x200f0, 0x100}, /* in the first: vanishes */
        {0xf00, 0x40000, 0x200},                          /* beyond the file: vanishes */
        {0x10, 0x50000, 0},                               /* no size: vanishes */
    };
    struct pug_image *image = pug_image_new();
    struct pug_image_range range;
    pug_image_set_quirks(image, &quirks);
    assert_int_equal(pug_image_add_file(image, &anywhere, path, regions, 5), PUG_OK);
    assert_int_equal(first_byte(image, PUG_SPACE_N, 0x20100), pattern(0x100));
    assert_int_equal(first_byte(image, PUG_SPACE_N, 0x207ff), pattern(0x7ff));
    assert_int_equal(first_byte(image, PUG_SPACE_N, 0x20800), -1);
    assert_int_equal(first_byte(image, PUG_SPACE_N, 0x30000), pattern(0x800));
    assert_true(pug_image_range(image, 0, &range));
    assert_int_equal(range.end, 0x207ff);
    assert_false(pug_image_range(image, 2, &range));

    /* a path fits once */
    assert_int_equal(add_region(image, path, 0, 0x70000, 0x100), PUG_ERR_MAPPED_ELSEWHERE);
    assert_int_equal(add_region(image, path, 0, 0x30000, 0x100), PUG_ERR_MEMORY_OVERLAP);
    /* the overlap test looks at the base alone, or at address 0 */
    assert_int_equal(add_region(image, other, 0x100, 0x30000, 0x100), PUG_OK);
    assert_int_equal(first_byte(image, PUG_SPACE_N, 0x30000), pattern(0x800));
    assert_int_equal(pug_image_remove(image, 0x30000, PUG_SPACE_ANY), PUG_OK);
    assert_int_equal(first_byte(image, PUG_SPACE_N, 0x30000), pattern(0x100));
    assert_int_equal(pug_image_add_buffer(image, &anywhere, 0, bytes, 0x100), PUG_OK);
    assert_int_equal(add_region(image, path, 0x100, 0x80000, 0x100), PUG_ERR_MEMORY_OVERLAP);
    pug_image_free(image);

    image = pug_image_new();
    pug_image_set_quirks(image, &quirks);
    assert_int_equal(add_region(image, path, 0x100, 0x80000, 0), PUG_ERR_MEMORY_RANGE);
    assert_int_equal(add_region(image, path, 0x100, 0x80000, 0x100), PUG_OK);
    /* the base may come later, once, and be larger than the file; beyond it nothing is there */
    struct pug_region base = {0, 0x10000, 0x2000}, second = {0, 0x90000, 0x100};
    assert_int_equal(pug_image_update_file(image, path, &base, 1), PUG_OK);
    assert_int_equal(pug_image_update_file(image, path, &second, 1), PUG_ERR_INVALID_PARAM_VAL);
    assert_true(pug_image_range(image, 0, &range));
    assert_int_equal(range.start, 0x10000);
    assert_int_equal(range.end, 0x11fff);
    assert_int_equal(first_byte(image, PUG_SPACE_N, 0x10fff), pattern(0xfff));
    assert_int_equal(first_byte(image, PUG_SPACE_N, 0x11000), -1);
    pug_image_free(image);
}

/* ---- threads ---- */

static void *read_all(void *context)
{
    const struct pug_image *image = context;
    for (unsigned i = 0; i < 2000; i++) {
        uint64_t offset = (i * 7919u) % 0x7ff00 & ~1u;
        uint8_t buffer[64];
        if (read_at(image, PUG_SPACE_ANY, 0x10000 + offset, buffer, 64) != 64 ||
            buffer[63] != pattern(offset + 63))
            return context; /* wrong bytes */
    }
    return NULL;
}

static void threads_share_an_image(void **state)
{
    (void)state;
    const char *path = make_file("shared", 0x80000);
    struct pug_image *image = pug_image_new();
    assert_int_equal(add_region(image, path, 0, 0x10000, 0), PUG_OK);
    pthread_t threads[4];
    for (size_t i = 0; i < 4; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, read_all, image), 0);
    for (size_t i = 0; i < 4; i++) {
        void *result;
        pthread_join(threads[i], &result);
        assert_null(result);
    }
    pug_image_free(image);
}

static int setup(void **state)
{
    (void)state;
    return temporary_folder(folder, sizeof(folder), "image") ? 0 : -1;
}

static int teardown(void **state)
{
    (void)state;
    static const char *const names[] = {"large",   "empty",  "file",      "fifo",
                                        "regions", "update", "reference", "reference-too",
                                        "byte",    "odd",    "shared"};
    char path[128];
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        snprintf(path, sizeof(path), "%s/%s", folder, names[i]);
        unlink(path);
    }
    return rmdir(folder);
}
int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(files_are_read_in_pieces),
        cmocka_unit_test(a_file_is_held_once),
        cmocka_unit_test(files_are_checked),
        cmocka_unit_test(each_region_has_its_own_offset),
        cmocka_unit_test(files_of_any_length_anywhere),
        cmocka_unit_test(memory_behind),
        cmocka_unit_test(files_can_get_more_regions),
        cmocka_unit_test(reference_files),
        cmocka_unit_test(threads_share_an_image),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
