// SPDX-License-Identifier: MIT
/** @file NULL where something must be is an error, everywhere, and freeing nothing does nothing. */
#include "pugmark/advanced/capture.h"
#include "pugmark/advanced/consumer.h"
#include "pugmark/advanced/correlate.h"
#include "pugmark/advanced/counts.h"
#include "pugmark/advanced/encapsulation.h"
#include "pugmark/advanced/image.h"
#include "pugmark/advanced/index.h"
#include "pugmark/advanced/isa.h"
#include "pugmark/advanced/jobs.h"
#include "pugmark/advanced/params.h"
#include "pugmark/advanced/peers.h"
#include "pugmark/advanced/settings.h"
#include "pugmark/advanced/snapshot.h"
#include "pugmark/advanced/state.h"
#include "pugmark/advanced/tree.h"
#include "pugmark/pugmark.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

#define REFUSED(call) assert_int_equal((call), PUG_ERR_INVALID_PARAM_VAL)

static const uint8_t byte;

/** A call that is to make something fails, and what was there before is not taken for it. */
#define MAKES_NOTHING(made, call)                                                                  \
    do {                                                                                           \
        static uint64_t before;                                                                    \
        (made) = (void *)&before;                                                                  \
        assert_int_not_equal((call), PUG_OK);                                                      \
        assert_null(made);                                                                         \
    } while (0)

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
    uint64_t at = 0;
    assert_int_equal(pug_tree_feed(NULL, &byte, &at, 1), PUG_RESP_FATAL_INVALID_PARAM);
    assert_int_equal(pug_tree_feed(tree, &byte, NULL, 1), PUG_RESP_FATAL_INVALID_PARAM);
    assert_int_equal(pug_tree_feed(tree, NULL, &at, 1), PUG_RESP_FATAL_INVALID_PARAM);
    assert_int_equal(at, 0);
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
    uint8_t bytes[4];
    REFUSED(pug_image_read(NULL, NULL, 0, bytes, sizeof(bytes)));
    REFUSED(pug_image_read(image, NULL, 0, NULL, sizeof(bytes)));
    assert_int_equal(pug_image_read(image, NULL, 0, bytes, sizeof(bytes)), 0);
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

static void what_fails_makes_nothing(void **state)
{
    (void)state;
    struct pug_params *params;
    struct pug_snapshot *snapshot;
    struct pug_trace *trace;
    struct pug_capture *capture;
    struct pug_origin_reader *origin_reader;
    struct pug_tree *tree;
    struct pug_source *source;
    struct pug_encapsulation *reader;
    const struct pug_setting wrong = {.name = "src_bits", .value = 99};
    MAKES_NOTHING(params, pug_params_load(NULL, NULL, &params));
    MAKES_NOTHING(params, pug_params_load("/nonexistent", NULL, &params));
    MAKES_NOTHING(snapshot, pug_snapshot_open("/nonexistent", NULL, &snapshot));
    MAKES_NOTHING(tree, pug_snapshot_tree(NULL, NULL, NULL, &tree));
    MAKES_NOTHING(trace, pug_trace_open(NULL, NULL, &trace));
    MAKES_NOTHING(capture, pug_capture_open("/nonexistent", NULL, &capture));
    MAKES_NOTHING(tree, pug_capture_tree(NULL, 0, true, NULL, &tree));
    MAKES_NOTHING(origin_reader, pug_origin_reader_new(NULL, NULL, false, &origin_reader));
    MAKES_NOTHING(tree, pug_tree_new(&(struct pug_tree_config){.transport = "none"}, &tree));
    MAKES_NOTHING(tree, pug_tree_clone(NULL, NULL, &tree));
    MAKES_NOTHING(source, pug_tree_add_source(NULL, NULL, &source));
    MAKES_NOTHING(reader,
                  pug_encapsulation_new(&(struct pug_settings){&wrong, 1, NULL}, NULL, &reader));
}

static void what_fails_makes_no_index(void **state)
{
    (void)state;
    const struct pug_index_options small = {.block = 1};
    struct pug_index *index, *whole;
    struct pug_indexer *indexer;
    struct pug_tree *tree;
    assert_int_equal(pug_tree_new(&(struct pug_tree_config){0}, &tree), PUG_OK);
    assert_int_equal(pug_index_build(tree, &byte, 1, NULL, &whole), PUG_OK);
    MAKES_NOTHING(index, pug_index_build(tree, &byte, 1, &small, &index));
    MAKES_NOTHING(index, pug_index_extend(whole, tree, &byte, 0, NULL, &index));
    MAKES_NOTHING(index, pug_index_extend(NULL, tree, &byte, 1, NULL, &index));
    MAKES_NOTHING(index, pug_index_load("/nonexistent", &byte, 1, 0, &index));
    MAKES_NOTHING(index, pug_index_parse(&byte, 1, &byte, 1, 0, &index));
    MAKES_NOTHING(indexer, pug_indexer_new(tree, &small, &indexer));
    MAKES_NOTHING(index, pug_indexer_index(NULL, &byte, 1, &index));
    MAKES_NOTHING(index, pug_indexer_finish(NULL, &byte, 1, &index));
    pug_index_free(whole);
    pug_tree_free(tree);
}

static void what_fails_makes_no_view(void **state)
{
    (void)state;
    const struct pug_names_wanted nowhere = {.path = "/nonexistent"};
    struct pug_names *names = pug_names_new(NULL);
    struct pug_names_file *file;
    struct pug_profile *profile;
    struct pug_cursor *cursor;
    struct pug_walk *walk;
    struct pug_calls *calls;
    struct pug_correlate *correlate;
    uint8_t *bytes;
    size_t size;
    MAKES_NOTHING(file, pug_names_open(names, &nowhere, &file));
    MAKES_NOTHING(file, pug_names_open(NULL, &nowhere, &file));
    MAKES_NOTHING(file,
                  pug_names_open_text(names, PUG_NAMES_KALLSYMS, "/x", "/nonexistent", &file));
    MAKES_NOTHING(file, pug_names_open_text(names, PUG_NAMES_KALLSYMS, NULL, "/x", &file));
    MAKES_NOTHING(profile, pug_profile_read(&byte, 1, &profile));
    MAKES_NOTHING(profile, pug_profile_read(NULL, 0, &profile));
    MAKES_NOTHING(bytes, pug_profile_write(NULL, &bytes, &size));
    MAKES_NOTHING(cursor, pug_cursor_new(NULL, &cursor));
    MAKES_NOTHING(walk, pug_walk_new(NULL, &walk));
    MAKES_NOTHING(calls, pug_calls_new(NULL, &calls));
    MAKES_NOTHING(correlate, pug_correlate_new(NULL, &correlate));
    REFUSED(pug_profile_read(&byte, 1, NULL));
    pug_names_free(names);
}

static void swallow(void *context, const void *bytes, size_t size)
{
    (void)bytes;
    *(size_t *)context += size;
}

/* Of a recorded program: what is counted, and written, without options and with zeroed ones. */
static void options_that_are_null_are_as_usual(void **state)
{
    (void)state;
    const char *path = PUG_SOURCE_DIR "/tests/captures/etmv4-a64";
    const struct pug_export_options usual = {0};
    struct pug_capture *capture;
    struct pug_profile *with = pug_profile_new(), *without = pug_profile_new();
    size_t count, same, stacks = 0, differences = 0;
    assert_int_equal(pug_capture_open(path, NULL, &capture), PUG_OK);
    assert_int_equal(pug_profile_capture(with, capture, &(struct pug_profiler_options){0}, NULL),
                     PUG_OK);
    assert_int_equal(pug_profile_capture(without, capture, NULL, NULL), PUG_OK);
    pug_profile_ranges(with, &count);
    pug_profile_ranges(without, &same);
    assert_true(count > 0);
    assert_int_equal(same, count);
    assert_int_equal(pug_profile_brstack(capture, NULL, swallow, &stacks, NULL), PUG_OK);
    assert_int_equal(pug_export_diff(with, without, NULL, swallow, &differences), PUG_OK);
    assert_int_equal(pug_export(with, "table", NULL, swallow, &differences),
                     pug_export(with, "table", &usual, swallow, &differences));
    pug_profile_free(with);
    pug_profile_free(without);
    pug_capture_free(capture);
}

static void counting_on_no_jobs_is_as_usual(void **state)
{
    (void)state;
    struct pug_counts *counts = pug_counts_new();
    struct pug_tree *tree;
    assert_int_equal(pug_tree_new(&(struct pug_tree_config){0}, &tree), PUG_OK);
    assert_int_equal(pug_tree_count_all(tree, NULL, &byte, 1, counts, NULL), PUG_OK);
    pug_tree_free(tree);
    pug_counts_free(counts);
}

static bool give_nobody(void *context, const struct pug_correlated *elements, size_t count)
{
    (void)context;
    (void)elements;
    return count == 0;
}

static void one_null_among_others_is_refused(void **state)
{
    (void)state;
    const struct pug_index_query query = {0};
    const struct pug_isa_config config = {0};
    const struct pug_correlate_input nothing = {0};
    const uint8_t nop[4] = {0x1f, 0x20, 0x03, 0xd5};
    struct pug_insn insn;
    struct pug_correlate *correlate;
    REFUSED(pug_cursor_seek_mark(NULL, &query, NULL));
    REFUSED(pug_isa_classify(&config, PUG_ISA_A64, 0, nop, 4, NULL, &insn));
    assert_int_equal(
        pug_correlate_new(&(struct pug_correlate_config){.give = give_nobody}, &correlate), PUG_OK);
    REFUSED(pug_correlate_trees(correlate, &nothing, 1));
    pug_correlate_free(correlate);
}

static void *begin_part(void *context, unsigned worker)
{
    (void)worker;
    return context;
}

static void *begin_in_piece(void *context, unsigned worker, struct pug_piece *piece)
{
    (void)piece;
    return begin_part(context, worker);
}

static void take_elements(void *part, const struct pug_element *elements, size_t count)
{
    (void)part;
    (void)elements;
    (void)count;
}

static void take_situated(void *part, const struct pug_origin *origin,
                          const struct pug_element *elements, size_t count)
{
    (void)origin;
    take_elements(part, elements, count);
}

static bool take_part(void *context, void *part)
{
    return context == part;
}

static void drop_part(void *part)
{
    (void)part;
}

static void pack_part(const void *part, struct pug_state *bytes)
{
    (void)part;
    (void)bytes;
}

static void *unpack_part(void *context, const uint8_t *bytes, size_t size)
{
    (void)bytes;
    (void)size;
    return context;
}

/* Each of the functions that are called without a look is missing once. */
static void a_consumer_without_a_function_is_refused(void **state)
{
    (void)state;
    const struct pug_consumer whole = {.begin = begin_in_piece,
                                       .elements = take_situated,
                                       .take = take_part,
                                       .drop = drop_part,
                                       .pack = pack_part,
                                       .unpack = unpack_part};
    struct pug_consumer without[6] = {whole, whole, whole, whole, whole, whole};
    struct pug_jobs_result result;
    struct pug_tree *tree;
    without[0].begin = NULL;
    without[1].elements = NULL;
    without[2].take = NULL;
    without[3].drop = NULL;
    without[4].pack = NULL;
    without[5].unpack = NULL;
    assert_int_equal(pug_tree_new(&(struct pug_tree_config){0}, &tree), PUG_OK);
    for (size_t i = 0; i < 6; i++) {
        const struct pug_consumer consumers[] = {whole, without[i]};
        const struct pug_jobs jobs = {.consumers = consumers, .consumer_count = 2};
        REFUSED(pug_tree_decode(tree, &jobs, &byte, 1, &result));
    }
    REFUSED(pug_tree_decode(tree, &(struct pug_jobs){.consumer_count = 1}, &byte, 1, &result));
    pug_tree_free(tree);
}

static void a_consumer_of_a_capture_without_a_function_is_refused(void **state)
{
    (void)state;
    const struct pug_consumer whole = {
        .begin = begin_in_piece, .elements = take_situated, .take = take_part, .drop = drop_part};
    struct pug_consumer without[5] = {whole, whole, whole, whole, whole};
    struct pug_capture_result result;
    struct pug_capture *capture;
    without[0].begin = NULL;
    without[1].elements = NULL;
    without[2].take = NULL;
    without[3].drop = NULL;
    without[4].pack = pack_part;
    assert_int_equal(pug_capture_open(PUG_SOURCE_DIR "/tests/captures/etmv4-a64", NULL, &capture),
                     PUG_OK);
    for (size_t i = 0; i < 5; i++)
        REFUSED(pug_capture_decode(
            capture, &(struct pug_capture_decode){.consumers = &without[i], .consumer_count = 1},
            &result));
    REFUSED(pug_capture_decode(capture, &(struct pug_capture_decode){.threads = 1}, &result));
    pug_capture_free(capture);
}

static void send_nowhere(void *context, unsigned to, uint32_t channel, const void *bytes,
                         size_t size)
{
    (void)context;
    (void)to;
    (void)channel;
    (void)bytes;
    (void)size;
}

static bool receive_nothing(void *context, unsigned from, uint32_t channel, bool wait,
                            struct pug_peers_message *message)
{
    (void)context;
    (void)from;
    (void)channel;
    (void)message;
    return wait;
}

static void end_all(void *context, const char *why)
{
    (void)context;
    fail_msg("%s", why);
}

static void refused_by_all(struct pug_tree *tree, struct pug_peers *peers)
{
    struct pug_jobs_result result;
    struct pug_capture *capture;
    struct pug_index *index, *whole;
    const struct pug_index_options options = {.peers = peers};
    REFUSED(pug_tree_decode(tree, &(struct pug_jobs){.peers = peers}, &byte, 1, &result));
    REFUSED(pug_capture_open(PUG_SOURCE_DIR "/tests/captures/etmv4-a64",
                             &(struct pug_capture_options){.peers = peers}, &capture));
    assert_int_equal(pug_index_build(tree, &byte, 1, NULL, &whole), PUG_OK);
    REFUSED(pug_index_build(tree, &byte, 1, &options, &index));
    REFUSED(pug_index_extend(whole, tree, &byte, 1, &options, &index));
    pug_index_free(whole);
}

static void peers_without_a_way_to_each_other_are_refused(void **state)
{
    (void)state;
    const struct pug_peers peers = {
        .count = 2, .send = send_nowhere, .receive = receive_nothing, .fail = end_all};
    struct pug_peers without[4] = {peers, peers, peers, peers};
    struct pug_tree *tree;
    without[0].send = NULL;
    without[1].receive = NULL;
    without[2].fail = NULL;
    without[3].number = 2;
    assert_int_equal(pug_tree_new(&(struct pug_tree_config){0}, &tree), PUG_OK);
    for (size_t i = 0; i < 4; i++)
        refused_by_all(tree, &without[i]);
    pug_tree_free(tree);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(captures_and_snapshots),
        cmocka_unit_test(decoding_and_indexes),
        cmocka_unit_test(memory),
        cmocka_unit_test(logs_settings_and_names),
        cmocka_unit_test(what_fails_makes_nothing),
        cmocka_unit_test(what_fails_makes_no_index),
        cmocka_unit_test(what_fails_makes_no_view),
        cmocka_unit_test(options_that_are_null_are_as_usual),
        cmocka_unit_test(counting_on_no_jobs_is_as_usual),
        cmocka_unit_test(one_null_among_others_is_refused),
        cmocka_unit_test(a_consumer_without_a_function_is_refused),
        cmocka_unit_test(a_consumer_of_a_capture_without_a_function_is_refused),
        cmocka_unit_test(peers_without_a_way_to_each_other_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
