// SPDX-License-Identifier: MIT
/** @file perf.data: stories whose truth is known, every kind of container, and damage. */
#include "pugmark/pugmark.h"
#include "support/perf_story.h"

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

/* ---- what a capture tells, thread by thread ---- */

struct slice {
    int32_t tid;
    uint64_t time;
    size_t number, from, count; /* in pcs */
};

struct heard {
    struct pug_capture *capture;
    uint64_t *pcs;
    size_t count, room;
    struct slice *slices;
    size_t slice_count, slice_room;
    uint64_t ranges, places;
};

struct part {
    struct heard *heard;
    struct heard own;
};

static void *begin(void *context, unsigned worker)
{
    struct part *part = calloc(1, sizeof(*part));
    (void)worker;
    assert_non_null(part);
    part->heard = context;
    return part;
}

static void *more(void *items, size_t *room, size_t count, size_t size)
{
    if (count < *room)
        return items;
    *room = *room * 2 + 64;
    items = realloc(items, *room * size);
    assert_non_null(items);
    return items;
}

static void add_range(struct part *part, const struct pug_situation *situation,
                      const struct pug_element *range)
{
    struct heard *own = &part->own;
    struct pug_location place;
    own->ranges++;
    own->places += pug_capture_locate(part->heard->capture, situation, range->start, &place) &&
                   place.first <= range->start && range->start <= place.last;
    for (uint32_t i = 0; i < range->count; i++) {
        own->pcs = more(own->pcs, &own->room, own->count, sizeof(*own->pcs));
        own->pcs[own->count++] = range->start + 4 * (uint64_t)i;
    }
}

static void elements(void *context, const struct pug_situation *situation,
                     const struct pug_element *given, size_t count)
{
    struct part *part = context;
    struct heard *own = &part->own;
    const struct pug_capture_task *task =
        situation->task == PUG_NO_TASK ? NULL
                                       : pug_capture_task_at(part->heard->capture, situation->task);
    struct slice slice = {
        .tid = task ? task->tid : -1, .time = situation->time, .from = own->count};
    for (size_t i = 0; i < count; i++)
        if (given[i].type == PUG_ELEM_INSTR_RANGE)
            add_range(part, situation, &given[i]);
    slice.count = own->count - slice.from;
    own->slices = more(own->slices, &own->slice_room, own->slice_count, sizeof(*own->slices));
    own->slices[own->slice_count++] = slice;
}

static void drop(void *context)
{
    struct part *part = context;
    free(part->own.pcs);
    free(part->own.slices);
    free(part);
}

static bool take(void *context, void *taken)
{
    struct heard *heard = context;
    struct part *part = taken;
    for (size_t i = 0; i < part->own.slice_count; i++) {
        struct slice slice = part->own.slices[i];
        slice.from += heard->count;
        slice.number = heard->slice_count;
        heard->slices =
            more(heard->slices, &heard->slice_room, heard->slice_count, sizeof(*heard->slices));
        heard->slices[heard->slice_count++] = slice;
    }
    for (size_t i = 0; i < part->own.count; i++) {
        heard->pcs = more(heard->pcs, &heard->room, heard->count, sizeof(*heard->pcs));
        heard->pcs[heard->count++] = part->own.pcs[i];
    }
    heard->ranges += part->own.ranges;
    heard->places += part->own.places;
    drop(part);
    return true;
}

static int by_thread_and_time(const void *left, const void *right)
{
    const struct slice *a = left, *b = right;
    if (a->tid != b->tid)
        return a->tid < b->tid ? -1 : 1;
    if (a->time != b->time)
        return a->time < b->time ? -1 : 1;
    return a->number < b->number ? -1 : a->number > b->number;
}

static void listen(struct pug_capture *capture, unsigned threads,
                   const struct pug_capture_selection *selection, struct heard *heard)
{
    struct pug_capture_result result;
    const struct pug_capture_decode config = {.context = heard,
                                              .begin = begin,
                                              .elements = elements,
                                              .take = take,
                                              .drop = drop,
                                              .threads = threads,
                                              .piece = 4096,
                                              .selection = selection,
                                              .times = true};
    *heard = (struct heard){.capture = capture};
    assert_int_equal(pug_capture_decode(capture, &config, &result), PUG_OK);
    if (heard->slice_count > 0)
        qsort(heard->slices, heard->slice_count, sizeof(*heard->slices), by_thread_and_time);
}

static void heard_free(struct heard *heard)
{
    free(heard->pcs);
    free(heard->slices);
}

/** The program counters of a thread, as they were heard, against what ran. */
static void check_path(const struct heard *heard, const struct perf_story_path *path)
{
    size_t at = 0;
    for (size_t i = 0; i < heard->slice_count; i++) {
        const struct slice *slice = &heard->slices[i];
        for (size_t n = 0; slice->tid == path->tid && n < slice->count; n++, at++) {
            assert_true(at < path->count);
            assert_int_equal(heard->pcs[slice->from + n], path->pcs[at]);
        }
    }
    assert_int_equal(at, path->count);
}

static struct pug_capture *open_story(struct perf_story *story, struct pug_log *log)
{
    struct pug_capture *capture;
    const struct pug_capture_options options = {.log = log,
                                                .roots = {.symfs = story->folder, .build_ids = ""}};
    assert_int_equal(pug_capture_open(perf_story_write(story), &options, &capture), PUG_OK);
    return capture;
}

/** A story comes back as it was told, whoever tells it. */
static void check_story(const struct perf_story_config *config)
{
    struct perf_story story;
    perf_story_make(&story, config);
    struct pug_capture *capture = open_story(&story, NULL);
    assert_int_equal(pug_capture_kind(capture), PUG_CAPTURE_PERF);
    size_t stretches = 0;
    uint64_t bytes = 0;
    const struct pug_capture_stretch *stretch;
    for (; (stretch = pug_capture_stretch_at(capture, stretches)) != NULL; stretches++)
        bytes += stretch->size;
    assert_int_equal(stretches, story.stretches);
    assert_int_equal(bytes, story.trace_bytes);
    for (unsigned threads = 1; threads <= 8; threads += threads == 1 ? 1 : 6) {
        struct heard heard;
        listen(capture, threads, NULL, &heard);
        for (size_t i = 0; i < story.path_count; i++)
            check_path(&heard, &story.paths[i]);
        assert_int_equal(heard.ranges, heard.places);
        heard_free(&heard);
    }
    pug_capture_free(capture);
    perf_story_free(&story);
}

static void test_stories(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 12; seed++) {
        const struct perf_story_config config = {.seed = seed * 77,
                                                 .slices = 60 * (unsigned)seed,
                                                 .cpus = 1 + (unsigned)seed % 5,
                                                 .one_sink = seed % 3 == 0,
                                                 .sinks = seed % 3 == 1,
                                                 .pipe = seed % 4 == 3,
                                                 .kernel = seed % 5 != 0,
                                                 .same_times = seed % 2 == 1,
                                                 .shuffled = seed % 2 == 0};
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

/* ---- other containers of the same ---- */

static uint64_t number_at(const uint8_t *bytes, unsigned size)
{
    uint64_t value = 0;
    for (unsigned i = 0; i < size; i++)
        value |= (uint64_t)bytes[i] << 8 * i;
    return value;
}

/** Where the records begin, and the size of the one at `at` with what stands behind it. */
static size_t data_of(const struct perf_story *story)
{
    return (size_t)number_at(story->file.data + 40, 8);
}

static size_t record_size(const struct perf_story *story, size_t at)
{
    const uint8_t *record = story->file.data + at;
    const size_t size = (size_t)number_at(record + 6, 2);
    return size + (number_at(record, 4) == 71 ? (size_t)number_at(record + 8, 8) : 0);
}

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
    struct heard heard;
    const struct pug_capture_options options = {.roots = {.symfs = story->folder, .build_ids = ""}};
    assert_int_equal(pug_capture_open(path, &options, &capture), PUG_OK);
    listen(capture, 2, NULL, &heard);
    for (size_t i = 0; i < story->path_count; i++)
        check_path(&heard, &story->paths[i]);
    heard_free(&heard);
    pug_capture_free(capture);
}

static const struct perf_story_config container = {.seed = 21, .slices = 120, .cpus = 3};

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
        /* A stretch and its trace stay together: AUX, then the piece of the buffer. */
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
        if (number_at(record, 4) != 10) {
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
    while (number_at(story.file.data + attributes, 4) == 64)
        attributes += record_size(&story, attributes);
    rec_put_n(&file, story.file.data, attributes);
    for (size_t at = attributes, size; at < story.file.size; at += size) {
        size = record_size(&story, at);
        if (maps.size < 2000 &&
            (number_at(story.file.data + at, 4) == 10 || number_at(story.file.data + at, 4) == 3))
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
        const bool moved = left_out < maps.size && (number_at(story.file.data + at, 4) == 10 ||
                                                    number_at(story.file.data + at, 4) == 3);
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

/** Flags of AUX records are told; the trace is that of the record all the same. */
static void test_flags(void **state)
{
    struct perf_story story;
    const struct pug_capture_stretch *stretch;
    (void)state;
    perf_story_make(&story, &container);
    for (size_t at = data_of(&story); at < story.file.size; at += record_size(&story, at))
        if (number_at(story.file.data + at, 4) == 11)
            story.file.data[at + 24] |= 1 | 4 | 8;
    struct pug_capture *capture = open_story(&story, NULL);
    size_t count = 0;
    for (; (stretch = pug_capture_stretch_at(capture, count)) != NULL; count++)
        assert_int_equal(stretch->flags,
                         PUG_STRETCH_LOST | PUG_STRETCH_GAPS | PUG_STRETCH_COLLISION);
    assert_int_equal(count, story.stretches);
    pug_capture_free(capture);
    check_paths(&story, perf_story_write(&story));
    perf_story_free(&story);
}

#ifdef PUG_WITH_ZSTD
#include <zstd.h>

/** One record of compressed bytes; with the second kind padded, and its size told. */
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

/** All records but those of trace in one stream, cut anywhere. */
static void compress(struct perf_story *story, bool second)
{
    struct rec_bytes plain = {0}, trace = {0}, data = {0};
    for (size_t at = data_of(story), size; at < story->file.size; at += size) {
        const uint64_t type = number_at(story->file.data + at, 4);
        size = record_size(story, at);
        rec_put_n(type >= 64 ? &trace : &plain, story->file.data + at, size);
    }
    const size_t room = ZSTD_compressBound(plain.size);
    uint8_t *packed = malloc(room);
    assert_non_null(packed);
    const size_t size = ZSTD_compress(packed, room, plain.data, plain.size, 3);
    assert_false(ZSTD_isError(size));
    for (size_t at = 0, step; at < size; at += step) {
        step = size - at < 37 ? size - at : 37;
        put_compressed(&data, packed + at, step, second);
    }
    rec_put_n(&data, trace.data, trace.size);
    rec_bytes_free(&plain);
    rec_bytes_free(&trace);
    free(packed);
    replace_records(story, &data);
}

/** A build without zstd says that it cannot; no other one fails. */
static void test_compressed(void **state)
{
    (void)state;
    for (unsigned second = 0; second < 2; second++) {
        struct perf_story story;
        struct pug_capture *capture;
        const struct pug_capture_options options = {.buffer = NULL};
        perf_story_make(&story, &container);
        compress(&story, second);
        const enum pug_status status =
            pug_capture_open(perf_story_write(&story), &options, &capture);
        if (status == PUG_OK) {
            pug_capture_free(capture);
            check_paths(&story, perf_story_write(&story));
        } else {
            assert_int_equal(status, PUG_ERR_NO_PROTOCOL);
        }
        perf_story_free(&story);
    }
}
#else
static void test_compressed(void **state)
{
    (void)state;
    skip();
}
#endif

/* ---- selections ---- */

static size_t count_of(const struct heard *heard, int32_t tid)
{
    size_t count = 0;
    for (size_t i = 0; i < heard->slice_count; i++)
        count += heard->slices[i].tid == tid ? heard->slices[i].count : 0;
    return count;
}

static void test_selections(void **state)
{
    const struct perf_story_config config = {.seed = 5, .slices = 200, .cpus = 3};
    struct perf_story story;
    struct heard all, some;
    (void)state;
    perf_story_make(&story, &config);
    struct pug_capture *capture = open_story(&story, NULL);
    listen(capture, 2, NULL, &all);
    const int32_t tid = story.paths[0].tid;
    listen(capture, 2, &(struct pug_capture_selection){.tids = &tid, .tid_count = 1}, &some);
    assert_int_equal(some.count, story.paths[0].count);
    check_path(&some, &story.paths[0]);
    heard_free(&some);
    size_t sum = 0;
    for (int32_t cpu = 0; cpu < 3; cpu++) {
        listen(capture, 1, &(struct pug_capture_selection){.cpus = &cpu, .cpu_count = 1}, &some);
        assert_true(some.count > 0);
        sum += some.count;
        heard_free(&some);
    }
    assert_int_equal(sum, all.count);
    sum = 0;
    for (unsigned i = 0; i < 4; i++) {
        static const char *const objects[] = {"one", "/bin/two", "libthree.so", "libfour.so"};
        const struct pug_capture_selection selection = {.objects = &objects[i], .object_count = 1};
        listen(capture, 2, &selection, &some);
        sum += some.count;
        heard_free(&some);
    }
    assert_int_equal(sum, all.count);
    const struct pug_capture_selection early = {.has_to = true, .to = 4000};
    const struct pug_capture_selection late = {.has_from = true, .from = 4000};
    listen(capture, 2, &early, &some);
    sum = some.count;
    assert_true(sum > 0 && sum < all.count);
    heard_free(&some);
    listen(capture, 2, &late, &some);
    assert_int_equal(sum + some.count, all.count);
    heard_free(&some);
    assert_int_equal(count_of(&all, tid), story.paths[0].count);
    heard_free(&all);
    pug_capture_free(capture);
    perf_story_free(&story);
}

/* ---- what is missing ---- */

static void test_missing(void **state)
{
    const struct perf_story_config config = {.seed = 9, .slices = 40, .cpus = 1};
    struct perf_story story;
    struct pug_capture *capture;
    struct heard heard;
    (void)state;
    perf_story_make(&story, &config);
    /* Another root has none of the programs: nothing runs, and each says what would bring it. */
    char empty[128];
    snprintf(empty, sizeof(empty), "%s/bin", story.folder);
    const struct pug_capture_options options = {.roots = {.symfs = empty, .build_ids = ""}};
    assert_int_equal(pug_capture_open(perf_story_write(&story), &options, &capture), PUG_OK);
    listen(capture, 2, NULL, &heard);
    assert_int_equal(heard.count, 0);
    const struct pug_capture_object *object;
    for (size_t n = 0; (object = pug_capture_object_at(capture, n)) != NULL; n++) {
        assert_int_equal(object->state, PUG_OBJECT_MISSING);
        assert_non_null(strstr(object->why, "--dso"));
    }
    heard_free(&heard);
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
    struct heard heard;
    const struct pug_capture_options options = {.log = log,
                                                .roots = {.symfs = story->folder, .build_ids = ""}};
    if (pug_capture_open(perf_story_write(story), &options, &capture) != PUG_OK)
        return;
    listen(capture, 1, NULL, &heard);
    heard_free(&heard);
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
    for (size_t i = 0; i < story.file.size; i++) {
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
        cmocka_unit_test(test_stories),    cmocka_unit_test(test_threads),
        cmocka_unit_test(test_selections), cmocka_unit_test(test_missing),
        cmocka_unit_test(test_directory),  cmocka_unit_test(test_compressed),
        cmocka_unit_test(test_damage),     cmocka_unit_test(test_roots),
        cmocka_unit_test(test_split),      cmocka_unit_test(test_init_map),
        cmocka_unit_test(test_flags),      cmocka_unit_test(test_big_endian),
        cmocka_unit_test(test_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
