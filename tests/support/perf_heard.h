// SPDX-License-Identifier: MIT
/** @file The content of a capture of perf.data, thread by thread. */
#ifndef PUG_TESTS_SUPPORT_PERF_HEARD_H
#define PUG_TESTS_SUPPORT_PERF_HEARD_H

#include "pugmark/pugmark.h"
#include "support/perf_story.h"

struct perf_heard_slice {
    int32_t tid;
    uint64_t time;
    size_t number, from, count; /* in pcs */
};

struct perf_heard {
    struct pug_capture *capture;
    uint64_t *pcs;
    size_t count, room;
    struct perf_heard_slice *slices;
    size_t slice_count, slice_room;
    uint64_t ranges, places, bytes; /**< bytes of trace that were decoded */
    bool as_given; /**< the order in which they came is theirs, not that of times */
};

/** Decode a capture, or what is selected of it (NULL: all). Free what was heard. */
void perf_heard_listen(struct pug_capture *capture, unsigned threads,
                       const struct pug_capture_selection *selection, struct perf_heard *heard);
/** In the order of time: what is heard of a thread is in the order in which it came. */
void perf_heard_listen_by_time(struct pug_capture *capture, bool each_time,
                               const struct pug_capture_selection *selection,
                               struct perf_heard *heard);
void perf_heard_free(struct perf_heard *heard);

/** The program counters of a thread, as they were heard, against what ran. */
void perf_heard_check(const struct perf_heard *heard, const struct perf_story_path *path);

/** Everything reported was received, and has a place. */
void perf_heard_check_all(const struct perf_heard *heard, const struct perf_story *story);

/** A story as a capture, which the caller frees. */
struct pug_capture *perf_heard_open(struct perf_story *story, struct pug_log *log);

#endif
