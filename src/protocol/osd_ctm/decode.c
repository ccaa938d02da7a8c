// SPDX-License-Identifier: MIT
/**
 * @file Core trace events to elements. An event is time, the code that ran since the event before
 * (see flow.c), and the privilege mode where it changed.
 */
#include "protocol/osd_ctm/ctm.h"

#include <stdlib.h>

enum pug_status pug_osd_ctm_decoder_new(const void *config, struct pug_stage *stage, void **out)
{
    struct pug_ctm_decoder *d = calloc(1, sizeof(*d));
    struct ctm_search *search = pug_ctm_search_new();
    if (!d || !search) {
        free(d);
        pug_ctm_search_free(search);
        return PUG_ERR_MEM;
    }
    d->config = config;
    d->stage = stage;
    d->search = search;
    pug_osd_ctm_decoder_reset(d);
    *out = d;
    return PUG_OK;
}

void pug_osd_ctm_decoder_free(void *data)
{
    struct pug_ctm_decoder *d = data;
    pug_ctm_search_free(d->search);
    free(d);
}

void pug_osd_ctm_decoder_reset(void *data)
{
    struct pug_ctm_decoder *d = data;
    d->stage->out.blank = (struct pug_element){.source = d->stage->source, .isa = PUG_ISA_UNKNOWN};
    d->now = UINT64_MAX;
    d->started = d->flowing = d->told_program = false;
    d->index = 0;
    d->phase = PUG_CTM_IDLE;
}

static struct pug_element *push(struct pug_ctm_decoder *d, enum pug_element_type type)
{
    return pug_out_push(&d->stage->out, type, d->index);
}

/* ---- the code between two events ---- */

static enum pug_isa isa_of(const struct pug_ctm_decoder *d)
{
    unsigned xlen = d->config->xlen ? d->config->xlen : d->event.width;
    if (!d->config->riscv || xlen < 32)
        return PUG_ISA_UNKNOWN;
    return xlen == 32 ? PUG_ISA_RV32 : PUG_ISA_RV64;
}

/** The image belongs to another program: said once, the code is not followed then. */
static void other_program(struct pug_ctm_decoder *d)
{
    if (!d->told_program)
        pug_stage_log(d->stage, d->stage->decoder_name, PUG_SEV_WARN, PUG_ERR_TRACE_MISMATCH,
                      d->index, "the program has no such jump: is it another one?");
    d->told_program = true;
}

static enum pug_ctm_phase find_way(struct pug_ctm_decoder *d)
{
    const struct pug_osd_packet *event = &d->event;
    d->stage->out.blank.isa = (uint8_t)isa_of(d);
    d->stage->out.blank.context_flags &= (uint8_t)~PUG_CTX_BITS64;
    if (event->width > 32)
        d->stage->out.blank.context_flags |= PUG_CTX_BITS64;
    if (!d->flowing) {
        d->path = PUG_CTM_PATH_ENTRY;
        return PUG_CTM_OPEN;
    }
    /* Only a trap or the return from one changes the mode. */
    d->path = event->modechange ? PUG_CTM_PATH_UNREACHABLE : PUG_CTM_PATH_OPEN;
    if (event->modechange || isa_of(d) == PUG_ISA_UNKNOWN)
        return PUG_CTM_OPEN;
    struct pug_ctm_question question = {.code = d->stage->code,
                                        .isa = isa_of(d),
                                        .from = d->npc,
                                        .to = event->pc,
                                        .next = event->npc,
                                        .call = event->call};
    d->path = pug_ctm_search_run(d->search, &question);
    if (d->path == PUG_CTM_PATH_OTHER_PROGRAM)
        other_program(d);
    return d->path == PUG_CTM_PATH_EXACT ? PUG_CTM_WAY : PUG_CTM_OPEN;
}

static void push_way(struct pug_ctm_decoder *d, const struct pug_ctm_range *way)
{
    struct pug_element *range = push(d, PUG_ELEM_INSTR_RANGE);
    range->start = way->start;
    range->end = way->end;
    range->count = way->count;
    range->last_type = way->last.type;
    range->last_subtype = way->last.subtype;
    range->last_size = way->last.size;
    range->flags = (uint16_t)((way->executed ? PUG_ELEM_EXECUTED : 0) |
                              (way->last.conditional ? PUG_ELEM_CONDITIONAL : 0));
}

/** What the event's instruction was: from the program, or else as the flags have it. */
static void set_last(struct pug_ctm_decoder *d, struct pug_element *range)
{
    const struct pug_osd_packet *event = &d->event;
    struct pug_insn insn;
    uint8_t it = 0;
    range->last_type = event->call  ? PUG_INSTR_BR
                       : event->ret ? PUG_INSTR_BR_INDIRECT
                                    : PUG_INSTR_OTHER;
    range->last_subtype = event->call  ? PUG_SUB_BR_LINK
                          : event->ret ? PUG_SUB_RETURN
                                       : PUG_SUB_NONE;
    if (d->path == PUG_CTM_PATH_OTHER_PROGRAM || isa_of(d) == PUG_ISA_UNKNOWN ||
        pug_codemap_insn(d->stage->code, event->pc, isa_of(d), &it, &insn) != PUG_OK)
        return;
    range->last_type = insn.type;
    range->last_subtype = insn.subtype;
    range->last_size = insn.size;
}

/**
 * From where control was to where it went; nothing more is certain. The place is unknown at the
 * first event and after a loss: then only the event itself is reported.
 */
static void push_open(struct pug_ctm_decoder *d)
{
    const struct pug_osd_packet *event = &d->event;
    struct pug_element last = {0};
    set_last(d, &last);
    struct pug_element *range = push(d, PUG_ELEM_I_RANGE_NOPATH);
    range->start = d->path == PUG_CTM_PATH_ENTRY ? event->pc : d->npc;
    range->end = event->npc;
    range->value = event->pc;
    range->reason = d->path == PUG_CTM_PATH_ENTRY         ? PUG_NOPATH_ENTRY
                    : d->path == PUG_CTM_PATH_UNREACHABLE ? PUG_NOPATH_BROKEN
                                                          : PUG_NOPATH_OPEN;
    range->last_type = last.last_type;
    range->last_subtype = last.last_subtype;
    range->last_size = last.last_size;
    range->flags = PUG_ELEM_EXECUTED | PUG_ELEM_HAS_VALUE;
    PUG_JUMP_FLAGS(range) =
        (uint8_t)((event->call ? PUG_JUMP_CALL : 0) | (event->ret ? PUG_JUMP_RETURN : 0));
}

/* ---- the steps ---- */

static enum pug_ctm_phase push_begin(struct pug_ctm_decoder *d)
{
    if (!d->started)
        push(d, PUG_ELEM_TRACE_ON)->reason = PUG_TRACE_ON_NORMAL;
    else if (d->event.gap)
        push(d, PUG_ELEM_UNKNOWN);
    d->started = true;
    if (d->new_time)
        push(d, PUG_ELEM_TIMESTAMP)->timestamp = d->now;
    return find_way(d);
}

static void push_mode(struct pug_ctm_decoder *d)
{
    const struct pug_osd_packet *event = &d->event;
    struct pug_element *blank = &d->stage->out.blank;
    bool known = blank->context_flags & PUG_CTX_LEVEL;
    int8_t mode = (int8_t)event->mode; /* 0 to 3 */
    if (known && event->modechange && mode > blank->level && !event->call && !event->ret)
        push(d, PUG_ELEM_EXCEPTION)->reason = PUG_EXCEPTIONS_KINDS;
    if (known && event->modechange && mode < blank->level)
        push(d, PUG_ELEM_EXCEPTION_RET);
    bool told = known && mode == blank->level && !event->modechange;
    blank->level = mode;
    blank->context_flags |= PUG_CTX_LEVEL;
    if (!told)
        push(d, PUG_ELEM_PE_CONTEXT);
    d->npc = event->npc;
    d->flowing = true;
}

/** One step; the consumer is ready. */
static enum pug_ctm_phase step(struct pug_ctm_decoder *d)
{
    struct pug_ctm_range way;
    switch (d->phase) {
    case PUG_CTM_BEGIN: return push_begin(d);
    case PUG_CTM_WAY:
        if (!pug_ctm_search_next(d->search, &way))
            return PUG_CTM_MODE;
        push_way(d, &way);
        return PUG_CTM_WAY;
    case PUG_CTM_OPEN: push_open(d); return PUG_CTM_MODE;
    case PUG_CTM_MODE: push_mode(d); return PUG_CTM_IDLE;
    case PUG_CTM_ONE: *push(d, PUG_ELEM_UNKNOWN) = d->one; return PUG_CTM_IDLE;
    default: return PUG_CTM_IDLE;
    }
}

enum pug_response pug_osd_ctm_resume(void *data)
{
    struct pug_ctm_decoder *d = data;
    while (d->phase != PUG_CTM_IDLE) {
        if (!pug_out_ready(&d->stage->out)) {
            d->stage->pending = true;
            break;
        }
        d->phase = step(d);
    }
    return PUG_RESP_CONT;
}

static void begin_event(struct pug_ctm_decoder *d, const struct pug_osd_packet *event)
{
    d->event = *event;
    d->flowing &= !event->gap;
    d->new_time = event->now != d->now;
    d->now = event->now;
    d->phase = PUG_CTM_BEGIN;
}

static struct pug_element *begin_one(struct pug_ctm_decoder *d, enum pug_element_type type)
{
    d->one = d->stage->out.blank;
    d->one.index = d->index;
    d->one.type = (uint8_t)type;
    d->phase = PUG_CTM_ONE;
    return &d->one;
}

/** Events were not sent: what ran is not known before the next one. */
static void begin_overflow(struct pug_ctm_decoder *d, const struct pug_osd_packet *overflow)
{
    struct pug_element *on = begin_one(d, PUG_ELEM_TRACE_ON);
    on->reason = PUG_TRACE_ON_OVERFLOW;
    on->number = overflow->missed;
    d->started = true;
    d->flowing = false;
}

enum pug_response pug_osd_ctm_decode(void *data, const struct pug_packet *packet)
{
    struct pug_ctm_decoder *d = data;
    const struct pug_osd_packet *osd = packet->data;
    d->index = packet->index;
    switch (osd->kind) {
    case PUG_OSD_KIND_EVENT: begin_event(d, osd); break;
    case PUG_OSD_KIND_OVERFLOW: begin_overflow(d, osd); break;
    default: begin_one(d, PUG_ELEM_UNKNOWN); d->flowing = false;
    }
    pug_osd_ctm_resume(d);
    if (!(packet->flags & PUG_PACKET_BAD))
        return PUG_RESP_CONT;
    return d->stage->options.halt_on_bad_packet    ? PUG_RESP_FATAL_INVALID_DATA
           : d->stage->options.error_on_bad_packet ? PUG_RESP_ERR_CONT
                                                   : PUG_RESP_WARN_CONT;
}

enum pug_response pug_osd_ctm_decode_end(void *data)
{
    struct pug_ctm_decoder *d = data;
    begin_one(d, PUG_ELEM_EO_TRACE)->reason = PUG_UNSYNC_EOT;
    return pug_osd_ctm_resume(d);
}
