// SPDX-License-Identifier: MIT
/** @file What the events to come depend on, written for comparison (state.h). */
#include "protocol/osd_ctm/ctm.h"

/** Of the event before, only its index is kept: the end of the trace is reported there. */
void pug_osd_ctm_decoder_state(const void *data, struct pug_state *state)
{
    const struct pug_ctm_decoder *d = data;
    pug_state_number(state, d->now);
    pug_state_number(state, d->started);
    pug_state_number(state, d->told_program);
    pug_state_number(state, d->index);
    pug_state_number(state, d->flowing);
    pug_state_number(state, d->flowing ? d->npc : 0);
}
