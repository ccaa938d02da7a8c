// SPDX-License-Identifier: MIT
/** @file Event counters in words. */
#include "swo/swo.h"

const char *pug_swo_counter_name(unsigned counter)
{
    static const char *const names[PUG_SWO_COUNTERS] = {
        "CPI cycles",          "exception cycles", "sleep cycles",  "load/store cycles",
        "folded instructions", "cycle events",     "PMU counter 0", "PMU counter 1",
        "PMU counter 2",       "PMU counter 3",    "PMU counter 4", "PMU counter 5",
        "PMU counter 6",       "PMU counter 7"};
    return counter < PUG_SWO_COUNTERS ? names[counter] : "counter";
}
