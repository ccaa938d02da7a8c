// SPDX-License-Identifier: MIT
/** @file Program memory: what can be added, what is read, who sees what. */
#include "pugmark/image.h"

#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

static const struct pug_place anywhere = {.space = PUG_SPACE_ANY};
static const struct pug_place nonsecure = {.space = PUG_SPACE_N};
static const struct pug_place zeroed;
static uint8_t bytes[0x4000]; /* byte i is i ^ i >> 8 */

static uint8_t pattern(uint64_t offset)
{
    return (uint8_t)(offset ^ offset >> 8 ^ offset >> 16);
}

static int64_t read_at(const struct pug_image *image, uint8_t space, uint64_t address, void *buffer,
                       uint32_t wanted)
{
    struct pug_reader_space reader = {.space = space};
    return pug_image_read(image, &reader, address, buffer, wanted);
}

/* The first byte that is read at an address; -1 where there is none. */
static int first_byte(const struct pug_image *image, uint8_t space, uint64_t address)
{
    uint8_t byte;
    return read_at(image, space, address, &byte, 1) == 1 ? byte : -1;
}

/* ---- spaces ---- */

static void spaces_have_names(void **state)
{
    (void)state;
    char text[64];
    static const struct {
        uint8_t space;
        const char *text;
    } texts[] = {{0, ""},
                 {0x01, "EL1S"},
                 {0x04, "EL2N"},
                 {0x80, "Root"},
                 {0x19, "Any S"},
                 {0x06, "Any NS"},
                 {0x60, "Any R"},
                 {0xff, "Any"},
                 {0x1b, "EL1S,EL1N,EL3,EL2S,"},
                 {0x1f, "EL1S,EL1N,EL2N,EL3,EL2S,"}};
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        assert_int_equal(pug_space_text(texts[i].space, text, sizeof(text)), strlen(texts[i].text));
        assert_string_equal(text, texts[i].text);
    }
    assert_int_equal(pug_space_text(0xff, text, 3), 3);
    assert_string_equal(text, "An");
    static const struct {
        const char *name;
        uint8_t space;
    } names[] = {{"EL1S", 0x01}, {"EL2", 0x04}, {"EL2N", 0x04}, {"H", 0x04}, {"P", 0x02},
                 {"NP", 0x02},   {"SP", 0x01},  {"S", 0x19},    {"N", 0x06}, {"R", 0x60},
                 {"ROOT", 0x80}, {"ANY", 0xff}, {"any", 0xff},  {"", 0xff},  {"el1s", 0xff}};
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        assert_int_equal(pug_space_by_name(names[i].name), names[i].space);
    assert_int_equal(pug_space_by_name(NULL), 0xff);
}

/* ---- buffers ---- */

static void ranges_are_checked(void **state)
{
    (void)state;
    static const struct {
        uint64_t address, size;
        enum pug_status status, reference;
    } cases[] = {
        {0, 4, PUG_OK, PUG_OK},
        {0x1001, 4, PUG_OK, PUG_ERR_MEM_ACC_RANGE_INVALID},
        {0x1000, 5, PUG_OK, PUG_ERR_MEM_ACC_RANGE_INVALID},
        {0x1000, 3, PUG_OK, PUG_ERR_INVALID_PARAM_VAL},
        {0x1001, 1, PUG_OK, PUG_ERR_INVALID_PARAM_VAL},
        {0x1000, 0, PUG_ERR_INVALID_PARAM_VAL, PUG_ERR_INVALID_PARAM_VAL},
        {UINT64_MAX - 3, 4, PUG_OK, PUG_OK},
        {UINT64_MAX - 3, 6, PUG_ERR_MEM_ACC_RANGE_INVALID, PUG_ERR_MEM_ACC_RANGE_INVALID},
    };
    for (size_t i = 0; i < 2 * sizeof(cases) / sizeof(cases[0]); i++) {
        struct pug_image *image = pug_image_new();
        const struct pug_quirks quirks = {.reference_files = i % 2};
        pug_image_set_quirks(image, &quirks);
        assert_int_equal(
            pug_image_add_buffer(image, &anywhere, cases[i / 2].address, bytes, cases[i / 2].size),
            i % 2 ? cases[i / 2].reference : cases[i / 2].status);
        pug_image_free(image);
    }
    struct pug_image *image = pug_image_new();
    assert_int_equal(pug_image_add_buffer(image, &anywhere, 0, NULL, 8), PUG_ERR_INVALID_PARAM_VAL);
    assert_int_equal(pug_image_add_callback(image, &anywhere, 0, UINT64_MAX, NULL, NULL),
                     PUG_ERR_INVALID_PARAM_VAL);
    pug_image_free(image);
    assert_int_equal(pug_image_add_buffer(NULL, NULL, 0, bytes, 8), PUG_ERR_INVALID_PARAM_VAL);
    pug_image_free(NULL);
}

/* No place, and one of zeros: every space, context and source. By the reference's rules: none. */
static void no_place_is_everywhere(void **state)
{
    (void)state;
    const struct pug_reader_space reader = {
        .space = PUG_SPACE_EL2S, .has_context_id = true, .context_id = 7, .source = 0x13};
    for (unsigned i = 0; i < 4; i++) {
        uint8_t byte = 0;
        const struct pug_quirks quirks = {.reference_files = i / 2};
        const struct pug_place *place = i % 2 ? &zeroed : NULL;
        struct pug_image *image = pug_image_new();
        pug_image_set_quirks(image, &quirks);
        assert_int_equal(pug_image_add_buffer(image, place, 0x1000, bytes + 1, 16), PUG_OK);
        assert_int_equal(pug_image_read(image, &reader, 0x1000, &byte, 1), i == 3 ? 0 : 1);
        assert_int_equal(byte, i == 3 ? 0 : bytes[1]);
        pug_image_free(image);
    }
}

static uint32_t answers(void *context, uint64_t address, const struct pug_reader_space *space,
                        uint32_t wanted, uint8_t *buffer)
{
    (void)context, (void)address, (void)space;
    memset(buffer, 0x5a, wanted);
    return wanted;
}

/* The same of files, ELF files and callbacks. */
static void no_place_is_everywhere_for_each_kind(void **state)
{
    (void)state;
    static const char program[] = PUG_SOURCE_DIR "/examples/crash/crash";
    static const struct pug_region region = {.address = 0x70000000, .size = 4};
    const struct pug_reader_space reader = {
        .space = PUG_SPACE_ROOT, .has_vmid = true, .vmid = 3, .source = 0x44};
    for (unsigned i = 0; i < 2; i++) {
        const struct pug_place *place = i == 0 ? NULL : &zeroed;
        struct pug_image *image = pug_image_new();
        uint8_t got[4];
        assert_int_equal(pug_image_add_file(image, place, program, &region, 1), PUG_OK);
        assert_int_equal(pug_image_read(image, &reader, 0x70000000, got, 4), 4);
        assert_memory_equal(got, "\177ELF", 4);
        assert_int_equal(
            pug_image_add_callback(image, place, 0x80000000, 0x80000fff, answers, NULL), PUG_OK);
        assert_int_equal(pug_image_read(image, &reader, 0x80000ff0, got, 1), 1);
        assert_int_equal(got[0], 0x5a);
        enum pug_status status = pug_image_add_elf(image, place, program, 0);
        struct pug_image_range range = {0};
        if (status != PUG_ERR_NOT_BUILT) {
            assert_int_equal(status, PUG_OK);
            assert_true(pug_image_range(image, 2, &range));
            assert_int_equal(pug_image_read(image, &reader, range.start, got, 4), 4);
        }
        pug_image_free(image);
    }
}

/* What lies at odd places is read as what lies at even ones. */
static void odd_buffers_are_read_whole(void **state)
{
    (void)state;
    uint8_t buffer[16];
    struct pug_image *image = pug_image_new();
    assert_int_equal(pug_image_add_buffer(image, NULL, 0x1001, bytes, 3), PUG_OK);
    assert_int_equal(pug_image_add_buffer(image, NULL, 0x1007, bytes + 9, 1), PUG_OK);
    assert_int_equal(read_at(image, PUG_SPACE_ANY, 0x1000, buffer, 4), 0);
    assert_int_equal(read_at(image, PUG_SPACE_ANY, 0x1001, buffer, 16), 3);
    assert_memory_equal(buffer, bytes, 3);
    assert_int_equal(read_at(image, PUG_SPACE_ANY, 0x1007, buffer, 16), 1);
    assert_int_equal(buffer[0], bytes[9]);
    pug_image_free(image);
}

static void overlaps_are_refused(void **state)
{
    (void)state;
    struct pug_image *image = pug_image_new();
    uint64_t generation = pug_image_generation(image);
    assert_int_equal(pug_image_add_buffer(image, &nonsecure, 0x1000, bytes, 0x1000), PUG_OK);
    assert_int_not_equal(pug_image_generation(image), generation);
    generation = pug_image_generation(image);
    static const struct {
        uint64_t address, size;
        uint8_t space;
        enum pug_status status;
    } cases[] = {
        {0x1000, 0x1000, PUG_SPACE_ANY, PUG_ERR_MEM_ACC_OVERLAP},
        {0x1800, 0x1000, PUG_SPACE_EL1N, PUG_ERR_MEM_ACC_OVERLAP},
        {0x0800, 0x1000, PUG_SPACE_ANY, PUG_ERR_MEM_ACC_OVERLAP},
        {0x1ffe, 0x10, PUG_SPACE_ANY, PUG_ERR_MEM_ACC_OVERLAP},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct pug_place place = {.space = cases[i].space};
        assert_int_equal(
            pug_image_add_buffer(image, &place, cases[i].address, bytes, cases[i].size),
            cases[i].status);
    }
    assert_int_equal(pug_image_generation(image), generation);
    /* other spaces, next to it, and around it */
    assert_int_equal(
        pug_image_add_buffer(image, &(struct pug_place){.space = PUG_SPACE_S}, 0x1000, bytes, 16),
        PUG_OK);
    assert_int_equal(pug_image_add_buffer(image, &nonsecure, 0x2000, bytes + 1, 16), PUG_OK);
    assert_int_equal(pug_image_add_buffer(image, &nonsecure, 0, bytes + 2, 0x3000), PUG_OK);
    /* what was there first answers first */
    assert_int_equal(first_byte(image, PUG_SPACE_EL1N, 0x1003), bytes[3]);
    assert_int_equal(first_byte(image, PUG_SPACE_EL1N, 0x0000), bytes[2]);
    assert_int_equal(first_byte(image, PUG_SPACE_EL1N, 0x2000), bytes[1]);
    assert_int_equal(first_byte(image, PUG_SPACE_EL1N, 0x2010), bytes[0x2012]);
    pug_image_free(image);
}

/** The reference's defects, each as the image has them or not. */
static void set_quirk(struct pug_image *image, bool reads_end_with_image)
{
    struct pug_quirks quirks = {.reads_end_with_image = reads_end_with_image};
    pug_image_set_quirks(image, &quirks);
}

static void reads_end_with_memory(void **state)
{
    (void)state;
    uint8_t buffer[64];
    struct pug_image *image = pug_image_new();
    assert_int_equal(pug_image_add_buffer(image, &anywhere, 0x1000, bytes, 0x100), PUG_OK);
    assert_int_equal(pug_image_add_buffer(image, &anywhere, 0x1100, bytes, 0x100), PUG_OK);
    assert_int_equal(read_at(image, PUG_SPACE_ANY, 0x10f0, buffer, 64), 64);
    assert_memory_equal(buffer, bytes + 0xf0, 16);
    assert_memory_equal(buffer + 16, bytes, 48);
    assert_int_equal(read_at(image, PUG_SPACE_ANY, 0x11f0, buffer, 64), 16);
    assert_int_equal(read_at(image, PUG_SPACE_ANY, 0x10fe, buffer, 4), 4);
    set_quirk(image, true);
    assert_int_equal(read_at(image, PUG_SPACE_ANY, 0x10f0, buffer, 64), 16);
    assert_memory_equal(buffer, bytes + 0xf0, 16);
    assert_int_equal(read_at(image, PUG_SPACE_ANY, 0x10fe, buffer, 4), 2);
    set_quirk(image, false);
    assert_int_equal(read_at(image, PUG_SPACE_ANY, 0x0ffe, buffer, 4), 0);
    assert_int_equal(read_at(image, PUG_SPACE_NONE, 0x1000, buffer, 4), 0);
    assert_int_equal(pug_image_add_buffer(image, &anywhere, UINT64_MAX - 15, bytes, 16), PUG_OK);
    assert_int_equal(read_at(image, PUG_SPACE_ANY, UINT64_MAX - 3, buffer, 8), 4);
    pug_image_free(image);
}

static void memory_can_be_removed(void **state)
{
    (void)state;
    struct pug_image *image = pug_image_new();
    assert_int_equal(pug_image_remove(image, 0x1000, PUG_SPACE_ANY), PUG_ERR_INVALID_PARAM_VAL);
    assert_int_equal(pug_image_add_buffer(image, &nonsecure, 0x1000, bytes, 0x100), PUG_OK);
    assert_int_equal(pug_image_add_buffer(image, &anywhere, 0, bytes + 1, 0x2000), PUG_OK);
    assert_int_equal(pug_image_remove(image, 0x10ff, PUG_SPACE_S), PUG_OK); /* the second */
    assert_int_equal(first_byte(image, PUG_SPACE_S, 0x1000), -1);
    assert_int_equal(first_byte(image, PUG_SPACE_N, 0x1000), bytes[0]);
    assert_int_equal(pug_image_remove(image, 0x1001, PUG_SPACE_EL1N), PUG_OK);
    assert_int_equal(first_byte(image, PUG_SPACE_N, 0x1000), -1);
    assert_int_equal(pug_image_remove(image, 0x1001, PUG_SPACE_EL1N), PUG_ERR_INVALID_PARAM_VAL);
    pug_image_free(image);
}

static void the_most_specific_answers(void **state)
{
    (void)state;
    struct pug_image *image = pug_image_new();
    struct pug_place context = {.space = PUG_SPACE_ANY, .has_context_id = true, .context_id = 7};
    struct pug_place both = context;
    both.has_vmid = true;
    both.vmid = 2;
    struct pug_place source = {.space = PUG_SPACE_ANY, .has_source = true, .source = 0x11};
    assert_int_equal(pug_image_add_buffer(image, &anywhere, 0x1000, bytes, 0x100), PUG_OK);
    assert_int_equal(pug_image_add_buffer(image, &context, 0x1000, bytes + 1, 0x100), PUG_OK);
    assert_int_equal(pug_image_add_buffer(image, &both, 0x1080, bytes + 2, 0x80), PUG_OK);
    assert_int_equal(pug_image_add_buffer(image, &source, 0x1000, bytes + 3, 0x100), PUG_OK);
    assert_int_equal(pug_image_add_buffer(image, &context, 0x1010, bytes, 0x10),
                     PUG_ERR_MEM_ACC_OVERLAP);
    struct {
        struct pug_reader_space reader;
        uint64_t address;
        uint8_t expected;
        int64_t length;
    } cases[] = {
        {{.space = PUG_SPACE_N}, 0x1000, bytes[0], 0x100},
        {{.space = PUG_SPACE_N, .has_context_id = true, .context_id = 6}, 0x1000, bytes[0], 0x100},
        {{.space = PUG_SPACE_N, .has_context_id = true, .context_id = 7}, 0x1000, bytes[1], 0x100},
        {{.space = PUG_SPACE_N, .context_id = 7}, 0x1000, bytes[0], 0x100},
        {{.space = PUG_SPACE_N, .source = 0x11}, 0x1000, bytes[3], 0x100},
        /* what is more specific begins at 0x1080 and, with the quirk, ends the other's read */
        {{PUG_SPACE_N, true, true, 7, 2, 0}, 0x1000, bytes[1], 0x80},
        {{PUG_SPACE_N, true, true, 7, 2, 0}, 0x1080, bytes[2], 0x80},
    };
    for (size_t i = 0; i < 2 * sizeof(cases) / sizeof(cases[0]); i++) {
        size_t n = i / 2, left = 0x1100 - cases[n].address;
        uint8_t buffer[0x100];
        set_quirk(image, i % 2);
        assert_int_equal(
            pug_image_read(image, &cases[n].reader, cases[n].address, buffer, sizeof(buffer)),
            i % 2 ? cases[n].length : (int64_t)left);
        assert_int_equal(buffer[0], cases[n].expected);
        if (n == 5 && i % 2 == 0)
            assert_int_equal(buffer[0x80], bytes[2]);
    }
    pug_image_free(image);
}

/* ---- callbacks ---- */

static uint32_t too_much(void *context, uint64_t address, const struct pug_reader_space *space,
                         uint32_t wanted, uint8_t *buffer)
{
    *(struct pug_reader_space *)context = *space;
    buffer[0] = (uint8_t)address;
    return address == 0x2000 ? wanted + 1 : 1;
}

static void callbacks_answer(void **state)
{
    (void)state;
    struct pug_reader_space seen, reader = {PUG_SPACE_EL2, true, true, 5, 6, 0x12};
    uint8_t buffer[8];
    struct pug_image *image = pug_image_new();
    assert_int_equal(pug_image_add_callback(image, &anywhere, 0, UINT64_MAX, too_much, &seen),
                     PUG_OK);
    /* one byte at a time, or, with the quirk, what is given at once */
    assert_int_equal(pug_image_read(image, &reader, 0x1234, buffer, 8), 8);
    assert_int_equal(buffer[0], 0x34);
    assert_int_equal(buffer[7], 0x3b);
    set_quirk(image, true);
    assert_int_equal(pug_image_read(image, &reader, 0x1234, buffer, 8), 1);
    assert_int_equal(buffer[0], 0x34);
    assert_int_equal(seen.space, PUG_SPACE_EL2);
    assert_int_equal(seen.context_id, 5);
    assert_int_equal(seen.vmid, 6);
    assert_int_equal(seen.source, 0x12);
    assert_int_equal(pug_image_read(image, &reader, 0x2000, buffer, 8), PUG_ERR_MEM_ACC_BAD_LEN);
    pug_image_free(image);
}

/* ---- files ---- */

static char folder[] = "/tmp/pugmark-image-XXXXXX";

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
    assert_int_equal(add_region(image, path, 0, UINT64_MAX - 0xff, 0x200),
                     PUG_ERR_MEM_ACC_RANGE_INVALID);
    assert_int_equal(add_region(image, path, 0, 1, 0), PUG_OK);
    pug_image_free(image);

    /* by the reference's rules */
    image = pug_image_new();
    pug_image_set_quirks(image, &(struct pug_quirks){.reference_files = 1});
    assert_int_equal(add_region(image, "/nonexistent/file", 0, 0, 0), PUG_ERR_NOT_INIT);
    assert_int_equal(add_region(image, make_file("byte", 1), 0, 0, 0), PUG_ERR_NOT_INIT);
    assert_int_equal(add_region(image, path, 0, 0, 0x1002), PUG_ERR_NOT_INIT);
    assert_int_equal(add_region(image, path, 0, 1, 0), PUG_ERR_MEM_ACC_RANGE_INVALID);
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
    assert_int_equal(pug_image_add_file(image, &anywhere, path, twice, 2), PUG_ERR_MEM_ACC_OVERLAP);
    assert_int_equal(add_region(image, path, 0x10, 0x30080, 0x100), PUG_ERR_MEM_ACC_OVERLAP);
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

/** Memory behind all other: what a bus shows where no core's memory is known. */
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
                     PUG_ERR_MEM_ACC_OVERLAP);
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
    assert_int_equal(add_region(image, path, 0, 0x70000, 0x100), PUG_ERR_MEM_ACC_FILE_DIFF_RANGE);
    assert_int_equal(add_region(image, path, 0, 0x30000, 0x100), PUG_ERR_MEM_ACC_OVERLAP);
    /* the overlap test looks at the base alone, or at address 0 */
    assert_int_equal(add_region(image, other, 0x100, 0x30000, 0x100), PUG_OK);
    assert_int_equal(first_byte(image, PUG_SPACE_N, 0x30000), pattern(0x800));
    assert_int_equal(pug_image_remove(image, 0x30000, PUG_SPACE_ANY), PUG_OK);
    assert_int_equal(first_byte(image, PUG_SPACE_N, 0x30000), pattern(0x100));
    assert_int_equal(pug_image_add_buffer(image, &anywhere, 0, bytes, 0x100), PUG_OK);
    assert_int_equal(add_region(image, path, 0x100, 0x80000, 0x100), PUG_ERR_MEM_ACC_OVERLAP);
    pug_image_free(image);

    image = pug_image_new();
    pug_image_set_quirks(image, &quirks);
    assert_int_equal(add_region(image, path, 0x100, 0x80000, 0), PUG_ERR_MEM_ACC_RANGE_INVALID);
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

/* Many ranges, in no order, each found again. */
static void many_ranges(void **state)
{
    (void)state;
    enum { COUNT = 3000 };
    struct pug_image *image = pug_image_new();
    for (uint64_t i = 0; i < COUNT; i++) {
        uint64_t slot = i * 1117 % COUNT;
        assert_int_equal(pug_image_add_buffer(image, &anywhere, slot * 0x20, bytes + slot, 0x10),
                         PUG_OK);
    }
    for (uint64_t slot = 0; slot < COUNT; slot++) {
        assert_int_equal(first_byte(image, PUG_SPACE_N, slot * 0x20 + 15), bytes[slot + 15]);
        assert_int_equal(first_byte(image, PUG_SPACE_N, slot * 0x20 + 16), -1);
    }
    for (uint64_t slot = 0; slot < COUNT; slot += 2)
        assert_int_equal(pug_image_remove(image, slot * 0x20, PUG_SPACE_ANY), PUG_OK);
    for (uint64_t slot = 0; slot < COUNT; slot++)
        assert_int_equal(first_byte(image, PUG_SPACE_N, slot * 0x20), slot % 2 ? bytes[slot] : -1);
    pug_image_free(image);
}

static int setup(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(bytes); i++)
        bytes[i] = pattern(i);
    return mkdtemp(folder) ? 0 : -1;
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
        cmocka_unit_test(spaces_have_names),
        cmocka_unit_test(ranges_are_checked),
        cmocka_unit_test(no_place_is_everywhere),
        cmocka_unit_test(no_place_is_everywhere_for_each_kind),
        cmocka_unit_test(odd_buffers_are_read_whole),
        cmocka_unit_test(overlaps_are_refused),
        cmocka_unit_test(reads_end_with_memory),
        cmocka_unit_test(memory_can_be_removed),
        cmocka_unit_test(the_most_specific_answers),
        cmocka_unit_test(callbacks_answer),
        cmocka_unit_test(files_are_read_in_pieces),
        cmocka_unit_test(files_are_checked),
        cmocka_unit_test(each_region_has_its_own_offset),
        cmocka_unit_test(files_of_any_length_anywhere),
        cmocka_unit_test(memory_behind),
        cmocka_unit_test(files_can_get_more_regions),
        cmocka_unit_test(reference_files),
        cmocka_unit_test(threads_share_an_image),
        cmocka_unit_test(many_ranges),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
