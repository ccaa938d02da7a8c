// SPDX-License-Identifier: MIT
#include "swo_doubts.h"

#include "capture/capture.h"
#include "common/messages.h"
#include "common/said.h"

#include <inttypes.h>
#include <stdio.h>

static bool is_usual(double rate)
{
    static const double usual[] = {1,    2,    5,    10,   20,   25,   50,   60,   64,    100,  120,
                                   125,  128,  200,  250,  256,  300,  400,  500,  512,   600,  800,
                                   1000, 1024, 1200, 2000, 2048, 4000, 5000, 8000, 10000, 20000};
    for (size_t i = 0; i < sizeof(usual) / sizeof(usual[0]); i++)
        if (rate > usual[i] * 0.995 && rate < usual[i] * 1.005)
            return true;
    return false;
}

bool swo_doubts_clock(const struct pug_capture *capture, uint64_t tick, char *words, size_t size)
{
    const uint64_t hertz = capture->local_hertz;
    if (hertz == 0 || tick == 0)
        return false;
    const double rate = 1e9 / (double)tick;
    snprintf(words, size,
             "doubtful: with --clock %" PRIu64 " SysTick comes %.2f times a second, which is no "
             "usual rate; at 1000 a second the core would run at %.3f MHz: is the clock right?",
             hertz, rate, (double)hertz * 1000 / rate / 1e6);
    return !is_usual(rate);
}

void swo_doubts_tell(const struct pug_capture *capture, uint64_t tick, bool quiet)
{
    char words[256];
    if (!swo_doubts_clock(capture, tick, words, sizeof(words)))
        return;
    said(SAID_TIMES, "%s", words);
    if (!quiet)
        message_say("pugmark: %s\n", words);
}
