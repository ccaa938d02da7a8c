// SPDX-License-Identifier: MIT
/**
 * @file The E-Trace decoder: what each packet does. A packet's work is a sequence of phases, each
 * of which pushes a few elements or walks the program; between any two steps the consumer may wait.
 */
#include "protocol/etrace/packet_memo.h"

#include <inttypes.h>
#include <stdlib.h>

/* ---- flow packets ---- */

static void append_outcomes(struct pug_etrace_decoder *d)
{
    const struct pug_etrace_packet *p = d->packet;
    struct pug_etrace_outcomes *outcomes = &d->outcomes;
    if (p->type == PUG_ETRACE_COUNT) {
        outcomes->predicted = p->branch_count;
        outcomes->mispredicted = p->branch_fmt == 0 || p->branch_fmt == 3;
        return;
    }
    outcomes->map |= (uint64_t)p->branch_map << outcomes->mapped;
    outcomes->mapped += p->branches;
}

static bool is_program(struct pug_etrace_decoder *d, uint64_t address)
{
    struct pug_insn insn;
    uint8_t it = 0;
    return pug_codemap_insn(d->code, address, d->isa, &it, &insn) == PUG_OK;
}

/**
 * A stream that was begun in the middle may not have said whether its addresses are differences.
 * The first one that can be only one of the two decides.
 */
static uint64_t address_of(struct pug_etrace_decoder *d, const struct pug_etrace_packet *p)
{
    uint64_t full = pug_etrace_canonical(d, p->address);
    uint64_t sum = pug_etrace_canonical(d, d->address + p->address);
    if (!p->difference)
        return full;
    if (d->addresses != PUG_ETRACE_ADDRESSES_AS_SAID) {
        bool can_sum = is_program(d, sum), can_full = is_program(d, full);
        if (can_sum != can_full)
            d->addresses = can_full ? PUG_ETRACE_ADDRESSES_SEEM_FULL : PUG_ETRACE_ADDRESSES_UNSAID;
        if (d->addresses == PUG_ETRACE_ADDRESSES_UNSAID &&
            ((can_sum && !can_full) || ++d->unsaid == PUG_ETRACE_UNSAID_MOST))
            d->addresses = PUG_ETRACE_ADDRESSES_AS_SAID;
    }
    return d->addresses == PUG_ETRACE_ADDRESSES_SEEM_FULL ? full : sum;
}

/** Address that the packet reports, and from then on the base of differences. */
static uint64_t reported_address(struct pug_etrace_decoder *d)
{
    const struct pug_etrace_packet *p = d->packet;
    if (p->type == PUG_ETRACE_JUMP_CACHE)
        d->address = pug_etrace_cached_target(d, p->cache_index);
    else if (p->has_address)
        d->address = address_of(d, p);
    return d->address;
}

static enum pug_etrace_phase begin_flow(struct pug_etrace_decoder *d)
{
    if (!d->synced)
        return PUG_ETRACE_PHASE_TIME;
    return d->tentative ? PUG_ETRACE_PHASE_REPLAY : PUG_ETRACE_PHASE_FLOW;
}

/** The first of two visits was not the one: go round once more. */
static enum pug_etrace_phase replay(struct pug_etrace_decoder *d)
{
    enum pug_etrace_phase next =
        d->packet->type == PUG_ETRACE_SUPPORT ? PUG_ETRACE_PHASE_OPTIONS : PUG_ETRACE_PHASE_FLOW;
    if (d->tentative) {
        d->walk.goal = d->tentative_goal;
        d->walk.goal.target = d->pc;
        d->tentative = false;
        pug_etrace_walk_begin(d, PUG_ETRACE_WALK_REPLAY);
    }
    switch (pug_etrace_walk_on(d)) {
    case PUG_ETRACE_WALK_SUSPENDED: return PUG_ETRACE_PHASE_REPLAY;
    case PUG_ETRACE_WALK_DONE: d->irets = 0; return next;
    default: return next == PUG_ETRACE_PHASE_OPTIONS ? next : PUG_ETRACE_PHASE_TIME;
    }
}

static enum pug_etrace_phase flow(struct pug_etrace_decoder *d)
{
    const struct pug_etrace_packet *p = d->packet;
    bool cached = p->type == PUG_ETRACE_JUMP_CACHE;
    struct pug_etrace_goal *goal = &d->walk.goal;
    if (d->after_trap) {
        pug_etrace_fail(d, PUG_ERR_TRACE_MISMATCH, "a trap, but then no handler");
        return PUG_ETRACE_PHASE_TIME;
    }
    d->irets = 0;
    append_outcomes(d);
    goal->has_target = p->has_address || cached;
    goal->target = reported_address(d);
    goal->only_discontinuity = p->updiscon || cached;
    goal->notify = p->notify;
    goal->irreport = p->irreport && p->has_ir;
    goal->irets = p->irets;
    goal->ir_value = p->ir_value;
    pug_etrace_walk_begin(d, PUG_ETRACE_WALK_FLOW);
    return PUG_ETRACE_PHASE_FLOW_WALK;
}

static enum pug_etrace_phase flow_walk(struct pug_etrace_decoder *d)
{
    switch (pug_etrace_walk_on(d)) {
    case PUG_ETRACE_WALK_SUSPENDED: return PUG_ETRACE_PHASE_FLOW_WALK;
    case PUG_ETRACE_WALK_DONE: return PUG_ETRACE_PHASE_NOTIFY;
    default: return PUG_ETRACE_PHASE_TIME;
    }
}

static enum pug_etrace_phase notify(struct pug_etrace_decoder *d)
{
    if (d->packet->notify) {
        struct pug_element *e = pug_out_push(d->out, PUG_ELEM_EVENT, d->index);
        e->reason = PUG_EVENT_NUMBERED;
        e->number = PUG_ETRACE_NOTIFY_EVENT;
        pug_etrace_tally(d);
    }
    return PUG_ETRACE_PHASE_TIME;
}

/* ---- synchronisation ---- */

void pug_etrace_push_trace_on(struct pug_etrace_decoder *d)
{
    struct pug_element *e = pug_out_push(d->out, PUG_ELEM_TRACE_ON, d->index);
    if (d->lost)
        e->reason = PUG_TRACE_ON_OVERFLOW;
    else if (d->privilege_known && d->privilege == PUG_ETRACE_PRIVILEGE_D)
        e->reason = PUG_TRACE_ON_EX_DEBUG;
    else
        e->reason = PUG_TRACE_ON_NORMAL;
    d->lost = false;
}

static enum pug_etrace_phase report(struct pug_etrace_decoder *d)
{
    const struct pug_etrace_packet *p = d->packet;
    bool fresh = d->fresh || !d->synced;
    if (fresh)
        pug_etrace_count_close(d);
    if (fresh && p->type == PUG_ETRACE_SYNC)
        pug_etrace_push_trace_on(d);
    pug_etrace_push_time(d);
    pug_etrace_push_context(d, fresh);
    d->fresh = false;
    d->synced = true;
    d->after_trap = false;
    d->privilege = p->privilege;
    d->privilege_known = true;
    if (fresh || !d->options.resync_disabled)
        pug_etrace_forget(d);
    pug_etrace_data_sync(d);
    (void)pug_etrace_report_pc(d);
    return PUG_ETRACE_PHASE_IDLE;
}

/** The block at pc, if the packet reports the next instruction, which is in it, too; or NULL. */
static const struct pug_block *block_of_step(struct pug_etrace_decoder *d)
{
    if (d->address != d->pc + d->pc_size)
        return NULL;
    const struct pug_block *block = pug_etrace_pc_block(d);
    return block->count > 1 ? block : NULL;
}

/** The packet's own branch bit is the outcome of the instruction that it reports. */
static void append_own_outcome(struct pug_etrace_decoder *d, bool is_branch)
{
    if (!is_branch)
        return;
    d->outcomes.map |= (uint64_t)d->packet->branch << d->outcomes.mapped;
    d->outcomes.mapped++;
}

enum pug_etrace_phase pug_etrace_report_directly(struct pug_etrace_decoder *d)
{
    pug_etrace_clear_outcomes(d);
    append_own_outcome(d, pug_etrace_is_branch(pug_etrace_block(d, d->address)));
    d->pc = d->address;
    d->last_valid = false;
    return PUG_ETRACE_PHASE_REPORT;
}

enum pug_etrace_phase pug_etrace_sync(struct pug_etrace_decoder *d)
{
    d->tentative = false;
    d->irets = 0;
    d->address = pug_etrace_canonical(d, d->packet->address);
    if (d->fresh || !d->synced || d->after_trap)
        return pug_etrace_report_directly(d);
    const struct pug_block *step = block_of_step(d);
    const uint64_t left = pug_etrace_outcomes_total(&d->outcomes);
    append_own_outcome(d, step ? d->address == step->last && step->insn.conditional
                               : pug_etrace_is_branch(pug_etrace_block(d, d->address)));
    if (step && left == 0 && d->packet->privilege == d->privilege) { /* nothing to walk over */
        d->last = d->pc;
        d->last_valid = true;
        d->pc = d->address;
        return report(d);
    }
    d->walk.goal = (struct pug_etrace_goal){
        .target = d->address, .has_target = true, .privilege = d->packet->privilege};
    pug_etrace_walk_begin(d, PUG_ETRACE_WALK_SYNC);
    return PUG_ETRACE_PHASE_SYNC_WALK;
}

static enum pug_etrace_phase sync_walk(struct pug_etrace_decoder *d)
{
    switch (pug_etrace_walk_on(d)) {
    case PUG_ETRACE_WALK_SUSPENDED: return PUG_ETRACE_PHASE_SYNC_WALK;
    case PUG_ETRACE_WALK_DONE: return PUG_ETRACE_PHASE_REPORT;
    default: return pug_etrace_report_directly(d); /* as a fresh one */
    }
}

/* ---- the other packets ---- */

static enum pug_etrace_phase context(struct pug_etrace_decoder *d)
{
    d->irets = 0;
    pug_etrace_push_time(d);
    pug_etrace_push_context(d, true);
    return PUG_ETRACE_PHASE_IDLE;
}

static enum pug_etrace_phase begin_support(struct pug_etrace_decoder *d)
{
    bool again = d->packet->qual_status == PUG_ETRACE_ENDED_NTR && d->synced && d->tentative;
    return again ? PUG_ETRACE_PHASE_REPLAY : PUG_ETRACE_PHASE_OPTIONS;
}

static bool same_data_options(const struct pug_etrace_options *a,
                              const struct pug_etrace_options *b)
{
    return a->data_no_address == b->data_no_address && a->data_no_value == b->data_no_value &&
           a->data_full_address == b->data_full_address &&
           a->data_full_value == b->data_full_value && a->data_mma_cas == b->data_mma_cas;
}

static enum pug_etrace_phase options(struct pug_etrace_decoder *d)
{
    const struct pug_etrace_packet *p = d->packet;
    const char *name = d->stage->decoder_name;
    if (!same_data_options(&d->options, &p->options))
        pug_etrace_data_restart(d);
    if (p->denable)
        pug_etrace_data_enable(d);
    if (p->dloss || p->qual_status == PUG_ETRACE_TRACE_LOST)
        pug_etrace_data_lose(d);
    if (!pug_etrace_set_options(d, &p->options))
        pug_stage_log(d->stage, name, PUG_SEV_ERROR, PUG_ERR_MEM, d->index, "no return stack");
    d->addresses = PUG_ETRACE_ADDRESSES_AS_SAID;
    if (p->encoder_mode != 0)
        pug_stage_log(d->stage, name, PUG_SEV_ERROR, PUG_ERR_UNSUPPORTED_CONFIG, d->index,
                      "encoder mode is not branch trace: packets are ignored");
    bool was_synced = d->synced;
    if (p->qual_status != PUG_ETRACE_NO_CHANGE || p->encoder_mode != 0)
        pug_etrace_unsync(d);
    if (p->qual_status == PUG_ETRACE_TRACE_LOST) {
        pug_stage_log(d->stage, name, PUG_SEV_WARN, PUG_ERR_TRACE_LOST, d->index,
                      "the encoder lost trace");
        d->lost = true;
    }
    if (p->qual_status == PUG_ETRACE_TRACE_LOST || (p->encoder_mode != 0 && was_synced))
        pug_out_push(d->out, PUG_ELEM_NO_SYNC, d->index)->reason = PUG_UNSYNC_OVERFLOW;
    d->tentative = false;
    d->irets = 0;
    return PUG_ETRACE_PHASE_TIME;
}

static enum pug_etrace_phase data(struct pug_etrace_decoder *d)
{
    pug_etrace_data_packet(d, d->packet);
    return PUG_ETRACE_PHASE_TIME;
}

/** Format 3 does not move the flow; any other bad packet did, to an unknown place. */
static enum pug_etrace_phase bad(struct pug_etrace_decoder *d)
{
    bool was_synced = d->synced;
    pug_out_push(d->out, PUG_ELEM_UNKNOWN, d->index);
    if (d->packet->moves_flow) {
        pug_etrace_unsync(d);
        d->lost = true;
        if (was_synced)
            pug_out_push(d->out, PUG_ELEM_NO_SYNC, d->index)->reason = PUG_UNSYNC_BAD_PACKET;
    } else {
        pug_etrace_data_lose(d);
    }
    return PUG_ETRACE_PHASE_TIME;
}

static enum pug_etrace_phase only_time(struct pug_etrace_decoder *d)
{
    pug_etrace_push_time(d);
    return PUG_ETRACE_PHASE_IDLE;
}

static enum pug_etrace_phase end(struct pug_etrace_decoder *d)
{
    pug_out_push(d->out, PUG_ELEM_EO_TRACE, d->index)->reason = PUG_UNSYNC_EOT;
    return PUG_ETRACE_PHASE_IDLE;
}

/* ---- driving ---- */

/** Once, before anything else: no synchronisation yet. */
static void push_start(struct pug_etrace_decoder *d)
{
    if (!d->started)
        pug_out_push(d->out, PUG_ELEM_NO_SYNC, d->index)->reason = d->start_reason;
    d->started = true;
}

static void note_gap(struct pug_etrace_decoder *d)
{
    pug_etrace_data_lose(d);
    if (!d->synced)
        return;
    pug_stage_log(d->stage, d->stage->decoder_name, PUG_SEV_WARN, PUG_ERR_TRACE_LOST, d->index,
                  "packets may be missing here");
    pug_etrace_unsync(d);
    d->lost = true;
    pug_out_push(d->out, PUG_ELEM_NO_SYNC, d->index)->reason = PUG_UNSYNC_DISCARD;
}

static enum pug_etrace_phase begin(struct pug_etrace_decoder *d)
{
    push_start(d);
    if (d->packet->gap)
        note_gap(d);
    switch (d->packet->type) {
    case PUG_ETRACE_SYNC: return PUG_ETRACE_PHASE_SYNC;
    case PUG_ETRACE_TRAP: return PUG_ETRACE_PHASE_TRAP;
    case PUG_ETRACE_CONTEXT: return PUG_ETRACE_PHASE_CONTEXT;
    case PUG_ETRACE_SUPPORT: return begin_support(d);
    case PUG_ETRACE_DATA:
    case PUG_ETRACE_DATA_REPLY: return PUG_ETRACE_PHASE_DATA;
    case PUG_ETRACE_UNKNOWN: return PUG_ETRACE_PHASE_TIME;
    case PUG_ETRACE_BAD: return PUG_ETRACE_PHASE_BAD;
    default: return begin_flow(d);
    }
}

static enum pug_etrace_phase idle(struct pug_etrace_decoder *d)
{
    (void)d;
    return PUG_ETRACE_PHASE_IDLE;
}

static enum pug_etrace_phase (*const phases[PUG_ETRACE_PHASES])(struct pug_etrace_decoder *d) = {
    [PUG_ETRACE_PHASE_IDLE] = idle,
    [PUG_ETRACE_PHASE_BEGIN] = begin,
    [PUG_ETRACE_PHASE_REPLAY] = replay,
    [PUG_ETRACE_PHASE_FLOW] = flow,
    [PUG_ETRACE_PHASE_FLOW_WALK] = flow_walk,
    [PUG_ETRACE_PHASE_NOTIFY] = notify,
    [PUG_ETRACE_PHASE_SYNC] = pug_etrace_sync,
    [PUG_ETRACE_PHASE_SYNC_WALK] = sync_walk,
    [PUG_ETRACE_PHASE_TRAP] = pug_etrace_trap,
    [PUG_ETRACE_PHASE_REPORT] = report,
    [PUG_ETRACE_PHASE_CONTEXT] = context,
    [PUG_ETRACE_PHASE_OPTIONS] = options,
    [PUG_ETRACE_PHASE_DATA] = data,
    [PUG_ETRACE_PHASE_BAD] = bad,
    [PUG_ETRACE_PHASE_TIME] = only_time,
    [PUG_ETRACE_PHASE_END] = end,
};

/** Phases that say themselves when what is counted ends, or push nothing between ranges. */
static const bool goes_on_counting[PUG_ETRACE_PHASES] = {
    [PUG_ETRACE_PHASE_IDLE] = true,      [PUG_ETRACE_PHASE_REPLAY] = true,
    [PUG_ETRACE_PHASE_FLOW_WALK] = true, [PUG_ETRACE_PHASE_NOTIFY] = true,
    [PUG_ETRACE_PHASE_SYNC] = true,      [PUG_ETRACE_PHASE_SYNC_WALK] = true,
    [PUG_ETRACE_PHASE_REPORT] = true,    [PUG_ETRACE_PHASE_TIME] = true,
};

void pug_etrace_go_on(struct pug_etrace_decoder *d)
{
    for (;;) {
        if (d->data_complete || !goes_on_counting[d->phase])
            pug_etrace_count_close(d);
        if ((d->data_complete && !pug_etrace_data_drain(d)) ||
            (d->phase != PUG_ETRACE_PHASE_IDLE && !pug_out_ready(d->out))) {
            d->stage->pending = true;
            return;
        }
        if (d->phase == PUG_ETRACE_PHASE_IDLE)
            return;
        d->phase = phases[d->phase](d);
    }
}

/** The same outside of the fast path, so that nothing stays open. */
static void go_on_alone(struct pug_etrace_decoder *d)
{
    pug_etrace_go_on(d);
    pug_etrace_count_close(d);
}

enum pug_response pug_etrace_decode(void *decoder, const struct pug_packet *packet)
{
    struct pug_etrace_decoder *d = decoder;
    d->packet = packet->data;
    d->index = packet->index;
    d->phase = PUG_ETRACE_PHASE_BEGIN;
    go_on_alone(d);
    if (d->packet->type != PUG_ETRACE_BAD)
        return PUG_RESP_CONT;
    if (d->stage->options.halt_on_bad_packet)
        return PUG_RESP_FATAL_INVALID_DATA;
    return d->stage->options.error_on_bad_packet ? PUG_RESP_ERR_CONT : PUG_RESP_WARN_CONT;
}

enum pug_response pug_etrace_resume(void *decoder)
{
    go_on_alone(decoder);
    return PUG_RESP_CONT;
}

enum pug_response pug_etrace_decode_end(void *decoder)
{
    struct pug_etrace_decoder *d = decoder;
    push_start(d);
    pug_etrace_data_lose(d);
    d->phase = PUG_ETRACE_PHASE_END;
    go_on_alone(d);
    return PUG_RESP_CONT;
}

/* ---- making ---- */

static void clear(struct pug_etrace_decoder *d)
{
    struct pug_element *blank = &d->out->blank;
    pug_etrace_unsync(d);
    d->irets = 0;
    d->address = 0;
    d->addresses =
        d->config->full_address_known ? PUG_ETRACE_ADDRESSES_AS_SAID : PUG_ETRACE_ADDRESSES_UNSAID;
    d->unsaid = 0;
    d->lost = d->started = d->privilege_known = false;
    d->phase = PUG_ETRACE_PHASE_IDLE;
    d->index = 0;
    pug_etrace_forget(d);
    pug_etrace_data_reset(d);
    *blank = (struct pug_element){.source = d->stage->source, .isa = (uint8_t)d->isa};
    if (d->config->xlen == 64)
        blank->context_flags = PUG_CTX_BITS64;
    pug_etrace_forget_ways(d);
}

void pug_etrace_decoder_reset(void *decoder)
{
    struct pug_etrace_decoder *d = decoder;
    clear(d);
    d->start_reason = PUG_UNSYNC_RESET_DECODER;
    pug_etrace_set_options(d, &d->config->options);
    pug_codemap_space(d->code, &(struct pug_reader_space){.space = PUG_SPACE_ANY});
}

enum pug_status pug_etrace_decoder_new(const void *config, struct pug_stage *stage, void **out)
{
    struct pug_etrace_decoder *d = calloc(1, sizeof(*d));
    if (!d)
        return PUG_ERR_MEM;
    d->config = config;
    d->stage = stage;
    d->out = &stage->out;
    d->code = stage->code;
    d->isa = d->config->xlen == 64 ? PUG_ISA_RV64 : PUG_ISA_RV32;
    unsigned width = d->config->iaddress_width;
    d->address_mask = pug_etrace_address_mask(d->config);
    d->address_bits = (uint8_t)(width - d->config->iaddress_lsb);
    d->runs_fast = d->config->layout == PUG_ETRACE_LAYOUT_STANDARD && !d->config->only_data &&
                   d->address_bits > 0 && d->address_bits < 64;
    d->exact_addresses = width >= d->config->xlen && !d->config->sign_extend_address;
    d->data = pug_etrace_data_new(config);
    if (!d->data || !pug_etrace_set_options(d, &d->config->options)) {
        pug_etrace_decoder_free(d);
        return PUG_ERR_MEM;
    }
    struct pug_isa_config isa = {.zcmp_zcmt = d->config->zcmt, .jvt_base = d->config->jvt_base};
    pug_codemap_set_isa_config(d->code, &isa);
    clear(d);
    d->start_reason = PUG_UNSYNC_INIT_DECODER;
    *out = d;
    return PUG_OK;
}

void pug_etrace_decoder_free(void *decoder)
{
    struct pug_etrace_decoder *d = decoder;
    pug_etrace_data_free(d->data);
    pug_memos_counting_end(&d->memos);
    pug_memos_free(&d->memos);
    free(d->stack.links);
    free(d);
}
