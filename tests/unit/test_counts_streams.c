// SPDX-License-Identifier: MIT
/**
 * @file Counts are those of the elements: of streams that are made for what is seldom, and of parts
 * that are added up. tests/unit/test_counts.c has captures.
 */
#include "pugmark/advanced/counts.h"
#include "pugmark/advanced/image.h"
#include "pugmark/advanced/quirks.h"
#include "pugmark/advanced/settings.h"
#include "pugmark/advanced/tree.h"
#include "pugmark/pugmark.h"
#include "support/counts.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* ---- adding up ---- */

static struct pug_element range(uint16_t source, uint64_t start, bool taken)
{
    return (struct pug_element){.type = PUG_ELEM_INSTR_RANGE,
                                .source = source,
                                .start = start,
                                .end = start + 8,
                                .count = 2,
                                .flags = taken ? PUG_ELEM_EXECUTED : 0,
                                .last_type = PUG_INSTR_BR_INDIRECT,
                                .last_size = 4,
                                .isa = PUG_ISA_A64};
}

/** A branch goes over from one part into the next, beside another source. */
static void test_parts(void **state)
{
    const struct pug_element elements[] = {range(1, 0x1000, true),
                                           range(2, 0x5000, true),
                                           range(1, 0x2000, false),
                                           range(1, 0x3000, true),
                                           {.type = PUG_ELEM_TIMESTAMP, .source = 1},
                                           range(2, 0x1000, true),
                                           {.type = PUG_ELEM_NO_SYNC, .source = 2},
                                           range(1, 0x1000, true),
                                           range(2, 0x6000, false)};
    const size_t count = sizeof(elements) / sizeof(elements[0]);
    struct pug_counts *whole = pug_counts_new();
    size_t n;
    (void)state;
    pug_counts_add_elements(whole, elements, count);
    const struct pug_count_jump *jumps = pug_counts_jumps(whole, &n);
    assert_int_equal(n, 3); /* 1004 to 2000, 3004 to 1000, 5004 to 1000 */
    assert_int_equal(jumps[0].from, 0x1004);
    assert_int_equal(jumps[0].to, 0x2000);
    for (size_t cut = 0; cut <= count; cut++) {
        struct pug_counts *first = pug_counts_new(), *second = pug_counts_new();
        pug_counts_add_elements(first, elements, cut);
        pug_counts_add_elements(second, elements + cut, count - cut);
        pug_counts_append(first, second);
        counts_assert_equal(whole, first, "elements", "in two parts");
        pug_counts_free(first);
        pug_counts_free(second);
    }
    pug_counts_clear(whole);
    assert_int_equal((pug_counts_ranges(whole, &n), n), 0);
    pug_counts_free(whole);
}

/* ---- one address, two instruction sets ---- */

#define ROUNDS 64

/** `bx r0` at 0x1000; at 0x2010 `and` and `bx r0` of A32, and `bx r0` of T32. */
static const uint8_t branch[] = {0x10, 0xff, 0x2f, 0xe1},
                     both[] = {0x00, 0x47, 0x00, 0xe0, 0x10, 0xff, 0x2f, 0xe1};

#define TO_2010_A32 0xf7, 0x9a, 4, 0x10, 0, 0
#define TO_2010_T32 0xf7, 0x9b, 8, 0x20, 0, 0
#define BACK        0xf7, 0x9a, 0, 8, 0, 0

/** ASYNC, TRACE_INFO, TRACE_ON, 0x1000 in A32 with its context; then from branch to branch. */
static const uint8_t head[] = {0,    0,    0, 0, 0,    0,    0, 0, 0, 0, 0,
                               0x80, 0x01, 1, 0, 0x04, 0x82, 0, 8, 0, 0, 0x20},
                     round_trip[] = {TO_2010_A32, BACK, TO_2010_A32, BACK,
                                     TO_2010_A32, BACK, TO_2010_T32, BACK};

static size_t two_sets(uint8_t *trace)
{
    size_t size = sizeof(head);
    memcpy(trace, head, size);
    for (unsigned i = 0; i < ROUNDS; i++, size += sizeof(round_trip))
        memcpy(trace + size, round_trip, sizeof(round_trip));
    return size;
}

/** A source that has a stream of its own, and its program and trace. */
struct alone {
    const struct pug_source_config *config;
    struct pug_image *image;
    struct pug_quirks quirks;
    const uint8_t *trace;
    size_t size;
};

/** In blocks of a size; counted on the way, or not. Frees the image. */
static void decode_alone(const struct alone *alone, size_t block, struct counts_seen *seen,
                         struct pug_counts *counts)
{
    const struct pug_tree_config config = {
        .transport = "plain", .image = alone->image, .quirks = alone->quirks};
    struct pug_tree *tree;
    assert_int_equal(pug_tree_new(&config, &tree), PUG_OK);
    assert_int_equal(pug_tree_add_source(tree, alone->config, NULL), PUG_OK);
    pug_tree_on_elements(tree, counts_take, seen);
    pug_tree_count(tree, counts);
    for (size_t at = 0, used; at < alone->size; at += used) {
        const size_t left = alone->size - at;
        const enum pug_response answer =
            pug_tree_data(tree, at, alone->trace + at, left < block ? left : block, &used);
        assert_true(PUG_RESP_IS_CONT(answer));
    }
    assert_int_equal(pug_tree_end(tree), PUG_RESP_CONT);
    pug_tree_count(tree, NULL);
    pug_tree_free(tree);
    pug_image_free(alone->image);
}

static struct pug_image *image_with(uint64_t address, const uint8_t *bytes, size_t size)
{
    const struct pug_place anywhere = {.space = PUG_SPACE_ANY};
    struct pug_image *image = pug_image_new();
    pug_image_add_buffer(image, &anywhere, address, bytes, size);
    return image;
}

static void decode(const uint8_t *trace, size_t size, struct pug_counts *by_elements,
                   struct pug_counts *counts)
{
    const struct pug_setting settings[] = {
        {.name = "TRCIDR0", .value = 0x28000EA1},   {.name = "TRCIDR1", .value = 0x4100F403},
        {.name = "TRCIDR2", .value = 0x488},        {.name = "TRCCONFIGR", .value = 0x41},
        {.name = "TRCTRACEIDR", .value = 0x10},     {.name = "arch", .value = PUG_ARCH_V8},
        {.name = "profile", .value = PUG_PROFILE_A}};
    const struct pug_source_config config = {
        .protocol = "ETMV4I",
        .settings = {.items = settings, .count = sizeof(settings) / sizeof(settings[0])},
        .decode = true};
    const struct pug_place anywhere = {.space = PUG_SPACE_ANY};
    struct counts_seen seen = {.counts = by_elements};
    struct pug_image *image = image_with(0x1000, branch, sizeof(branch));
    pug_image_add_buffer(image, &anywhere, 0x2010, both, sizeof(both));
    decode_alone(&(struct alone){.config = &config, .image = image, .trace = trace, .size = size},
                 SIZE_MAX, &seen, counts);
}

/** A branch goes to an address in A32 and in T32: not the same block. */
static void test_two_sets(void **state)
{
    struct pug_counts *expected = pug_counts_new(), *counts = pug_counts_new();
    uint8_t trace[sizeof(head) + ROUNDS * sizeof(round_trip)];
    const size_t size = two_sets(trace);
    size_t ranges;
    (void)state;
    decode(trace, size, expected, NULL);
    (void)pug_counts_ranges(expected, &ranges);
    assert_int_equal(ranges, 3);
    decode(trace, size, NULL, counts);
    counts_assert_equal(expected, counts, "one address", "two instruction sets");
    pug_counts_free(expected);
    pug_counts_free(counts);
}

/* ---- many contexts ---- */

#define CONTEXTS 700u

/** The branch at 0x1000 goes there itself: once with another context id, then some times more. */
static size_t put_context(uint8_t *trace, unsigned id)
{
    const uint8_t packets[] = {
        0xf7, 0x82, 0, 8, 0, 0, 0xa0, (uint8_t)id, (uint8_t)(id >> 8), 0, 0, BACK, BACK, BACK};
    memcpy(trace, packets, sizeof(packets));
    return sizeof(packets);
}

/** More contexts than paths are kept of, each met again when others have taken its place. */
static void test_contexts(void **state)
{
    struct pug_counts *expected = pug_counts_new(), *counts = pug_counts_new();
    uint8_t trace[sizeof(head) + 2 * CONTEXTS * 29];
    size_t size = sizeof(head), contexts;
    (void)state;
    memcpy(trace, head, sizeof(head));
    for (unsigned round = 0; round < 2; round++)
        for (unsigned id = 0; id < CONTEXTS; id++)
            size += put_context(trace + size, id);
    decode(trace, size, expected, NULL);
    (void)pug_counts_contexts(expected, &contexts);
    assert_int_equal(contexts, CONTEXTS + 1); /* and that of the head, which has no id */
    decode(trace, size, NULL, counts);
    counts_assert_equal(expected, counts, "one address", "many contexts");
    pug_counts_free(expected);
    pug_counts_free(counts);
}

/* ---- sums ---- */

static void test_total(void **state)
{
    const struct pug_element elements[] = {range(1, 0x1000, true), range(1, 0x1000, true),
                                           range(2, 0x1000, false)};
    struct pug_counts *counts = pug_counts_new();
    uint64_t ranges, instructions;
    (void)state;
    pug_counts_total(counts, &ranges, &instructions);
    assert_int_equal(ranges | instructions, 0);
    pug_counts_add_elements(counts, elements, 3);
    pug_counts_total(counts, &ranges, &instructions);
    assert_int_equal(ranges, 3);
    assert_int_equal(instructions, 6);
    pug_counts_free(counts);
}

/* ---- waiting between two instruction sets ---- */

#define HEADERS 3000

/** `blx` to 0x8010, in A32; there `nop` and `blx` back, in T32. */
static const uint8_t there[] = {0x02, 0x00, 0x00, 0xfa},
                     back[] = {0x00, 0xbf, 0xff, 0xf7, 0xf6, 0xef};

/** A-sync, I-sync at 0x8000; cycle-accurate P-headers with atoms that are all executed, or none. */
static size_t waiting(uint8_t *trace)
{
    static const uint8_t begin[] = {0, 0, 0, 0, 0, 0x80, 0x08, 0x21, 0x00, 0x80, 0, 0},
                         headers[] = {0x84, 0x88, 0x8c, 0x82, 0x92, 0xe4, 0xa0, 0xa4, 0xbc};
    struct rec_random random = {.state = 5};
    memcpy(trace, begin, sizeof(begin));
    for (unsigned i = 0; i < HEADERS; i++)
        trace[sizeof(begin) + i] = headers[rec_random_below(&random, sizeof(headers))];
    return sizeof(begin) + HEADERS;
}

static void decode_waiting(struct counts_seen *seen, struct pug_counts *counts, size_t block)
{
    const struct pug_setting settings[] = {{.name = "ETMCR", .value = 0x1000},
                                           {.name = "ETMIDR", .value = 0x4100f250},
                                           {.name = "ETMCCER", .value = 0x34000000},
                                           {.name = "ETMTRACEIDR", .value = 0x10}};
    const struct pug_source_config config = {
        .protocol = "ETMV3", .settings = {.items = settings, .count = 4}, .decode = true};
    const struct pug_place anywhere = {.space = PUG_SPACE_ANY};
    uint8_t trace[HEADERS + 16];
    struct pug_image *image = image_with(0x8000, there, sizeof(there));
    pug_image_add_buffer(image, &anywhere, 0x8010, back, sizeof(back));
    decode_alone(
        &(struct alone){.config = &config, .image = image, .trace = trace, .size = waiting(trace)},
        block, seen, counts);
}

/**
 * Waiting is reported in the instruction set of its time, and its cycles belong to the instructions
 * before.
 */
static void test_waiting(void **state)
{
    static const size_t blocks[] = {SIZE_MAX, 1, 7, 100};
    struct counts_seen plain = {.counts = pug_counts_new()};
    size_t ranges;
    (void)state;
    decode_waiting(&plain, NULL, SIZE_MAX);
    (void)pug_counts_ranges(plain.counts, &ranges);
    assert_int_equal(ranges, 3);
    for (size_t i = 0; i < sizeof(blocks) / sizeof(blocks[0]); i++) {
        struct pug_counts *counts = pug_counts_new();
        struct counts_seen seen = {0};
        decode_waiting(&seen, counts, blocks[i]);
        counts_assert_equal(plain.counts, counts, "waiting", "two instruction sets");
        counts_assert_others_equal(&plain, &seen);
        pug_counts_free(counts);
    }
    pug_counts_free(plain.counts);
}

/* ---- exception returns ---- */

#define RETURNS 40

/** 1000: bl 1010; cbz x0, 100c; cbz x0, 1000; b 1000; 1010: nop; eret */
static const uint8_t returning[] = {0x04, 0x00, 0x00, 0x94, 0x40, 0x00, 0x00, 0xb4,
                                    0xc0, 0xff, 0xff, 0xb4, 0xfd, 0xff, 0xff, 0x17,
                                    0x1f, 0x20, 0x03, 0xd5, 0xe0, 0x03, 0x9f, 0xd6};

/** ASYNC, TRACE_INFO, 0x1000 with its context. */
#define ETE_BEGIN 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x80, 1, 0, 0x85, 0, 0x08, 0, 0, 0, 0, 0, 0, 0x31

/**
 * The call and the ERET, whose target is on the return stack, or in the trace; then two atoms N,
 * and an address that execution cannot have reached.
 */
static size_t exception_returns(uint8_t *trace, bool stack)
{
    static const uint8_t begin[] = {ETE_BEGIN}, call[] = {0xf7, 0xf7}, told[] = {0x9a, 1, 8, 0, 0},
                         elsewhere[] = {0xd8, 0x9a, 0, 8, 0, 0};
    uint8_t *at = trace;
    memcpy(at, begin, sizeof(begin));
    at += sizeof(begin);
    for (unsigned i = 0; i < RETURNS; i++) {
        memcpy(at, call, sizeof(call));
        at += sizeof(call);
        memcpy(at, told, sizeof(told));
        at += stack ? 0 : sizeof(told);
        memcpy(at, elsewhere, sizeof(elsewhere));
        at += sizeof(elsewhere);
    }
    *at++ = 0xf7;
    return (size_t)(at - trace);
}

static void decode_ete(const struct alone *trace, bool stack, size_t block,
                       struct pug_counts *by_elements, struct pug_counts *counts)
{
    const struct pug_setting settings[] = {{.name = "TRCIDR0", .value = 0x28000EA1},
                                           {.name = "TRCIDR1", .value = 0x4100FFF3},
                                           {.name = "TRCIDR2", .value = 0x488},
                                           {.name = "TRCCONFIGR", .value = stack ? 0x1001 : 1},
                                           {.name = "TRCDEVARCH", .value = 0x47705A13},
                                           {.name = "TRCTRACEIDR", .value = 0x10},
                                           {.name = "arch", .value = PUG_ARCH_V8},
                                           {.name = "profile", .value = PUG_PROFILE_A}};
    const struct pug_source_config config = {
        .protocol = "ETE",
        .settings = {.items = settings, .count = sizeof(settings) / sizeof(settings[0])},
        .decode = true};
    struct counts_seen seen = {.counts = by_elements};
    struct alone alone = *trace;
    alone.config = &config;
    alone.image = image_with(0x1000, returning, sizeof(returning));
    decode_alone(&alone, block, &seen, counts);
}

/** Counts, in blocks of any size, are those of the elements. */
static void check_ete(const struct alone *alone, bool stack, struct pug_counts *expected,
                      const char *name)
{
    static const size_t blocks[] = {SIZE_MAX, 1, 7, 100};
    decode_ete(alone, stack, SIZE_MAX, expected, NULL);
    for (size_t i = 0; i < sizeof(blocks) / sizeof(blocks[0]); i++) {
        struct pug_counts *counts = pug_counts_new();
        decode_ete(alone, stack, blocks[i], NULL, counts);
        counts_assert_equal(expected, counts, name, stack ? "return stack" : "addresses");
        pug_counts_free(counts);
    }
}

/**
 * An exception return is counted before the ranges that follow it: each one that is impossible is
 * reported.
 */
static void test_exception_returns(void **state)
{
    (void)state;
    for (unsigned stack = 0; stack < 2; stack++) {
        uint8_t trace[32 + RETURNS * 16];
        const struct alone alone = {.trace = trace, .size = exception_returns(trace, stack)};
        struct pug_counts *expected = pug_counts_new();
        check_ete(&alone, stack, expected, "exception returns");
        assert_int_equal(pug_counts_contradictions(expected), RETURNS);
        pug_counts_free(expected);
    }
}

/**
 * By a quirk an error takes back what its packet made run: a return that the stack knows not of.
 */
static void test_taken_back(void **state)
{
    static const uint8_t trace[] = {ETE_BEGIN, 0xf6, 0x9a, 0x04, 0x08, 0, 0, 0xdb};
    const struct alone alone = {
        .trace = trace, .size = sizeof(trace), .quirks = {.etm4_error_drops_run = 1}};
    struct pug_counts *expected = pug_counts_new();
    size_t ranges;
    (void)state;
    check_ete(&alone, true, expected, "taken back");
    (void)pug_counts_ranges(expected, &ranges);
    assert_int_equal(ranges, 1);
    pug_counts_free(expected);
}

/* ---- odd addresses ---- */

/**
 * A synchronisation at 100b, then jumps from one place to the next: differences of addresses. What
 * is met for the first time is no memo, and each place is known.
 */
static size_t write_odd(uint8_t *trace)
{
    static const uint8_t begin[] = {0x03, 0xe3, 0x05, 0x08};
    static const int places[] = {0x0b, 0x13, 0x1b, 0x0b, 0x1b, 0x13};
    uint8_t *at = trace;
    memcpy(at, begin, sizeof(begin));
    at += sizeof(begin);
    for (unsigned i = 0; i < ROUNDS; i++) {
        *at++ = 1;
        *at++ = (uint8_t)((unsigned)(places[(i + 1) % 6] - places[i % 6]) << 2 | 2);
    }
    return (size_t)(at - trace);
}

/** E-Trace whose lowest bit of addresses is sent; at 100b, 1013 and 101b c.addi and c.jr a0. */
static void decode_odd(size_t block, struct pug_counts *by_elements, struct pug_counts *counts)
{
    static const struct pug_setting settings[] = {{.name = "xlen", .value = 32},
                                                  {.name = "iaddress_width_p", .value = 32},
                                                  {.name = "iaddress_lsb_p", .value = 0},
                                                  {.name = "srcid_bits", .value = 0}};
    const struct pug_source_config config = {
        .protocol = "E-Trace",
        .settings = {.items = settings, .count = sizeof(settings) / sizeof(settings[0])},
        .decode = true};
    uint8_t program[0x20], trace[4 + ROUNDS * 2];
    struct counts_seen seen = {.counts = by_elements};
    memset(program, 1, sizeof(program));
    for (size_t at = 0x0d; at < sizeof(program); at += 8)
        memcpy(program + at, (const uint8_t[]){0x02, 0x85}, 2);
    const struct alone alone = {.config = &config,
                                .image = image_with(0x1000, program, sizeof(program)),
                                .trace = trace,
                                .size = write_odd(trace)};
    decode_alone(&alone, block, &seen, counts);
}

/** Damaged trace goes anywhere: no bit of an address is without meaning. */
static void test_odd_addresses(void **state)
{
    static const size_t blocks[] = {SIZE_MAX, 1, 3};
    struct pug_counts *expected = pug_counts_new();
    size_t count;
    (void)state;
    decode_odd(SIZE_MAX, expected, NULL);
    const struct pug_count_jump *jumps = pug_counts_jumps(expected, &count);
    assert_int_equal(count, 6);
    assert_int_equal(jumps[0].from, 0x100d);
    assert_int_equal(jumps[0].to, 0x1013);
    for (size_t i = 0; i < sizeof(blocks) / sizeof(blocks[0]); i++) {
        struct pug_counts *counts = pug_counts_new();
        decode_odd(blocks[i], NULL, counts);
        counts_assert_equal(expected, counts, "odd addresses", "alone");
        pug_counts_free(counts);
    }
    pug_counts_free(expected);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_parts),      cmocka_unit_test(test_two_sets),
        cmocka_unit_test(test_waiting),    cmocka_unit_test(test_contexts),
        cmocka_unit_test(test_total),      cmocka_unit_test(test_exception_returns),
        cmocka_unit_test(test_taken_back), cmocka_unit_test(test_odd_addresses),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
