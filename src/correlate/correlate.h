// SPDX-License-Identifier: MIT
/**
 * @file Correlation from inside: correlate.c (streams), merge_heap.c (whose turn it is), clock.c
 * (what an element's time is), feed.c (trees and captures, side by side).
 */
#ifndef PUG_CORRELATE_CORRELATE_H
#define PUG_CORRELATE_CORRELATE_H

#include "pugmark/advanced/correlate.h"
#include "swo/clock.h"

/**
 * A capture's sources share its buffer, and each has a FIFO in between: what one wrote comes at
 * most so many bytes after what another wrote at the same time.
 */
#define PUG_CORRELATE_WINDOW 65536u

#define PUG_CORRELATE_MARKS 32u

/** How far the time of a buffer had come at which index. */
struct pug_correlate_mark {
    uint64_t index, time;
};

/** No stream. */
#define PUG_CORRELATE_NONE UINT32_MAX

struct pug_correlate_buffer {
    uint32_t streams;  /**< the first of its own and one more, others after it; 0: none */
    uint32_t timeless; /**< of them, those without a timestamp so far */
    uint64_t index;    /**< of the last element */
    uint64_t reached;  /**< the greatest time of any of its streams */
    uint64_t settled;  /**< before this nothing more comes of it */
    uint64_t until;    /**< the latest recording time of what comes now; 0: unknown */
    struct pug_correlate_mark marks[PUG_CORRELATE_MARKS];
    uint32_t first, count; /**< of the marks, which are a ring */
};

/** A stream: its elements that wait, of which the time of the first `ready` is known. */
struct pug_correlate_queue {
    struct pug_correlate_stream info;
    uint32_t next; /**< stream of the same buffer, and one more; 0: none */
    struct pug_correlated *entries;
    size_t head, ready, count, room;
    uint64_t time, cycles;    /**< its clock: the last timestamp, and what was counted since */
    struct pug_swo_clock swo; /**< of an ITM */
    uint64_t ahead;           /**< cycles of the next count that lie before the timestamp */
    bool has_time, ended;
    bool counts_apart; /**< a timestamp's cycle count is not added up (ETMv4) */
    bool is_itm;       /**< `swo` says what its timestamps are */
};

/** The first streams of a part of all: of those that have ready elements, and of the others. */
struct pug_merge_heap_at {
    uint32_t ready, awaited; /**< or PUG_CORRELATE_NONE */
};

struct pug_correlate {
    struct pug_correlate_config config;
    struct pug_correlate_queue *streams;
    size_t count, room;
    struct pug_correlate_buffer *buffers;
    size_t buffer_count;
    /**
     * A tree: [1] is of all streams, [n] of those of [2n] and [2n + 1], [leaves + n] of the n-th.
     */
    struct pug_merge_heap_at *turns;
    size_t leaves; /**< a power of two, or 0 */
    size_t waiting;
    size_t common;              /**< streams that have no clock of their own */
    struct pug_correlated last; /**< the latest that was given */
    uint64_t late;
    bool stopped;
};

/* ---- correlate.c ---- */

/** The first stream of a buffer, and the one after a stream of it; NULL: no more. */
struct pug_correlate_queue *pug_correlate_first_of(const struct pug_correlate *correlate,
                                                   uint32_t buffer);
struct pug_correlate_queue *pug_correlate_next_of(const struct pug_correlate *correlate,
                                                  const struct pug_correlate_queue *queue);
/** Its number. */
uint32_t pug_correlate_number(const struct pug_correlate *correlate,
                              const struct pug_correlate_queue *queue);

/* ---- merge_heap.c ---- */

/** A stream is new. False: no memory. */
bool pug_merge_heap_add(struct pug_correlate *correlate);
/** A value that a stream's turn depends on may have changed. */
void pug_merge_heap_note(struct pug_correlate *correlate, uint32_t stream);
/** … of all streams of a buffer. */
void pug_merge_heap_note_buffer(struct pug_correlate *correlate, uint32_t buffer);
/** The stream whose next element is the first of all that are ready; or NONE. */
uint32_t pug_merge_heap_ready(const struct pug_correlate *correlate);
/** The stream without ready elements of which the earliest may come; or NONE. */
uint32_t pug_merge_heap_awaited(const struct pug_correlate *correlate);
/**
 * What the next elements of streams but one are not before; `forced`: only of those that are ready.
 * False: no other one has any or will have.
 */
bool pug_merge_heap_barrier(const struct pug_correlate *correlate, uint32_t but, bool forced,
                            struct pug_correlated *barrier);

/* ---- clock.c ---- */

/**
 * The last entry of a stream is new: what it says of the stream's time, and of those before it.
 * True: it may be the turn of other streams of the buffer, too.
 */
bool pug_correlate_clock(struct pug_correlate *correlate, struct pug_correlate_queue *queue);

/** Say what is known of all entries that still wait for a count or a timestamp. */
void pug_correlate_clock_settle(const struct pug_correlate *correlate,
                                struct pug_correlate_queue *queue);

/** What comes of a buffer from now on was recorded later than what came before. */
void pug_correlate_clock_segment(struct pug_correlate *correlate, uint32_t buffer, uint64_t until);

/** Which of two was first, as far as times tell: less, equal or greater than 0, as strcmp(). */
int pug_correlate_times(const struct pug_correlated *a, const struct pug_correlated *b);

/** Compares them; equal times are ordered by their places. Never 0 for two of different streams. */
int pug_correlate_order(const struct pug_correlate *correlate, const struct pug_correlated *a,
                        const struct pug_correlated *b);

#endif
