// SPDX-License-Identifier: MIT
/** @file Does a trace equal what ran? Decoded addresses against an executed path. */
#ifndef PUGMARK_TOOL_VERIFY_H
#define PUGMARK_TOOL_VERIFY_H

#include "input/input.h"

struct verify_options {
    const char *path; /**< the file of the path; NULL: nothing is to be verified */
    bool tail;        /**< the trace may have lost its beginning */
};

/** Compare all buffers of the input with the path; says how it is. Returns an exit code. */
int verify_run(const struct input_options *input, const struct verify_options *options,
               const char *operand);

#endif
