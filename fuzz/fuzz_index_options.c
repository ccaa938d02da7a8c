// SPDX-License-Identifier: MIT
/**
 * @file Any options of an index: it is refused, or made, gone on with by other options, and asked.
 * The input chooses the options; the trace is a part of a capture of the project.
 */
#include "driver.h"
#include "index/format.h"
#include "pugmark/advanced/capture.h"
#include "pugmark/pugmark.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SIZE UINT64_C(6000) /* of the trace that is indexed, at most */

static struct pug_capture *capture_of(unsigned n)
{
    static const char *const folders[] = {"etmv4-a64", "ptm-arm", "etrace-rv64",
                                          "etmv4-a64-cycles"};
    static struct pug_capture *captures[4];
    char path[1024];
    n %= 4;
    snprintf(path, sizeof(path), PUG_SOURCE_DIR "/tests/captures/%s", folders[n]);
    if (!captures[n] &&
        pug_capture_open(path, &(struct pug_capture_options){0}, &captures[n]) != PUG_OK) {
        fprintf(stderr, "%s cannot be opened\n", path);
        exit(2);
    }
    return captures[n];
}

/** The choices that the input does not make. */
struct choices {
    const uint8_t *at, *end;
};

static unsigned choose(struct choices *choices, unsigned below)
{
    return choices->at < choices->end ? *choices->at++ % below : 0;
}

/** A place in a trace of so many bytes, or near its ends, or nowhere. */
static uint64_t place(struct choices *choices, uint64_t size)
{
    const uint64_t low = choose(choices, 256), high = choose(choices, 256);
    switch (choose(choices, 6)) {
    case 0: return 0;
    case 1: return size - (low & 3);
    case 2: return size + (low & 3);
    case 3: return high << 56 | low;
    case 4: return low;
    default: return (high << 8 | low) % (size + 1);
    }
}

static struct pug_index_options options_of(struct choices *choices, uint64_t size,
                                           const uint16_t *ids)
{
    static const uint64_t blocks[] = {0,
                                      1,
                                      PUG_INDEX_BLOCK_MIN,
                                      1000,
                                      1024,
                                      1500,
                                      4096,
                                      5000,
                                      8192,
                                      PUG_INDEX_BLOCK_MAX + 1,
                                      PUG_INDEX_BLOCK_MAX};
    return (struct pug_index_options){
        .block = blocks[choose(choices, sizeof(blocks) / sizeof(blocks[0]))],
        .full = choose(choices, 2),
        .elements = choose(choices, 2),
        .limit = place(choices, size),
        .jobs = 1 + choose(choices, 3),
        .full_ids = ids,
        .full_count = choose(choices, 3),
        .from = place(choices, size),
        .states = place(choices, size),
    };
}

static struct pug_tree *new_tree(struct pug_capture *capture, bool decode)
{
    struct pug_tree *tree = NULL;
    if (pug_capture_tree(capture, 0, decode, NULL, &tree) != PUG_OK)
        abort();
    return tree;
}

/** What an index promises: it is of what was asked for, and is a file that can be read again. */
static void check(const struct pug_index *index, struct pug_tree *tree, const uint8_t *bytes,
                  uint64_t size, uint64_t limit)
{
    struct pug_index_info info;
    struct pug_index *same = NULL;
    size_t length;
    pug_index_info(index, &info);
    const void *file = pug_index_bytes(index, &length);
    if (info.indexed > size || info.from > info.indexed || (limit && info.indexed > limit))
        abort();
    if (pug_index_parse(file, length, bytes, size, pug_index_identity(tree), &same) != PUG_OK)
        abort();
    pug_index_free(same);
}

static void ask(const struct pug_index *index, struct pug_capture *capture, const uint8_t *bytes,
                uint64_t size, struct choices *choices)
{
    struct pug_tree *tree = new_tree(capture, false);
    struct pug_index_mark mark;
    const struct pug_index_query query = {.kind = (enum pug_mark_kind)choose(choices, 16),
                                          .source = choose(choices, 2) ? PUG_INDEX_ANY : 0x10,
                                          .from = place(choices, size),
                                          .backwards = choose(choices, 2),
                                          .greatest = UINT64_MAX};
    if (pug_index_find(index, tree, bytes, size, &query, &mark) == PUG_OK &&
        (query.backwards ? mark.at >= query.from : mark.at < query.from))
        abort();
    pug_tree_free(tree);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const uint16_t ids[] = {0x10, 0x11, 0x7f};
    struct choices choices = {data, data + size};
    struct pug_capture *capture = capture_of(choose(&choices, 4));
    const uint8_t *bytes = pug_capture_memory(capture, 0);
    const uint64_t all = pug_capture_segment_at(capture, 0)->size, most = all < SIZE ? all : SIZE,
                   length = place(&choices, most) % (most + 1);
    const struct pug_index_options first = options_of(&choices, length, ids),
                                   second = options_of(&choices, length, ids);
    struct pug_index *index = NULL, *longer = NULL;
    struct pug_tree *tree = new_tree(capture, first.elements);
    if (pug_index_build(tree, bytes, length, &first, &index) == PUG_OK) {
        struct pug_tree *other = new_tree(capture, second.elements);
        check(index, other, bytes, length, first.limit);
        ask(index, capture, bytes, length, &choices);
        if (pug_index_extend(index, other, bytes, length, &second, &longer) == PUG_OK) {
            struct pug_tree *third = new_tree(capture, false);
            check(longer, third, bytes, length, 0);
            ask(longer, capture, bytes, length, &choices);
            pug_tree_free(third);
        }
        pug_tree_free(other);
    }
    pug_index_free(index);
    pug_index_free(longer);
    pug_tree_free(tree);
    return 0;
}

size_t fuzz_begin(uint8_t *data, size_t room, struct rec_random *random)
{
    const size_t size = room < 48 ? room : 48;
    for (size_t i = 0; i < size; i++)
        data[i] = (uint8_t)rec_random_below(random, 256);
    return size;
}
