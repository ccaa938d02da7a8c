// SPDX-License-Identifier: MIT
/**
 * @file The search for an ASYNC passes over bytes that cannot begin one; where packets are watched
 * it looks at each. Both find the same, and count the same bytes.
 */
#include "pugmark/pugmark.h"
#include "recorder/bytes.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#define MOST 4096u

struct found {
    uint64_t hash, elements, unsynced, used;
};

static enum pug_response take(void *context, const struct pug_element *elements, size_t count,
                              size_t *taken)
{
    struct found *found = context;
    const uint8_t *bytes = (const uint8_t *)elements;
    for (size_t i = 0; i < count * sizeof(*elements); i++)
        found->hash = (found->hash ^ bytes[i]) * UINT64_C(1099511628211);
    found->elements += count;
    *taken = count;
    return PUG_RESP_CONT;
}

static void watch(void *context, enum pug_op op, const struct pug_packet *packet)
{
    (void)context;
    (void)op;
    (void)packet;
}

static struct found search(const uint8_t *bytes, size_t size, size_t block, bool watched)
{
    const struct pug_setting settings[] = {
        {.name = "TRCIDR0", .value = 0x28000EA1}, {.name = "TRCIDR1", .value = 0x4100F403},
        {.name = "TRCIDR2", .value = 0x00000488}, {.name = "TRCTRACEIDR", .value = 0x10},
        {.name = "arch", .value = PUG_ARCH_V8},   {.name = "profile", .value = PUG_PROFILE_A},
    };
    const struct pug_source_config config = {
        .protocol = "ETMV4I",
        .settings = {.items = settings, .count = sizeof(settings) / sizeof(settings[0])},
        .decode = true};
    struct found found = {0};
    struct pug_image *image = pug_image_new();
    struct pug_tree *tree;
    struct pug_source *source;
    assert_int_equal(
        pug_tree_new(&(struct pug_tree_config){.transport = "plain", .image = image}, &tree),
        PUG_OK);
    assert_int_equal(pug_tree_add_source(tree, &config, &source), PUG_OK);
    pug_tree_on_elements(tree, take, &found);
    if (watched)
        pug_source_monitor(source, watch, NULL);
    for (size_t at = 0, used; at < size; at += used) {
        const size_t left = size - at;
        assert_true(pug_tree_data(tree, at, bytes + at, left < block ? left : block, &used) <
                    PUG_RESP_WAIT);
        found.used += used;
    }
    assert_true(pug_tree_end(tree) < PUG_RESP_WAIT);
    found.unsynced = pug_source_stats(source)->unsynced;
    pug_tree_free(tree);
    pug_image_free(image);
    return found;
}

/** Zeros, ones, noise or noise that is mostly zeros, so many of each that all places are met. */
static size_t make(uint8_t *bytes, struct rec_random *random)
{
    static const uint8_t begin[] = {0, 0,    0,    0, 0,    0, 0, 0, 0, 0, 0,    0x80, 0x01, 0,
                                    4, 0x9D, 0x10, 8, 0x40, 0, 0, 0, 0, 0, 0x81, 0x10, 0xF7};
    size_t size = 0;
    for (unsigned n = 1 + (unsigned)rec_random_below(random, 5); n > 0; n--) {
        const unsigned kind = (unsigned)rec_random_below(random, 4);
        for (size_t left = rec_random_below(random, 200); left > 0; left--) {
            uint8_t byte = (uint8_t)rec_random_below(random, 256);
            if (kind == 3 && !rec_random_once_in(random, 14))
                byte = 0;
            bytes[size++] = kind == 0 ? 0 : kind == 1 ? 0xff : byte;
        }
    }
    memcpy(bytes + size, begin, sizeof(begin));
    return size + sizeof(begin);
}

static void test_search(void **state)
{
    static const size_t blocks[] = {1, 7, 64, SIZE_MAX};
    struct rec_random random = {.state = 3};
    uint8_t bytes[MOST];
    uint64_t begun = 0;
    (void)state;
    for (unsigned n = 0; n < 2000; n++) {
        const size_t size = make(bytes, &random);
        const struct found watched = search(bytes, size, SIZE_MAX, true);
        begun += watched.elements > 2;
        for (size_t i = 0; i < sizeof(blocks) / sizeof(blocks[0]); i++) {
            const struct found found = search(bytes, size, blocks[i], false);
            assert_int_equal(found.elements, watched.elements);
            assert_int_equal(found.hash, watched.hash);
            assert_int_equal(found.unsynced, watched.unsynced);
            assert_int_equal(found.used, size);
        }
    }
    assert_true(begun > 1500); /* most traces do begin */
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_search)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
