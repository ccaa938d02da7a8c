// SPDX-License-Identifier: MIT
/**
 * @file What ITMTRACE elements mean: exceptions, PC samples, data accesses, counters, and writes to
 * stimulus ports, each with its time.
 *
 * The DWT reports a data access in up to three packets (PC, address, value) and the time of things
 * comes after them. A struct pug_dwt puts this together:
 *
 *     struct pug_dwt dwt;
 *     pug_dwt_init(&dwt, true);
 *     for each element:
 *         for (size_t i = 0, n = pug_dwt_push(&dwt, element); i < n; i++)
 *             use(&dwt.events[i]);                       // pug_dwt_text() words it
 *     pug_dwt_finish(&dwt) gives what is left, in the same way.
 */
#ifndef PUGMARK_DWT_H
#define PUGMARK_DWT_H

#include "pugmark/element.h"

#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

/** The kind of an event of a DWT. */
enum pug_dwt_kind {
    PUG_DWT_RESERVED,  /**< a hardware source that has no meaning: `number`, `value` */
    PUG_DWT_STIMULUS,  /**< software wrote `value` to port `number` */
    PUG_DWT_COUNTERS,  /**< event counters wrapped: `counters` */
    PUG_DWT_EXCEPTION, /**< exception `number`: `action` */
    PUG_DWT_PC_SAMPLE, /**< `pc` */
    PUG_DWT_SLEEPING,  /**< a PC sample: the core sleeps */
    PUG_DWT_DENIED,    /**< a PC sample: not permitted */
    PUG_DWT_PMU,       /**< PMU counters overflowed: `counters` */
    PUG_DWT_MATCH,     /**< comparator `comparator` matched */
    PUG_DWT_DATA,      /**< data access seen by `comparator`, as far as it says */
    PUG_DWT_LOST,      /**< trace was lost here: how much is unknown */
};

/** Bits of `counters` for PUG_DWT_COUNTERS. */
enum pug_dwt_counter {
    PUG_DWT_CPI = 1 << 0,
    PUG_DWT_EXC = 1 << 1,
    PUG_DWT_SLEEP = 1 << 2,
    PUG_DWT_LSU = 1 << 3,
    PUG_DWT_FOLD = 1 << 4,
    PUG_DWT_CYC = 1 << 5,
};

/** The configured action of a comparator. */
enum pug_dwt_action {
    PUG_DWT_ACTION_RESERVED,
    PUG_DWT_ENTERED,
    PUG_DWT_EXITED,
    PUG_DWT_RETURNED_TO,
};

/** An event of a DWT. */
struct pug_dwt_event {
    uint64_t index;       /**< of its first packet */
    uint64_t time;        /**< local time in cycles, where `has_time` */
    uint32_t pc;          /**< where `has_pc` */
    uint32_t address;     /**< of the access, or of the code */
    uint32_t value;       /**< read, written or counted */
    uint16_t number;      /**< of an exception, or of a reserved source */
    uint16_t source;      /**< trace id */
    uint8_t kind;         /**< enum pug_dwt_kind */
    uint8_t action;       /**< enum pug_dwt_action */
    uint8_t counters;     /**< enum pug_dwt_counter */
    uint8_t comparator;   /**< which comparator matched */
    uint8_t size;         /**< bytes of the value */
    uint8_t address_size; /**< bytes of the address that are known, from its low end */
    uint8_t time_kind;    /**< enum pug_itm_kind of the timestamp: how exact `time` is */
    bool has_pc, has_address, has_value, has_time; /**< which of the fields are known */
    bool write;                                    /**< DATA with a value: written, else read */
    bool overflow;                                 /**< trace was lost before it */
    bool guessed; /**< decoding began by a guess (PUG_ITM_GUESSED) */
};

/** The meaning of one ITMTRACE element alone; false for timestamps and other elements. */
bool pug_dwt_meaning(const struct pug_element *element, struct pug_dwt_event *event);

/** The event in words: `exception 15 SysTick entered`, `data write 0x20000010 = 7`. */
size_t pug_dwt_text(const struct pug_dwt_event *event, char *buffer, size_t size);

/** Name of an exception by its number: "SysTick", "IRQ3"; "" for reserved ones. */
size_t pug_dwt_exception_name(unsigned number, char *buffer, size_t size);

/** A DWT has so many comparators. */
#define PUG_DWT_COMPARATORS 4u
/** Most events that wait. */
#define PUG_DWT_EVENTS 64u

/** Puts packets of one source together to events. Use the functions; `events` is for reading. */
struct pug_dwt {
    bool timed;             /**< events wait for the local timestamp that follows them */
    size_t count;           /**< events in `events` */
    size_t ready;           /**< of which the last call gave these */
    uint64_t time;          /**< local time, added up */
    bool has_time;          /**< whether there was any */
    uint8_t held;           /**< bit n: access[n] is under way */
    uint8_t comparator_set; /**< bit n: comparator_address[n] is known */
    uint32_t comparator_address[PUG_DWT_COMPARATORS]; /**< what each watches */
    struct pug_dwt_event access[PUG_DWT_COMPARATORS]; /**< accesses whose parts come one by one */
    struct pug_dwt_event events[PUG_DWT_EVENTS];      /**< what is complete */
    uint64_t spare[4];                                /**< for what it keeps in later versions */
};

/**
 * Start. With `timed` events are kept until their time is known, at most PUG_DWT_EVENTS of them:
 * when more come without a timestamp, or synchronisation is lost, they are given without.
 */
void pug_dwt_init(struct pug_dwt *dwt, bool timed);

/**
 * DWT_COMPn, where it is known: the address that comparator n watches. Completes the addresses in
 * the trace, which have the low 16 bits only, and stands in where the trace has none.
 */
void pug_dwt_set_comparator(struct pug_dwt *dwt, unsigned n, uint32_t address);

/** The same, as far as the settings of an ITM source have it: pug_source_config(). */
void pug_dwt_use_config(struct pug_dwt *dwt, const void *config);

/**
 * The next element. Returns how many events are complete: dwt->events, valid until the next call.
 */
size_t pug_dwt_push(struct pug_dwt *dwt, const struct pug_element *element);

/** No more elements: what is left. */
size_t pug_dwt_finish(struct pug_dwt *dwt);

#ifdef __cplusplus
}
#endif
#endif
