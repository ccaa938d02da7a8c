// SPDX-License-Identifier: MIT
/**
 * @file Random T32 programs, random paths with exceptions, and a Micro Trace Buffer of random size:
 * what is decoded of its memory is what ran since the oldest packet, whether registers tell where
 * that is or the program; and pieces, waits, resets and damage do no harm.
 */
#include "base/bytes.h"
#include "recorder/mtb.h"
#include "support/program.h"
#include "support/share.h"
#include "support/stream.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define STEPS 1500u

enum { POSITION, MASTER, PC, SETTINGS };

struct trip {
    struct rec_random random;
    struct program program;
    struct pug_image *image;
    struct rec_mtb mtb;
    struct path ran, decoded;
    size_t *places; /* of each packet: instructions that had run before its source */
    size_t packets;
    uint32_t pc;
    uint32_t back[8]; /* of exceptions in each other: where they return, by number of instruction */
    unsigned depth;
    struct rec_bytes memory; /* the buffer in the middle of others */
    struct pug_setting settings[SETTINGS];
    /* decoding */
    bool doubts;
};

static uint32_t address_of(const struct trip *trip, uint32_t op)
{
    return (uint32_t)trip->program.ops[op].address;
}

static void note(struct trip *trip, size_t before)
{
    trip->places[trip->packets++] = before;
}

/* ---- recording ---- */

static void enter(struct trip *trip, struct execution *execution)
{
    trip->back[trip->depth++] = execution->at;
    note(trip, trip->ran.count);
    execution->at = rec_random_below(&trip->random, PROGRAM_OPS);
    rec_mtb_exception(&trip->mtb, trip->pc, address_of(trip, execution->at));
}

static void leave(struct trip *trip, struct execution *execution, uint32_t from)
{
    execution->at = trip->back[--trip->depth];
    note(trip, trip->ran.count - 1);
    note(trip, trip->ran.count);
    rec_mtb_return(&trip->mtb, from, 0xfffffff8, address_of(trip, execution->at));
}

static void step(struct trip *trip, struct execution *execution)
{
    const struct op *op = &trip->program.ops[execution->at];
    const uint32_t from = trip->pc;
    assert_int_equal(execution_step(execution), from);
    path_add(&trip->ran, from);
    const uint32_t next = address_of(trip, execution->at);
    const bool indirect = op->kind >= OP_INDIRECT_JUMP;
    const bool jump = op->kind == OP_JUMP || op->kind == OP_CALL || indirect;
    if (indirect && trip->depth > 0 && rec_random_once_in(&trip->random, 2)) {
        leave(trip, execution, from);
    } else if (jump || next != from + program_insn_size(&trip->program, from)) {
        note(trip, trip->ran.count - 1);
        rec_mtb_branch(&trip->mtb, from, next);
    }
    trip->pc = address_of(trip, execution->at);
    if (trip->depth < 8 && rec_random_once_in(&trip->random, 40)) {
        enter(trip, execution);
        trip->pc = address_of(trip, execution->at);
    }
}

static void noise(struct trip *trip, size_t size)
{
    for (size_t i = 0; i < size; i++)
        rec_put(&trip->memory, (uint8_t)rec_random(&trip->random));
}

static void record(struct trip *trip)
{
    struct execution execution = {.program = &trip->program, .random = &trip->random};
    const uint8_t fill = (const uint8_t[]){0, 0xaa, 0xff}[rec_random_below(&trip->random, 3)];
    assert_true(rec_mtb_begin(&trip->mtb, 1 + rec_random_below(&trip->random, 9), fill));
    trip->places = calloc(4 * (size_t)STEPS, sizeof(*trip->places));
    trip->pc = address_of(trip, 0);
    for (unsigned i = rec_random_below(&trip->random, STEPS) + 50; i > 0; i--)
        step(trip, &execution);
    const uint32_t size = rec_mtb_size(&trip->mtb);
    noise(trip, size);
    rec_put_n(&trip->memory, trip->mtb.memory, size);
    noise(trip, size);
    const uint32_t position = rec_mtb_position(&trip->mtb);
    trip->settings[POSITION] = (struct pug_setting){"POSITION", position + size, NULL};
    trip->settings[MASTER] = (struct pug_setting){"MASTER", rec_mtb_master(&trip->mtb), NULL};
    trip->settings[PC] = (struct pug_setting){"PC", trip->pc, NULL};
}

/* ---- decoding ---- */

static enum pug_response take(void *context, const struct pug_element *elements, size_t count,
                              size_t *taken)
{
    struct trip *trip = context;
    (void)taken;
    for (size_t i = 0; i < count; i++) {
        const struct pug_element *e = &elements[i];
        if (e->type == PUG_ELEM_INSTR_RANGE)
            path_add_range(&trip->decoded, &trip->program, e);
        assert_int_not_equal(e->type, PUG_ELEM_ADDR_NACC);
    }
    return PUG_RESP_CONT;
}

/** With `from` on of the settings. */
static void decode(struct trip *trip, unsigned from)
{
    struct pug_log *log = pug_log_new(PUG_SEV_WARN);
    struct pug_tree_config config = {.image = trip->image, .log = log};
    struct pug_source_config source = {
        .protocol = "MTB",
        .settings = {.items = trip->settings + from, .count = SETTINGS - from},
        .decode = true};
    struct pug_tree *tree;
    size_t used = 0;
    trip->decoded.count = 0;
    assert_int_equal(pug_tree_new(&config, &tree), PUG_OK);
    assert_int_equal(pug_tree_add_source(tree, &source, NULL), PUG_OK);
    pug_tree_on_elements(tree, take, trip);
    assert_int_equal(pug_tree_data(tree, 0, trip->memory.data, trip->memory.size, &used), 0);
    assert_int_equal(pug_tree_end(tree), PUG_RESP_CONT);
    trip->doubts = pug_log_warnings(log) > 0;
    pug_tree_free(tree);
    pug_log_free(log);
}

/** Is it what ran since the oldest packet that the buffer still has? */
static bool is_right(const struct trip *trip)
{
    const size_t room = rec_mtb_size(&trip->mtb) / PUG_MTB_PACKET;
    const size_t oldest = trip->packets > room ? trip->packets - room : 0;
    if (trip->packets == 0)
        return trip->decoded.count == 0;
    const size_t begin = trip->places[oldest], count = trip->ran.count - begin;
    return trip->decoded.count == count &&
           memcmp(trip->decoded.pcs, trip->ran.pcs + begin, count * sizeof(*trip->ran.pcs)) == 0;
}

static void check_streams(const struct trip *trip, uint64_t seed)
{
    struct stream_run run = {
        .protocol = "MTB",
        .settings = {.items = (struct pug_setting *)trip->settings + PC, .count = 1},
        .image = trip->image,
        .bytes = trip->memory.data,
        .size = trip->memory.size < 3000 ? trip->memory.size : 3000,
        .longest = PUG_MTB_PACKET,
    };
    stream_check_splits_and_waits(&run, seed);
    stream_check_counts(&run);
    for (unsigned i = 0; i < 4; i++)
        stream_check_at_once(&run, seed * 100 + i);
}

static bool one_trip(uint64_t seed)
{
    struct trip trip = {.random = {.state = seed}};
    program_make(&trip.program, PUG_ISA_T32, 0x80004000, &trip.random);
    trip.image = pug_image_new();
    assert_true(program_add_to(&trip.program, trip.image));
    record(&trip);
    decode(&trip, POSITION);
    assert_true(is_right(&trip));
    assert_false(trip.doubts);
    decode(&trip, PC);
    const bool found = is_right(&trip) && !trip.doubts;
    assert_true(found || trip.doubts); /* never wrong without a word */
    check_streams(&trip, seed);
    pug_image_free(trip.image);
    program_free(&trip.program);
    rec_mtb_free(&trip.mtb);
    rec_bytes_free(&trip.memory);
    free(trip.places);
    free(trip.ran.pcs);
    free(trip.decoded.pcs);
    return found;
}

static void test_round_trip(void **state)
{
    (void)state;
    const unsigned trips = share_of(100);
    unsigned found = 0;
    for (uint64_t seed = 1; seed <= trips; seed++)
        found += one_trip(seed);
    print_message("found without registers: %u of %u\n", found, trips);
    /* Where all that is left is rounds of a loop, any packet may be the oldest. */
    assert_true(found * 2 >= trips);
}

/* ---- reading ahead ---- */

enum { TABLE = 0, THREAD = 0x100, HANDLER = 0x200, URGENT = 0x240, CODE_END = 0x300 };
enum { ROUNDS_FEW = 3, ROUNDS_MANY = 3000 };

/** A vector table whose first two interrupts share a handler. Handlers are a NOP and a BX LR. */
static void put_program(uint8_t program[CODE_END])
{
    memset(program, 0, CODE_END);
    for (unsigned i = 1; i < 19; i++)
        pug_bytes_set_32(program + TABLE + 4 * i, (i < 16   ? THREAD
                                                   : i < 18 ? HANDLER
                                                            : URGENT) |
                                                      1);
    for (unsigned at = THREAD; at < CODE_END; at += 4)
        pug_bytes_set_32(program + at, at < HANDLER ? 0xbf00bf00 : 0x4770bf00);
}

static enum pug_response find_chained(void *context, const struct pug_element *elements,
                                      size_t count, size_t *taken)
{
    uint64_t *packet = context;
    (void)taken;
    for (size_t i = 0; i < count; i++)
        if (*packet == 0 && elements[i].type == PUG_ELEM_EXCEPTION &&
            (elements[i].flags & PUG_ELEM_M_TAIL_CHAIN))
            *packet = elements[i].index / PUG_MTB_PACKET;
    return PUG_RESP_CONT;
}

/** The handler is interrupted at its start again and again, and at last one exception is chained.
 */
static void put_rounds(struct rec_mtb *mtb, unsigned rounds)
{
    assert_true(rec_mtb_begin(mtb, 14, 0));
    rec_mtb_branch(mtb, THREAD + 8, THREAD);
    rec_mtb_exception(mtb, THREAD, HANDLER);
    for (unsigned i = 0; i < rounds; i++) {
        rec_mtb_exception(mtb, HANDLER, URGENT);
        rec_mtb_return(mtb, URGENT + 2, 0xfffffff1, HANDLER);
    }
    rec_mtb_return(mtb, HANDLER + 2, 0xfffffff1, HANDLER);
    rec_mtb_return(mtb, HANDLER + 2, 0xfffffff9, THREAD);
}

/** Returns the packet of the first exception that is taken for chained. */
static uint64_t chained_at(unsigned rounds)
{
    uint8_t program[CODE_END];
    struct rec_mtb mtb;
    uint64_t packet = 0;
    size_t used = 0;
    put_program(program);
    put_rounds(&mtb, rounds);
    struct pug_image *image = pug_image_new();
    assert_int_equal(pug_image_add_buffer(image, NULL, 0, program, sizeof(program)), PUG_OK);
    const struct pug_setting settings[] = {{"POSITION", rec_mtb_position(&mtb), NULL},
                                           {"MASTER", rec_mtb_master(&mtb), NULL},
                                           {"VTOR", TABLE, NULL}};
    const struct pug_tree_config config = {.image = image};
    const struct pug_source_config source = {
        .protocol = "MTB", .settings = {.items = settings, .count = 3}, .decode = true};
    struct pug_tree *tree;
    assert_int_equal(pug_tree_new(&config, &tree), PUG_OK);
    assert_int_equal(pug_tree_add_source(tree, &source, NULL), PUG_OK);
    pug_tree_on_elements(tree, find_chained, &packet);
    assert_int_equal(pug_tree_data(tree, 0, mtb.memory, rec_mtb_size(&mtb), &used), 0);
    assert_int_equal(pug_tree_end(tree), PUG_RESP_CONT);
    pug_tree_free(tree);
    pug_image_free(image);
    rec_mtb_free(&mtb);
    return packet;
}

/**
 * Did the first return go back to the handler, or was another exception chained? That shows at the
 * end of the rounds. Each return may read thousands of packets ahead for it, but not all of them
 * together: what is too far away is taken for a return, up to the one that cannot be one.
 */
static void test_reads_ahead_within_bounds(void **state)
{
    (void)state;
    assert_int_equal(chained_at(ROUNDS_FEW), 4);
    assert_int_equal(chained_at(ROUNDS_MANY), 2 + 3 * ROUNDS_MANY + 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_round_trip),
                                       cmocka_unit_test(test_reads_ahead_within_bounds)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
