// SPDX-License-Identifier: MIT
/** @file Decoding trace that is not in memory as a whole, or begins in the middle of a buffer. */
#ifndef PUG_SCHEDULE_STREAM_H
#define PUG_SCHEDULE_STREAM_H

#include "pugmark/advanced/jobs.h"

/** The source of such trace. */
struct pug_stream {
    void *context;
    uint64_t index; /**< of its first byte in the trace */
    /**
     * Returns the bytes from the offset `at` on, *size of them, which stay until the next call.
     * *more: are there others after these?
     */
    const uint8_t *(*next)(void *context, uint64_t at, size_t *size, bool *more);
};

/**
 * Decodes a stream on the caller's thread as pug_tree_decode() decodes bytes in memory. Each block
 * that next() returns becomes one part of each consumer. Other processes have no share in it.
 */
enum pug_status pug_tree_decode_stream(struct pug_tree *tree, const struct pug_jobs *jobs,
                                       const struct pug_stream *stream,
                                       struct pug_jobs_result *result);

#endif
