// SPDX-License-Identifier: MIT
/** @file A capture decoded to slices. */
#ifndef PUGMARK_TOOL_SLICES_INPUT_H
#define PUGMARK_TOOL_SLICES_INPUT_H

#include "input/input.h"
#include "slices.h"

/** Decode what is chosen of the input, with progress; input_concluded() says how it ended. */
enum pug_status slices_decode(struct slices *slices, const struct input *input,
                              struct pug_capture_result *result);

/** The clocks in the decoded trace. */
struct slices_heard {
    bool time, cycles;
};

/** Decodes, and returns the clocks, too. */
enum pug_status slices_decode_heard(struct slices *slices, const struct input *input,
                                    struct slices_heard *heard, struct pug_capture_result *result);

#endif
