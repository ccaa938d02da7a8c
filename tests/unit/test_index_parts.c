// SPDX-License-Identifier: MIT
/**
 * @file Indexes made on several threads, in several goes, of a part, or while the trace is decoded:
 * they are the index that one thread makes of the whole.
 */
#include "base/bytes.h"
#include "index/reach.h"
#include "index/values.h"
#include "pugmark/advanced/snapshot.h"
#include "pugmark/author/protocol.h"
#include "pugmark/pugmark.h"
#include "recorder/encapsulation.h"
#include "support/harts.h"
#include "support/indexed.h"
#include "tree/embed.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

/* ---- several threads, and in several goes ---- */

static void assert_same(const struct pug_index *index, const struct pug_index *other)
{
    assert_int_equal(index->size, other->size);
    assert_memory_equal(index->bytes, other->bytes, index->size);
}

/** However many threads make it, and whatever it has, it is the same. */
static void compare_jobs(const struct indexed *capture)
{
    for (unsigned what = 0; what < 3; what++) {
        struct pug_index_options options = {
            .block = 1024, .jobs = 1, .full = what == 1, .elements = what == 2};
        struct pug_index *serial = indexed_build_with(capture, &options);
        for (options.jobs = 2; options.jobs <= 8; options.jobs += 1 + options.jobs / 2) {
            struct pug_index *parallel = indexed_build_with(capture, &options);
            assert_same(parallel, serial);
            pug_index_free(parallel);
        }
        pug_index_free(serial);
    }
}

static void compare_damaged_jobs(const struct indexed *capture)
{
    compare_jobs(capture);
    indexed_damage(capture, capture->size + 6);
    compare_jobs(capture);
}

static void is_the_same_from_threads(void **state)
{
    indexed_each(*(const enum captures *)*state, compare_damaged_jobs);
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

/** Sources, including one with the highest id, whose bytes the writer counts. */
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

/** The source 0xFFFF and "no source" are two. */
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
        if (options.limit) { /* the rest that follows it, from a file */
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
static void compare_parts(const struct indexed *capture)
{
    struct rec_random random = {.state = capture->size + 3};
    for (unsigned n = 0; n < 6; n++) {
        struct pug_index_options options = {
            .block = 1024, .full = n % 2, .elements = n % 3 == 0, .jobs = 1 + n % 2};
        struct pug_index *whole = indexed_build_with(capture, &options), *index = NULL;
        options.limit = 1 + rec_random_below(&random, (uint32_t)capture->size);
        struct pug_index *part = indexed_build_with(capture, &options);
        options.limit = 0;
        struct pug_tree *tree = indexed_decoder(capture, options.elements);
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
    indexed_each(*(const enum captures *)*state, compare_parts);
}

/** A capture that has grown: its old index is taken, and what is known of it stays true. */
static void grows(const struct indexed *capture)
{
    struct indexed before = *capture;
    before.size = capture->size / 3 * 2;
    const struct pug_index_options options = {.block = 1024};
    struct pug_index *part = indexed_build(&before, 1024, false), *index = NULL, *loaded = NULL;
    struct pug_index *whole = indexed_build(capture, 1024, false);
    assert_int_equal(pug_index_parse(part->bytes, part->size, capture->bytes, capture->size,
                                     part->header->identity, &loaded),
                     PUG_OK);
    struct pug_tree *tree = indexed_tree(capture);
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
    indexed_each(*(const enum captures *)*state, grows);
}

/* ---- what is known of decoders ---- */

struct late {
    const struct pug_index *index;
    uint64_t reading;
};

static enum pug_response look_for_late(void *context, const struct pug_element *elements,
                                       size_t count, size_t *taken)
{
    const struct late *late = context;
    const struct pug_index_file_header *header = late->index->header;
    *taken = count;
    for (size_t i = 0; i < count; i++) {
        const uint64_t block = elements[i].index / header->block;
        assert_true(block >= header->blocks || late->index->blocks[block].late >= late->reading);
    }
    return PUG_RESP_CONT;
}

/** The index does not make elements; who does comes to the same states, and gets none later. */
static void decode_by_blocks(const struct indexed *capture)
{
    const struct pug_index_options options = {.block = 1024, .elements = true};
    struct pug_index *index = indexed_build_with(capture, &options);
    struct pug_tree *tree = indexed_decoder(capture, true);
    struct late late = {.index = index};
    pug_tree_on_elements(tree, look_for_late, &late);
    for (uint64_t at = 0; (index->header->flags & PUG_INDEX_ELEMENTS) && at < capture->size;) {
        struct pug_state state = {0};
        uint64_t hashes[64];
        late.reading = at / 1024;
        if (index->blocks[late.reading].elements != 0) {
            assert_true(pug_tree_source_count(tree) < 64 && pug_tree_state(tree, &state));
            pug_index_state_hashes(tree, &state, hashes);
            assert_int_equal(pug_index_state_sum(hashes, pug_tree_source_count(tree)),
                             index->blocks[late.reading].elements);
        }
        pug_state_free(&state);
        const uint64_t left = capture->size - at;
        size_t used;
        if (PUG_RESP_IS_FATAL(pug_tree_data(tree, at, capture->bytes + at,
                                            left < 1024 ? (size_t)left : 1024, &used)) ||
            used == 0)
            break;
        at += used;
    }
    pug_tree_free(tree);
    pug_index_free(index);
}

static void knows_when_elements_come(const struct indexed *capture)
{
    decode_by_blocks(capture);
    for (uint64_t seed = 0; seed < 4; seed++) {
        indexed_damage(capture, capture->size + seed);
        decode_by_blocks(capture);
    }
}

static void knows_what_decoders_do(void **state)
{
    indexed_each(*(const enum captures *)*state, knows_when_elements_come);
}

#define TIMES   8u
#define SEGMENT 8192u

/**
 * Reaching a place far into the trace does not read everything before it, though a hart has been
 * silent for long.
 */
static void reach_from_near(const struct indexed *capture)
{
    const struct pug_index_options options = {.block = 1024, .elements = true};
    struct pug_index *index = indexed_build_with(capture, &options);
    struct pug_tree *tree = indexed_decoder(capture, true), *reached = NULL;
    uint64_t at = 0;
    assert_true(pug_index_reach(index, tree, capture->bytes, capture->size, true,
                                capture->size / 10 * 9, &reached, &at));
    const struct pug_transport_stats *stats = pug_tree_transport_stats(reached);
    assert_true(at > capture->size / 10 * 8);
    assert_true(stats->delivered + stats->framing + stats->no_decoder < at / 4);
    pug_tree_free(reached);
    pug_tree_free(tree);
    pug_index_free(index);
}

static unsigned captures_of_sleepers;

/** … whatever was lost while a hart sleeps. */
static void sleep_and_wake(const struct indexed *capture)
{
    struct rec_random random = {.state = 1};
    struct indexed repeated = *capture;
    repeated.size *= TIMES;
    repeated.bytes = malloc(repeated.size);
    assert_non_null(repeated.bytes);
    for (size_t i = 0; i < TIMES; i++)
        memcpy(repeated.bytes + i * capture->size, capture->bytes, capture->size);
    const char *folder = pug_snapshot_directory(capture->snapshot);
    if (harts_share(folder, repeated.bytes, repeated.size, SIZE_MAX)) { /* two never speak */
        captures_of_sleepers++;
        reach_from_near(&repeated);
        (void)harts_share(folder, repeated.bytes, repeated.size, SEGMENT);
        reach_from_near(&repeated);
        for (size_t segment = 0; segment < 10; segment += 3) {
            for (size_t i = 0; i < 1000 && segment > 0; i++)
                repeated.bytes[SEGMENT * segment + 99 + i] =
                    (uint8_t)rec_random_below(&random, 256);
            decode_by_blocks(&repeated);
        }
        compare_parts(&repeated);
        compare_damaged_jobs(&repeated);
    }
    free(repeated.bytes);
}

static void knows_what_sleepers_lost(void **state)
{
    (void)state;
    captures_of_sleepers = 0;
    indexed_each(CAPTURES_OWN, sleep_and_wake);
    assert_int_equal(captures_of_sleepers, 2);
}

/** A source has a state whatever its id is, also one that its transport cannot carry. */
static void knows_of_any_id(void **state)
{
    const char *const transports[] = {"nexus", "osd", "encapsulation"};
    const struct pug_setting bits = {.name = "src_bits", .value = 4};
    const struct pug_setting id = {.name = "src_id", .value = UINT16_MAX};
    (void)state;
    for (size_t i = 0; i < sizeof(transports) / sizeof(transports[0]); i++) {
        struct pug_tree_config config = {.transport = transports[i], .settings = {&bits, 1, NULL}};
        struct pug_source_config source = {.protocol = "E-Trace", .settings = {&id, 1, NULL}};
        struct pug_tree *tree = NULL;
        struct pug_state written = {0};
        assert_int_equal(pug_tree_new(&config, &tree), PUG_OK);
        assert_int_equal(pug_tree_add_source(tree, &source, NULL), PUG_OK);
        assert_true(pug_tree_state(tree, &written));
        pug_state_free(&written);
        pug_tree_free(tree);
    }
}

/* ---- parts from the middle ---- */

/**
 * An index that begins in the middle finds the same as a whole one there, after its first
 * synchronisation.
 */
static void indexes_from_the_middle(void **state)
{
    struct indexed capture;
    struct pug_index *part = NULL, *more = NULL, *whole;
    struct pug_index_info info;
    size_t size;
    (void)state;
    assert_true(indexed_open(INDEXED_DEMO, &capture));
    const struct pug_index_options options = {
        .block = 1024, .from = capture.size / 3, .limit = capture.size / 2, .full = true};
    part = indexed_build_with(&capture, &options);
    whole = indexed_build(&capture, 1024, true);
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
        while (same < whole->header->marks &&
               indexed_by_place(&whole->marks[same], &part->marks[i]) < 0)
            same++;
        assert_true(same < whole->header->marks);
        assert_int_equal(indexed_by_place(&whole->marks[same], &part->marks[i]), 0);
    }
    /* from memory, and gone on with */
    const void *file = pug_index_bytes(part, &size);
    struct pug_tree *tree = indexed_tree(&capture);
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
    tree = indexed_tree(&capture);
    const struct pug_index_options beyond[] = {
        {.from = capture.size},
        {.block = 1024, .from = capture.size - 1, .limit = capture.size / 2},
        {.block = 1024, .from = 1100, .limit = 1100},
        {.block = 1024, .from = 1100, .limit = 1030}, /* in one block */
    };
    for (size_t i = 0; i < sizeof(beyond) / sizeof(beyond[0]); i++) {
        struct pug_index *none = NULL;
        assert_int_equal(pug_index_build(tree, capture.bytes, capture.size, &beyond[i], &none),
                         PUG_ERR_INVALID_PARAM_VAL);
        assert_null(none);
    }
    pug_tree_free(tree);
    pug_index_free(copy);
    pug_index_free(more);
    pug_index_free(part);
    pug_index_free(whole);
    indexed_close(&capture);
}

/** Every mark of one source, of the others summaries. */
static void keeps_marks_of_some(const struct indexed *capture)
{
    struct pug_index *whole = indexed_build(capture, 4096, true);
    uint16_t id = whole->header->sources ? whole->sources[0].id : 0;
    const struct pug_index_options options = {.block = 4096, .full_ids = &id, .full_count = 1};
    struct pug_index *some = indexed_build_with(capture, &options), *more = NULL;
    struct pug_index_source source;
    uint64_t wanted = 0;
    for (uint64_t i = 0; i < whole->header->marks; i++)
        wanted += whole->marks[i].source == id;
    assert_int_equal(some->header->marks, wanted);
    for (size_t n = 0; pug_index_source_at(some, n, &source); n++)
        assert_int_equal(source.full, source.id == id);
    struct pug_tree *tree = indexed_tree(capture);
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
    indexed_each(*(const enum captures *)*state, keeps_marks_of_some);
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
static uint64_t feed_pieces(const struct indexed *capture, struct pug_tree *tree, uint64_t *stopped)
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
static void index_while_decoding(const struct indexed *capture)
{
    const struct pug_index_options options = {.block = 1024, .full = true};
    struct pug_index *index = NULL, *alone = indexed_build(capture, 1024, true), *again = alone;
    struct pug_indexer *indexer = NULL;
    uint64_t stopped;
    struct pug_tree *tree = indexed_decoder(capture, true);
    const uint64_t wanted = feed_pieces(capture, tree, &stopped);
    pug_tree_free(tree);
    tree = indexed_decoder(capture, true);
    assert_int_equal(pug_indexer_new(tree, &options, &indexer), PUG_OK);
    assert_int_equal(feed_pieces(capture, tree, &stopped), wanted);
    assert_int_equal(pug_indexer_finish(indexer, capture->bytes, capture->size, &index), PUG_OK);
    if (stopped == alone->header->indexed) /* else decoding gave up */
        assert_same_marks(index, alone);
    assert_int_equal(pug_indexer_finish(indexer, capture->bytes, capture->size, &again),
                     PUG_ERR_NOT_READY);
    pug_indexer_free(indexer);
    pug_index_free(index);
    pug_index_free(alone);
    pug_tree_free(tree);
}

/** What a part of a trace gives that was read by itself, asked for while more of it arrives. */
static void check_so_far(const struct indexed *capture, struct pug_indexer *indexer, uint64_t at)
{
    const struct pug_index_options options = {.block = 4096, .limit = at, .jobs = 1};
    struct pug_index *index = NULL, *alone = indexed_build_with(capture, &options);
    struct pug_index_info info;
    struct pug_index_mark mark, wanted;
    assert_int_equal(pug_indexer_index(indexer, capture->bytes, at, &index), PUG_OK);
    pug_index_info(index, &info);
    assert_int_equal(info.indexed, at);
    if (alone->header->indexed == at) { /* else decoding gave up */
        assert_same_marks(index, alone);
        struct pug_tree *tree = indexed_tree(capture);
        const struct pug_index_query last = {.kind = PUG_MARK_SYNC,
                                             .source = PUG_INDEX_ANY,
                                             .from = at,
                                             .backwards = true,
                                             .greatest = UINT64_MAX};
        const enum pug_status found =
            pug_index_find(alone, tree, capture->bytes, at, &last, &wanted);
        assert_int_equal(pug_index_find(index, tree, capture->bytes, at, &last, &mark), found);
        if (found == PUG_OK)
            assert_int_equal(mark.at, wanted.at);
        pug_tree_free(tree);
    }
    pug_index_free(index);
    pug_index_free(alone);
}

static void asked_while_it_grows(const struct indexed *capture)
{
    const struct pug_index_options options = {.block = 4096};
    struct pug_index *index = NULL, *alone = indexed_build(capture, 4096, false);
    struct pug_indexer *indexer = NULL;
    struct pug_tree *tree = indexed_decoder(capture, true);
    const size_t piece = (capture->size / 5 + 511) / 512 * 512;
    uint64_t at = 0;
    size_t used = 1;
    enum pug_response response = PUG_RESP_CONT;
    assert_int_equal(pug_indexer_new(tree, &options, &indexer), PUG_OK);
    while (at < capture->size && PUG_RESP_IS_CONT(response) && used > 0) {
        const size_t size = capture->size - at < piece ? (size_t)(capture->size - at) : piece;
        response = pug_tree_data(tree, at, capture->bytes + at, size, &used);
        at += used;
        if (PUG_RESP_IS_CONT(response) && used == size)
            check_so_far(capture, indexer, at);
    }
    if (PUG_RESP_IS_CONT(response))
        pug_tree_end(tree);
    assert_int_equal(pug_indexer_finish(indexer, capture->bytes, capture->size, &index), PUG_OK);
    if (PUG_RESP_IS_CONT(response) && at == alone->header->indexed)
        assert_same_marks(index, alone);
    pug_index_free(index);
    assert_int_equal(pug_indexer_index(indexer, capture->bytes, capture->size, &index),
                     PUG_ERR_NOT_READY);
    pug_indexer_free(indexer);
    pug_index_free(alone);
    pug_tree_free(tree);
}

static void is_asked_while_it_grows(void **state)
{
    indexed_each(*(const enum captures *)*state, asked_while_it_grows);
}

static void indexes_while_decoding(void **state)
{
    struct pug_indexer *indexer;
    struct pug_tree *tree = NULL;
    indexed_each(*(const enum captures *)*state, index_while_decoding);
    assert_int_equal(pug_tree_new(&(struct pug_tree_config){.transport = "plain"}, &tree), PUG_OK);
    assert_int_equal(pug_indexer_new(tree, NULL, &indexer), PUG_OK);
    pug_indexer_free(indexer); /* it need not be finished */
    assert_int_equal(pug_indexer_new(NULL, NULL, &indexer), PUG_ERR_INVALID_PARAM_VAL);
    pug_tree_free(tree);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(indexes_from_the_middle),  TEST_CAPTURES(is_full_by_source),
        TEST_CAPTURES(indexes_while_decoding),      TEST_CAPTURES(is_asked_while_it_grows),
        TEST_CAPTURES(is_the_same_from_threads),    TEST_CAPTURES(goes_on),
        TEST_CAPTURES(knows_what_decoders_do),      cmocka_unit_test(counts_the_first_ids),
        cmocka_unit_test(knows_the_last_id),        TEST_CAPTURES(follows_growth),
        cmocka_unit_test(knows_what_sleepers_lost), cmocka_unit_test(knows_of_any_id),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
