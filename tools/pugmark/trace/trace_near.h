// SPDX-License-Identifier: MIT
/** @file A window of a long trace without decoding all of it: from the bytes around it alone. */
#ifndef PUGMARK_TOOL_TRACE_NEAR_H
#define PUGMARK_TOOL_TRACE_NEAR_H

#include "input/address.h"
#include "items/parts.h"

/**
 * Fill the window of parts from the end of the trace, or from around the offset it is to end with,
 * in as many bytes as it takes. `decode` says how, `total` is how many bytes there are. What is
 * found counts only if every source that speaks there was understood before the window begins.
 * False: the window is empty, and all has to be decoded. *status and *result are of what was done.
 */
bool trace_near(struct trace_parts *parts, const struct pug_capture_decode *decode, uint64_t total,
                enum pug_status *status, struct pug_capture_result *result);

#endif
