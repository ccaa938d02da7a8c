// SPDX-License-Identifier: MIT
/** @file Streams of an STM, written as nibbles, and what comes of them. */
#ifndef PUG_TESTS_SUPPORT_STM_STREAM_H
#define PUG_TESTS_SUPPORT_STM_STREAM_H

#include "recorder/stm.h"
#include "support/stream.h"

#define STM_TCSR 0x00200007

/** The settings of all these streams. */
extern const struct pug_settings stm_settings;

/** To be run with these bytes. */
struct stream_run stm_run(struct stream_lines *lines, const struct rec_bytes *bytes);

/** Nibbles in hex, blanks between them, as bytes. */
struct rec_bytes stm_nibbles(const char *text);

/** ASYNC and VERSION. */
#define STM_SYNC "FFFFFFFFFFFFFFFFFFFFF0 F003 "

/** Assert that nibbles give these lines, the last of which is NULL; what else `run` says holds. */
void stm_assert_lines(const char *stream, struct stream_run run, const char *const *wanted);

#endif
