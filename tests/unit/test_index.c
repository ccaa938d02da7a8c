// SPDX-License-Identifier: MIT
/**
 * @file Indexes: a summary index finds what an index of every mark has, over the bundled capture
 * and the shared ones; damaged and foreign files are refused; a file gives what was saved.
 */
#include "base/bytes.h"
#include "index/values.h"
#include "pugmark/author/protocol.h"
#include "pugmark/pugmark.h"
#include "pugmark/snapshot.h"
#include "recorder/encapsulation.h"

#include <dirent.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#define SHARED     PUG_SOURCE_DIR "/../shared/captures"
#define VECTORS    PUG_SOURCE_DIR "/../shared/vectors"
#define FILE_LIMIT 200000u
#define DEMO       PUG_SOURCE_DIR "/examples/demo"

struct capture {
    const char *protocol, *transport; /* of a file of its own; else of a snapshot: */
    struct pug_snapshot *snapshot;
    const struct pug_snapshot_buffer *buffer;
    uint8_t *bytes;
    uint64_t size;
};

/** What the last decoding tree decodes with. */
static struct pug_image *program;

static struct pug_tree *new_decoder(const struct capture *capture, bool decode)
{
    struct pug_tree *tree = NULL;
    if (capture->protocol) {
        const struct pug_tree_config plain = {.transport = capture->transport};
        const struct pug_source_config source = {.protocol = capture->protocol, .decode = decode};
        assert_int_equal(pug_tree_new(&plain, &tree), PUG_OK);
        assert_int_equal(pug_tree_add_source(tree, &source, NULL), PUG_OK);
        return tree;
    }
    if (decode) { /* the tree before is gone */
        pug_image_free(program);
        program = pug_image_new();
        assert_non_null(program);
    }
    const struct pug_snapshot_tree_config config = {.decode = decode,
                                                    .image = decode ? program : NULL};
    return pug_snapshot_tree(capture->snapshot, capture->buffer, &config, &tree) == PUG_OK ? tree
                                                                                           : NULL;
}

static struct pug_tree *new_tree(const struct capture *capture)
{
    return new_decoder(capture, false);
}

static struct pug_index *build_with(const struct capture *capture,
                                    const struct pug_index_options *options)
{
    struct pug_tree *tree = new_decoder(capture, options->elements);
    struct pug_index *index = NULL;
    assert_non_null(tree);
    assert_int_equal(pug_index_build(tree, capture->bytes, capture->size, options, &index), PUG_OK);
    pug_tree_free(tree);
    return index;
}

static struct pug_index *build(const struct capture *capture, uint64_t block, bool full)
{
    return build_with(capture, &(struct pug_index_options){.block = block, .full = full});
}

static bool open_capture(const char *directory, struct capture *capture)
{
    struct pug_trace *trace = NULL;
    enum pug_status status;
    *capture = (struct capture){0};
    const struct pug_snapshot_options options = {0};
    if (pug_snapshot_open(directory, &options, &capture->snapshot) != PUG_OK)
        return false;
    capture->buffer = pug_snapshot_buffer_at(capture->snapshot, 0);
    struct pug_tree *tree = capture->buffer ? new_tree(capture) : NULL;
    bool good = tree && pug_trace_open(capture->snapshot, capture->buffer, &trace) == PUG_OK;
    pug_tree_free(tree);
    if (!good) {
        pug_snapshot_free(capture->snapshot);
        return false;
    }
    uint64_t size = pug_trace_size(trace);
    capture->bytes = malloc(size + 1);
    assert_non_null(capture->bytes);
    capture->size = pug_trace_read(trace, capture->bytes, size, &status);
    pug_trace_close(trace);
    return true;
}

static void close_capture(struct capture *capture)
{
    free(capture->bytes);
    pug_snapshot_free(capture->snapshot);
}

/** A file of one protocol. */
static void visit_file(const char *path, const char *protocol, const char *transport,
                       void (*visit)(const struct capture *capture))
{
    struct capture capture = {
        .protocol = protocol, .transport = transport, .bytes = malloc(FILE_LIMIT)};
    FILE *file = fopen(path, "rb");
    assert_non_null(capture.bytes);
    capture.size = file ? fread(capture.bytes, 1, FILE_LIMIT, file) : 0;
    if (file)
        fclose(file);
    if (capture.size > 0)
        visit(&capture);
    free(capture.bytes);
}

static void each_capture(void (*visit)(const struct capture *capture))
{
    struct capture capture;
    visit_file(VECTORS "/ntrace/ref-dhrystone/btm.nex", "N-Trace", "plain", visit);
    visit_file(VECTORS "/ntrace/ref-dhrystone/htm.nex", "N-Trace", "plain", visit);
    visit_file(VECTORS "/etrace/dhrystone/base.te", "E-Trace", "encapsulation", visit);
    assert_true(open_capture(DEMO, &capture));
    visit(&capture);
    close_capture(&capture);
    DIR *shared = opendir(SHARED);
    if (!shared) {
        print_message("%s is not there: only the bundled capture is tested\n", SHARED);
        return;
    }
    for (struct dirent *entry; (entry = readdir(shared)) != NULL;) {
        char path[512];
        snprintf(path, sizeof(path), "%s/%.200s", SHARED, entry->d_name);
        if (entry->d_name[0] == '.' || !open_capture(path, &capture))
            continue;
        visit(&capture);
        close_capture(&capture);
    }
    closedir(shared);
}

/* ---- finding ---- */

static uint64_t truth(const struct pug_index *full, const struct pug_index_query *query)
{
    uint64_t best = UINT64_MAX;
    for (uint64_t i = 0; i < full->header->marks; i++) {
        const struct pug_index_file_mark *mark = &full->marks[i];
        if (mark->kind != query->kind || mark->value < query->least ||
            mark->value > query->greatest ||
            (query->source != PUG_INDEX_ANY && query->source != mark->source))
            continue;
        if (query->backwards && mark->at < query->from)
            best = mark->at;
        else if (!query->backwards && mark->at >= query->from)
            return mark->at;
    }
    return best;
}

static uint64_t answer(const struct pug_index *index, struct pug_tree *tree,
                       const struct capture *capture, const struct pug_index_query *query)
{
    struct pug_index_mark mark;
    enum pug_status status =
        pug_index_find(index, tree, capture->bytes, capture->size, query, &mark);
    assert_true(status == PUG_OK || status == PUG_ERR_NOT_FOUND);
    return status == PUG_OK ? mark.at : UINT64_MAX;
}

/** Sparse and full answers to questions about real marks and about anything. */
static void compare(const struct capture *capture)
{
    struct pug_index *full = build(capture, 1024, true), *sparse = build(capture, 2000, false);
    struct pug_tree *tree = new_tree(capture);
    struct rec_random random = {.state = capture->size + 7};
    for (int n = 0; n < 60 && full->header->marks > 0; n++) {
        const struct pug_index_file_mark *some =
            &full->marks[rec_random_below(&random, (uint32_t)full->header->marks)];
        struct pug_index_query query = {
            .kind = (enum pug_mark_kind)some->kind,
            .source = rec_random_once_in(&random, 2) ? PUG_INDEX_ANY : some->source,
            .from = rec_random_below(&random, (uint32_t)capture->size + 1),
            .backwards = rec_random_once_in(&random, 2),
            .least = rec_random_once_in(&random, 3) ? 0 : some->value,
            .greatest = rec_random_once_in(&random, 2) ? UINT64_MAX : some->value,
        };
        if (rec_random_once_in(&random, 4)) /* a value that may be nowhere */
            query.least = query.greatest = some->value + 1;
        uint64_t right = truth(full, &query);
        assert_int_equal(answer(full, NULL, capture, &query), right);
        if (some->source != PUG_SOURCE_UNKNOWN)
            assert_int_equal(answer(sparse, tree, capture, &query), right);
    }
    pug_tree_free(tree);
    pug_index_free(full);
    pug_index_free(sparse);
}

static void finds_the_same(void **state)
{
    (void)state;
    each_capture(compare);
}

/** The bytes of all sources are those of the trace, and what is active has bytes. */
static void knows_sources(void **state)
{
    struct capture capture;
    (void)state;
    assert_true(open_capture(DEMO, &capture));
    struct pug_index *index = build(&capture, 1024, false);
    struct pug_index_source source;
    uint64_t bytes = 0;
    for (size_t n = 0; pug_index_source_at(index, n, &source); n++)
        bytes += source.bytes;
    assert_true(bytes > 0 && bytes <= capture.size);
    uint16_t ids[8];
    size_t active = pug_index_active(index, 0, capture.size, ids, 8);
    assert_true(active > 0);
    assert_int_equal(pug_index_active(index, 5, 5, ids, 8), 0);
    uint64_t sync = pug_index_sync_before(index, PUG_INDEX_ANY, capture.size);
    assert_true(sync < capture.size);
    pug_index_free(index);
    close_capture(&capture);
}

/* ---- values ---- */

static struct pug_index_file_value some_value(struct rec_random *random, uint32_t most)
{
    uint32_t block = rec_random_below(random, 500);
    return (struct pug_index_file_value){
        .value = UINT64_C(0x1000) * rec_random_below(random, most),
        .kind = rec_random_once_in(random, 8) ? PUG_MARK_EXCEPTION : PUG_MARK_ADDRESS,
        .first = block,
        .last = block,
        .parts = UINT64_C(1) << pug_index_part(block, 3),
    };
}

/** Each value once, in order, whatever the order in which they came. */
static void lists_values(void **state)
{
    enum { VALUES = 20000 };
    struct pug_index_value_rules rules = pug_index_value_rules(UINT64_C(64) << 20, 131072);
    struct pug_index_value_table forwards = {0}, backwards = {0};
    struct rec_random random = {.state = 31};
    struct pug_index_file_value *values = calloc(VALUES, sizeof(*values));
    (void)state;
    assert_non_null(values);
    for (int n = 0; n < VALUES; n++)
        values[n] = some_value(&random, 300);
    for (int n = 0; n < VALUES; n++) {
        assert_true(pug_index_value_add(&forwards, &rules, &values[n]));
        assert_true(pug_index_value_add(&backwards, &rules, &values[VALUES - 1 - n]));
    }
    free(values);
    assert_int_equal(forwards.count, backwards.count);
    struct pug_index_file_value *whole = calloc(forwards.count, sizeof(*whole));
    struct pug_index_file_value *other = calloc(forwards.count, sizeof(*other));
    assert_non_null(whole);
    assert_non_null(other);
    pug_index_values_sort(&forwards, whole);
    pug_index_values_sort(&backwards, other);
    assert_memory_equal(whole, other, forwards.count * sizeof(*whole));
    for (size_t i = 1; i < forwards.count; i++)
        assert_true(whole[i - 1].kind < whole[i].kind || whole[i - 1].value < whole[i].value);
    free(whole);
    free(other);
    pug_index_values_free(&forwards);
    pug_index_values_free(&backwards);
}

/** A kind with too many values has none; the others stay. */
static void gives_up_kinds(void **state)
{
    struct pug_index_value_rules rules = pug_index_value_rules(UINT64_C(1) << 20, 4096);
    struct pug_index_value_table table = {0};
    struct rec_random random = {.state = 32};
    (void)state;
    for (int n = 0; n < 2000; n++) {
        struct pug_index_file_value value = some_value(&random, 1000);
        value.value = value.kind == PUG_MARK_EXCEPTION ? value.value % 5 : value.value;
        assert_true(pug_index_value_add(&table, &rules, &value));
    }
    assert_int_equal(table.given_up, 1u << PUG_MARK_ADDRESS);
    assert_int_equal(table.count, table.counts[PUG_MARK_EXCEPTION]);
    assert_true(table.count > 0 && table.count <= 5);
    pug_index_values_free(&table);
}

/* ---- marks are those of the packets ---- */

struct marked {
    const struct pug_source *source;
    struct pug_index_file_mark *marks;
    size_t *count, room;
};

static void put_mark(struct marked *marked, uint64_t at, enum pug_mark_kind kind, uint64_t value)
{
    if (*marked->count < marked->room)
        marked->marks[(*marked->count)++] =
            (struct pug_index_file_mark){.at = at,
                                         .value = value,
                                         .source = pug_source_id(marked->source),
                                         .kind = (uint8_t)kind};
}

static void on_marked(void *context, enum pug_op op, const struct pug_packet *packet)
{
    struct marked *marked = context;
    struct pug_mark marks[PUG_MARK_LIMIT];
    const struct pug_protocol *protocol = pug_source_protocol(marked->source);
    if (op != PUG_OP_DATA)
        return;
    if (packet->flags & PUG_PACKET_SYNC)
        put_mark(marked, packet->index, PUG_MARK_SYNC, 0);
    size_t count =
        protocol->packet_marks
            ? protocol->packet_marks(pug_source_config(marked->source), packet->data, marks)
            : 0;
    for (size_t i = 0; i < count; i++)
        put_mark(marked, packet->index, marks[i].kind, marks[i].value);
}

static int by_place(const void *a, const void *b)
{
    const struct pug_index_file_mark *x = a, *y = b;
    if (x->at != y->at)
        return x->at < y->at ? -1 : 1;
    if (x->source != y->source)
        return x->source < y->source ? -1 : 1;
    if (x->kind != y->kind)
        return (int)x->kind - (int)y->kind;
    return x->value < y->value ? -1 : x->value > y->value;
}

/** The marks of all packets, as a monitor sees them. */
static size_t monitored_marks(const struct capture *capture, struct pug_index_file_mark *marks,
                              size_t room)
{
    struct pug_tree *tree = new_tree(capture);
    struct marked marked[64];
    struct pug_source *source;
    size_t count = 0, used = 0, at = 0;
    for (size_t n = 0; n < 64 && (source = pug_tree_source_at(tree, n)) != NULL; n++) {
        marked[n] =
            (struct marked){.source = source, .marks = marks, .count = &count, .room = room};
        pug_source_monitor(source, on_marked, &marked[n]);
    }
    enum pug_response response = PUG_RESP_CONT;
    while (at < capture->size && PUG_RESP_IS_CONT(response)) {
        response = pug_tree_data(tree, at, capture->bytes + at, capture->size - at, &used);
        at += used;
    }
    if (PUG_RESP_IS_CONT(response))
        pug_tree_end(tree);
    pug_tree_free(tree);
    qsort(marks, count, sizeof(*marks), by_place);
    return count;
}

static bool is_of_source(struct pug_tree *tree, uint16_t id)
{
    struct pug_source *source;
    for (size_t n = 0; (source = pug_tree_source_at(tree, n)) != NULL; n++)
        if (pug_source_id(source) == id)
            return true;
    return false;
}

static void compare_marks(const struct capture *capture)
{
    size_t room = 4 * capture->size + 64, seen = 0;
    struct pug_index_file_mark *marks = malloc(room * sizeof(*marks));
    assert_non_null(marks);
    struct pug_index *index = build(capture, 4096, true);
    struct pug_tree *tree = new_tree(capture);
    size_t count = monitored_marks(capture, marks, room);
    for (uint64_t i = 0; i < index->header->marks; i++) {
        const struct pug_index_file_mark *mark = &index->marks[i];
        if (!is_of_source(tree, mark->source))
            continue;
        assert_true(seen < count);
        assert_int_equal(by_place(mark, &marks[seen]), 0);
        seen++;
    }
    assert_int_equal(seen, count);
    pug_tree_free(tree);
    pug_index_free(index);
    free(marks);
}

static void damage(const struct capture *capture, uint64_t seed)
{
    struct rec_random random = {.state = seed};
    for (uint64_t i = 0; i < 1 + capture->size / 500; i++)
        capture->bytes[rec_random_below(&random, (uint32_t)capture->size)] =
            (uint8_t)rec_random_below(&random, 256);
}

/** Whole and damaged: what is skimmed over has no marks, and hides none. */
static void compare_damaged(const struct capture *capture)
{
    compare_marks(capture);
    for (unsigned n = 0; n < 4; n++) {
        damage(capture, capture->size + n);
        compare_marks(capture);
    }
}

static void marks_what_packets_say(void **state)
{
    (void)state;
    each_capture(compare_damaged);
}

/* ---- times ---- */

struct times {
    const struct pug_index *index;
    uint64_t next;
};

/** The next timestamp mark is what the decoder says of the global time. */
static enum pug_response on_times(void *context, const struct pug_element *elements, size_t count,
                                  size_t *taken)
{
    struct times *times = context;
    (void)taken;
    for (size_t i = 0; i < count; i++) {
        const struct pug_element *e = &elements[i];
        if (e->type != PUG_ELEM_ITMTRACE || e->reason != PUG_ITM_TS_GLOBAL)
            continue;
        const struct pug_index_file_mark *mark = &times->index->marks[times->next];
        while (times->next < times->index->header->marks && mark->kind != PUG_MARK_TIMESTAMP)
            mark = &times->index->marks[++times->next];
        assert_true(times->next < times->index->header->marks);
        assert_int_equal(mark->at, e->index);
        assert_int_equal(mark->value, e->timestamp);
        times->next++;
    }
    return PUG_RESP_CONT;
}

static void compare_times(const struct capture *capture)
{
    struct pug_index *index = build(capture, 1024, true);
    struct pug_tree *tree = new_decoder(capture, true);
    struct times times = {.index = index};
    uint64_t at = 0;
    size_t used = 0;
    pug_tree_on_elements(tree, on_times, &times);
    while (at < capture->size && PUG_RESP_IS_CONT(pug_tree_data(tree, at, capture->bytes + at,
                                                                capture->size - at, &used)))
        at += used;
    pug_tree_free(tree);
    pug_index_free(index);
}

static void knows_global_times(void **state)
{
    struct capture capture;
    (void)state;
    if (!open_capture(SHARED "/itm_only_raw", &capture)) {
        print_message("%s is not there\n", SHARED "/itm_only_raw");
        skip();
    }
    compare_times(&capture);
    close_capture(&capture);
}

/* ---- several threads, and in several goes ---- */

static void assert_same(const struct pug_index *index, const struct pug_index *other)
{
    assert_int_equal(index->size, other->size);
    assert_memory_equal(index->bytes, other->bytes, index->size);
}

/** However many threads make it, and whatever it has, it is the same. */
static void compare_jobs(const struct capture *capture)
{
    for (unsigned what = 0; what < 3; what++) {
        struct pug_index_options options = {
            .block = 1024, .jobs = 1, .full = what == 1, .elements = what == 2};
        struct pug_index *serial = build_with(capture, &options);
        for (options.jobs = 2; options.jobs <= 8; options.jobs += 1 + options.jobs / 2) {
            struct pug_index *parallel = build_with(capture, &options);
            assert_same(parallel, serial);
            pug_index_free(parallel);
        }
        pug_index_free(serial);
    }
}

static void compare_damaged_jobs(const struct capture *capture)
{
    compare_jobs(capture);
    damage(capture, capture->size + 6);
    compare_jobs(capture);
}

static void is_the_same_from_threads(void **state)
{
    (void)state;
    each_capture(compare_damaged_jobs);
}

/** Packets of more sources than are counted, each of which comes once and again. */
static struct rec_bytes make_crowd(void)
{
    struct rec_bytes bytes = {0};
    struct rec_encapsulation out = {.src_bits = 12, .padding = REC_PAD_ZERO, .out = &bytes};
    struct rec_random random = {.state = 5};
    for (unsigned n = 0; n < 6000; n++) {
        const uint64_t payload = rec_random(&random);
        if (n % 64 == 0)
            rec_encapsulation_sync(&out);
        rec_encapsulate(&out, (uint16_t)(n % 3000 + rec_random_below(&random, 500)), 0, NULL,
                        (const uint8_t *)&payload, 7);
    }
    return bytes;
}

static struct pug_tree *new_crowd_tree(void)
{
    const struct pug_setting width = {.name = "src_bits", .value = 12};
    const struct pug_tree_config config = {.transport = "encapsulation",
                                           .settings = {.items = &width, .count = 1}};
    struct pug_tree *tree = NULL;
    assert_int_equal(pug_tree_new(&config, &tree), PUG_OK);
    const struct pug_source_config source = {.protocol = "E-Trace"};
    assert_int_equal(pug_tree_add_source(tree, &source, NULL), PUG_OK);
    return tree;
}

/** Those that are counted are the first ones, whoever reads, and also where an index goes on. */
static void counts_the_first_ids(void **state)
{
    struct rec_bytes bytes = make_crowd();
    struct pug_index *one = NULL, *other = NULL, *part = NULL;
    struct pug_index_options options = {.block = 1024, .jobs = 1};
    struct pug_tree *tree = new_crowd_tree();
    (void)state;
    assert_int_equal(pug_index_build(tree, bytes.data, bytes.size, &options, &one), PUG_OK);
    pug_tree_free(tree);
    assert_int_equal(one->header->sources, PUG_INDEX_SOURCE_LIMIT);
    for (options.jobs = 2; options.jobs <= 4; options.jobs++) {
        tree = new_crowd_tree();
        assert_int_equal(pug_index_build(tree, bytes.data, bytes.size, &options, &other), PUG_OK);
        assert_same(other, one);
        pug_index_free(other);
        pug_tree_free(tree);
    }
    tree = new_crowd_tree();
    options.limit = 8192;
    assert_int_equal(pug_index_build(tree, bytes.data, bytes.size, &options, &part), PUG_OK);
    assert_true(part->header->sources < PUG_INDEX_SOURCE_LIMIT);
    options.limit = 0;
    pug_tree_free(tree);
    tree = new_crowd_tree();
    assert_int_equal(pug_index_extend(part, tree, bytes.data, bytes.size, &options, &other),
                     PUG_OK);
    assert_same(other, one);
    pug_index_free(other);
    pug_index_free(part);
    pug_index_free(one);
    pug_tree_free(tree);
    rec_bytes_free(&bytes);
}

/** Sources, also one with the last id there is, whose bytes are counted by who writes them. */
static struct rec_bytes make_last_id(uint64_t *last_bytes, uint64_t *other_bytes)
{
    struct rec_bytes bytes = {0};
    struct rec_encapsulation out = {.src_bits = 16, .padding = REC_PAD_ZERO, .out = &bytes};
    struct rec_random random = {.state = 6};
    *last_bytes = *other_bytes = 0;
    rec_encapsulation_sync(&out);
    for (unsigned n = 0; n < 4000; n++) {
        /* a synchronisation packet of E-Trace, format 3.0, each of them */
        const uint8_t sync[] = {0x83, 0x10, (uint8_t)rec_random(&random), 0x40, 0, 0, 0, 0};
        const bool last = rec_random_below(&random, 3) == 0;
        const uint16_t id = last ? UINT16_MAX : (uint16_t)rec_random_below(&random, 9000);
        rec_encapsulate(&out, id, 0, NULL, sync, sizeof(sync));
        *(last ? last_bytes : other_bytes) += sizeof(sync);
    }
    return bytes;
}

static struct pug_tree *new_last_id_tree(void)
{
    const struct pug_setting settings[] = {{.name = "src_bits", .value = 16},
                                           {.name = "src_id", .value = UINT16_MAX}};
    struct pug_tree *tree = NULL;
    const struct pug_tree_config config = {.transport = "encapsulation",
                                           .settings = {settings, 1, NULL}};
    const struct pug_source_config source = {.protocol = "E-Trace",
                                             .settings = {settings, 2, NULL}};
    assert_int_equal(pug_tree_new(&config, &tree), PUG_OK);
    assert_int_equal(pug_tree_add_source(tree, &source, NULL), PUG_OK);
    return tree;
}

/** The source 0xFFFF and nobody are two. */
static void check_last_id(const struct pug_index *index, const struct rec_bytes *bytes,
                          uint64_t last_bytes, uint64_t other_bytes)
{
    struct pug_index_source source;
    struct pug_index_mark mark;
    uint64_t others = 0, nobody = 0;
    size_t n = 0, synced = 0;
    for (; pug_index_source_at(index, n, &source); n++) {
        if (source.id == UINT16_MAX && !source.nobody) {
            assert_int_equal(source.bytes, last_bytes);
            assert_string_equal(source.protocol, "E-Trace");
            synced = source.counts[PUG_MARK_SYNC];
        } else {
            others += source.bytes;
            nobody += source.nobody ? source.bytes : 0;
            assert_int_equal(source.counts[PUG_MARK_SYNC], 0);
        }
    }
    assert_int_equal(n, PUG_INDEX_SOURCE_LIMIT);
    assert_int_equal(others, other_bytes);
    assert_true(nobody > other_bytes / 4);
    assert_int_equal(synced, last_bytes / 8);
    struct pug_index_info info;
    pug_index_info(index, &info);
    assert_int_equal(info.frame_syncs, 0);
    struct pug_tree *tree = new_last_id_tree();
    struct pug_index_query query = {
        .kind = PUG_MARK_SYNC, .source = UINT16_MAX, .greatest = UINT64_MAX};
    for (size_t found = 0; found < synced && found < 40; found++) {
        assert_int_equal(pug_index_find(index, tree, bytes->data, bytes->size, &query, &mark),
                         PUG_OK);
        assert_true(mark.source == UINT16_MAX && !mark.nobody);
        assert_int_equal(bytes->data[mark.at + 1] & bytes->data[mark.at + 2], 0xff);
        query.from = mark.at + 1;
    }
    query = (struct pug_index_query){
        .kind = PUG_MARK_SYNC, .source = PUG_INDEX_NOBODY, .greatest = UINT64_MAX};
    assert_int_equal(pug_index_find(index, tree, bytes->data, bytes->size, &query, &mark),
                     PUG_ERR_NOT_FOUND);
    pug_tree_free(tree);
}

static void knows_the_last_id(void **state)
{
    uint64_t last_bytes, other_bytes;
    struct rec_bytes bytes = make_last_id(&last_bytes, &other_bytes);
    struct pug_index_options options = {.block = 4096};
    (void)state;
    for (unsigned n = 0; n < 6; n++) {
        struct pug_index *index = NULL, *part = NULL;
        struct pug_tree *tree = new_last_id_tree();
        options.full = n % 2;
        options.jobs = 1 + n / 2;
        options.limit = n >= 4 ? bytes.size / 2 : 0;
        assert_int_equal(pug_index_build(tree, bytes.data, bytes.size, &options, &index), PUG_OK);
        pug_tree_free(tree);
        if (options.limit) { /* the rest behind it, from a file */
            size_t size;
            const void *file = pug_index_bytes(index, &size);
            tree = new_last_id_tree();
            assert_int_equal(pug_index_parse(file, size, bytes.data, bytes.size,
                                             pug_index_identity(tree), &part),
                             PUG_OK);
            pug_index_free(index);
            options.limit = 0;
            assert_int_equal(pug_index_extend(part, tree, bytes.data, bytes.size, &options, &index),
                             PUG_OK);
            pug_index_free(part);
            pug_tree_free(tree);
        }
        check_last_id(index, &bytes, last_bytes, other_bytes);
        pug_index_free(index);
    }
    rec_bytes_free(&bytes);
}

/** A part, gone on with, is the index of the whole. */
static void compare_parts(const struct capture *capture)
{
    struct rec_random random = {.state = capture->size + 3};
    for (unsigned n = 0; n < 6; n++) {
        struct pug_index_options options = {
            .block = 1024, .full = n % 2, .elements = n % 3 == 0, .jobs = 1 + n % 2};
        struct pug_index *whole = build_with(capture, &options), *index = NULL;
        options.limit = 1 + rec_random_below(&random, (uint32_t)capture->size);
        struct pug_index *part = build_with(capture, &options);
        options.limit = 0;
        struct pug_tree *tree = new_decoder(capture, options.elements);
        assert_int_equal(
            pug_index_extend(part, tree, capture->bytes, capture->size, &options, &index), PUG_OK);
        assert_same(index, whole);
        pug_tree_free(tree);
        pug_index_free(part);
        pug_index_free(whole);
        pug_index_free(index);
    }
}

static void goes_on(void **state)
{
    (void)state;
    each_capture(compare_parts);
}

/** A capture that has grown: its old index is taken, and what is known of it stays true. */
static void grows(const struct capture *capture)
{
    struct capture before = *capture;
    before.size = capture->size / 3 * 2;
    const struct pug_index_options options = {.block = 1024};
    struct pug_index *part = build(&before, 1024, false), *index = NULL, *loaded = NULL;
    struct pug_index *whole = build(capture, 1024, false);
    assert_int_equal(pug_index_parse(part->bytes, part->size, capture->bytes, capture->size,
                                     part->header->identity, &loaded),
                     PUG_OK);
    struct pug_tree *tree = new_tree(capture);
    assert_int_equal(
        pug_index_extend(loaded, tree, capture->bytes, capture->size, &options, &index), PUG_OK);
    assert_int_equal(index->header->trace_size, capture->size);
    assert_int_equal(index->header->summaries, whole->header->summaries);
    assert_memory_equal(index->summaries, whole->summaries,
                        whole->header->summaries * sizeof(*whole->summaries));
    pug_tree_free(tree);
    pug_index_free(loaded);
    pug_index_free(part);
    pug_index_free(whole);
    pug_index_free(index);
}

static void follows_growth(void **state)
{
    (void)state;
    each_capture(grows);
}

/* ---- files ---- */

static void refuses_damage(void **state)
{
    struct capture capture;
    struct rec_random random = {.state = 11};
    (void)state;
    assert_true(open_capture(DEMO, &capture));
    struct pug_index *index = build(&capture, 1024, true), *other = NULL;
    uint64_t identity = index->header->identity;
    uint8_t *copy = malloc(index->size);
    assert_non_null(copy);
    for (int n = 0; n < 500; n++) {
        memcpy(copy, index->bytes, index->size);
        copy[rec_random_below(&random, (uint32_t)index->size)] ^=
            (uint8_t)(1u << rec_random_below(&random, 8));
        assert_int_equal(
            pug_index_parse(copy, index->size, capture.bytes, capture.size, identity, &other),
            PUG_ERR_INDEX_DAMAGED);
    }
    for (size_t size = 0; size < index->size; size += 1 + index->size / 200)
        assert_int_equal(
            pug_index_parse(index->bytes, size, capture.bytes, capture.size, identity, &other),
            PUG_ERR_INDEX_DAMAGED);
    free(copy);
    pug_index_free(index);
    close_capture(&capture);
}

#define CHECKSUM (offsetof(struct pug_index_file_header, checksum) / sizeof(uint64_t))

/** Fields that lie although the checksum is right are not believed. */
static void refuses_lies(void **state)
{
    struct capture capture;
    struct rec_random random = {.state = 12};
    (void)state;
    assert_true(open_capture(DEMO, &capture));
    struct pug_index *index = build(&capture, 1024, true), *other = NULL;
    uint64_t identity = index->header->identity, *copy = malloc(index->size);
    struct pug_tree *tree = new_tree(&capture);
    assert_non_null(copy);
    for (int n = 0; n < 500; n++) {
        memcpy(copy, index->bytes, index->size);
        const uint64_t number = rec_random_below(&random, 1000);
        uint64_t *lie = &copy[3 + rec_random_below(&random, (uint32_t)(index->size / 8 - 3))];
        pug_bytes_set((uint8_t *)lie, number << rec_random_below(&random, 50), sizeof(*lie));
        const struct pug_index lying = {.bytes = copy, .size = index->size};
        pug_bytes_set((uint8_t *)&copy[CHECKSUM], pug_index_checksum(&lying), sizeof(*copy));
        if (pug_index_parse(copy, index->size, capture.bytes, capture.size, identity, &other) !=
            PUG_OK)
            continue;
        const struct pug_index_query query = {.kind = PUG_MARK_SYNC,
                                              .source = PUG_INDEX_ANY,
                                              .from = capture.size,
                                              .backwards = true,
                                              .greatest = UINT64_MAX};
        answer(other, tree, &capture, &query);
        pug_index_active(other, 0, UINT64_MAX, NULL, 0);
        pug_index_free(other);
    }
    pug_tree_free(tree);
    free(copy);
    pug_index_free(index);
    close_capture(&capture);
}

static void saves_and_loads(void **state)
{
    char path[] = "/tmp/pugmark-index-XXXXXX";
    struct capture capture;
    (void)state;
    assert_true(open_capture(DEMO, &capture));
    int file = mkstemp(path);
    assert_true(file >= 0);
    close(file);
    struct pug_index *index = build(&capture, 0, false), *loaded = NULL;
    uint64_t identity = index->header->identity;
    assert_int_equal(pug_index_load(path, capture.bytes, capture.size, identity, &loaded),
                     PUG_ERR_INDEX_DAMAGED); /* empty */
    assert_int_equal(pug_index_save(index, path), PUG_OK);
    assert_int_equal(pug_index_load(path, capture.bytes, capture.size, identity, &loaded), PUG_OK);
    assert_int_equal(loaded->size, index->size);
    assert_memory_equal(loaded->bytes, index->bytes, index->size);
    pug_index_free(loaded);
    assert_int_equal(pug_index_load(path, capture.bytes, capture.size, identity + 1, &loaded),
                     PUG_ERR_INDEX_FOREIGN);
    assert_int_equal(pug_index_load(path, capture.bytes, capture.size - 1, identity, &loaded),
                     PUG_ERR_INDEX_FOREIGN);
    capture.bytes[capture.size / 2] ^= 1;
    assert_int_equal(pug_index_load(path, capture.bytes, capture.size, identity, &loaded),
                     PUG_ERR_INDEX_FOREIGN);
    unlink(path);
    assert_int_equal(pug_index_load(path, capture.bytes, capture.size, identity, &loaded),
                     PUG_ERR_FILE);
    assert_int_equal(pug_index_save(index, "/nowhere/at/all"), PUG_ERR_FILE);
    pug_index_free(index);
    close_capture(&capture);
}

static void indexes_a_part(void **state)
{
    struct capture capture;
    struct pug_index *index = NULL;
    struct pug_index_info info;
    (void)state;
    assert_true(open_capture(DEMO, &capture));
    struct pug_tree *tree = new_tree(&capture);
    const struct pug_index_options options = {.block = 1024, .limit = capture.size / 2};
    assert_int_equal(pug_index_build(tree, capture.bytes, capture.size, &options, &index), PUG_OK);
    pug_index_info(index, &info);
    assert_true(info.indexed <= capture.size / 2);
    assert_int_equal(info.trace_size, capture.size);
    pug_index_free(index);
    pug_tree_free(tree);
    close_capture(&capture);
}

/* ---- parts from the middle ---- */

/** What such an index finds is what one of all finds there, behind its first synchronisation. */
static void indexes_from_the_middle(void **state)
{
    struct capture capture;
    struct pug_index *part = NULL, *more = NULL, *whole;
    struct pug_index_info info;
    size_t size;
    (void)state;
    assert_true(open_capture(DEMO, &capture));
    const struct pug_index_options options = {
        .block = 1024, .from = capture.size / 3, .limit = capture.size / 2, .full = true};
    part = build_with(&capture, &options);
    whole = build(&capture, 1024, true);
    pug_index_info(part, &info);
    assert_int_equal(info.from, capture.size / 3 / 1024 * 1024);
    assert_int_equal(info.indexed, capture.size / 2);
    assert_int_equal(pug_index_block_summary(part, info.from / 1024), 0); /* nothing before it */
    assert_true(part->header->marks > 0);
    uint64_t at = 0;
    for (uint64_t i = 0; i < part->header->marks; i++) {
        while (at < whole->header->marks && whole->marks[at].at < part->marks[i].at)
            at++;
        uint64_t same = at;
        while (same < whole->header->marks && by_place(&whole->marks[same], &part->marks[i]) < 0)
            same++;
        assert_true(same < whole->header->marks);
        assert_int_equal(by_place(&whole->marks[same], &part->marks[i]), 0);
    }
    /* from memory, and gone on with */
    const void *file = pug_index_bytes(part, &size);
    struct pug_tree *tree = new_tree(&capture);
    struct pug_index *copy = NULL;
    assert_int_equal(
        pug_index_parse(file, size, capture.bytes, capture.size, pug_index_identity(tree), &copy),
        PUG_OK);
    const struct pug_index_options rest = {.block = 1024};
    assert_int_equal(pug_index_extend(copy, tree, capture.bytes, capture.size, &rest, &more),
                     PUG_OK);
    pug_index_info(more, &info);
    assert_int_equal(info.from, capture.size / 3 / 1024 * 1024);
    assert_int_equal(info.indexed, capture.size);
    assert_true(more->header->marks > part->header->marks);
    pug_tree_free(tree);
    tree = new_tree(&capture);
    const struct pug_index_options beyond = {.from = capture.size};
    struct pug_index *none = NULL;
    assert_int_equal(pug_index_build(tree, capture.bytes, capture.size, &beyond, &none),
                     PUG_ERR_INVALID_PARAM_VAL);
    pug_tree_free(tree);
    pug_index_free(copy);
    pug_index_free(more);
    pug_index_free(part);
    pug_index_free(whole);
    close_capture(&capture);
}

/** Every mark of one source, of the others summaries. */
static void keeps_marks_of_some(const struct capture *capture)
{
    struct pug_index *whole = build(capture, 4096, true);
    uint16_t id = whole->header->sources ? whole->sources[0].id : 0;
    const struct pug_index_options options = {.block = 4096, .full_ids = &id, .full_count = 1};
    struct pug_index *some = build_with(capture, &options), *more = NULL;
    struct pug_index_source source;
    uint64_t wanted = 0;
    for (uint64_t i = 0; i < whole->header->marks; i++)
        wanted += whole->marks[i].source == id;
    assert_int_equal(some->header->marks, wanted);
    for (size_t n = 0; pug_index_source_at(some, n, &source); n++)
        assert_int_equal(source.full, source.id == id);
    struct pug_tree *tree = new_tree(capture);
    const struct pug_index_options rest = {.jobs = 1};
    assert_int_equal(pug_index_extend(some, tree, capture->bytes, capture->size, &rest, &more),
                     PUG_OK);
    assert_int_equal(more->header->marks, wanted);
    pug_tree_free(tree);
    pug_index_free(more);
    pug_index_free(some);
    pug_index_free(whole);
}

static void is_full_by_source(void **state)
{
    (void)state;
    each_capture(keeps_marks_of_some);
}

/* ---- while it is read ---- */

static enum pug_response count_elements(void *context, const struct pug_element *elements,
                                        size_t count, size_t *taken)
{
    (void)elements;
    (void)taken;
    *(uint64_t *)context += count;
    return PUG_RESP_CONT;
}

/** Feed a capture in pieces as they arrive, up to *at; how many elements that gave. */
static uint64_t feed_pieces(const struct capture *capture, struct pug_tree *tree, uint64_t *stopped)
{
    uint64_t elements = 0, at = 0;
    enum pug_response response = PUG_RESP_CONT;
    pug_tree_on_elements(tree, count_elements, &elements);
    for (size_t piece = 1, used = 1; at < capture->size && PUG_RESP_IS_CONT(response) && used > 0;
         at += used, piece = piece % 4000 + 509) {
        size_t size = capture->size - at < piece ? (size_t)(capture->size - at) : piece;
        response = pug_tree_data(tree, at, capture->bytes + at, size, &used);
    }
    if (PUG_RESP_IS_CONT(response))
        pug_tree_end(tree);
    *stopped = PUG_RESP_IS_CONT(response) ? at : 0;
    return elements;
}

static void assert_same_marks(const struct pug_index *index, const struct pug_index *other)
{
    assert_int_equal(index->header->summaries, other->header->summaries);
    assert_memory_equal(index->summaries, other->summaries,
                        other->header->summaries * sizeof(*other->summaries));
    assert_int_equal(index->header->marks, other->header->marks);
    assert_memory_equal(index->marks, other->marks, other->header->marks * sizeof(*other->marks));
    assert_int_equal(index->header->sources, other->header->sources);
}

/** Decoded and indexed at once: the same elements as without, and the index of a reading alone. */
static void index_while_decoding(const struct capture *capture)
{
    const struct pug_index_options options = {.block = 4096, .full = true};
    struct pug_index *index = NULL, *alone = build(capture, 4096, true), *again = alone;
    struct pug_indexer *indexer = NULL;
    uint64_t stopped;
    struct pug_tree *tree = new_decoder(capture, true);
    const uint64_t wanted = feed_pieces(capture, tree, &stopped);
    pug_tree_free(tree);
    tree = new_decoder(capture, true);
    assert_int_equal(pug_indexer_new(tree, &options, &indexer), PUG_OK);
    assert_int_equal(feed_pieces(capture, tree, &stopped), wanted);
    assert_int_equal(pug_indexer_finish(indexer, capture->bytes, capture->size, &index), PUG_OK);
    if (stopped == alone->header->indexed) /* else decoding gave up */
        assert_same_marks(index, alone);
    assert_int_equal(pug_indexer_finish(indexer, capture->bytes, capture->size, &again),
                     PUG_ERR_NOT_INIT);
    pug_indexer_free(indexer);
    pug_index_free(index);
    pug_index_free(alone);
    pug_tree_free(tree);
}

static void indexes_while_decoding(void **state)
{
    struct pug_indexer *indexer;
    struct pug_tree *tree = NULL;
    (void)state;
    each_capture(index_while_decoding);
    assert_int_equal(pug_tree_new(&(struct pug_tree_config){.transport = "plain"}, &tree), PUG_OK);
    assert_int_equal(pug_indexer_new(tree, NULL, &indexer), PUG_OK);
    pug_indexer_free(indexer); /* it need not be finished */
    assert_int_equal(pug_indexer_new(NULL, NULL, &indexer), PUG_ERR_INVALID_PARAM_VAL);
    pug_tree_free(tree);
}

/* ---- kinds ---- */

/** Local times of an ITM add up to what its elements tell. */
static void adds_up_times(void **state)
{
    static uint8_t trace[] = {0,    0,    0,    0,    0,    0x80, /* synchronisation */
                              0x01, 'a',  0x30,                   /* port 0; 3 ticks */
                              0x0d, 0x12,                         /* hardware source 1 */
                              0x07, 0x11, 0x22, 0x33, 0x44,       /* hardware source 0 */
                              0xc0, 0x85, 0x01,                   /* 133 ticks */
                              0x01, 'b',  0x20};                  /* port 0; 2 ticks */
    const struct capture capture = {
        .protocol = "ITM", .transport = "plain", .bytes = trace, .size = sizeof(trace)};
    const struct {
        uint64_t elapsed, at, sum;
    } cases[] = {{1, 8, 3}, {3, 8, 3}, {4, 16, 136}, {136, 16, 136}, {137, 21, 138}};
    (void)state;
    if (!pug_protocol_find("ITM"))
        skip();
    for (int full = 0; full < 2; full++) {
        struct pug_index *index = build(&capture, 1024, full);
        struct pug_tree *tree = new_tree(&capture);
        struct pug_index_mark mark;
        uint16_t id = pug_source_id(pug_tree_source_at(tree, 0));
        for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
            assert_int_equal(pug_index_find_elapsed(index, tree, trace, sizeof(trace), id,
                                                    cases[i].elapsed, &mark),
                             PUG_OK);
            assert_int_equal(mark.at, cases[i].at);
            assert_int_equal(mark.value, cases[i].sum);
        }
        assert_int_equal(pug_index_find_elapsed(index, tree, trace, sizeof(trace), id, 139, &mark),
                         PUG_ERR_NOT_FOUND);
        const struct pug_index_query query = {
            .kind = PUG_MARK_HARDWARE, .source = PUG_INDEX_ANY, .least = 0, .greatest = 0};
        assert_int_equal(pug_index_find(index, tree, trace, sizeof(trace), &query, &mark), PUG_OK);
        assert_int_equal(mark.at, 11);
        pug_index_free(index);
        pug_tree_free(tree);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(indexes_from_the_middle),
        cmocka_unit_test(is_full_by_source),
        cmocka_unit_test(indexes_while_decoding),
        cmocka_unit_test(adds_up_times),
        cmocka_unit_test(finds_the_same),
        cmocka_unit_test(knows_sources),
        cmocka_unit_test(refuses_damage),
        cmocka_unit_test(refuses_lies),
        cmocka_unit_test(saves_and_loads),
        cmocka_unit_test(indexes_a_part),
        cmocka_unit_test(is_the_same_from_threads),
        cmocka_unit_test(goes_on),
        cmocka_unit_test(counts_the_first_ids),
        cmocka_unit_test(knows_the_last_id),
        cmocka_unit_test(lists_values),
        cmocka_unit_test(gives_up_kinds),
        cmocka_unit_test(knows_global_times),
        cmocka_unit_test(marks_what_packets_say),
        cmocka_unit_test(follows_growth),
    };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    pug_image_free(program);
    return failed;
}
