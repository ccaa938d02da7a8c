// SPDX-License-Identifier: MIT
#include "recorder/etrace_state.h"
#include "recorder/fields.h"

/* ---- fields ---- */

static void send(struct rec_etrace *e, const struct rec_fields *fields)
{
    uint8_t payload[80];
    e->put(e->context, false, payload, rec_fields_pack(fields, payload));
    e->irets = 0;
}

static void put_context(struct rec_etrace *e, struct rec_fields *f,
                        const struct rec_etrace_step *step)
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

void rec_etrace_send_support(struct rec_etrace *e, enum pug_etrace_qual qual)
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

/* ---- reports ---- */

/** Put the field that says which return a report follows. */
static void put_implicit_return(struct rec_etrace *e, struct rec_fields *f)
{
    const struct pug_etrace_options *o = &e->options.options;
    const struct rec_etrace_flow *flow = &e->flow;
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

void rec_etrace_clear_branches(struct rec_etrace *e)
{
    e->map = 0;
    e->pending = 0;
    e->all_predicted = true;
}

/**
 * Rather the jump cache's index than the address? Only where a jump that is sent takes it there.
 */
static bool may_use_cache(const struct rec_etrace *e, uint64_t pc, bool updiscon)
{
    unsigned index = rec_etrace_cache_index(e, pc);
    return e->options.options.jump_target_cache && e->flow.uninferable && !updiscon &&
           e->cached[index] && e->targets[index] == pc;
}

static void send_cached(struct rec_etrace *e, uint64_t pc)
{
    struct rec_fields f = {.count = 0};
    rec_field(&f, 0, 2);
    rec_field(&f, 1, e->options.options.f0s_width);
    rec_field(&f, rec_etrace_cache_index(e, pc), e->options.options.cache_size);
    if (e->pending > 0)
        put_map(e, &f);
    else
        rec_field(&f, 0, 5);
    put_implicit_return(e, &f);
    e->address = pc;
    send(e, &f);
}

void rec_etrace_report(struct rec_etrace *e, const struct rec_etrace_step *step, bool updiscon,
                       bool failed)
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
    rec_etrace_clear_branches(e);
    e->target_reported = e->flow.uninferable;
}

void rec_etrace_send_branches(struct rec_etrace *e, bool failed)
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
    rec_etrace_clear_branches(e);
    e->target_reported = false;
}

static void begin_anew(struct rec_etrace *e, const struct rec_etrace_step *step)
{
    rec_etrace_forget(e);
    if (step->insn.conditional && e->options.options.branch_prediction)
        rec_etrace_predict(e, step->pc, rec_etrace_is_taken(step));
    rec_etrace_clear_branches(e);
    e->synced = true;
    e->first = e->fresh = e->after_trap = e->trap_reported = e->sync_next = false;
    e->since_sync = 0;
    e->returned = false;
    e->privilege = step->privilege;
    e->traced_context = step->context;
    e->target_reported = false;
}

void rec_etrace_send_sync(struct rec_etrace *e, const struct rec_etrace_step *step)
{
    struct rec_fields f = {.count = 0};
    rec_field(&f, 3, 4);
    rec_field(&f, !(step->insn.conditional && rec_etrace_is_taken(step)), 1);
    put_context(e, &f, step);
    put_address(e, &f, step->pc);
    send(e, &f);
    begin_anew(e, step);
}

void rec_etrace_send_trap(struct rec_etrace *e, const struct rec_etrace_step *trap,
                          const struct rec_etrace_step *handler, uint64_t address)
{
    struct rec_fields f = {.count = 0};
    const struct rec_etrace_step *context = handler ? handler : trap;
    rec_field(&f, 7, 4);
    rec_field(&f, !(handler && handler->insn.conditional && rec_etrace_is_taken(handler)), 1);
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
    rec_etrace_clear_branches(e);
    if (handler)
        begin_anew(e, handler);
}

void rec_etrace_send_context(struct rec_etrace *e, const struct rec_etrace_step *step)
{
    struct rec_fields f = {.count = 0};
    unsigned irets = e->irets;
    rec_field(&f, 11, 4);
    put_context(e, &f, step);
    send(e, &f);
    e->irets = irets;
    e->traced_context = step->context;
}
