// SPDX-License-Identifier: MIT
/** @file STM packets to software trace elements. */
#include "protocol/stm/message.h"
#include "protocol/stm/stm.h"

enum stm_state { NO_SYNC, WAIT_SYNC, RUN };

struct stm_decoder {
    struct pug_stage *stage;
    enum stm_state state;
    enum pug_unsync reason; /**< why there is no synchronisation */
    uint8_t master;
    uint16_t channel;
    bool id_valid;       /**< master and channel were given */
    uint64_t timestamp;  /**< of the last packet that had one */
    uint64_t last_index; /**< of the last packet */
    struct stm_message message;
    struct pug_packet held; /**< suspended: the packet to go on with; no data: the end of trace */
};

/** What an element says beyond master, channel and time, by packet type. */
static const struct {
    bool element;
    uint8_t bits;  /**< of payload */
    uint8_t flags; /**< enum pug_sw_flag */
} meanings[PUG_STM_TYPE_COUNT] = {
    [PUG_STM_FREQ] = {true, 32, PUG_SW_FREQUENCY},
    [PUG_STM_TRIG] = {true, 8, PUG_SW_TRIGGER},
    [PUG_STM_GERR] = {true, 8, PUG_SW_GLOBAL_ERROR},
    [PUG_STM_MERR] = {true, 8, PUG_SW_MASTER_ERROR},
    [PUG_STM_FLAG] = {true, 0, PUG_SW_MARKER},
    [PUG_STM_D4] = {true, 4, 0},
    [PUG_STM_D8] = {true, 8, 0},
    [PUG_STM_D16] = {true, 16, 0},
    [PUG_STM_D32] = {true, 32, 0},
    [PUG_STM_D64] = {true, 64, 0},
};

static uint64_t payload(const struct pug_stm_packet *packet, unsigned bits)
{
    switch (bits) {
    case 4: return packet->payload.d8 & 0xf;
    case 8: return packet->payload.d8;
    case 16: return packet->payload.d16;
    case 32: return packet->payload.d32;
    case 64: return packet->payload.d64;
    default: return 0;
    }
}

static struct pug_element software_element(struct stm_decoder *d, uint64_t index,
                                           const struct pug_stm_packet *packet)
{
    struct pug_element e = d->stage->out.blank;
    e.index = index;
    e.type = PUG_ELEM_SWTRACE;
    PUG_SW_MASTER(&e) = d->master;
    PUG_SW_CHANNEL(&e) = d->channel;
    e.sw_flags = meanings[packet->type].flags;
    if (d->id_valid)
        e.sw_flags |= PUG_SW_ID_VALID;
    if (packet->marker)
        e.sw_flags |= PUG_SW_MARKER;
    e.sw_bits = meanings[packet->type].bits;
    e.sw_packets = e.sw_bits ? 1 : 0;
    e.value = payload(packet, e.sw_bits);
    if (packet->has_ts) {
        e.flags |= PUG_ELEM_HAS_TS;
        d->timestamp = packet->timestamp;
    }
    e.timestamp = d->timestamp;
    return e;
}

static void follow_ids(struct stm_decoder *d, const struct pug_stm_packet *packet)
{
    d->channel = packet->channel;
    switch (packet->type) {
    case PUG_STM_M8: d->id_valid = true; break;
    case PUG_STM_GERR: d->id_valid = false; break;
    default: break;
    }
    d->master = packet->master;
}

static void lose_sync(struct stm_decoder *d)
{
    d->state = NO_SYNC;
    d->master = 0;
    d->channel = 0;
    d->id_valid = false;
}

static enum pug_response decode_bad(struct stm_decoder *d)
{
    d->reason = PUG_UNSYNC_BAD_PACKET;
    lose_sync(d);
    bool fatal = d->stage->quirks.bad_software_packet_fatal || d->stage->options.halt_on_bad_packet;
    return fatal ? PUG_RESP_FATAL_INVALID_DATA : PUG_RESP_CONT;
}

/** A packet of the running stream. At most two elements. */
static enum pug_response decode_running(struct stm_decoder *d, const struct pug_packet *packet)
{
    const struct pug_stm_packet *stm = packet->data;
    if (stm->type == PUG_STM_ASYNC || stm->type == PUG_STM_INCOMPLETE_EOT ||
        (stm->type == PUG_STM_NULL && !stm->has_ts))
        return PUG_RESP_CONT;
    bool element = meanings[stm->type].element || stm->type == PUG_STM_NULL;
    bool joins =
        d->stage->options.join_payloads && stm->type >= PUG_STM_D8 && stm->type <= PUG_STM_D64;
    if (!joins)
        stm_message_close(&d->message, &d->stage->out);
    switch (stm->type) {
    case PUG_STM_NOTSYNC: lose_sync(d); return PUG_RESP_CONT;
    case PUG_STM_RESERVED:
    case PUG_STM_BAD_SEQUENCE: return decode_bad(d);
    default: follow_ids(d, stm); break;
    }
    if (!element)
        return PUG_RESP_CONT;
    struct pug_element e = software_element(d, packet->index, stm);
    if (joins)
        stm_message_add(&d->message, &d->stage->out, &e);
    else
        d->stage->out.batch->elements[d->stage->out.batch->count++] = e;
    return PUG_RESP_CONT;
}

static enum pug_response decode_packet(struct stm_decoder *d, const struct pug_packet *packet)
{
    d->last_index = packet->index;
    if (d->state == NO_SYNC) {
        pug_out_push(&d->stage->out, PUG_ELEM_NO_SYNC, packet->index)->reason = (uint8_t)d->reason;
        d->state = WAIT_SYNC;
    }
    if (d->state == RUN)
        return decode_running(d, packet);
    if (packet->type == PUG_STM_ASYNC)
        d->state = RUN;
    return PUG_RESP_CONT;
}

static enum pug_response end(struct stm_decoder *d)
{
    stm_message_close(&d->message, &d->stage->out);
    pug_out_push(&d->stage->out, PUG_ELEM_EO_TRACE, d->last_index)->reason = PUG_UNSYNC_EOT;
    return PUG_RESP_CONT;
}

/** May a packet be decoded? Else it is kept for pug_stm_resume(). */
static bool ready(struct stm_decoder *d, const struct pug_packet *packet)
{
    if (pug_out_ready(&d->stage->out) && stm_message_ready(&d->message, &d->stage->out))
        return true;
    d->held = *packet;
    d->stage->pending = true;
    return false;
}

enum pug_response pug_stm_decode(void *decoder, const struct pug_packet *packet)
{
    struct stm_decoder *d = decoder;
    return ready(d, packet) ? decode_packet(d, packet) : PUG_RESP_CONT;
}

enum pug_response pug_stm_decode_end(void *decoder)
{
    struct stm_decoder *d = decoder;
    return ready(d, &(struct pug_packet){0}) ? end(d) : PUG_RESP_CONT;
}

enum pug_response pug_stm_resume(void *decoder)
{
    struct stm_decoder *d = decoder;
    struct pug_packet packet = d->held;
    if (!ready(d, &packet))
        return PUG_RESP_CONT;
    return packet.data ? decode_packet(d, &packet) : end(d);
}

/* ---- the decoder ---- */

enum pug_status pug_stm_decoder_new(const void *config, struct pug_stage *stage, void **decoder)
{
    (void)config;
    struct stm_decoder *d = calloc(1, sizeof(*d));
    if (!d)
        return PUG_ERR_MEM;
    d->stage = stage;
    d->reason = PUG_UNSYNC_INIT_DECODER;
    if (stage->options.join_payloads && !stm_message_init(&d->message)) {
        free(d);
        return PUG_ERR_MEM;
    }
    *decoder = d;
    return PUG_OK;
}

void pug_stm_decoder_free(void *decoder)
{
    struct stm_decoder *d = decoder;
    stm_message_free(&d->message);
    free(d);
}

void pug_stm_decoder_reset(void *decoder)
{
    struct stm_decoder *d = decoder;
    d->reason = PUG_UNSYNC_RESET_DECODER;
    stm_message_drop(&d->message);
    lose_sync(d);
}
