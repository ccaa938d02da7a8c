// SPDX-License-Identifier: MIT
/** @file Processes of a machine that share addresses: each context has code of its own. */
#include "recorder/engine.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

enum { TURNS = 100, PLACE = 0x1000, KERNEL = 0x8000 };

/** What the engine gave. */
struct given {
    unsigned versions, places;
    uint32_t words[8]; /* of the last version: the first instruction of each place */
    struct rec_memory_place where[8];
};

static bool take_trace(void *context, unsigned stream, const uint8_t *bytes, size_t size)
{
    (void)context, (void)stream, (void)bytes, (void)size;
    return true;
}

static bool take_place(void *context, const struct rec_memory_place *place, const uint8_t *bytes,
                       size_t size)
{
    struct given *given = context;
    assert_true(given->places < 8);
    assert_true(size >= 4);
    given->where[given->places] = *place;
    memcpy(&given->words[given->places++], bytes, 4);
    return true;
}

static bool take_memory(void *context, const struct rec_memory *memory)
{
    struct given *given = context;
    given->versions++;
    given->places = 0;
    return rec_memory_each(memory, take_place, given);
}

static void run(struct rec_engine *engine, uint32_t id, uint64_t address, const uint32_t *word)
{
    const struct rec_path_block block = {.address = address,
                                         .id = id,
                                         .size = 4,
                                         .count = 1,
                                         .isa = REC_PATH_A64,
                                         .bytes = (const uint8_t *)word};
    assert_true(rec_engine_take(
        engine, &(struct rec_path_item){.kind = REC_PATH_RAN, .block = &block, .count = 1}));
}

static void enter(struct rec_engine *engine, unsigned privilege, uint32_t context)
{
    const struct rec_path_item items[] = {{.kind = REC_PATH_IN_CONTEXT, .value = context},
                                          {.kind = REC_PATH_IN_PRIVILEGE, .value = privilege}};
    for (size_t i = 0; i < 2; i++)
        assert_true(rec_engine_take(engine, &items[i]));
}

/** Two processes take turns, with a kernel between them; all of it branches. */
static void take_turns(struct given *given, bool contexts, unsigned privilege)
{
    static const uint32_t branches[] = {0x14001c00, 0x14002c00, 0x17ffe400};
    const bool none[REC_OPTIONS] = {false};
    uint64_t values[REC_OPTIONS];
    rec_unit_values(&rec_unit_etmv4, REC_FAMILY_A64, none, 0, values);
    const struct rec_engine_config config = {.unit_class = &rec_unit_etmv4,
                                             .values = values,
                                             .path = {.family = REC_FAMILY_A64, .system = true},
                                             .first_source = 0x10,
                                             .sources = 1,
                                             .context_ids = contexts};
    const struct rec_engine_output output = {
        .trace = take_trace, .memory = take_memory, .context = given};
    *given = (struct given){0};
    struct rec_engine *engine = rec_engine_new(&config, &output);
    assert_non_null(engine);
    for (unsigned i = 0; i < TURNS; i++) {
        enter(engine, privilege, 7 + i % 2);
        run(engine, i % 2, PLACE, &branches[i % 2]);
        enter(engine, 1, 7 + i % 2);
        run(engine, 2, KERNEL, &branches[2]);
    }
    assert_true(rec_engine_end(engine));
    rec_engine_free(engine);
}

static void each_context_has_its_code(void **state)
{
    (void)state;
    struct given given;
    take_turns(&given, true, 0);
    assert_int_equal(given.versions, 1);
    assert_int_equal(given.places, 3);
    assert_false(given.where[0].in_context);
    assert_int_equal(given.where[0].address, KERNEL);
    assert_int_equal(given.words[0], 0x17ffe400);
    for (unsigned i = 0; i < 2; i++) {
        assert_true(given.where[1 + i].in_context);
        assert_int_equal(given.where[1 + i].context_id, 7 + i);
        assert_int_equal(given.where[1 + i].address, PLACE);
        assert_int_equal(given.words[1 + i], i ? 0x14002c00 : 0x14001c00);
    }
}

/** A context's memory has what all share, too: a kernel may lie between its programs. */
static void contexts_see_what_all_share(void **state)
{
    static const uint8_t shared[2] = {1, 2}, own[1] = {3};
    struct rec_memory *memory = rec_memory_new();
    struct given given = {0};
    (void)state;
    assert_non_null(memory);
    assert_true(rec_memory_put(memory, &(struct rec_memory_place){PLACE, false, 0}, shared, 2));
    assert_true(rec_memory_put(memory, &(struct rec_memory_place){PLACE + 1, true, 9}, own, 1));
    assert_true(rec_memory_each(memory, take_place, &given));
    assert_int_equal(given.places, 2);
    assert_int_equal(given.words[0], 0x0201);
    assert_int_equal(given.words[1], 0x0301);
    rec_memory_free(memory);
}

/** Trace without context ids, and code with privilege: only time tells what memory held. */
static void else_code_changes(void **state)
{
    (void)state;
    struct given given;
    take_turns(&given, false, 0);
    assert_int_equal(given.versions, TURNS);
    take_turns(&given, true, 1);
    assert_int_equal(given.versions, TURNS);
    assert_int_equal(given.places, 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(each_context_has_its_code),
                                       cmocka_unit_test(contexts_see_what_all_share),
                                       cmocka_unit_test(else_code_changes)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
