// SPDX-License-Identifier: MIT
/**
 * @file CoreSight frames without a consumer are counted, not taken apart. What is counted,
 * reported, decoded and still to come is the same as with a listener to runs, which gets all.
 */
#include "pugmark/advanced/tree.h"
#include "pugmark/author/transport.h"
#include "pugmark/pugmark.h"
#include "recorder/bytes.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define MOST 6000u

struct manner {
    const char *flag; /**< of the transport */
    bool dstream, silent, any_order;
    enum pug_severity verbosity;
    unsigned sources; /**< of ITM, from id 0x11 on, each 0x10 more than the last one */
};

static const struct manner manners[] = {
    {"mem_align", false, false, false, PUG_SEV_INFO, 1},
    {"mem_align", false, true, false, PUG_SEV_INFO, 1},
    {"mem_align", true, false, false, PUG_SEV_WARN, 0},
    {"mem_align", false, false, true, PUG_SEV_NONE, 3},
    {"fsyncs", false, false, false, PUG_SEV_NONE, 1},
    {"hsyncs", false, false, false, PUG_SEV_NONE, 2},
    {"reset_on_4x_fsync", false, false, false, PUG_SEV_INFO, 7},
};

struct found {
    uint64_t told, given, states;
    struct pug_transport_stats stats;
};

static void mix(uint64_t *hash, const void *bytes, size_t size)
{
    for (size_t i = 0; i < size; i++)
        *hash = (*hash ^ ((const uint8_t *)bytes)[i]) * UINT64_C(1099511628211);
}

static void mix_record(void *context, const struct pug_log_record *record)
{
    struct found *found = context;
    mix(&found->told, &record->index, sizeof(record->index));
    mix(&found->told, record->text, strlen(record->text));
}

static enum pug_response mix_elements(void *context, const struct pug_element *elements,
                                      size_t count, size_t *taken)
{
    struct found *found = context;
    mix(&found->given, elements, count * sizeof(*elements));
    *taken = count;
    return PUG_RESP_CONT;
}

static void mix_state(struct found *found, const struct pug_tree *tree)
{
    struct pug_state state = {0};
    if (pug_tree_state(tree, &state))
        mix(&found->states, state.bytes, state.size);
    pug_state_free(&state);
}

static void hear(void *context, const struct pug_run *run)
{
    (void)context;
    (void)run;
}

static struct pug_tree *make_tree(const struct manner *manner, struct pug_log *log)
{
    const struct pug_setting settings[] = {{.name = manner->flag, .value = 1},
                                           {.name = "dstream", .value = manner->dstream}};
    struct pug_tree_config config = {
        .transport = "coresight", .settings = {.items = settings, .count = 2}, .log = log};
    struct pug_tree *tree;
    config.quirks.silent_framing = manner->silent;
    assert_int_equal(pug_tree_new(&config, &tree), PUG_OK);
    for (unsigned n = 0; n < manner->sources; n++) {
        const struct pug_setting id = {.name = "src_id", .value = 0x11 + 0x10 * n};
        const struct pug_source_config source = {
            .protocol = "ITM", .settings = {.items = &id, .count = 1}, .decode = true};
        assert_int_equal(pug_tree_add_source(tree, &source, NULL), PUG_OK);
    }
    pug_tree_any_order(tree, manner->any_order);
    return tree;
}

static struct found find(const struct manner *manner, const uint8_t *bytes, size_t size,
                         size_t block, bool apart)
{
    struct found found = {0};
    struct pug_log *log = pug_log_new(manner->verbosity);
    struct pug_tree *tree = make_tree(manner, log);
    pug_log_set_sink(log, mix_record, &found);
    pug_tree_on_elements(tree, mix_elements, &found);
    if (apart)
        pug_tree_on_runs(tree, hear, NULL);
    for (size_t at = 0, used; at < size; at += used) {
        const size_t left = size - at;
        assert_true(pug_tree_data(tree, at, bytes + at, left < block ? left : block, &used) <
                    PUG_RESP_WAIT);
        mix_state(&found, tree);
    }
    assert_true(pug_tree_end(tree) < PUG_RESP_WAIT);
    found.stats = *pug_tree_transport_stats(tree);
    pug_tree_free(tree);
    pug_log_free(log);
    return found;
}

/** Noise whose ids are random or few and repeated, at once or after data; and syncs. */
static size_t make(uint8_t *bytes, struct rec_random *random)
{
    static const uint8_t fsync[] = {0xff, 0xff, 0xff, 0x7f};
    const unsigned ids = 1 + rec_random_below(random, 3), seldom = 1 + rec_random_below(random, 9);
    uint8_t few[3], byte = 0;
    size_t size = 0;
    for (unsigned i = 0; i < 3; i++)
        few[i] = (uint8_t)(rec_random(random) | (i == 0 ? 0xe1 : 1));
    while (size < MOST - 1200) {
        const unsigned kind = rec_random_below(random, 6);
        for (unsigned left = 1 + rec_random_below(random, kind < 2 ? 1100 : 100); left > 0;
             left--) {
            if (kind > 1)
                byte = (uint8_t)rec_random(random);
            if (kind > 2 && size % 2 == 0)
                byte = rec_random_once_in(random, seldom) ? few[rec_random_below(random, ids)]
                                                          : byte & 0xfe;
            bytes[size++] = byte;
        }
        byte = kind % 2 ? 0xff : few[0];
        for (unsigned n = kind == 2 ? rec_random_below(random, 5) : 0; n > 0; n--, size += 4)
            memcpy(bytes + size, fsync, 4);
        size += rec_random_once_in(random, 2) ? 0 : -size % 16;
    }
    return size;
}

static void test_same(void **state)
{
    static const size_t blocks[] = {16, 50, 1000, 4096, SIZE_MAX};
    struct rec_random random = {.state = 11};
    uint8_t bytes[MOST] = {0};
    (void)state;
    for (unsigned n = 0; n < 700; n++) {
        const struct manner *manner = &manners[n % 7];
        const size_t size = make(bytes, &random), block = blocks[n % 5];
        const struct found apart = find(manner, bytes, size, block, true),
                           counted = find(manner, bytes, size, block, false);
        assert_memory_equal(&counted.stats, &apart.stats, sizeof(apart.stats));
        if (counted.told != apart.told || counted.given != apart.given ||
            counted.states != apart.states)
            fail_msg("input %u: the same is counted, but not the same is found", n);
    }
}

/* ---- it is done at all ---- */

static unsigned takes(void *context, uint16_t id)
{
    (void)context;
    return id == 0x11 ? 0 : PUG_TAKES_NOTHING;
}

static enum pug_response count_run(void *context, const struct pug_run *run, size_t *used)
{
    ++*(unsigned *)context;
    *used = run->size;
    return PUG_RESP_CONT;
}

/** Of the ids of noise a 128th is heard: so is a frame in 32, and some that follow. */
static void test_counts(void **state)
{
    enum { FRAMES = 4096 };
    static uint8_t bytes[FRAMES * 16];
    const struct pug_transport *transport = pug_transport_find("coresight");
    struct rec_random random = {.state = 12};
    struct pug_transport_stats stats = {0};
    unsigned runs = 0;
    struct pug_transport_sink sink = {
        .context = &runs, .run = count_run, .takes = takes, .stats = &stats};
    void *frames;
    size_t used;
    (void)state;
    for (size_t i = 0; i < sizeof(bytes); i++)
        bytes[i] = (uint8_t)rec_random(&random);
    assert_int_equal(transport->create(&(struct pug_settings){0}, &sink, &frames), PUG_OK);
    assert_int_equal(transport->data(frames, 0, bytes, sizeof(bytes), &used), PUG_RESP_CONT);
    transport->free(frames);
    assert_int_equal(used, sizeof(bytes));
    assert_true(runs > FRAMES / 32);
    assert_true(runs < FRAMES / 2); /* taken apart these are more than four a frame */
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_same), cmocka_unit_test(test_counts)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
