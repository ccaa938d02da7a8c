// SPDX-License-Identifier: MIT
/**
 * @file From captures to profiles: everything that ran is counted, on all processors.
 *
 *     pug_capture_open("perf.data", &capture_options, &capture);
 *     struct pug_profile *profile = pug_profile_new();
 *     pug_profile_capture(profile, capture, &(struct pug_profiler_options){.names = names}, NULL);
 *     pug_export(profile, "autofdo", &export_options, put, context);
 *
 * The counts are those of one thread, for any number of threads, and for any cut of the trace into
 * pieces. Memory is bounded by the program, not by the trace.
 */
#ifndef PUGMARK_PROFILER_H
#define PUGMARK_PROFILER_H

#include "pugmark/capture.h"
#include "pugmark/profile.h"

#ifdef __cplusplus
extern "C" {
#endif

struct pug_names;

/** What to count, and how. */
struct pug_profiler_options {
    unsigned threads; /**< 0: as many as there are processors for this process */
    /** Follow calls, too: frames and what ran on them. `names` finds the functions. */
    bool stacks;
    struct pug_names *names; /**< segments of objects; with stacks their functions; or NULL */
    const struct pug_capture_selection *selection;  /**< its `objects` are not looked at; or NULL */
    bool (*progress)(void *context, uint64_t done); /**< as in struct pug_capture_decode */
    void *progress_context;                         /**< is handed to progress() */
    size_t piece;                                   /**< as in struct pug_capture_decode */
    /**
     * The real-time kernel whose threads are tasks of the profile: its name, or the path of a
     * description; "flow": by program flow alone; "off": none. NULL: the one that the program has.
     * It needs `names`, and `stacks` or a selection of threads.
     */
    const char *rtos;
    uint64_t spare[3]; /**< zero */
};

/**
 * Decode a capture and add what ran to a profile. `options` and `result` may be NULL.
 * PUG_ERR_RDR_NO_DECODER: no source can be decoded; PUG_ERR_MEM; PUG_ERR_LIMIT: more than a profile
 * holds; PUG_ERR_INVALID_PARAM_TYPE: it has counts of what ran, and the profile has samples; what
 * pug_names_status() says of names. The profile has part of the counts then.
 */
enum pug_status pug_profile_capture(struct pug_profile *profile, struct pug_capture *capture,
                                    const struct pug_profiler_options *options,
                                    struct pug_capture_result *result);

/**
 * Write the branch stacks of a capture as text, as `perf script -F ip,brstack --show-mmap-events`
 * does; a thread's stacks in their order. Names and `stacks` are not looked at. As
 * pug_profile_capture().
 */
enum pug_status pug_profile_brstack(struct pug_capture *capture,
                                    const struct pug_profiler_options *options,
                                    void (*put)(void *context, const void *bytes, size_t size),
                                    void *context, struct pug_capture_result *result);

#ifdef __cplusplus
}
#endif
#endif
