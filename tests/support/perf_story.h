// SPDX-License-Identifier: MIT
/**
 * @file Stories of threads on processors, as perf.data: what ran is known, and the file is made
 * without any decoder. Processes fork, run other programs at the same addresses, replace libraries
 * or a half of them; kernel code is made, poked and dropped; threads move between processors;
 * buffers are emptied now and then.
 */
#ifndef PUG_TESTS_SUPPORT_PERF_STORY_H
#define PUG_TESTS_SUPPORT_PERF_STORY_H

#include "recorder/perfdata.h"

struct perf_story_config {
    uint64_t seed;
    unsigned slices; /**< how often a thread gets a processor */
    unsigned cpus;   /**< up to 8 */
    bool per_thread; /**< buffers of threads, without ids and times in the trace */
    bool one_sink;   /**< all trace of a time is in the buffer of one processor */
    bool sinks;      /**< metadata 2: each processor has its own sink, and the same trace id */
    bool pipe;
    bool shuffled;   /**< records are in any order but those of trace */
    bool same_times; /**< records follow each other at one time: the file has their order */
    bool kernel; /**< threads also run kernel code that comes, changes and goes (not per thread) */
};

/** A thread's path. */
struct perf_story_path {
    int32_t tid;
    uint64_t *pcs;
    size_t count, room;
};

#define PERF_STORY_THREADS 24

struct perf_story {
    char folder[64]; /**< the programs are below it: for --symfs */
    struct rec_bytes file;
    struct perf_story_path paths[PERF_STORY_THREADS];
    size_t path_count;
    size_t segments, trace_bytes; /**< with trace in them */
};

/** Stories of all kinds but `per_thread` and `one_sink`, by number, which grow. */
struct perf_story_config perf_story_kind(unsigned number);

void perf_story_make(struct perf_story *story, const struct perf_story_config *config);
void perf_story_free(struct perf_story *story);
/** Write the file into the story's folder; its path. */
const char *perf_story_write(struct perf_story *story);

#endif
