// SPDX-License-Identifier: MIT
/** @file Every captured buffer that there is: the bundled capture's, the project's own, shared
 * ones.
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

/**
 * For each buffer of the project's own captures (tests/captures), and of the shared ones where they
 * are there.
 */
void captures_all(capture_fn *function, void *context);

#endif
