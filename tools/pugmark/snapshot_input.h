// SPDX-License-Identifier: MIT
/** @file Input from a snapshot folder. */
#ifndef PUGMARK_TOOL_SNAPSHOT_INPUT_H
#define PUGMARK_TOOL_SNAPSHOT_INPUT_H

#include "input.h"

/** Open it and find the trace file; false, having said why. */
bool snapshot_input_open(struct input *input, const char *path);

/** The tree of the chosen buffer; the snapshot's memory is added to the input's image. */
enum pug_status snapshot_input_tree(struct input *input, bool decode,
                                    const struct pug_decode_options *options);

/** Say what the snapshot holds; nothing for other inputs. */
void snapshot_input_print(const struct input *input);

void snapshot_input_close(struct input *input);

#endif
