// SPDX-License-Identifier: MIT
/** @file The lane over the turns of a gathered run, apart: it takes no registers from other ways.
 */
#include "protocol/etmv4/ride.h"

uint32_t pug_etmv4_ride_turns(struct pug_etmv4_reader *r, struct pug_etmv4_decoder *d,
                              struct pug_span *span, struct pug_etmv4_aim *aim,
                              struct pug_etmv4_marks *marks)
{
    const bool stack = d->config->return_stack;
    return pug_etmv4_is_plain(d)
               ? pug_etmv4_ride(r, d, span, aim, NULL, NULL, PUG_WANT_BATCH, stack, true)
               : pug_etmv4_ride(r, d, span, aim, NULL, marks, PUG_WANT_BATCH, stack, true);
}
