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

const char *pug_swo_counter_name(unsigned counter)
{
    static const char *const names[PUG_SWO_COUNTERS] = {
        "CPI cycles",          "exception cycles", "sleep cycles",  "load/store cycles",
        "folded instructions", "cycle events",     "PMU counter 0", "PMU counter 1",
        "PMU counter 2",       "PMU counter 3",    "PMU counter 4", "PMU counter 5",
        "PMU counter 6",       "PMU counter 7"};
    return counter < PUG_SWO_COUNTERS ? names[counter] : "counter";
}
