// SPDX-License-Identifier: MIT
/** @file STM packets to software trace elements. */
#include "protocol/stm/elements.h"

/** A packet while not running. True: the stream is synchronised from here on. */
static bool wait_for_sync(struct pug_stm_decoder *d, const struct pug_packet *packet)
{
    if (d->state == PUG_STM_NO_SYNC)
        pug_out_push(&d->stage->out, PUG_ELEM_NO_SYNC, packet->index)->reason = (uint8_t)d->reason;
    d->state = packet->type == PUG_STM_ASYNC ? PUG_STM_RUN : PUG_STM_WAIT_SYNC;
    return d->state == PUG_STM_RUN;
}

/* At most four elements a packet: one step, for which the tree has asked. */
enum pug_response pug_stm_decode(void *decoder, const struct pug_packet *packet)
{
    struct pug_stm_decoder *d = decoder;
    d->last_index = packet->index;
    if (d->state != PUG_STM_RUN && !wait_for_sync(d, packet))
        return PUG_RESP_CONT;
    return pug_stm_decode_running(d, packet->index, packet->data);
}

enum pug_response pug_stm_decode_end(void *decoder)
{
    struct pug_stm_decoder *d = decoder;
    pug_stm_message_close(&d->message, &d->stage->out);
    pug_out_push(&d->stage->out, PUG_ELEM_EO_TRACE, d->last_index)->reason = PUG_UNSYNC_EOT;
    return PUG_RESP_CONT;
}

/* ---- the decoder ---- */

enum pug_status pug_stm_decoder_new(const void *config, struct pug_stage *stage, void **decoder)
{
    (void)config;
    struct pug_stm_decoder *d = calloc(1, sizeof(*d));
    if (!d)
        return PUG_ERR_MEM;
    d->stage = stage;
    d->reason = PUG_UNSYNC_INIT_DECODER;
    pug_stm_lose_sync(d);
    if (pug_stm_options_changed(d) != PUG_OK) {
        free(d);
        return PUG_ERR_MEM;
    }
    *decoder = d;
    return PUG_OK;
}

enum pug_status pug_stm_options_changed(void *decoder)
{
    struct pug_stm_decoder *d = decoder;
    const bool join = d->stage->options.join_payloads;
    if (join && !d->message.bytes && !pug_stm_message_init(&d->message, &d->stage->out))
        return PUG_ERR_MEM;
    d->parting = d->join_payloads && !join;
    d->join_payloads |= join;
    return PUG_OK;
}

void pug_stm_decoder_free(void *decoder)
{
    struct pug_stm_decoder *d = decoder;
    pug_stm_message_free(&d->message);
    free(d);
}

void pug_stm_decoder_reset(void *decoder)
{
    struct pug_stm_decoder *d = decoder;
    d->reason = PUG_UNSYNC_RESET_DECODER;
    pug_stm_message_drop(&d->message);
    d->join_payloads = d->stage->options.join_payloads;
    d->parting = false;
    pug_stm_lose_sync(d);
}
