// SPDX-License-Identifier: MIT
/** @file The stream side of the wrappings from inside. */
#ifndef PUG_TRANSPORT_UNWRAP_STREAM_H
#define PUG_TRANSPORT_UNWRAP_STREAM_H

#include "transport/unwrap.h"

#define PUG_UNWRAP_CAPACITY 4096u

enum state { STATE_BITS, STATE_START, STATE_SEARCH, STATE_SYNCED };

struct pug_unwrap {
    struct pug_unwrap_config config;
    pug_unwrap_report_fn *report;
    void *context;
    enum state state;
    bool ended;
    bool simple;         /* headers are whole bytes: take_simple() */
    unsigned probation;  /* packets that still have to show that the first one was one */
    uint32_t head, tail; /* what is in the buffer */
    uint16_t bad;        /* of the last 16 packets, a bit each */
    unsigned null_run;   /* nulls before `head`, for the search */
    uint64_t skipped;    /* all */
    uint64_t skipping;   /* by the search that is on */
    bool numbered;       /* ESP32: `number` is that of the last packet */
    uint16_t number;
    /* bit streams */
    uint64_t zeros; /* zero bits in a row */
    unsigned shift; /* bit of a byte where the stream's bytes begin */
    uint8_t carry;  /* their first 8 - shift bits */
    uint64_t carry_index;
    uint8_t *seen; /* a bit a source: had a packet since the last gap */
    size_t seen_size;
    uint8_t scratch[PUG_UNWRAP_LONGEST];
    uint8_t bytes[PUG_UNWRAP_CAPACITY + PUG_RUN_SPARE];
    uint64_t index[PUG_UNWRAP_CAPACITY];
};

static inline uint32_t held(const struct pug_unwrap *unwrap)
{
    return unwrap->tail - unwrap->head;
}

/* ---- unwrap_row.c ---- */

/** Is it the source's first packet since packets may have been lost? Then the next one is not. */
bool pug_unwrap_first_since_gap(struct pug_unwrap *unwrap, uint16_t source);

/** The next packet where it is whole, and as most are; pug_unwrap_next() has a general way, too. */
bool pug_unwrap_take_simple(struct pug_unwrap *unwrap, struct pug_unwrapped *packet);

#endif
