// SPDX-License-Identifier: MIT
/**
 * @file Written states (state.h): decoders that begin in mid-stream, beside one that began at the
 * start. Where both write the same they must go on the same, and they should soon.
 */
#ifndef PUG_TESTS_SUPPORT_STATE_CHECK_H
#define PUG_TESTS_SUPPORT_STATE_CHECK_H

#include "support/stream.h"

struct state_check {
    size_t block;    /**< states are compared after each so many bytes; 0: 64 */
    size_t unit;     /**< decoders begin at multiples of this; 0: anywhere. CoreSight frames: 16 */
    unsigned starts; /**< how many begin, in the first three quarters of the stream */
    uint64_t seed;   /**< where */
    /* what came out */
    unsigned met;   /**< those that wrote, some time, what the first one wrote */
    size_t slowest; /**< of them: most bytes from the beginning until then */
};

/**
 * Decode a stream from its start and from other places. Asserts that states are written, that
 * states that were equal stay equal, that the same elements and log records follow, and that
 * several threads give what one gives.
 */
void state_check(const struct stream_run *run, struct state_check *check);

/** The same with a damaged copy of the stream. */
void state_check_damaged(const struct stream_run *run, struct state_check *check);

#endif
