// SPDX-License-Identifier: MIT
/** @file Every N-Trace stream of the shared vectors gives the instructions and events listed. */
#include "support/ntrace_vectors.h"

static void check_stream(const char *folder, const char *file, const char *elf,
                         const struct ntrace_options *given, const struct ntrace_expected *expected,
                         bool events)
{
    char path[1024];
    size_t size;
    struct ntrace_options options = *given;
    snprintf(path, sizeof(path), "%s/%s", folder, file);
    uint8_t *bytes = ntrace_load(path, &size);
    struct pug_image *image = ntrace_program(folder, elf, &options);
    struct pug_settings settings = ntrace_as_settings(&options);
    struct ntrace_stream stream = {0};
    assert_true(ntrace_open(&stream, image, "plain", &settings));
    if (events)
        ntrace_want_events(&stream);
    ntrace_feed(&stream, bytes, size, 0);
    ntrace_compare(path, &stream.flow, &expected->flow);
    if (events) {
        ntrace_compare(path, &stream.times, &expected->times);
        ntrace_compare(path, &stream.beside, &expected->data);
    }
    ntrace_close(&stream);
    pug_image_free(image);
    free(bytes);
}

/* ---- the folders ---- */

static void check_ref_folder(const char *folder, unsigned *streams)
{
    char path[1024];
    struct ntrace_expected expected = {0};
    snprintf(path, sizeof(path), "%s/pcs.txt.xz", folder);
    ntrace_load_lines(path, &expected);
    DIR *dir = opendir(folder);
    assert_non_null(dir);
    for (const struct dirent *entry; (entry = readdir(dir)) != NULL;) {
        if (!ntrace_has_suffix(entry->d_name, ".nex"))
            continue;
        struct ntrace_options options = {0};
        if (strstr(entry->d_name, "_cs") || strstr(entry->d_name, "_cnt"))
            ntrace_set(&options, "implicit_return", 1);
        check_stream(folder, entry->d_name, NULL, &options, &expected, false);
        ++*streams;
    }
    closedir(dir);
    ntrace_expected_free(&expected);
}

static void test_reference_encoder(void **state)
{
    (void)state;
    ntrace_need_vectors();
    DIR *dir = opendir(VECTORS);
    unsigned streams = 0;
    ntrace_failures = 0;
    assert_non_null(dir);
    for (const struct dirent *entry; (entry = readdir(dir)) != NULL;) {
        char folder[512];
        snprintf(folder, sizeof(folder), "%s/%.100s", VECTORS, entry->d_name);
        if (strncmp(entry->d_name, "ref-", 4) == 0)
            check_ref_folder(folder, &streams);
    }
    closedir(dir);
    print_message("%u streams, %u differ\n", streams, ntrace_failures);
    assert_int_equal(ntrace_failures, 0);
    assert_true(streams >= 150);
}
static void test_specification_encoder(void **state)
{
    (void)state;
    ntrace_need_vectors();
    FILE *readme = fopen(VECTORS "/README.md", "r");
    char line[1000];
    unsigned streams = 0;
    ntrace_failures = 0;
    assert_non_null(readme);
    while (fgets(line, sizeof(line), readme)) {
        char *folder, *file, *words, path[1024];
        struct ntrace_expected expected = {0};
        struct ntrace_options options = {0};
        if (!ntrace_spec_row(line, &folder, &file, &words))
            continue;
        ntrace_set_words(&options, words);
        snprintf(path, sizeof(path), "%s/%s/%.*s.exp.xz", VECTORS, folder, (int)strlen(file) - 4,
                 file);
        ntrace_load_lines(path, &expected);
        snprintf(path, sizeof(path), "%s/%s", VECTORS, folder);
        check_stream(path, file, NULL, &options, &expected, true);
        ntrace_expected_free(&expected);
        streams++;
    }
    fclose(readme);
    print_message("%u streams, %u differ\n", streams, ntrace_failures);
    assert_int_equal(ntrace_failures, 0);
    assert_int_equal(streams, 55);
}

/* ---- several sources in one stream ---- */

struct hart {
    uint16_t source;
    const char *elf;
    bool implicit_return, btm;
};

/** The lists of one source of a tree with several. */
static void check_hart(const struct hart *hart, struct ntrace_stream *stream)
{
    char path[1024];
    struct ntrace_expected expected = {0};
    snprintf(path, sizeof(path), "%s/multi/four-harts.src%u.exp.xz", VECTORS, hart->source);
    ntrace_load_lines(path, &expected);
    ntrace_flush_event(stream);
    ntrace_compare(path, &stream->flow, &expected.flow);
    ntrace_compare(path, &stream->times, &expected.times);
    ntrace_expected_free(&expected);
    stream->tree = NULL;
    ntrace_close(stream);
}

struct harts {
    struct ntrace_stream streams[4];
    const struct hart *harts;
};

static enum pug_response on_harts(void *context, const struct pug_element *elements, size_t count,
                                  size_t *taken)
{
    struct harts *harts = context;
    (void)taken;
    for (size_t i = 0; i < count; i++)
        for (size_t n = 0; n < 4; n++)
            if (harts->harts[n].source == elements[i].source)
                ntrace_take(&harts->streams[n], &elements[i]);
    return PUG_RESP_CONT;
}

static void add_hart(struct pug_tree *tree, const struct hart *hart, struct ntrace_stream *stream)
{
    struct pug_source *source;
    struct ntrace_options options = {0};
    ntrace_set(&options, "src_bits", 4);
    ntrace_set(&options, "src_id", hart->source);
    ntrace_set(&options, "implicit_return", hart->implicit_return);
    ntrace_set(&options, "btm", hart->btm);
    struct pug_source_config config = {
        .protocol = "N-Trace", .settings = ntrace_as_settings(&options), .decode = true};
    assert_int_equal(pug_tree_add_source(tree, &config, &source), PUG_OK);
    if (stream)
        pug_source_monitor(source, ntrace_on_packet, stream);
}

static const struct hart four_harts[4] = {{1, "traps", true, false},
                                          {2, "qsort", true, false},
                                          {3, "basic", true, true},
                                          {9, "pmp", false, false}};

/** The programs of the harts, each seen by its own source only. */
static struct pug_image *programs_of_harts(void)
{
    struct pug_image *image = pug_image_new();
    for (size_t n = 0; n < 4; n++) {
        char path[1024];
        struct pug_place place = {
            .space = PUG_SPACE_ANY, .has_source = true, .source = four_harts[n].source};
        ntrace_find_elf(VECTORS "/multi", four_harts[n].elf, path, sizeof(path));
        assert_int_equal(pug_image_add_elf(image, &place, path, 0), PUG_OK);
    }
    return image;
}

/** Decode a part of the stream of four harts. `events`: those of packets, too. */
static void run_harts(struct harts *all, struct pug_image *image, const uint8_t *bytes, size_t size,
                      size_t block, bool events)
{
    struct ntrace_options options = {0};
    ntrace_set(&options, "src_bits", 4);
    struct pug_tree_config config = {
        .transport = "nexus", .settings = ntrace_as_settings(&options), .image = image};
    struct ntrace_stream whole = {0};
    *all = (struct harts){.harts = four_harts};
    assert_int_equal(pug_tree_new(&config, &whole.tree), PUG_OK);
    for (size_t n = 0; n < 4; n++) {
        all->streams[n].image = image;
        add_hart(whole.tree, &four_harts[n], events ? &all->streams[n] : NULL);
    }
    pug_tree_on_elements(whole.tree, on_harts, all);
    ntrace_feed(&whole, bytes, size, block);
    pug_tree_free(whole.tree);
}

static void test_several_harts(void **state)
{
    static const size_t blocks[] = {0, 1, 2, 3, 7, 1000};
    (void)state;
    ntrace_need_vectors();
    size_t size;
    uint8_t *bytes = ntrace_load(VECTORS "/multi/four-harts.nex", &size);
    struct pug_image *image = programs_of_harts();
    ntrace_failures = 0;
    for (size_t b = 0; b < sizeof(blocks) / sizeof(blocks[0]); b++) {
        struct harts all;
        run_harts(&all, image, bytes, size, blocks[b], true);
        for (size_t n = 0; n < 4; n++)
            check_hart(&four_harts[n], &all.streams[n]);
    }
    pug_image_free(image);
    free(bytes);
    assert_int_equal(ntrace_failures, 0);
}

/** From any byte of the stream: each hart gives a tail of what it gives from the beginning. */
static void test_several_harts_from_anywhere(void **state)
{
    (void)state;
    ntrace_need_vectors();
    size_t size;
    char text[400];
    uint8_t *bytes = ntrace_load(VECTORS "/multi/four-harts.nex", &size);
    struct pug_image *image = programs_of_harts();
    struct harts whole;
    run_harts(&whole, image, bytes, size, 0, false);
    for (size_t n = 0; n < 4; n++)
        ntrace_only_pcs(&whole.streams[n].flow);
    for (size_t offset = 1; offset < size; offset += offset < 60 ? 1 : 29) {
        struct harts part;
        run_harts(&part, image, bytes + offset, size - offset, 0, false);
        for (size_t n = 0; n < 4; n++) {
            struct lines *got = &part.streams[n].flow, tail = whole.streams[n].flow;
            ntrace_only_pcs(got);
            assert_true(got->count <= tail.count);
            tail.items += tail.count - got->count;
            tail.count = got->count;
            if (lines_differ(got, &tail, text, sizeof(text)))
                fail_msg("from %zu, source %u: %s", offset, four_harts[n].source, text);
            ntrace_close(&part.streams[n]);
        }
    }
    for (size_t n = 0; n < 4; n++)
        ntrace_close(&whole.streams[n]);
    pug_image_free(image);
    free(bytes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_reference_encoder),
        cmocka_unit_test(test_specification_encoder),
        cmocka_unit_test(test_several_harts),
        cmocka_unit_test(test_several_harts_from_anywhere),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
