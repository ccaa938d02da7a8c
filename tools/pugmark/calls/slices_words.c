// SPDX-License-Identifier: MIT
#include "slices_words.h"

#include "base/text.h"
#include "common/order.h"
#include "common/said.h"

void slices_tell(uint64_t out_of_order, uint64_t estimated, uint64_t calls, bool quiet)
{
    char some[32], all[32];
    order_tell(out_of_order, "its slices", quiet);
    if (estimated > 0)
        said(SAID_TIMES, "%s of %s calls have estimated times, between two timestamps",
             pug_text_thousands(estimated, some), pug_text_thousands(calls, all));
}
