// SPDX-License-Identifier: MIT
/** @file What is off with a perf.data: its programs, as each process has them. */
#ifndef PUGMARK_TOOL_PERF_DIAGNOSIS_H
#define PUGMARK_TOOL_PERF_DIAGNOSIS_H

#include <stdbool.h>
#include <stdint.h>

struct input;

/**
 * Decode the first `most` bytes of what is chosen once more, and say what is off, unless the
 * options want quiet. True: something is.
 */
bool perf_diagnosis(struct input *input, uint64_t most);

#endif
