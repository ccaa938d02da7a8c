// SPDX-License-Identifier: MIT
#include "support/state_check.h"

#include "recorder/bytes.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#define BLOCK 64

/**
 * A decoder's path through the stream: its states after each block, and what it reported until
 * then.
 */
struct way {
    struct stream_run run;
    struct stream_lines lines;
    struct pug_state *states;
    size_t *said;
    bool *written;
    size_t blocks; /* that it went through, and one: more only where the answer is not fatal */
};

static void go(struct way *way, const struct stream_run *run, size_t start, size_t block)
{
    struct stream_tree stream;
    enum pug_response answer = PUG_RESP_CONT;
    size_t blocks = run->size / block + 1, at = start;
    *way = (struct way){.run = *run,
                        .states = calloc(blocks, sizeof(*way->states)),
                        .said = calloc(blocks, sizeof(*way->said)),
                        .written = calloc(blocks, sizeof(*way->written)),
                        .blocks = 1};
    assert_true(way->states && way->said && way->written);
    way->run.lines = &way->lines;
    stream_tree_open(&stream, &way->run);
    while (at < run->size && !PUG_RESP_IS_FATAL(answer)) {
        size_t size = block - at % block;
        at += stream_tree_data(&stream, at, size < run->size - at ? size : run->size - at, &answer);
        if (at % block != 0 || PUG_RESP_IS_FATAL(answer))
            continue;
        way->blocks = at / block + 1;
        way->said[at / block] = way->lines.count;
        way->written[at / block] = pug_tree_state(stream.tree, &way->states[at / block]);
    }
    if (!PUG_RESP_IS_FATAL(answer))
        pug_tree_end(stream.tree);
    stream_tree_close(&stream);
}

static void way_free(struct way *way, size_t blocks)
{
    for (size_t i = 0; i < blocks; i++)
        pug_state_free(&way->states[i]);
    free(way->states);
    free(way->said);
    free(way->written);
    stream_lines_free(&way->lines);
}

static void assert_goes_on_same(const struct way *a, const struct way *b, size_t block)
{
    size_t at_a = a->said[block], at_b = b->said[block];
    while (at_a < a->lines.count && at_b < b->lines.count) {
        const char *was = a->lines.items[at_a++], *is = b->lines.items[at_b++];
        if (strcmp(was, is) != 0)
            fail_msg("equal at block %zu, but then: want %s, got %s", block, was, is);
    }
    assert_int_equal(a->lines.count - at_a, b->lines.count - at_b);
}

/** The first block after which both states are equal; a->blocks: none. */
static size_t meet(const struct way *a, const struct way *b, size_t from)
{
    size_t met = a->blocks;
    for (size_t i = from; i < a->blocks; i++) {
        bool equal =
            a->written[i] && b->written[i] && pug_state_equal(&a->states[i], &b->states[i]);
        if (equal && met == a->blocks)
            met = i;
        else if (!equal && met < a->blocks)
            fail_msg("states were equal at block %zu and differ at block %zu", met, i);
    }
    return met;
}

void state_check(const struct stream_run *run, struct state_check *check)
{
    struct rec_random random = {check->seed};
    size_t block = check->block ? check->block : BLOCK, unit = check->unit ? check->unit : 1;
    size_t blocks = run->size / block + 1;
    struct way whole;
    check->met = 0;
    check->slowest = 0;
    go(&whole, run, 0, block);
    for (size_t i = 1; i < whole.blocks; i++)
        if (!whole.written[i])
            fail_msg("no state is written behind block %zu", i);
    for (unsigned n = 0; n < check->starts; n++) {
        struct way part;
        size_t start = rec_random_below(&random, (uint32_t)(run->size * 3 / 4 + 1)) / unit * unit;
        go(&part, run, start, block);
        size_t met = meet(&whole, &part, start / block + 1);
        if (met < whole.blocks) {
            assert_goes_on_same(&whole, &part, met);
            check->met++;
            if (met * block - start > check->slowest)
                check->slowest = met * block - start;
        }
        way_free(&part, blocks);
    }
    way_free(&whole, blocks);
    stream_check_jobs(run);
}

void state_check_damaged(const struct stream_run *run, struct state_check *check)
{
    struct stream_run damaged = *run;
    size_t first;
    uint8_t *bytes = stream_damage_copy(&damaged, check->seed ^ 0x5eed, &first);
    state_check(&damaged, check);
    free(bytes);
}
