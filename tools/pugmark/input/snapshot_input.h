// SPDX-License-Identifier: MIT
/** @file What a snapshot says of itself. */
#ifndef PUGMARK_TOOL_SNAPSHOT_INPUT_H
#define PUGMARK_TOOL_SNAPSHOT_INPUT_H

#include "input.h"

/** Say what the snapshot holds; nothing for other inputs. */
void snapshot_input_print(const struct input *input);

/** Prints them for a folder that was refused because it has no trace buffer. False: it is none. */
bool snapshot_input_print_devices(const struct input_options *options, const char *folder);

#endif
