// SPDX-License-Identifier: MIT
/**
 * @file However the input is cut into blocks, and wherever the consumer waits: the same elements
 * with the same indices. Over the bundled capture always, over the shared captures where they are.
 */
#include "pugmark/advanced/snapshot.h"
#include "pugmark/pugmark.h"
#include "recorder/bytes.h"
#include "support/captures.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* Beyond this a capture is not fed byte by byte any more: the cuts repeat. */
#define ENOUGH (UINT64_C(256) << 10)

/** How a capture is fed. */
struct manner {
    size_t block; /* 0: random sizes */
    unsigned wait_once_in;
    bool each_packet;
};

/** The result: a running hash of all fields of an element. */
struct outcome {
    uint64_t hash, elements;
    struct rec_random random;
    unsigned wait_once_in;
    bool waiting; /* nothing may come between a WAIT and the next FLUSH */
};

static void mix(struct outcome *outcome, const void *bytes, size_t size)
{
    const uint8_t *at = bytes;
    for (size_t i = 0; i < size; i++)
        outcome->hash = (outcome->hash ^ at[i]) * UINT64_C(1099511628211);
}

static enum pug_response take(void *context, const struct pug_element *elements, size_t count,
                              size_t *taken)
{
    struct outcome *outcome = context;
    assert_false(outcome->waiting);
    for (size_t i = 0; i < count; i++) {
        struct pug_element e = elements[i];
        if (e.flags & PUG_ELEM_PAYLOAD) {
            mix(outcome, e.payload, e.count);
            e.payload = NULL;
        }
        mix(outcome, &e, sizeof(e));
        outcome->elements++;
        if (outcome->wait_once_in && rec_random_once_in(&outcome->random, outcome->wait_once_in)) {
            *taken = i + 1;
            outcome->waiting = true;
            return PUG_RESP_WAIT;
        }
    }
    return PUG_RESP_CONT;
}

static enum pug_response flush(struct pug_tree *tree, struct outcome *outcome)
{
    enum pug_response response = PUG_RESP_WAIT;
    while (PUG_RESP_IS_WAIT(response)) {
        outcome->waiting = false;
        response = pug_tree_flush(tree);
    }
    return response;
}

static void feed(struct pug_tree *tree, struct outcome *outcome, const uint8_t *bytes,
                 uint64_t size, size_t block)
{
    enum pug_response response = PUG_RESP_CONT;
    for (uint64_t at = 0; at < size && !PUG_RESP_IS_FATAL(response);) {
        size_t used = 0;
        size_t want = block ? block : 1 + rec_random_below(&outcome->random, 3000);
        if (want > size - at)
            want = (size_t)(size - at);
        response = pug_tree_data(tree, at, bytes + at, want, &used);
        at += used;
        if (PUG_RESP_IS_WAIT(response))
            response = flush(tree, outcome);
        else
            assert_true(used > 0);
    }
    assert_false(PUG_RESP_IS_FATAL(response));
    if (PUG_RESP_IS_WAIT(pug_tree_end(tree)))
        flush(tree, outcome);
}

static struct outcome decode(struct pug_snapshot *snapshot,
                             const struct pug_snapshot_buffer *buffer, const uint8_t *bytes,
                             uint64_t size, const struct manner *manner)
{
    struct outcome outcome = {.hash = UINT64_C(14695981039346656037),
                              .random = {.state = manner->block * 31 + manner->wait_once_in + 1},
                              .wait_once_in = manner->wait_once_in};
    struct pug_image *image = pug_image_new();
    struct pug_tree *tree = NULL;
    const struct pug_snapshot_tree_config config = {
        .image = image, .decode = true, .options = {.data_elements = true}};
    if (pug_snapshot_tree(snapshot, buffer, &config, &tree) == PUG_OK) {
        pug_tree_on_elements(tree, take, &outcome);
        pug_tree_deliver_each_packet(tree, manner->each_packet);
        feed(tree, &outcome, bytes, size, manner->block);
    }
    pug_tree_free(tree);
    pug_image_free(image);
    return outcome;
}

static void one_capture(struct capture *capture, void *context)
{
    static const struct manner manners[] = {
        {1, 0, false}, {0, 0, false}, {16, 0, true}, {0, 3, false}, {1, 5, true}, {4096, 50, true},
    };
    const uint64_t size = capture->size < ENOUGH ? capture->size : ENOUGH;
    struct outcome whole = decode(capture->snapshot, capture->buffer, capture->bytes, size,
                                  &(struct manner){SIZE_MAX, 0, false});
    (void)context;
    for (size_t i = 0; i < sizeof(manners) / sizeof(manners[0]); i++) {
        struct outcome cut =
            decode(capture->snapshot, capture->buffer, capture->bytes, size, &manners[i]);
        if (cut.hash != whole.hash || cut.elements != whole.elements)
            fail_msg("%s %s: blocks of %zu, wait once in %u: %llu elements, not %llu (or others)",
                     pug_snapshot_directory(capture->snapshot), capture->buffer->name,
                     manners[i].block, manners[i].wait_once_in, (unsigned long long)cut.elements,
                     (unsigned long long)whole.elements);
    }
}

static void test_captures(void **state)
{
    captures_each(*(const enum captures *)*state, one_capture, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST_CAPTURES(test_captures),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
