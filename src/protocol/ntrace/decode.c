// SPDX-License-Identifier: MIT
/**
 * @file Messages to elements (chapter "decoding"). A message that covers code is handled in rounds:
 * walk the code, then land where the message says; RepeatBranch and repeated history have many
 * rounds, most have one, messages without code have none and only land.
 */
#include "protocol/ntrace/decode.h"

#include <stdlib.h>

enum pug_status pug_ntrace_decoder_new(const void *data, struct pug_stage *stage, void **out)
{
    const struct pug_ntrace_config *config = data;
    struct pug_ntrace_decoder *d = calloc(1, sizeof(*d));
    if (!d)
        return PUG_ERR_MEM;
    d->config = config;
    d->stage = stage;
    d->walk_limit = config->walk_limit;
    d->stack = calloc(config->stack_depth, sizeof(*d->stack));
    if (!d->stack) {
        free(d);
        return PUG_ERR_MEM;
    }
    d->mask = config->xlen == 32 ? UINT32_MAX : UINT64_MAX;
    d->isa = config->xlen == 32 ? PUG_ISA_RV32 : PUG_ISA_RV64;
    struct pug_isa_config isa = {.zcmp_zcmt = config->zcmp_zcmt, .jvt_base = config->jvt_base};
    pug_codemap_set_isa_config(stage->code, &isa);
    pug_ntrace_decoder_reset(d);
    d->was_reset = false;
    *out = d;
    return PUG_OK;
}

void pug_ntrace_decoder_free(void *data)
{
    struct pug_ntrace_decoder *d = data;
    pug_memos_counting_end(&d->memos);
    pug_memos_free(&d->memos);
    free(d->stack);
    free(d);
}

void pug_ntrace_decoder_reset(void *data)
{
    struct pug_ntrace_decoder *d = data;
    struct pug_element *blank = &d->stage->out.blank;
    *blank = (struct pug_element){.source = d->stage->source, .isa = d->isa};
    blank->context_flags = d->config->xlen == 64 ? PUG_CTX_BITS64 : 0;
    d->before = NULL;
    pug_ntrace_set_space(d);
    d->started = d->synced = d->pc_known = d->lost = d->gap = false;
    d->was_reset = true;
    d->ref_known = false;
    d->full = 0;
    d->branch.valid = false;
    d->stack_count = 0;
    d->phase = PUG_NTRACE_PHASE_IDLE;
}

/* ---- taking off ---- */

/** What a branch, sync or correlation message says about its last instruction. */
static enum pug_ntrace_end end_of(const struct pug_ntrace_branch *now)
{
    static const uint8_t ends[64] = {
        [PUG_NTRACE_DIRECT_BRANCH] = PUG_NTRACE_END_DIRECT,
        [PUG_NTRACE_INDIRECT_BRANCH] = PUG_NTRACE_END_INDIRECT,
        [PUG_NTRACE_INDIRECT_BRANCH_HIST] = PUG_NTRACE_END_INDIRECT,
        [PUG_NTRACE_PROG_TRACE_SYNC] = PUG_NTRACE_END_SYNC,
        [PUG_NTRACE_DIRECT_BRANCH_SYNC] = PUG_NTRACE_END_SYNC,
        [PUG_NTRACE_INDIRECT_BRANCH_SYNC] = PUG_NTRACE_END_SYNC,
        [PUG_NTRACE_INDIRECT_BRANCH_HIST_SYNC] = PUG_NTRACE_END_SYNC,
        [PUG_NTRACE_PROG_TRACE_CORRELATION] = PUG_NTRACE_END_STOP,
    };
    return now->btype ? PUG_NTRACE_END_TRAP : ends[now->type & 63];
}

/** Messages that cover code up to where they were sent. */
static bool covers_code(unsigned type)
{
    const uint64_t types = 1ull << PUG_NTRACE_DIRECT_BRANCH | 1ull << PUG_NTRACE_INDIRECT_BRANCH |
                           1ull << PUG_NTRACE_INDIRECT_BRANCH_HIST |
                           1ull << PUG_NTRACE_PROG_TRACE_CORRELATION;
    return (type < 64 && types >> type & 1) || pug_ntrace_is_sync(type);
}

/** Does the message say of each conditional branch whether it was taken? */
static bool has_history(const struct pug_ntrace_decoder *d)
{
    return d->now.type == PUG_NTRACE_INDIRECT_BRANCH_HIST ||
           d->now.type == PUG_NTRACE_INDIRECT_BRANCH_HIST_SYNC ||
           (d->now.type == PUG_NTRACE_PROG_TRACE_CORRELATION &&
            pug_ntrace_has(d->message, PUG_NTRACE_HIST));
}

/** Set d->walk up for the next round. */
static enum pug_ntrace_walked prepare_walk(struct pug_ntrace_decoder *d)
{
    struct pug_ntrace_walk *walk = &d->walk;
    walk->end = walk->history_only ? PUG_NTRACE_END_NONE : end_of(&d->now);
    walk->range_start = d->pc;
    walk->hist = d->now.hist;
    walk->has_history = has_history(d);
    walk->sync_jumped = d->now.btype == 0 && (d->now.type == PUG_NTRACE_INDIRECT_BRANCH_SYNC ||
                                              d->now.type == PUG_NTRACE_INDIRECT_BRANCH_HIST_SYNC);
    if (walk->hist == 0)
        return pug_ntrace_fail(d, PUG_ERR_RESERVED_PACKET, d->pc,
                               "branch history without a stop bit");
    walk->bits = 63 - (unsigned)__builtin_clzll(walk->hist);
    walk->budget = pug_ntrace_history_guard(d, walk->passed);
    if (walk->history_only)
        return PUG_NTRACE_WALKED;
    walk->budget = (int64_t)d->now.icnt + d->full;
    d->full = 0;
    if (walk->budget < 0)
        return pug_ntrace_fail(d, PUG_ERR_TRACE_MISMATCH, d->pc,
                               "the instruction count is less than what the history covered");
    if (walk->budget > d->walk_limit - walk->passed)
        return pug_ntrace_too_much(d, d->pc);
    return PUG_NTRACE_WALKED;
}

static void fail_message(struct pug_ntrace_decoder *d, const char *text)
{
    pug_ntrace_fail(d, PUG_ERR_RESERVED_PACKET, d->pc, text);
    d->phase = PUG_NTRACE_PHASE_FAIL;
}

/** ResourceFull while the flow is known. */
static void begin_resource_full(struct pug_ntrace_decoder *d)
{
    uint64_t rcode = pug_ntrace_field_value(d, PUG_NTRACE_RCODE);
    uint64_t repeats = pug_ntrace_field_value(d, PUG_NTRACE_HREPEAT);
    d->branch.valid = false;
    d->walk.history_only = true;
    switch (rcode) {
    case 0:
        d->walk.history_only = false;
        d->full += (int64_t)pug_ntrace_field_value(d, PUG_NTRACE_ICNT);
        return;
    case 1: d->rounds = 1; break;
    case 2: d->rounds = repeats ? (uint32_t)repeats : 1; break;
    case 8:
    case 9:
        repeats = pug_ntrace_field_value(d, PUG_NTRACE_RDATA);
        if (d->config->sifive && repeats > 0 && repeats <= UINT32_MAX) {
            d->now.hist = rcode == 8 ? 2 : 3;
            d->rounds = (uint32_t)repeats;
            break;
        }
        /* fall through */
    default: fail_message(d, "reserved RCODE"); return;
    }
    d->phase = PUG_NTRACE_PHASE_PREPARE;
}

static void begin_repeat(struct pug_ntrace_decoder *d)
{
    d->now = d->branch;
    d->rounds = (uint32_t)pug_ntrace_field_value(d, PUG_NTRACE_HREPEAT);
    if (!d->branch.valid)
        fail_message(d, "RepeatBranch without a branch message before it");
    else if (d->rounds > 0)
        d->phase = PUG_NTRACE_PHASE_PREPARE;
}

/** What the message asks for. Leaves the phase at PREPARE, LAND or FAIL. */
static void begin(struct pug_ntrace_decoder *d)
{
    const struct pug_ntrace_packet *message = d->message;
    uint8_t type = message->type;
    d->phase = PUG_NTRACE_PHASE_RESUME;
    d->rounds = 0;
    d->flowing = d->synced;
    d->walk.passed = 0;
    d->walk.range_count = 0;
    d->walk.history_only = false;
    d->now = (struct pug_ntrace_branch){
        .valid = true,
        .type = type,
        .btype = (uint8_t)pug_ntrace_field_value(d, PUG_NTRACE_BTYPE),
        .icnt = pug_ntrace_field_value(d, PUG_NTRACE_ICNT),
        .hist = pug_ntrace_has(message, PUG_NTRACE_HIST)
                    ? pug_ntrace_field_value(d, PUG_NTRACE_HIST)
                    : 1,
    };
    d->tell_time = pug_ntrace_tells_time(message);
    if (!d->flowing)
        return;
    if (type == PUG_NTRACE_RESOURCE_FULL) {
        begin_resource_full(d);
    } else if (type == PUG_NTRACE_REPEAT_BRANCH) {
        begin_repeat(d);
    } else if (type == PUG_NTRACE_PROG_TRACE_CORRELATION &&
               pug_ntrace_field_value(d, PUG_NTRACE_CDF) > 1) {
        fail_message(d, "reserved CDF");
    } else if (covers_code(type)) {
        d->walk.address = pug_ntrace_full_address(d, pug_ntrace_field_value(d, PUG_NTRACE_ADDR));
        d->rounds = 1;
        d->phase = PUG_NTRACE_PHASE_PREPARE;
    }
    pug_ntrace_bound(d);
}

/* ---- the message underway ---- */

static enum pug_response suspend(struct pug_ntrace_decoder *d)
{
    pug_ntrace_count_close(d);
    d->stage->pending = true;
    return PUG_RESP_CONT;
}

/** A step that pushes; the consumer is ready. */
static void push_step(struct pug_ntrace_decoder *d)
{
    switch (d->phase) {
    case PUG_NTRACE_PHASE_FAIL:
        pug_ntrace_resume_failure(d);
        d->phase = PUG_NTRACE_PHASE_IDLE;
        break;
    case PUG_NTRACE_PHASE_AT_END:
        pug_out_push(&d->stage->out, PUG_ELEM_EO_TRACE, d->index)->reason = PUG_UNSYNC_EOT;
        d->phase = PUG_NTRACE_PHASE_IDLE;
        break;
    default:
        pug_ntrace_resume_flow(d, d->rounds <= 1);
        d->phase = d->rounds > 1 ? PUG_NTRACE_PHASE_PREPARE : PUG_NTRACE_PHASE_IDLE;
        d->rounds -= d->rounds > 0;
    }
}

enum pug_response pug_ntrace_go_on(struct pug_ntrace_decoder *d)
{
    pug_ntrace_count_close(d);
    if (!d->started || d->gap) {
        if (!pug_out_ready(&d->stage->out))
            return suspend(d);
        pug_out_push(&d->stage->out, PUG_ELEM_NO_SYNC, d->index)->reason =
            d->gap         ? PUG_UNSYNC_DISCARD
            : d->was_reset ? PUG_UNSYNC_RESET_DECODER
                           : PUG_UNSYNC_INIT_DECODER;
        d->started = true;
        d->gap = false;
    }
    while (d->phase != PUG_NTRACE_PHASE_IDLE) {
        enum pug_ntrace_walked walked = PUG_NTRACE_WALKED;
        if (d->phase == PUG_NTRACE_PHASE_PREPARE) {
            walked = prepare_walk(d);
            d->phase = PUG_NTRACE_PHASE_WALK;
        }
        if (d->phase == PUG_NTRACE_PHASE_WALK) {
            if (walked == PUG_NTRACE_WALKED && (walked = pug_ntrace_walk(d)) == PUG_NTRACE_WAITS)
                return suspend(d);
            d->phase =
                walked == PUG_NTRACE_FAILED ? PUG_NTRACE_PHASE_FAIL : PUG_NTRACE_PHASE_RESUME;
        }
        if (d->rounds <= 1 || d->now.btype || d->phase == PUG_NTRACE_PHASE_FAIL)
            pug_ntrace_count_close(d); /* else nothing is pushed */
        if (!pug_out_ready(&d->stage->out))
            return suspend(d);
        push_step(d);
    }
    return PUG_RESP_CONT;
}

enum pug_response pug_ntrace_resume(void *data)
{
    return pug_ntrace_go_on(data);
}

enum pug_response pug_ntrace_decode(void *data, const struct pug_packet *packet)
{
    struct pug_ntrace_decoder *d = data;
    d->index = packet->index;
    d->message = packet->data;
    if (d->message->gap)
        pug_ntrace_note_gap(d);
    begin(d);
    enum pug_response response = pug_ntrace_go_on(d);
    return packet->flags & PUG_PACKET_BAD ? pug_ntrace_answer_to_bad(d) : response;
}

enum pug_response pug_ntrace_decode_end(void *data)
{
    struct pug_ntrace_decoder *d = data;
    d->phase = PUG_NTRACE_PHASE_AT_END;
    return pug_ntrace_go_on(d);
}
