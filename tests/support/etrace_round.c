// SPDX-License-Identifier: MIT
#include "support/etrace_round.h"
#include "pugmark/advanced/image.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
/* cmocka.h wants the three above first */
#include <cmocka.h>

#define ETRACE_ROUND_STEPS 2500
#define SPARE              100 /* steps: traps in a row at the end */

static bool chance(struct etrace_round *round, uint32_t n)
{
    return rec_random_once_in(&round->random, n);
}

static uint32_t below(struct etrace_round *round, uint32_t limit)
{
    return rec_random_below(&round->random, limit);
}

/* ---- choosing ---- */

static void choose_options(struct etrace_round *round)
{
    struct rec_etrace_options *o = &round->options;
    struct pug_etrace_options *p = &o->options;
    o->support = (enum rec_etrace_support)below(round, 3);
    bool standard = o->support == REC_ETRACE_SUPPORT_STD;
    o->xlen = chance(round, 3) ? 32 : 64;
    o->iaddress_width = o->xlen == 64 && chance(round, 4) ? 40 : o->xlen;
    o->iaddress_lsb = chance(round, 3) ? 0 : 1;
    o->privilege_width = 2 + below(round, 2);
    o->ecause_width = 4 + below(round, 3);
    o->context_width = chance(round, 2) ? 0 : 8 * (1 + below(round, 4));
    p->time_width = chance(round, 2) ? 0 : (uint8_t)(16 * (1 + below(round, 4)));
    p->full_address = chance(round, 3);
    p->implicit_exception = chance(round, 3);
    p->sijump = chance(round, 2);
    p->irets = chance(round, 2);
    p->resync_disabled = standard && chance(round, 4);
    if (chance(round, 2))
        p->bpred_size = (uint8_t)(1 + below(round, standard ? 7 : 10));
    if (chance(round, 2))
        p->cache_size = (uint8_t)(1 + below(round, standard ? 7 : 8));
    if (chance(round, 2))
        p->return_stack_size = (uint8_t)(1 + below(round, 7));
    if (chance(round, 3) && (p->irets || p->return_stack_size == 0))
        p->call_counter_size = (uint8_t)(p->irets ? 1 + below(round, 9) : 9);
    p->branch_prediction = p->bpred_size > 0;
    p->jump_target_cache = p->cache_size > 0;
    p->implicit_return = p->return_stack_size > 0 || p->call_counter_size > 0;
    p->f0s_width = (p->branch_prediction && p->jump_target_cache) || chance(round, 3);
    o->resync = chance(round, 3) ? 0 : 2 + below(round, 200);
    if (!p->irets && p->call_counter_size > 0) { /* irdepth cannot tell that the stack is full */
        o->resync = 100;
        p->resync_disabled = false;
    }
    o->interrupt_epc = chance(round, 2);
    o->updiscon_on_returns = chance(round, 3);
}

static void choose_program(struct etrace_round *round)
{
    static const uint64_t bases[] = {0x1000, 0x40000000, 0x80000000, 0x0000003ffffff000,
                                     0xffffffc000200000};
    struct rec_riscv_options options = {
        .xlen = round->options.xlen,
        .length = 40 + below(round, 300),
        .zcm = chance(round, 3),
        .long_insns = chance(round, 4),
    };
    unsigned choices = options.xlen == 32 ? 3 : round->options.iaddress_width == 64 ? 5 : 4;
    options.base = bases[below(round, choices)];
    assert_true(rec_riscv_program_make(&round->program, &options, &round->random));
    do { /* a handler that begins with a trap would never end */
        rec_riscv_run_start(&round->run, &round->program, &round->random);
        round->vector = round->run.pc;
    } while (rec_riscv_step(&round->run).what != REC_RISCV_RETIRED);
    round->options.vector = round->vector;
    round->visited = calloc(round->program.code.size / 2 + 1, sizeof(*round->visited));
}

static void choose_wrapping(struct etrace_round *round)
{
    static const uint8_t widths[] = {0, 0, 1, 4, 6, 8, 12, 16};
    struct rec_encapsulation *wrap = &round->wrap;
    wrap->src_bits = widths[below(round, sizeof(widths))];
    wrap->type_bits = below(round, 4);
    wrap->flow = below(round, 4);
    wrap->timestamp_bytes = below(round, 9);
    wrap->padding = wrap->src_bits % 8 == 0 && chance(round, 4)
                        ? (enum rec_padding)(1 + below(round, 2))
                        : REC_PAD_SIGN;
    wrap->block = chance(round, 5) ? 256 : 0;
    wrap->out = &round->trace;
    round->source = (uint16_t)below(round, 1u << wrap->src_bits);
    round->type = below(round, 1u << wrap->type_bits);
    round->stamps = wrap->timestamp_bytes > 0 && chance(round, 2);
}

static void set(struct etrace_round *round, const char *name, uint64_t value, const char *text)
{
    round->settings[round->setting_count++] =
        (struct pug_setting){.name = name, .value = value, .text = text};
}

static void describe(struct etrace_round *round)
{
    static const char *const supports[] = {"ref", "ref+sijump", "std"};
    const struct rec_etrace_options *o = &round->options;
    const struct pug_etrace_options *p = &o->options;
    set(round, "xlen", o->xlen, NULL);
    set(round, "iaddress_width_p", o->iaddress_width, NULL);
    set(round, "iaddress_lsb_p", o->iaddress_lsb, NULL);
    set(round, "privilege_width_p", o->privilege_width, NULL);
    set(round, "ecause_width_p", o->ecause_width, NULL);
    set(round, "nocontext_p", o->context_width == 0, NULL);
    set(round, "context_width_p", o->context_width, NULL);
    set(round, "notime_p", p->time_width == 0, NULL);
    set(round, "time_width_p", p->time_width, NULL);
    set(round, "bpred_size_p", p->bpred_size, NULL);
    set(round, "cache_size_p", p->cache_size, NULL);
    set(round, "return_stack_size_p", p->return_stack_size, NULL);
    set(round, "call_counter_size_p", p->call_counter_size, NULL);
    set(round, "f0s_width_p", p->f0s_width, NULL);
    set(round, "sijump_p", p->sijump, NULL);
    set(round, "support_format", 0, supports[o->support]);
    set(round, "iret_field", 0, p->irets ? "irets" : "irdepth");
    set(round, "implicit_exception_vector", round->vector, NULL);
    set(round, "zcmt", round->program.options.zcm, NULL);
    set(round, "jvt_base", round->program.options.base, NULL);
    set(round, "srcid_bits", round->wrap.src_bits, NULL);
    set(round, "srcid", round->source, NULL);
    set(round, "type_bits", round->wrap.type_bits, NULL);
    set(round, "instruction_type", round->type, NULL);
    set(round, "data_type", round->type + 1, NULL);
    set(round, "timestamp_bytes", round->wrap.timestamp_bytes, NULL);
    set(round, "padding", 0, round->wrap.padding == REC_PAD_SIGN ? "sign" : "dontcare");
    set(round, "block_size", round->wrap.block, NULL);
}

/* ---- executing ---- */

static void put(void *context, bool data, const uint8_t *payload, unsigned size)
{
    struct etrace_round *round = context;
    (void)data;
    round->wrapping_time += below(round, 3);
    if (chance(round, 40))
        rec_encapsulation_nulls(&round->wrap, 1 + below(round, 5));
    rec_encapsulate(&round->wrap, round->source, round->type,
                    round->stamps ? &round->wrapping_time : NULL, payload, size);
    round->reported = round->count;
}

static struct etrace_step *new_step(struct etrace_round *round)
{
    struct etrace_step *step = &round->steps[round->count++];
    *step = (struct etrace_step){
        .context = round->context, .time = round->time, .privilege = round->privilege};
    return step;
}

static unsigned any_privilege(struct etrace_round *round)
{
    static const uint8_t some[] = {0, 1, 3, 4, 5, 6};
    return some[below(round, round->options.privilege_width == 3 ? 6 : 3)];
}

static uint64_t any_context(struct etrace_round *round)
{
    unsigned width = round->options.context_width;
    return width ? rec_random(&round->random) >> (64 - width) : 0;
}

static bool is_traced_constant(const struct etrace_round *round, const struct pug_insn *insn)
{
    const struct pug_insn *previous = &round->run.previous;
    return round->options.options.sijump && previous->kind == PUG_RV_CONSTANT &&
           previous->rd == insn->rs1;
}

/**
 * Inferable jumps may go round for ever, and no packet says how often. True: the instruction would
 * run a second time with nothing to tell the two visits apart.
 */
static bool goes_round(struct etrace_round *round)
{
    uint64_t *visited = &round->visited[(round->run.pc - round->program.options.base) / 2];
    if (*visited == round->mark)
        return true;
    *visited = round->mark;
    return false;
}

/** Does the step tell later visits of an instruction from earlier ones? */
static bool tells(const struct etrace_round *round, const struct rec_riscv_event *event, bool pair)
{
    const struct pug_insn *insn = &event->insn;
    const struct pug_etrace_options *o = &round->options.options;
    uint64_t offset = event->next - round->program.options.base;
    if (event->what == REC_RISCV_RETIRED && insn->kind == PUG_RV_RETURN && o->implicit_return &&
        !pair)
        return o->irets && round->visited[offset / 2] != round->mark;
    return event->what != REC_RISCV_RETIRED || insn->conditional || insn->kind == PUG_RV_XRET ||
           (insn->type == PUG_INSTR_BR_INDIRECT && !pair);
}

static void start(struct etrace_round *round)
{
    rec_riscv_run_start(&round->run, &round->program, &round->random);
    round->run.trap_once_in = round->extras ? 60 : 0;
    round->run.stray_once_in = 8;
    round->mark++;
    rec_etrace_start(round->encoder);
}

/** Trace goes off and on again, or some of it is lost. */
static void interrupt_trace(struct etrace_round *round)
{
    bool after_trap = round->count > 0 && round->steps[round->count - 1].is_trap;
    if (after_trap)
        return; /* a trap alone at the end is not reported */
    rec_etrace_stop(round->encoder);
    start(round);
    round->steps[round->count].begins = true;
}

/** A synchronisation reports a precise change, and it cannot report a return's target. */
static void change_context(struct etrace_round *round)
{
    if (round->precise && round->after_return)
        return;
    uint64_t context = any_context(round);
    if (round->precise && context != round->context)
        round->mark++;
    round->context = context;
}

static void execute_one(struct etrace_round *round)
{
    bool pair;
    struct etrace_step *last = round->count > 0 ? &round->steps[round->count - 1] : NULL;
    round->time += below(round, 20);
    if (round->extras && chance(round, 150))
        interrupt_trace(round);
    if (round->extras && chance(round, 80))
        change_context(round);
    if (goes_round(round)) {
        interrupt_trace(round);
        return;
    }
    uint64_t pc = round->run.pc;
    bool notified = round->notify_once_in && (pc / 2 * 7 + 3) % round->notify_once_in == 0;
    enum rec_riscv_what what;
    struct pug_insn previous = round->run.previous;
    struct rec_riscv_event event = rec_riscv_step(&round->run);
    struct pug_insn after = round->run.previous;
    round->run.previous = previous;
    pair = is_traced_constant(round, &event.insn);
    round->run.previous = after;
    what = event.what;
    bool after_return = round->after_return;
    round->after_return = what == REC_RISCV_RETIRED && event.insn.kind == PUG_RV_RETURN;
    rec_etrace_time(round->encoder, round->time);
    rec_etrace_context(round->encoder, round->privilege, round->context, round->precise);
    if (what == REC_RISCV_RETIRED) {
        if (notified)
            rec_etrace_notify(round->encoder);
        rec_etrace_retire(round->encoder, pc, &event.insn, event.next);
        struct etrace_step *step = new_step(round);
        step->pc = pc;
        step->notified = notified;
        if (event.insn.kind == PUG_RV_XRET)
            round->privilege = any_privilege(round);
    } else {
        bool exception = what == REC_RISCV_EXCEPTION;
        uint64_t cause = below(round, 1u << round->options.ecause_width);
        uint64_t tval = exception ? rec_random(&round->random) >> below(round, 64) : 0;
        if (round->options.iaddress_width < 64)
            tval &= (UINT64_C(1) << round->options.iaddress_width) - 1;
        if (last && last->is_trap)
            last->epc_may_differ = true; /* the trace does not say whose it is, if a jump was before
                                          * them */
        rec_etrace_trap(round->encoder, !exception, cause, tval, pc);
        struct etrace_step *step = new_step(round);
        step->is_trap = true;
        step->number = (uint32_t)cause | (exception ? 0 : 0x80000000u);
        step->tval = tval;
        step->epc = pc;
        /* an interrupt comes before the report that a return did not go as predicted */
        step->epc_may_differ = !exception && after_return && !round->options.interrupt_epc;
        round->privilege = any_privilege(round);
        if (round->options.options.implicit_exception && !chance(round, 6))
            round->run.pc = round->vector;
    }
    if (tells(round, &event, pair))
        round->mark++;
}

void etrace_round_record(struct etrace_round *round, uint64_t seed)
{
    *round = (struct etrace_round){.random = {seed}};
    round->steps = calloc(ETRACE_ROUND_STEPS + SPARE, sizeof(*round->steps));
    round->extras = chance(round, 2);
    round->precise = chance(round, 2);
    round->notify_once_in = chance(round, 3) ? 2 + below(round, 40) : 0;
    round->mark = 1;
    choose_options(round);
    choose_program(round);
    choose_wrapping(round);
    describe(round);
    round->privilege = any_privilege(round);
    round->context = any_context(round);
    round->encoder = rec_etrace_new(&round->options, put, round);
    assert_non_null(round->encoder);
    start(round);
    while (round->count < ETRACE_ROUND_STEPS || round->steps[round->count - 1].is_trap)
        execute_one(round);
    rec_etrace_stop(round->encoder);
    assert_false(round->trace.failed);
}

void etrace_round_free(struct etrace_round *round)
{
    rec_etrace_free(round->encoder);
    rec_riscv_program_free(&round->program);
    rec_bytes_free(&round->trace);
    free(round->steps);
    free(round->visited);
}

struct pug_image *etrace_round_image(const struct etrace_round *round)
{
    struct pug_image *image = pug_image_new();
    struct pug_place place = {.space = PUG_SPACE_ANY};
    assert_int_equal(pug_image_add_buffer(image, &place, round->program.options.base,
                                          round->program.code.data, round->program.code.size),
                     PUG_OK);
    return image;
}
