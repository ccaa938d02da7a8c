// SPDX-License-Identifier: MIT
/** @file ITM packets to instrumentation elements, with the time that has gone by. */
#include "protocol/itm/elements.h"
#include "protocol/itm/reader.h"

static void lose_sync(struct pug_itm_decoder *d)
{
    d->state = PUG_ITM_NO_SYNC;
    d->global_time = 0;
    d->page = 0;
    d->need_gts2 = true;
    d->overflow = false;
    d->clock_changed = false;
}

static void push_global_time(struct pug_itm_decoder *d, uint64_t index)
{
    pug_itm_push_time(d, index, PUG_ITM_TS_GLOBAL, d->global_time, 0, 0);
    struct pug_batch *batch = d->stage->out.batch;
    if (d->clock_changed && d->time_flag)
        batch->elements[batch->count - 1].flags |= PUG_ELEM_FREQ_CHANGE;
    d->clock_changed = false;
}

static void decode_gts1(struct pug_itm_decoder *d, uint64_t index,
                        const struct pug_itm_packet *packet)
{
    unsigned bits = packet->size < 4 ? 7u * packet->size : PUG_ITM_GTS1_BITS;
    uint64_t mask = (UINT64_C(1) << bits) - 1;
    if (packet->source & PUG_ITM_GTS1_WRAP)
        d->need_gts2 = true;
    if (packet->source & PUG_ITM_GTS1_CLOCK_CHANGE)
        d->clock_changed = true;
    d->global_time = (d->global_time & ~mask) | (packet->value & mask);
    if (!d->need_gts2)
        push_global_time(d, index);
}

static void decode_gts2(struct pug_itm_decoder *d, uint64_t index,
                        const struct pug_itm_packet *packet)
{
    uint64_t mask = (UINT64_C(1) << PUG_ITM_GTS1_BITS) - 1;
    uint64_t upper = (uint64_t)packet->value_top << 32 | packet->value;
    d->global_time = (d->global_time & mask) | upper << PUG_ITM_GTS1_BITS;
    d->need_gts2 = false;
    push_global_time(d, index);
}

static enum pug_response decode_bad(struct pug_itm_decoder *d)
{
    d->reason = PUG_UNSYNC_BAD_PACKET;
    lose_sync(d);
    bool fatal = d->stage->quirks.bad_software_packet_fatal || d->stage->options.halt_on_bad_packet;
    return fatal ? PUG_RESP_FATAL_INVALID_DATA : PUG_RESP_CONT;
}

static enum pug_response decode_running(struct pug_itm_decoder *d, const struct pug_packet *packet)
{
    const struct pug_itm_packet *itm = packet->data;
    uint64_t index = packet->index;
    switch (itm->type) {
    case PUG_ITM_PKT_NOTSYNC:
        lose_sync(d);
        d->local_time = 0;
        break;
    case PUG_ITM_PKT_ASYNC:
        d->guessed = false;
        /* The page is sent again with each synchronisation. */
        if (!d->stage->quirks.itm_page_survives_sync)
            d->page = 0;
        break;
    case PUG_ITM_PKT_OVERFLOW:
        d->overflow = true;
        if (d->stage->quirks.itm_overflow_clears_time)
            d->local_time = 0;
        break;
    case PUG_ITM_PKT_SWIT: pug_itm_push_write(d, index, itm->source, itm->value, itm->size); break;
    case PUG_ITM_PKT_DWT:
        pug_itm_push(d, index, PUG_ITM_DWT, itm->source, itm->value, itm->size);
        break;
    case PUG_ITM_PKT_TS_LOCAL:
        pug_itm_push_local_time(d, index, itm->source, itm->value, itm->size);
        break;
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
static bool starts(const struct pug_itm_decoder *d, const struct pug_packet *packet)
{
    return packet->type == PUG_ITM_PKT_ASYNC ||
           (d->assume_sync && packet->type != PUG_ITM_PKT_NOTSYNC);
}

/* At most two elements a packet: one step, for which the tree has asked. */
enum pug_response pug_itm_decode(void *decoder, const struct pug_packet *packet)
{
    struct pug_itm_decoder *d = decoder;
    d->last_index = packet->index;
    if (d->state != PUG_ITM_RUN) {
        if (d->state == PUG_ITM_NO_SYNC)
            pug_out_push(&d->stage->out, PUG_ELEM_NO_SYNC, packet->index)->reason =
                (uint8_t)d->reason;
        d->state = starts(d, packet) ? PUG_ITM_RUN : PUG_ITM_WAIT_SYNC;
        if (d->state == PUG_ITM_WAIT_SYNC)
            return PUG_RESP_CONT;
    }
    return decode_running(d, packet);
}

enum pug_response pug_itm_decode_end(void *decoder)
{
    struct pug_itm_decoder *d = decoder;
    pug_out_push(&d->stage->out, PUG_ELEM_EO_TRACE, d->last_index)->reason = PUG_UNSYNC_EOT;
    return PUG_RESP_CONT;
}

/* ---- the decoder ---- */

enum pug_status pug_itm_decoder_new(const void *config, struct pug_stage *stage, void **decoder)
{
    const struct pug_itm_config *itm = config;
    struct pug_itm_decoder *d = calloc(1, sizeof(*d));
    if (!d)
        return PUG_ERR_MEM;
    d->stage = stage;
    bool prescaled = (itm->tcr & 1u << 4) || !stage->quirks.itm_prescale_needs_swo;
    d->prescale = prescaled ? pug_itm_prescale(itm) : 1;
    d->loss = itm->timestamp_loss;
    d->reason = PUG_UNSYNC_INIT_DECODER;
    d->assume_sync = itm->assume_sync || itm->begins;
    d->guessed = itm->guessed;
    d->time_flag = stage->quirks.itm_no_time_flags ? 0 : PUG_ELEM_HAS_TS;
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
    struct pug_itm_decoder *d = decoder;
    d->reason = PUG_UNSYNC_RESET_DECODER;
    if (d->stage->quirks.itm_reset_keeps_running)
        return;
    lose_sync(d);
    d->local_time = 0;
}
