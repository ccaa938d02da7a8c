// SPDX-License-Identifier: MIT
/**
 * @file ETMv3 and PTM: random programs, random paths, random registers. The recorder's trace gives
 * the path back, whole, in pieces, with a consumer that waits; and damage does no harm, whether
 * packets are decoded one by one or many at once.
 */
#include "isa/arm.h"
#include "recorder/etmv3.h"
#include "recorder/ptm.h"
#include "support/program.h"
#include "support/share.h"
#include "support/state_check.h"
#include "support/stream.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "support/words.h"

#define STEPS 3000u

/** The parts of one case. */
struct trip {
    struct rec_random random;
    struct program program;
    struct pug_image *image;
    const char *protocol;
    struct pug_setting registers[4];
    struct rec_bytes trace;
    struct path ran, decoded;
    bool cycles, dmb_waypoints;
    uint64_t cycles_ran, cycles_decoded;
    /* recording */
    struct rec_etmv3 etmv3;
    struct rec_ptm ptm;
    uint32_t last; /* PTM: the last instruction since a waypoint, 0: none */
};

static bool is_ptm(const struct trip *trip)
{
    return strcmp(trip->protocol, "PTM") == 0;
}

static void choose_registers(struct trip *trip)
{
    struct rec_random *random = &trip->random;
    uint32_t minor = rec_random_below(random, is_ptm(trip) ? 2 : 6);
    uint32_t control = (trip->cycles ? 1u << 12 : 0) | rec_random_below(random, 4) << 14 |
                       rec_random_below(random, 2) << 29;
    uint32_t code = rec_random_below(random, 2) << 29 | 1u << 28 | 1u << 26 |
                    rec_random_below(random, 2) << 23 | (trip->dmb_waypoints ? 1u << 24 : 0);
    uint32_t id =
        (is_ptm(trip) ? 0x4100f300u : 0x4100f200u) | minor << 4 | rec_random_below(random, 2) << 20;
    trip->registers[0] = (struct pug_setting){"ETMCR", control, NULL};
    trip->registers[1] = (struct pug_setting){"ETMIDR", id, NULL};
    trip->registers[2] = (struct pug_setting){"ETMCCER", code, NULL};
    trip->registers[3] = (struct pug_setting){"ETMTRACEIDR", 0x10, NULL};
    rec_etmv3_begin(&trip->etmv3,
                    &(struct rec_etmv3_config){.control = control, .id = id, .code = code},
                    &trip->trace);
    rec_ptm_begin(&trip->ptm, &(struct rec_ptm_config){.control = control, .id = id, .code = code},
                  &trip->trace);
}

/* ---- recording ---- */

static uint8_t isa_at(const struct trip *trip, uint32_t address)
{
    return (uint8_t)program_isa(&trip->program, address);
}

static uint32_t some_cycles(struct trip *trip)
{
    uint32_t cycles = trip->cycles ? rec_random_below(&trip->random, 4) : 0;
    if (trip->cycles && rec_random_once_in(&trip->random, 20))
        cycles = rec_random_below(&trip->random, 300);
    trip->cycles_ran += cycles;
    return cycles;
}

static void put_isync(struct trip *trip, uint32_t address, uint8_t reason)
{
    uint8_t isa = isa_at(trip, address);
    if (is_ptm(trip)) {
        rec_ptm_isync(&trip->ptm,
                      &(struct rec_ptm_isync){.address = address, .isa = isa, .reason = reason});
        trip->last = 0;
        return;
    }
    rec_etmv3_isync(&trip->etmv3,
                    &(struct rec_etmv3_isync){.address = address, .isa = isa, .reason = reason});
}

static void put_exception(struct trip *trip, uint32_t target)
{
    uint8_t isa = isa_at(trip, target);
    if (is_ptm(trip)) {
        if (trip->last)
            rec_ptm_waypoint(&trip->ptm, trip->last, isa_at(trip, trip->last));
        trip->last = 0;
        rec_ptm_branch(&trip->ptm, target, isa, &(struct rec_ptm_exception){.number = 14}, 0);
        return;
    }
    /* Sometimes an instruction was begun that did not finish. */
    bool cancel = rec_random_once_in(&trip->random, 2);
    if (cancel)
        rec_etmv3_atom(&trip->etmv3, true, 0);
    rec_etmv3_branch(&trip->etmv3, target, isa,
                     &(struct rec_etmv3_exception){.number = 14, .cancel = cancel});
}

static void put_others(struct trip *trip)
{
    uint64_t time = rec_random(&trip->random) >> rec_random_below(&trip->random, 64) >> 16;
    switch (rec_random_below(&trip->random, 4)) {
    case 0:
        if (is_ptm(trip))
            rec_ptm_timestamp(&trip->ptm, time, false, 0);
        else
            rec_etmv3_timestamp(&trip->etmv3, time, false);
        break;
    case 1:
        if (is_ptm(trip))
            rec_ptm_vmid(&trip->ptm, (uint8_t)time);
        else
            rec_etmv3_vmid(&trip->etmv3, (uint8_t)time);
        break;
    case 2:
        if (is_ptm(trip))
            rec_ptm_plain(&trip->ptm, PUG_PTM_TRIGGER);
        else
            rec_etmv3_plain(&trip->etmv3, PUG_ETMV3_TRIGGER);
        break;
    default:
        if (is_ptm(trip))
            rec_ptm_a_sync(&trip->ptm);
        else
            rec_etmv3_a_sync(&trip->etmv3);
    }
}

/** The instruction at `pc` ran; the next one is at `next`. */
static void put_instruction(struct trip *trip, uint32_t pc, uint32_t next)
{
    struct pug_isa_config config = {.dsb_dmb_waypoints = trip->dmb_waypoints};
    struct pug_insn insn;
    uint8_t it = 0, isa = isa_at(trip, next);
    assert_int_equal(pug_isa_classify(&config, (enum pug_isa)isa_at(trip, pc), pc,
                                      trip->program.code.data + (pc - trip->program.base), 4, &it,
                                      &insn),
                     PUG_OK);
    bool direct = insn.type == PUG_INSTR_BR, indirect = insn.type == PUG_INSTR_BR_INDIRECT;
    bool taken = !direct || !insn.conditional || next == insn.target;
    if (!is_ptm(trip)) {
        rec_etmv3_atom(&trip->etmv3, taken, some_cycles(trip));
        if (indirect)
            rec_etmv3_branch(&trip->etmv3, next, isa, NULL);
        else
            rec_etmv3_runs_in(&trip->etmv3, isa);
        return;
    }
    if (insn.type == PUG_INSTR_OTHER) {
        trip->last = pc;
        return;
    }
    trip->last = 0;
    if (indirect)
        rec_ptm_indirect(&trip->ptm, next, isa, some_cycles(trip));
    else
        rec_ptm_atom(&trip->ptm, taken, some_cycles(trip));
    rec_ptm_runs_in(&trip->ptm, isa);
    if (taken && insn.link)
        rec_ptm_call(&trip->ptm, pc + insn.size, isa_at(trip, pc));
}

static void record(struct trip *trip)
{
    struct rec_random *random = &trip->random;
    struct execution execution = {.program = &trip->program, .random = random};
    uint32_t pc = (uint32_t)trip->program.base;
    rec_put_n(&trip->trace, (const uint8_t[]){0x55, 0x00, 0x33}, rec_random_below(random, 4));
    rec_ptm_a_sync(&trip->ptm);
    put_isync(trip, pc, PUG_ISYNC_TRACE_ENABLE);
    for (unsigned i = 0; i < STEPS; i++) {
        assert_int_equal(execution_step(&execution), pc);
        path_add(&trip->ran, pc);
        uint32_t next = (uint32_t)trip->program.ops[execution.at].address;
        put_instruction(trip, pc, next);
        pc = next;
        if (rec_random_once_in(random, 60) && trip->last == 0)
            put_isync(trip, pc,
                      rec_random_once_in(random, 2) ? PUG_ISYNC_PERIODIC : PUG_ISYNC_TRACE_ENABLE);
        if (rec_random_once_in(random, 40))
            put_others(trip);
        if (rec_random_once_in(random, 80)) {
            execution.at = rec_random_below(random, PROGRAM_OPS);
            execution.depth = 0;
            pc = (uint32_t)trip->program.ops[execution.at].address;
            put_exception(trip, pc);
        }
    }
    put_exception(trip, pc); /* so that the last instructions are reported, too */
    rec_etmv3_flush(&trip->etmv3);
    assert_false(trip->trace.failed);
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
        if (e->flags & PUG_ELEM_HAS_CC)
            trip->cycles_decoded += e->cycle_count;
        assert_int_not_equal(e->type, PUG_ELEM_ADDR_NACC);
        assert_int_not_equal(e->type, PUG_ELEM_ADDR_UNKNOWN);
    }
    return PUG_RESP_CONT;
}

static void decode(struct trip *trip)
{
    struct pug_log *log = pug_log_new(PUG_SEV_ERROR);
    struct pug_tree_config config = {.image = trip->image, .log = log};
    struct pug_source_config source = {.protocol = trip->protocol,
                                       .settings = {.items = trip->registers, .count = 4},
                                       .decode = true};
    struct pug_tree *tree;
    size_t used = 0;
    assert_int_equal(pug_tree_new(&config, &tree), PUG_OK);
    assert_int_equal(pug_tree_add_source(tree, &source, NULL), PUG_OK);
    pug_tree_on_elements(tree, take, trip);
    assert_int_equal(pug_tree_data(tree, 0, trip->trace.data, trip->trace.size, &used), 0);
    assert_int_equal(used, trip->trace.size);
    assert_int_equal(pug_tree_end(tree), PUG_RESP_CONT);
    assert_int_equal(pug_log_errors(log), 0);
    pug_tree_free(tree);
    pug_log_free(log);
}

/** The reference's defects, but for those that depend on pieces, or on when the end comes. */
static struct pug_quirks reference_quirks(void)
{
    struct pug_quirks quirks = pug_quirks_reference();
    quirks.ptm_unsynced_by_block = 0;
    quirks.etmv3_unsynced_by_block = 0;
    quirks.end_does_not_wait = 0;
    return quirks;
}

static void check_streams(const struct trip *trip, uint64_t seed)
{
    struct stream_run run = {
        .protocol = trip->protocol,
        .settings = {.items = (struct pug_setting *)trip->registers, .count = 4},
        .image = trip->image,
        .bytes = trip->trace.data,
        .size = trip->trace.size < 3000 ? trip->trace.size : 3000,
        .longest = 24,
    };
    stream_check_splits_and_waits(&run, seed);
    for (unsigned i = 0; i < 6; i++)
        stream_check_damage(&run, seed * 100 + i);
    run.quirks = reference_quirks();
    stream_check_splits_and_waits(&run, seed);
}

/** Program memory from a callback; some virtual machines have only half of it. */
static uint32_t give_memory(void *context, uint64_t address, const struct pug_reader_space *space,
                            uint32_t wanted, uint8_t *buffer)
{
    const struct trip *trip = context;
    uint64_t at = address - trip->program.base, size = trip->program.code.size & ~(uint64_t)1;
    if (space->has_vmid && space->vmid % 4 == 3)
        size /= 2;
    if (at >= size)
        return 0;
    if (wanted > size - at)
        wanted = (uint32_t)(size - at);
    memcpy(buffer, trip->program.code.data + at, wanted);
    return wanted;
}

/** The same with memory that depends on the context, and that elements are delivered for. */
static void check_callbacks(struct trip *trip, struct stream_run run, uint64_t seed)
{
    run.image = pug_image_new();
    assert_int_equal(pug_image_add_callback(
                         run.image, &(struct pug_place){.space = PUG_SPACE_ANY}, trip->program.base,
                         trip->program.base + trip->program.code.size - 1, give_memory, trip),
                     PUG_OK);
    for (unsigned i = 1; i <= 10; i++) {
        run.quirks = i % 2 ? reference_quirks() : (struct pug_quirks){0};
        stream_check_at_once(&run, seed * 100 + i);
    }
    pug_image_free(run.image);
}

/** 1000 damaged streams, 40 from each of 25 traces: all at once is as packet by packet. */
static void check_at_once(struct trip *trip, uint64_t seed)
{
    struct stream_run run = {
        .protocol = trip->protocol,
        .settings = {.items = (struct pug_setting *)trip->registers, .count = 4},
        .image = trip->image,
        .bytes = trip->trace.data,
        .size = trip->trace.size < 1000 ? trip->trace.size : 1000,
    };
    for (unsigned i = 1; i <= 40 && seed <= 25; i++) {
        run.quirks = i % 2 ? reference_quirks() : (struct pug_quirks){0};
        stream_check_at_once(&run, seed * 100 + i);
    }
    check_callbacks(trip, run, seed);
}

/** How decoders that began in mid-stream did. */
struct begun {
    unsigned starts, met;
};

static void check_states(const struct trip *trip, uint64_t seed, struct begun *begun)
{
    struct stream_run run = {
        .protocol = trip->protocol,
        .settings = {.items = (struct pug_setting *)trip->registers, .count = 4},
        .image = trip->image,
        .bytes = trip->trace.data,
        .size = trip->trace.size,
    };
    struct state_check check = {.starts = 5, .seed = seed};
    state_check_damaged(&run, &check);
    state_check(&run, &check);
    begun->starts += check.starts;
    begun->met += check.met;
    run.quirks = pug_quirks_reference();
    if (seed % 4 == 1)
        state_check(&run, &check);
}

/** Of one instruction set, or of both, with calls and returns from one to the other. */
static void make_program(struct trip *trip)
{
    const uint64_t base = 0x80004000;
    switch (rec_random_below(&trip->random, 4)) {
    case 0: program_make(&trip->program, PUG_ISA_A32, base, &trip->random); break;
    case 1: program_make(&trip->program, PUG_ISA_T32, base, &trip->random); break;
    default: program_make_mixed(&trip->program, base, &trip->random);
    }
}

static void one_trip(const char *protocol, uint64_t seed, struct begun *begun)
{
    struct trip trip = {.random = {.state = seed}, .protocol = protocol};
    trip.cycles = rec_random_once_in(&trip.random, 2);
    trip.dmb_waypoints = rec_random_once_in(&trip.random, 2);
    make_program(&trip);
    trip.image = pug_image_new();
    assert_true(program_add_to(&trip.program, trip.image));
    choose_registers(&trip);
    record(&trip);
    decode(&trip);
    assert_int_equal(trip.decoded.count, trip.ran.count);
    assert_memory_equal(trip.decoded.pcs, trip.ran.pcs, trip.ran.count * sizeof(*trip.ran.pcs));
    assert_int_equal(trip.cycles_decoded, trip.cycles_ran);
    if (seed % 8 == 0)
        check_streams(&trip, seed);
    check_at_once(&trip, seed);
    if (seed % 2)
        check_states(&trip, seed, begun);
    pug_image_free(trip.image);
    program_free(&trip.program);
    rec_bytes_free(&trip.trace);
    free(trip.ran.pcs);
    free(trip.decoded.pcs);
}

static void test_etmv3(void **state)
{
    (void)state;
    struct begun begun = {0};
    for (uint64_t seed = 1; seed <= share_of(40); seed++)
        one_trip("ETMV3", seed, &begun);
    assert_true(begun.met * 20 >= begun.starts * 19);
}

static void test_ptm(void **state)
{
    (void)state;
    struct begun begun = {0};
    for (uint64_t seed = 1; seed <= share_of(40); seed++)
        one_trip("PTM", seed, &begun);
    assert_true(begun.met * 20 >= begun.starts * 19);
}

/* ---- data trace ---- */

/** Loads, with data of all kinds, in and out of order. */
static void record_data(struct rec_random *random, const struct rec_etmv3_config *config,
                        struct rec_bytes *out)
{
    struct rec_etmv3 unit;
    rec_etmv3_begin(&unit, config, out);
    for (unsigned i = 0; i < 1500; i++) {
        uint32_t address = (uint32_t)rec_random(random) >> rec_random_below(random, 32);
        uint32_t value = (uint32_t)rec_random(random), place = rec_random_below(random, 16) * 4;
        const uint32_t *told = rec_random_once_in(random, 3) ? NULL : &address;
        uint8_t tag = (uint8_t)(1 + rec_random_below(random, 3));
        if (i % 100 == 0) {
            rec_etmv3_a_sync(&unit);
            rec_etmv3_data_sync(&unit);
            rec_etmv3_isync(&unit, &(struct rec_etmv3_isync){.address = 0x8000 + place});
        }
        switch (rec_random_below(random, 8)) {
        case 0: rec_etmv3_branch(&unit, 0x8000 + place, PUG_ISA_A32, NULL); break;
        case 1: rec_etmv3_data_placeholder(&unit, tag, told); break;
        case 2: rec_etmv3_data_value(&unit, tag, value); break;
        case 3: rec_etmv3_data_not_traced(&unit, told); break;
        case 4:
            rec_etmv3_plain(&unit, value & 1 ? PUG_ETMV3_STORE_FAIL : PUG_ETMV3_DATA_SUPPRESSED);
            break;
        default: rec_etmv3_atom(&unit, true, 0); rec_etmv3_data(&unit, told, value);
        }
    }
    rec_etmv3_flush(&unit);
}

static void test_etmv3_data(void **state)
{
    static const uint32_t code[64] = {
        [0] = LE32(0xe5910000),  /* ldr r0, [r1] */
        [5] = LE32(0xe1c200d0),  /* ldrd r0, [r2] */
        [9] = LE32(0xe5810000),  /* str r0, [r1] */
        [12] = LE32(0xe1020091), /* swp r0, r1, [r2] */
    };
    const struct rec_etmv3_config config = {.control = 0xc, .id = 0x4100f230};
    const struct pug_setting registers[] = {{"ETMCR", config.control, NULL},
                                            {"ETMIDR", config.id, NULL},
                                            {"ETMCCER", 0, NULL},
                                            {"ETMTRACEIDR", 0x10, NULL}};
    struct pug_image *image = pug_image_new();
    unsigned met = 0;
    (void)state;
    assert_int_equal(pug_image_add_buffer(image, &(struct pug_place){.space = PUG_SPACE_ANY},
                                          0x8000, code, sizeof(code)),
                     PUG_OK);
    for (uint64_t seed = 1; seed <= 20; seed++) {
        struct rec_random random = {seed};
        struct rec_bytes trace = {0};
        record_data(&random, &config, &trace);
        struct stream_run run = {.protocol = "ETMV3",
                                 .settings = {.items = registers, .count = 4},
                                 .options = {.data_elements = true},
                                 .image = image,
                                 .bytes = trace.data,
                                 .size = trace.size};
        struct state_check check = {.starts = 5, .seed = seed};
        state_check_damaged(&run, &check);
        state_check(&run, &check);
        met += check.met;
        rec_bytes_free(&trace);
    }
    assert_true(met >= 95);
    pug_image_free(image);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_etmv3),
        cmocka_unit_test(test_ptm),
        cmocka_unit_test(test_etmv3_data),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
