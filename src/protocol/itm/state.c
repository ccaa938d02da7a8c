// SPDX-License-Identifier: MIT
/** @file What is still to come depends on (state.h). */
#include "protocol/itm/elements.h"
#include "protocol/itm/reader.h"

/** Bytes that went out with the last packet are forgotten with the next one. */
static void put_search(const struct pug_itm_reader *r, struct pug_state *state)
{
    size_t left = r->raw.size - r->given;
    pug_state_number(state, r->begins);
    pug_state_number(state, r->begins ? r->ahead : 0);
    pug_state_number(state, r->matching);
    pug_state_number(state, r->matching ? r->zeros : 0);
    pug_state_number(state, r->unsure);
    if (r->stage->quirks.itm_search_reports)
        pug_state_number(state, r->told);
    pug_state_number(state, left);
    if (left > 0 || r->matching)
        pug_state_number(state, r->index);
    pug_state_put(state, pug_rawbytes_look(&r->raw) + r->given, left);
}

/** The header of the packet under way gives everything that is not written. */
void pug_itm_reader_state(const void *reader, struct pug_state *state)
{
    const struct pug_itm_reader *r = reader;
    pug_state_number(state, r->synced);
    if (!r->synced) {
        put_search(r, state);
        return;
    }
    pug_state_number(state, r->zeros);
    pug_state_number(state, r->page);
    pug_state_number(state, r->has_upper);
    pug_state_number(state, r->has_upper
                                ? r->global_time
                                : r->global_time & ((UINT64_C(1) << PUG_ITM_GTS1_BITS) - 1));
    pug_state_number(state, r->open);
    if (!r->open)
        return;
    pug_state_number(state, r->index);
    pug_state_number(state, r->count);
    pug_state_number(state, r->value);
    pug_rawbytes_state(&r->raw, state);
}

/** The sum of the local timestamps is one of all that came before, unless there are none. */
void pug_itm_decoder_state(const void *decoder, struct pug_state *state)
{
    const struct pug_itm_decoder *d = decoder;
    uint64_t known = d->need_gts2 ? (UINT64_C(1) << PUG_ITM_GTS1_BITS) - 1 : UINT64_MAX;
    pug_state_number(state, d->state);
    if (d->state == PUG_ITM_NO_SYNC)
        pug_state_number(state, d->reason);
    pug_state_number(state, d->local_time);
    pug_state_number(state, d->global_time & known);
    pug_state_number(state, d->timestamp);
    pug_state_number(state, d->page);
    pug_state_number(state, d->need_gts2);
    pug_state_number(state, d->overflow);
    pug_state_number(state, d->clock_changed);
    pug_state_number(state, d->guessed);
    pug_state_number(state, d->last_index);
}
