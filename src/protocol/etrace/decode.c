// SPDX-License-Identifier: MIT
/**
 * @file The E-Trace decoder: what each packet does. A packet's work is a sequence of phases, each
 * of which pushes a few elements or walks the program; between any two steps the consumer may wait.
 */
#include "protocol/etrace/decoder.h"

#include <stdlib.h>

#define NOTIFY_EVENT 6u /* the number of N-Trace's watchpoint event */
#define INTERRUPT    0x80000000u
/* ---- flow packets ---- */

static void append_outcomes(struct etrace_decoder *d)
{
    const struct pug_etrace_packet *p = d->packet;
    struct etrace_outcomes *outcomes = &d->outcomes;
    if (p->type == PUG_ETRACE_COUNT) {
        outcomes->predicted = p->branch_count;
        outcomes->mispredicted = p->branch_fmt == 0 || p->branch_fmt == 3;
        return;
    }
    outcomes->map |= (uint64_t)p->branch_map << outcomes->mapped;
    outcomes->mapped += p->branches;
}

static bool is_program(struct etrace_decoder *d, uint64_t address)
{
    struct pug_insn insn;
    uint8_t it = 0;
    return pug_codemap_insn(d->code, address, d->isa, &it, &insn) == PUG_OK;
}

/**
 * A stream that was begun in the middle may not have said whether its addresses are differences.
 * The first one that can be only one of the two tells.
 */
static uint64_t address_of(struct etrace_decoder *d, const struct pug_etrace_packet *p)
{
    uint64_t full = etrace_canonical(d, p->address);
    uint64_t sum = etrace_canonical(d, d->address + p->address);
    if (!p->difference)
        return full;
    if (d->addresses == ADDRESSES_UNSAID) {
        bool can_sum = is_program(d, sum), can_full = is_program(d, full);
        if (can_sum != can_full)
            d->addresses = can_full ? ADDRESSES_SEEM_FULL : ADDRESSES_AS_SAID;
    }
    return d->addresses == ADDRESSES_SEEM_FULL ? full : sum;
}

/** Address that the packet reports, and from then on the base of differences. */
static uint64_t reported_address(struct etrace_decoder *d)
{
    const struct pug_etrace_packet *p = d->packet;
    if (p->type == PUG_ETRACE_JUMP_CACHE)
        d->address = etrace_cached_target(d, p->cache_index);
    else if (p->has_address)
        d->address = address_of(d, p);
    return d->address;
}

static enum etrace_phase begin_flow(struct etrace_decoder *d)
{
    if (!d->synced)
        return ETRACE_PHASE_TIME;
    return d->tentative ? ETRACE_PHASE_REPLAY : ETRACE_PHASE_FLOW;
}

/** The first of two visits was not the one: go round once more. */
static enum etrace_phase replay(struct etrace_decoder *d)
{
    enum etrace_phase next =
        d->packet->type == PUG_ETRACE_SUPPORT ? ETRACE_PHASE_OPTIONS : ETRACE_PHASE_FLOW;
    if (d->tentative) {
        d->walk.goal = d->tentative_goal;
        d->walk.goal.target = d->pc;
        d->tentative = false;
        etrace_walk_begin(d, WALK_REPLAY);
    }
    switch (etrace_walk_on(d)) {
    case WALK_SUSPENDED: return ETRACE_PHASE_REPLAY;
    case WALK_DONE: d->irets = 0; return next;
    default: return next == ETRACE_PHASE_OPTIONS ? next : ETRACE_PHASE_TIME;
    }
}

static enum etrace_phase flow(struct etrace_decoder *d)
{
    const struct pug_etrace_packet *p = d->packet;
    bool cached = p->type == PUG_ETRACE_JUMP_CACHE;
    struct etrace_goal *goal = &d->walk.goal;
    if (d->after_trap) {
        etrace_fail(d, PUG_ERR_TRACE_MISMATCH, "a trap, but then no handler");
        return ETRACE_PHASE_TIME;
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
    etrace_walk_begin(d, WALK_FLOW);
    return ETRACE_PHASE_FLOW_WALK;
}

static enum etrace_phase flow_walk(struct etrace_decoder *d)
{
    switch (etrace_walk_on(d)) {
    case WALK_SUSPENDED: return ETRACE_PHASE_FLOW_WALK;
    case WALK_DONE: return ETRACE_PHASE_NOTIFY;
    default: return ETRACE_PHASE_TIME;
    }
}

static enum etrace_phase notify(struct etrace_decoder *d)
{
    if (d->packet->notify) {
        struct pug_element *e = pug_out_push(d->out, PUG_ELEM_EVENT, d->index);
        e->reason = PUG_EVENT_NUMBERED;
        e->number = NOTIFY_EVENT;
    }
    return ETRACE_PHASE_TIME;
}

/* ---- synchronisation ---- */

/** Is it a branch? The block at pc tells of the next instruction, too. */
static bool is_branch(struct etrace_decoder *d, uint64_t address)
{
    if (d->synced && address == d->pc + d->pc_size) {
        const struct pug_block *block = etrace_pc_block(d);
        if (block->count > 1)
            return address == block->last && block->insn.conditional;
    }
    const struct pug_block *block = etrace_block(d, address);
    return block->count == 1 && block->insn.conditional;
}

/** The packet's own branch bit is the outcome of the instruction that it reports. */
static void append_own_outcome(struct etrace_decoder *d)
{
    if (!is_branch(d, d->address))
        return;
    d->outcomes.map |= (uint64_t)d->packet->branch << d->outcomes.mapped;
    d->outcomes.mapped++;
}

/** Go on at the reported address, whatever was before. */
static enum etrace_phase report_directly(struct etrace_decoder *d)
{
    etrace_clear_outcomes(d);
    append_own_outcome(d);
    d->pc = d->address;
    d->last_valid = false;
    return ETRACE_PHASE_REPORT;
}

static enum etrace_phase sync(struct etrace_decoder *d)
{
    d->tentative = false;
    d->irets = 0;
    d->address = etrace_canonical(d, d->packet->address);
    if (d->fresh || !d->synced || d->after_trap)
        return report_directly(d);
    append_own_outcome(d);
    d->walk.goal = (struct etrace_goal){
        .target = d->address, .has_target = true, .privilege = d->packet->privilege};
    etrace_walk_begin(d, WALK_SYNC);
    return ETRACE_PHASE_SYNC_WALK;
}

static enum etrace_phase sync_walk(struct etrace_decoder *d)
{
    switch (etrace_walk_on(d)) {
    case WALK_SUSPENDED: return ETRACE_PHASE_SYNC_WALK;
    case WALK_DONE: return ETRACE_PHASE_REPORT;
    default: return report_directly(d); /* as a fresh one */
    }
}

static void push_trace_on(struct etrace_decoder *d)
{
    struct pug_element *e = pug_out_push(d->out, PUG_ELEM_TRACE_ON, d->index);
    if (d->lost)
        e->reason = PUG_TRACE_ON_OVERFLOW;
    else if (d->privilege_known && d->privilege == ETRACE_PRIVILEGE_D)
        e->reason = PUG_TRACE_ON_EX_DEBUG;
    else
        e->reason = PUG_TRACE_ON_NORMAL;
    d->lost = false;
}

static enum etrace_phase report(struct etrace_decoder *d)
{
    const struct pug_etrace_packet *p = d->packet;
    bool fresh = d->fresh || !d->synced;
    if (fresh && p->type == PUG_ETRACE_SYNC)
        push_trace_on(d);
    etrace_push_time(d);
    etrace_push_context(d, fresh);
    d->fresh = false;
    d->synced = true;
    d->after_trap = false;
    d->privilege = p->privilege;
    d->privilege_known = true;
    if (fresh || !d->options.resync_disabled)
        etrace_forget(d);
    etrace_data_sync(d);
    (void)etrace_report_pc(d);
    return ETRACE_PHASE_IDLE;
}

/* ---- traps ---- */

static bool is_indirect(const struct pug_insn *insn)
{
    return insn->type == PUG_INSTR_BR_INDIRECT; /* xRET too */
}

/** Where execution would go on behind pc, without executing it. False: the program does not say. */
static bool next_address(struct etrace_decoder *d, const struct pug_insn *insn, uint64_t *next)
{
    bool thaddr = d->packet->thaddr;
    if (insn->kind == PUG_RV_TRAP) {
        *next = d->pc;
        return true;
    }
    if (is_indirect(insn)) {
        if (insn->kind == PUG_RV_XRET)
            return false;
        if (etrace_sequential(d, d->pc, insn, next))
            return true;
        if (insn->kind == PUG_RV_RETURN && d->options.implicit_return && thaddr &&
            d->stack.entries > 0) {
            *next = etrace_top(d);
            return true;
        }
        return false;
    }
    bool taken =
        insn->type == PUG_INSTR_BR && (!insn->conditional || etrace_peek_outcome(d, d->pc));
    *next = etrace_canonical(d, taken ? insn->target : d->pc + insn->size);
    return !insn->table_jump;
}

/** The trap's EPC. `taken`: it is also the target of the branch or jump before it. */
static bool trap_epc(struct etrace_decoder *d, uint64_t *epc, bool *taken)
{
    const struct pug_etrace_packet *p = d->packet;
    struct pug_insn insn;
    uint8_t it = 0;
    *epc = p->has_epc ? p->epc : d->address;
    if (p->has_epc)
        return true;
    if (!d->synced || d->fresh)
        return !p->thaddr;
    if (d->after_trap) {
        *epc = d->next_epc;
        return d->next_epc_valid;
    }
    if (pug_codemap_insn(d->code, d->pc, d->isa, &it, &insn) != PUG_OK)
        return false;
    *taken = insn.type != PUG_INSTR_OTHER && (!insn.conditional || etrace_peek_outcome(d, d->pc));
    if (next_address(d, &insn, epc))
        return true;
    *epc = d->address;
    return is_indirect(&insn) && !p->thaddr;
}

/** A trap that was reported without its handler: what its address is. */
static void note_epc(struct etrace_decoder *d)
{
    struct pug_insn insn;
    uint8_t it = 0;
    bool own = d->fresh || !d->synced ||
               (!d->after_trap && pug_codemap_insn(d->code, d->pc, d->isa, &it, &insn) == PUG_OK &&
                is_indirect(&insn));
    d->next_epc_valid = !own;
    d->next_epc = d->address;
    d->after_trap = true;
    etrace_clear_outcomes(d);
}

static uint64_t handler_address(const struct etrace_decoder *d)
{
    const struct pug_etrace_packet *p = d->packet;
    const struct etrace_vector *vector = &d->config->vectors[p->privilege % ETRACE_PRIVILEGES];
    return vector->base + (vector->vectored && p->interrupt ? 4 * p->ecause : 0);
}

static enum etrace_phase trap(struct etrace_decoder *d)
{
    const struct pug_etrace_packet *p = d->packet;
    bool taken = false;
    uint64_t epc = 0;
    d->tentative = false;
    d->irets = 0;
    d->address = etrace_canonical(d, p->has_address ? p->address : handler_address(d));
    bool known = trap_epc(d, &epc, &taken);
    if (p->thaddr && (d->fresh || !d->synced))
        push_trace_on(d);
    struct pug_element *e = pug_out_push(d->out, PUG_ELEM_EXCEPTION, d->index);
    e->number = (uint32_t)p->ecause | (p->interrupt ? INTERRUPT : 0);
    if (known) {
        e->flags |= PUG_ELEM_RET_ADDR;
        e->end = etrace_canonical(d, epc);
        if (taken)
            e->flags |= PUG_ELEM_RET_ADDR_BR_TGT;
    }
    if (!p->interrupt && !p->has_epc) {
        e->flags |= PUG_ELEM_HAS_VALUE;
        e->value = p->tval;
    }
    if (p->thaddr)
        return report_directly(d);
    note_epc(d);
    etrace_data_restart(d);
    return ETRACE_PHASE_TIME;
}

/* ---- the other packets ---- */

static enum etrace_phase context(struct etrace_decoder *d)
{
    d->irets = 0;
    etrace_push_time(d);
    etrace_push_context(d, true);
    return ETRACE_PHASE_IDLE;
}

static enum etrace_phase begin_support(struct etrace_decoder *d)
{
    bool again = d->packet->qual_status == PUG_ETRACE_ENDED_NTR && d->synced && d->tentative;
    return again ? ETRACE_PHASE_REPLAY : ETRACE_PHASE_OPTIONS;
}

static bool same_data_options(const struct pug_etrace_options *a,
                              const struct pug_etrace_options *b)
{
    return a->data_no_address == b->data_no_address && a->data_no_value == b->data_no_value &&
           a->data_full_address == b->data_full_address &&
           a->data_full_value == b->data_full_value && a->data_mma_cas == b->data_mma_cas;
}

static enum etrace_phase options(struct etrace_decoder *d)
{
    const struct pug_etrace_packet *p = d->packet;
    const char *name = d->stage->decoder_name;
    if (!same_data_options(&d->options, &p->options))
        etrace_data_restart(d);
    if (p->denable)
        etrace_data_enable(d);
    if (p->dloss || p->qual_status == PUG_ETRACE_TRACE_LOST)
        etrace_data_lose(d);
    if (!etrace_set_options(d, &p->options))
        pug_stage_log(d->stage, name, PUG_SEV_ERROR, PUG_ERR_MEM, d->index, "no return stack");
    d->addresses = ADDRESSES_AS_SAID;
    if (p->encoder_mode != 0)
        pug_stage_log(d->stage, name, PUG_SEV_ERROR, PUG_ERR_HW_CFG_UNSUPP, d->index,
                      "encoder mode is not branch trace: packets are ignored");
    bool was_synced = d->synced;
    if (p->qual_status != PUG_ETRACE_NO_CHANGE || p->encoder_mode != 0)
        etrace_unsync(d);
    if (p->qual_status == PUG_ETRACE_TRACE_LOST) {
        pug_stage_log(d->stage, name, PUG_SEV_WARN, PUG_ERR_TRACE_LOST, d->index,
                      "the encoder lost trace");
        d->lost = true;
    }
    if (p->qual_status == PUG_ETRACE_TRACE_LOST || (p->encoder_mode != 0 && was_synced))
        pug_out_push(d->out, PUG_ELEM_NO_SYNC, d->index)->reason = PUG_UNSYNC_OVERFLOW;
    d->tentative = false;
    d->irets = 0;
    return ETRACE_PHASE_TIME;
}

static enum etrace_phase data(struct etrace_decoder *d)
{
    etrace_data_packet(d, d->packet);
    return ETRACE_PHASE_TIME;
}

/** Format 3 does not move the flow; any other packet that is bad did, nobody knows where to. */
static enum etrace_phase bad(struct etrace_decoder *d)
{
    bool was_synced = d->synced;
    pug_out_push(d->out, PUG_ELEM_UNKNOWN, d->index);
    if (d->packet->moves_flow) {
        etrace_unsync(d);
        d->lost = true;
        if (was_synced)
            pug_out_push(d->out, PUG_ELEM_NO_SYNC, d->index)->reason = PUG_UNSYNC_BAD_PACKET;
    } else {
        etrace_data_lose(d);
    }
    return ETRACE_PHASE_TIME;
}

static enum etrace_phase only_time(struct etrace_decoder *d)
{
    etrace_push_time(d);
    return ETRACE_PHASE_IDLE;
}

static enum etrace_phase end(struct etrace_decoder *d)
{
    pug_out_push(d->out, PUG_ELEM_EO_TRACE, d->index)->reason = PUG_UNSYNC_EOT;
    return ETRACE_PHASE_IDLE;
}

/* ---- driving ---- */

/** Once, before anything else: no synchronisation yet. */
static void push_start(struct etrace_decoder *d)
{
    if (!d->started)
        pug_out_push(d->out, PUG_ELEM_NO_SYNC, d->index)->reason = d->start_reason;
    d->started = true;
}

static void note_gap(struct etrace_decoder *d)
{
    etrace_data_lose(d);
    if (!d->synced)
        return;
    pug_stage_log(d->stage, d->stage->decoder_name, PUG_SEV_WARN, PUG_ERR_TRACE_LOST, d->index,
                  "packets may be missing here");
    etrace_unsync(d);
    d->lost = true;
    pug_out_push(d->out, PUG_ELEM_NO_SYNC, d->index)->reason = PUG_UNSYNC_DISCARD;
}

static enum etrace_phase begin(struct etrace_decoder *d)
{
    push_start(d);
    if (d->packet->gap)
        note_gap(d);
    switch (d->packet->type) {
    case PUG_ETRACE_SYNC: return ETRACE_PHASE_SYNC;
    case PUG_ETRACE_TRAP: return ETRACE_PHASE_TRAP;
    case PUG_ETRACE_CONTEXT: return ETRACE_PHASE_CONTEXT;
    case PUG_ETRACE_SUPPORT: return begin_support(d);
    case PUG_ETRACE_DATA:
    case PUG_ETRACE_DATA_REPLY: return ETRACE_PHASE_DATA;
    case PUG_ETRACE_UNKNOWN: return ETRACE_PHASE_TIME;
    case PUG_ETRACE_BAD: return ETRACE_PHASE_BAD;
    default: return begin_flow(d);
    }
}

static enum etrace_phase idle(struct etrace_decoder *d)
{
    (void)d;
    return ETRACE_PHASE_IDLE;
}

static enum etrace_phase (*const phases[ETRACE_PHASES])(struct etrace_decoder *d) = {
    [ETRACE_PHASE_IDLE] = idle,           [ETRACE_PHASE_BEGIN] = begin,
    [ETRACE_PHASE_REPLAY] = replay,       [ETRACE_PHASE_FLOW] = flow,
    [ETRACE_PHASE_FLOW_WALK] = flow_walk, [ETRACE_PHASE_NOTIFY] = notify,
    [ETRACE_PHASE_SYNC] = sync,           [ETRACE_PHASE_SYNC_WALK] = sync_walk,
    [ETRACE_PHASE_TRAP] = trap,           [ETRACE_PHASE_REPORT] = report,
    [ETRACE_PHASE_CONTEXT] = context,     [ETRACE_PHASE_OPTIONS] = options,
    [ETRACE_PHASE_DATA] = data,           [ETRACE_PHASE_BAD] = bad,
    [ETRACE_PHASE_TIME] = only_time,      [ETRACE_PHASE_END] = end,
};

void etrace_go_on(struct etrace_decoder *d)
{
    for (;;) {
        if ((d->data_complete && !etrace_data_drain(d)) ||
            (d->phase != ETRACE_PHASE_IDLE && !pug_out_ready(d->out))) {
            d->stage->pending = true;
            return;
        }
        if (d->phase == ETRACE_PHASE_IDLE)
            return;
        d->phase = phases[d->phase](d);
    }
}

enum pug_response etrace_decode(void *decoder, const struct pug_packet *packet)
{
    struct etrace_decoder *d = decoder;
    d->packet = packet->data;
    d->index = packet->index;
    d->phase = ETRACE_PHASE_BEGIN;
    etrace_go_on(d);
    if (d->packet->type != PUG_ETRACE_BAD)
        return PUG_RESP_CONT;
    if (d->stage->options.halt_on_bad_packet)
        return PUG_RESP_FATAL_INVALID_DATA;
    return d->stage->options.error_on_bad_packet ? PUG_RESP_ERR_CONT : PUG_RESP_WARN_CONT;
}

enum pug_response etrace_resume(void *decoder)
{
    etrace_go_on(decoder);
    return PUG_RESP_CONT;
}

enum pug_response etrace_decode_end(void *decoder)
{
    struct etrace_decoder *d = decoder;
    push_start(d);
    etrace_data_lose(d);
    d->phase = ETRACE_PHASE_END;
    etrace_go_on(d);
    return PUG_RESP_CONT;
}

/* ---- making ---- */

static void clear(struct etrace_decoder *d)
{
    struct pug_element *blank = &d->out->blank;
    etrace_unsync(d);
    d->irets = 0;
    d->address = 0;
    d->addresses = d->config->full_address_known ? ADDRESSES_AS_SAID : ADDRESSES_UNSAID;
    d->lost = d->started = d->time_known = d->privilege_known = false;
    d->phase = ETRACE_PHASE_IDLE;
    d->index = 0;
    etrace_forget(d);
    etrace_data_reset(d);
    *blank = (struct pug_element){.source = d->stage->source, .isa = (uint8_t)d->isa};
    if (d->config->xlen == 64)
        blank->context_flags = PUG_CTX_BITS64;
    etrace_forget_blocks(d);
}

void etrace_decoder_reset(void *decoder)
{
    struct etrace_decoder *d = decoder;
    clear(d);
    d->start_reason = PUG_UNSYNC_RESET_DECODER;
    etrace_set_options(d, &d->config->options);
    pug_codemap_space(d->code, &(struct pug_reader_space){.space = PUG_SPACE_ANY});
}

enum pug_status etrace_decoder_new(const void *config, struct pug_stage *stage, void **out)
{
    struct etrace_decoder *d = calloc(1, sizeof(*d));
    if (!d)
        return PUG_ERR_MEM;
    d->config = config;
    d->stage = stage;
    d->out = &stage->out;
    d->code = stage->code;
    d->isa = d->config->xlen == 64 ? PUG_ISA_RV64 : PUG_ISA_RV32;
    unsigned width = d->config->iaddress_width;
    d->address_mask = UINT64_MAX >> (64 - (width < d->config->xlen ? width : d->config->xlen));
    d->address_bits = (uint8_t)(width - d->config->iaddress_lsb);
    d->runs = d->config->layout == ETRACE_LAYOUT_STANDARD && !d->config->only_data &&
              d->address_bits > 0 && d->address_bits < 64;
    d->plain_addresses = width >= d->config->xlen && !d->config->sign_extend_address;
    d->data = etrace_data_new(config);
    if (!d->data || !etrace_set_options(d, &d->config->options)) {
        etrace_decoder_free(d);
        return PUG_ERR_MEM;
    }
    struct pug_isa_config isa = {.zcmp_zcmt = d->config->zcmt, .jvt_base = d->config->jvt_base};
    pug_codemap_set_isa_config(d->code, &isa);
    clear(d);
    d->start_reason = PUG_UNSYNC_INIT_DECODER;
    *out = d;
    return PUG_OK;
}

void etrace_decoder_free(void *decoder)
{
    struct etrace_decoder *d = decoder;
    etrace_data_free(d->data);
    free(d->stack.links);
    free(d);
}
