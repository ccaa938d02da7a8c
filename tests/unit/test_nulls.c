// SPDX-License-Identifier: MIT
/** @file NULL where something must be is an error, everywhere, and freeing nothing does nothing. */
#include "pugmark/pugmark.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

#define REFUSED(call) assert_int_equal((call), PUG_ERR_INVALID_PARAM_VAL)

static const uint8_t byte;

static void captures_and_snapshots(void **state)
{
    (void)state;
    struct pug_snapshot *snapshot = NULL;
    struct pug_trace *trace = NULL;
    struct pug_params *params = NULL;
    struct pug_capture *capture = NULL;
    struct pug_tree *tree = NULL;
    REFUSED(pug_snapshot_open(NULL, NULL, &snapshot));
    REFUSED(pug_snapshot_open("x", NULL, NULL));
    assert_int_equal(pug_snapshot_open("/nonexistent", NULL, &snapshot), PUG_ERR_FILE);
    assert_null(snapshot);
    REFUSED(pug_snapshot_tree(NULL, NULL, NULL, &tree));
    REFUSED(pug_trace_open(NULL, NULL, &trace));
    REFUSED(pug_params_load(NULL, NULL, &params));
    REFUSED(pug_params_load("x", NULL, NULL));
    REFUSED(pug_capture_open(NULL, NULL, &capture));
    REFUSED(pug_capture_open("x", NULL, NULL));
    REFUSED(pug_capture_decode(NULL, NULL, NULL));
    pug_snapshot_free(NULL);
    pug_params_free(NULL);
    pug_capture_free(NULL);
    pug_trace_close(NULL);
}

static void decoding_and_indexes(void **state)
{
    (void)state;
    struct pug_tree *tree;
    struct pug_index *index = NULL;
    struct pug_index_mark mark;
    struct pug_jobs_result result;
    assert_int_equal(pug_tree_new(&(struct pug_tree_config){0}, &tree), PUG_OK);
    REFUSED(pug_tree_decode(NULL, NULL, &byte, 1, &result));
    REFUSED(pug_tree_decode(tree, NULL, NULL, 1, &result));
    assert_int_equal(pug_tree_decode(tree, NULL, &byte, 1, NULL), PUG_OK);
    REFUSED(pug_index_build(NULL, &byte, 1, NULL, &index));
    REFUSED(pug_index_build(tree, NULL, 1, NULL, &index));
    REFUSED(pug_index_build(tree, &byte, 1, NULL, NULL));
    REFUSED(pug_index_extend(NULL, tree, &byte, 1, NULL, &index));
    REFUSED(pug_index_save(NULL, "x"));
    REFUSED(pug_index_load(NULL, &byte, 1, 0, &index));
    REFUSED(pug_index_parse(NULL, 1, &byte, 1, 0, &index));
    REFUSED(pug_index_find(NULL, tree, &byte, 1, NULL, &mark));
    REFUSED(pug_tree_on_frames(NULL, NULL, NULL, 0));
    REFUSED(pug_tree_memory_page(NULL, 64));
    REFUSED(pug_source_sink(NULL, NULL, NULL));
    pug_tree_free(tree);
    pug_index_free(NULL);
}

static void memory(void **state)
{
    (void)state;
    const struct pug_region region = {0, 0, 0};
    struct pug_image *image = pug_image_new();
    REFUSED(pug_image_add_elf(image, NULL, NULL, 0));
    REFUSED(pug_image_add_elf(NULL, NULL, "x", 0));
    REFUSED(pug_image_add_file(image, NULL, NULL, &region, 1));
    REFUSED(pug_image_add_file(image, NULL, "x", NULL, 1));
    REFUSED(pug_image_update_file(NULL, "x", &region, 1));
    REFUSED(pug_image_add_callback(NULL, NULL, 0, 1, NULL, NULL));
    REFUSED(pug_image_remove(NULL, 0, PUG_SPACE_ANY));
    assert_false(pug_image_has_file(image, NULL));
    pug_image_free(image);
}

/* A log that is NULL swallows all, and a list of settings that is NULL has none. */
static void logs_settings_and_names(void **state)
{
    (void)state;
    enum pug_arch arch;
    enum pug_arch_profile profile;
    const struct pug_log_record record = {.severity = PUG_SEV_ERROR, .code = PUG_ERR_FAIL};
    pug_log_put(NULL, &record);
    pug_log_set_verbosity(NULL, PUG_SEV_INFO);
    pug_log_set_sink(NULL, NULL, NULL);
    pug_log_set_file(NULL, NULL);
    assert_int_equal(pug_log_verbosity(NULL), PUG_SEV_NONE);
    assert_int_equal(pug_log_errors(NULL) + pug_log_warnings(NULL), 0);
    assert_null(pug_log_last(NULL));
    pug_log_free(NULL);
    assert_null(pug_settings_find(NULL, "x"));
    assert_int_equal(pug_settings_number(NULL, "x", 7), 7);
    assert_false(pug_core_by_name(NULL, &arch, &profile));
    assert_non_null(pug_isa_name((enum pug_isa)99));
    assert_non_null(pug_element_type_name((enum pug_element_type)99));
    assert_int_equal(pug_space_by_name(NULL), PUG_SPACE_ANY);
    assert_int_equal(pug_space_text(PUG_SPACE_EL3, NULL, 0), 3);
    assert_true(pug_element_text(&(struct pug_element){.type = 0}, NULL, 0) > 0);
    assert_string_not_equal(pug_version(), "");
    assert_non_null(pug_features());
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(captures_and_snapshots),
        cmocka_unit_test(decoding_and_indexes),
        cmocka_unit_test(memory),
        cmocka_unit_test(logs_settings_and_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
