// SPDX-License-Identifier: MIT
/** @file What packets are marked with, beside what elements tell of them. */
#ifndef PUG_TESTS_SUPPORT_MARKS_CHECK_H
#define PUG_TESTS_SUPPORT_MARKS_CHECK_H

#include "pugmark/advanced/packet.h"
#include "support/stream.h"

/** How many marks of each kind there were. */
struct marks_found {
    size_t counts[PUG_MARK_KINDS];
    uint64_t last_time; /**< of the last stream that had times */
};

/**
 * Assert that a source that is read for marks alone gives those of the packets that a monitor sees,
 * and that times, exceptions, events, triggers and contexts that elements tell are marked, with the
 * same values and at the same places. Each marked time is also reported. Adds to *found.
 */
void marks_check(const struct stream_run *run, struct marks_found *found);

#endif
