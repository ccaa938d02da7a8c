// SPDX-License-Identifier: MIT
/**
 * @file A tree that was reset knows no more than a new one: whoever writes its state to find out
 * whether another reads the same (threads, indexes) depends on that.
 */
#include "pugmark/pugmark.h"
#include "support/captures.h"
#include "support/outcome.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#define BLOCK ((size_t)256)

static enum pug_response take(void *context, const struct pug_element *elements, size_t count,
                              size_t *taken)
{
    (void)taken;
    for (size_t i = 0; i < count; i++)
        outcome_add(context, outcome_hash(&elements[i]));
    return PUG_RESP_CONT;
}

static bool same_state(const struct pug_tree *a, const struct pug_tree *b)
{
    struct pug_state first = {0}, other = {0};
    const bool same =
        pug_tree_state(a, &first) && pug_tree_state(b, &other) && pug_state_equal(&first, &other);
    pug_state_free(&first);
    pug_state_free(&other);
    return same;
}

/**
 * Read on with both: states that were equal stay equal, and so are the elements from there on.
 * True: they became equal.
 */
static bool compare(struct pug_tree *reset, struct pug_tree *fresh, const uint8_t *bytes,
                    size_t from, size_t size, size_t block)
{
    struct outcome of_reset = {0}, of_fresh = {0};
    bool met = same_state(reset, fresh);
    for (size_t end; from < size; from = end) {
        uint64_t at = from, also = from;
        end = size - from < block ? size : from + block;
        pug_tree_on_elements(reset, take, met ? &of_reset : &(struct outcome){0});
        pug_tree_on_elements(fresh, take, met ? &of_fresh : &(struct outcome){0});
        const enum pug_response response = pug_tree_feed(reset, bytes, &at, end);
        assert_int_equal(response, pug_tree_feed(fresh, bytes, &also, end));
        assert_int_equal(at, also);
        if (at < end)
            break;
        const bool same = same_state(reset, fresh);
        assert_true(same || !met);
        met = same;
    }
    assert_true(outcome_equals(&of_reset, &of_fresh));
    return met;
}

/* ---- captures ---- */

static struct pug_tree *tree_of(const struct capture *capture)
{
    struct pug_tree *tree = NULL;
    assert_int_equal(pug_snapshot_tree(capture->snapshot, capture->buffer,
                                       &(struct pug_snapshot_tree_config){.decode = true}, &tree),
                     PUG_OK);
    return tree;
}

static void one_capture(struct capture *capture, void *context)
{
    struct pug_tree *reset = tree_of(capture), *fresh = tree_of(capture);
    const size_t size = capture->size < 100000 ? capture->size : 100000;
    uint64_t at = 0;
    (void)context;
    (void)pug_tree_feed(reset, capture->bytes, &at, size / 2);
    assert_true(PUG_RESP_IS_CONT(pug_tree_reset(reset)));
    (void)compare(reset, fresh, capture->bytes, size / 4 & ~(size_t)15, size, BLOCK);
    pug_tree_free(reset);
    pug_tree_free(fresh);
}

static void test_captures(void **state)
{
    captures_each(*(const enum captures *)*state, one_capture, NULL);
}

/* ---- what no recorder sends ---- */

/** Contexts have no ids where these are unchanged; after a reset nothing precedes them. */
static void test_etmv4_context_without_ids(void **state)
{
    static const struct pug_setting settings[] = {{"TRCIDR0", 0x28000ea1, NULL},
                                                  {"TRCIDR1", 0x4100f421, NULL},
                                                  {"TRCIDR2", 0x00000488, NULL},
                                                  {"TRCCONFIGR", 0xc1, NULL}};
    static const uint8_t bytes[] = {/* ASYNC, TRACE INFO, CONTEXT with VMID and context id */
                                    0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x80, 0x01, 0x00, 0x81, 0xf1,
                                    0x34, 0x12, 0x78, 0x56, 0x34,
                                    /* ASYNC, TRACE INFO, CONTEXT without them */
                                    0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x80, 0x01, 0x00, 0x81, 0x31};
    const size_t second = 21;
    struct pug_tree *trees[2] = {NULL};
    (void)state;
    for (unsigned i = 0; i < 2; i++) {
        assert_int_equal(pug_tree_new(&(struct pug_tree_config){.transport = "plain"}, &trees[i]),
                         PUG_OK);
        assert_int_equal(pug_tree_add_source(trees[i],
                                             &(struct pug_source_config){
                                                 .protocol = "ETMV4I",
                                                 .settings = {.items = settings, .count = 4},
                                                 .decode = true},
                                             NULL),
                         PUG_OK);
    }
    uint64_t at = 0;
    (void)pug_tree_feed(trees[0], bytes, &at, second);
    assert_true(PUG_RESP_IS_CONT(pug_tree_reset(trees[0])));
    assert_true(compare(trees[0], trees[1], bytes, second, sizeof(bytes), 1));
    pug_tree_free(trees[0]);
    pug_tree_free(trees[1]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST_CAPTURES(test_captures),
        cmocka_unit_test(test_etmv4_context_without_ids),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
