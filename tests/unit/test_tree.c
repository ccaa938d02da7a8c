// SPDX-License-Identifier: MIT
/** @file The decode tree: what is missing is an error, and a tree costs what its sources cost. */
#include "pugmark/pugmark.h"
#include "tree/embed.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

#define DIRT ((void *)0x10)

static struct pug_tree *framed_tree(void)
{
    struct pug_tree *tree = DIRT;
    assert_int_equal(pug_tree_new(&(struct pug_tree_config){.transport = "coresight"}, &tree),
                     PUG_OK);
    return tree;
}

/** An STM at a trace id. */
static enum pug_status add_stm(struct pug_tree *tree, uint16_t id, struct pug_source **source)
{
    const struct pug_setting settings[] = {{.name = "STMTCSR", .value = (uint64_t)id << 16}};
    return pug_tree_add_source(
        tree,
        &(struct pug_source_config){
            .protocol = "STM", .settings = {.items = settings, .count = 1}, .decode = true},
        source);
}

static void what_is_missing_is_an_error(void **state)
{
    (void)state;
    struct pug_tree *tree = DIRT, *clone = DIRT;
    struct pug_source *source = DIRT;
    assert_int_equal(pug_tree_new(NULL, &tree), PUG_ERR_INVALID_PARAM_VAL);
    assert_null(tree);
    assert_int_equal(pug_tree_new(&(struct pug_tree_config){0}, NULL), PUG_ERR_INVALID_PARAM_VAL);
    tree = DIRT;
    assert_int_equal(pug_tree_new(&(struct pug_tree_config){.transport = "pigeon"}, &tree),
                     PUG_ERR_UNKNOWN_NAME);
    assert_null(tree);
    tree = framed_tree();
    assert_int_equal(pug_tree_add_source(tree, NULL, &source), PUG_ERR_INVALID_PARAM_VAL);
    assert_null(source);
    assert_int_equal(pug_tree_add_source(tree, &(struct pug_source_config){0}, &source),
                     PUG_ERR_INVALID_PARAM_VAL);
    assert_int_equal(
        pug_tree_add_source(tree, &(struct pug_source_config){.protocol = "SMOKE"}, &source),
        PUG_ERR_UNKNOWN_NAME);
    assert_int_equal(
        pug_tree_add_source(NULL, &(struct pug_source_config){.protocol = "STM"}, NULL),
        PUG_ERR_INVALID_PARAM_VAL);
    assert_int_equal(pug_tree_remove_source(tree, 0x10), PUG_ERR_INVALID_ID);
    assert_int_equal(pug_tree_remove_source(NULL, 0x10), PUG_ERR_INVALID_PARAM_VAL);
    assert_int_equal(pug_tree_clone(NULL, NULL, &clone), PUG_ERR_INVALID_PARAM_VAL);
    assert_int_equal(pug_tree_clone(tree, NULL, NULL), PUG_ERR_INVALID_PARAM_VAL);
    assert_int_equal(pug_tree_end(NULL), PUG_RESP_FATAL_INVALID_PARAM);
    assert_null(pug_protocol_find(NULL));
    assert_null(pug_transport_find(NULL));
    assert_int_equal(pug_protocol_register(NULL), PUG_ERR_INVALID_PARAM_VAL);
    assert_int_equal(pug_protocol_unregister(NULL), PUG_ERR_UNKNOWN_NAME);
    pug_tree_free(tree);
    pug_tree_free(NULL);
}

static void sources_sit_at_their_ids(void **state)
{
    (void)state;
    struct pug_tree *tree = framed_tree();
    struct pug_source *low, *high;
    assert_int_equal(add_stm(tree, 0x60, &high), PUG_OK);
    assert_int_equal(add_stm(tree, 0x12, &low), PUG_OK);
    assert_int_equal(add_stm(tree, 0x12, NULL), PUG_ERR_TAKEN);
    assert_ptr_equal(pug_tree_source(tree, 0x12), low);
    assert_ptr_equal(pug_tree_source_at(tree, 0), low);
    assert_ptr_equal(pug_tree_source_at(tree, 1), high);
    assert_null(pug_tree_source_at(tree, 2));
    assert_null(pug_tree_source(tree, 0x13));
    assert_null(pug_tree_source(tree, 0xffff));
    assert_int_equal(pug_tree_remove_source(tree, 0x12), PUG_OK);
    assert_null(pug_tree_source(tree, 0x12));
    assert_ptr_equal(pug_tree_source_at(tree, 0), high);
    pug_tree_free(tree);
}

static void slots_are_enabled_one_by_one_or_all(void **state)
{
    (void)state;
    static const uint16_t ids[] = {0, 7, 0x12, 0x8000, 0xffff};
    struct pug_tree *tree = framed_tree(), *clone;
    assert_int_equal(add_stm(tree, 0x12, NULL), PUG_OK);
    for (unsigned pass = 0; pass < 2; pass++) {
        pug_tree_enable_all(tree, pass == 0);
        for (size_t i = 0; i < 5; i++)
            assert_int_equal(pug_tree_is_enabled(tree, ids[i]), pass == 0);
        assert_int_equal(pug_tree_enable(tree, 0xffff, pass == 1), PUG_OK);
        assert_int_equal(pug_tree_enable(tree, 0x12, pass == 1), PUG_OK);
        assert_int_equal(pug_tree_enable(tree, 0x12, pass == 1), PUG_OK); /* once more */
        assert_int_equal(pug_tree_clone(tree, NULL, &clone), PUG_OK);
        for (size_t i = 0; i < 5; i++) {
            bool other = ids[i] == 0x12 || ids[i] == 0xffff;
            assert_int_equal(pug_tree_is_enabled(tree, ids[i]), other == (pass == 1));
            assert_int_equal(pug_tree_is_enabled(clone, ids[i]), other == (pass == 1));
        }
        pug_tree_free(clone);
    }
    pug_tree_enable_all(tree, true);
    assert_true(pug_tree_is_enabled(tree, 0x12));
    pug_tree_free(tree);
}

static void each_status_has_words(void **state)
{
    (void)state;
    for (int code = 0; code >= PUG_ERR_TRACE_SETTINGS; code--) {
        if (code < PUG_ERR_WRONG_PROGRAM && code > PUG_ERR_TRUNCATED)
            continue;
        assert_string_not_equal(pug_status_text((enum pug_status)code), "unknown status");
        assert_string_not_equal(pug_status_help((enum pug_status)code), "");
        assert_int_equal(pug_status_reference_name((enum pug_status)code) != NULL,
                         code >= PUG_ERR_WRONG_PROGRAM);
    }
    assert_string_equal(pug_status_text((enum pug_status) - 50), "unknown status");
    assert_string_equal(pug_status_help((enum pug_status)1), "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_missing_is_an_error),
        cmocka_unit_test(sources_sit_at_their_ids),
        cmocka_unit_test(slots_are_enabled_one_by_one_or_all),
        cmocka_unit_test(each_status_has_words),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
