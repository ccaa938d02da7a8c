// SPDX-License-Identifier: MIT
/** @file Every captured buffer that there is: the bundled capture's, and those of shared captures.
 */
#ifndef PUG_TESTS_SUPPORT_CAPTURES_H
#define PUG_TESTS_SUPPORT_CAPTURES_H

#include "pugmark/pugmark.h"

/** A buffer in memory. The bytes may be changed. */
struct capture {
    struct pug_snapshot *snapshot;
    const struct pug_snapshot_buffer *buffer;
    uint8_t *bytes;
    size_t size;
};

typedef void capture_fn(struct capture *capture, void *context);

/** For each buffer of the bundled capture. */
void captures_bundled(capture_fn *function, void *context);

/** For each buffer of the shared captures; skips the test, with a message, where they are not. */
void captures_shared(capture_fn *function, void *context);

#endif
