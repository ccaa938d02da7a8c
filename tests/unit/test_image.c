// SPDX-License-Identifier: MIT
/** @file Program memory: what can be added, what is read, who sees what. */
#include "support/memory.h"

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
        {0x1001, 4, PUG_OK, PUG_ERR_MEMORY_RANGE},
        {0x1000, 5, PUG_OK, PUG_ERR_MEMORY_RANGE},
        {0x1000, 3, PUG_OK, PUG_ERR_INVALID_PARAM_VAL},
        {0x1001, 1, PUG_OK, PUG_ERR_INVALID_PARAM_VAL},
        {0x1000, 0, PUG_ERR_INVALID_PARAM_VAL, PUG_ERR_INVALID_PARAM_VAL},
        {UINT64_MAX - 3, 4, PUG_OK, PUG_OK},
        {UINT64_MAX - 3, 6, PUG_ERR_MEMORY_RANGE, PUG_ERR_MEMORY_RANGE},
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

/* The same for files, ELF files and callbacks. */
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

/* Memory at odd places is read in the same way as at even ones. */
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
        {0x1000, 0x1000, PUG_SPACE_ANY, PUG_ERR_MEMORY_OVERLAP},
        {0x1800, 0x1000, PUG_SPACE_EL1N, PUG_ERR_MEMORY_OVERLAP},
        {0x0800, 0x1000, PUG_SPACE_ANY, PUG_ERR_MEMORY_OVERLAP},
        {0x1ffe, 0x10, PUG_SPACE_ANY, PUG_ERR_MEMORY_OVERLAP},
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

static uint32_t remove_itself(void *context, uint64_t address, const struct pug_reader_space *space,
                              uint32_t wanted, uint8_t *buffer)
{
    (void)space;
    assert_int_equal(pug_image_remove(context, address, PUG_SPACE_ANY), PUG_OK);
    memset(buffer, 0x77, wanted);
    return wanted / 2;
}

static void who_is_read_may_remove_itself(void **state)
{
    (void)state;
    uint8_t buffer[8];
    for (unsigned quirk = 0; quirk < 2; quirk++) {
        struct pug_image *image = pug_image_new();
        set_quirk(image, quirk);
        assert_int_equal(
            pug_image_add_callback(image, &anywhere, 0x1000, 0x1fff, remove_itself, image), PUG_OK);
        assert_int_equal(read_at(image, PUG_SPACE_ANY, 0x1000, buffer, 8), 4);
        assert_int_equal(first_byte(image, PUG_SPACE_ANY, 0x1000), -1);
        pug_image_free(image);
    }
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
                     PUG_ERR_MEMORY_OVERLAP);
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
    assert_int_equal(pug_image_read(image, &reader, 0x2000, buffer, 8), PUG_ERR_MEMORY_CALLBACK);
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
    return 0;
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
        cmocka_unit_test(who_is_read_may_remove_itself),
        cmocka_unit_test(the_most_specific_answers),
        cmocka_unit_test(callbacks_answer),
        cmocka_unit_test(many_ranges),
    };
    return cmocka_run_group_tests(tests, setup, NULL);
}
