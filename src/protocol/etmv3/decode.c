// SPDX-License-Identifier: MIT
/** @file ETMv3: packets to elements. */
#include "isa/core_names.h"
#include "protocol/etmv3/count.h"
#include "protocol/etmv3/course.h"

#include <stdlib.h>

#define TYPE(name) PUG_ETMV3_##name

static struct pug_element *blank_of(struct pug_etmv3_decoder *decoder)
{
    return &decoder->stage->out.blank;
}

/** Program memory is read in the current context from now on. */
static void tell_space(struct pug_etmv3_decoder *decoder)
{
    pug_codemap_moment(decoder->code, decoder->index);
    pug_armv7_tell_space(decoder->stage, &decoder->config->registers);
    pug_etmv3_refresh(decoder);
}

static bool set_security(struct pug_etmv3_decoder *decoder, const struct pug_etmv3_packet *packet)
{
    return pug_armv7_set_security(decoder->stage, packet->context.non_secure, packet->context.hyp);
}

static void put_context(struct pug_etmv3_decoder *decoder)
{
    pug_etmv3_put(decoder, PUG_ELEM_PE_CONTEXT);
    tell_space(decoder);
}

static void set_isa(struct pug_etmv3_decoder *decoder, const struct pug_etmv3_packet *packet)
{
    decoder->isa = packet->isa;
    blank_of(decoder)->isa = packet->isa;
}

/* ---- packets ---- */

static void isync_context(struct pug_etmv3_decoder *decoder, const struct pug_etmv3_packet *packet,
                          bool first)
{
    bool changed = false;
    if (packet->context.updated_context_id)
        changed |= pug_armv7_set_context_id(decoder->stage, packet->context.context_id);
    if (packet->context.updated)
        changed |= set_security(decoder, packet);
    if (changed || first)
        tell_space(decoder);
    if (!packet->context.updated && !first) { /* the start of an I-sync: the slot is as it was */
        pug_etmv3_slot(decoder);
        return;
    }
    struct pug_element *element = pug_etmv3_put_out(decoder, PUG_ELEM_PE_CONTEXT);
    element->isa = packet->isa;
    if (packet->isync.has_cycle_count) {
        element->flags |= PUG_ELEM_HAS_CC;
        element->cycle_count = packet->cycle_count;
    }
}

/** What is left of an IT block stays where execution goes on at `address`. */
static void come_to(struct pug_etmv3_decoder *decoder, uint64_t address, uint8_t isa)
{
    if (decoder->need_address || decoder->address != address || decoder->isa != isa)
        decoder->it = 0;
}

void pug_etmv3_isync(struct pug_etmv3_decoder *decoder, const struct pug_etmv3_packet *packet)
{
    bool first = decoder->state == PUG_ETMV3_WAIT_ISYNC;
    come_to(decoder, packet->address.value, packet->isa);
    if (first || packet->isync.reason != PUG_ISYNC_PERIODIC) {
        pug_etmv3_put_out(decoder, PUG_ELEM_TRACE_ON)->reason =
            pug_armv7_trace_on(packet->isync.reason);
        pug_etmv3_data_automatic(decoder, PUG_ACCESS_UNKNOWN);
        pug_codemap_moment(decoder->code, decoder->index);
        decoder->it = 0;
    }
    decoder->state = PUG_ETMV3_DECODE;
    if (first)
        pug_armv7_clear_context(decoder->stage);
    if (!packet->isync.no_address)
        set_isa(decoder, packet);
    isync_context(decoder, packet, first);
    if (packet->isync.no_address)
        return;
    decoder->address = packet->address.value;
    decoder->told = packet->address;
    pug_etmv3_need_address(decoder, false);
    if (packet->isync.has_lsip) { /* the load or store executed, and then what is under it */
        pug_etmv3_executed(decoder);
        come_to(decoder, packet->isync.lsip_address, decoder->isa);
        decoder->address = decoder->told.value = packet->isync.lsip_address;
        pug_etmv3_need_address(decoder, false);
    }
}

/** Where execution stands: before the instruction that comes next, or one that is taken back. */
struct standing {
    bool known;
    uint64_t address;
};

static struct standing stands(struct pug_etmv3_decoder *decoder, bool cancels)
{
    const int32_t held = decoder->list.held;
    const struct pug_element *last =
        cancels && held > 0 ? pug_etmv3_from_end(decoder, held - 1) : NULL;
    if (last && last->type == PUG_ELEM_INSTR_RANGE)
        return (struct standing){true, last->start};
    return (struct standing){!decoder->need_address, decoder->address};
}

static void exception(struct pug_etmv3_decoder *decoder, const struct pug_etmv3_packet *packet,
                      struct standing standing)
{
    if (packet->context.updated && set_security(decoder, packet))
        put_context(decoder);
    if (packet->exception.number == 0)
        return;
    struct pug_element *element = pug_etmv3_put(decoder, PUG_ELEM_EXCEPTION);
    element->number = packet->exception.number;
    element->reason = packet->exception.m_profile ? PUG_EXCEPTIONS_ARMV7M
                      : packet->exception.unnamed ? PUG_EXCEPTIONS_UNNAMED
                                                  : PUG_EXCEPTIONS_ARMV7;
    if (standing.known && packet->exception.m_profile &&
        !decoder->stage->quirks.etmv3_no_return_address) {
        element->end = standing.address;
        element->flags |= PUG_ELEM_RET_ADDR;
    }
    if (packet->exception.unnamed)
        pug_log_profile_unknown(decoder->stage->log, decoder->stage->decoder_name);
}

/** The target of a branch packet. */
static uint64_t branch_target(struct pug_etmv3_decoder *decoder,
                              const struct pug_etmv3_packet *packet)
{
    if (decoder->stage->quirks.etmv3_blx_forgotten)
        return packet->address.value;
    pug_armv7_reshape_address(&decoder->told, &packet->address, packet->isa,
                              packet->has_isa ? packet->isa : decoder->isa);
    return decoder->told.value;
}

void pug_etmv3_branch_to(struct pug_etmv3_decoder *decoder, const struct pug_etmv3_packet *packet)
{
    decoder->address = branch_target(decoder, packet);
    decoder->it = 0;
    if (packet->has_isa || decoder->stage->quirks.etmv3_blx_forgotten)
        set_isa(decoder, packet);
    pug_etmv3_need_address(decoder, false);
}

static void branch(struct pug_etmv3_decoder *decoder, const struct pug_etmv3_packet *packet)
{
    const struct pug_etmv3_exception *taken = &packet->exception;
    const struct standing standing = stands(decoder, taken->present && taken->cancel);
    if (taken->present && taken->cancel)
        pug_etmv3_cancel(decoder);
    else if (taken->present && taken->type == PUG_EXC_SYNC_DATA_ABORT)
        pug_etmv3_cancel_data(decoder);
    if (!taken->present || !taken->cancel)
        decoder->list.held = 0;
    pug_etmv3_branch_to(decoder, packet);
    if (taken->present)
        exception(decoder, packet, standing);
}

static void exception_exit(struct pug_etmv3_decoder *decoder)
{
    pug_etmv3_put(decoder, PUG_ELEM_EXCEPTION_RET);
    if (decoder->config->registers.profile == PUG_PROFILE_M) {
        pug_etmv3_data_automatic(decoder, PUG_ACCESS_LOAD);
        pug_etmv3_hold(decoder, 1);
        return;
    }
    const struct pug_element *before = pug_etmv3_from_end(decoder, 1);
    pug_etmv3_hold(decoder, before && before->type == PUG_ELEM_INSTR_RANGE ? 2 : 1);
}

static void timestamp(struct pug_etmv3_decoder *decoder, const struct pug_etmv3_packet *packet)
{
    struct pug_element *element = pug_etmv3_put(decoder, PUG_ELEM_TIMESTAMP);
    element->value = pug_armv7_timestamp(decoder->stage, element, packet->timestamp,
                                         decoder->config->gray_timestamps, packet->clock_changed);
}

/* ---- what is wrong ---- */

/** Back to waiting for an A-sync. */
static void lose_sync(struct pug_etmv3_decoder *decoder, enum pug_unsync reason)
{
    decoder->state = PUG_ETMV3_NO_SYNC;
    decoder->reason = (uint8_t)reason;
    pug_etmv3_need_address(decoder, true);
    memset(decoder->tagged, 0, sizeof(decoder->tagged));
    decoder->data_lost = false;
    pug_etmv3_data_automatic(decoder, PUG_ACCESS_UNKNOWN);
}

/** What came before goes out, then the message, then the loss of synchronisation. */
static enum pug_response bad(struct pug_etmv3_decoder *decoder, enum pug_status code,
                             const char *text)
{
    struct pug_stage *stage = decoder->stage;
    bool fatal = stage->quirks.etmv3_bad_packet_fatal;
    if (fatal)
        pug_etmv3_list_clear(&decoder->list);
    else if (pug_etmv3_drain(decoder))
        pug_armv7_deliver(stage);
    pug_armv7_log(stage, stage->decoder_name, code, decoder->index, text);
    lose_sync(decoder, PUG_UNSYNC_BAD_PACKET);
    if (fatal)
        return PUG_RESP_FATAL_INVALID_DATA;
    pug_etmv3_put(decoder, PUG_ELEM_NO_SYNC)->reason = PUG_UNSYNC_BAD_PACKET;
    decoder->state = PUG_ETMV3_WAIT_ASYNC;
    if (stage->options.halt_on_bad_packet)
        return PUG_RESP_FATAL_INVALID_DATA;
    return stage->options.error_on_bad_packet ? PUG_RESP_ERR_CONT : PUG_RESP_WARN_CONT;
}

static enum pug_response lost(struct pug_etmv3_decoder *decoder)
{
    pug_armv7_log(decoder->stage, decoder->stage->decoder_name, PUG_ERR_PACKET_SEQUENCE,
                  decoder->index, "Trace Packet Synchronisation Lost");
    lose_sync(decoder, PUG_UNSYNC_BAD_PACKET);
    pug_etmv3_list_clear(&decoder->list);
    return PUG_RESP_CONT;
}

static bool is_data_packet(uint8_t type)
{
    return type >= TYPE(STORE_FAIL) && type <= TYPE(VAL_NOT_TRACED);
}

static enum pug_response decode_packet(struct pug_etmv3_decoder *decoder,
                                       const struct pug_etmv3_packet *packet)
{
    if (is_data_packet(packet->type) && decoder->stage->options.data_elements) {
        pug_etmv3_data(decoder, packet);
        return PUG_RESP_CONT;
    }
    if (packet->type != TYPE(BRANCH_ADDRESS))
        decoder->list.held = 0;
    struct pug_element *element;
    switch (packet->type) {
    case TYPE(P_HDR): pug_etmv3_p_header(decoder, packet); break;
    case TYPE(BRANCH_ADDRESS): branch(decoder, packet); break;
    case TYPE(I_SYNC):
    case TYPE(I_SYNC_CYCLE): pug_etmv3_isync(decoder, packet); break;
    case TYPE(TIMESTAMP): timestamp(decoder, packet); break;
    case TYPE(CYCLE_COUNT):
        element = pug_etmv3_put(decoder, PUG_ELEM_CYCLE_COUNT);
        element->flags |= PUG_ELEM_HAS_CC;
        element->cycle_count = packet->cycle_count;
        break;
    case TYPE(TRIGGER): pug_etmv3_put(decoder, PUG_ELEM_EVENT)->reason = PUG_EVENT_TRIGGER; break;
    case TYPE(CONTEXT_ID):
        pug_armv7_set_context_id(decoder->stage, packet->context.context_id);
        put_context(decoder);
        break;
    case TYPE(VMID):
        pug_armv7_set_vmid(decoder->stage, packet->context.vmid);
        put_context(decoder);
        break;
    case TYPE(EXCEPTION_ENTRY):
        pug_etmv3_put(decoder, PUG_ELEM_EXCEPTION)->flags |= PUG_ELEM_DATA_MARKER;
        pug_etmv3_data_automatic(decoder, PUG_ACCESS_STORE);
        break;
    case TYPE(EXCEPTION_EXIT): exception_exit(decoder); break;
    case TYPE(A_SYNC):
    case TYPE(IGNORE):
    case TYPE(INCOMPLETE_EOT): break;
    case TYPE(NOTSYNC): return lost(decoder);
    case TYPE(BAD_SEQUENCE): return bad(decoder, PUG_ERR_PACKET_SEQUENCE, "Bad Packet sequence.");
    case TYPE(STORE_FAIL):
    case TYPE(OOO_DATA):
    case TYPE(OOO_ADDR_PLC):
    case TYPE(NORM_DATA):
    case TYPE(DATA_SUPPRESSED):
    case TYPE(VAL_NOT_TRACED):
    case TYPE(BAD_TRACEMODE):
        return bad(decoder, PUG_ERR_UNSUPPORTED_CONFIG,
                   "Invalid packet type : Data Tracing decode not supported.");
    default: return bad(decoder, PUG_ERR_PACKET_SEQUENCE, "Reserved or unknown packet ID.");
    }
    return PUG_RESP_CONT;
}

/** Before the first I-sync only what needs no address counts. */
static bool counts_before_isync(const struct pug_etmv3_decoder *decoder, uint8_t type)
{
    switch (type) {
    case TYPE(I_SYNC):
    case TYPE(I_SYNC_CYCLE):
    case TYPE(TIMESTAMP): return true;
    case TYPE(CYCLE_COUNT):
    case TYPE(P_HDR): return decoder->config->cycle_accurate;
    default: return false;
    }
}

static enum pug_response take_packet(struct pug_etmv3_decoder *decoder,
                                     const struct pug_packet *packet)
{
    const struct pug_etmv3_packet *data = packet->data;
    decoder->index = packet->index;
    switch (decoder->state) {
    case PUG_ETMV3_NO_SYNC:
        pug_etmv3_put(decoder, PUG_ELEM_NO_SYNC)->reason = decoder->reason;
        decoder->state = PUG_ETMV3_WAIT_ASYNC;
        /* fall through */
    case PUG_ETMV3_WAIT_ASYNC:
        if (data->type == TYPE(A_SYNC))
            decoder->state = PUG_ETMV3_WAIT_ISYNC;
        return PUG_RESP_CONT;
    case PUG_ETMV3_WAIT_ISYNC:
        if (!counts_before_isync(decoder, data->type))
            return PUG_RESP_CONT;
        break;
    default: break;
    }
    return decode_packet(decoder, data);
}

/* ---- the decoder ---- */

enum pug_response pug_etmv3_give_out(struct pug_etmv3_decoder *decoder, enum pug_response response)
{
    decoder->response = response;
    pug_etmv3_drain(decoder);
    return response;
}

enum pug_response pug_etmv3_decode(void *pointer, const struct pug_packet *packet)
{
    struct pug_etmv3_decoder *decoder = pointer;
    pug_etmv3_count_close(decoder);
    if (decoder->stage->refused)
        return pug_stage_refuse(decoder->stage);
    pug_etmv3_settle(decoder);
    const enum pug_response response = take_packet(decoder, packet);
    pug_etmv3_begin(decoder);
    return pug_etmv3_give_out(decoder, response);
}

enum pug_response pug_etmv3_resume(void *pointer)
{
    struct pug_etmv3_decoder *decoder = pointer;
    return pug_etmv3_give_out(decoder, decoder->response);
}

enum pug_response pug_etmv3_decode_end(void *pointer)
{
    struct pug_etmv3_decoder *decoder = pointer;
    pug_etmv3_count_close(decoder);
    pug_etmv3_settle(decoder);
    pug_etmv3_put(decoder, PUG_ELEM_EO_TRACE)->reason = PUG_UNSYNC_EOT;
    decoder->list.held = 0;
    return pug_etmv3_give_out(decoder, PUG_RESP_CONT);
}

void pug_etmv3_decoder_reset(void *pointer)
{
    struct pug_etmv3_decoder *decoder = pointer;
    pug_etmv3_count_close(decoder);
    pug_etmv3_settle(decoder);
    lose_sync(decoder, PUG_UNSYNC_RESET_DECODER);
    pug_etmv3_list_clear(&decoder->list);
}

/** What traces data is decoded where data have elements, and not else. */
enum pug_status pug_etmv3_options_changed(void *pointer)
{
    struct pug_etmv3_decoder *decoder = pointer;
    decoder->stage->refused = !decoder->only_instructions && !decoder->stage->options.data_elements;
    return PUG_OK;
}

enum pug_status pug_etmv3_decoder_new(const void *pointer, struct pug_stage *stage, void **out)
{
    const struct pug_etmv3_config *config = pointer;
    const struct pug_quirks *quirks = &stage->quirks;
    struct pug_etmv3_decoder *decoder = calloc(1, sizeof(*decoder));
    if (!decoder || pug_etmv3_insns_new(&decoder->insns) != PUG_OK) {
        free(decoder);
        return PUG_ERR_MEM;
    }
    decoder->config = config;
    decoder->stage = stage;
    decoder->code = stage->code;
    decoder->only_instructions = config->instructions && !pug_etmv3_traces_data(config);
    pug_etmv3_options_changed(decoder);
    decoder->quirky = quirks->etmv3_hold_whole_list || quirks->etmv3_cancel_keeps_count ||
                      quirks->etmv3_stale_elements || quirks->etmv3_blx_forgotten;
    decoder->isa = PUG_ISA_UNKNOWN;
    stage->out.blank.isa = PUG_ISA_UNKNOWN;
    pug_armv7_clear_context(decoder->stage);
    lose_sync(decoder, PUG_UNSYNC_INIT_DECODER);
    struct pug_isa_config isa = stage->code->config.isa;
    isa.arch = (uint16_t)config->registers.arch;
    isa.track_it = !isa.reference_classes;
    pug_codemap_set_isa_config(stage->code, &isa);
    *out = decoder;
    return PUG_OK;
}

void pug_etmv3_decoder_free(void *pointer)
{
    struct pug_etmv3_decoder *decoder = pointer;
    pug_etmv3_counting_free(decoder);
    pug_etmv3_insns_free(&decoder->insns);
    free(decoder);
}
