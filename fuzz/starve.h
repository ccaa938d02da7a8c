// SPDX-License-Identifier: MIT
/** @file An allocator that fails, put by the linker in front of the library's. */
#ifndef PUG_FUZZ_STARVE_H
#define PUG_FUZZ_STARVE_H

#include <stdbool.h>

/**
 * From here on the allocation after `left` others fails, on any thread; `on`: all later ones, too.
 */
void fuzz_starve(unsigned left, bool on);

/** There is memory again; was there none? */
bool fuzz_feast(void);

#endif
