// SPDX-License-Identifier: MIT
/**
 * @file An index of packets alone is enough to reach a block with decoders, when these get
 * everything known after each synchronisation point: their state equals that after reading
 * everything before.
 */
#include "index/format.h"
#include "index/reach.h"
#include "recorder/bytes.h"
#include "support/indexed.h"
#include "support/share.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define BLOCK 1024u
/* The size to which a trace is repeated. */
#define LEAST (UINT64_C(1) << 17)
/* Blocks of a trace that are tried. */
#define TRIED share_of(60)

/** Blocks whose state is known, and to how many of them one comes. */
static unsigned blocks, reached;

static void come_to(const struct indexed *trace, const struct pug_index *index,
                    const struct pug_index *whole, uint64_t block)
{
    struct pug_tree *tree = indexed_decoder(trace, true), *there;
    const uint64_t expected = whole->blocks[block].elements;
    blocks++;
    if (pug_index_reach_resync(index, tree, trace->bytes, block, &there)) {
        reached++;
        if (expected != 0)
            assert_int_equal(pug_index_tree_sum(there), expected);
        pug_tree_free(there);
    }
    pug_tree_free(tree);
}

/** Behind a begin that has other bytes than when it was indexed: it is not what is read. */
static void come_to_blocks(const struct indexed *trace)
{
    const struct pug_index_options options = {.block = BLOCK, .elements = true, .jobs = 1};
    struct pug_index *whole = indexed_build_with(trace, &options);
    struct pug_index *index = indexed_build(trace, BLOCK, false);
    const uint64_t step = whole->header->blocks / TRIED + 1;
    memset(trace->bytes, 0xff, BLOCK);
    for (uint64_t block = 2; block < whole->header->blocks; block += step)
        if (pug_index_known_state(index, false, block) == block)
            come_to(trace, index, whole, block);
    pug_index_free(index);
    pug_index_free(whole);
}

/** A trace that says the same again and again; some bytes in so many are others. */
static void repeat(const struct indexed *trace, uint64_t seed, uint32_t each)
{
    struct indexed again = *trace;
    struct rec_random random = {.state = seed};
    again.size = trace->size * (1 + LEAST / trace->size);
    again.bytes = malloc(again.size);
    assert_non_null(again.bytes);
    for (uint64_t at = 0; at < again.size; at += trace->size)
        memcpy(again.bytes + at, trace->bytes, trace->size);
    for (uint64_t at = 0; each > 0 && at < again.size;
         at += 1 + rec_random_below(&random, 2 * each))
        again.bytes[at] = (uint8_t)rec_random_below(&random, 256);
    come_to_blocks(&again);
    free(again.bytes);
}

static void come_to_damaged_blocks(const struct indexed *trace)
{
    repeat(trace, 0, 0);
    repeat(trace, trace->size, 500);
    repeat(trace, trace->size, 8000);
}

static void comes_to_blocks_by_packets(void **state)
{
    blocks = reached = 0;
    indexed_each(*(const enum captures *)*state, come_to_damaged_blocks);
    print_message("to %u of %u blocks\n", reached, blocks);
    assert_true(reached > blocks / 16);
}

int main(void)
{
    const struct CMUnitTest tests[] = {TEST_CAPTURES(comes_to_blocks_by_packets)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
