// SPDX-License-Identifier: MIT
/**
 * @file Random programs, random executions, random encoder options and wrappings: the decoder gives
 * the path back, however the bytes come and whoever waits; damage does no harm.
 */
#include "support/again.h"
#include "support/etrace_round.h"
#include "support/marks_check.h"
#include "support/share.h"
#include "support/state_check.h"

#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
/* cmocka.h wants the three above first */
#include <cmocka.h>

/* ---- comparing ---- */

struct check {
    const struct etrace_round *round;
    struct pug_image *image;
    uint64_t seed;
    size_t at; /* next step */
    size_t epcs, traps;
    bool has_time;
    uint64_t time, time_index;
};

static uint64_t low_bits(uint64_t value, unsigned bits)
{
    return bits < 64 ? value & ((UINT64_C(1) << bits) - 1) : value;
}

static void check_pc(struct check *check, const struct pug_element *e, uint64_t pc)
{
    static const int8_t levels[] = {0, 1, 0, 3, 3, 0, 1, 0};
    const struct etrace_round *round = check->round;
    const struct etrace_step *step = &round->steps[check->at];
    if (check->at == round->count || step->is_trap || step->pc != pc)
        fail_msg("seed %" PRIu64 ": step %zu of %zu is %s %" PRIx64 ", got %" PRIx64
                 " (index %" PRIu64 ")",
                 check->seed, check->at, round->count, step->is_trap ? "a trap, not" : "", step->pc,
                 pc, e->index);
    if (round->precise || round->options.context_width == 0) {
        assert_int_equal(e->context_id, step->context & UINT32_MAX);
        assert_int_equal(e->level, levels[step->privilege]);
    }
    if (check->has_time && e->index == check->time_index && round->options.options.time_width > 0 &&
        !round->stamps)
        assert_true(check->time == low_bits(step->time, round->options.options.time_width));
    check->has_time = false;
    check->at++;
}

static unsigned insn_size(const struct check *check, uint64_t pc)
{
    uint8_t bytes[2];
    struct pug_reader_space space = {.space = PUG_SPACE_ANY};
    assert_int_equal(pug_image_read(check->image, &space, pc, bytes, 2), 2);
    if ((bytes[0] & 3) != 3)
        return 2;
    if ((bytes[0] & 0x1f) != 0x1f)
        return 4;
    return (bytes[0] & 0x3f) == 0x1f ? 6 : 8;
}

static void check_trap(struct check *check, const struct pug_element *e)
{
    const struct etrace_step *step = &check->round->steps[check->at];
    if (check->at == check->round->count || !step->is_trap || step->number != e->number ||
        step->tval != e->value)
        fail_msg("seed %" PRIu64 ": step %zu is not trap %x (index %" PRIu64 ")", check->seed,
                 check->at, e->number, e->index);
    check->traps++;
    check->at++;
    if (!(e->flags & PUG_ELEM_RET_ADDR))
        return;
    check->epcs++;
    if (step->epc != e->end && !step->epc_may_differ)
        fail_msg("seed %" PRIu64 ": EPC of step %zu is %" PRIx64 ", got %" PRIx64, check->seed,
                 check->at - 1, step->epc, e->end);
}

static enum pug_response check_elements(void *context, const struct pug_element *elements,
                                        size_t count, size_t *taken)
{
    struct check *check = context;
    (void)taken;
    for (size_t i = 0; i < count; i++) {
        const struct pug_element *e = &elements[i];
        uint64_t pc = e->start;
        switch (e->type) {
        case PUG_ELEM_INSTR_RANGE:
            for (uint32_t n = 0; n < e->count; n++) {
                check_pc(check, e, pc);
                pc += insn_size(check, pc);
            }
            assert_true(pc == e->end);
            break;
        case PUG_ELEM_EXCEPTION: check_trap(check, e); break;
        case PUG_ELEM_EVENT:
            assert_true(check->at > 0 && check->round->steps[check->at - 1].notified);
            break;
        case PUG_ELEM_TIMESTAMP:
            check->time = e->timestamp;
            check->time_index = e->index;
            check->has_time = true;
            break;
        case PUG_ELEM_TRACE_ON:
        case PUG_ELEM_PE_CONTEXT:
        case PUG_ELEM_EXCEPTION_RET:
        case PUG_ELEM_NO_SYNC:
        case PUG_ELEM_EO_TRACE: break;
        default: fail_msg("seed %" PRIu64 ": unexpected element %u", check->seed, e->type);
        }
    }
    return PUG_RESP_CONT;
}

static void fail_on_log(void *context, const struct pug_log_record *record)
{
    struct check *check = context;
    if (record->severity == PUG_SEV_ERROR)
        fail_msg("seed %" PRIu64 ": %s (index %" PRIu64 ")", check->seed, record->text,
                 record->index);
}

static void test_round_trip(void **state)
{
    size_t traps = 0, epcs = 0;
    (void)state;
    for (uint64_t seed = 1; seed <= share_of(400); seed++) {
        struct etrace_round round;
        struct pug_tree *tree;
        size_t used;
        etrace_round_record(&round, seed);
        struct check check = {.round = &round, .image = etrace_round_image(&round), .seed = seed};
        struct pug_log *log = pug_log_new(PUG_SEV_ERROR);
        pug_log_set_sink(log, fail_on_log, &check);
        struct pug_settings settings = {.items = round.settings, .count = round.setting_count};
        struct pug_tree_config config = {.transport = seed % 2 ? "encapsulation" : "plain",
                                         .settings = settings,
                                         .image = check.image,
                                         .log = log};
        struct pug_source_config source = {
            .protocol = "E-Trace", .settings = settings, .decode = true};
        assert_int_equal(pug_tree_new(&config, &tree), PUG_OK);
        assert_int_equal(pug_tree_add_source(tree, &source, NULL), PUG_OK);
        pug_tree_on_elements(tree, check_elements, &check);
        assert_int_equal(pug_tree_data(tree, 0, round.trace.data, round.trace.size, &used),
                         PUG_RESP_CONT);
        assert_int_equal(pug_tree_end(tree), PUG_RESP_CONT);
        if (check.at != round.count)
            fail_msg("seed %" PRIu64 ": %zu of %zu steps", seed, check.at, round.count);
        traps += check.traps;
        epcs += check.epcs;
        pug_tree_free(tree);
        pug_log_free(log);
        pug_image_free(check.image);
        etrace_round_free(&round);
    }
    assert_true(epcs > traps / 2);
}

/**
 * How the stream is decoded; with half of the seeds the reader finds the packets itself. Damage may
 * stand for millions of branches: a packet has as many as are enough for what is not damaged.
 */
static struct stream_run run_of(const struct etrace_round *round, uint64_t seed)
{
    return (struct stream_run){
        .protocol = "E-Trace",
        .transport = seed % 2 ? "encapsulation" : "plain",
        .settings = {.items = round->settings, .count = round->setting_count},
        .options = {.expansion = 32768},
        .image = etrace_round_image(round),
        .bytes = round->trace.data,
        .size = round->trace.size};
}

static void test_splits_waits_damage(void **state)
{
    (void)state;
    for (uint64_t seed = 5001; seed < 5001 + share_of(60); seed++) {
        struct etrace_round round;
        etrace_round_record(&round, seed);
        struct stream_run run = run_of(&round, seed);
        run.size = run.size > 1500 ? 1500 : run.size;
        if (seed % 3 == 0)
            stream_check_splits_and_waits(&run, seed);
        stream_check_damage(&run, seed);
        pug_image_free(run.image);
        etrace_round_free(&round);
    }
}

static void test_fast(void **state)
{
    (void)state;
    for (uint64_t seed = 6001; seed < 6001 + share_of(60); seed++) {
        struct etrace_round round;
        struct rec_random random = {seed};
        size_t first;
        etrace_round_record(&round, seed);
        struct stream_run run = run_of(&round, seed);
        stream_check_fast(&run, seed);
        for (unsigned i = 0; i < 3; i++) {
            stream_damage(&random, round.trace.data, &run.size, &first);
            stream_check_fast(&run, seed + i);
        }
        pug_image_free(run.image);
        etrace_round_free(&round);
    }
}

/** A decoder's memo of packets is valid for nothing else. */
static void test_again(void **state)
{
    (void)state;
    for (uint64_t seed = 8001; seed < 8001 + share_of(40); seed++) {
        struct etrace_round round;
        etrace_round_record(&round, seed);
        struct stream_run run = run_of(&round, seed);
        const struct again_code code = {round.program.options.base, &round.program.code};
        again_check_contexts(&run, &code, seed);
        if (seed % 2)
            again_check_images(&run, &code);
        else if (seed % 4)
            again_check_beginnings(&run, &code);
        pug_image_free(run.image);
        etrace_round_free(&round);
    }
}

/** Decoders that begin anywhere come to know as much as one that began at the start. */
static void test_states(void **state)
{
    unsigned met = 0, begun = 0;
    size_t slowest = 0;
    (void)state;
    for (uint64_t seed = 7001; seed <= 7060; seed++) {
        struct etrace_round round;
        etrace_round_record(&round, seed);
        const struct pug_etrace_options *options = &round.options.options;
        /* what only the support packet at the start would tell */
        const struct pug_setting told[] = {
            {.name = "full_address", .value = options->full_address},
            {.name = "implicit_exception", .value = options->implicit_exception},
            {.name = "resync_disabled", .value = options->resync_disabled}};
        memcpy(&round.settings[round.setting_count], told, sizeof(told));
        round.setting_count += 3;
        struct stream_run run = run_of(&round, seed);
        struct state_check check = {.starts = 4, .seed = seed};
        state_check_damaged(&run, &check);
        state_check(&run, &check);
        /* partial times depend on how often they wrapped since the start */
        bool whole_times = !round.stamps || round.wrap.timestamp_bytes > 2;
        if (round.options.resync > 0 && whole_times && !options->resync_disabled) {
            met += check.met;
            begun += check.starts;
            slowest = check.slowest > slowest ? check.slowest : slowest;
        }
        pug_image_free(run.image);
        etrace_round_free(&round);
    }
    /* finding a header among any bytes takes some, and some streams end before */
    assert_true(begun > 60 && met > begun * 9 / 10 && slowest < 4096);
}

static void test_marks(void **state)
{
    struct marks_found found = {0};
    (void)state;
    for (uint64_t seed = 9001; seed <= 9060; seed++) {
        struct etrace_round round;
        etrace_round_record(&round, seed);
        struct stream_run run = run_of(&round, seed);
        marks_check(&run, &found);
        pug_image_free(run.image);
        etrace_round_free(&round);
    }
    assert_true(found.counts[PUG_MARK_TIMESTAMP] > 0 && found.counts[PUG_MARK_EXCEPTION] > 0 &&
                found.counts[PUG_MARK_EVENT] > 0 && found.counts[PUG_MARK_CONTEXT] > 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_round_trip), cmocka_unit_test(test_splits_waits_damage),
        cmocka_unit_test(test_fast),       cmocka_unit_test(test_again),
        cmocka_unit_test(test_states),     cmocka_unit_test(test_marks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
