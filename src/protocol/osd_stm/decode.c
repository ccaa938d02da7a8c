// SPDX-License-Identifier: MIT
/** @file System trace events to software trace elements. */
#include "protocol/osd_stm/stm.h"

#include <stdlib.h>

/** The part of an address that is the module's own; the rest is the subnet. */
#define LOCAL_ADDRESS 0x3ffu

enum pug_status pug_osd_stm_decoder_new(const void *config, struct pug_stage *stage, void **out)
{
    struct pug_osd_stm_decoder *d = calloc(1, sizeof(*d));
    if (!d)
        return PUG_ERR_MEM;
    d->config = config;
    d->stage = stage;
    pug_osd_stm_decoder_reset(d);
    *out = d;
    return PUG_OK;
}

void pug_osd_stm_decoder_free(void *decoder)
{
    free(decoder);
}

void pug_osd_stm_decoder_reset(void *data)
{
    struct pug_osd_stm_decoder *d = data;
    d->stage->out.blank = (struct pug_element){.source = d->stage->source};
}

enum pug_response pug_osd_stm_resume(void *data)
{
    struct pug_osd_stm_decoder *d = data;
    if (!pug_out_ready(&d->stage->out)) {
        d->stage->pending = true;
        return PUG_RESP_CONT;
    }
    *pug_out_push(&d->stage->out, PUG_ELEM_SWTRACE, 0) = d->waiting;
    return PUG_RESP_CONT;
}

static struct pug_element blank(const struct pug_osd_stm_decoder *d, uint64_t index, uint8_t type)
{
    struct pug_element element = d->stage->out.blank;
    element.index = index;
    element.type = type;
    return element;
}

static void fill_event(struct pug_osd_stm_decoder *d, const struct pug_osd_packet *event)
{
    struct pug_element *element = &d->waiting;
    element->sw_flags = PUG_SW_ID_VALID;
    element->sw_packets = 1;
    element->sw_bits = event->width;
    element->value = event->value;
    PUG_SW_MASTER(element) = event->source & LOCAL_ADDRESS;
    PUG_SW_CHANNEL(element) = event->id;
    element->flags = PUG_ELEM_HAS_TS;
    element->timestamp = event->now;
}

static void fill_overflow(struct pug_osd_stm_decoder *d, const struct pug_osd_packet *overflow)
{
    struct pug_element *element = &d->waiting;
    element->sw_flags = PUG_SW_OVERFLOW;
    element->value = overflow->missed;
    PUG_SW_MASTER(element) = overflow->source & LOCAL_ADDRESS;
}

enum pug_response pug_osd_stm_decode(void *data, const struct pug_packet *packet)
{
    struct pug_osd_stm_decoder *d = data;
    const struct pug_osd_packet *osd = packet->data;
    d->waiting = blank(d, packet->index, PUG_ELEM_SWTRACE);
    switch (osd->kind) {
    case PUG_OSD_KIND_EVENT: fill_event(d, osd); break;
    case PUG_OSD_KIND_OVERFLOW: fill_overflow(d, osd); break;
    default: d->waiting = blank(d, packet->index, PUG_ELEM_UNKNOWN);
    }
    pug_osd_stm_resume(d);
    if (!(packet->flags & PUG_PACKET_BAD))
        return PUG_RESP_CONT;
    return d->stage->options.halt_on_bad_packet    ? PUG_RESP_FATAL_INVALID_DATA
           : d->stage->options.error_on_bad_packet ? PUG_RESP_ERR_CONT
                                                   : PUG_RESP_WARN_CONT;
}

enum pug_response pug_osd_stm_decode_end(void *data)
{
    struct pug_osd_stm_decoder *d = data;
    uint64_t last = d->waiting.index;
    d->waiting = blank(d, last, PUG_ELEM_EO_TRACE);
    d->waiting.reason = PUG_UNSYNC_EOT;
    return pug_osd_stm_resume(d);
}
