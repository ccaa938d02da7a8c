// SPDX-License-Identifier: MIT
/**
 * @file Random cores and random software events through the encoder and back: every event comes,
 * and what the decoder says was executed was executed.
 */
#include "pugmark/advanced/packet/osd.h"
#include "recorder/osd.h"
#include "recorder/riscv_program.h"
#include "support/flow_lines.h"
#include "support/marks_check.h"
#include "support/state_check.h"

#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
/* cmocka.h wants some of the above first */
#include <cmocka.h>

#define ROUNDS 60
#define STEPS  2500
#define CORES  2
#define STM    3 /* its address */

/** A core: what it executed, and what its module said. */
struct core {
    struct rec_riscv_program program;
    struct rec_riscv_run run;
    struct rec_osd_core module;
    uint8_t mode;
    uint16_t missed; /* events since the last that was sent */
    uint64_t *executed;
    size_t count;
    size_t ends[STEPS]; /* of each event sent: instructions executed until then */
    bool after_gap[STEPS];
    size_t events;
    /* decoding */
    struct pug_image *image;
    struct lines told; /* of the event that is being decoded */
    size_t decoded;
    uint64_t exact;
};

struct round {
    struct rec_random random;
    struct rec_osd_options options;
    struct rec_bytes trace;
    struct core cores[CORES];
    unsigned value_width;
    uint64_t values[STEPS], times[STEPS];
    size_t value_count, values_decoded;
};

static bool chance(struct round *round, uint32_t n)
{
    return rec_random_once_in(&round->random, n);
}

/* ---- recording ---- */

static void make_core(struct round *round, unsigned n, struct rec_osd *osd)
{
    struct core *core = &round->cores[n];
    unsigned width = chance(round, 2) ? 32 : 64;
    struct rec_riscv_options options = {
        .xlen = width, .base = 0x40000000, .length = 30 + rec_random_below(&round->random, 200)};
    assert_true(rec_riscv_program_make(&core->program, &options, &round->random));
    rec_riscv_run_start(&core->run, &core->program, &round->random);
    core->run.trap_once_in = chance(round, 2) ? 60 : 0;
    core->run.stray_once_in = 5;
    core->module = (struct rec_osd_core){.osd = osd, .module = n + 1, .width = width};
    core->executed = calloc(STEPS, sizeof(*core->executed));
    assert_non_null(core->executed);
}

/**
 * One instruction, or a trap. Traps and returns from them change the mode here, to one that the
 * instruction before was not in: only then can they be seen.
 */
static void step_core(struct round *round, struct core *core, uint32_t time)
{
    struct rec_riscv_event event = rec_riscv_step(&core->run);
    if (event.what != REC_RISCV_RETIRED) {
        core->mode = (core->module.mode + 1) & 3;
        return;
    }
    bool full = chance(round, 50);
    struct rec_osd_core *module = &core->module;
    core->executed[core->count++] = event.pc;
    if (full && core->missed < 100) { /* the buffer is full: this event is not sent */
        struct rec_bytes nowhere = {0};
        struct rec_osd *lost = rec_osd_new(&round->options, &nowhere);
        struct rec_osd_core there = *module;
        there.osd = lost;
        core->missed +=
            rec_osd_core_step(&there, time, event.pc, &event.insn, event.next, core->mode);
        module->mode = there.mode;
        rec_osd_free(lost);
        rec_bytes_free(&nowhere);
    } else {
        bool gap = core->missed > 0;
        if (gap)
            rec_osd_overflow(module->osd, module->module, core->missed);
        core->missed = 0;
        if (rec_osd_core_step(module, time, event.pc, &event.insn, event.next, core->mode)) {
            core->after_gap[core->events] = gap;
            core->ends[core->events++] = core->count;
        } else if (gap) {
            core->after_gap[core->events] = true;
        }
    }
    if (event.insn.kind == PUG_RV_XRET)
        core->mode = (module->mode + 1) & 3;
}

/** `gaps`: also of time, so that it wraps. */
static void record(struct round *round, uint64_t seed, bool gaps)
{
    *round = (struct round){.random = {seed}};
    round->options = (struct rec_osd_options){.longest = 12 + rec_random_below(&round->random, 6),
                                              .dest = 0x401,
                                              .dump = chance(round, 4),
                                              .interleave = chance(round, 2),
                                              .seed = seed};
    struct rec_osd *osd = rec_osd_new(&round->options, &round->trace);
    uint64_t time = rec_random(&round->random) & 0xffffffff;
    assert_non_null(osd);
    for (unsigned n = 0; n < CORES; n++)
        make_core(round, n, osd);
    round->value_width = 16u << rec_random_below(&round->random, 3);
    for (unsigned i = 0; i < STEPS; i++) {
        time += rec_random_below(&round->random, gaps && chance(round, 100) ? UINT32_MAX : 1000);
        for (unsigned n = 0; n < CORES; n++)
            step_core(round, &round->cores[n], (uint32_t)time);
        if (chance(round, 20)) {
            uint64_t value = rec_random(&round->random) >> (64 - round->value_width);
            round->times[round->value_count] = time;
            round->values[round->value_count++] = value;
            rec_osd_stm(osd, STM, round->value_width, (uint32_t)time, 7, value);
        }
        if (chance(round, 40))
            rec_osd_register(osd, 1, 0x200, (uint16_t)round->cores[0].module.width);
    }
    rec_osd_finish(osd);
    rec_osd_free(osd);
    assert_false(round->trace.failed);
}

static void round_free(struct round *round)
{
    for (unsigned n = 0; n < CORES; n++) {
        rec_riscv_program_free(&round->cores[n].program);
        free(round->cores[n].executed);
        lines_free(&round->cores[n].told);
    }
    rec_bytes_free(&round->trace);
}

/* ---- decoding ---- */

/** The report for the last event: nothing, or exactly what ran. */
static void check_told(struct core *core)
{
    struct lines *told = &core->told;
    if (told->count > 0) {
        size_t event = core->decoded - 1;
        assert_true(event > 0);
        assert_false(core->after_gap[event]);
        size_t from = core->ends[event - 1], until = core->ends[event];
        if (told->count != until - from)
            fail_msg("event %zu: %zu instructions told, %zu executed", event, told->count,
                     until - from);
        for (size_t i = 0; i < told->count; i++)
            assert_int_equal(told->items[i].pc, core->executed[from + i]);
        core->exact++;
    }
    lines_clear(told);
}

static void on_packet(void *context, enum pug_op op, const struct pug_packet *packet)
{
    struct core *core = context;
    const struct pug_osd_packet *osd = packet ? packet->data : NULL;
    if (op != PUG_OP_DATA || !osd || osd->kind != PUG_OSD_KIND_EVENT)
        return;
    check_told(core);
    assert_true(core->decoded < core->events);
    assert_int_equal(osd->pc, core->executed[core->ends[core->decoded] - 1]);
    core->decoded++;
}

static enum pug_response on_elements(void *context, const struct pug_element *elements,
                                     size_t count, size_t *taken)
{
    struct round *round = context;
    (void)taken;
    for (size_t i = 0; i < count; i++) {
        const struct pug_element *e = &elements[i];
        if (e->type == PUG_ELEM_INSTR_RANGE)
            lines_add_range(&round->cores[e->source - 1].told, round->cores[e->source - 1].image,
                            e);
        if (e->type == PUG_ELEM_SWTRACE && e->source == STM) {
            assert_int_equal(e->value, round->values[round->values_decoded]);
            round->values_decoded++;
        }
        assert_int_not_equal(e->type, PUG_ELEM_UNKNOWN);
    }
    return PUG_RESP_CONT;
}

static struct pug_image *image_of(struct round *round)
{
    struct pug_image *image = pug_image_new();
    for (unsigned n = 0; n < CORES; n++) {
        const struct rec_riscv_program *program = &round->cores[n].program;
        struct pug_place place = {
            .space = PUG_SPACE_ANY, .has_source = true, .source = (uint16_t)(n + 1)};
        assert_int_equal(pug_image_add_buffer(image, &place, program->options.base,
                                              program->code.data, program->code.size),
                         PUG_OK);
        round->cores[n].image = image;
    }
    return image;
}

static void decode(struct round *round)
{
    const struct pug_setting limit = {.name = "MAX_PKT_LEN", .value = round->options.longest};
    struct pug_image *image = image_of(round);
    struct pug_log *log = pug_log_new(PUG_SEV_INFO);
    struct pug_tree_config config = {
        .transport = "osd", .settings = {.items = &limit, .count = 1}, .image = image, .log = log};
    struct pug_tree *tree;
    struct pug_source *source;
    assert_int_equal(pug_tree_new(&config, &tree), PUG_OK);
    pug_tree_on_elements(tree, on_elements, round);
    for (unsigned n = 0; n < CORES; n++) {
        const struct pug_setting settings[] = {
            {.name = "src_id", .value = n + 1},
            {.name = "ADDR_WIDTH", .value = round->cores[n].module.width}};
        struct pug_source_config core = {
            .protocol = "OSD-CTM", .settings = {.items = settings, .count = 2}, .decode = true};
        assert_int_equal(pug_tree_add_source(tree, &core, &source), PUG_OK);
        pug_source_monitor(source, on_packet, &round->cores[n]);
    }
    const struct pug_setting stm = {.name = "src_id", .value = STM};
    struct pug_source_config software = {
        .protocol = "OSD-STM", .settings = {.items = &stm, .count = 1}, .decode = true};
    assert_int_equal(pug_tree_add_source(tree, &software, &source), PUG_OK);
    size_t used;
    assert_int_equal(pug_tree_data(tree, 0, round->trace.data, round->trace.size, &used),
                     PUG_RESP_CONT);
    assert_int_equal(pug_tree_end(tree), PUG_RESP_CONT);
    assert_int_equal(pug_log_errors(log), 0);
    pug_tree_free(tree);
    pug_log_free(log);
    pug_image_free(image);
}

static void test_round_trip(void **state)
{
    uint64_t exact = 0, events = 0;
    (void)state;
    for (uint64_t seed = 1; seed <= ROUNDS; seed++) {
        struct round round;
        record(&round, seed, true);
        decode(&round);
        for (unsigned n = 0; n < CORES; n++) {
            check_told(&round.cores[n]);
            assert_int_equal(round.cores[n].decoded, round.cores[n].events);
            exact += round.cores[n].exact;
            events += round.cores[n].events;
        }
        assert_int_equal(round.values_decoded, round.value_count);
        round_free(&round);
    }
    print_message("%" PRIu64 " events, %" PRIu64 " with all that ran before them\n", events, exact);
    assert_true(exact > events / 3);
}

static void test_splits_waits_and_damage(void **state)
{
    (void)state;
    for (uint64_t seed = 1001; seed <= 1008; seed++) {
        struct round round;
        record(&round, seed, true);
        const struct pug_setting settings[] = {
            {.name = "src_id", .value = 1},
            {.name = "MAX_PKT_LEN", .value = round.options.longest}};
        struct stream_run run = {.protocol = seed % 4 ? "OSD-CTM" : "OSD-STM",
                                 .transport = "osd",
                                 .settings = {.items = settings, .count = 2},
                                 .image = image_of(&round),
                                 .bytes = round.trace.data,
                                 .size = round.trace.size < 6000 ? round.trace.size : 6000,
                                 .longest = 800};
        stream_check_splits_and_waits(&run, seed);
        stream_check_damage(&run, seed);
        pug_image_free(run.image);
        round_free(&round);
    }
}

/** A run of one module, and the settings that it borrows; its image is to be freed. */
struct module_run {
    struct pug_setting settings[3];
    struct stream_run is;
};

static struct stream_run *run_of(struct module_run *run, struct round *round, uint64_t seed)
{
    *run = (struct module_run){
        .settings = {{.name = "src_id", .value = seed % 4 ? 1 : STM},
                     {.name = "MAX_PKT_LEN", .value = round->options.longest},
                     {.name = "framing", .text = round->options.dump ? "dtd-le" : "dtd"}},
        .is = {.protocol = seed % 4 ? "OSD-CTM" : "OSD-STM",
               .transport = "osd",
               .settings = {.items = run->settings, .count = 3},
               .image = image_of(round),
               .bytes = round->trace.data,
               .size = round->trace.size}};
    return &run->is;
}

/** Events say nearly everything, so decoders that begin in mid-stream soon know as much. */
static void test_states(void **state)
{
    unsigned begun = 0, met = 0, met_damaged = 0;
    size_t slowest = 0;
    (void)state;
    for (uint64_t seed = 2001; seed <= 2008; seed++) {
        struct round round;
        record(&round, seed, false);
        struct module_run module;
        struct stream_run *run = run_of(&module, &round, seed);
        run->size = run->size < 30000 ? run->size : 30000;
        struct state_check check = {.unit = 2, .starts = 8, .seed = seed};
        state_check(run, &check);
        begun += check.starts;
        met += check.met;
        slowest = check.slowest > slowest ? check.slowest : slowest;
        state_check_damaged(run, &check);
        met_damaged += check.met;
        pug_image_free(run->image);
        round_free(&round);
    }
    assert_true(met > begun * 9 / 10 && met_damaged > begun * 3 / 4);
    assert_true(slowest < 10000); /* register packets, of which the width comes, are rare */
}

static void test_marks(void **state)
{
    struct marks_found found = {0};
    uint64_t wraps = 0;
    (void)state;
    for (uint64_t seed = 3001; seed <= 3008; seed++) {
        struct round round;
        record(&round, seed, true);
        struct module_run module;
        struct stream_run *run = run_of(&module, &round, seed);
        marks_check(run, &found);
        wraps += found.last_time >> 32;
        pug_image_free(run->image);
        round_free(&round);
    }
    assert_true(found.counts[PUG_MARK_TIMESTAMP] > 0 && wraps > 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_round_trip),
        cmocka_unit_test(test_splits_waits_and_damage),
        cmocka_unit_test(test_states),
        cmocka_unit_test(test_marks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
