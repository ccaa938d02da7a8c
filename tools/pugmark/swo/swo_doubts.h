// SPDX-License-Identifier: MIT
/** @file Whether the clock that was given makes SysTick a usual one. */
#ifndef PUGMARK_TOOL_SWO_DOUBTS_H
#define PUGMARK_TOOL_SWO_DOUBTS_H

#include "pugmark/capture.h"

/**
 * Words about the rate of local timestamps that was given, if it makes a SysTick of so many
 * nanoseconds an unusual one. False: nothing is known against it.
 */
bool swo_doubts_clock(const struct pug_capture *capture, uint64_t tick, char *words, size_t size);
/** Say them on standard error, unless `quiet`, and to who listens. */
void swo_doubts_tell(const struct pug_capture *capture, uint64_t tick, bool quiet);

#endif
