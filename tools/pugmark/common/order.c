// SPDX-License-Identifier: MIT
#include "order.h"

#include "messages.h"
#include "said.h"

#include <inttypes.h>
#include <stdio.h>

void order_tell(uint64_t returns, const char *what, bool quiet)
{
    char words[256];
    if (returns == 0)
        return;
    snprintf(words, sizeof(words),
             "%" PRIu64 " times a thread goes on with what it did earlier on another processor, "
             "whose trace is read later: %s are not in the order of time",
             returns, what);
    said(SAID_TIMES, "%s", words);
    if (!quiet)
        message_say("pugmark: %s\n", words);
}
