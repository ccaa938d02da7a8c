// SPDX-License-Identifier: MIT
/**
 * @file Timelines: calls as slices on tracks, with events, counters and gaps, in the formats that
 * viewers read.
 *
 *     pug_timeline_new(PUG_TIMELINE_PERFETTO, &options, &timeline);
 *     pug_timeline_track(timeline, 0, &(struct pug_track){.pid = 500, .tid = 500, .name = "paw"});
 *     pug_timeline_name(timeline, 7, "main", "paw.c", 12);        // before it is used
 *     pug_timeline_enter(timeline, 0, time, 7, false);
 *     pug_timeline_leave(timeline, 0, time);
 *     pug_timeline_end(timeline);
 *
 * Memory is what tracks and names need, whatever comes. On a track times never go back, and slices
 * nest; tracks are written as they come, in any order among each other. It knows no trace.
 */
#ifndef PUG_EXPORT_TIMELINE_H
#define PUG_EXPORT_TIMELINE_H

#include "text/sink.h"

#include "pugmark/timeline.h"

enum pug_timeline_form {
    PUG_TIMELINE_PERFETTO,   /**< protobuf with interned names */
    PUG_TIMELINE_CHROME,     /**< JSON of chrome://tracing, which many viewers read */
    PUG_TIMELINE_SPEEDSCOPE, /**< evented profiles, one a track */
    PUG_TIMELINE_CTF,        /**< a folder in Common Trace Format 1.8 */
    PUG_TIMELINE_SLICES,     /**< no file: a function takes slices */
    PUG_TIMELINE_PAGE,       /**< JSON for the report's page: slices by levels of time */
};

struct pug_timeline_output {
    struct pug_sink *sink; /**< where the file goes; of a CTF folder its `metadata` */
    const char *title;
    const char *unit; /**< of times: "ns", "cycles", "ticks", "instructions" */
    /** CTF: append to the stream file of a track; false, with errno: it cannot be written. */
    bool (*append)(void *context, uint32_t track, const void *bytes, size_t size);
    void *append_context;
    void (*slice)(void *context, const struct pug_slice *slice); /**< SLICES */
    void *slice_context;
    uint32_t room; /**< PAGE: slices and cells that there is room for; 0: 60000 */
};

/** A lane of slices: a thread, or a processor. */
struct pug_track {
    int32_t pid, tid; /**< below 0: it is no thread */
    const char *name;
};

struct pug_timeline;

/** PUG_ERR_MEM. The strings of `options` are borrowed. */
enum pug_status pug_timeline_new(enum pug_timeline_form form,
                                 const struct pug_timeline_output *options,
                                 struct pug_timeline **timeline);

/** Declare a track, or a name, by a small number of the caller's. `file` may be NULL. */
void pug_timeline_track(struct pug_timeline *timeline, uint32_t track,
                        const struct pug_track *what);
void pug_timeline_name(struct pug_timeline *timeline, uint32_t name, const char *text,
                       const char *file, uint32_t line);

/** A slice begins; `estimated`: its time is not the trace's own. */
void pug_timeline_enter(struct pug_timeline *timeline, uint32_t track, uint64_t time, uint32_t name,
                        bool estimated);
/** The innermost slice of a track ends. */
void pug_timeline_leave(struct pug_timeline *timeline, uint32_t track, uint64_t time);
/** Something happened: an exception, a mark, what software wrote. `detail` may be NULL. */
void pug_timeline_instant(struct pug_timeline *timeline, uint32_t track, uint64_t time,
                          uint32_t name, const char *detail);
/** A counter has a value from now on: a whole number, with a sign (as an int64_t). */
void pug_timeline_counter(struct pug_timeline *timeline, uint32_t track, uint64_t time,
                          uint32_t name, uint64_t value);
/**
 * A track has come to a time, with so many instructions since it began, at an offset of the trace.
 * What ran since the call before belongs to the innermost slice. Only PAGE uses it: for what ran in
 * a span, and where that is in the trace (any number that its script can make a command of).
 */
void pug_timeline_ran(struct pug_timeline *timeline, uint32_t track, uint64_t time,
                      uint64_t instructions, uint64_t offset);
/** Nothing is known of a track from one time to the other; `why` is kept as a pointer. */
void pug_timeline_gap(struct pug_timeline *timeline, uint32_t track, uint64_t from, uint64_t to,
                      const char *why);

/**
 * Close what is open, write what is left, and free. PUG_ERR_MEM or PUG_ERR_FILE (a file for what
 * waits could not be written, errno says why): what was written is not whole.
 */
enum pug_status pug_timeline_end(struct pug_timeline *timeline);

#endif
