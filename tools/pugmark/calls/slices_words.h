// SPDX-License-Identifier: MIT
/** @file What a timeline rests on, in words. */
#ifndef PUGMARK_TOOL_SLICES_WORDS_H
#define PUGMARK_TOOL_SLICES_WORDS_H

#include <stdbool.h>
#include <stdint.h>

/**
 * Say on standard error, unless `quiet`, that threads are out of order; and to who listens, that
 * so many of all calls have estimated times.
 */
void slices_tell(uint64_t out_of_order, uint64_t estimated, uint64_t calls, bool quiet);

#endif
