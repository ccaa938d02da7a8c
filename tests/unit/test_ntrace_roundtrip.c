// SPDX-License-Identifier: MIT
/**
 * @file Random programs, random executions, random encoder options: the decoder gives them back.
 */
#include "recorder/ntrace.h"
#include "recorder/riscv_program.h"
#include "support/again.h"
#include "support/marks_check.h"
#include "support/ntrace_stream.h"
#include "support/share.h"
#include "support/state_check.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
/* cmocka.h wants the three above first */
#include <cmocka.h>

#define STEPS 3000

/** One round: what was chosen, and what must come back. */
struct round {
    struct rec_random random;
    struct rec_riscv_program program;
    struct rec_riscv_run run;
    struct rec_ntrace_options options;
    struct rec_ntrace *encoder;
    struct rec_bytes trace;
    struct lines flow, beside;
    uint64_t time;
    bool extras; /* messages beside the flow */
};

static bool chance(struct round *round, uint32_t n)
{
    return rec_random_once_in(&round->random, n);
}

static void choose_program(struct round *round)
{
    static const uint64_t bases[] = {0x1000, 0x40000000, 0x80000000, 0xffffffc000200000,
                                     0x0000003ffffff000};
    struct rec_riscv_options options = {
        .xlen = round->options.xlen,
        .length = 40 + rec_random_below(&round->random, 300),
        .zcm = chance(round, 3),
        .long_insns = chance(round, 4),
        .tidy = round->options.implicit_return == REC_NTRACE_RETURN_COUNT,
    };
    uint32_t choices = options.xlen == 32 ? 3 : 5;
    options.base = bases[rec_random_below(&round->random, choices)];
    assert_true(rec_riscv_program_make(&round->program, &options, &round->random));
}

static void choose_options(struct round *round, uint64_t seed)
{
    static const uint8_t widths[] = {0, 0, 1, 3, 4, 6, 9, 12};
    struct rec_ntrace_options *o = &round->options;
    o->xlen = chance(round, 3) ? 32 : 64;
    o->src_bits = widths[rec_random_below(&round->random, sizeof(widths))];
    o->src = rec_random_below(&round->random, 1u << o->src_bits);
    o->btm = chance(round, 2);
    o->implicit_return = chance(round, 2)   ? REC_NTRACE_RETURN_OFF
                         : chance(round, 4) ? REC_NTRACE_RETURN_COUNT
                                            : REC_NTRACE_RETURN_COMPARE;
    o->stack_depth = 1u << rec_random_below(&round->random, 6);
    o->sequential_jump = chance(round, 2);
    o->repeated_history = chance(round, 2);
    o->repeat_branch = chance(round, 2);
    o->all_jumps = chance(round, 4);
    o->extend_addr_msb = chance(round, 2);
    o->exact_traps = chance(round, 2);
    o->sifive = chance(round, 6);
    o->timestamps = chance(round, 2);
    o->timestamp_once_in = 1 + rec_random_below(&round->random, 4);
    o->hist_bits = chance(round, 2) ? 32 : 2 + rec_random_below(&round->random, 31);
    o->icnt_max = chance(round, 2) ? (1u << 22) - 1 : 8 + rec_random_below(&round->random, 300);
    o->icnt_sync = chance(round, 2);
    o->seed = seed;
    if (o->implicit_return == REC_NTRACE_RETURN_COUNT)
        o->stack_depth = REC_RISCV_CALLS; /* a count says nothing about which calls those were */
}

static void expect(struct lines *lines, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

static void expect(struct lines *lines, const char *format, ...)
{
    char text[96];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    lines_add(lines, 0, text);
}

static void start(struct round *round, unsigned reason)
{
    rec_ntrace_start(round->encoder, reason, round->run.pc);
    expect(&round->flow, "@sync %u %" PRIx64 " 0", reason, round->run.pc);
    round->run.previous = (struct pug_insn){0}; /* the program's pairs are not cut here */
}

/** Sync, stop and restart, loss, and what is beside the flow. */
static void interfere(struct round *round)
{
    struct rec_ntrace *encoder = round->encoder;
    uint64_t pc = round->run.pc;
    bool pair = round->run.previous.kind == PUG_RV_CONSTANT;
    uint32_t context = rec_random_below(&round->random, 1000);
    const bool odd = context % 2;
    const unsigned format = round->options.sifive ? 3 : 2; /* what `context` is */
    uint64_t data = rec_random(&round->random) >> rec_random_below(&round->random, 64);
    switch (rec_random_below(&round->random, 8)) {
    case 0:
    case 1:
        if (pair) /* an encoder may tell it or not */
            return;
        rec_ntrace_sync(encoder, odd ? 2 : 0, pc, false);
        expect(&round->flow, "@sync %u %" PRIx64 " 0", odd ? 2 : 0, pc);
        break;
    case 2:
        rec_ntrace_stop(encoder, 4);
        expect(&round->flow, "@stop 4");
        rec_riscv_run_start(&round->run, &round->program, &round->random);
        start(round, 5);
        break;
    case 3:
        rec_ntrace_sync(encoder, 6, pc, false);
        expect(&round->flow, "@sync 6 %" PRIx64 " 0", pc);
        rec_ntrace_overflow(encoder, 4);
        expect(&round->flow, "@error 0 4");
        rec_riscv_run_start(&round->run, &round->program, &round->random);
        start(round, 7);
        break;
    case 4:
        rec_ntrace_ownership(encoder, format, 1, false, context);
        expect(&round->beside, "@own %u 1 0 %x", format, context);
        break;
    case 5:
        rec_ntrace_data(encoder, context, data);
        expect(&round->beside, "@da %u %" PRIx64, context, data);
        break;
    case 6: rec_ntrace_vendor(encoder, 56 + context % 7, data); break;
    default: rec_ntrace_idle(encoder, context % 4); break;
    }
}

static void execute(struct round *round)
{
    struct rec_riscv_run *run = &round->run;
    struct rec_ntrace *encoder = round->encoder;
    for (unsigned i = 0; i < STEPS; i++) {
        round->time += rec_random_below(&round->random, 20);
        rec_ntrace_time(encoder, round->time);
        if (round->extras && chance(round, 60))
            interfere(round);
        struct rec_riscv_event event = rec_riscv_step(run);
        if (event.what == REC_RISCV_RETIRED) {
            lines_add(&round->flow, event.pc, NULL);
            rec_ntrace_retire(encoder, event.pc, &event.insn, event.next);
        } else {
            bool interrupt = event.what == REC_RISCV_INTERRUPT;
            unsigned btype = !round->options.exact_traps ? 1 : interrupt ? 3 : 2;
            rec_ntrace_trap(encoder, interrupt, event.next);
            expect(&round->flow, "@trap %u %" PRIx64 " %" PRIx64, btype, event.pc, event.next);
        }
    }
    rec_ntrace_stop(encoder, 0);
    expect(&round->flow, "@stop 0");
}

static void record(struct round *round, uint64_t seed)
{
    *round = (struct round){.random = {seed}};
    choose_options(round, seed);
    choose_program(round);
    bool exact = round->options.implicit_return != REC_NTRACE_RETURN_COUNT;
    rec_riscv_run_start(&round->run, &round->program, &round->random);
    round->extras = exact && chance(round, 2);
    round->run.trap_once_in = exact && chance(round, 2) ? 50 : 0;
    round->run.stray_once_in = exact ? 6 : 0;
    round->encoder = rec_ntrace_new(&round->options, &round->trace);
    assert_non_null(round->encoder);
    start(round, 3);
    execute(round);
    assert_false(round->trace.failed);
}

static void round_free(struct round *round)
{
    rec_ntrace_free(round->encoder);
    rec_riscv_program_free(&round->program);
    rec_bytes_free(&round->trace);
    lines_free(&round->flow);
    lines_free(&round->beside);
}

struct settings {
    struct pug_setting items[16];
    size_t count;
};

static void set(struct settings *settings, const char *name, uint64_t value)
{
    settings->items[settings->count++] = (struct pug_setting){.name = name, .value = value};
}

static struct pug_settings settings_of(const struct round *round, struct settings *settings)
{
    const struct rec_ntrace_options *o = &round->options;
    settings->count = 0;
    set(settings, "xlen", o->xlen);
    set(settings, "src_bits", o->src_bits);
    set(settings, "src_id", o->src);
    set(settings, "btm", o->btm);
    set(settings, "implicit_return", o->implicit_return != REC_NTRACE_RETURN_OFF);
    set(settings, "sequential_jump", o->sequential_jump);
    set(settings, "all_jumps", o->all_jumps);
    set(settings, "extend_addr_msb", o->extend_addr_msb);
    set(settings, "ts", o->timestamps);
    set(settings, "dialect", o->sifive);
    set(settings, "zcmp_zcmt", round->program.options.zcm);
    set(settings, "jvt_base", round->program.options.base);
    return (struct pug_settings){.items = settings->items, .count = settings->count};
}

static struct pug_image *image_of(const struct round *round)
{
    struct pug_image *image = pug_image_new();
    struct pug_place place = {.space = PUG_SPACE_ANY};
    assert_int_equal(pug_image_add_buffer(image, &place, round->program.options.base,
                                          round->program.code.data, round->program.code.size),
                     PUG_OK);
    return image;
}

static void test_round_trip(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= share_of(300); seed++) {
        struct round round;
        struct settings list;
        struct ntrace_stream stream = {0};
        char text[400];
        record(&round, seed);
        struct pug_settings settings = settings_of(&round, &list);
        struct pug_image *image = image_of(&round);
        assert_true(ntrace_open(&stream, image, seed % 2 ? "plain" : "nexus", &settings));
        stream.want_beside = stream.drop_full_counts = true;
        ntrace_want_events(&stream);
        ntrace_feed(&stream, round.trace.data, round.trace.size, 0);
        if (lines_differ(&stream.flow, &round.flow, text, sizeof(text)) ||
            lines_differ(&stream.beside, &round.beside, text, sizeof(text)))
            fail_msg("seed %llu (%s, iret %d, seq %d, all %d, rpt %d %d, hist %u, icnt %u): %s",
                     (unsigned long long)seed, round.options.btm ? "btm" : "htm",
                     round.options.implicit_return, round.options.sequential_jump,
                     round.options.all_jumps, round.options.repeat_branch,
                     round.options.repeated_history, round.options.hist_bits,
                     round.options.icnt_max, text);
        assert_int_equal(pug_log_errors(stream.log), 0);
        if (round.options.timestamps && stream.times.count > 0)
            assert_true(stream.times.items[stream.times.count - 1].pc <= round.time);
        ntrace_close(&stream);
        pug_image_free(image);
        round_free(&round);
    }
}

/** Elements of a stream as lines, fed in blocks, with a consumer that waits now and then. */
static void element_lines(const struct round *round, size_t block, unsigned wait_every,
                          struct ntrace_stream *stream)
{
    struct settings list;
    struct pug_settings settings = settings_of(round, &list);
    struct pug_image *image = image_of(round);
    stream->want_elements = stream->no_flow = true;
    stream->wait_every = wait_every;
    assert_true(ntrace_open(stream, image, round->options.src % 2 ? "plain" : "nexus", &settings));
    ntrace_feed(stream, round->trace.data, round->trace.size, block);
    pug_tree_free(stream->tree);
    stream->tree = NULL;
    pug_image_free(image);
}

static void damage(struct round *round)
{
    for (unsigned n = 0; n < 20; n++)
        round->trace.data[rec_random_below(&round->random, (uint32_t)round->trace.size)] ^=
            (uint8_t)(1u << rec_random_below(&round->random, 8));
}

/**
 * The same elements with the same indices however the bytes come and whoever waits; also damaged.
 */
static void test_blocks_and_waits(void **state)
{
    static const struct {
        size_t block;
        unsigned wait;
        bool each_packet;
    } ways[] = {{1, 0, false}, {7, 0, false},  {0, 1, false}, {0, 3, false},
                {1, 2, false}, {5, 17, false}, {0, 0, true},  {3, 5, true}};
    (void)state;
    for (uint64_t seed = 1001; seed < 1001 + share_of(40); seed++) {
        struct round round;
        struct ntrace_stream whole = {0};
        char text[400];
        record(&round, seed);
        if (seed % 2)
            damage(&round);
        element_lines(&round, 0, 0, &whole);
        for (size_t i = 0; i < sizeof(ways) / sizeof(ways[0]); i++) {
            struct ntrace_stream part = {0};
            part.each_packet = ways[i].each_packet;
            element_lines(&round, ways[i].block, ways[i].wait, &part);
            if (lines_differ(&part.elements, &whole.elements, text, sizeof(text)))
                fail_msg("seed %llu, way %zu: %s", (unsigned long long)seed, i, text);
            ntrace_close(&part);
        }
        ntrace_close(&whole);
        round_free(&round);
    }
}

/** How the stream is decoded; with half of the seeds without a transport that knows messages. */
static struct stream_run run_of(const struct round *round, struct settings *list, uint64_t seed)
{
    return (struct stream_run){.protocol = "N-Trace",
                               .transport = seed % 2 ? "plain" : "nexus",
                               .settings = settings_of(round, list),
                               .image = image_of(round),
                               .bytes = round->trace.data,
                               .size = round->trace.size};
}

/** The fast path gives what messages give, and what is kept of them holds for nothing else. */
static void test_fast(void **state)
{
    (void)state;
    for (uint64_t seed = 4001; seed < 4001 + share_of(40); seed++) {
        struct round round;
        struct settings list;
        struct rec_random random = {seed};
        size_t first;
        record(&round, seed);
        struct stream_run run = run_of(&round, &list, seed);
        const struct again_code code = {round.program.options.base, &round.program.code};
        again_check_contexts(&run, &code, seed);
        if (seed % 2)
            again_check_images(&run, &code);
        stream_check_fast(&run, seed);
        for (unsigned i = 0; i < 3; i++) {
            stream_damage(&random, round.trace.data, &run.size, &first);
            stream_check_fast(&run, seed + i);
        }
        pug_image_free(run.image);
        round_free(&round);
    }
}

/** Decoders that begin in mid-stream soon know as much as the one that saw everything. */
static void test_states(void **state)
{
    unsigned begun = 0, met = 0, met_damaged = 0;
    (void)state;
    for (uint64_t seed = 2001; seed <= 2100; seed++) {
        struct round round;
        struct settings list;
        record(&round, seed);
        struct stream_run run = run_of(&round, &list, seed);
        struct state_check check = {.starts = 8, .seed = seed};
        if (round.extras) { /* else only the first message is a sync message */
            state_check(&run, &check);
            begun += check.starts;
            met += check.met;
            state_check_damaged(&run, &check);
            met_damaged += check.met;
        }
        pug_image_free(run.image);
        round_free(&round);
    }
    assert_true(met > begun * 9 / 10);
    assert_true(met_damaged > begun * 3 / 4);
}

static void test_marks(void **state)
{
    struct marks_found found = {0};
    (void)state;
    for (uint64_t seed = 5001; seed <= 5060; seed++) {
        struct round round;
        struct settings list;
        record(&round, seed);
        struct stream_run run = run_of(&round, &list, seed);
        marks_check(&run, &found);
        pug_image_free(run.image);
        round_free(&round);
    }
    assert_true(found.counts[PUG_MARK_TIMESTAMP] > 0 && found.counts[PUG_MARK_EXCEPTION] > 0 &&
                found.counts[PUG_MARK_EVENT] > 0 && found.counts[PUG_MARK_CONTEXT] > 0 &&
                found.counts[PUG_MARK_TRIGGER] > 0 && found.counts[PUG_MARK_VMID] > 0);
}

/** A tree that counts has the counts of its elements, also where the stream is damaged. */
static void test_counts(void **state)
{
    (void)state;
    for (uint64_t seed = 3001; seed < 3001 + share_of(120); seed++) {
        struct round round;
        struct settings list;
        record(&round, seed);
        struct rec_random random = {.state = seed};
        struct stream_run run = run_of(&round, &list, seed);
        size_t first;
        stream_check_counts(&run);
        for (run.resets = 0; run.resets < 4; run.resets++) { /* memos come with what comes again */
            stream_damage(&random, round.trace.data, &run.size, &first);
            stream_check_counts(&run);
        }
        pug_image_free(run.image);
        round_free(&round);
    }
}

/** IndirectBranch: so many halfwords, and which bits of the address are others. */
static void put_jump(struct rec_bytes *trace, unsigned icnt, unsigned bits)
{
    const uint8_t message[] = {0x10, (uint8_t)(icnt << 4 | 1), (uint8_t)((bits >> 1 & 63) << 2),
                               (uint8_t)(bits >> 7 << 2 | 3)};
    rec_put_n(trace, message, sizeof(message));
}

/**
 * Loops of one instruction whose messages are memos, if it jumps. After each, a message that covers
 * no code gives another address, where one more of them is: that is where the jump before went.
 */
static void check_landings(uint16_t insn)
{
    static const uint8_t sync[] = {0x24, 0x0d, 0x00, 0x0b}; /* at 100 */
    const struct pug_setting items[] = {{.name = "xlen", .value = 64}, {.name = "ts", .value = 0}};
    const struct pug_place place = {.space = PUG_SPACE_ANY};
    uint8_t code[0x400];
    struct pug_image *image = pug_image_new();
    struct rec_bytes trace = {0};
    for (size_t i = 0; i < sizeof(code); i += 2) {
        code[i] = (uint8_t)insn;
        code[i + 1] = (uint8_t)(insn >> 8);
    }
    assert_int_equal(pug_image_add_buffer(image, &place, 0x100, code, sizeof(code)), PUG_OK);
    rec_put_n(&trace, sync, sizeof(sync));
    for (unsigned bits = 0x20; bits < 0x100; bits += 2) {
        for (unsigned i = 0; i < 4; i++)
            put_jump(&trace, 1, 0);
        put_jump(&trace, 1, bits);
        for (unsigned i = 0; i < 4; i++)
            put_jump(&trace, 1, 0);
        put_jump(&trace, 0, bits);
    }
    stream_check_counts(&(struct stream_run){.protocol = "N-Trace",
                                             .transport = "plain",
                                             .settings = {.items = items, .count = 2},
                                             .image = image,
                                             .bytes = trace.data,
                                             .size = trace.size});
    rec_bytes_free(&trace);
    pug_image_free(image);
}

static void test_counts_of_landings(void **state)
{
    (void)state;
    check_landings(0x8502); /* c.jr a0 */
    check_landings(0xc009); /* c.beqz s0: not taken, and yet not followed by the next instruction */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_counts_of_landings),
        cmocka_unit_test(test_counts),
        cmocka_unit_test(test_round_trip),
        cmocka_unit_test(test_blocks_and_waits),
        cmocka_unit_test(test_fast),
        cmocka_unit_test(test_states),
        cmocka_unit_test(test_marks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
