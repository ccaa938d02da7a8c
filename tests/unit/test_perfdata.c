// SPDX-License-Identifier: MIT
/** @file perf.data: stories whose truth is known, what is selected and what is missing, damage. */
#include "support/perf_heard.h"
#include "support/perf_records.h"
#include "support/share.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>
/** A story comes back unchanged, whichever function gave it. */
static void check_story(const struct perf_story_config *config)
{
    struct perf_story story;
    perf_story_make(&story, config);
    struct pug_capture *capture = perf_heard_open(&story, NULL);
    assert_int_equal(pug_capture_kind(capture), PUG_CAPTURE_PERF);
    size_t segments = 0;
    uint64_t bytes = 0;
    const struct pug_capture_segment *segment;
    for (; (segment = pug_capture_segment_at(capture, segments)) != NULL; segments++)
        bytes += segment->size;
    assert_int_equal(segments, story.segments);
    assert_int_equal(bytes, story.trace_bytes);
    for (unsigned threads = 1; threads <= 8; threads += threads == 1 ? 1 : 6) {
        struct perf_heard heard;
        perf_heard_listen(capture, threads, NULL, &heard);
        perf_heard_check_all(&heard, &story);
        perf_heard_free(&heard);
    }
    pug_capture_free(capture);
    perf_story_free(&story);
}

static void test_stories(void **state)
{
    (void)state;
    for (unsigned number = 1; number <= 12; number++) {
        struct perf_story_config config = perf_story_kind(number);
        config.one_sink = number % 3 == 0;
        check_story(&config);
    }
}

/** Several processors' trace in one buffer, some bytes of each in turn. */
static void test_one_sink(void **state)
{
    (void)state;
    for (unsigned number = 12; number <= 20; number++) {
        struct perf_story_config config = perf_story_kind(1 + number % 12);
        config.seed = UINT64_C(1001) * number;
        config.cpus = 2 + number % 5;
        config.one_sink = config.kernel = true;
        config.sinks = false;
        check_story(&config);
    }
}

static void test_threads(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 6; seed++) {
        const struct perf_story_config config = {.seed = seed * 31,
                                                 .slices = 50 * (unsigned)seed,
                                                 .cpus = 1 + (unsigned)seed % 3,
                                                 .per_thread = true,
                                                 .same_times = seed % 3 == 0,
                                                 .pipe = seed % 2 == 1};
        check_story(&config);
    }
}

/* ---- selections ---- */

static size_t count_of(const struct perf_heard *heard, int32_t tid)
{
    size_t count = 0;
    for (size_t i = 0; i < heard->slice_count; i++)
        count += heard->slices[i].tid == tid ? heard->slices[i].count : 0;
    return count;
}

/** A thread alone is what it was in the story; how many bytes were decoded for it. */
static uint64_t check_thread(struct pug_capture *capture, const struct perf_story_path *path)
{
    const struct pug_capture_selection one = {.tids = &path->tid, .tid_count = 1};
    struct perf_heard heard;
    perf_heard_listen(capture, 2, &one, &heard);
    assert_int_equal(heard.count, path->count);
    perf_heard_check(&heard, path);
    const uint64_t bytes = heard.bytes;
    perf_heard_free(&heard);
    return bytes;
}

static void test_selections(void **state)
{
    const struct perf_story_config config = {.seed = 5, .slices = 200, .cpus = 3};
    struct perf_story story;
    struct perf_heard all, some;
    (void)state;
    perf_story_make(&story, &config);
    struct pug_capture *capture = perf_heard_open(&story, NULL);
    perf_heard_listen(capture, 2, NULL, &all);
    const int32_t tid = story.paths[0].tid;
    (void)check_thread(capture, &story.paths[0]);
    size_t sum = 0;
    for (int32_t cpu = 0; cpu < 3; cpu++) {
        perf_heard_listen(capture, 1, &(struct pug_capture_selection){.cpus = &cpu, .cpu_count = 1},
                          &some);
        assert_true(some.count > 0);
        sum += some.count;
        perf_heard_free(&some);
    }
    assert_int_equal(sum, all.count);
    sum = 0;
    for (unsigned i = 0; i < 4; i++) {
        static const char *const objects[] = {"one", "/bin/two", "libthree.so", "libfour.so"};
        const struct pug_capture_selection selection = {.objects = &objects[i], .object_count = 1};
        perf_heard_listen(capture, 2, &selection, &some);
        sum += some.count;
        perf_heard_free(&some);
    }
    assert_int_equal(sum, all.count);
    const struct pug_capture_selection early = {.has_to = true, .to = 4000};
    const struct pug_capture_selection late = {.has_from = true, .from = 4000};
    perf_heard_listen(capture, 2, &early, &some);
    sum = some.count;
    assert_true(sum > 0 && sum < all.count);
    perf_heard_free(&some);
    perf_heard_listen(capture, 2, &late, &some);
    assert_int_equal(sum + some.count, all.count);
    perf_heard_free(&some);
    assert_int_equal(count_of(&all, tid), story.paths[0].count);
    perf_heard_free(&all);
    pug_capture_free(capture);
    perf_story_free(&story);
}

/** Processors that share a sink are in one buffer: the sources of others are not decoded. */
static void test_selected_processors(void **state)
{
    const struct perf_story_config config = {.seed = 3, .slices = 50, .cpus = 3, .one_sink = true};
    struct perf_story story;
    struct perf_heard all, some;
    size_t count = 0;
    (void)state;
    perf_story_make(&story, &config);
    struct pug_capture *capture = perf_heard_open(&story, NULL);
    perf_heard_listen(capture, 2, NULL, &all);
    for (int32_t cpu = 0; cpu < 3; cpu++) {
        const struct pug_capture_selection one = {.cpus = &cpu, .cpu_count = 1};
        perf_heard_listen(capture, 2, &one, &some);
        assert_true(some.count > 0 && some.count < all.count);
        count += some.count;
        perf_heard_free(&some);
    }
    assert_int_equal(count, all.count);
    perf_heard_free(&all);
    pug_capture_free(capture);
    perf_story_free(&story);
}

/** Where a thread has a buffer of its own those of others are not decoded for it. */
static void test_selected_threads(void **state)
{
    const struct perf_story_config config = {
        .seed = 9, .slices = 50, .cpus = 2, .per_thread = true};
    struct perf_story story;
    struct perf_heard all;
    (void)state;
    perf_story_make(&story, &config);
    struct pug_capture *capture = perf_heard_open(&story, NULL);
    perf_heard_listen(capture, 2, NULL, &all);
    uint64_t bytes = 0;
    for (size_t n = 0; n < story.path_count; n++)
        bytes += check_thread(capture, &story.paths[n]);
    assert_true(bytes > 0 && bytes == all.bytes);
    perf_heard_free(&all);
    pug_capture_free(capture);
    perf_story_free(&story);
}

/* ---- what is missing ---- */

static void test_missing(void **state)
{
    const struct perf_story_config config = {.seed = 9, .slices = 40, .cpus = 1};
    struct perf_story story;
    struct pug_capture *capture;
    struct perf_heard heard;
    (void)state;
    perf_story_make(&story, &config);
    /* Another root has none of the programs: nothing runs, and each says what would bring it. */
    char empty[128];
    snprintf(empty, sizeof(empty), "%s/bin", story.folder);
    const struct pug_capture_options options = {.roots = {.symfs = empty, .build_ids = ""}};
    assert_int_equal(pug_capture_open(perf_story_write(&story), &options, &capture), PUG_OK);
    perf_heard_listen(capture, 2, NULL, &heard);
    assert_int_equal(heard.count, 0);
    const struct pug_capture_object *object;
    for (size_t n = 0; (object = pug_capture_object_at(capture, n)) != NULL; n++) {
        assert_int_equal(object->state, PUG_OBJECT_MISSING);
        assert_non_null(strstr(object->why, "--dso"));
    }
    perf_heard_free(&heard);
    pug_capture_free(capture);
    /* Files that the user names are taken in place of those. */
    char file[160];
    snprintf(file, sizeof(file), "%s/bin/one", story.folder);
    const struct pug_capture_replacement one = {.path = "one", .file = file};
    const struct pug_capture_options named = {
        .roots = {.symfs = empty, .build_ids = "", .replacements = &one, .replacement_count = 1}};
    assert_int_equal(pug_capture_open(perf_story_write(&story), &named, &capture), PUG_OK);
    for (size_t n = 0; (object = pug_capture_object_at(capture, n)) != NULL; n++)
        if (strcmp(object->path, "/bin/one") == 0)
            assert_string_equal(object->file, file);
    pug_capture_free(capture);
    perf_story_free(&story);
}

/* ---- damage ---- */

struct said {
    unsigned records, places; /* all of them; those that name an offset and a record */
};

static void on_log(void *context, const struct pug_log_record *record)
{
    struct said *said = context;
    said->records++;
    assert_non_null(record->text);
    said->places += strstr(record->text, ": offset ") && strstr(record->text, "record of type ");
}

/** A record that cannot be is named: where it is, and of which type. */
static void test_named(void **state)
{
    struct perf_story story;
    struct said said = {0};
    struct pug_log *log = pug_log_new(PUG_SEV_INFO);
    struct pug_capture *capture;
    (void)state;
    pug_log_set_sink(log, on_log, &said);
    perf_story_make(&story, &container);
    const struct pug_capture_options options = {.log = log};
    size_t tried = 0;
    for (size_t at = data_of(&story); at < story.file.size && tried < 40; tried++) {
        const size_t size = record_size(&story, at);
        uint8_t *length = story.file.data + at + 6;
        const uint8_t was = *length;
        *length = 3; /* less than a header */
        const unsigned before = said.places;
        assert_int_equal(pug_capture_open(perf_story_write(&story), &options, &capture), PUG_OK);
        pug_capture_free(capture);
        assert_true(said.places > before);
        *length = was;
        at += size;
    }
    assert_int_equal(tried, 40);
    pug_log_free(log);
    perf_story_free(&story);
}

/** Files of machines with another byte order are refused, in words. */
static void test_big_endian(void **state)
{
    struct perf_story story;
    struct said said = {0};
    struct pug_log *log = pug_log_new(PUG_SEV_INFO);
    struct pug_capture *capture = NULL;
    (void)state;
    pug_log_set_sink(log, on_log, &said);
    perf_story_make(&story, &container);
    memcpy(story.file.data, "2ELIFREP", 8);
    const struct pug_capture_options options = {.log = log};
    assert_int_not_equal(pug_capture_open(perf_story_write(&story), &options, &capture), PUG_OK);
    assert_null(capture);
    assert_int_equal(said.records, 1);
    pug_log_free(log);
    perf_story_free(&story);
}

/** Whatever is in the file, it is read or refused; what is decoded of it does no harm. */
static void try(struct perf_story *story, struct pug_log *log)
{
    struct pug_capture *capture = NULL;
    struct perf_heard heard;
    const struct pug_capture_options options = {.log = log,
                                                .roots = {.symfs = story->folder, .build_ids = ""}};
    if (pug_capture_open(perf_story_write(story), &options, &capture) != PUG_OK)
        return;
    perf_heard_listen(capture, 1, NULL, &heard);
    perf_heard_free(&heard);
    pug_capture_free(capture);
}

static void test_damage(void **state)
{
    const struct perf_story_config config = {.seed = 3, .slices = 3, .cpus = 2, .sinks = true};
    struct perf_story story;
    struct said said = {0};
    struct rec_random random = {.state = 99};
    struct pug_log *log = pug_log_new(PUG_SEV_INFO);
    (void)state;
    assert_non_null(log);
    pug_log_set_sink(log, on_log, &said);
    perf_story_make(&story, &config);
    for (size_t i = 0; i < story.file.size; i += share_step(1, 3)) {
        const uint8_t was = story.file.data[i];
        const uint8_t values[] = {0, 0xff, (uint8_t)rec_random(&random)};
        for (unsigned n = 0; n < 3; n++) {
            story.file.data[i] = values[n];
            try(&story, log);
        }
        story.file.data[i] = was;
    }
    const size_t whole = story.file.size;
    for (size_t size = 0; size < whole; size += 7) {
        story.file.size = size;
        try(&story, log);
    }
    story.file.size = whole;
    assert_true(said.records > 0);
    pug_log_free(log);
    perf_story_free(&story);
}

/** A path that would lead out of the root, and one that is a FIFO: neither is opened. */
static void test_roots(void **state)
{
    struct rec_perf perf;
    struct rec_bytes file = {0};
    const struct rec_perf_cpu cpu = {
        .unit = REC_PERF_ETMV4, .words = {0, 0x10, 0x28000ea1, 0x4100f403, 0x20001088}, .count = 7};
    struct perf_story story;
    (void)state;
    perf_story_make(&story, &(struct perf_story_config){.seed = 1, .slices = 1, .cpus = 1});
    char fifo[128], link[128], outside[160];
    snprintf(fifo, sizeof(fifo), "%s/bin/fifo", story.folder);
    snprintf(link, sizeof(link), "%s/bin/link", story.folder);
    snprintf(outside, sizeof(outside), "%s/outside", story.folder);
    assert_int_equal(mkfifo(fifo, 0600), 0);
    assert_int_equal(symlink("/../../../bin/two", link), 0);
    char from[128];
    snprintf(from, sizeof(from), "%s/bin/one", story.folder);
    assert_int_equal(rename(from, outside), 0);
    rec_perf_begin(&perf, &(struct rec_perf_config){.version = 1, .cpus = &cpu, .cpu_count = 1});
    static const char *const paths[] = {"/../outside", "/bin/../../outside", "/fifo", "/link",
                                        "/../../../../../../dev/zero"};
    const struct rec_perf_sample sample = {.pid = 7, .tid = 7, .time = 5};
    for (unsigned i = 0; i < 5; i++)
        rec_perf_map(
            &perf, &sample,
            &(struct rec_perf_map){
                .address = 0x10000 * (i + 1), .size = 0x1000, .prot = 4, .path = paths[i]});
    rec_perf_finish(&perf, &file);
    rec_bytes_free(&story.file);
    story.file = file;
    char root[128];
    snprintf(root, sizeof(root), "%s/bin", story.folder);
    struct pug_capture *capture;
    const struct pug_capture_options options = {.roots = {.symfs = root, .build_ids = ""}};
    assert_int_equal(pug_capture_open(perf_story_write(&story), &options, &capture), PUG_OK);
    const struct pug_capture_object *object;
    size_t count = 0;
    for (; (object = pug_capture_object_at(capture, count)) != NULL; count++)
        assert_null(object->file);
    assert_int_equal(count, 5);
    pug_capture_free(capture);
    unlink(fifo);
    unlink(link);
    assert_int_equal(rename(outside, from), 0);
    perf_story_free(&story);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_stories),
        cmocka_unit_test(test_one_sink),
        cmocka_unit_test(test_threads),
        cmocka_unit_test(test_selections),
        cmocka_unit_test(test_selected_threads),
        cmocka_unit_test(test_selected_processors),
        cmocka_unit_test(test_missing),
        cmocka_unit_test(test_damage),
        cmocka_unit_test(test_roots),
        cmocka_unit_test(test_big_endian),
        cmocka_unit_test(test_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
