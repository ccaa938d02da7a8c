// SPDX-License-Identifier: MIT
/** @file What can be said without addresses and values: where trace is lost, and where it ends. */
#include "protocol/etmv4d/etmv4d.h"

static void push(struct pug_etmv4d_decoder *d, enum pug_element_type type, uint64_t index,
                 enum pug_unsync reason)
{
    struct pug_element *element = pug_out_push(&d->stage->out, type, index);
    element->reason = (uint8_t)reason;
}

enum pug_response pug_etmv4d_decode(void *decoder, const struct pug_packet *packet)
{
    struct pug_etmv4d_decoder *d = decoder;
    const struct pug_etmv4d_packet *data = packet->data;
    d->last = packet->index;
    /* One element a packet: the driver asked for room. The first is never one of these two. */
    if (!d->told)
        push(d, PUG_ELEM_NO_SYNC, packet->index, PUG_UNSYNC_INIT_DECODER);
    else if (data->type == PUG_ETMV4D_DISCARD)
        push(d, PUG_ELEM_NO_SYNC, packet->index, PUG_UNSYNC_DISCARD);
    else if (data->type == PUG_ETMV4D_OVERFLOW)
        push(d, PUG_ELEM_NO_SYNC, packet->index, PUG_UNSYNC_OVERFLOW);
    else if (data->type == PUG_ETMV4D_RESERVED)
        push(d, PUG_ELEM_NO_SYNC, packet->index, PUG_UNSYNC_BAD_PACKET);
    d->told = true;
    return PUG_RESP_CONT;
}

enum pug_response pug_etmv4d_decode_end(void *decoder)
{
    struct pug_etmv4d_decoder *d = decoder;
    push(d, PUG_ELEM_EO_TRACE, d->last, PUG_UNSYNC_EOT);
    return PUG_RESP_CONT;
}
