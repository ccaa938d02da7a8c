// SPDX-License-Identifier: MIT
/** @file What the events to come depend on, written for comparison (state.h). */
#include "protocol/osd_stm/stm.h"

/** Of the element before, only its index is kept: the end of the trace is reported there. */
void pug_osd_stm_decoder_state(const void *data, struct pug_state *state)
{
    const struct pug_osd_stm_decoder *d = data;
    pug_state_number(state, d->waiting.index);
}
