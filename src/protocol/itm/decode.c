// SPDX-License-Identifier: MIT
/** @file ITM packets to instrumentation elements, with the time that has gone by. */
#include "protocol/itm/itm.h"

enum itm_state { NO_SYNC, WAIT_SYNC, RUN };

#define GTS1_BITS 26u

struct itm_decoder {
    struct pug_stage *stage;
    bool assume_sync;
    unsigned prescale; /**< cycles that a step of the local timestamp stands for */
    enum itm_state state;
    enum pug_unsync reason; /**< why there is no synchronisation */
    uint64_t local_time;    /**< sum of the local timestamps */
    uint64_t global_time;
    uint64_t timestamp; /**< the last one given */
    uint8_t page;       /**< of stimulus ports */
    bool need_gts2;     /**< the upper bits of the global time are not known */
    bool overflow;      /**< packets were lost since the last element */
    bool clock_changed;
    uint64_t last_index;    /**< of the last packet */
    struct pug_packet held; /**< suspended: the packet to go on with; no data: the end of trace */
};

static void lose_sync(struct itm_decoder *d)
{
    d->state = NO_SYNC;
    d->global_time = 0;
    d->page = 0;
    d->need_gts2 = true;
    d->overflow = false;
    d->clock_changed = false;
}

static struct pug_element *push(struct itm_decoder *d, uint64_t index, enum pug_itm_kind kind,
                                uint32_t number, const struct pug_itm_packet *packet)
{
    struct pug_element *e = pug_out_push(&d->stage->out, PUG_ELEM_ITMTRACE, index);
    e->reason = (uint8_t)kind;
    e->number = number;
    e->value = packet->value;
    e->last_size = packet->size;
    e->timestamp = d->timestamp;
    if (d->overflow)
        e->flags |= PUG_ELEM_OVERFLOW;
    d->overflow = false;
    return e;
}

static void push_time(struct itm_decoder *d, uint64_t index, enum pug_itm_kind kind, uint64_t time,
                      const struct pug_itm_packet *packet)
{
    d->timestamp = time;
    struct pug_element *e = push(d, index, kind, 0, packet);
    if (!d->stage->quirks.itm_no_time_flags)
        e->flags |= PUG_ELEM_HAS_TS;
}

static void decode_local_time(struct itm_decoder *d, uint64_t index,
                              const struct pug_itm_packet *packet)
{
    d->local_time += (uint64_t)packet->value * d->prescale;
    push_time(d, index, (enum pug_itm_kind)(PUG_ITM_TS_SYNC + packet->source), d->local_time,
              packet);
}

static void push_global_time(struct itm_decoder *d, uint64_t index)
{
    push_time(d, index, PUG_ITM_TS_GLOBAL, d->global_time, &(struct pug_itm_packet){0});
    struct pug_batch *batch = d->stage->out.batch;
    if (d->clock_changed && !d->stage->quirks.itm_no_time_flags)
        batch->elements[batch->count - 1].flags |= PUG_ELEM_FREQ_CHANGE;
    d->clock_changed = false;
}

static void decode_gts1(struct itm_decoder *d, uint64_t index, const struct pug_itm_packet *packet)
{
    unsigned bits = packet->size < 4 ? 7u * packet->size : GTS1_BITS;
    uint64_t mask = (UINT64_C(1) << bits) - 1;
    if (packet->source & PUG_ITM_GTS1_WRAP)
        d->need_gts2 = true;
    if (packet->source & PUG_ITM_GTS1_CLOCK_CHANGE)
        d->clock_changed = true;
    d->global_time = (d->global_time & ~mask) | (packet->value & mask);
    if (!d->need_gts2)
        push_global_time(d, index);
}

static void decode_gts2(struct itm_decoder *d, uint64_t index, const struct pug_itm_packet *packet)
{
    uint64_t mask = (UINT64_C(1) << GTS1_BITS) - 1;
    uint64_t upper = (uint64_t)packet->value_top << 32 | packet->value;
    d->global_time = (d->global_time & mask) | upper << GTS1_BITS;
    d->need_gts2 = false;
    push_global_time(d, index);
}

static enum pug_response decode_bad(struct itm_decoder *d)
{
    d->reason = PUG_UNSYNC_BAD_PACKET;
    lose_sync(d);
    bool fatal = d->stage->quirks.bad_software_packet_fatal || d->stage->options.halt_on_bad_packet;
    return fatal ? PUG_RESP_FATAL_INVALID_DATA : PUG_RESP_CONT;
}

static enum pug_response decode_running(struct itm_decoder *d, const struct pug_packet *packet)
{
    const struct pug_itm_packet *itm = packet->data;
    uint64_t index = packet->index;
    switch (itm->type) {
    case PUG_ITM_PKT_NOTSYNC:
        lose_sync(d);
        d->local_time = 0;
        break;
    case PUG_ITM_PKT_ASYNC:
        /* The page is sent again with each synchronisation. */
        if (!d->stage->quirks.itm_page_survives_sync)
            d->page = 0;
        break;
    case PUG_ITM_PKT_OVERFLOW:
        d->overflow = true;
        if (d->stage->quirks.itm_overflow_clears_time)
            d->local_time = 0;
        break;
    case PUG_ITM_PKT_SWIT:
        push(d, index, PUG_ITM_SWIT, (uint8_t)((itm->source & 0x1f) | d->page << 5), itm);
        break;
    case PUG_ITM_PKT_DWT: push(d, index, PUG_ITM_DWT, itm->source, itm); break;
    case PUG_ITM_PKT_TS_LOCAL: decode_local_time(d, index, itm); break;
    case PUG_ITM_PKT_GTS1: decode_gts1(d, index, itm); break;
    case PUG_ITM_PKT_GTS2: decode_gts2(d, index, itm); break;
    case PUG_ITM_PKT_EXTENSION:
        if (itm->source == PUG_ITM_EXTENSION_PAGE)
            d->page = (uint8_t)itm->value;
        break;
    case PUG_ITM_PKT_BAD_SEQUENCE:
    case PUG_ITM_PKT_RESERVED: return decode_bad(d);
    default: break;
    }
    return PUG_RESP_CONT;
}

/** Is the stream synchronised from this packet on? */
static bool starts(const struct itm_decoder *d, const struct pug_packet *packet)
{
    return packet->type == PUG_ITM_PKT_ASYNC ||
           (d->assume_sync && packet->type != PUG_ITM_PKT_NOTSYNC);
}

static enum pug_response decode_packet(struct itm_decoder *d, const struct pug_packet *packet)
{
    d->last_index = packet->index;
    if (d->state == NO_SYNC) {
        pug_out_push(&d->stage->out, PUG_ELEM_NO_SYNC, packet->index)->reason = (uint8_t)d->reason;
        d->state = WAIT_SYNC;
    }
    if (d->state == WAIT_SYNC && !starts(d, packet))
        return PUG_RESP_CONT;
    d->state = RUN;
    return decode_running(d, packet);
}

static enum pug_response end(struct itm_decoder *d)
{
    pug_out_push(&d->stage->out, PUG_ELEM_EO_TRACE, d->last_index)->reason = PUG_UNSYNC_EOT;
    return PUG_RESP_CONT;
}

/** May a packet be decoded? Else it is kept for pug_itm_resume(). */
static bool ready(struct itm_decoder *d, const struct pug_packet *packet)
{
    if (pug_out_ready(&d->stage->out))
        return true;
    d->held = *packet;
    d->stage->pending = true;
    return false;
}

enum pug_response pug_itm_decode(void *decoder, const struct pug_packet *packet)
{
    struct itm_decoder *d = decoder;
    return ready(d, packet) ? decode_packet(d, packet) : PUG_RESP_CONT;
}

enum pug_response pug_itm_decode_end(void *decoder)
{
    struct itm_decoder *d = decoder;
    return ready(d, &(struct pug_packet){0}) ? end(d) : PUG_RESP_CONT;
}

enum pug_response pug_itm_resume(void *decoder)
{
    struct itm_decoder *d = decoder;
    struct pug_packet packet = d->held;
    if (!ready(d, &packet))
        return PUG_RESP_CONT;
    return packet.data ? decode_packet(d, &packet) : end(d);
}

/* ---- the decoder ---- */

enum pug_status pug_itm_decoder_new(const void *config, struct pug_stage *stage, void **decoder)
{
    const struct pug_itm_config *itm = config;
    struct itm_decoder *d = calloc(1, sizeof(*d));
    if (!d)
        return PUG_ERR_MEM;
    d->stage = stage;
    bool prescaled = (itm->tcr & 1u << 4) || !stage->quirks.itm_prescale_needs_swo;
    d->prescale = prescaled ? 1u << 2 * (itm->tcr >> 8 & 3) : 1;
    d->reason = PUG_UNSYNC_INIT_DECODER;
    d->assume_sync = itm->assume_sync;
    lose_sync(d);
    *decoder = d;
    return PUG_OK;
}

void pug_itm_decoder_free(void *decoder)
{
    free(decoder);
}

void pug_itm_decoder_reset(void *decoder)
{
    struct itm_decoder *d = decoder;
    d->reason = PUG_UNSYNC_RESET_DECODER;
    if (d->stage->quirks.itm_reset_keeps_running)
        return;
    lose_sync(d);
    d->local_time = 0;
}
