// SPDX-License-Identifier: MIT
/** @file The records of a story's file, one by one. */
#ifndef PUG_TESTS_SUPPORT_PERF_RECORDS_H
#define PUG_TESTS_SUPPORT_PERF_RECORDS_H

#include "base/bytes.h"
#include "support/perf_story.h"

/** The start of the records, and the size of the one at `at` with the bytes that follow it. */
static inline size_t data_of(const struct perf_story *story)
{
    return (size_t)pug_bytes_number(story->file.data + 40, 8);
}

static inline size_t record_size(const struct perf_story *story, size_t at)
{
    const uint8_t *record = story->file.data + at;
    const size_t size = (size_t)pug_bytes_number(record + 6, 2);
    return size + (pug_bytes_number(record, 4) == 71 ? (size_t)pug_bytes_number(record + 8, 8) : 0);
}

/** A story that there are many kinds of containers for. */
static const struct perf_story_config container = {.seed = 21, .slices = 120, .cpus = 3};

#endif
