// SPDX-License-Identifier: MIT
/** @file What perf.data says of itself, and what its trace holds. */
#ifndef PUGMARK_TOOL_PERF_INFO_H
#define PUGMARK_TOOL_PERF_INFO_H

#include "input.h"

/** Print all of it; `stretches`: each of them, too. An exit code. */
int perf_info(struct input *input, bool stretches);

/** The line that says what the capture's times count. */
void capture_info_times(const struct pug_capture *capture);

#endif
