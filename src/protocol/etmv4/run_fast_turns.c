// SPDX-License-Identifier: MIT
/** @file The fast path over the turns of a gathered run, apart: it takes no registers from other
 * ways.
 */
#include "protocol/etmv4/run_fast.h"

uint32_t pug_etmv4_run_fast_turns(struct pug_etmv4_reader *r, struct pug_etmv4_decoder *d,
                                  struct pug_span *span, struct pug_etmv4_pending_target *target,
                                  struct pug_etmv4_marks *marks)
{
    const bool stack = d->config->return_stack;
    return pug_etmv4_is_plain(d)
               ? pug_etmv4_run_fast(r, d, span, target, NULL, NULL, PUG_WANT_BATCH, stack, true)
               : pug_etmv4_run_fast(r, d, span, target, NULL, marks, PUG_WANT_BATCH, stack, true);
}
