// SPDX-License-Identifier: MIT
#include "slices_words.h"

#include "common/order.h"
#include "common/said.h"
#include "diagnose/diagnosis.h"

void slices_tell(uint64_t out_of_order, uint64_t estimated, uint64_t calls, bool quiet)
{
    char some[32], all[32];
    order_tell(out_of_order, "its slices", quiet);
    if (estimated > 0)
        said(SAID_TIMES, "%s of %s calls have estimated times, between two timestamps",
             diagnosis_grouped(estimated, some), diagnosis_grouped(calls, all));
}
