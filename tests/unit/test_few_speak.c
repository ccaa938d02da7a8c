// SPDX-License-Identifier: MIT
/**
 * @file A tree of many sources of which few speak: a source that speaks is decoded as in any other
 * tree, and the others report nothing, however often the tree is rebuilt.
 */
#include "recorder/etmv4.h"
#include "recorder/frames.h"
#include "tree/embed.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

enum { FIRST_ID = 0x10, SOURCES = 5, MOST = 400 };

struct told {
    struct pug_element elements[MOST];
    size_t count;
};

static enum pug_response on_elements(void *context, const struct pug_element *elements,
                                     size_t count, size_t *taken)
{
    struct told *told = context;
    assert_true(told->count + count <= MOST);
    memcpy(told->elements + told->count, elements, count * sizeof(*elements));
    told->count += count;
    *taken = count;
    return PUG_RESP_CONT;
}

static struct pug_tree *make_tree(struct told *told)
{
    static const struct pug_setting frames[] = {{.name = "mem_align", .value = 1},
                                                {.name = "reset_on_4x_fsync", .value = 1}};
    struct pug_tree *tree;
    assert_int_equal(
        pug_tree_new(&(struct pug_tree_config){.transport = "coresight",
                                               .settings = {.items = frames, .count = 2}},
                     &tree),
        PUG_OK);
    for (unsigned i = 0; i < SOURCES; i++) {
        const struct pug_setting items[] = {{.name = "TRCIDR0", .value = 0x28000ea1},
                                            {.name = "TRCIDR2", .value = 0x20001088},
                                            {.name = "TRCCONFIGR", .value = 0x841},
                                            {.name = "TRCTRACEIDR", .value = FIRST_ID + i},
                                            {.name = "arch", .value = PUG_ARCH_V8},
                                            {.name = "profile", .value = PUG_PROFILE_A}};
        const struct pug_source_config config = {
            .protocol = "ETMV4I",
            .settings = {.items = items, .count = sizeof(items) / sizeof(items[0])},
            .decode = true};
        assert_int_equal(pug_tree_add_source(tree, &config, NULL), PUG_OK);
    }
    pug_tree_on_elements(tree, on_elements, told);
    return tree;
}

/** Put everything that one source sends, from its start on. */
static void put_source(struct rec_frames *frames, uint8_t id)
{
    const struct rec_etmv4_config config = {
        .idr0 = 0x28000ea1, .idr2 = 0x20001088, .configr = 0x841, .seed = id};
    const struct rec_context context = {
        .sf = true, .ns = true, .has_context_id = true, .context_id = id};
    struct rec_bytes trace = {0};
    struct rec_etmv4 *unit = rec_etmv4_new(&config, &trace);
    assert_non_null(unit);
    rec_etmv4_sync(unit);
    rec_etmv4_trace_on(unit);
    rec_etmv4_start(unit, 0x400000, false, &context);
    rec_etmv4_timestamp(unit, 1000 + id);
    rec_etmv4_atom(unit, true);
    rec_etmv4_finish(unit);
    rec_etmv4_free(unit);
    rec_frames_put(frames, id, trace.data, trace.size);
    rec_bytes_free(&trace);
}

static void put_barrier(struct rec_bytes *out)
{
    static const uint8_t fsync[] = {0xff, 0xff, 0xff, 0x7f};
    for (unsigned i = 0; i < 4; i++)
        rec_put_n(out, fsync, sizeof(fsync));
}

/** Trace in which the sources of a mask speak, with barriers before and after each. */
static struct rec_bytes trace_of(unsigned speak, unsigned barriers)
{
    struct rec_bytes out = {0};
    for (unsigned i = 0; i < SOURCES; i++) {
        struct rec_frames frames = {.out = &out};
        if (barriers & 1u << i)
            put_barrier(&out);
        if (!(speak & 1u << i))
            continue;
        put_source(&frames, (uint8_t)(FIRST_ID + i));
        rec_frames_finish(&frames);
    }
    return out;
}

static void decode(struct pug_tree *tree, struct told *told, const struct rec_bytes *trace)
{
    uint64_t at = 0;
    told->count = 0;
    assert_true(PUG_RESP_IS_CONT(pug_tree_feed(tree, trace->data, &at, trace->size)));
    assert_int_equal(at, trace->size);
    assert_true(PUG_RESP_IS_CONT(pug_tree_end(tree)));
}

/** Sources that speak report everything, and the others nothing. */
static void check(const struct told *few, const struct told *all, unsigned speak)
{
    size_t n = 0, ends = 0;
    for (size_t i = 0; i < all->count; i++) {
        const struct pug_element *element = &all->elements[i];
        if (!(speak & 1u << (element->source - FIRST_ID)))
            continue;
        assert_true(n < few->count);
        assert_memory_equal(&few->elements[n++], element, sizeof(*element));
        ends += element->type == PUG_ELEM_EO_TRACE;
    }
    assert_int_equal(n, few->count);
    unsigned speakers = 0;
    for (unsigned i = 0; i < SOURCES; i++)
        speakers += speak >> i & 1;
    assert_int_equal(ends, speakers);
}

static void test_few(void **state)
{
    static const struct {
        unsigned speak, barriers;
    } cases[] = {{2, 0}, {4, 0}, {0, 0}, {4, 1}, {5, 6}, {0, 3}, {8, 8}, {1, 2}, {31, 4}, {16, 0}};
    static struct told few_told, all_told;
    struct pug_tree *few = make_tree(&few_told);
    (void)state;
    pug_tree_few_speak(few);
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct rec_bytes trace = trace_of(cases[i].speak, cases[i].barriers);
        struct pug_tree *all = make_tree(&all_told);
        if (trace.size > 0) {
            decode(all, &all_told, &trace);
            decode(few, &few_told, &trace);
            check(&few_told, &all_told, cases[i].speak);
            assert_true(PUG_RESP_IS_CONT(pug_tree_reset(all)));
            assert_true(PUG_RESP_IS_CONT(pug_tree_reset(few)));
            struct rec_bytes other = trace_of(30, 16);
            decode(all, &all_told, &other);
            decode(few, &few_told, &other);
            check(&few_told, &all_told, 30 | cases[i].speak); /* who spoke once, ends */
            rec_bytes_free(&other);
        }
        assert_int_equal(pug_tree_renew(few), PUG_OK);
        pug_tree_free(all);
        rec_bytes_free(&trace);
    }
    pug_tree_free(few);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_few)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
