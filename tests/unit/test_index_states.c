// SPDX-License-Identifier: MIT
/**
 * @file Indexes that have the decoders' states of a part: these are those of one that has them of
 * all, it goes on to that, and what it does not know of when a part is complete is found by
 * reading.
 */
#include "index/format.h"
#include "support/indexed.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define BLOCK 1024u
#define PARTS 4u

/** Windows some way before the trace ends, and how many of them were found to be complete early. */
static unsigned windows, settled;

/** Up to `end` states are the same; after it none is known. */
static void compare_states(const struct pug_index *part, const struct pug_index *whole,
                           uint64_t end)
{
    assert_int_equal(part->header->blocks, whole->header->blocks);
    for (uint64_t block = 0; block < whole->header->blocks; block++)
        if (block * BLOCK < end)
            assert_int_equal(part->blocks[block].elements, whole->blocks[block].elements);
        else if (block * BLOCK > end)
            assert_int_equal(part->blocks[block].elements, 0);
}

struct window {
    uint64_t from, to;
    unsigned came;
};

static enum pug_response count_those_within(void *context, const struct pug_element *elements,
                                            size_t count, size_t *taken)
{
    struct window *window = context;
    *taken = count;
    for (size_t i = 0; i < count; i++)
        window->came += elements[i].index >= window->from && elements[i].index < window->to;
    return PUG_RESP_CONT;
}

/** Elements of a window that come when the trace is read on from `at`. */
static unsigned come_behind(const struct indexed *trace, struct window window, uint64_t at)
{
    struct pug_tree *tree = indexed_decoder(trace, true);
    uint64_t begin = 0;
    pug_tree_on_elements(tree, count_those_within, &window);
    if (PUG_RESP_IS_CONT(pug_tree_feed(tree, trace->bytes, &begin, at))) {
        (void)pug_tree_flush(tree);
        window.came = 0;
        if (PUG_RESP_IS_CONT(pug_tree_feed(tree, trace->bytes, &begin, trace->size)))
            (void)pug_tree_end(tree);
    }
    pug_tree_free(tree);
    return window.came;
}

/** Not before all elements of a window have come. */
static void settle_windows(const struct indexed *trace, const struct pug_index *part, uint64_t end)
{
    for (uint64_t n = 0; n < PARTS; n++) {
        const uint64_t from = n % 2 ? end - end / (n + 2) : n * trace->size / PARTS;
        const struct window window = {from, from + 3000 * n + 100, 0};
        struct pug_tree *tree = indexed_decoder(trace, true);
        const uint64_t found =
            pug_index_settle(part, tree, trace->bytes, trace->size, from, window.to);
        pug_tree_free(tree);
        const bool early = window.to + 8 * BLOCK < trace->size;
        windows += early;
        settled += early && found != UINT64_MAX;
        if (found != UINT64_MAX)
            assert_int_equal(come_behind(trace, window, found), 0);
    }
}

/** States of all are those of an index that had them of all from the first. */
static void go_on(const struct indexed *trace, const struct pug_index *part,
                  const struct pug_index *whole, const struct pug_index_options *options)
{
    struct pug_tree *tree = indexed_decoder(trace, true);
    struct pug_index *index = NULL;
    struct pug_index_info info;
    assert_int_equal(pug_index_extend(part, tree, trace->bytes, trace->size, options, &index),
                     PUG_OK);
    pug_index_info(index, &info);
    const uint64_t end =
        options->states ? (options->states + BLOCK - 1) / BLOCK * BLOCK : whole->header->indexed;
    compare_states(index, whole, end < whole->header->indexed ? end : UINT64_MAX);
    assert_true(info.elements && info.states <= info.indexed);
    if (!options->states)
        assert_int_equal(info.states, info.indexed);
    pug_index_free(index);
    pug_tree_free(tree);
}

/** Marks may be requested without decoding; the states in the file stay. */
static void keep(const struct indexed *trace, const struct pug_index *part,
                 const struct pug_index *whole, uint64_t end)
{
    const struct pug_index_options marks = {.jobs = 1};
    struct pug_index_info before, after;
    pug_index_info(part, &before);
    for (unsigned decode = 0; decode < 2; decode++) {
        struct pug_tree *tree = decode ? indexed_decoder(trace, true) : indexed_tree(trace);
        struct pug_index *index = NULL;
        assert_int_equal(pug_index_extend(part, tree, trace->bytes, trace->size, &marks, &index),
                         PUG_OK);
        pug_index_info(index, &after);
        assert_true(after.states <= before.states);
        for (uint64_t block = 0; block < whole->header->blocks; block++)
            if (index->blocks[block].elements != 0)
                assert_true(block * BLOCK <= end &&
                            index->blocks[block].elements == whole->blocks[block].elements);
        if (decode)
            assert_int_equal(after.states, before.states);
        pug_index_free(index);
        pug_tree_free(tree);
    }
}

static void compare_parts(const struct indexed *trace)
{
    struct pug_index_options options = {.block = BLOCK, .elements = true, .jobs = 1};
    struct pug_index *whole = indexed_build_with(trace, &options);
    for (uint64_t n = 1; n < PARTS && trace->size > 8 * BLOCK; n++) {
        options.states = trace->size * n / PARTS;
        options.jobs = (unsigned)n;
        struct pug_index *part = indexed_build_with(trace, &options);
        const uint64_t end = (options.states + BLOCK - 1) / BLOCK * BLOCK;
        if (part->header->flags & PUG_INDEX_ELEMENTS) {
            assert_true(part->header->flags & PUG_INDEX_PARTLY);
            compare_states(part, whole, end);
            settle_windows(trace, part, end);
            keep(trace, part, whole, end);
            go_on(trace, part, whole, &(struct pug_index_options){.elements = true});
            go_on(trace, part, whole,
                  &(struct pug_index_options){.elements = true,
                                              .states = options.states + trace->size / 8});
        }
        pug_index_free(part);
    }
    pug_index_free(whole);
}

static void compare_damaged_parts(const struct indexed *trace)
{
    compare_parts(trace);
#ifndef __SANITIZE_THREAD__ /* which sees as much of whole traces */
    indexed_damage(trace, trace->size + 1);
    compare_parts(trace);
#endif
}

static void has_states_of_a_part(void **state)
{
    windows = settled = 0;
    indexed_each(*(const enum captures *)*state, compare_damaged_parts);
    print_message("of %u windows %u are complete soon\n", windows, settled);
    /* A return stack is known again only after a loss, so most windows of such trace are not. */
    assert_true(settled > windows / 5);
}

int main(void)
{
    const struct CMUnitTest tests[] = {TEST_CAPTURES(has_states_of_a_part)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
