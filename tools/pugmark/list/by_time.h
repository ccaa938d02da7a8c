// SPDX-License-Identifier: MIT
/** @file All streams of a capture in the order of time, and what is not known of it. */
#ifndef PUGMARK_TOOL_BY_TIME_H
#define PUGMARK_TOOL_BY_TIME_H

#include "input/input.h"
#include "pugmark/advanced/correlate.h"

/** Decode and correlate everything that was chosen; the exit code. */
int by_time_run(struct input *input, struct pug_correlate *correlate);

/** Say on standard error of which streams what is not known. */
void by_time_tell(const struct input *input, const struct pug_correlate *correlate);

/** "100+5", ">100", "<100", "?100": the time of an element, in words. */
void by_time_text(const struct pug_correlated *element, char text[48]);

#endif
