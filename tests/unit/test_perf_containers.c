// SPDX-License-Identifier: MIT
/** @file perf.data: other containers of the same records, and simpleperf's ways to put them. */
#include "support/made_folder.h"
#include "support/perf_heard.h"
#include "support/perf_records.h"

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
/** The story's file with other records: those of `data`. */
static void replace_records(struct perf_story *story, struct rec_bytes *data)
{
    struct rec_bytes file = {0};
    rec_put_n(&file, story->file.data, 48);
    rec_put_le(&file, data->size, 8);
    rec_put_n(&file, story->file.data + 56, data_of(story) - 56);
    if (data->size > 0)
        rec_put_n(&file, data->data, data->size);
    rec_bytes_free(data);
    rec_bytes_free(&story->file);
    story->file = file;
}

static void check_paths(const struct perf_story *story, const char *path)
{
    struct pug_capture *capture;
    struct perf_heard heard;
    const struct pug_capture_options options = {.roots = {.symfs = story->folder, .build_ids = ""}};
    assert_int_equal(pug_capture_open(path, &options, &capture), PUG_OK);
    perf_heard_listen(capture, 2, NULL, &heard);
    for (size_t i = 0; i < story->path_count; i++)
        perf_heard_check(&heard, &story->paths[i]);
    perf_heard_free(&heard);
    pug_capture_free(capture);
}

/** The messages, one after the other. */
static void note_said(void *context, const struct pug_log_record *record)
{
    char *said = context;
    const size_t at = strlen(said);
    snprintf(said + at, 1024 - at, "%s\n", record->text);
}

/** A directory: one file with a header, and one of records for each thread that read them. */
static void test_directory(void **state)
{
    struct perf_story story;
    struct rec_bytes first = {0}, files[3] = {{0}};
    char path[160];
    (void)state;
    perf_story_make(&story, &container);
    size_t number = 0;
    for (size_t at = data_of(&story), size; at < story.file.size; at += size, number++) {
        size = record_size(&story, at);
        /* A segment and its trace stay together: AUX, then the piece of the buffer. */
        struct rec_bytes *to = number < 2 ? &first : &files[number / 2 % 3];
        rec_put_n(to, story.file.data + at, size);
    }
    replace_records(&story, &first);
    snprintf(path, sizeof(path), "%s/bin/dir", story.folder);
    assert_int_equal(mkdir(path, 0700), 0);
    for (unsigned i = 0; i < 4; i++) {
        const struct rec_bytes *bytes = i < 3 ? &files[i] : &story.file;
        snprintf(path, sizeof(path), i < 3 ? "%s/bin/dir/data.%u" : "%s/bin/dir/data", story.folder,
                 i);
        FILE *file = fopen(path, "wb");
        assert_non_null(file);
        assert_int_equal(fwrite(bytes->data, 1, bytes->size, file), bytes->size);
        fclose(file);
    }
    snprintf(path, sizeof(path), "%s/bin/dir", story.folder);
    check_paths(&story, path);
    for (unsigned i = 0; i < 4; i++) {
        snprintf(path, sizeof(path), i < 3 ? "%s/bin/dir/data.%u" : "%s/bin/dir/data", story.folder,
                 i);
        unlink(path);
        rec_bytes_free(i < 3 ? &files[i] : &first);
    }
    snprintf(path, sizeof(path), "%s/bin/dir", story.folder);
    rmdir(path);
    perf_story_free(&story);
}

/** One of the files is missing: that is reported, and the others are read. */
static void test_missing_part(void **state)
{
    struct perf_story story;
    struct rec_bytes nothing = {0};
    struct made_folder folder;
    char said[1024] = "", path[128], wanted[200];
    struct pug_log *log = pug_log_new(PUG_SEV_WARN);
    struct pug_capture *capture;
    (void)state;
    made_folder_begin(&folder);
    perf_story_make(&story, &container);
    const size_t at = data_of(&story), size = story.file.size - at;
    made_folder_file(&folder, "data.2", story.file.data + at, size);
    made_folder_file(&folder, "data.0", story.file.data, 0);
    made_folder_file(&folder, "data.x", story.file.data, 0);
    replace_records(&story, &nothing);
    for (unsigned i = 48; i < 56; i++)
        story.file.data[i] = i == 48 ? 8 : 0;
    rec_put_le(&story.file, 68 | UINT64_C(8) << 48, 8); /* FINISHED_ROUND */
    made_folder_file(&folder, "data", story.file.data, story.file.size);
    pug_log_set_sink(log, note_said, said);
    const struct pug_capture_options options = {.log = log,
                                                .roots = {.symfs = story.folder, .build_ids = ""}};
    assert_int_equal(pug_capture_open(folder.path, &options, &capture), PUG_OK);
    snprintf(path, sizeof(path), "%s/data.1", folder.path);
    snprintf(wanted, sizeof(wanted), "%s: it cannot be read", path);
    assert_non_null(strstr(said, wanted));
    assert_null(strstr(said, "data.0"));
    size_t count = 0;
    while (pug_capture_segment_at(capture, count))
        count++;
    assert_int_equal(count, story.segments);
    pug_capture_free(capture);
    pug_log_free(log);
    perf_story_free(&story);
    made_folder_end(&folder);
}

/* ---- records in any order ---- */

/** All records of a story but those of attributes, which stay where they are, in any order. */
static void shuffle(struct perf_story *story, size_t first, uint64_t seed)
{
    struct rec_random random = {.state = seed};
    struct rec_bytes mixed = {0};
    size_t *places = NULL, count = 0;
    rec_put_n(&mixed, story->file.data, first);
    for (size_t at = first; at < story->file.size; at += record_size(story, at)) {
        places = realloc(places, (count + 1) * sizeof(*places));
        assert_non_null(places);
        places[count++] = at;
    }
    for (; count > 0; count--) {
        const size_t n = rec_random_below(&random, (uint32_t)count);
        rec_put_n(&mixed, story->file.data + places[n], record_size(story, places[n]));
        places[n] = places[count - 1];
    }
    free(places);
    rec_bytes_free(&story->file);
    story->file = mixed;
}

/** Times tell the order, not places: also of metadata, and of trace and what describes it. */
static void test_any_order(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 6; seed++) {
        struct perf_story_config config = container;
        struct perf_story story;
        config.pipe = seed % 2 == 0;
        config.kernel = true;
        config.sinks = seed % 3 == 0;
        perf_story_make(&story, &config);
        size_t first = config.pipe ? 16 : data_of(&story);
        while (config.pipe && pug_bytes_number(story.file.data + first, 4) == 64)
            first += record_size(&story, first);
        shuffle(&story, first, seed);
        check_paths(&story, perf_story_write(&story));
        perf_story_free(&story);
    }
}

/* ---- simpleperf's ways to put records ---- */

/** A record of simpleperf's own: its size has 32 bits. */
static void put_own(struct rec_bytes *out, uint32_t type, const uint8_t *bytes, size_t size)
{
    rec_put_le(out, type, 4);
    rec_put_le(out, (8 + size) >> 16, 2);
    rec_put_le(out, (8 + size) & 0xffff, 2);
    if (size > 0)
        rec_put_n(out, bytes, size);
}

/** Records of maps come in pieces, which are put together where the last one says so. */
static void test_split(void **state)
{
    struct perf_story story;
    struct rec_bytes data = {0};
    size_t pieces = 0;
    (void)state;
    perf_story_make(&story, &container);
    for (size_t at = data_of(&story), size; at < story.file.size; at += size) {
        const uint8_t *record = story.file.data + at;
        size = record_size(&story, at);
        if (pug_bytes_number(record, 4) != 10) {
            rec_put_n(&data, record, size);
            continue;
        }
        for (size_t from = 0; from < size; from += 24, pieces++)
            put_own(&data, 32772, record + from, size - from < 24 ? size - from : 24);
        put_own(&data, 32773, NULL, 0);
    }
    assert_true(pieces > 8);
    replace_records(&story, &data);
    check_paths(&story, perf_story_write(&story));
    perf_story_free(&story);
}

/** What was mapped before recording began stands in a feature (134), not among the records. */
static void test_init_map(void **state)
{
    struct perf_story_config config = container;
    struct perf_story story;
    struct rec_bytes maps = {0}, file = {0};
    size_t attributes = 16;
    (void)state;
    config.pipe = true;
    perf_story_make(&story, &config);
    while (pug_bytes_number(story.file.data + attributes, 4) == 64)
        attributes += record_size(&story, attributes);
    rec_put_n(&file, story.file.data, attributes);
    for (size_t at = attributes, size; at < story.file.size; at += size) {
        size = record_size(&story, at);
        if (maps.size < 2000 && (pug_bytes_number(story.file.data + at, 4) == 10 ||
                                 pug_bytes_number(story.file.data + at, 4) == 3))
            rec_put_n(&maps, story.file.data + at, size);
    }
    rec_put_le(&file, 80, 4);
    rec_put_le(&file, 0, 2);
    rec_put_le(&file, 16 + maps.size, 2);
    rec_put_le(&file, 134, 8);
    rec_put_n(&file, maps.data, maps.size);
    size_t left_out = 0;
    for (size_t at = attributes, size; at < story.file.size; at += size) {
        size = record_size(&story, at);
        const bool moved =
            left_out < maps.size && (pug_bytes_number(story.file.data + at, 4) == 10 ||
                                     pug_bytes_number(story.file.data + at, 4) == 3);
        left_out += moved ? size : 0;
        if (!moved)
            rec_put_n(&file, story.file.data + at, size);
    }
    assert_int_equal(left_out, maps.size);
    rec_bytes_free(&maps);
    rec_bytes_free(&story.file);
    story.file = file;
    check_paths(&story, perf_story_write(&story));
    perf_story_free(&story);
}

/** Flags of AUX records are reported; the record's trace is used all the same. */
static void test_flags(void **state)
{
    struct perf_story story;
    const struct pug_capture_segment *segment;
    (void)state;
    perf_story_make(&story, &container);
    for (size_t at = data_of(&story); at < story.file.size; at += record_size(&story, at))
        if (pug_bytes_number(story.file.data + at, 4) == 11)
            story.file.data[at + 24] |= 1 | 4 | 8;
    struct pug_capture *capture = perf_heard_open(&story, NULL);
    size_t count = 0;
    for (; (segment = pug_capture_segment_at(capture, count)) != NULL; count++)
        assert_int_equal(segment->flags,
                         PUG_SEGMENT_LOST | PUG_SEGMENT_GAPS | PUG_SEGMENT_COLLISION);
    assert_int_equal(count, story.segments);
    pug_capture_free(capture);
    check_paths(&story, perf_story_write(&story));
    perf_story_free(&story);
}

/** The attribute of another cs_etm event, of a pipe's stream: samples have time, processor, id. */
static void put_second_event(struct rec_bytes *out, uint64_t id)
{
    const uint64_t words[] = {8 | UINT64_C(128) << 32, 0, 1, 0x10084, 4, UINT64_C(1) << 18};
    rec_put_le(out, 64, 4);
    rec_put_le(out, (8 + 128 + 8) << 16, 4);
    for (unsigned i = 0; i < 16; i++)
        rec_put_le(out, i < 6 ? words[i] : 0, 8);
    rec_put_le(out, id, 8);
}

/**
 * Every other AUX record belongs to a second cs_etm event, with its id and fewer fields after it.
 */
static void test_two_events(void **state)
{
    struct perf_story_config config = container;
    struct perf_story story;
    struct rec_bytes file = {0};
    unsigned n = 0;
    (void)state;
    config.pipe = true;
    perf_story_make(&story, &config);
    rec_put_n(&file, story.file.data, 16);
    put_second_event(&file, 22);
    for (size_t at = 16, size; at < story.file.size; at += size) {
        const uint8_t *record = story.file.data + at;
        size = record_size(&story, at);
        if (pug_bytes_number(record, 4) != 11 || n++ % 2) {
            rec_put_n(&file, record, size);
            continue;
        }
        rec_put_n(&file, record, 6);
        rec_put_le(&file, size - 8, 2);
        rec_put_n(&file, record + 8, size - 8 - 32);
        rec_put_n(&file, record + size - 24, 16); /* time and processor */
        rec_put_le(&file, 22, 8);
    }
    assert_true(n > 10);
    rec_bytes_free(&story.file);
    story.file = file;
    check_paths(&story, perf_story_write(&story));
    perf_story_free(&story);
}

#ifdef PUG_WITH_ZSTD
#include <zstd.h>

/** One record of compressed bytes; of the second kind padded, with its size. */
static void put_compressed(struct rec_bytes *out, const uint8_t *bytes, size_t size, bool second)
{
    const size_t padding = second ? (8 - size % 8) % 8 : 0;
    rec_put_le(out, second ? 83 : 81, 4);
    rec_put_le(out, 0, 2);
    rec_put_le(out, 8 + (second ? 8u : 0u) + size + padding, 2);
    if (second)
        rec_put_le(out, size, 8);
    rec_put_n(out, bytes, size);
    for (size_t i = 0; i < padding; i++)
        rec_put(out, 0);
}

/** Bytes as one compressed stream, cut anywhere. */
static void put_packed(struct rec_bytes *out, const struct rec_bytes *bytes, bool second)
{
    const size_t room = ZSTD_compressBound(bytes->size);
    uint8_t *packed = malloc(room);
    assert_non_null(packed);
    const size_t size = ZSTD_compress(packed, room, bytes->data, bytes->size, 3);
    assert_false(ZSTD_isError(size));
    for (size_t at = 0, step; at < size; at += step) {
        step = size - at < 37 ? size - at : 37;
        put_compressed(out, packed + at, step, second);
    }
    free(packed);
}

/** All records but those of trace are compressed. */
static void compress(struct perf_story *story, bool second)
{
    struct rec_bytes records = {0}, trace = {0}, data = {0};
    for (size_t at = data_of(story), size; at < story->file.size; at += size) {
        const uint64_t type = pug_bytes_number(story->file.data + at, 4);
        size = record_size(story, at);
        rec_put_n(type >= 64 ? &trace : &records, story->file.data + at, size);
    }
    put_packed(&data, &records, second);
    rec_put_n(&data, trace.data, trace.size);
    rec_bytes_free(&records);
    rec_bytes_free(&trace);
    replace_records(story, &data);
}

/**
 * A pipe's stream, which has only a header of 16 bytes: attributes and metadata come first,
 * uncompressed, and the compressed part follows them.
 */
static void compress_pipe(struct perf_story *story, bool second)
{
    struct rec_bytes records = {0}, trace = {0}, data = {0};
    rec_put_n(&data, story->file.data, 16);
    for (size_t at = 16, size; at < story->file.size; at += size) {
        const uint64_t type = pug_bytes_number(story->file.data + at, 4);
        size = record_size(story, at);
        rec_put_n(type < 64 ? &records : type == 71 ? &trace : &data, story->file.data + at, size);
    }
    put_packed(&data, &records, second);
    rec_put_n(&data, trace.data, trace.size);
    rec_bytes_free(&records);
    rec_bytes_free(&trace);
    rec_bytes_free(&story->file);
    story->file = data;
}

/** A build without zstd says that it cannot; no other one fails. */
static void test_compressed(void **state)
{
    (void)state;
    for (unsigned n = 0; n < 4; n++) {
        struct perf_story story;
        struct pug_capture *capture;
        const struct pug_capture_options options = {.buffer = NULL};
        struct perf_story_config config = container;
        config.pipe = n >= 2;
        perf_story_make(&story, &config);
        (config.pipe ? compress_pipe : compress)(&story, n % 2);
        const enum pug_status status =
            pug_capture_open(perf_story_write(&story), &options, &capture);
        if (status == PUG_OK) {
            pug_capture_free(capture);
            check_paths(&story, perf_story_write(&story));
        } else {
            assert_int_equal(status, PUG_ERR_NOT_BUILT);
        }
        perf_story_free(&story);
    }
}

#define ROUND ((size_t)32768) /* bytes of a record that says nothing */

/** So many of these records, compressed; one in `every` is of bytes that do not compress. */
static void put_rounds(struct rec_bytes *out, unsigned count, unsigned every)
{
    struct rec_bytes records = {0};
    struct rec_random random = {1};
    for (unsigned n = 0; n < count; n++) {
        rec_put_le(&records, 68, 4);
        rec_put_le(&records, ROUND << 16, 4);
        for (size_t i = 8; i < ROUND; i += 8)
            rec_put_le(&records, n % every == 0 ? rec_random(&random) : 0, 8);
    }
    put_packed(out, &records, false);
    rec_bytes_free(&records);
}

/** What a few bytes unpack to is bounded: it is said, and the rest is left out. */
static void test_much(void **state)
{
    (void)state;
    for (unsigned every = 8; every <= 128; every *= 16) {
        struct perf_story story;
        struct rec_bytes data = {0};
        struct pug_capture *capture;
        char said[1024] = "";
        struct pug_log *log = pug_log_new(PUG_SEV_WARN);
        const struct pug_capture_options options = {.log = log};
        perf_story_make(&story, &container);
        put_rounds(&data, 2048, every); /* 64 MB */
        rec_put_n(&data, story.file.data + data_of(&story), story.file.size - data_of(&story));
        replace_records(&story, &data);
        pug_log_set_sink(log, note_said, said);
        const enum pug_status status =
            pug_capture_open(perf_story_write(&story), &options, &capture);
        assert_true(status == PUG_OK || status == PUG_ERR_NOT_BUILT);
        if (status == PUG_OK) {
            assert_int_equal(strstr(said, "it unpacks to far too much") != NULL, every == 128);
            pug_capture_free(capture);
        }
        pug_log_free(log);
        perf_story_free(&story);
    }
}

/**
 * The bound is one for all files of a directory: eight of 8 MB, of which each alone is within it.
 */
static void test_much_in_a_directory(void **state)
{
    (void)state;
    for (unsigned every = 8; every <= 256; every *= 32) {
        struct perf_story story;
        struct made_folder folder;
        struct pug_capture *capture;
        struct rec_bytes rounds = {0};
        char said[1024] = "", name[16];
        struct pug_log *log = pug_log_new(PUG_SEV_WARN);
        const struct pug_capture_options options = {.log = log};
        made_folder_begin(&folder);
        perf_story_make(&story, &container);
        put_rounds(&rounds, 256, every);
        for (unsigned i = 0; i < 8; i++) {
            snprintf(name, sizeof(name), "data.%u", i);
            made_folder_file(&folder, name, rounds.data, rounds.size);
        }
        made_folder_file(&folder, "data", story.file.data, story.file.size);
        pug_log_set_sink(log, note_said, said);
        const enum pug_status status = pug_capture_open(folder.path, &options, &capture);
        assert_true(status == PUG_OK || status == PUG_ERR_NOT_BUILT);
        if (status == PUG_OK) {
            assert_int_equal(strstr(said, "it unpacks to far too much") != NULL, every == 256);
            pug_capture_free(capture);
        }
        rec_bytes_free(&rounds);
        pug_log_free(log);
        perf_story_free(&story);
        made_folder_end(&folder);
    }
}
#else
static void test_compressed(void **state)
{
    (void)state;
    skip();
}

static void test_much_in_a_directory(void **state)
{
    (void)state;
    skip();
}

static void test_much(void **state)
{
    (void)state;
    skip();
}
#endif

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_directory), cmocka_unit_test(test_compressed),
        cmocka_unit_test(test_split),     cmocka_unit_test(test_init_map),
        cmocka_unit_test(test_flags),     cmocka_unit_test(test_missing_part),
        cmocka_unit_test(test_any_order), cmocka_unit_test(test_two_events),
        cmocka_unit_test(test_much),      cmocka_unit_test(test_much_in_a_directory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
