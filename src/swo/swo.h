// SPDX-License-Identifier: MIT
/**
 * @file What an ITM and a DWT say, put together: events with times, interrupts, counters, and what
 * the times are worth. Everything that shows software trace of a Cortex-M asks here.
 *
 *     elements ──> pug_swo_stream ──> events ──> pug_interrupts, pug_swo_counters, your function
 *
 * A stream is of one source. Its events are in the order of the trace, each with the time of the
 * next timestamp, which is how the hardware dates them.
 */
#ifndef PUG_SWO_SWO_H
#define PUG_SWO_SWO_H

#include "pugmark/dwt.h"
#include "swo/clock.h"

/* ---- stream.c: elements to events ---- */

typedef void pug_swo_fn(void *context, const struct pug_dwt_event *event);

struct pug_swo_stream {
    struct pug_dwt dwt;
    struct pug_swo_clock clock;
    pug_swo_fn *give;
    void *context;
    struct pug_dwt_event *waiting; /* for their time */
    size_t count, room;
    uint64_t time; /* the last one, in ticks of the clock */
    bool has_time;
    bool running; /* there was something since the last gap */
    bool failed;  /* no memory: events went without their time */
};

/** Start. `config` is the source's, or NULL; `clock` has the rates. */
void pug_swo_stream_init(struct pug_swo_stream *stream, const void *config,
                         const struct pug_swo_clock *clock, pug_swo_fn *give, void *context);

/** Take the source's next element; `give` gets the events whose time is known then. */
void pug_swo_stream_take(struct pug_swo_stream *stream, const struct pug_element *element);

/** No more elements: what waits is given with the last time. Frees what the stream allocated. */
void pug_swo_stream_end(struct pug_swo_stream *stream);

/* ---- interrupts.c: exception trace to a stack of handlers ---- */

/** Exception numbers of the DWT are below this. */
#define PUG_INTERRUPTS 512u
/** Handlers that preempt each other, at most: there are no more priorities. */
#define PUG_INTERRUPTS_DEEP 256u

/** A handler begins or ends to run. */
struct pug_interrupt {
    uint64_t time;     /**< of this event */
    uint64_t index;    /**< trace index of its packet */
    uint64_t entered;  /**< LEAVE: when it began, where `begun` */
    uint64_t own;      /**< LEAVE: time that was not spent in handlers that preempted it */
    uint32_t depth;    /**< handlers that it preempted */
    uint16_t number;   /**< of the exception */
    bool leave;        /**< it ends */
    bool begun;        /**< its begin is in the trace */
    bool cut;          /**< LEAVE: its end is not in the trace */
    bool chained;      /**< it began without a return to what was before (tail-chaining) */
    bool preempts;     /**< there are handlers below it */
    bool timed, exact; /**< `time` is known; no timestamp of its begin and end was delayed */
};

typedef void pug_interrupt_fn(void *context, const struct pug_interrupt *interrupt);

/** What an exception did in all. Times are in the stream's unit. */
struct pug_interrupt_sum {
    uint64_t entries;                  /**< how often it was entered */
    uint64_t whole;                    /**< with begin, end and times: the next ones are of them */
    uint64_t shortest, longest, total; /**< from entry to exit */
    uint64_t own;                      /**< of the total, without what preempted it */
    uint64_t chained;                  /**< entries by tail-chaining */
    uint64_t preempting;               /**< entries while another handler ran */
    uint64_t preempted;                /**< times that another one preempted it */
    uint64_t gaps;                     /**< times between entries without a loss of trace */
    uint64_t gap_least, gap_most, gap_total;
    uint64_t inexact; /**< of the whole ones, those with a delayed timestamp */
    uint64_t cut;     /**< begun before the trace, or not ended in it */
    uint32_t deepest; /**< handlers below it, at most */
    uint64_t last_entry;
    bool has_last;
    bool lost; /* its end was lost, and may come yet */
};

struct pug_interrupts {
    pug_interrupt_fn *give; /**< or NULL */
    void *context;
    struct pug_interrupt open[PUG_INTERRUPTS_DEEP];
    uint64_t inner[PUG_INTERRUPTS_DEEP]; /* time of handlers that preempted it */
    uint32_t depth;
    bool exited; /* the last packet was an exit: what is entered now is chained */
    uint64_t time;
    bool has_time, exact;
    uint64_t contradictions; /**< packets that cannot follow those before */
    uint64_t losses;
    struct pug_interrupt_sum sums[PUG_INTERRUPTS];
};

void pug_interrupts_init(struct pug_interrupts *interrupts, pug_interrupt_fn *give, void *context);
/** Take an event of any kind. */
void pug_interrupts_take(struct pug_interrupts *interrupts, const struct pug_dwt_event *event);
/** The mean time between entries of SysTick where it is periodic; else 0. */
uint64_t pug_interrupts_tick(const struct pug_interrupts *interrupts);
/** The trace is over: what is open is cut. */
void pug_interrupts_end(struct pug_interrupts *interrupts);

/* ---- counters.c: event counters, of which the trace has every wrap ---- */

/** Counters of the DWT (enum pug_dwt_counter, by bit), then those of a PMU. */
#define PUG_SWO_COUNTERS     14u
#define PUG_SWO_DWT_COUNTERS 6u
/** A counter has 8 bits: a packet reports that it wrapped. */
#define PUG_SWO_WRAP 256u

struct pug_swo_counters {
    uint64_t values[PUG_SWO_COUNTERS]; /**< counted so far, as far as wraps tell */
};

/** Which counters an event of kind PUG_DWT_COUNTERS or PUG_DWT_PMU moves: a bit for each. */
unsigned pug_swo_counters_take(struct pug_swo_counters *counters,
                               const struct pug_dwt_event *event);
/** "CPI cycles", "exception cycles"; never NULL. */
const char *pug_swo_counter_name(unsigned counter);

/* ---- period.c: do PC samples show that timestamps lack cycles? ---- */

#define PUG_SWO_INTERVALS 4096u

struct pug_swo_interval {
    uint64_t cycles; /* between two samples, by local timestamps */
    uint32_t stamps; /* local timestamps between them */
};

struct pug_swo_period {
    struct pug_swo_interval intervals[PUG_SWO_INTERVALS];
    size_t count;
    uint64_t local, at;
    uint32_t stamps;
    bool any;
    bool sampled; /* there was a sample since the last timestamp */
};

/** The result of measuring the intervals. */
struct pug_swo_loss {
    uint64_t period;  /**< cycles between samples; 0: nothing regular */
    size_t intervals; /**< that were looked at */
    size_t exact;     /**< of them as long as that */
    size_t with_loss; /**< the same if each local timestamp lacked one cycle */
    bool lacks;       /**< that is so */
};

void pug_swo_period_init(struct pug_swo_period *period);
/** Take the source's next element. */
void pug_swo_period_take(struct pug_swo_period *period, const struct pug_element *element);
/** Sorts the intervals. */
struct pug_swo_loss pug_swo_period_loss(struct pug_swo_period *period);

#endif
