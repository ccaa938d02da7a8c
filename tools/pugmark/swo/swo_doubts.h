// SPDX-License-Identifier: MIT
/** @file Whether the clock that was given makes SysTick a usual one. */
#ifndef PUGMARK_TOOL_SWO_DOUBTS_H
#define PUGMARK_TOOL_SWO_DOUBTS_H

#include "swo_sources.h"

/** Words about a clock that is probably wrong. False: nothing is known against it. */
bool swo_doubts_clock(const struct swo_source *source, const struct pug_interrupts *interrupts,
                      char *words, size_t size);
/** Say them on standard error, unless `quiet`, and to who listens. */
void swo_doubts_tell(const struct swo_source *source, const struct pug_interrupts *interrupts,
                     bool quiet);

#endif
