// SPDX-License-Identifier: MIT
/**
 * @file Messages to elements (chapter "decoding"). A message that covers code is handled in rounds:
 * walk the code, then land where the message says; RepeatBranch and repeated history have many
 * rounds, most have one, messages without code have none and only land.
 */
#include "protocol/ntrace/decode.h"

#include <stdio.h>
#include <stdlib.h>

enum format { FORMAT_PRIVILEGE = 0, FORMAT_SCONTEXT = 2, FORMAT_HCONTEXT = 3 };

enum pug_status ntrace_decoder_new(const void *data, struct pug_stage *stage, void **out)
{
    const struct ntrace_config *config = data;
    struct ntrace_decoder *d = calloc(1, sizeof(*d));
    if (!d)
        return PUG_ERR_MEM;
    d->config = config;
    d->stage = stage;
    d->stack = calloc(config->stack_depth, sizeof(*d->stack));
    if (!d->stack) {
        free(d);
        return PUG_ERR_MEM;
    }
    d->mask = config->xlen == 32 ? UINT32_MAX : UINT64_MAX;
    d->isa = config->xlen == 32 ? PUG_ISA_RV32 : PUG_ISA_RV64;
    struct pug_isa_config isa = {.zcmp_zcmt = config->zcmp_zcmt, .jvt_base = config->jvt_base};
    pug_codemap_set_isa_config(stage->code, &isa);
    ntrace_decoder_reset(d);
    d->was_reset = false;
    *out = d;
    return PUG_OK;
}

void ntrace_decoder_free(void *data)
{
    struct ntrace_decoder *d = data;
    free(d->stack);
    free(d);
}

static void set_space(struct ntrace_decoder *d)
{
    const struct pug_element *blank = &d->stage->out.blank;
    struct pug_reader_space space = {
        .space = PUG_SPACE_ANY,
        .has_context_id = blank->context_flags & PUG_CTX_CONTEXT_ID,
        .has_vmid = blank->context_flags & PUG_CTX_VMID,
        .context_id = blank->context_id,
        .vmid = blank->vmid,
    };
    pug_codemap_space(d->stage->code, &space);
}

void ntrace_decoder_reset(void *data)
{
    struct ntrace_decoder *d = data;
    struct pug_element *blank = &d->stage->out.blank;
    *blank = (struct pug_element){.source = d->stage->source, .isa = d->isa};
    blank->context_flags = d->config->xlen == 64 ? PUG_CTX_BITS64 : 0;
    set_space(d);
    d->started = d->synced = d->pc_known = d->lost = false;
    d->was_reset = true;
    d->ref_known = d->ts_known = false;
    d->full = 0;
    d->branch.valid = false;
    d->stack_count = 0;
    d->phase = NTRACE_IDLE;
}

/* ---- what the fields mean ---- */

static uint64_t field(const struct ntrace_decoder *d, enum pug_ntrace_field name)
{
    return d->message.field[name];
}

/** An address as it is used: of the hart's width, sign-extended where fewer bits are traced. */
static uint64_t canonical(const struct ntrace_decoder *d, uint64_t address)
{
    unsigned unused = 64u - d->config->addr_bits;
    if (d->config->addr_bits < d->config->xlen)
        address = (uint64_t)((int64_t)(address << unused) >> unused);
    return address & d->mask;
}

static uint64_t full_address(const struct ntrace_decoder *d, uint64_t value)
{
    return canonical(d, value << 1);
}

static uint64_t unique_address(const struct ntrace_decoder *d, uint64_t value)
{
    return canonical(d, d->ref ^ (value << 1));
}

static void set_reference(struct ntrace_decoder *d, uint64_t address)
{
    d->ref = address;
    d->ref_known = true;
}

/** Timestamps of sync messages are absolute, the others differences from the last one. */
static void take_time(struct ntrace_decoder *d)
{
    d->tell_time = false;
    if (!pug_ntrace_has(&d->message, PUG_NTRACE_TSTAMP))
        return;
    bool absolute = pug_ntrace_is_sync(d->message.type);
    uint64_t stamp = field(d, PUG_NTRACE_TSTAMP), before = d->ts;
    unsigned width = d->config->ts_width;
    if (!absolute && !d->ts_known)
        return;
    if (!absolute && !d->config->sifive) {
        d->ts += stamp;
    } else {
        uint64_t wrap = width ? UINT64_C(1) << width : 0;
        uint64_t low = absolute ? stamp : stamp ^ before;
        d->ts = wrap ? (before & ~(wrap - 1)) | (low & (wrap - 1)) : low;
        if (!d->ts_known)
            d->ts = stamp;
        else if (wrap && d->ts < before)
            d->ts += wrap;
    }
    d->ts_known = true;
    d->tell_time = true;
}

/* ---- elements ---- */

static struct pug_element *push(struct ntrace_decoder *d, enum pug_element_type type)
{
    return pug_out_push(&d->stage->out, type, d->index);
}

static void push_no_sync(struct ntrace_decoder *d, enum pug_unsync reason)
{
    push(d, PUG_ELEM_NO_SYNC)->reason = (uint8_t)reason;
}

static void push_time(struct ntrace_decoder *d)
{
    if (d->tell_time)
        push(d, PUG_ELEM_TIMESTAMP)->timestamp = d->ts;
    d->tell_time = false;
}

static void push_trace_on(struct ntrace_decoder *d)
{
    uint64_t reason = field(d, PUG_NTRACE_SYNC);
    push(d, PUG_ELEM_TRACE_ON)->reason = reason == 7 || d->lost ? PUG_TRACE_ON_OVERFLOW
                                         : reason == 3          ? PUG_TRACE_ON_EX_DEBUG
                                                                : PUG_TRACE_ON_NORMAL;
}

/** A trap: control left before the instruction at d->pc retired. */
static void push_exception(struct ntrace_decoder *d)
{
    struct pug_element *exception = push(d, PUG_ELEM_EXCEPTION);
    exception->number = d->now.btype;
    if (!d->pc_known)
        return;
    exception->end = d->pc - d->trap_size;
    exception->flags = (uint16_t)(PUG_ELEM_RET_ADDR | (d->by_jump ? PUG_ELEM_RET_ADDR_BR_TGT : 0));
}

static void push_context(struct ntrace_decoder *d)
{
    uint64_t process = field(d, PUG_NTRACE_PROCESS);
    struct pug_element *blank = &d->stage->out.blank;
    uint32_t context = (uint32_t)(process >> 5);
    blank->level = (int8_t)(process >> 2 & 3);
    blank->context_flags |= PUG_CTX_LEVEL;
    switch (process & 3) {
    case FORMAT_SCONTEXT:
        blank->context_id = context;
        blank->context_flags |= PUG_CTX_CONTEXT_ID;
        break;
    case FORMAT_HCONTEXT:
        blank->vmid = context;
        blank->context_flags |= PUG_CTX_VMID;
        break;
    default: break;
    }
    set_space(d);
    pug_codemap_context_changed(d->stage->code);
    push(d, PUG_ELEM_PE_CONTEXT)->reason = (uint8_t)(process >> 4 & 1);
}

/** Bits of a software trace value. */
static uint8_t data_size(unsigned bits)
{
    return bits <= 8 ? 8 : bits <= 16 ? 16 : bits <= 32 ? 32 : 64;
}

static void push_data_acquisition(struct ntrace_decoder *d)
{
    uint64_t tag = field(d, PUG_NTRACE_IDTAG);
    struct pug_element *data = push(d, PUG_ELEM_SWTRACE);
    data->context_flags = 0;
    data->sw_flags = PUG_SW_ID_VALID;
    data->sw_packets = 1;
    PUG_SW_MASTER(data) = d->message.source;
    PUG_SW_CHANNEL(data) = (uint32_t)(d->config->sifive ? tag >> 2 : tag);
    data->sw_bits = d->config->sifive ? data_size(8 * (4 - (unsigned)(tag & 3)))
                                      : data_size(d->message.data_bits);
    data->value = field(d, PUG_NTRACE_DATA);
    if (d->ts_known) {
        data->timestamp = d->ts;
        data->flags |= PUG_ELEM_HAS_TS;
    }
}

/* ---- losing the flow ---- */

static void log_at(struct ntrace_decoder *d, enum pug_severity severity, enum pug_status code,
                   const char *text)
{
    pug_stage_log(d->stage, d->stage->decoder_name, severity, code, d->index, text);
}

static void lose_flow(struct ntrace_decoder *d)
{
    d->synced = d->pc_known = d->ref_known = false;
    d->full = 0;
    d->branch.valid = false;
}

/** Trace and program do not fit together, or the program is not there. */
static void land_failure(struct ntrace_decoder *d)
{
    char text[160];
    snprintf(text, sizeof(text), "%s (%s), at 0x%llx", d->failure_text,
             ntrace_packet_name(d->message.type), (unsigned long long)d->failure_pc);
    log_at(d, PUG_SEV_ERROR, d->failure, text);
    push_time(d);
    lose_flow(d);
    if (d->failure == PUG_ERR_MEM_NACC) {
        struct pug_element *nacc = push(d, PUG_ELEM_ADDR_NACC);
        nacc->start = d->failure_pc;
        nacc->number = PUG_SPACE_ANY;
        return;
    }
    push(d, PUG_ELEM_UNKNOWN);
    push_no_sync(d, d->failure == PUG_ERR_BAD_DECODE_PKT ? PUG_UNSYNC_BAD_PACKET
                                                         : PUG_UNSYNC_BAD_IMAGE);
}

/** A broken message may have carried anything. */
static void land_bad(struct ntrace_decoder *d)
{
    if (d->synced) {
        push(d, PUG_ELEM_UNKNOWN);
        push_no_sync(d, PUG_UNSYNC_BAD_PACKET);
    }
    lose_flow(d);
}

static void land_error(struct ntrace_decoder *d)
{
    char text[80];
    snprintf(text, sizeof(text), "messages were lost: ETYPE %u, ECODE 0x%llx",
             (unsigned)field(d, PUG_NTRACE_ETYPE), (unsigned long long)field(d, PUG_NTRACE_ECODE));
    log_at(d, PUG_SEV_WARN, PUG_ERR_TRACE_LOST, text);
    push_no_sync(d, PUG_UNSYNC_OVERFLOW);
    lose_flow(d);
    d->lost = true;
}

/* ---- landing ---- */

/** A jump or a trap to `address`. */
static void land_at(struct ntrace_decoder *d, uint64_t address)
{
    set_reference(d, address);
    if (!d->flowing)
        return;
    if (d->now.btype)
        push_exception(d);
    d->pc = address;
    d->pc_known = true;
    d->by_jump = d->now.btype == 0;
    d->trap_size = 0;
}

/** The flow as a sync message leaves it. */
static void restart(struct ntrace_decoder *d, uint64_t address)
{
    set_reference(d, address);
    d->synced = d->pc_known = true;
    d->pc = address;
    d->full = 0;
    d->stack_count = 0;
    d->branch.valid = false;
    d->by_jump = false;
    d->trap_size = 0;
    d->lost = false;
}

/** Elements that a sync message gives by its reason when the flow was known before. */
static void push_reason(struct ntrace_decoder *d, bool discontinuity)
{
    const uint32_t restarts = 1u << 1 | 1u << 3 | 1u << 5 | 1u << 7 | 1u << 9;
    uint64_t reason = field(d, PUG_NTRACE_SYNC);
    if (restarts >> reason & 1 || discontinuity) {
        push_trace_on(d);
    } else if (reason == 0) {
        push(d, PUG_ELEM_EVENT)->reason = PUG_EVENT_TRIGGER;
    } else if (reason == 6) {
        struct pug_element *event = push(d, PUG_ELEM_EVENT);
        event->reason = PUG_EVENT_NUMBERED;
        event->number = 6;
    }
}

static void land_sync(struct ntrace_decoder *d)
{
    uint64_t address = full_address(d, field(d, PUG_NTRACE_ADDR));
    if (d->flowing) {
        bool discontinuity = d->now.btype == 0 && d->pc_known && d->pc != address;
        if (discontinuity)
            log_at(d, PUG_SEV_WARN, PUG_ERR_TRACE_MISMATCH,
                   "the sync message's address is not where the code leads");
        push_time(d);
        if (d->now.btype)
            push_exception(d);
        push_reason(d, discontinuity);
    } else {
        push_trace_on(d);
        push_time(d);
    }
    restart(d, address);
}

/** In-circuit trace of the pre-1.0 dialect: points outside the flow, whose addresses are chained.
 */
static void land_ict(struct ntrace_decoder *d)
{
    uint64_t kind = field(d, PUG_NTRACE_CKSRC);
    bool two = pug_ntrace_has(&d->message, PUG_NTRACE_CKDATA1);
    bool full = d->message.type == PUG_NTRACE_ICT_SYNC;
    if ((kind == 0 && !two) || (!full && !d->ref_known))
        return;
    uint64_t data = field(d, PUG_NTRACE_CKDATA0);
    uint64_t address = full ? full_address(d, data) : unique_address(d, data);
    set_reference(d, address);
    if (kind == 9 && two)
        set_reference(d, unique_address(d, field(d, PUG_NTRACE_CKDATA1)));
}

static void land_branch(struct ntrace_decoder *d, bool repeated)
{
    if (d->now.type == PUG_NTRACE_DIRECT_BRANCH)
        return;
    if (repeated)
        land_at(d, d->ref);
    else if (d->ref_known)
        land_at(d, unique_address(d, field(d, PUG_NTRACE_ADDR)));
}

/** After a walk, or for a message without one. `final`: no walk of this message follows. */
static void land(struct ntrace_decoder *d, bool final)
{
    uint8_t type = d->message.type;
    if (final && !pug_ntrace_is_sync(type))
        push_time(d);
    switch (type) {
    case PUG_NTRACE_BAD: land_bad(d); break;
    case PUG_NTRACE_ERROR: land_error(d); break;
    case PUG_NTRACE_OWNERSHIP: push_context(d); break;
    case PUG_NTRACE_DATA_ACQUISITION: push_data_acquisition(d); break;
    case PUG_NTRACE_DIRECT_BRANCH:
    case PUG_NTRACE_INDIRECT_BRANCH:
    case PUG_NTRACE_INDIRECT_BRANCH_HIST:
        land_branch(d, false);
        d->branch = d->now;
        break;
    case PUG_NTRACE_REPEAT_BRANCH:
        if (d->flowing && d->now.valid && d->rounds > 0)
            land_branch(d, true);
        break;
    case PUG_NTRACE_RESOURCE_FULL:
        if (final && d->walk.history_only)
            d->full -= d->walk.passed;
        break;
    case PUG_NTRACE_PROG_TRACE_SYNC:
    case PUG_NTRACE_DIRECT_BRANCH_SYNC:
    case PUG_NTRACE_INDIRECT_BRANCH_SYNC:
    case PUG_NTRACE_INDIRECT_BRANCH_HIST_SYNC: land_sync(d); break;
    case PUG_NTRACE_PROG_TRACE_CORRELATION:
        d->synced = d->pc_known = false;
        d->branch.valid = false;
        d->full = 0;
        break;
    case PUG_NTRACE_ICT:
    case PUG_NTRACE_ICT_SYNC: land_ict(d); break;
    default: break;
    }
}

/* ---- taking off ---- */

/** What a branch, sync or correlation message says about its last instruction. */
static enum ntrace_end end_of(const struct ntrace_branch *now)
{
    switch (now->type) {
    case PUG_NTRACE_DIRECT_BRANCH: return NTRACE_END_DIRECT;
    case PUG_NTRACE_PROG_TRACE_CORRELATION: return NTRACE_END_STOP;
    case PUG_NTRACE_INDIRECT_BRANCH:
    case PUG_NTRACE_INDIRECT_BRANCH_HIST: return now->btype ? NTRACE_END_TRAP : NTRACE_END_INDIRECT;
    case PUG_NTRACE_INDIRECT_BRANCH_SYNC:
    case PUG_NTRACE_INDIRECT_BRANCH_HIST_SYNC:
        return now->btype ? NTRACE_END_TRAP : NTRACE_END_SYNC;
    default: return NTRACE_END_SYNC;
    }
}

/** Set d->walk up for the next round. */
static enum ntrace_walked prepare_walk(struct ntrace_decoder *d)
{
    struct ntrace_walk *walk = &d->walk;
    walk->end = walk->history_only ? NTRACE_END_NONE : end_of(&d->now);
    walk->range_start = d->pc;
    walk->hist = d->now.hist;
    walk->bits = 0;
    walk->sync_jumped = d->now.btype == 0 && (d->now.type == PUG_NTRACE_INDIRECT_BRANCH_SYNC ||
                                              d->now.type == PUG_NTRACE_INDIRECT_BRANCH_HIST_SYNC);
    if (walk->hist == 0)
        return ntrace_fail(d, PUG_ERR_BAD_DECODE_PKT, d->pc, "branch history without a stop bit");
    while (walk->hist >> walk->bits > 1)
        walk->bits++;
    walk->budget = NTRACE_HISTORY_GUARD;
    if (walk->history_only)
        return NTRACE_WALKED;
    walk->budget = (int64_t)d->now.icnt + d->full;
    d->full = 0;
    if (walk->budget < 0)
        return ntrace_fail(d, PUG_ERR_TRACE_MISMATCH, d->pc,
                           "the instruction count is less than what the history covered");
    return NTRACE_WALKED;
}

static bool is_branch(uint8_t type)
{
    return type == PUG_NTRACE_DIRECT_BRANCH || type == PUG_NTRACE_INDIRECT_BRANCH ||
           type == PUG_NTRACE_INDIRECT_BRANCH_HIST;
}

static void fail_message(struct ntrace_decoder *d, const char *text)
{
    ntrace_fail(d, PUG_ERR_BAD_DECODE_PKT, d->pc, text);
    d->phase = NTRACE_FAIL;
}

/** ResourceFull while the flow is known. */
static void begin_resource_full(struct ntrace_decoder *d)
{
    uint64_t rcode = field(d, PUG_NTRACE_RCODE);
    uint64_t repeats = field(d, PUG_NTRACE_HREPEAT);
    d->branch.valid = false;
    d->walk.history_only = true;
    switch (rcode) {
    case 0:
        d->walk.history_only = false;
        d->full += (int64_t)field(d, PUG_NTRACE_ICNT);
        return;
    case 1: d->rounds = 1; break;
    case 2: d->rounds = repeats ? (uint32_t)repeats : 1; break;
    case 8:
    case 9:
        repeats = field(d, PUG_NTRACE_RDATA);
        if (d->config->sifive && repeats > 0 && repeats <= UINT32_MAX) {
            d->now.hist = rcode == 8 ? 2 : 3;
            d->rounds = (uint32_t)repeats;
            break;
        }
        /* fall through */
    default: fail_message(d, "reserved RCODE"); return;
    }
    d->phase = NTRACE_PREPARE;
}

static void begin_repeat(struct ntrace_decoder *d)
{
    d->now = d->branch;
    d->rounds = (uint32_t)field(d, PUG_NTRACE_HREPEAT);
    if (!d->branch.valid)
        fail_message(d, "RepeatBranch without a branch message before it");
    else if (d->rounds > 0)
        d->phase = NTRACE_PREPARE;
}

/** What the message asks for. Leaves the phase at PREPARE, LAND or FAIL. */
static void begin(struct ntrace_decoder *d)
{
    const struct pug_ntrace_packet *message = &d->message;
    uint8_t type = message->type;
    d->phase = NTRACE_LAND;
    d->rounds = 0;
    d->flowing = d->synced;
    d->walk.blocks = 0;
    d->walk.passed = 0;
    d->walk.range_count = 0;
    d->walk.history_only = false;
    d->now = (struct ntrace_branch){
        .valid = true,
        .type = type,
        .btype = (uint8_t)field(d, PUG_NTRACE_BTYPE),
        .icnt = field(d, PUG_NTRACE_ICNT),
        .hist = pug_ntrace_has(message, PUG_NTRACE_HIST) ? field(d, PUG_NTRACE_HIST) : 1,
    };
    take_time(d);
    if (!d->flowing)
        return;
    if (type == PUG_NTRACE_RESOURCE_FULL) {
        begin_resource_full(d);
    } else if (type == PUG_NTRACE_REPEAT_BRANCH) {
        begin_repeat(d);
    } else if (type == PUG_NTRACE_PROG_TRACE_CORRELATION && field(d, PUG_NTRACE_CDF) > 1) {
        fail_message(d, "reserved CDF");
    } else if (is_branch(type) || pug_ntrace_is_sync(type) ||
               type == PUG_NTRACE_PROG_TRACE_CORRELATION) {
        d->walk.address = full_address(d, field(d, PUG_NTRACE_ADDR));
        d->rounds = 1;
        d->phase = NTRACE_PREPARE;
    }
}

/* ---- the message underway ---- */

static enum pug_response suspend(struct ntrace_decoder *d)
{
    d->stage->pending = true;
    return PUG_RESP_CONT;
}

/** A step that pushes; the consumer is ready. */
static void push_step(struct ntrace_decoder *d)
{
    switch (d->phase) {
    case NTRACE_FAIL:
        land_failure(d);
        d->phase = NTRACE_IDLE;
        break;
    case NTRACE_AT_END:
        push(d, PUG_ELEM_EO_TRACE)->reason = PUG_UNSYNC_EOT;
        d->phase = NTRACE_IDLE;
        break;
    default:
        land(d, d->rounds <= 1);
        d->phase = d->rounds > 1 ? NTRACE_PREPARE : NTRACE_IDLE;
        d->rounds -= d->rounds > 0;
    }
}

static enum pug_response run(struct ntrace_decoder *d)
{
    if (!d->started) {
        if (!pug_out_ready(&d->stage->out))
            return suspend(d);
        push_no_sync(d, d->was_reset ? PUG_UNSYNC_RESET_DECODER : PUG_UNSYNC_INIT_DECODER);
        d->started = true;
    }
    while (d->phase != NTRACE_IDLE) {
        enum ntrace_walked walked = NTRACE_WALKED;
        if (d->phase == NTRACE_PREPARE) {
            walked = prepare_walk(d);
            d->phase = NTRACE_WALK;
        }
        if (d->phase == NTRACE_WALK) {
            if (walked == NTRACE_WALKED && (walked = ntrace_walk(d)) == NTRACE_WAITS)
                return suspend(d);
            d->phase = walked == NTRACE_FAILED ? NTRACE_FAIL : NTRACE_LAND;
        }
        if (!pug_out_ready(&d->stage->out))
            return suspend(d);
        push_step(d);
    }
    return PUG_RESP_CONT;
}

enum pug_response ntrace_resume(void *data)
{
    return run(data);
}

enum pug_response ntrace_decode(void *data, const struct pug_packet *packet)
{
    struct ntrace_decoder *d = data;
    const struct pug_decode_options *options = &d->stage->options;
    d->index = packet->index;
    d->message = *(const struct pug_ntrace_packet *)packet->data;
    begin(d);
    enum pug_response response = run(d);
    if (!(packet->flags & PUG_PACKET_BAD))
        return response;
    return options->halt_on_bad_packet    ? PUG_RESP_FATAL_INVALID_DATA
           : options->error_on_bad_packet ? PUG_RESP_ERR_CONT
                                          : PUG_RESP_WARN_CONT;
}

enum pug_response ntrace_decode_end(void *data)
{
    struct ntrace_decoder *d = data;
    d->phase = NTRACE_AT_END;
    return run(d);
}
