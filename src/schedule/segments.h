// SPDX-License-Identifier: MIT
/**
 * @file Consumers over segments: trace that begins from reset in several places.
 *
 *   segments.c         chooses one of the ways below, and gives counts to consumers
 *   segments_pool.c    many segments, each read by one thread
 *   segments_ranks.c   those among processes, and what each keeps of its own for a later run
 *   by_time.c          segments of several buffers side by side, in the order of time
 *
 * Segments in memory are read one after the other, each on all threads (decode.c).
 */
#ifndef PUG_SCHEDULE_SEGMENTS_H
#define PUG_SCHEDULE_SEGMENTS_H

#include "base/bytes.h"
#include "pugmark/advanced/peers.h"
#include "pugmark/capture.h"
#include "schedule/consumers.h"

/** Gets elements as soon as their origin is known. */
struct pug_receiver {
    void *context;
    /**
     * `residency`: when the source's task came to the processor, or tracing began there, if there
     * are times. `left_out`: the selection leaves these elements out.
     */
    void (*give)(void *context, const struct pug_origin *origin, uint64_t residency, bool left_out,
                 const struct pug_element *elements, size_t count);
};

/** A buffer whose segments are read in their order beside those of other buffers. */
struct pug_side {
    const uint32_t *segments;
    size_t count;
};

/**
 * The segments to read, by the numbers that they have where they come from, and what reads them.
 * Functions that take no attribution are called on any thread.
 */
struct pug_segments {
    void *context;
    const uint32_t *numbers;
    uint32_t count;
    bool is_stream;     /**< one, read as it comes: sizes are 0 */
    bool counts_ranges; /**< for consumers that count; else these get ranges as elements */
    bool is_cut;        /**< only from `skipped` of the first one up to `last` of the last one */
    uint64_t skipped, last;
    const struct pug_side *sides; /**< to be read side by side; NULL: one after the other */
    uint32_t side_count;
    uint64_t (*size)(const void *context, uint32_t segment);  /**< in bytes */
    uint64_t (*index)(const void *context, uint32_t segment); /**< of its first byte */
    /** All bytes of a segment. NULL: no segment is in memory. */
    const uint8_t *(*memory)(const void *context, uint32_t segment);
    /**
     * Reads bytes from the offset `at` on. Returns fewer than `size` only at the end, where *more
     * is false, or with a message in the log. They may not continue those before (restart).
     */
    size_t (*read)(void *context, uint32_t segment, struct pug_log *log, uint64_t at,
                   uint8_t *bytes, size_t size, bool *more);
    /** Optional: has the tree restart where what read() gave last does not continue. */
    void (*restart)(const void *context, struct pug_tree *tree);
    /** Makes a tree. Segments of one kind can be read with one tree. */
    enum pug_status (*tree)(void *context, uint32_t segment, struct pug_log *log,
                            struct pug_tree **tree);
    uint32_t (*tree_kind)(const void *context, uint32_t segment);
    /** Lets a tree see the chosen sources of a segment; false: there are none. */
    bool (*choose)(const void *context, uint32_t segment, struct pug_tree *tree);
    /**
     * Optional: sides are many, so that a tree stays only while its segment is read. Raises *time
     * to the time of the segment's first timestamp.
     */
    void (*look_ahead)(void *context, uint32_t segment, uint64_t *time);

    /* Finds the origin of elements: an attribution is one worker's. */
    void *(*open)(void *context, const struct pug_receiver *receiver); /**< NULL: out of memory */
    void (*close)(void *attribution);                                  /**< NULL is allowed */
    enum pug_status (*begin)(void *attribution, uint32_t segment, struct pug_tree *tree);
    void (*elements)(void *attribution, const struct pug_element *elements, size_t count);
    /** Optional: gives the counts of a segment that was read the numbers of their spaces. */
    void (*number_counts)(void *context, uint32_t segment, struct pug_counts *counts);

    /** Counts for another process, which has other numbers for the same spaces. */
    void (*pack_counts)(void *context, const struct pug_counts *counts, struct pug_state *bytes);
    struct pug_counts *(*unpack_counts)(void *context, struct pug_bytes *bytes);
};

/** How segments are read. */
struct pug_schedule_options {
    unsigned threads;        /**< at least 1 */
    size_t piece;            /**< bytes that a thread reads at once; 0: a good size */
    struct pug_log *log;     /**< of messages, in their order; or NULL */
    struct pug_peers *peers; /**< other processes; or NULL */
    /** Called now and then on the caller's thread; false: stop. May be NULL. */
    bool (*progress)(void *context, uint64_t done);
    void *progress_context;
};

/** The result. */
struct pug_schedule_result {
    uint64_t bytes;   /**< that were decoded */
    uint64_t stopped; /**< segments where decoding was fatal before their end … */
    uint64_t at;      /**< … the last of them at this trace index */
    unsigned threads; /**< that were at work */
    bool ended;       /**< a consumer or progress() stopped it */
};

/**
 * Reads all segments with all consumers. Each gets what it would get from one thread that reads
 * one segment after the other. Segments that cannot be decoded are left out; if that is all of
 * them returns why. PUG_ERR_MEM.
 */
enum pug_status pug_schedule_run(const struct pug_segments *segments,
                                 const struct pug_consumers *consumers,
                                 const struct pug_schedule_options *options,
                                 struct pug_schedule_result *result);

#endif
