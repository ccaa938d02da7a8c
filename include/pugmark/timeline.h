// SPDX-License-Identifier: MIT
/**
 * @file Timelines: the calls of a capture as slices over time, in the formats that viewers read. A
 * track is a thread (or a source), a processor, or what an ITM writes.
 *
 *     static void put(void *file, const void *bytes, size_t size) { fwrite(bytes, 1, size, file); }
 *
 *     struct pug_timeline_options options = {
 *         .format = "perfetto", .names = names, .put = put, .context = file};
 *     pug_capture_timeline(capture, &options, NULL);
 *
 * Memory is bounded by the program and its threads, not by the trace.
 */
#ifndef PUGMARK_TIMELINE_H
#define PUGMARK_TIMELINE_H

#include "pugmark/capture.h"

#ifdef __cplusplus
extern "C" {
#endif

struct pug_names;

/** A format. */
struct pug_timeline_format {
    const char *name;    /**< "perfetto" */
    const char *summary; /**< in a line */
    bool binary;         /**< not for a terminal */
    bool folder;         /**< a folder: put() gets its file `metadata`, append() the others */
};

/** The n-th format, or NULL. */
const struct pug_timeline_format *pug_timeline_format_at(size_t n);

/** What times of a timeline count. */
enum pug_timeline_clock {
    PUG_TIMELINE_AUTO, /**< the first of the others that the capture's beginning has */
    PUG_TIMELINE_TIME,
    PUG_TIMELINE_CYCLES,
    PUG_TIMELINE_INSTRUCTIONS
};

/** The kind of a slice. */
enum pug_slice_kind {
    PUG_SLICE_CALL,    /**< a call, a handler, or a thread on a processor */
    PUG_SLICE_INSTANT, /**< something happened at `begin` */
    PUG_SLICE_COUNTER, /**< a counter has `value` from `begin` on */
    PUG_SLICE_GAP,     /**< what ran is not known, as `detail` says */
};

/** Something in a timeline. */
struct pug_slice {
    uint64_t begin, end;      /**< times in the timeline's unit */
    int64_t value;            /**< of a counter */
    const char *track;        /**< name of its track */
    const char *name;         /**< of the function, event or counter; "" of a gap */
    const char *file;         /**< of the function, or NULL */
    const char *detail;       /**< a text that belongs to it, or NULL */
    uint32_t line;            /**< in `file` */
    uint32_t number;          /**< of the track */
    uint32_t depth;           /**< slices around it on its track */
    int32_t pid, tid;         /**< of the track; below 0: it is no thread's */
    enum pug_slice_kind kind; /**< what it is */
    bool estimated;           /**< its beginning lies between two timestamps */
    uint64_t spare[2];        /**< zero */
};

/** What goes into a timeline, and where it goes. */
struct pug_timeline_options {
    const char *format;      /**< by name; NULL: "perfetto" */
    struct pug_names *names; /**< functions and lines; NULL: as pug_names_new(NULL) finds them */
    /**
     * The real-time kernel whose threads get tracks of their own: its name, or the path of a
     * description; "off": none, "flow": threads are found by program flow alone. NULL: the kernel
     * that the program has.
     */
    const char *rtos;
    enum pug_timeline_clock clock; /**< what its times count */
    bool exact;                    /**< no time is estimated between two timestamps */
    uint64_t least;                /**< calls that took less of the clock are left out */
    uint64_t depth;                /**< calls that are nested deeper are left out; 0: none are */
    unsigned threads;              /**< 0: as many as there are processors for this process */
    const struct pug_capture_selection *selection;  /**< NULL: everything */
    bool (*progress)(void *context, uint64_t done); /**< as in struct pug_capture_decode */
    void *progress_context;                         /**< is handed to progress() */
    /** Takes the bytes of the file in order. */
    void (*put)(void *context, const void *bytes, size_t size);
    /**
     * Of a folder: append to the file stream_NUMBER, a new one the first time; false, with errno:
     * it cannot be written.
     */
    bool (*append)(void *context, uint32_t number, const void *bytes, size_t size);
    /**
     * In place of a file: takes the slices of all tracks as they end, so that callees come before
     * their callers. What a slice points to is valid during the call. NULL: a file is written.
     */
    void (*slice)(void *context, const struct pug_slice *slice);
    void *context;     /**< of these three */
    uint64_t spare[8]; /**< zero */
};

/** What a timeline has. */
struct pug_timeline_result {
    struct pug_capture_result decoded; /**< as pug_capture_decode() gives it */
    enum pug_status status;            /**< of decoding */
    enum pug_status written;           /**< of writing: PUG_ERR_FILE, errno says why; PUG_ERR_MEM */
    const char *unit;                  /**< of times: "ns", "ticks", "cycles", "instructions" */
    bool has_times, has_cycles;        /**< the trace has these clocks */
    uint64_t calls;                    /**< slices that were written */
    uint64_t left_out;                 /**< calls that were not, by `least` and `depth` */
    uint64_t estimated;                /**< calls whose times are estimated */
    uint64_t handlers;                 /**< interrupts that a DWT reported */
    /** Times that tracing was off, that the program is not known, and that trace was lost. */
    uint64_t untraced, unknown, lost;
    uint64_t out_of_order; /**< times that a thread's trace of another processor came too late */
    uint64_t tick; /**< mean time between interrupts of SysTick, where they are periodic; else 0 */
    uint64_t spare[7]; /**< zero */
};

/**
 * Decode a capture and write its timeline. `result` may be NULL. PUG_ERR_INVALID_PARAM_TYPE: no
 * such format; PUG_ERR_INVALID_PARAM_VAL: a function is missing, or the kernel is wrong, as the
 * capture's log says; else what pug_capture_decode() returns, or how writing failed. What was
 * written is whole if it is PUG_OK.
 */
enum pug_status pug_capture_timeline(struct pug_capture *capture,
                                     const struct pug_timeline_options *options,
                                     struct pug_timeline_result *result);

#ifdef __cplusplus
}
#endif
#endif
