// SPDX-License-Identifier: MIT
/** @file What the flow chart decides, step by step. */
#include "recorder/etrace_state.h"

#include <stdlib.h>

#define IRETS_MAX 255u

/* ---- one step ---- */

/** Is it a change that a synchronisation of its first instruction reports? */
static bool is_change(const struct rec_etrace *e, const struct rec_etrace_step *step)
{
    return step->privilege != e->privilege ||
           (e->options.context_width > 0 && step->precise && step->context != e->traced_context);
}

/** Returns how the flow continues after the instruction. */
static struct rec_etrace_flow foresee(const struct rec_etrace *e,
                                      const struct rec_etrace_step *step)
{
    const struct pug_etrace_options *o = &e->options.options;
    const struct pug_insn *insn = &step->insn, *constant = &e->before.insn;
    struct rec_etrace_flow flow = {.entries = e->entries, .irets = e->irets};
    bool sequential = insn->type == PUG_INSTR_BR_INDIRECT && insn->kind != PUG_RV_XRET &&
                      o->sijump && e->has_before && constant->kind == PUG_RV_CONSTANT &&
                      constant->rd == insn->rs1 && e->before.pc + constant->size == step->pc;
    if (insn->kind == PUG_RV_XRET || insn->kind == PUG_RV_TRAP) {
        flow.uninferable = true;
    } else if (insn->type == PUG_INSTR_BR_INDIRECT && !sequential) {
        flow.uninferable = true;
        flow.is_return = insn->kind == PUG_RV_RETURN && o->implicit_return;
        flow.stack_was_empty = e->entries == 0;
    }
    if (flow.is_return && !flow.stack_was_empty) {
        bool too_many = o->irets && e->irets == IRETS_MAX;
        flow.predicted = e->stack[e->entries - 1].address == step->next;
        flow.uninferable = !flow.predicted || too_many;
    }
    return flow;
}

/** The flow continued after the instruction before: keep what both sides remember of it. */
static void remember(struct rec_etrace *e)
{
    const struct pug_etrace_options *o = &e->options.options;
    const struct rec_etrace_step *before = &e->before;
    if (!e->has_before)
        return;
    if (e->flow.is_return && !e->flow.stack_was_empty) {
        if (e->flow.predicted || o->irets)
            rec_etrace_pop(e);
        if (!e->flow.uninferable)
            e->irets++;
        e->returned = true;
    }
    if (before->insn.kind == PUG_RV_CALL && o->implicit_return) {
        rec_etrace_push(e, before->pc + before->insn.size);
        e->returned = false;
    }
    if (before->insn.conditional)
        e->returned = false;
}

/** Put the branch to the pending ones. Returns whether it was predicted as it went. */
static bool count_branch(struct rec_etrace *e, const struct rec_etrace_step *step)
{
    bool taken = rec_etrace_is_taken(step);
    bool correct = e->options.options.branch_prediction && rec_etrace_predict(e, step->pc, taken);
    e->irets = 0;
    if (e->pending >= MAP_MAX) {
        if (correct)
            e->pending++;
        return correct;
    }
    e->map |= (uint32_t)!taken << e->pending;
    e->pending++;
    e->all_predicted = e->all_predicted && correct;
    return true;
}

/**
 * `step` is reported, the next one synchronises: periodically, and where irdepth would not do, as
 * this call leads back to the depth that a return was at before. Not after a return to another
 * place than predicted: a synchronisation cannot say so.
 */
static bool is_due(const struct rec_etrace *e, const struct rec_etrace_step *step)
{
    const struct pug_etrace_options *o = &e->options.options;
    struct rec_etrace_flow after = foresee(e, step);
    bool periodic = e->options.resync > 0 && e->since_sync >= e->options.resync;
    bool ambiguous =
        o->implicit_return && !o->irets && e->returned && step->insn.kind == PUG_RV_CALL;
    return (periodic || ambiguous) && !(after.is_return && after.uninferable);
}

/**
 * Where handlers' addresses are left out: it is none of those that the decoder knows. The trap is
 * then sent without its handler, which a synchronisation gives.
 */
static bool handler_is_elsewhere(const struct rec_etrace *e, const struct rec_etrace_step *step)
{
    const struct rec_etrace_options *o = &e->options;
    uint64_t behind = o->vectored && e->trap.interrupt ? 4 * e->trap.cause : 0;
    return o->options.implicit_exception && step->pc != o->vector + behind;
}

static void retire(struct rec_etrace *e, const struct rec_etrace_step *step,
                   const struct rec_etrace_step *next)
{
    remember(e);
    if (e->after_trap && !e->trap_reported && handler_is_elsewhere(e, step)) {
        rec_etrace_send_trap(e, &e->trap, NULL, e->trap.epc);
        rec_etrace_send_sync(e, step);
    } else if (e->after_trap && !e->trap_reported) {
        rec_etrace_send_trap(e, &e->trap, step, step->pc);
    } else if (e->first || e->after_trap || is_change(e, step) || e->sync_next) {
        if (e->flow.uninferable && !e->flow.predicted && e->has_before)
            rec_etrace_learn(e, step->pc);
        rec_etrace_send_sync(e, step);
    } else {
        bool right = !step->insn.conditional || count_branch(e, step);
        bool due = is_due(e, step);
        bool ends = !next || next->is_trap || is_change(e, next);
        bool format_3_next = next && (next->is_trap || is_change(e, next) || due);
        bool behind_return = e->flow.is_return && !e->flow.stack_was_empty;
        bool told = e->flow.uninferable || (behind_return && e->options.updiscon_on_returns);
        bool learns = e->flow.uninferable && !e->flow.predicted;
        e->since_sync++;
        if (e->flow.uninferable || due || step->notify || ends)
            rec_etrace_report(e, step, told && format_3_next, !right);
        else if (!right || (e->pending == MAP_MAX &&
                            !(e->options.options.branch_prediction && e->all_predicted)))
            rec_etrace_send_branches(e, !right);
        if (learns)
            rec_etrace_learn(e, step->pc);
        e->sync_next = due;
    }
    if (e->options.context_width > 0 && !step->precise && step->context != e->traced_context)
        rec_etrace_send_context(e, step);
    e->flow = foresee(e, step);
    e->before = *step;
    e->has_before = true;
}

static void trap(struct rec_etrace *e, const struct rec_etrace_step *step)
{
    bool behind_jump = !e->after_trap && e->has_before && e->flow.uninferable;
    if (e->after_trap && !e->trap_reported)
        rec_etrace_send_trap(e, &e->trap, NULL, step->epc);
    e->trap_reported = false;
    if (e->first || (behind_jump && (!step->interrupt || e->options.interrupt_epc))) {
        rec_etrace_send_trap(e, step, NULL, step->epc);
        e->trap_reported = true;
    }
    e->trap = *step;
    e->after_trap = true;
    e->target_reported = false;
    e->has_before = false;
    e->flow = (struct rec_etrace_flow){0};
    e->first = false;
}

/** The step that waited can be encoded now; NULL: no other comes. */
static void encode(struct rec_etrace *e, const struct rec_etrace_step *next)
{
    if (e->has_now && e->now.is_trap)
        trap(e, &e->now);
    else if (e->has_now)
        retire(e, &e->now, next);
    if (e->encoded && e->has_now && !e->now.is_trap) {
        e->encoded(e->context, e->synced, !next);
        e->synced = false;
    }
    e->has_now = next != NULL;
    if (next)
        e->now = *next;
}

/* ---- for the caller ---- */

struct rec_etrace *rec_etrace_new(const struct rec_etrace_options *options, rec_payload_fn *put,
                                  void *context)
{
    struct rec_etrace *e = calloc(1, sizeof(*e));
    if (!e)
        return NULL;
    e->options = *options;
    e->put = put;
    e->context = context;
    e->all_predicted = true;
    return e;
}

void rec_etrace_free(struct rec_etrace *e)
{
    free(e);
}

void rec_etrace_on_encoded(struct rec_etrace *e, rec_encoded_fn *encoded)
{
    e->encoded = encoded;
}

void rec_etrace_start(struct rec_etrace *e)
{
    rec_etrace_send_support(e, PUG_ETRACE_NO_CHANGE);
    e->on = e->first = e->fresh = true;
    e->has_now = e->after_trap = e->trap_reported = e->has_before = e->sync_next = false;
    e->flow = (struct rec_etrace_flow){0};
    rec_etrace_clear_branches(e);
}

void rec_etrace_context(struct rec_etrace *e, unsigned privilege, uint64_t context, bool precise)
{
    e->coming.privilege = privilege;
    e->coming.context = context;
    e->coming.precise = precise;
}

void rec_etrace_time(struct rec_etrace *e, uint64_t time)
{
    e->coming.time = time;
}

void rec_etrace_notify(struct rec_etrace *e)
{
    e->coming.notify = true;
}

void rec_etrace_retire(struct rec_etrace *e, uint64_t pc, const struct pug_insn *insn,
                       uint64_t next)
{
    struct rec_etrace_step step = e->coming;
    step.pc = pc;
    step.insn = *insn;
    step.next = next;
    e->coming.notify = false;
    encode(e, &step);
}

void rec_etrace_trap(struct rec_etrace *e, bool interrupt, uint64_t cause, uint64_t tval,
                     uint64_t epc)
{
    struct rec_etrace_step step = e->coming;
    step.is_trap = true;
    step.interrupt = interrupt;
    step.cause = cause;
    step.tval = tval;
    step.epc = epc;
    encode(e, &step);
}

void rec_etrace_lose(struct rec_etrace *e)
{
    e->has_now = e->on = false;
    rec_etrace_clear_branches(e);
    rec_etrace_send_support(e, PUG_ETRACE_TRACE_LOST);
}

void rec_etrace_stop(struct rec_etrace *e)
{
    if (!e->on)
        return;
    encode(e, NULL);
    rec_etrace_send_support(e, e->target_reported ? PUG_ETRACE_ENDED_NTR : PUG_ETRACE_ENDED_REP);
    e->on = false;
}
