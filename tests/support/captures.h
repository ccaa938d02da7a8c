// SPDX-License-Identifier: MIT
/**
 * @file Every captured buffer that there is: the bundled capture's, the project's own, shared ones.
 */
#ifndef PUG_TESTS_SUPPORT_CAPTURES_H
#define PUG_TESTS_SUPPORT_CAPTURES_H

#include "pugmark/advanced/image.h"
#include "pugmark/advanced/snapshot.h"
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

/** The captures that a test runs on: its prestate. */
enum captures {
    CAPTURES_OWN,    /**< the bundled one and the project's own (tests/captures) */
    CAPTURES_SHARED, /**< those beside the repository; the test is skipped where they are not */
};

extern const enum captures captures_own, captures_shared;

/** For each of them, by its folder. */
void captures_folders(enum captures captures, void (*look)(const char *path, void *context),
                      void *context);

/** For each of their buffers. */
void captures_each(enum captures captures, capture_fn *function, void *context);

/**
 * Look at each of them up to `most` bytes, and at so many damaged forms of those that are short.
 * `what` says which it is.
 */
void captures_damaged(enum captures captures, size_t most, unsigned damages,
                      void (*look)(const struct capture *capture, const char *what));

/** In place of an image's dumps, a callback for all addresses. */
void captures_use_callback(struct pug_image *image, pug_memory_fn *function, void *context);

/** The same trace again and again, up to so many bytes; free() its bytes. */
struct capture capture_repeated(const struct capture *capture, size_t size);

/** The test over its own captures; and over the shared ones, which is a test of its own (run.h). */
#define TEST_CAPTURES(function)                                                                    \
    {#function, function, NULL, NULL, (void *)&captures_own}, /* NOLINT */                         \
    {                                                                                              \
#function "_of_shared", function, NULL, NULL, (void *)&captures_shared                     \
    }

#endif
