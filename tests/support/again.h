// SPDX-License-Identifier: MIT
/**
 * @file The same trace again and again through one tree, while something under it changes: what a
 * decoder keeps of what it saw must hold for nothing else.
 */
#ifndef PUG_TESTS_SUPPORT_AGAIN_H
#define PUG_TESTS_SUPPORT_AGAIN_H

#include "support/stream.h"

#include "recorder/bytes.h"

/** The program of a trace. */
struct again_code {
    uint64_t base;
    const struct rec_bytes *bytes;
};

/** Assert that a fast path gives what packets give where memory comes from callbacks, by context.
 */
void again_check_contexts(const struct stream_run *run, const struct again_code *code,
                          uint64_t seed);

/** The same where another program comes to the same addresses, and goes again. */
void again_check_images(const struct stream_run *run, const struct again_code *code);

/** The same where the first bytes of the trace say something else now and then. */
void again_check_beginnings(const struct stream_run *run, const struct again_code *code);

#endif
