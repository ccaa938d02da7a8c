// SPDX-License-Identifier: MIT
/**
 * @file Indexes: a summary index finds what an index of every mark has, over own captures and the
 * shared ones; damaged and foreign files are refused; a file gives what was saved.
 */
#include "base/bytes.h"
#include "index/values.h"
#include "pugmark/advanced/snapshot.h"
#include "pugmark/author/protocol.h"
#include "pugmark/pugmark.h"
#include "recorder/encapsulation.h"
#include "recorder/itm.h"
#include "support/indexed.h"
#include "support/temporary.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

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
                       const struct indexed *capture, const struct pug_index_query *query)
{
    struct pug_index_mark mark;
    enum pug_status status =
        pug_index_find(index, tree, capture->bytes, capture->size, query, &mark);
    assert_true(status == PUG_OK || status == PUG_ERR_NOT_FOUND);
    return status == PUG_OK ? mark.at : UINT64_MAX;
}

/** Sparse and full answers to questions about real marks and about anything. */
static void compare(const struct indexed *capture)
{
    struct pug_index *full = indexed_build(capture, 1024, true),
                     *sparse = indexed_build(capture, 2000, false);
    struct pug_tree *tree = indexed_tree(capture);
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
    indexed_each(*(const enum captures *)*state, compare);
}

/** The bytes of all sources are those of the trace, and what is active has bytes. */
static void knows_sources(void **state)
{
    struct indexed capture;
    (void)state;
    assert_true(indexed_open(INDEXED_DEMO, &capture));
    struct pug_index *index = indexed_build(&capture, 1024, false);
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
    indexed_close(&capture);
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

/** The marks of all packets, as a monitor sees them. */
static size_t monitored_marks(const struct indexed *capture, struct pug_index_file_mark *marks,
                              size_t room)
{
    struct pug_tree *tree = indexed_tree(capture);
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
    qsort(marks, count, sizeof(*marks), indexed_by_place);
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

static void compare_marks(const struct indexed *capture)
{
    size_t room = 4 * capture->size + 64, seen = 0;
    struct pug_index_file_mark *marks = malloc(room * sizeof(*marks));
    assert_non_null(marks);
    struct pug_index *index = indexed_build(capture, 4096, true);
    struct pug_tree *tree = indexed_tree(capture);
    size_t count = monitored_marks(capture, marks, room);
    for (uint64_t i = 0; i < index->header->marks; i++) {
        const struct pug_index_file_mark *mark = &index->marks[i];
        if (!is_of_source(tree, mark->source))
            continue;
        assert_true(seen < count);
        assert_int_equal(indexed_by_place(mark, &marks[seen]), 0);
        seen++;
    }
    assert_int_equal(seen, count);
    pug_tree_free(tree);
    pug_index_free(index);
    free(marks);
}

/** Whole and damaged: what is skimmed over has no marks, and hides none. */
static void compare_damaged(const struct indexed *capture)
{
    compare_marks(capture);
    for (unsigned n = 0; n < 4; n++) {
        indexed_damage(capture, capture->size + n);
        compare_marks(capture);
    }
}

static void marks_what_packets_say(void **state)
{
    indexed_each(*(const enum captures *)*state, compare_damaged);
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

static void compare_times(const struct indexed *capture)
{
    struct pug_index *index = indexed_build(capture, 1024, true);
    struct pug_tree *tree = indexed_decoder(capture, true);
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

static void knows_global_times_of_shared(void **state)
{
    struct indexed capture;
    (void)state;
    if (!indexed_open(INDEXED_SHARED "/itm_only_raw", &capture)) {
        print_message("%s is not there\n", INDEXED_SHARED "/itm_only_raw");
        skip();
    }
    compare_times(&capture);
    indexed_close(&capture);
}

/* ---- files ---- */

static void refuses_damage(void **state)
{
    struct indexed capture;
    struct rec_random random = {.state = 11};
    (void)state;
    assert_true(indexed_open(INDEXED_DEMO, &capture));
    struct pug_index *index = indexed_build(&capture, 1024, true), *other = NULL;
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
    indexed_close(&capture);
}

#define CHECKSUM (offsetof(struct pug_index_file_header, checksum) / sizeof(uint64_t))

/** Fields that lie although the checksum is right are not believed. */
static void refuses_lies(void **state)
{
    struct indexed capture;
    struct rec_random random = {.state = 12};
    (void)state;
    assert_true(indexed_open(INDEXED_DEMO, &capture));
    struct pug_index *index = indexed_build(&capture, 1024, true), *other = NULL;
    uint64_t identity = index->header->identity, *copy = malloc(index->size);
    struct pug_tree *tree = indexed_tree(&capture);
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
    indexed_close(&capture);
}

static void saves_and_loads(void **state)
{
    char path[128];
    struct indexed capture;
    (void)state;
    assert_true(indexed_open(INDEXED_DEMO, &capture));
    int file = temporary_file(path, sizeof(path), "index");
    assert_true(file >= 0);
    close(file);
    struct pug_index *index = indexed_build(&capture, 0, false), *loaded = NULL;
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
    indexed_close(&capture);
}

static void indexes_a_part(void **state)
{
    struct indexed capture;
    struct pug_index *index = NULL;
    struct pug_index_info info;
    (void)state;
    assert_true(indexed_open(INDEXED_DEMO, &capture));
    struct pug_tree *tree = indexed_tree(&capture);
    const struct pug_index_options options = {.block = 1024, .limit = capture.size / 2};
    assert_int_equal(pug_index_build(tree, capture.bytes, capture.size, &options, &index), PUG_OK);
    pug_index_info(index, &info);
    assert_true(info.indexed <= capture.size / 2);
    assert_int_equal(info.trace_size, capture.size);
    pug_index_free(index);
    pug_tree_free(tree);
    indexed_close(&capture);
}

/** Ports of an ITM that is synchronised so many times: a find goes on from block to block. */
static void finds_where_synchronisation_is_rare(void **state)
{
    (void)state;
    for (unsigned syncs = 1; syncs < 4; syncs++) {
        struct rec_random random = {.state = syncs};
        struct rec_bytes bytes = {0};
        for (unsigned n = 0; n < 60000; n++) {
            if (n % (60000 / syncs) == 0)
                rec_itm_async(&bytes);
            if (n % 5000 == 999) /* a page */
                rec_put(&bytes, (uint8_t)(0x08 | rec_random_below(&random, 8) << 4));
            rec_put(&bytes, (uint8_t)(1 | rec_random_below(&random, 32) << 3));
            rec_put(&bytes, (uint8_t)n);
        }
        compare(&(struct indexed){
            .protocol = "ITM", .transport = "plain", .bytes = bytes.data, .size = bytes.size});
        rec_bytes_free(&bytes);
    }
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
    const struct indexed capture = {
        .protocol = "ITM", .transport = "plain", .bytes = trace, .size = sizeof(trace)};
    const struct {
        uint64_t elapsed, at, sum;
    } cases[] = {{1, 8, 3}, {3, 8, 3}, {4, 16, 136}, {136, 16, 136}, {137, 21, 138}};
    (void)state;
    if (!pug_protocol_find("ITM"))
        skip();
    for (int full = 0; full < 2; full++) {
        struct pug_index *index = indexed_build(&capture, 1024, full);
        struct pug_tree *tree = indexed_tree(&capture);
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

/** An index is taken if some pieces of the capture are as they were; no answer rests on others. */
static void sees_what_changed(void **state)
{
    struct indexed capture;
    struct pug_index_mark mark;
    (void)state;
    assert_true(indexed_open(PUG_SOURCE_DIR "/tests/captures/etmv4-a64", &capture));
    const uint64_t hash = pug_index_trace_hash(capture.bytes, capture.size);
    struct pug_index *index = indexed_build(&capture, 1024, false);
    struct pug_tree *tree = indexed_tree(&capture);
    uint64_t at = 4 * 1024;
    do { /* a byte that taking the index does not look at */
        capture.bytes[at++] ^= 1;
    } while (pug_index_trace_hash(capture.bytes, capture.size) != hash &&
             (capture.bytes[at - 1] ^= 1, true));
    struct pug_index_query query = {
        .kind = PUG_MARK_DATA, .source = PUG_INDEX_ANY, .from = at, .greatest = UINT64_MAX};
    assert_int_equal(pug_index_find(index, tree, capture.bytes, capture.size, &query, &mark),
                     PUG_ERR_INDEX_FOREIGN);
    query.from = at / 1024 * 1024 + 1024;
    assert_int_equal(pug_index_find(index, tree, capture.bytes, capture.size, &query, &mark),
                     PUG_OK);
    query.backwards = true;
    assert_int_equal(pug_index_find(index, tree, capture.bytes, capture.size, &query, &mark),
                     PUG_ERR_INDEX_FOREIGN);
    query.from += 1024; /* what has the answer is whole */
    assert_int_equal(pug_index_find(index, tree, capture.bytes, capture.size, &query, &mark),
                     PUG_OK);
    assert_true(mark.at >= query.from - 1024 && mark.at < query.from);
    query.backwards = false;
    capture.bytes[at - 1] ^= 1;
    query.from = at;
    assert_int_equal(pug_index_find(index, tree, capture.bytes, capture.size, &query, &mark),
                     PUG_OK);
    pug_index_free(index);
    pug_tree_free(tree);
    indexed_close(&capture);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sees_what_changed),
        cmocka_unit_test(adds_up_times),
        cmocka_unit_test(finds_where_synchronisation_is_rare),
        TEST_CAPTURES(finds_the_same),
        cmocka_unit_test(knows_sources),
        cmocka_unit_test(refuses_damage),
        cmocka_unit_test(refuses_lies),
        cmocka_unit_test(saves_and_loads),
        cmocka_unit_test(indexes_a_part),
        cmocka_unit_test(lists_values),
        cmocka_unit_test(gives_up_kinds),
        cmocka_unit_test(knows_global_times_of_shared),
        TEST_CAPTURES(marks_what_packets_say),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
