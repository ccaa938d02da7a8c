// SPDX-License-Identifier: MIT
/**
 * @file Random programs, random paths, random registers: the recorder's trace gives the path back.
 */
#include "pugmark/advanced/tree.h"
#include "pugmark/pugmark.h"
#include "recorder/etmv4.h"
#include "recorder/frames.h"
#include "support/program.h"
#include "support/recording.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "support/words.h"

#define STEPS 4000u
#define SEEDS 60u

/** The parts of one case. */
struct trip {
    struct rec_random random;
    struct program program;
    struct pug_image *image;
    bool ete;
    struct pug_setting registers[RECORDING_REGISTERS + 2];
    size_t register_count;
    struct recording recording;
    struct rec_bytes framed;
    struct path ran, decoded;
    bool lossy; /* the trace has overflows: what is decoded is a part of what ran */
    unsigned wait_once_in;
    uint64_t errors;
};

static void take_registers(struct trip *trip, const struct pug_setting *registers, size_t count)
{
    memcpy(trip->registers, registers, count * sizeof(*registers));
    trip->registers[count] = (struct pug_setting){"arch", PUG_ARCH_AA64, NULL};
    trip->registers[count + 1] = (struct pug_setting){"profile", PUG_PROFILE_A, NULL};
    trip->register_count = count + 2;
}

static void begin(struct trip *trip)
{
    struct rec_random *random = &trip->random;
    bool a64 = program_isa(&trip->program, trip->program.base) == PUG_ISA_A64;
    trip->ete = rec_random_once_in(random, 2);
    trip->lossy = rec_random_once_in(random, 4);
    recording_begin(&trip->recording, &(struct recording_config){
                                          .unit_class = trip->ete ? &rec_unit_ete : &rec_unit_etmv4,
                                          .family = a64 ? REC_FAMILY_A64 : REC_FAMILY_ARM,
                                          .seed = rec_random(random) | 1,
                                          .image = trip->image,
                                          .sync_every = 120,
                                          .time_every = 50,
                                          .cycles_every = 30,
                                          .other_every = 60,
                                          .loss = trip->lossy ? 0.2 : 0});
    take_registers(trip, trip->recording.registers, trip->recording.register_count);
}

static void put_framed(struct trip *trip)
{
    const struct rec_bytes *trace = &trip->recording.trace;
    struct rec_frames frames = {.out = &trip->framed};
    /* A second source shares the frames. */
    for (size_t at = 0; at < trace->size;) {
        size_t piece = 1 + rec_random_below(&trip->random, 40);
        if (piece > trace->size - at)
            piece = trace->size - at;
        rec_frames_put(&frames, 0x10, trace->data + at, piece);
        at += piece;
        static const uint8_t other[] = {1, 2, 3, 4, 5, 6, 7};
        rec_frames_put(&frames, 0x22, other, rec_random_below(&trip->random, sizeof(other)));
    }
    rec_frames_finish(&frames);
}

static void record(struct trip *trip)
{
    struct execution execution = {.program = &trip->program, .random = &trip->random};
    for (unsigned i = 0; i < STEPS; i++) {
        uint64_t before = i ? trip->ran.pcs[trip->ran.count - 1] : 0;
        uint64_t pc = execution_step(&execution);
        /* An interrupt now and then, taken to anywhere, that comes back by a plain jump. */
        if (i && pc == before + 4 && program_isa(&trip->program, pc) != PUG_ISA_T32 &&
            rec_random_once_in(&trip->random, 80)) {
            recording_interrupt(&trip->recording, pc);
            execution.at = rec_random_below(&trip->random, PROGRAM_OPS);
            pc = execution_step(&execution);
        }
        recording_insn(&trip->recording, pc, program_isa(&trip->program, pc));
        path_add(&trip->ran, pc);
    }
    recording_end(&trip->recording);
    put_framed(trip);
}

static enum pug_response take(void *context, const struct pug_element *elements, size_t count,
                              size_t *taken)
{
    struct trip *trip = context;
    for (size_t i = 0; i < count; i++) {
        const struct pug_element *e = &elements[i];
        if (e->type == PUG_ELEM_INSTR_RANGE)
            path_add_range(&trip->decoded, &trip->program, e);
        assert_int_not_equal(e->type, PUG_ELEM_ADDR_NACC);
        assert_int_not_equal(e->type, PUG_ELEM_I_RANGE_NOPATH);
        if (trip->wait_once_in && rec_random_once_in(&trip->random, trip->wait_once_in)) {
            *taken = i + 1;
            return PUG_RESP_WAIT;
        }
    }
    return PUG_RESP_CONT;
}

static void decode(struct trip *trip, const char *transport, const struct rec_bytes *bytes,
                   size_t block)
{
    struct pug_log *log = pug_log_new(PUG_SEV_ERROR);
    struct pug_tree *tree;
    assert_int_equal(
        pug_tree_new(
            &(struct pug_tree_config){.transport = transport, .image = trip->image, .log = log},
            &tree),
        PUG_OK);
    struct pug_source_config config = {
        .protocol = trip->ete ? "ETE" : "ETMV4I",
        .settings = {.items = trip->registers, .count = trip->register_count},
        .decode = true};
    assert_int_equal(pug_tree_add_source(tree, &config, NULL), PUG_OK);
    pug_tree_on_elements(tree, take, trip);
    trip->decoded.count = 0;
    enum pug_response response = PUG_RESP_CONT;
    for (uint64_t at = 0; at < bytes->size;) {
        size_t used = 0, left = bytes->size - (size_t)at;
        if (PUG_RESP_IS_WAIT(response)) {
            response = pug_tree_flush(tree);
            continue;
        }
        response = pug_tree_data(tree, at, bytes->data + at, left < block ? left : block, &used);
        assert_false(PUG_RESP_IS_FATAL(response));
        at += used;
    }
    while (PUG_RESP_IS_WAIT(response))
        response = pug_tree_flush(tree);
    response = pug_tree_end(tree);
    while (PUG_RESP_IS_WAIT(response))
        response = pug_tree_flush(tree);
    trip->errors = pug_log_errors(log);
    const struct pug_log_record *last = pug_log_last(log);
    if (trip->errors)
        print_error("log: %s at %llu: %s\n", pug_status_text(last->code),
                    (unsigned long long)last->index, last->text);
    assert_int_equal(trip->errors, 0);
    pug_tree_free(tree);
    pug_log_free(log);
}

/** Compare the executed instructions, in order; where trace was lost some are missing. */
static void compare(const struct trip *trip, uint64_t seed)
{
    const struct path *ran = &trip->ran, *decoded = &trip->decoded;
    size_t at = 0;
    for (size_t i = 0; i < decoded->count; i++, at++) {
        while (trip->lossy && at < ran->count && ran->pcs[at] != decoded->pcs[i])
            at++;
        if (at >= ran->count || ran->pcs[at] != decoded->pcs[i])
            fail_msg("seed %llu: instruction %zu is 0x%llx, not 0x%llx", (unsigned long long)seed,
                     i, (unsigned long long)decoded->pcs[i],
                     (unsigned long long)(at < ran->count ? ran->pcs[at] : 0));
    }
    if (!trip->lossy)
        assert_int_equal(decoded->count, ran->count);
    assert_true(decoded->count > ran->count / 2);
}

enum kind { A64, A64_APART, A32, T32, A32_AND_T32 };

static void make_program(struct trip *trip, uint64_t seed, enum kind kind)
{
    static const enum pug_isa isas[] = {
        [A64] = PUG_ISA_A64, [A32] = PUG_ISA_A32, [T32] = PUG_ISA_T32};
    uint64_t base = 0x80000 + (seed << 20);
    if (kind == A32_AND_T32)
        program_make_mixed(&trip->program, base, &trip->random);
    else if (kind == A64_APART)
        program_make_apart(&trip->program, base, 0x5500000000, &trip->random);
    else
        program_make(&trip->program, isas[kind], base, &trip->random);
    assert_true(program_add_to(&trip->program, trip->image));
}

static void one_trip(uint64_t seed, enum kind kind)
{
    struct trip trip = {.random = {.state = seed * 7919 + 1}};
    trip.image = pug_image_new();
    make_program(&trip, seed, kind);
    begin(&trip);
    record(&trip);
    decode(&trip, "plain", &trip.recording.trace, SIZE_MAX);
    compare(&trip, seed);
    decode(&trip, "plain", &trip.recording.trace, 1);
    compare(&trip, seed);
    trip.wait_once_in = 1 + rec_random_below(&trip.random, 20);
    decode(&trip, "plain", &trip.recording.trace, 1000);
    compare(&trip, seed);
    decode(&trip, "coresight", &trip.framed, 16 * (1 + rec_random_below(&trip.random, 8)));
    compare(&trip, seed);
    free(trip.ran.pcs);
    free(trip.decoded.pcs);
    recording_free(&trip.recording);
    rec_bytes_free(&trip.framed);
    pug_image_free(trip.image);
    program_free(&trip.program);
}

static void test_a64(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= SEEDS; seed++)
        one_trip(seed, A64);
}

/** Code in two halves of the address space: addresses whose upper words differ. */
static void test_a64_apart(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= SEEDS; seed++)
        one_trip(seed, A64_APART);
}

static void test_a32(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= SEEDS; seed++)
        one_trip(seed, A32);
}

static void test_t32(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= SEEDS; seed++)
        one_trip(seed, T32);
}

static void test_a32_and_t32(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= SEEDS; seed++)
        one_trip(seed, A32_AND_T32);
}

static uint64_t *register_of(struct trip *trip, const char *name)
{
    for (size_t i = 0; i < trip->register_count; i++)
        if (strcmp(trip->registers[i].name, name) == 0)
            return &trip->registers[i].value;
    fail_msg("there is no %s", name);
    return NULL;
}

/** A unit with the registers of the case, but with Q elements and without context ids. */
static struct rec_etmv4_config unit_of(struct trip *trip, uint64_t seed)
{
    *register_of(trip, "TRCIDR0") |= UINT64_C(3) << 15;
    *register_of(trip, "TRCCONFIGR") &= ~UINT64_C(0xc0);
    return (struct rec_etmv4_config){.ete = trip->ete,
                                     .idr0 = (uint32_t)*register_of(trip, "TRCIDR0"),
                                     .idr2 = (uint32_t)*register_of(trip, "TRCIDR2"),
                                     .idr8 = (uint32_t)*register_of(trip, "TRCIDR8"),
                                     .configr = (uint32_t)*register_of(trip, "TRCCONFIGR"),
                                     .guess_once_in = 6,
                                     .seed = seed};
}

/** The long forms of 32 bits leave the upper word of the last address. */
static void test_upper_words(void **state)
{
    static const uint32_t low_code[] = {LE32(0xd503201f), LE32(0x17ffffff)},
                          high_code[] = {LE32(0x14000000), 0};
    const uint64_t low = 0x400000, high = 0x5500000000;
    const uint64_t ran[] = {high, high, low, low + 4, high};
    const struct pug_place anywhere = {.space = PUG_SPACE_ANY};
    (void)state;
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        struct trip trip = {.random = {.state = seed}, .image = pug_image_new()};
        struct rec_context context = {.el = 1, .sf = true, .ns = true};
        trip.program = (struct program){.base = low};
        assert_int_equal(pug_image_add_buffer(trip.image, &anywhere, low, low_code, 8), PUG_OK);
        assert_int_equal(pug_image_add_buffer(trip.image, &anywhere, high, high_code, 8), PUG_OK);
        begin(&trip);
        recording_free(&trip.recording);
        struct rec_bytes trace = {0};
        const struct rec_etmv4_config config = unit_of(&trip, seed);
        struct rec_etmv4 *unit = rec_etmv4_new(&config, &trace);
        rec_etmv4_sync(unit);
        rec_etmv4_trace_on(unit);
        rec_etmv4_start(unit, high, false, &context);
        rec_etmv4_atom(unit, true);
        assert_false(rec_etmv4_q_reaches(unit, low));
        rec_etmv4_q(unit, 1, high, false);
        rec_etmv4_start(unit, low, false, &context);
        rec_etmv4_atom(unit, true);
        rec_etmv4_address(unit, high, false);
        rec_etmv4_exception(unit, 2, high + 4, false, false);
        rec_etmv4_finish(unit);
        rec_etmv4_free(unit);
        decode(&trip, "plain", &trace, SIZE_MAX);
        assert_int_equal(trip.decoded.count, sizeof(ran) / sizeof(ran[0]));
        assert_memory_equal(trip.decoded.pcs, ran, sizeof(ran));
        free(trip.decoded.pcs);
        rec_bytes_free(&trace);
        pug_image_free(trip.image);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a64),         cmocka_unit_test(test_a64_apart),
        cmocka_unit_test(test_upper_words), cmocka_unit_test(test_a32),
        cmocka_unit_test(test_t32),         cmocka_unit_test(test_a32_and_t32),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
