// SPDX-License-Identifier: MIT
/** @file Event counters: a packet says which of them wrapped, and so how much was counted since. */
#include "swo/swo.h"

/** Bits of a PMU's packet follow those of the DWT's. */
#define PMU_COUNTERS (PUG_SWO_COUNTERS - PUG_SWO_DWT_COUNTERS)

unsigned pug_swo_counters_take(struct pug_swo_counters *counters, const struct pug_dwt_event *event)
{
    unsigned moved = 0;
    if (event->kind == PUG_DWT_COUNTERS)
        moved = event->counters & ((1u << PUG_SWO_DWT_COUNTERS) - 1);
    else if (event->kind == PUG_DWT_PMU)
        moved = (event->counters & ((1u << PMU_COUNTERS) - 1)) << PUG_SWO_DWT_COUNTERS;
    for (unsigned n = 0; n < PUG_SWO_COUNTERS; n++)
        if (moved >> n & 1) /* the cycle counter's packets come when its tap counted down */
            counters->values[n] += 1u << n == PUG_DWT_CYC ? 1 : PUG_SWO_WRAP;
    return moved;
}
