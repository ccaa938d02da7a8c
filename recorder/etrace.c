// SPDX-License-Identifier: MIT
#include "recorder/etrace.h"

#include "recorder/fields.h"

#include <stdlib.h>
#include <string.h>

#define MAP_MAX   31u
#define IRETS_MAX 255u
#define BPRED_MAX 1024u
#define CACHE_MAX 256u
#define STACK_MAX 512u

/** A step: an instruction that retired, or a trap. */
struct step {
    bool is_trap;
    unsigned privilege;
    uint64_t context, time;
    bool precise;
    /* instruction */
    uint64_t pc, next;
    struct pug_insn insn;
    bool notify;
    /* trap */
    bool interrupt;
    uint64_t cause, tval, epc;
};

struct link {
    uint64_t address;
    uint32_t count;
};

/** How the instruction before left the flow. */
struct flow {
    bool uninferable; /* its target has to be reported */
    bool is_return, stack_was_empty, predicted;
    unsigned entries, irets; /* before the return */
};

struct rec_etrace {
    struct rec_etrace_options options;
    rec_payload_fn *put;
    rec_encoded_fn *encoded;
    void *context;
    bool synced;             /* something was, since it was told */
    struct step now, coming; /* the next step's context, time, notify are gathered in `coming` */
    bool has_now;

    bool on, first; /* first: no step yet */
    bool fresh;     /* no synchronisation yet */
    bool after_trap, trap_reported;
    struct step trap;
    struct flow flow;
    struct step before; /* the instruction before, where it was traced */
    bool has_before;
    unsigned privilege;
    uint64_t traced_context;
    bool target_reported; /* the last packet was needed for the target of a jump */

    uint64_t address;
    uint32_t map;
    uint64_t pending;   /* branches */
    bool all_predicted; /* all of them correctly */
    uint32_t since_sync;
    bool sync_next; /* the next instruction is a synchronisation */
    unsigned irets;
    bool returned; /* since the last call and the last branch */

    uint8_t predictor[BPRED_MAX];
    uint64_t targets[CACHE_MAX];
    bool cached[CACHE_MAX];
    struct link stack[STACK_MAX];
    unsigned entries;
};

/* ---- packets ---- */

static void send(struct rec_etrace *e, const struct rec_fields *fields)
{
    uint8_t payload[80];
    e->put(e->context, false, payload, rec_fields_pack(fields, payload));
    e->irets = 0;
}

static void put_context(struct rec_etrace *e, struct rec_fields *f, const struct step *step)
{
    const struct rec_etrace_options *o = &e->options;
    unsigned privilege = o->privilege_width == 1 ? step->privilege > 0 : step->privilege;
    rec_field(f, privilege, o->privilege_width);
    rec_field(f, step->time, o->options.time_width);
    rec_field(f, step->context, o->context_width);
}

static unsigned address_bits(const struct rec_etrace *e)
{
    return e->options.iaddress_width - e->options.iaddress_lsb;
}

static void put_address(struct rec_etrace *e, struct rec_fields *f, uint64_t address)
{
    rec_field(f, address >> e->options.iaddress_lsb, address_bits(e));
    e->address = address;
}

static void put_difference(struct rec_etrace *e, struct rec_fields *f, uint64_t address)
{
    uint64_t difference = (address - e->address) >> e->options.iaddress_lsb;
    if (e->options.options.full_address)
        put_address(e, f, address);
    else
        rec_field(f, difference, address_bits(e));
    e->address = address;
}

static bool is_taken(const struct step *step)
{
    return step->next != step->pc + step->insn.size;
}

static void send_support(struct rec_etrace *e, enum pug_etrace_qual qual)
{
    const struct pug_etrace_options *o = &e->options.options;
    struct rec_fields f = {.count = 0};
    bool standard = e->options.support == REC_ETRACE_SUPPORT_STD;
    rec_field(&f, 15, 4);
    rec_field(&f, qual == PUG_ETRACE_NO_CHANGE, 1);
    rec_field(&f, 0, standard ? 2 : 1);
    rec_field(&f, qual, 2);
    if (standard) {
        rec_field(&f, o->sijump, 1);
        rec_field(&f, o->implicit_return, 1);
        rec_field(&f, o->branch_prediction, 1);
        rec_field(&f, o->jump_target_cache, 1);
        rec_field(&f, o->implicit_exception, 1);
        rec_field(&f, o->full_address, 1);
        rec_field(&f, o->resync_disabled, 1);
        rec_field(&f, o->irets, 1);
        rec_field(&f, o->time_width / 16u, 3);
        rec_field(&f, o->f0s_width, 2);
        rec_field(&f, o->return_stack_size, 3);
        rec_field(&f, o->call_counter_size, 4);
        rec_field(&f, o->bpred_size, 3);
        rec_field(&f, o->cache_size, 3);
        rec_field(&f, 0, 2);
        rec_field(&f, o->data_mma_cas, 1);
    } else {
        rec_field(&f, o->implicit_return, 1);
        rec_field(&f, o->implicit_exception, 1);
        rec_field(&f, o->full_address, 1);
        rec_field(&f, o->jump_target_cache, 1);
        rec_field(&f, o->branch_prediction, 1);
        if (e->options.support == REC_ETRACE_SUPPORT_REF_SIJUMP)
            rec_field(&f, o->sijump, 1);
        rec_field(&f, 0, 2);
    }
    rec_field(&f, o->data_no_address, 1);
    rec_field(&f, o->data_no_value, 1);
    rec_field(&f, o->data_full_address, 1);
    rec_field(&f, o->data_full_value, 1);
    send(e, &f);
}

/* ---- what the decoder knows too ---- */

static void forget(struct rec_etrace *e)
{
    if (e->options.options.resync_disabled && !e->fresh)
        return;
    memset(e->predictor, 1, sizeof(e->predictor));
    memset(e->cached, 0, sizeof(e->cached));
    e->entries = 0;
}

/** Execute a branch in the predictor. True: as predicted. */
static bool predict(struct rec_etrace *e, uint64_t pc, bool taken)
{
    unsigned mask = (1u << e->options.options.bpred_size) - 1;
    uint8_t *entry = &e->predictor[pc >> e->options.iaddress_lsb & mask];
    unsigned prediction = *entry >> 1, last = *entry & 1;
    bool correct = prediction == taken;
    *entry = (uint8_t)((prediction != last ? taken : prediction) << 1 | taken);
    return correct;
}

static unsigned cache_index(const struct rec_etrace *e, uint64_t address)
{
    return (unsigned)(address >> e->options.iaddress_lsb) &
           ((1u << e->options.options.cache_size) - 1);
}

static void learn(struct rec_etrace *e, uint64_t target)
{
    unsigned index = cache_index(e, target);
    e->targets[index] = target;
    e->cached[index] = true;
}

static unsigned stack_limit(const struct rec_etrace *e)
{
    const struct pug_etrace_options *o = &e->options.options;
    unsigned size = o->return_stack_size > 0 ? o->return_stack_size : o->call_counter_size;
    return size > 0 ? 1u << size : 0;
}

static void push(struct rec_etrace *e, uint64_t address)
{
    const struct pug_etrace_options *o = &e->options.options;
    bool counted = o->return_stack_size > 0 && o->call_counter_size > 0 && o->irets;
    uint32_t limit = stack_limit(e), most = (1u << o->call_counter_size) - 1;
    if (limit == 0)
        return;
    struct link *top = e->entries > 0 ? &e->stack[e->entries - 1] : NULL;
    if (counted && top && top->address == address && top->count < most) {
        top->count++;
        return;
    }
    if (e->entries == limit) {
        memmove(e->stack, e->stack + 1, (limit - 1) * sizeof(e->stack[0]));
        e->entries--;
    }
    e->stack[e->entries++] = (struct link){.address = address};
}

static void pop(struct rec_etrace *e)
{
    struct link *top = &e->stack[e->entries - 1];
    if (top->count > 0)
        top->count--;
    else
        e->entries--;
}

/* ---- reports ---- */

/** The field that tells which return a report is behind. */
static void put_implicit_return(struct rec_etrace *e, struct rec_fields *f)
{
    const struct pug_etrace_options *o = &e->options.options;
    const struct flow *flow = &e->flow;
    unsigned stack = o->return_stack_size;
    unsigned width = o->irets ? 8 : stack + (stack > 0) + o->call_counter_size;
    bool flag;
    unsigned value;
    if (flow->is_return && !flow->stack_was_empty) {
        flag = true;
        value = o->irets ? flow->irets : flow->entries;
    } else if (flow->is_return) {
        value = e->irets;
        flag = o->irets && value > 0;
    } else if (flow->uninferable) {
        flag = false;
        value = 0;
    } else {
        value = o->irets ? e->irets : e->entries;
        flag = o->irets ? value > 0 : e->returned;
    }
    flag = flag && o->implicit_return;
    rec_field_flag(f, flag);
    bool fill = f->bits[f->count - 1];
    rec_field(f, flag ? value : fill ? UINT64_MAX : 0, width);
}

static unsigned map_width(unsigned branches)
{
    return branches > 15 ? 31 : branches > 7 ? 15 : branches > 3 ? 7 : branches > 1 ? 3 : 1;
}

static void put_map(struct rec_etrace *e, struct rec_fields *f)
{
    unsigned branches = (unsigned)e->pending, width = map_width(branches);
    uint32_t map = e->map;
    if (map >> (branches - 1) & 1) /* unused bits as the last one: they compress */
        map |= UINT32_MAX << branches;
    rec_field(f, branches, 5);
    rec_field(f, map, width);
}

static void clear_branches(struct rec_etrace *e)
{
    e->map = 0;
    e->pending = 0;
    e->all_predicted = true;
}

/** Rather the jump cache's index than the address? Only where a jump that is told takes it there.
 */
static bool may_use_cache(const struct rec_etrace *e, uint64_t pc, bool updiscon)
{
    unsigned index = cache_index(e, pc);
    return e->options.options.jump_target_cache && e->flow.uninferable && !updiscon &&
           e->cached[index] && e->targets[index] == pc;
}

static void send_cached(struct rec_etrace *e, uint64_t pc)
{
    struct rec_fields f = {.count = 0};
    rec_field(&f, 0, 2);
    rec_field(&f, 1, e->options.options.f0s_width);
    rec_field(&f, cache_index(e, pc), e->options.options.cache_size);
    if (e->pending > 0)
        put_map(e, &f);
    else
        rec_field(&f, 0, 5);
    put_implicit_return(e, &f);
    e->address = pc;
    send(e, &f);
}

/** Formats 0, 1 and 2 with an address. `failed`: the branch there was predicted wrongly. */
static void report(struct rec_etrace *e, const struct step *step, bool updiscon, bool failed)
{
    const struct pug_etrace_options *o = &e->options.options;
    struct rec_fields f = {.count = 0};
    bool counted = o->branch_prediction && e->pending >= MAP_MAX && e->all_predicted;
    bool notify = step->notify && !e->flow.uninferable;
    bool cached = !counted && may_use_cache(e, step->pc, updiscon);
    if (cached) {
        send_cached(e, step->pc);
    } else {
        if (counted) {
            rec_field(&f, 0, 2);
            rec_field(&f, 0, o->f0s_width);
            rec_field(&f, e->pending - MAP_MAX, 32);
            rec_field(&f, failed ? 3 : 2, 2);
        } else if (e->pending > 0) {
            rec_field(&f, 1, 2);
            put_map(e, &f);
        } else {
            rec_field(&f, 2, 2);
        }
        put_difference(e, &f, step->pc);
        rec_field_flag(&f, notify);
        rec_field_flag(&f, updiscon);
        put_implicit_return(e, &f);
        send(e, &f);
    }
    clear_branches(e);
    e->target_reported = e->flow.uninferable;
}

/** 31 outcomes, or a wrong prediction behind at least 31 right ones. */
static void send_branches(struct rec_etrace *e, bool failed)
{
    struct rec_fields f = {.count = 0};
    if (failed) {
        rec_field(&f, 0, 2);
        rec_field(&f, 0, e->options.options.f0s_width);
        rec_field(&f, e->pending - MAP_MAX, 32);
        rec_field(&f, 0, 2);
    } else {
        rec_field(&f, 1, 2);
        rec_field(&f, 0, 5);
        rec_field(&f, e->map, 31);
    }
    send(e, &f);
    clear_branches(e);
    e->target_reported = false;
}

static void begin_anew(struct rec_etrace *e, const struct step *step)
{
    forget(e);
    if (step->insn.conditional && e->options.options.branch_prediction)
        predict(e, step->pc, is_taken(step));
    clear_branches(e);
    e->synced = true;
    e->first = e->fresh = e->after_trap = e->trap_reported = e->sync_next = false;
    e->since_sync = 0;
    e->returned = false;
    e->privilege = step->privilege;
    e->traced_context = step->context;
    e->target_reported = false;
}

static void send_sync(struct rec_etrace *e, const struct step *step)
{
    struct rec_fields f = {.count = 0};
    rec_field(&f, 3, 4);
    rec_field(&f, !(step->insn.conditional && is_taken(step)), 1);
    put_context(e, &f, step);
    put_address(e, &f, step->pc);
    send(e, &f);
    begin_anew(e, step);
}

/** `handler`: the first instruction that retired there; NULL: none did, `address` tells more. */
static void send_trap(struct rec_etrace *e, const struct step *trap, const struct step *handler,
                      uint64_t address)
{
    struct rec_fields f = {.count = 0};
    const struct step *context = handler ? handler : trap;
    rec_field(&f, 7, 4);
    rec_field(&f, !(handler && handler->insn.conditional && is_taken(handler)), 1);
    put_context(e, &f, context);
    rec_field(&f, trap->cause, e->options.ecause_width);
    rec_field(&f, trap->interrupt, 1);
    rec_field(&f, handler != NULL, 1);
    if (handler && e->options.options.implicit_exception)
        e->address = handler->pc; /* which is known */
    else
        put_address(e, &f, address);
    if (!trap->interrupt)
        rec_field(&f, trap->tval, e->options.iaddress_width);
    send(e, &f);
    e->synced = true;
    clear_branches(e);
    if (handler)
        begin_anew(e, handler);
}

/** It does not move the flow: returns are counted on. */
static void send_context(struct rec_etrace *e, const struct step *step)
{
    struct rec_fields f = {.count = 0};
    unsigned irets = e->irets;
    rec_field(&f, 11, 4);
    put_context(e, &f, step);
    send(e, &f);
    e->irets = irets;
    e->traced_context = step->context;
}

/* ---- one step ---- */

/** A change that is told by a synchronisation of the instruction it begins with. */
static bool is_change(const struct rec_etrace *e, const struct step *step)
{
    return step->privilege != e->privilege ||
           (e->options.context_width > 0 && step->precise && step->context != e->traced_context);
}

/** How the flow goes on behind the instruction. */
static struct flow foresee(const struct rec_etrace *e, const struct step *step)
{
    const struct pug_etrace_options *o = &e->options.options;
    const struct pug_insn *insn = &step->insn, *constant = &e->before.insn;
    struct flow flow = {.entries = e->entries, .irets = e->irets};
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

/** The flow went on behind the instruction before: what both sides remember of it. */
static void remember(struct rec_etrace *e)
{
    const struct pug_etrace_options *o = &e->options.options;
    const struct step *before = &e->before;
    if (!e->has_before)
        return;
    if (e->flow.is_return && !e->flow.stack_was_empty) {
        if (e->flow.predicted || o->irets)
            pop(e);
        if (!e->flow.uninferable)
            e->irets++;
        e->returned = true;
    }
    if (before->insn.kind == PUG_RV_CALL && o->implicit_return) {
        push(e, before->pc + before->insn.size);
        e->returned = false;
    }
    if (before->insn.conditional)
        e->returned = false;
}

/** Put the branch to the pending ones. Returns whether it was predicted as it went. */
static bool count_branch(struct rec_etrace *e, const struct step *step)
{
    bool taken = is_taken(step);
    bool correct = e->options.options.branch_prediction && predict(e, step->pc, taken);
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
 * this call leads back to the depth that a return was at before. Not behind a return that goes
 * elsewhere than predicted: a synchronisation cannot tell.
 */
static bool is_due(const struct rec_etrace *e, const struct step *step)
{
    const struct pug_etrace_options *o = &e->options.options;
    struct flow after = foresee(e, step);
    bool periodic = e->options.resync > 0 && e->since_sync >= e->options.resync;
    bool ambiguous =
        o->implicit_return && !o->irets && e->returned && step->insn.kind == PUG_RV_CALL;
    return (periodic || ambiguous) && !(after.is_return && after.uninferable);
}

static void retire(struct rec_etrace *e, const struct step *step, const struct step *next)
{
    remember(e);
    if (e->after_trap && !e->trap_reported) {
        send_trap(e, &e->trap, step, step->pc);
    } else if (e->first || e->after_trap || is_change(e, step) || e->sync_next) {
        if (e->flow.uninferable && !e->flow.predicted && e->has_before)
            learn(e, step->pc);
        send_sync(e, step);
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
            report(e, step, told && format_3_next, !right);
        else if (!right || (e->pending == MAP_MAX &&
                            !(e->options.options.branch_prediction && e->all_predicted)))
            send_branches(e, !right);
        if (learns)
            learn(e, step->pc);
        e->sync_next = due;
    }
    if (e->options.context_width > 0 && !step->precise && step->context != e->traced_context)
        send_context(e, step);
    e->flow = foresee(e, step);
    e->before = *step;
    e->has_before = true;
}

static void trap(struct rec_etrace *e, const struct step *step)
{
    bool behind_jump = !e->after_trap && e->has_before && e->flow.uninferable;
    if (e->after_trap && !e->trap_reported)
        send_trap(e, &e->trap, NULL, step->epc);
    e->trap_reported = false;
    if (e->first || (behind_jump && (!step->interrupt || e->options.interrupt_epc))) {
        send_trap(e, step, NULL, step->epc);
        e->trap_reported = true;
    }
    e->trap = *step;
    e->after_trap = true;
    e->target_reported = false;
    e->has_before = false;
    e->flow = (struct flow){0};
    e->first = false;
}

/** The step that waited can be encoded now; NULL: no other comes. */
static void encode(struct rec_etrace *e, const struct step *next)
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
    send_support(e, PUG_ETRACE_NO_CHANGE);
    e->on = e->first = e->fresh = true;
    e->has_now = e->after_trap = e->trap_reported = e->has_before = e->sync_next = false;
    e->flow = (struct flow){0};
    clear_branches(e);
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
    struct step step = e->coming;
    step.pc = pc;
    step.insn = *insn;
    step.next = next;
    e->coming.notify = false;
    encode(e, &step);
}

void rec_etrace_trap(struct rec_etrace *e, bool interrupt, uint64_t cause, uint64_t tval,
                     uint64_t epc)
{
    struct step step = e->coming;
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
    clear_branches(e);
    send_support(e, PUG_ETRACE_TRACE_LOST);
}

void rec_etrace_stop(struct rec_etrace *e)
{
    if (!e->on)
        return;
    encode(e, NULL);
    send_support(e, e->target_reported ? PUG_ETRACE_ENDED_NTR : PUG_ETRACE_ENDED_REP);
    e->on = false;
}
