// SPDX-License-Identifier: MIT
/** @file The stream side of the wrappings from inside. */
#ifndef PUG_TRANSPORT_UNWRAP_STREAM_H
#define PUG_TRANSPORT_UNWRAP_STREAM_H

#include "transport/unwrap.h"

#define PUG_UNWRAP_CAPACITY 4096u
#define PUG_UNWRAP_CHAIN    32u   /* packets that a chain of would-be headers has to last */
#define PUG_UNWRAP_SAMPLE   2048u /* bytes that the padding is guessed from */

enum state { STATE_START, STATE_SEARCH, STATE_SYNCED };

/** Of a bit stream: places are numbers of bits in the buffer, from its first byte's bit 0 on. */
struct pug_unwrap_bits {
    uint32_t head;    /* what comes next; a header, if STATE_SYNCED */
    uint32_t scanned; /* so far zeros are counted */
    uint32_t zeros;   /* in a row before there; of more than are wanted one more */
    bool found;       /* a synchronisation sequence ends there … */
    bool exact;       /* … with no zero too many: it may be none */
    bool ones;        /* what is being skipped was not only nulls */
    bool zero_packet; /* the last packet was all zeros */
};

struct pug_unwrap {
    struct pug_unwrap_config config;
    pug_unwrap_report_fn *report;
    void *context;
    enum state state;
    bool ended;
    bool from_begin;    /* of the capture, while it is not known how the stream begins */
    bool simple;        /* packets are as most are: unwrap_row.c */
    bool padding_known; /* … or there is none */
    enum pug_unwrap_padding padding;
    struct pug_unwrap_padding_guess guess; /* … as long as it is not known */
    uint32_t head, tail;                   /* what is in the buffer */
    uint16_t bad;                          /* of the last 16 packets, a bit each */
    unsigned null_run;                     /* nulls before `head`, for the search */
    uint32_t marked;                       /* bytes that the search looked at for nulls … */
    unsigned marked_run;                   /* … and the nulls at their end */
    uint64_t skipped;                      /* all */
    uint64_t skipping;                     /* by the search that is on */
    bool numbered;                         /* ESP32: `number` is that of the last packet */
    uint16_t number;
    bool found_any; /* there was a packet */
    bool settled;   /* it was found how the stream begins … */
    bool lost;      /* … and since then packets were lost */
    struct pug_unwrap_bits bits;
    uint8_t *seen; /* a bit a source: had a packet since the last gap */
    size_t seen_size;
    uint8_t scratch[PUG_UNWRAP_LONGEST];
    uint8_t aligned[PUG_UNWRAP_LONGEST]; /* a packet of a bit stream */
    uint8_t bytes[PUG_UNWRAP_CAPACITY + PUG_RUN_SPARE];
    uint64_t index[PUG_UNWRAP_CAPACITY];
};

static inline uint32_t held(const struct pug_unwrap *unwrap)
{
    return unwrap->tail - unwrap->head;
}

static inline void pug_unwrap_tell(const struct pug_unwrap *unwrap, enum pug_status code,
                                   uint64_t index, const char *text)
{
    if (unwrap->report)
        unwrap->report(unwrap->context, code, index, text);
}

/* ---- unwrap.c ---- */

/** Every source may have lost something. */
void pug_unwrap_lose(struct pug_unwrap *unwrap);

/** The search came to a header: say how much it skipped. */
void pug_unwrap_found(struct pug_unwrap *unwrap, uint64_t index);

/** The data have ended, and there was no header. */
void pug_unwrap_give_up(struct pug_unwrap *unwrap);

/** Note how a packet was. True: too many were bad, what was taken for headers are none. */
bool pug_unwrap_judge(struct pug_unwrap *unwrap, bool bad);

/** Is known what the packet's padding is? False: there have to be more bytes. */
bool pug_unwrap_padding_known(struct pug_unwrap *unwrap, const struct pug_unwrapped *packet);

/** A packet is whole, and can be given. */
void pug_unwrap_accept(struct pug_unwrap *unwrap, uint64_t index, struct pug_unwrapped *packet);

/* ---- unwrap_bits.c ---- */

/** Bytes were taken out of the buffer's front. */
void pug_unwrap_bits_move(struct pug_unwrap *unwrap, uint32_t bytes);

/** One packet of a bit stream, or one thing that is none. False: nothing more can be done now. */
bool pug_unwrap_bits_step(struct pug_unwrap *unwrap, struct pug_unwrapped *packet, bool *got);

/** Packets from `head` on, for what their padding is. False: there have to be more of them. */
bool pug_unwrap_bits_sample(const struct pug_unwrap *unwrap,
                            struct pug_unwrap_padding_guess *guess);

void pug_unwrap_bits_state(const struct pug_unwrap *unwrap, struct pug_state *state);

/* ---- unwrap_row.c ---- */

/** Is it the source's first packet since packets may have been lost? */
bool pug_unwrap_first_since_gap(const struct pug_unwrap *unwrap, uint16_t source);
/** Then the next one is not. */
void pug_unwrap_note_source(struct pug_unwrap *unwrap, uint16_t source);

/** The next packet where it is whole, and as most are; pug_unwrap_next() has a general way, too. */
bool pug_unwrap_take_simple(struct pug_unwrap *unwrap, struct pug_unwrapped *packet);

#endif
