// SPDX-License-Identifier: MIT
/**
 * @file Parts of traces in which sources fall silent for long: what a part needs is read with leaps
 * over what none of them says, and its elements are those that reading all of the trace gives.
 */
#include "index/format.h"
#include "index/tail_reads.h"
#include "support/indexed.h"
#include "support/share.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define BLOCK   1024u
#define LONGEST (40000u / share_step(1, 3))
#define REPEATS 12u
#define WINDOWS 24u
#define FARTHER (8u * BLOCK)

/** Windows, those of which all was found, and those in which something was leapt over. */
static unsigned windows, found, leapt;

struct window {
    uint64_t from, to;
    uint64_t count, hash; /* of the elements in it */
};

static enum pug_response take_those_within(void *context, const struct pug_element *elements,
                                           size_t count, size_t *taken)
{
    struct window *window = context;
    *taken = count;
    for (size_t i = 0; i < count; i++) {
        const struct pug_element *e = &elements[i];
        if (e->index < window->from || e->index >= window->to)
            continue;
        const uint64_t words[] = {e->index, e->source, e->type, e->reason, e->start, e->end};
        window->hash = pug_index_hash_bytes(window->hash, words, sizeof(words));
        window->count++;
    }
    return PUG_RESP_CONT;
}

static void read_all(const struct indexed *trace, struct window *window)
{
    struct pug_tree *tree = indexed_decoder(trace, true);
    uint64_t at = 0;
    pug_tree_on_elements(tree, take_those_within, window);
    if (PUG_RESP_IS_CONT(pug_tree_feed(tree, trace->bytes, &at, trace->size)))
        (void)pug_tree_end(tree);
    pug_tree_free(tree);
}

/** False: it is not known what has to be read. */
static bool read_rest(const struct indexed *trace, const struct pug_index *index,
                      struct window *window)
{
    struct pug_tree *model = indexed_decoder(trace, true), *tree = NULL;
    struct pug_index_tail_reads rest;
    uint64_t at = 0;
    const bool known = pug_index_tail_reads_find(index, model, trace->bytes, trace->size,
                                                 window->from, window->to, &rest);
    assert_true(known || (!rest.leaps && !rest.settled));
    if (known) {
        leapt += rest.count > 0;
        assert_int_equal(pug_tree_clone(model, NULL, &tree), PUG_OK);
        pug_tree_on_elements(tree, take_those_within, window);
        assert_true(PUG_RESP_IS_CONT(pug_tree_feed(tree, trace->bytes, &at, rest.until)));
        assert_true(pug_index_tail_reads_read(&rest, index, model, trace->bytes, &tree));
    }
    pug_index_tail_reads_free(&rest);
    pug_tree_free(tree);
    pug_tree_free(model);
    return known;
}

static void compare_windows(const struct indexed *trace)
{
    struct pug_index *index = indexed_build_with(
        trace, &(struct pug_index_options){.block = BLOCK, .elements = true, .jobs = 1});
    for (unsigned n = 0; n < WINDOWS; n++) {
        /* most are where sources fall silent */
        const uint64_t from = n < WINDOWS / 2 ? n * BLOCK / 2 : n * trace->size / WINDOWS;
        struct window all = {.from = from, .to = from + 200 + n * 37}, part = all;
        if (all.to + FARTHER > trace->size)
            continue;
        windows++;
        if (!read_rest(trace, index, &part))
            continue;
        found++;
        read_all(trace, &all);
        assert_int_equal(part.count, all.count);
        assert_int_equal(part.hash, all.hash);
    }
    pug_index_free(index);
}

/** The longest part of the trace in which one source speaks alone, in blocks. */
static void find_lonely(const struct pug_index *index, uint64_t *begin, uint64_t *end)
{
    uint64_t start = 0;
    uint16_t last = 0;
    *begin = *end = 0;
    for (uint64_t block = 0; block < index->header->indexed / BLOCK; block++) {
        uint16_t ids[2];
        if (pug_index_active(index, block * BLOCK, (block + 1) * BLOCK, ids, 2) != 1)
            start = block + 1;
        else if (block > start && ids[0] != last)
            start = block;
        last = ids[0];
        if (block + 1 > start && block + 1 - start > *end - *begin) {
            *begin = start;
            *end = block + 1;
        }
    }
}

/** The trace, that part of it again and again, and once more the trace. */
static void with_silence(const struct indexed *trace)
{
    struct indexed made = *trace;
    struct pug_tree *tree = indexed_tree(trace);
    const bool several = pug_tree_source_at(tree, 1) != NULL;
    pug_tree_free(tree);
    if (!several || trace->size < 4 * BLOCK || trace->size > LONGEST)
        return;
    struct pug_index *index = indexed_build(trace, BLOCK, false);
    const uint64_t whole = trace->size / 512 * 512;
    uint64_t begin, end;
    find_lonely(index, &begin, &end);
    pug_index_free(index);
    const uint64_t size = (end - begin) * BLOCK;
    made.bytes = malloc(2 * whole + REPEATS * size + 1);
    assert_non_null(made.bytes);
    memcpy(made.bytes, trace->bytes, whole);
    for (unsigned n = 0; n < REPEATS; n++)
        memcpy(made.bytes + whole + n * size, trace->bytes + begin * BLOCK, size);
    made.size = whole + REPEATS * size;
    memcpy(made.bytes + made.size, trace->bytes, whole);
    made.size += whole;
    compare_windows(&made);
    indexed_damage(&made, made.size);
    compare_windows(&made);
    free(made.bytes);
}

static void leaps_over_silence(void **state)
{
    windows = found = leapt = 0;
    indexed_each(*(const enum captures *)*state, with_silence);
    print_message("of %u windows %u are known, %u with leaps\n", windows, found, leapt);
    if (windows == 0)
        skip();
    assert_true(found > windows / 2);
    assert_true(leapt > 0);
}

/** Unknown: marks of a part, a window that contains the end. */
static void says_where_it_does_not_know(void **state)
{
    struct indexed trace;
    struct pug_index_tail_reads rest;
    (void)state;
    assert_true(indexed_open(PUG_SOURCE_DIR "/tests/captures/etmv4-a64", &trace));
    struct pug_tree *tree = indexed_decoder(&trace, true);
    struct pug_index *part =
        indexed_build_with(&trace, &(struct pug_index_options){.block = BLOCK, .limit = 8 * BLOCK});
    assert_false(pug_index_has_all_marks(part, trace.size));
    assert_false(pug_index_tail_reads_find(part, tree, trace.bytes, trace.size, 0, 100, &rest));
    pug_index_free(part);
    struct pug_index *whole = indexed_build(&trace, BLOCK, false);
    assert_true(pug_index_has_all_marks(whole, trace.size));
    assert_false(
        pug_index_tail_reads_find(whole, tree, trace.bytes, trace.size, 0, trace.size, &rest));
    assert_false(
        pug_index_tail_reads_find(whole, tree, trace.bytes, trace.size, 0, trace.size - 1, &rest));
    pug_index_free(whole);
    pug_tree_free(tree);
    indexed_close(&trace);
}

/** An index reports silence that was true before the trace was changed there. */
static void believes_no_index_of_other_bytes(void **state)
{
    struct indexed trace;
    struct pug_index_tail_reads rest;
    (void)state;
    assert_true(indexed_open(PUG_SOURCE_DIR "/tests/captures/etmv4-a64", &trace));
    struct pug_tree *tree = indexed_decoder(&trace, true);
    struct pug_index *index = indexed_build(&trace, BLOCK, false);
    /* 0x12 speaks nowhere, which has to hold up to the end */
    for (unsigned n = 0; n < 3; n++) {
        const uint64_t at[] = {0, 10000, 15000};
        trace.bytes[at[n]] ^= n > 0;
        assert_int_equal(
            pug_index_tail_reads_find(index, tree, trace.bytes, trace.size, 0, 2000, &rest),
            n == 0);
        pug_index_tail_reads_free(&rest);
        trace.bytes[at[n]] ^= n > 0;
    }
    pug_index_free(index);
    pug_tree_free(tree);
    indexed_close(&trace);
}

int main(void)
{
    const struct CMUnitTest tests[] = {TEST_CAPTURES(leaps_over_silence),
                                       cmocka_unit_test(says_where_it_does_not_know),
                                       cmocka_unit_test(believes_no_index_of_other_bytes)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
