// SPDX-License-Identifier: MIT
/** @file Live inputs of the commands: what ends them, and the options that only they have. */
#ifndef PUGMARK_TOOL_LIVE_INPUT_H
#define PUGMARK_TOOL_LIVE_INPUT_H

#include "input.h"

/** Takers of --retry and --for. Targets: struct live_options; uint64_t, milliseconds. */
option_fn live_take_retry, live_take_time;

/** Is the operand a stream: a known scheme, standard input, a FIFO, a device? */
bool live_is_stream(const char *operand);

/**
 * What the capture is opened with, where the operand is a stream; NULL where it is none. From now
 * on SIGINT and SIGTERM end the stream, and a second SIGINT the command. False, having said so: an
 * option is for live inputs alone.
 */
bool live_begin(const struct live_options *options, const char *operand,
                struct pug_capture_stream *live, bool *is_stream);

/** End the stream at hand as at the end of a file: from any thread. */
void live_stop(void);

/** Understand --until, when the input is open; false, having said why. */
bool live_take_until(struct input *input);

/** A consumer of a stream on one thread that ends it at --until; false: nothing is looked for. */
bool live_consumer(struct pug_consumer *consumer);

/** No byte came from a live input: say the likely cause. False: some did, or it is none. */
bool live_is_silent(const struct input *input);

#endif
