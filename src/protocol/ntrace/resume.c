// SPDX-License-Identifier: MIT
/**
 * @file Where messages leave the decoder: timestamps, traps, contexts, starts and losses of the
 * flow, and the elements that tell of them (chapter "message details").
 */
#include "protocol/ntrace/decode.h"

#include <stdio.h>

/* ---- what the fields mean ---- */

void pug_ntrace_set_space(struct pug_ntrace_decoder *d)
{
    pug_codemap_element_space(d->stage->code, &d->stage->out.blank, PUG_SPACE_ANY);
}

uint64_t pug_ntrace_full_address(const struct pug_ntrace_decoder *d, uint64_t value)
{
    return pug_ntrace_canonical(d->config, value << 1);
}

uint64_t pug_ntrace_unique_address(const struct pug_ntrace_decoder *d, uint64_t value)
{
    return pug_ntrace_canonical(d->config, d->ref ^ (value << 1));
}

static void set_reference(struct pug_ntrace_decoder *d, uint64_t address)
{
    d->ref = address;
    d->ref_known = true;
}

/* ---- elements ---- */

static struct pug_element *push(struct pug_ntrace_decoder *d, enum pug_element_type type)
{
    return pug_out_push(&d->stage->out, type, d->index);
}

static void push_no_sync(struct pug_ntrace_decoder *d, enum pug_unsync reason)
{
    push(d, PUG_ELEM_NO_SYNC)->reason = (uint8_t)reason;
}

void pug_ntrace_push_time(struct pug_ntrace_decoder *d)
{
    if (d->tell_time)
        push(d, PUG_ELEM_TIMESTAMP)->timestamp = d->message->now;
    d->tell_time = false;
}

static void push_trace_on(struct pug_ntrace_decoder *d)
{
    uint64_t reason = pug_ntrace_field_value(d, PUG_NTRACE_SYNC);
    push(d, PUG_ELEM_TRACE_ON)->reason = reason == 7 || d->lost ? PUG_TRACE_ON_OVERFLOW
                                         : reason == 3          ? PUG_TRACE_ON_EX_DEBUG
                                                                : PUG_TRACE_ON_NORMAL;
}

/** A trap: control left before the instruction at d->pc retired. */
static void push_exception(struct pug_ntrace_decoder *d)
{
    struct pug_element *exception = push(d, PUG_ELEM_EXCEPTION);
    exception->number = d->now.btype;
    exception->reason = PUG_EXCEPTIONS_KINDS;
    if (!d->pc_known)
        return;
    exception->end = d->pc - d->trap_size;
    exception->flags = (uint16_t)(PUG_ELEM_RET_ADDR | (d->by_jump ? PUG_ELEM_RET_ADDR_BR_TGT : 0));
}

static void push_context(struct pug_ntrace_decoder *d)
{
    uint64_t process = pug_ntrace_field_value(d, PUG_NTRACE_PROCESS);
    struct pug_element *blank = &d->stage->out.blank;
    uint32_t context = (uint32_t)(process >> 5);
    blank->level = (int8_t)(process >> 2 & 3);
    blank->context_flags |= PUG_CTX_LEVEL;
    switch (process & 3) {
    case PUG_NTRACE_FORMAT_SCONTEXT:
        blank->context_id = context;
        blank->context_flags |= PUG_CTX_CONTEXT_ID;
        break;
    case PUG_NTRACE_FORMAT_HCONTEXT:
        blank->vmid = context;
        blank->context_flags |= PUG_CTX_VMID;
        break;
    default: break;
    }
    d->before = NULL;
    pug_ntrace_set_space(d);
    pug_codemap_context_changed(d->stage->code);
    push(d, PUG_ELEM_PE_CONTEXT)->reason = (uint8_t)(process >> 4 & 1);
}

/** Bits of a software trace value. */
static uint8_t data_size(unsigned bits)
{
    return bits <= 8 ? 8 : bits <= 16 ? 16 : bits <= 32 ? 32 : 64;
}

static void push_data_acquisition(struct pug_ntrace_decoder *d)
{
    uint64_t tag = pug_ntrace_field_value(d, PUG_NTRACE_IDTAG);
    struct pug_element *data = push(d, PUG_ELEM_SWTRACE);
    data->context_flags = 0;
    data->sw_flags = PUG_SW_ID_VALID;
    data->sw_packets = 1;
    PUG_SW_MASTER(data) = d->message->source;
    PUG_SW_CHANNEL(data) = (uint32_t)(d->config->sifive ? tag >> 2 : tag);
    data->sw_bits = d->config->sifive ? data_size(8 * (4 - (unsigned)(tag & 3)))
                                      : data_size(d->message->data_bits);
    data->value = pug_ntrace_field_value(d, PUG_NTRACE_DATA);
    if (d->message->time_known) {
        data->timestamp = d->message->now;
        data->flags |= PUG_ELEM_HAS_TS;
    }
}

/* ---- losing the flow ---- */

static void log_at(struct pug_ntrace_decoder *d, enum pug_severity severity, enum pug_status code,
                   const char *text)
{
    pug_stage_log(d->stage, d->stage->decoder_name, severity, code, d->index, text);
}

static void lose_flow(struct pug_ntrace_decoder *d)
{
    d->synced = d->pc_known = false;
    d->full = 0;
    d->branch.valid = false;
}

void pug_ntrace_lose_messages(struct pug_ntrace_decoder *d)
{
    lose_flow(d);
    d->ref_known = false;
}

void pug_ntrace_note_gap(struct pug_ntrace_decoder *d)
{
    if (d->synced) {
        log_at(d, PUG_SEV_WARN, PUG_ERR_TRACE_LOST, "messages may be missing here");
        d->gap = true;
    }
    pug_ntrace_lose_messages(d);
}

/** A broken message may have carried anything. */
static void resume_bad(struct pug_ntrace_decoder *d)
{
    if (d->synced) {
        push(d, PUG_ELEM_UNKNOWN);
        push_no_sync(d, PUG_UNSYNC_BAD_PACKET);
    }
    pug_ntrace_lose_messages(d);
}

static void resume_error(struct pug_ntrace_decoder *d)
{
    char text[80];
    snprintf(text, sizeof(text), "messages were lost: ETYPE %u, ECODE 0x%llx",
             (unsigned)pug_ntrace_field_value(d, PUG_NTRACE_ETYPE),
             (unsigned long long)pug_ntrace_field_value(d, PUG_NTRACE_ECODE));
    log_at(d, PUG_SEV_WARN, PUG_ERR_TRACE_LOST, text);
    push_no_sync(d, PUG_UNSYNC_OVERFLOW);
    pug_ntrace_lose_messages(d);
    d->lost = true;
}

/* ---- landing ---- */

void pug_ntrace_resume_at(struct pug_ntrace_decoder *d, uint64_t address)
{
    set_reference(d, address);
    if (!d->flowing)
        return;
    if (d->now.btype)
        push_exception(d);
    d->pc = address;
    if (d->now.btype)
        d->last = address;
    if (d->now.btype || (d->before && d->before->insn.type != PUG_INSTR_BR_INDIRECT))
        d->before = NULL;
    d->pc_known = true;
    d->by_jump = d->now.btype == 0;
    d->trap_size = 0;
}

/** The flow as a sync message leaves it. */
static void restart(struct pug_ntrace_decoder *d, uint64_t address)
{
    set_reference(d, address);
    d->synced = d->pc_known = true;
    d->pc = address;
    if (!d->flowing || d->now.btype)
        d->last = address; /* what was before it did not lead here */
    d->before = NULL;
    d->full = 0;
    d->stack_count = 0;
    d->branch.valid = false;
    d->by_jump = false;
    d->trap_size = 0;
    d->lost = false;
}

/** Elements that a sync message gives by its reason when the flow was known before. */
static void push_reason(struct pug_ntrace_decoder *d, bool discontinuity)
{
    uint64_t reason = pug_ntrace_field_value(d, PUG_NTRACE_SYNC);
    if (PUG_NTRACE_RESTARTS >> reason & 1 || discontinuity) {
        push_trace_on(d);
    } else if (reason == PUG_NTRACE_SYNC_TRIGGER) {
        push(d, PUG_ELEM_EVENT)->reason = PUG_EVENT_TRIGGER;
    } else if (reason == PUG_NTRACE_SYNC_WATCHPOINT) {
        struct pug_element *event = push(d, PUG_ELEM_EVENT);
        event->reason = PUG_EVENT_NUMBERED;
        event->number = PUG_NTRACE_SYNC_WATCHPOINT;
    }
}

/** Report the hart's place; the path to it is unknown. */
static void resume_sample(struct pug_ntrace_decoder *d, uint64_t address)
{
    pug_ntrace_push_time(d);
    struct pug_element *event = push(d, PUG_ELEM_EVENT);
    event->reason = PUG_EVENT_PC_SAMPLE;
    event->start = address;
    event->flags |= PUG_ELEM_HAS_ADDRESS;
    if (!d->flowing || !d->pc_known || d->pc != address) {
        lose_flow(d);
        set_reference(d, address);
    } else {
        restart(d, address);
    }
}

static void resume_sync(struct pug_ntrace_decoder *d)
{
    uint64_t address = pug_ntrace_full_address(d, pug_ntrace_field_value(d, PUG_NTRACE_ADDR));
    if (pug_ntrace_is_sample(d->config, d->message)) {
        resume_sample(d, address);
        return;
    }
    if (d->flowing) {
        bool discontinuity = d->now.btype == 0 && d->pc_known && d->pc != address;
        if (discontinuity)
            log_at(d, PUG_SEV_WARN, PUG_ERR_TRACE_MISMATCH,
                   "the sync message's address is not where the code leads");
        pug_ntrace_push_time(d);
        if (d->now.btype)
            push_exception(d);
        push_reason(d, discontinuity);
    } else {
        push_trace_on(d);
        pug_ntrace_push_time(d);
    }
    restart(d, address);
}

static const uint8_t ict_kinds[16] = {
    [PUG_NTRACE_CKSRC_CONTROL] = PUG_EVENT_CONTROL,
    [PUG_NTRACE_CKSRC_TRIGGER] = PUG_EVENT_TRIGGER,
    [PUG_NTRACE_CKSRC_CALL] = PUG_EVENT_CALL,
    [PUG_NTRACE_CKSRC_EXCEPTION] = PUG_EVENT_EXCEPTION,
    [PUG_NTRACE_CKSRC_INTERRUPT] = PUG_EVENT_INTERRUPT,
    [PUG_NTRACE_CKSRC_CONTEXT] = PUG_EVENT_CONTEXT,
    [PUG_NTRACE_CKSRC_WATCHPOINT] = PUG_EVENT_WATCHPOINT,
    [PUG_NTRACE_CKSRC_PC_SAMPLE] = PUG_EVENT_PC_SAMPLE,
};

/** Takes CKDATA1 or, for a control message alone, CKDATA0. */
static void set_ict_data(struct pug_element *event, uint64_t data)
{
    if (event->reason == PUG_EVENT_CONTEXT)
        event->value = data;
    else
        event->number = (uint32_t)data;
}

/**
 * In-circuit trace: points outside the flow, whose addresses are chained. One whose address is
 * relative to what is not known has none.
 */
static void resume_ict(struct pug_ntrace_decoder *d)
{
    uint64_t kind = pug_ntrace_field_value(d, PUG_NTRACE_CKSRC) & 15;
    uint64_t data = pug_ntrace_field_value(d, PUG_NTRACE_CKDATA0);
    uint64_t more = pug_ntrace_field_value(d, PUG_NTRACE_CKDATA1);
    bool two = pug_ntrace_has(d->message, PUG_NTRACE_CKDATA1);
    bool full = d->message->type == PUG_NTRACE_ICT_SYNC;
    bool located = (kind != PUG_NTRACE_CKSRC_CONTROL || two) && (full || d->ref_known);
    if (!d->config->sifive)
        return;
    if (located)
        set_reference(d,
                      full ? pug_ntrace_full_address(d, data) : pug_ntrace_unique_address(d, data));
    struct pug_element *event = push(d, PUG_ELEM_EVENT);
    event->reason = ict_kinds[kind];
    if (located) {
        event->start = d->ref;
        event->flags |= PUG_ELEM_HAS_ADDRESS;
    }
    if (kind == PUG_NTRACE_CKSRC_CALL && two && located)
        set_reference(d, event->end = pug_ntrace_unique_address(d, more));
    else if (kind != PUG_NTRACE_CKSRC_CALL && (two || kind == PUG_NTRACE_CKSRC_CONTROL))
        set_ict_data(event, two ? more : data);
}

static void resume_branch(struct pug_ntrace_decoder *d, bool repeated)
{
    if (d->now.type == PUG_NTRACE_DIRECT_BRANCH)
        return;
    if (repeated)
        pug_ntrace_resume_at(d, d->ref);
    else if (d->ref_known)
        pug_ntrace_resume_at(
            d, pug_ntrace_unique_address(d, pug_ntrace_field_value(d, PUG_NTRACE_ADDR)));
}

/** After a walk, or for a message without one. `final`: no walk of this message follows. */
void pug_ntrace_resume_flow(struct pug_ntrace_decoder *d, bool final)
{
    uint8_t type = d->message->type;
    if (final && !pug_ntrace_is_sync(type))
        pug_ntrace_push_time(d);
    switch (type) {
    case PUG_NTRACE_BAD: resume_bad(d); break;
    case PUG_NTRACE_ERROR: resume_error(d); break;
    case PUG_NTRACE_OWNERSHIP: push_context(d); break;
    case PUG_NTRACE_DATA_ACQUISITION: push_data_acquisition(d); break;
    case PUG_NTRACE_DIRECT_BRANCH:
    case PUG_NTRACE_INDIRECT_BRANCH:
    case PUG_NTRACE_INDIRECT_BRANCH_HIST:
        resume_branch(d, false);
        d->branch = d->now;
        break;
    case PUG_NTRACE_REPEAT_BRANCH:
        if (d->flowing && d->now.valid && d->rounds > 0)
            resume_branch(d, true);
        break;
    case PUG_NTRACE_RESOURCE_FULL:
        if (final && d->walk.history_only)
            d->full -= d->walk.passed;
        break;
    case PUG_NTRACE_PROG_TRACE_SYNC:
    case PUG_NTRACE_DIRECT_BRANCH_SYNC:
    case PUG_NTRACE_INDIRECT_BRANCH_SYNC:
    case PUG_NTRACE_INDIRECT_BRANCH_HIST_SYNC: resume_sync(d); break;
    case PUG_NTRACE_PROG_TRACE_CORRELATION:
        d->synced = d->pc_known = false;
        d->branch.valid = false;
        d->full = 0;
        break;
    case PUG_NTRACE_ICT:
    case PUG_NTRACE_ICT_SYNC: resume_ict(d); break;
    default: break;
    }
}

static void push_failure(struct pug_ntrace_decoder *d)
{
    if (d->failure == PUG_ERR_NO_PROGRAM_MEMORY) {
        struct pug_element *nacc = push(d, PUG_ELEM_ADDR_NACC);
        nacc->start = d->failure_pc;
        nacc->number = PUG_SPACE_ANY;
        return;
    }
    push(d, PUG_ELEM_UNKNOWN);
    push_no_sync(d, d->failure == PUG_ERR_RESERVED_PACKET ? PUG_UNSYNC_BAD_PACKET
                                                          : PUG_UNSYNC_BAD_IMAGE);
}

/**
 * Trace and program do not fit together, or the program is not there. The message itself is whole:
 * its addresses hold, and of a sync message the flow goes on at its address.
 */
void pug_ntrace_resume_failure(struct pug_ntrace_decoder *d)
{
    uint8_t type = d->message->type;
    bool sync = pug_ntrace_is_sync(type);
    char text[160];
    snprintf(text, sizeof(text), "%s (%s), at 0x%llx", d->failure_text,
             pug_ntrace_packet_name(type), (unsigned long long)d->failure_pc);
    log_at(d, PUG_SEV_ERROR, d->failure, text);
    if (!sync)
        pug_ntrace_push_time(d);
    lose_flow(d);
    push_failure(d);
    d->flowing = false;
    if (sync)
        resume_sync(d);
    else if (type == PUG_NTRACE_INDIRECT_BRANCH || type == PUG_NTRACE_INDIRECT_BRANCH_HIST)
        resume_branch(d, false);
}
