// SPDX-License-Identifier: MIT
/** @file N-Trace streams that are damaged, wrong, cut, or begin in the middle. */
#include "support/ntrace_vectors.h"
#include "support/share.h"

/* ---- damage ---- */

/** Lines of the lists that say what is wrong are not lines of the flow: count them. */
static unsigned take_complaints(struct lines *flow)
{
    static const char *const words[] = {"@bad ", "@fmt ", "@trunc ", "@disc "};
    size_t kept = 0;
    unsigned complaints = 0;
    for (size_t i = 0; i < flow->count; i++) {
        struct line line = flow->items[i];
        bool complaint = false;
        for (size_t n = 0; line.event && n < 4; n++)
            complaint |= strncmp(line.event, words[n], strlen(words[n])) == 0;
        if (complaint)
            free(line.event);
        else
            flow->items[kept++] = line;
        complaints += complaint;
    }
    flow->count = kept;
    return complaints;
}

static void check_corrupt(const char *file)
{
    char path[1024];
    size_t size;
    struct ntrace_expected expected = {0};
    struct ntrace_options options = {0};
    struct ntrace_stream stream = {0};
    snprintf(path, sizeof(path), "%s/corrupt/%.*s.exp.xz", VECTORS, (int)strlen(file) - 4, file);
    ntrace_load_lines(path, &expected);
    unsigned complaints = take_complaints(&expected.flow);
    snprintf(path, sizeof(path), "%s/corrupt/%s", VECTORS, file);
    uint8_t *bytes = ntrace_load(path, &size);
    struct pug_image *image = ntrace_program(VECTORS "/spec-traps", "traps", &options);
    struct pug_settings settings = ntrace_as_settings(&options);
    assert_true(ntrace_open(&stream, image, "plain", &settings));
    ntrace_want_events(&stream);
    ntrace_feed(&stream, bytes, size, 0);
    ntrace_compare(path, &stream.flow, &expected.flow);
    ntrace_compare(path, &stream.times, &expected.times);
    uint64_t logged = pug_log_errors(stream.log) + pug_log_warnings(stream.log);
    if (logged != complaints) {
        print_error("%s: %u log entries, expected %u\n", path, (unsigned)logged, complaints);
        ntrace_failures++;
    }
    ntrace_close(&stream);
    ntrace_expected_free(&expected);
    pug_image_free(image);
    free(bytes);
}

static void test_damaged_streams(void **state)
{
    (void)state;
    ntrace_need_vectors();
    DIR *dir = opendir(VECTORS "/corrupt");
    unsigned streams = 0;
    ntrace_failures = 0;
    assert_non_null(dir);
    for (const struct dirent *entry; (entry = readdir(dir)) != NULL;) {
        if (!ntrace_has_suffix(entry->d_name, ".nex"))
            continue;
        check_corrupt(entry->d_name);
        streams++;
    }
    closedir(dir);
    assert_int_equal(ntrace_failures, 0);
    assert_int_equal(streams, 10);
}

/** Streams that can't be decoded: the decoder comes to an end, and does not claim to be content. */
static void test_undecodable_streams(void **state)
{
    (void)state;
    ntrace_need_vectors();
    DIR *dir = opendir(VECTORS "/negative");
    unsigned streams = 0;
    assert_non_null(dir);
    for (const struct dirent *entry; (entry = readdir(dir)) != NULL;) {
        char path[1024], folder[1024];
        size_t size;
        struct ntrace_options options = {0};
        struct ntrace_stream stream = {0};
        if (!ntrace_has_suffix(entry->d_name, ".nex"))
            continue;
        size_t stem = strcspn(entry->d_name, ".");
        snprintf(folder, sizeof(folder), "%s/ref-%.*s", VECTORS, (int)stem, entry->d_name);
        snprintf(path, sizeof(path), "%s/negative/%s", VECTORS, entry->d_name);
        uint8_t *bytes = ntrace_load(path, &size);
        struct pug_image *image = ntrace_program(folder, NULL, &options);
        ntrace_set(&options, "implicit_return", 1);
        struct pug_settings settings = ntrace_as_settings(&options);
        stream.no_flow = true;
        assert_true(ntrace_open(&stream, image, "plain", &settings));
        ntrace_feed(&stream, bytes, size, 0);
        if (pug_log_errors(stream.log) == 0)
            print_message("%s: nothing found wrong\n", entry->d_name);
        ntrace_close(&stream);
        pug_image_free(image);
        free(bytes);
        streams++;
    }
    closedir(dir);
    assert_int_equal(streams, 6);
}

/* ---- beginning in the middle ---- */

/** A stream of the specification's folders, ready to be cut. */
struct cut {
    char folder[1024];
    struct ntrace_options options;
    struct pug_image *image;
    uint8_t *bytes;
    size_t size;
    struct lines pcs;
};

static void cut_open(struct cut *cut, const char *folder, const char *file, const char *words)
{
    char path[2048];
    struct ntrace_expected expected = {0};
    *cut = (struct cut){.size = 0};
    snprintf(cut->folder, sizeof(cut->folder), "%s/%s", VECTORS, folder);
    snprintf(path, sizeof(path), "%s/%s", cut->folder, file);
    cut->bytes = ntrace_load(path, &cut->size);
    ntrace_set_words(&cut->options, words);
    cut->image = ntrace_program(cut->folder, NULL, &cut->options);
    snprintf(path, sizeof(path), "%s/%.*s.exp.xz", cut->folder, (int)strlen(file) - 4, file);
    ntrace_load_lines(path, &expected);
    ntrace_only_pcs(&expected.flow);
    cut->pcs = expected.flow;
    lines_free(&expected.times);
    lines_free(&expected.data);
}

static void cut_close(struct cut *cut)
{
    pug_image_free(cut->image);
    lines_free(&cut->pcs);
    free(cut->bytes);
}

/** Decode from an offset; are the program counters the tail of the list? Returns how many. */
static size_t tail_from(const struct cut *cut, size_t offset, bool search)
{
    struct ntrace_options options = cut->options;
    struct ntrace_stream stream = {0};
    char text[400];
    if (search)
        ntrace_set(&options, "align", 2);
    struct pug_settings settings = ntrace_as_settings(&options);
    assert_true(ntrace_open(&stream, cut->image, "plain", &settings));
    ntrace_feed(&stream, cut->bytes + offset, cut->size - offset, 0);
    ntrace_only_pcs(&stream.flow);
    size_t count = stream.flow.count;
    struct lines tail = cut->pcs;
    if (count > tail.count) {
        print_error("%s from %zu: %zu instructions of %zu\n", cut->folder, offset, count,
                    tail.count);
        ntrace_failures++;
    } else {
        tail.items += tail.count - count;
        tail.count = count;
        if (lines_differ(&stream.flow, &tail, text, sizeof(text))) {
            print_error("%s from %zu: %s\n", cut->folder, offset, text);
            ntrace_failures++;
        }
    }
    ntrace_close(&stream);
    return count;
}

/** The row of the README's table for a stream. */
static void cut_by_name(struct cut *cut, const char *name)
{
    FILE *readme = fopen(VECTORS "/README.md", "r");
    char line[1000], *folder = NULL, *file = NULL, *words = NULL;
    bool found = false;
    assert_non_null(readme);
    while (!found && fgets(line, sizeof(line), readme))
        found = ntrace_spec_row(line, &folder, &file, &words) &&
                strncmp(file, name, strlen(name)) == 0 && file[strlen(name)] == '.';
    fclose(readme);
    if (!found)
        fail_msg("%s is not in the table", name);
    else
        cut_open(cut, folder, file, words);
}

static void test_listed_cuts(void **state)
{
    (void)state;
    ntrace_need_vectors();
    FILE *list = fopen(VECTORS "/cut/cuts.tsv", "r");
    char line[256], program_name[64], name[64], last[64] = "";
    struct cut cut = {.size = 0};
    unsigned cuts = 0;
    size_t offset, count;
    ntrace_failures = 0;
    assert_non_null(list);
    while (fgets(line, sizeof(line), list)) {
        if (sscanf(line, "%63s %63s %zu %zu", program_name, name, &offset, &count) != 4)
            continue;
        if (strcmp(name, last) != 0) {
            if (*last)
                cut_close(&cut);
            cut_by_name(&cut, name);
            memcpy(last, name, sizeof(last));
        }
        size_t got = tail_from(&cut, offset, true);
        if (got != count) {
            print_error("%s from %zu: %zu instructions, expected %zu\n", name, offset, got, count);
            ntrace_failures++;
        }
        cuts++;
    }
    cut_close(&cut);
    fclose(list);
    assert_int_equal(ntrace_failures, 0);
    assert_int_equal(cuts, 168);
}

/** From any byte of any stream, without a setting that says it is the middle. */
static void test_any_offset(void **state)
{
    (void)state;
    ntrace_need_vectors();
    const char *all = getenv("PUG_ALL_OFFSETS");
    const unsigned step = all ? 1 : share_step(1, 3);
    FILE *readme = fopen(VECTORS "/README.md", "r");
    char line[1000], *folder = NULL, *file = NULL, *words = NULL;
    ntrace_failures = 0;
    assert_non_null(readme);
    while (fgets(line, sizeof(line), readme)) {
        struct cut cut;
        if (!ntrace_spec_row(line, &folder, &file, &words))
            continue;
        cut_open(&cut, folder, file, words);
        for (size_t offset = 1; offset < cut.size; offset += all || offset < 40 ? step : 419)
            tail_from(&cut, offset, false);
        cut_close(&cut);
    }
    fclose(readme);
    assert_int_equal(ntrace_failures, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_damaged_streams),
        cmocka_unit_test(test_undecodable_streams),
        cmocka_unit_test(test_listed_cuts),
        cmocka_unit_test(test_any_offset),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
