// SPDX-License-Identifier: MIT
/** @file What the files of an input (input.h) share: opening, trees, running. */
#ifndef PUGMARK_TOOL_INPUT_PRIVATE_H
#define PUGMARK_TOOL_INPUT_PRIVATE_H

#include "input.h"

/** Takes the records of its log. */
void input_take_message(void *context, const struct pug_log_record *record);

/** The options with which its capture is opened; they borrow from the input. */
struct pug_capture_options input_capture_options(const struct input *input);

/** Was everything of --set and --core asked for? False, having said what was not. */
bool input_settings_read(const struct input *input);

/**
 * A tree of each segment of a snapshot, or of one file, and away with it: then it is known what
 * settings and which programs are looked for. The first error.
 */
enum pug_status input_read_all(struct input *input);

/** A name that is none, but nearly: what is decoded without it is not what was described. */
void input_tell_slip(void *context, const char *file, const char *name, const char *meant);

/**
 * Is there what --source, --pid, --tid, --comm and --cpu choose, or some of it? Absent ones are
 * reported.
 */
bool input_choices_are_there(struct input *input);

void input_drop_tree(struct input *input);

/** So much of a trace that was decoded in another way is looked at, and stays of a stream. */
#define INPUT_LOOK_MOST (UINT64_C(4) << 20)

/**
 * What stayed of a stream that was decoded as it came is the trace at hand; false: there is none.
 */
bool input_recall(struct input *input);

/** False, having said so: an output is a file that the capture names. */
bool input_spares_files(const struct input *input);

#endif
