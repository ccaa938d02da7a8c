// SPDX-License-Identifier: MIT
/** @file What perf.data says of itself, and what its trace holds. */
#ifndef PUGMARK_TOOL_PERF_INFO_H
#define PUGMARK_TOOL_PERF_INFO_H

#include "input/input.h"

/** Print all of it; `segments`: each of them, too. An exit code. */
int perf_info(struct input *input, bool segments);

/** The line that says what the capture's times count. */
void capture_info_times(const struct pug_capture *capture);

#endif
