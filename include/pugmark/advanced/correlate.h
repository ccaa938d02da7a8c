// SPDX-License-Identifier: MIT
/**
 * @file Correlation: the elements of several streams in the order of time.
 *
 *     pug_correlate_new(&(struct pug_correlate_config){.give = my_elements}, &correlate);
 *     pug_correlate_capture(correlate, capture, NULL);      // all buffers of it, all their sources
 *     while (pug_correlate_stream(correlate, n++, &stream))
 *         ...                                               // how much of it has no certain place
 *
 * A *stream* is what one source wrote into one buffer. Its elements stay in their order. Those of
 * several streams are put side by side by their timestamps, which all count one clock, and where
 * these are equal by the cycles that were counted since. Each element comes with what the trace
 * shows about its time (enum pug_correlate_when). No time is made up:
 *
 * - What a cycle count closes ("so many cycles since the last count") has these cycles.
 * - An element after the last timestamp, with no count to close the span, happened at an unknown
 * time after it.
 * - What comes before the stream's first timestamp is somewhere before it. It is given as late as
 *   it can have been.
 * - Of a stream without timestamps nothing is known but where it stands in its buffer: it is given
 *   with what the buffer had reached. If the time is known at which the buffer was read out (perf
 * records it for each segment), it happened before that.
 *
 * A timestamp less than the one before it is taken for equal, and counted.
 *
 * An ITM dates what it said by the timestamp that follows: at it, or before it where the timestamp
 * says that it was late. Its global timestamps count the clock of all, and so do its local ones
 * where both rates are known. Local timestamps alone add up to a clock of its own, which gives
 * times as long as no stream has a timestamp of the common clock; beside such a stream they give
 * none.
 *
 * Elements wait until nothing that was before them can come. A silent stream delivers nothing older
 * than what its buffer delivered 64 KiB before, because sources that share a buffer have no larger
 * FIFOs. Where more than `limit` elements wait, the earliest are given all the same. An element
 * that follows a later one is counted.
 *
 * An object belongs to one thread.
 */
#ifndef PUGMARK_CORRELATE_H
#define PUGMARK_CORRELATE_H

#include "pugmark/advanced/tree.h"
#include "pugmark/capture.h"

#ifdef __cplusplus
extern "C" {
#endif

/** What is known about an element's time. */
enum pug_correlate_when {
    PUG_WHEN_AT,     /**< at `time`: it is the timestamp, or has one */
    PUG_WHEN_CYCLES, /**< `cycles` after `time`, in cycles of its own clock */
    PUG_WHEN_AFTER,  /**< at `time` or after it, and not before `cycles` after it */
    /** before `time`: its stream's first timestamp, a late one of an ITM, the end of its segment */
    PUG_WHEN_BEFORE,
    PUG_WHEN_UNKNOWN, /**< `time` is what its buffer had reached, or 0 */
};

/** An element, and when it was. */
struct pug_correlated {
    struct pug_element element; /**< as it was decoded */
    uint64_t time;              /**< see `when` */
    uint64_t cycles;            /**< after `time`, see `when` */
    uint32_t stream;            /**< by number, in the order of adding */
    uint8_t when;               /**< enum pug_correlate_when */
};

/**
 * Takes elements in the order of time, payloads included: all is valid during the call. False: no
 * more are wanted.
 */
typedef bool pug_correlated_fn(void *context, const struct pug_correlated *elements, size_t count);

/** The consumer of correlated elements. */
struct pug_correlate_config {
    pug_correlated_fn *give; /**< not NULL */
    void *context;           /**< is handed to give() */
    size_t limit;            /**< elements that may wait, of all streams; 0: 1 Mi (some 100 MB) */
    uint64_t spare[4];       /**< zero */
};

struct pug_correlate;

/**
 * The caller frees it. PUG_ERR_INVALID_PARAM_VAL: there is no give(); PUG_ERR_MEM. *correlate is
 * NULL then.
 */
enum pug_status pug_correlate_new(const struct pug_correlate_config *config,
                                  struct pug_correlate **correlate);
/** Frees; gives nothing. NULL is left alone. */
void pug_correlate_free(struct pug_correlate *correlate);

/* ---- whole captures, and trees ---- */

/** The part of a capture to correlate. */
struct pug_correlate_choice {
    const uint16_t *sources; /**< trace ids; NULL: all */
    size_t source_count;     /**< how many there are; 0: all */
    struct pug_log *log;     /**< of decoding; or NULL */
    /** Of a capture; its sources are not looked at. NULL: everything. */
    const struct pug_capture_selection *selection;
    /** Called now and then with how many bytes are done; false: stop. May be NULL. */
    bool (*progress)(void *context, uint64_t done);
    void *progress_context; /**< is handed to progress() */
    uint64_t spare[4];      /**< zero */
};

/**
 * Decode all chosen buffers of a capture side by side and give all their elements. A source of a
 * snapshot that wrote into several buffers is taken from the first. `choice` may be NULL.
 * PUG_ERR_NO_SOURCE: no source can be decoded; PUG_ERR_MEM; PUG_ERR_DECODING_STOPPED:
 * decoding of a buffer stopped before its end.
 */
enum pug_status pug_correlate_capture(struct pug_correlate *correlate, struct pug_capture *capture,
                                      const struct pug_correlate_choice *choice);

/** A capture in memory and the tree that decodes it. The tree must have no other consumer. */
struct pug_correlate_input {
    struct pug_tree *tree; /**< what decodes it */
    const uint8_t *bytes;  /**< the capture */
    uint64_t size;         /**< bytes of it */
    uint64_t spare[2];     /**< zero */
};

/** Correlates trees: input n is buffer n. All enabled sources of them are streams. */
enum pug_status pug_correlate_trees(struct pug_correlate *correlate,
                                    const struct pug_correlate_input *inputs, size_t count);

/* ---- by hand ---- */

/** A stream that is to be added. */
struct pug_correlate_source {
    uint32_t buffer;       /**< by number; streams of one buffer have one order of indices */
    uint16_t source;       /**< trace id */
    const char *protocol;  /**< by name; NULL: another one. Decides what its cycle counts mean */
    uint64_t local_hertz;  /**< rate of an ITM's local timestamps; 0: unknown */
    uint64_t global_hertz; /**< rate of its global ones; 0: unknown */
    bool has_global;   /**< an ITM: there will be global timestamps, which date what is before */
    uint64_t spare[1]; /**< zero */
};

/** Add a stream before elements are put; its number is how many there were. PUG_ERR_MEM. */
enum pug_status pug_correlate_add(struct pug_correlate *correlate,
                                  const struct pug_correlate_source *source);

/**
 * Elements of a stream, in their order. They are copied, and given when it is their turn, now or
 * later. PUG_ERR_MEM: those before the one that had no room were put; PUG_ERR_INVALID_PARAM_VAL: no
 * such stream, or it has ended.
 */
enum pug_status pug_correlate_put(struct pug_correlate *correlate, uint32_t stream,
                                  const struct pug_element *elements, size_t count);

/**
 * What is put of a buffer's streams from now on was recorded until then, and after what was put
 * before: times of the clock that timestamps count. `until` 0: unknown.  PUG_ERR_INVALID_PARAM_VAL:
 * no stream of this buffer was added.
 */
enum pug_status pug_correlate_segment(struct pug_correlate *correlate, uint32_t buffer,
                                      uint64_t until);

/** Nothing more comes of a stream. PUG_ERR_INVALID_PARAM_VAL: there is none of this number. */
enum pug_status pug_correlate_end(struct pug_correlate *correlate, uint32_t stream);

/** The stream that others wait for the most, or how many there are: for none. */
uint32_t pug_correlate_wanted(const struct pug_correlate *correlate);

/** Does give() want no more? */
bool pug_correlate_stopped(const struct pug_correlate *correlate);

/* ---- what is known ---- */

/** What a stream's elements show about their time. */
struct pug_correlate_stream {
    uint32_t buffer;      /**< by number */
    uint16_t source;      /**< trace id */
    uint64_t elements;    /**< given */
    uint64_t when[5];     /**< of them, by enum pug_correlate_when */
    uint64_t timestamps;  /**< how many it had; 0: nothing relates it to other streams */
    uint64_t counts;      /**< cycle counts */
    uint64_t backwards;   /**< timestamps less than the one before */
    uint64_t late;        /**< elements that came when others, of a later time, had been given */
    uint64_t first, last; /**< timestamps */
    uint64_t late_times;  /**< of when[PUG_WHEN_BEFORE]: after the first timestamp, of an ITM */
    bool own_clock;       /**< an ITM with local timestamps alone, which count a clock of its own */
    uint64_t spare[2];    /**< zero */
};

/** The n-th; false when there are no more. */
bool pug_correlate_stream(const struct pug_correlate *correlate, size_t n,
                          struct pug_correlate_stream *stream);

/** Elements of all streams that came when others, of a later time, had been given. */
uint64_t pug_correlate_late(const struct pug_correlate *correlate);

#ifdef __cplusplus
}
#endif
#endif
