// SPDX-License-Identifier: MIT
/** @file PTM: packets to elements. A packet gives few enough of them to be one step. */
#include "protocol/ptm/decoder.h"

#include <stdlib.h>

#define TYPE(name) PUG_PTM_##name

static struct pug_element *blank_of(struct pug_ptm_decoder *decoder)
{
    return &decoder->stage->out.blank;
}

struct pug_element *pug_ptm_put(struct pug_ptm_decoder *decoder, enum pug_element_type type)
{
    return pug_out_push(&decoder->stage->out, type, decoder->index);
}

void pug_ptm_put_cycles(struct pug_element *element, const struct pug_ptm_packet *packet)
{
    if (!packet->has_cycle_count)
        return;
    element->flags |= PUG_ELEM_HAS_CC;
    element->cycle_count = packet->cycle_count;
}

static void put_context(struct pug_ptm_decoder *decoder)
{
    pug_ptm_put(decoder, PUG_ELEM_PE_CONTEXT);
    pug_codemap_moment(decoder->code, decoder->index);
    pug_armv7_tell_space(decoder->stage, &decoder->config->registers);
}

/* ---- packets ---- */

static void isync(struct pug_ptm_decoder *decoder, const struct pug_ptm_packet *packet)
{
    const struct pug_quirks *quirks = &decoder->stage->quirks;
    const struct pug_armv7_context *context = &packet->context;
    bool starts = decoder->need_isync || packet->isync_reason != PUG_ISYNC_PERIODIC;
    bool changed = packet->isa != decoder->isa || decoder->need_isync;
    bool elsewhere = decoder->need_isync;
    if (starts || !decoder->has_address || decoder->address != packet->address.value ||
        decoder->isa != packet->isa)
        decoder->it = 0;
    decoder->address = packet->address.value;
    decoder->told = packet->address;
    decoder->has_address = true;
    decoder->isa = packet->isa;
    decoder->stack.count = 0;
    decoder->need_isync = false;
    elsewhere |= pug_armv7_set_security(decoder->stage, context->non_secure,
                                        context->hyp && !quirks->ptm_isync_hyp_lost);
    if (context->updated_context_id)
        elsewhere |= pug_armv7_set_context_id(decoder->stage, context->context_id);
    if (starts)
        pug_codemap_moment(decoder->code, decoder->index);
    if (elsewhere)
        pug_armv7_tell_space(decoder->stage, &decoder->config->registers);
    changed |= elsewhere;
    if (quirks->ptm_silent_context)
        changed = starts && (packet->isa != packet->previous_isa || context->updated_context_id);
    if (changed || !quirks->ptm_silent_context)
        blank_of(decoder)->isa = decoder->isa;
    if (starts) {
        struct pug_element *element = pug_ptm_put(decoder, PUG_ELEM_TRACE_ON);
        element->reason = pug_armv7_trace_on(packet->isync_reason);
        pug_ptm_put_cycles(element, packet);
    }
    if (changed)
        pug_ptm_put(decoder, PUG_ELEM_PE_CONTEXT);
}

/** The instruction set of an address: from the packet, or the one in force. */
static uint8_t address_isa(const struct pug_ptm_decoder *decoder,
                           const struct pug_ptm_packet *packet)
{
    bool thumb = decoder->isa == PUG_ISA_T32 || decoder->isa == PUG_ISA_TEE;
    if (packet->has_isa || decoder->stage->quirks.ptm_told_isa)
        return packet->isa;
    if (thumb && packet->context.updated)
        return packet->context.alt_isa ? PUG_ISA_TEE : PUG_ISA_T32;
    return decoder->isa;
}

static void tell_address(struct pug_ptm_decoder *decoder, const struct pug_ptm_packet *packet,
                         uint8_t isa)
{
    if (decoder->stage->quirks.ptm_told_isa)
        decoder->told = packet->address;
    else
        pug_armv7_reshape_address(&decoder->told, &packet->address, packet->isa, isa);
}

void pug_ptm_branch_to(struct pug_ptm_decoder *decoder, const struct pug_ptm_packet *packet)
{
    decoder->isa = address_isa(decoder, packet);
    tell_address(decoder, packet, decoder->isa);
    decoder->address = decoder->told.value;
    decoder->has_address = true;
    decoder->it = 0;
}

/** Security state and Hyp of exception bytes. */
static void branch_context(struct pug_ptm_decoder *decoder, const struct pug_ptm_packet *packet)
{
    const struct pug_armv7_context *context = &packet->context;
    if (!context->updated || decoder->stage->quirks.ptm_exception_context_lost)
        return;
    if (pug_armv7_set_security(decoder->stage, context->non_secure, context->hyp))
        put_context(decoder);
}

/** There is nothing to walk, but cycles went by. */
static void put_cycle_count(struct pug_ptm_decoder *decoder, const struct pug_ptm_packet *packet)
{
    if (packet->has_cycle_count && !decoder->stage->quirks.ptm_cycles_lost)
        pug_ptm_put_cycles(pug_ptm_put(decoder, PUG_ELEM_CYCLE_COUNT), packet);
}

static enum pug_response branch(struct pug_ptm_decoder *decoder,
                                const struct pug_ptm_packet *packet)
{
    enum pug_response response = PUG_RESP_CONT;
    bool exception = packet->exception.present &&
                     (packet->exception.number != 0 || decoder->stage->quirks.ptm_exception_zero);
    if (exception) {
        struct pug_element *element = pug_ptm_put(decoder, PUG_ELEM_EXCEPTION);
        element->number = packet->exception.number;
        element->reason = PUG_EXCEPTIONS_ARMV7;
        if (decoder->has_address) {
            element->flags |= PUG_ELEM_RET_ADDR;
            element->end = decoder->address;
        }
        pug_ptm_put_cycles(element, packet);
    } else if (decoder->has_address) {
        struct pug_ptm_walk walk = {.packet = packet, .what = "BranchAddr", .executed = true};
        response = pug_ptm_walk(decoder, &walk);
        if (PUG_RESP_IS_FATAL(response))
            return response;
    } else {
        put_cycle_count(decoder, packet);
    }
    pug_ptm_branch_to(decoder, packet);
    if (!decoder->stage->quirks.ptm_silent_context)
        blank_of(decoder)->isa = decoder->isa;
    branch_context(decoder, packet);
    return response;
}

/** The consumer waits: the packet's atoms but for the first `done` come later. */
static void suspend(struct pug_ptm_decoder *decoder, const struct pug_ptm_packet *packet,
                    unsigned done)
{
    decoder->packet = (struct pug_packet){.data = packet, .index = decoder->index};
    decoder->done = done;
    decoder->stage->pending = true;
}

enum pug_response pug_ptm_atoms(struct pug_ptm_decoder *decoder,
                                const struct pug_ptm_packet *packet, unsigned done)
{
    struct pug_ptm_walk walk = {.packet = packet, .what = "atom", .atom = true};
    enum pug_response worst = PUG_RESP_CONT;
    if (!decoder->has_address && done == 0)
        put_cycle_count(decoder, packet);
    for (unsigned i = done; i < packet->atoms.count && decoder->has_address; i++) {
        walk.executed = packet->atoms.bits >> i & 1;
        walk.behind = i > 0;
        enum pug_response response = pug_ptm_walk(decoder, &walk);
        if (PUG_RESP_IS_WAIT(response)) {
            suspend(decoder, packet, i);
            return worst;
        }
        if (response > worst)
            worst = response;
    }
    return worst;
}

static enum pug_response atoms(struct pug_ptm_decoder *decoder, const struct pug_ptm_packet *packet)
{
    unsigned done = decoder->done;
    decoder->done = 0;
    return pug_ptm_atoms(decoder, packet, done);
}

static enum pug_response waypoint_update(struct pug_ptm_decoder *decoder,
                                         const struct pug_ptm_packet *packet)
{
    struct pug_ptm_walk walk = {.packet = packet, .what = "WP update", .executed = true};
    tell_address(decoder, packet, address_isa(decoder, packet));
    return decoder->has_address ? pug_ptm_walk_to(decoder, &walk, decoder->told.value)
                                : PUG_RESP_CONT;
}

void pug_ptm_timestamp(struct pug_ptm_decoder *decoder, const struct pug_ptm_packet *packet)
{
    struct pug_element *element = pug_ptm_put(decoder, PUG_ELEM_TIMESTAMP);
    element->timestamp =
        pug_armv7_timestamp(decoder->stage, element, packet->timestamp,
                            decoder->config->gray_timestamps, packet->clock_changed);
    pug_ptm_put_cycles(element, packet);
}

/** A packet that is none: wait for the next A-sync. */
static enum pug_response bad(struct pug_ptm_decoder *decoder, const struct pug_ptm_packet *packet)
{
    struct pug_stage *stage = decoder->stage;
    bool silent = stage->quirks.ptm_bad_packet_silent;
    if (!silent) {
        pug_armv7_deliver(stage);
        pug_armv7_log(stage, stage->decoder_name, PUG_ERR_RESERVED_PACKET, decoder->index,
                      packet->type == TYPE(RESERVED) ? "Reserved packet header."
                                                     : "Bad packet sequence.");
    }
    decoder->state = PUG_PTM_WAIT_SYNC;
    decoder->need_isync = true;
    pug_ptm_put(decoder, PUG_ELEM_NO_SYNC)->reason =
        silent ? PUG_UNSYNC_UNKNOWN : PUG_UNSYNC_BAD_PACKET;
    if (silent)
        return PUG_RESP_CONT;
    if (stage->options.halt_on_bad_packet)
        return PUG_RESP_FATAL_INVALID_DATA;
    return stage->options.error_on_bad_packet ? PUG_RESP_ERR_CONT : PUG_RESP_WARN_CONT;
}

static enum pug_response decode_packet(struct pug_ptm_decoder *decoder,
                                       const struct pug_ptm_packet *packet)
{
    switch (packet->type) {
    case TYPE(ATOM): return atoms(decoder, packet);
    case TYPE(BRANCH_ADDRESS): return branch(decoder, packet);
    case TYPE(WPOINT_UPDATE): return waypoint_update(decoder, packet);
    case TYPE(BAD_SEQUENCE):
    case TYPE(RESERVED): return bad(decoder, packet);
    case TYPE(I_SYNC): isync(decoder, packet); break;
    case TYPE(TIMESTAMP): pug_ptm_timestamp(decoder, packet); break;
    case TYPE(TRIGGER): pug_ptm_put(decoder, PUG_ELEM_EVENT)->reason = PUG_EVENT_TRIGGER; break;
    case TYPE(EXCEPTION_RET): pug_ptm_put(decoder, PUG_ELEM_EXCEPTION_RET); break;
    case TYPE(CONTEXT_ID):
        if (pug_armv7_set_context_id(decoder->stage, packet->context.context_id))
            put_context(decoder);
        break;
    case TYPE(VMID):
        if (pug_armv7_set_vmid(decoder->stage, packet->context.vmid))
            put_context(decoder);
        break;
    default: break; /* A_SYNC, IGNORE, NOTSYNC, INCOMPLETE_EOT */
    }
    return PUG_RESP_CONT;
}

static enum pug_response take_packet(struct pug_ptm_decoder *decoder,
                                     const struct pug_packet *packet)
{
    const struct pug_ptm_packet *data = packet->data;
    bool a_sync = data->type == TYPE(A_SYNC);
    decoder->index = packet->index;
    decoder->from = NULL;
    switch (decoder->state) {
    case PUG_PTM_NO_SYNC:
        pug_ptm_put(decoder, PUG_ELEM_NO_SYNC)->reason = decoder->reason;
        /* fall through */
    case PUG_PTM_WAIT_SYNC:
        decoder->state = a_sync ? PUG_PTM_WAIT_ISYNC : PUG_PTM_WAIT_SYNC;
        return PUG_RESP_CONT;
    case PUG_PTM_WAIT_ISYNC:
        if (data->type != TYPE(I_SYNC))
            return PUG_RESP_CONT;
        decoder->state = PUG_PTM_DECODE;
        break;
    default: break;
    }
    return decode_packet(decoder, data);
}

/* ---- the decoder ---- */

enum pug_response pug_ptm_decode(void *pointer, const struct pug_packet *packet)
{
    struct pug_ptm_decoder *decoder = pointer;
    if (pug_out_ready(&decoder->stage->out))
        return take_packet(decoder, packet);
    decoder->packet = *packet;
    decoder->stage->pending = true;
    return PUG_RESP_CONT;
}

enum pug_response pug_ptm_decode_end(void *pointer)
{
    struct pug_ptm_decoder *decoder = pointer;
    decoder->at_end = !pug_out_ready(&decoder->stage->out);
    decoder->stage->pending = decoder->at_end;
    if (!decoder->at_end)
        pug_ptm_put(decoder, PUG_ELEM_EO_TRACE)->reason = PUG_UNSYNC_EOT;
    return PUG_RESP_CONT;
}

enum pug_response pug_ptm_resume(void *pointer)
{
    struct pug_ptm_decoder *decoder = pointer;
    return decoder->at_end ? pug_ptm_decode_end(decoder)
                           : pug_ptm_decode(decoder, &decoder->packet);
}

static void start(struct pug_ptm_decoder *decoder, enum pug_unsync reason)
{
    decoder->state = PUG_PTM_NO_SYNC;
    decoder->reason = (uint8_t)reason;
    decoder->need_isync = true;
    decoder->has_address = false;
    decoder->address = 0;
    decoder->isa = PUG_ISA_UNKNOWN;
    decoder->it = 0;
    decoder->stack.count = 0;
    decoder->from = decoder->unusual = NULL;
    decoder->at_end = false;
    decoder->done = 0;
    pug_armv7_clear_context(decoder->stage);
}

void pug_ptm_decoder_reset(void *decoder)
{
    start(decoder, PUG_UNSYNC_RESET_DECODER);
}

enum pug_status pug_ptm_decoder_new(const void *pointer, struct pug_stage *stage, void **out)
{
    const struct pug_ptm_config *config = pointer;
    struct pug_ptm_decoder *decoder = calloc(1, sizeof(*decoder));
    if (!decoder)
        return PUG_ERR_MEM;
    decoder->config = config;
    decoder->stage = stage;
    decoder->code = stage->code;
    start(decoder, PUG_UNSYNC_INIT_DECODER);
    stage->out.blank.isa = PUG_ISA_UNKNOWN;
    struct pug_isa_config isa = stage->code->config.isa;
    isa.arch = (uint16_t)config->registers.arch;
    isa.track_it = !isa.reference_classes;
    isa.dsb_dmb_waypoints = config->dmb_waypoints;
    pug_codemap_set_isa_config(stage->code, &isa);
    *out = decoder;
    return PUG_OK;
}

void pug_ptm_decoder_free(void *decoder)
{
    free(decoder);
}
