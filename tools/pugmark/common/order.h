// SPDX-License-Identifier: MIT
/** @file The warning that threads are not in the order of time. */
#ifndef PUGMARK_TOOL_ORDER_H
#define PUGMARK_TOOL_ORDER_H

#include <stdbool.h>
#include <stdint.h>

/**
 * Say on standard error, unless `quiet`, that a thread went on so often with what it did earlier
 * (pug_places_returns()): `what` is not in the order of time then.
 */
void order_tell(uint64_t returns, const char *what, bool quiet);

#endif
