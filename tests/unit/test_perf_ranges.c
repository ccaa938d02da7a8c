// SPDX-License-Identifier: MIT
/** @file Versions of an address space: each against a plain list of what every address holds. */
#include "perfdata/ranges.h"
#include "recorder/bytes.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define PLACES   256u
#define VERSIONS 64u

/** What each address holds: an object (0: nothing), and the offset in it. */
struct plain {
    uint32_t objects[PLACES];
    uint64_t offsets[PLACES];
};

struct kept {
    struct pug_perf_node *tree;
    struct plain plain;
};

static void check(const struct pug_perf_node *tree, const struct plain *plain)
{
    for (unsigned at = 0; at < PLACES; at++) {
        uint64_t first, last;
        const struct pug_perf_range *found = pug_perf_ranges_find(tree, at, &first, &last);
        assert_true(first <= at && at <= last);
        assert_int_equal(found ? found->object : 0, plain->objects[at]);
        if (found)
            assert_int_equal(found->offset + (at - found->start), plain->offsets[at]);
        /* what is said of an address holds for all that are said to be like it */
        for (uint64_t near = first; near <= last && near < PLACES; near++)
            assert_int_equal(plain->objects[near], plain->objects[at]);
    }
}

static void replace(struct pug_perf_nodes *nodes, struct kept *now, struct rec_random *random,
                    uint32_t object)
{
    const unsigned a = rec_random_below(random, PLACES), b = rec_random_below(random, PLACES);
    const unsigned first = a < b ? a : b, last = a < b ? b : a;
    const bool empty = rec_random_once_in(random, 5);
    const struct pug_perf_range range = {
        .start = first, .last = last, .offset = 1000 * object, .object = object};
    bool touched = false;
    for (unsigned at = first; at <= last; at++)
        touched |= now->plain.objects[at] != 0;
    assert_int_equal(pug_perf_ranges_touch(now->tree, first, last), touched);
    assert_true(pug_perf_ranges_replace(nodes, &now->tree, first, last, empty ? NULL : &range));
    for (unsigned at = first; at <= last; at++) {
        now->plain.objects[at] = empty ? 0 : object;
        now->plain.offsets[at] = range.offset + (at - first);
    }
}

/** Whatever is changed, what was kept before stays as it was. */
static void test_versions(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 20; seed++) {
        struct pug_perf_nodes nodes = {0};
        struct kept now = {0}, kept[VERSIONS] = {{0}};
        struct rec_random random = {.state = seed};
        for (uint32_t step = 1; step <= 400; step++) {
            struct kept *slot = &kept[rec_random_below(&random, VERSIONS)];
            replace(&nodes, &now, &random, step);
            if (!rec_random_once_in(&random, 3))
                continue;
            pug_perf_ranges_drop(&nodes, slot->tree);
            *slot = now;
            pug_perf_ranges_hold(now.tree);
        }
        check(now.tree, &now.plain);
        for (unsigned i = 0; i < VERSIONS; i++)
            check(kept[i].tree, &kept[i].plain);
        for (unsigned i = 0; i < VERSIONS; i++)
            pug_perf_ranges_drop(&nodes, kept[i].tree);
        pug_perf_ranges_drop(&nodes, now.tree);
        /* all nodes came back */
        assert_int_equal(nodes.free_count, nodes.slabs.count * 2048);
        pug_perf_nodes_free(&nodes);
    }
}

/** Versions of many ranges share what is alike: each costs a path, not a copy. */
static void test_sharing(void **state)
{
    struct pug_perf_nodes nodes = {0};
    struct pug_perf_node *now = NULL, **versions = calloc(20000, sizeof(struct pug_perf_node *));
    struct rec_random random = {.state = 7};
    (void)state;
    assert_non_null(versions);
    for (uint32_t i = 0; i < 20000; i++) {
        /* in the order of addresses, which is the worst for a tree that is not balanced */
        const struct pug_perf_range range = {
            .start = 16 * (uint64_t)i, .last = 16 * (uint64_t)i + 7, .object = i};
        assert_true(pug_perf_ranges_replace(&nodes, &now, range.start, range.last, &range));
    }
    assert_int_equal(pug_perf_ranges_count(now), 20000);
    for (uint32_t i = 0; i < 20000; i++) {
        versions[i] = pug_perf_ranges_hold(now);
        const uint64_t start = 16 * (uint64_t)rec_random_below(&random, 20000);
        const struct pug_perf_range range = {.start = start, .last = start + 7, .object = i};
        assert_true(pug_perf_ranges_replace(&nodes, &now, start, start + 7, &range));
    }
    assert_true(nodes.slabs.count * 2048 < 20000u * 40);
    free(versions);
    pug_perf_nodes_free(&nodes);
}

/** The last address there is can be in a range. */
static void test_ends(void **state)
{
    struct pug_perf_nodes nodes = {0};
    struct pug_perf_node *tree = NULL;
    uint64_t first, last;
    const struct pug_perf_range all = {.last = UINT64_MAX, .object = 1};
    const struct pug_perf_range top = {
        .start = UINT64_MAX - 7, .last = UINT64_MAX, .object = 2, .offset = 5};
    (void)state;
    assert_true(pug_perf_ranges_replace(&nodes, &tree, 0, UINT64_MAX, &all));
    assert_true(pug_perf_ranges_replace(&nodes, &tree, top.start, top.last, &top));
    assert_int_equal(pug_perf_ranges_find(tree, UINT64_MAX, &first, &last)->object, 2);
    assert_int_equal(pug_perf_ranges_find(tree, UINT64_MAX - 8, &first, &last)->object, 1);
    assert_int_equal(last, UINT64_MAX - 8);
    assert_true(pug_perf_ranges_replace(&nodes, &tree, 0, UINT64_MAX, NULL));
    assert_null(tree);
    assert_null(pug_perf_ranges_find(tree, 3, &first, &last));
    assert_true(first == 0 && last == UINT64_MAX);
    pug_perf_nodes_free(&nodes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_versions),
        cmocka_unit_test(test_sharing),
        cmocka_unit_test(test_ends),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
