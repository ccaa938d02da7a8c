// SPDX-License-Identifier: MIT
/** @file What is still to come depends on (state.h). */
#include "protocol/stm/elements.h"
#include "protocol/stm/fields.h"

/**
 * Of a search. The bytes of a possible ASYNC are known by its length; `count` bytes are not
 * reported.
 */
static void put_search(const struct pug_stm_reader *r, struct pug_state *state)
{
    pug_state_number(state, r->f_run);
    pug_state_number(state, r->borrowed);
    pug_state_number(state, (unsigned)r->started | (unsigned)r->found << 1);
    if (r->started || r->found || r->f_run > 0)
        pug_state_number(state, r->sync_index);
    pug_state_number(state, r->count);
    if (r->count == 0)
        return;
    pug_state_number(state, r->index);
    pug_state_number(state, r->from_odd);
    pug_rawbytes_state(&r->raw, state);
}

/**
 * Not written: of the packet, the fields that each packet sets, and its type, unless the quirk
 * keeps it; of the last field, all but the F at its end; `copied`, which lasts as long as a run.
 */
void pug_stm_reader_state(const void *reader, struct pug_state *state)
{
    const struct pug_stm_reader *r = reader;
    pug_state_number(state, r->state);
    pug_state_number(state, r->odd);
    pug_state_number(state, r->packet.master);
    pug_state_number(state, r->packet.channel);
    pug_state_number(state, r->packet.ts_type);
    pug_state_number(state, r->packet.timestamp);
    if (r->stale_type)
        pug_state_number(state, r->packet.type);
    if (r->state == PUG_STM_SEARCHING) {
        put_search(r, state);
        return;
    }
    if (r->state == PUG_STM_IN_ASYNC) {
        pug_state_number(state, r->index);
        pug_state_number(state, r->f_run);
        pug_rawbytes_state(&r->raw, state);
        return;
    }
    pug_state_number(state, pug_stm_trailing_run(r));
    pug_state_number(state, r->held);
    pug_state_number(state, r->open);
    if (r->open) {
        pug_state_number(state, r->index);
        pug_state_put(state, r->copy + PUG_STM_PACKET_BYTES - r->held, r->held);
    } else if (r->held > 0) {
        pug_state_number(state, r->half);
    }
}

/** The message under way. Which slot has its payload is not seen. */
static void put_message(const struct pug_stm_message *message, struct pug_state *state)
{
    const struct pug_element *e = &message->element;
    pug_state_number(state, e->sw_packets);
    if (e->sw_packets == 0)
        return;
    pug_state_number(state, e->index);
    pug_state_number(state, e->timestamp);
    pug_state_number(state, e->value);
    pug_state_number(state, PUG_SW_MASTER(e));
    pug_state_number(state, PUG_SW_CHANNEL(e));
    pug_state_number(state, e->flags);
    pug_state_number(state, e->sw_flags);
    pug_state_number(state, e->sw_bits);
    pug_state_number(state, message->size);
    pug_state_put(state, pug_stm_message_payload(message), message->size);
}

/** The next packet reports why synchronisation was lost; after that the reason is not needed. */
void pug_stm_decoder_state(const void *decoder, struct pug_state *state)
{
    const struct pug_stm_decoder *d = decoder;
    pug_state_number(state, d->state);
    if (d->state == PUG_STM_NO_SYNC)
        pug_state_number(state, d->reason);
    pug_state_number(state, PUG_SW_MASTER(&d->blank));
    pug_state_number(state, PUG_SW_CHANNEL(&d->blank));
    pug_state_number(state, d->blank.sw_flags);
    pug_state_number(state, d->timestamp);
    pug_state_number(state, d->last_index);
    pug_state_number(state, d->parting);
    put_message(&d->message, state);
}
