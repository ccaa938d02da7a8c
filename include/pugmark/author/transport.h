// SPDX-License-Identifier: MIT
/**
 * @file What a transport is: captured bytes in, runs of one source each out. For who writes one of
 * his own, and makes it known with pug_transport_register().
 */
#ifndef PUGMARK_AUTHOR_TRANSPORT_H
#define PUGMARK_AUTHOR_TRANSPORT_H

#include "pugmark/advanced/transport.h"
#include "pugmark/author/protocol.h"

#ifdef __cplusplus
extern "C" {
#endif

/** As many sources can be in a gathering. */
#define PUG_MOST_GATHERED 32

/** A source's bytes in a piece of the trace, turn after turn. */
struct pug_gathered {
    struct pug_run run;   /**< with `gaps` */
    const uint16_t *ends; /**< where each turn ends, in bytes of the run */
    size_t turns;         /**< how many there are; none of them is empty */
};

/** What all sources say in a piece of the trace, and in what order they have their turns. */
struct pug_gathering {
    const struct pug_gathered *sources; /**< of different ids; one may have said nothing */
    size_t count;                       /**< how many these are */
    const uint8_t *order;               /**< for each turn, which of them has it */
    size_t turns;                       /**< how many turns there are */
};

/** What the tree offers a transport. */
struct pug_transport_sink {
    void *context; /**< is handed to these functions */
    /**
     * Deliver a run. *used is set to how many bytes were taken; fewer only with an answer that is
     * not "go on". The transport keeps the rest and delivers it again at its flush. Of a spliced
     * run, or one of packets with headers, fewer may be taken with a warning or an error, too: the
     * rest is then delivered at once.
     */
    enum pug_response (*run)(void *context, const struct pug_run *run, size_t *used);
    /** What this source takes besides simple runs: bits of enum pug_takes. NULL: nothing. */
    unsigned (*takes)(void *context, uint16_t source);
    /** Reset every source (4 x FSYNC), at this index. */
    void (*reset)(void *context, uint64_t index);
    /**
     * Raw frames; NULL: no consumer. `want` selects frames: bit 0 packed, bit 1 unpacked, bit
     * 2 synchronisation points alone, without their bytes.
     */
    pug_frame_fn *frame;
    void *frame_context;               /**< is handed to frame() */
    unsigned want;                     /**< what of frames is wanted, as above */
    struct pug_log *log;               /**< where messages go; NULL: nowhere */
    struct pug_quirks quirks;          /**< the tree's */
    struct pug_transport_stats *stats; /**< the transport counts, but what it delivers */
    /** Gets the packets of the RISC-V packet encapsulation; NULL: no consumer. */
    pug_encapsulation_fn *encapsulation;
    void *encapsulation_context; /**< is handed to it */
    /**
     * Runs of different sources may come in another order than in the trace, because no consumer
     * depends on it.
     */
    bool any_order;
    /**
     * The order is to be kept, but what comes of each source may be gathered, and is put back into
     * the order by the tree. All of it is taken, whatever the answer; it stays where it is until a
     * flush is answered with "go on". NULL: not now.
     */
    enum pug_response (*gathering)(void *context, const struct pug_gathering *gathering);
};

/** A transport: its name and its functions. */
struct pug_transport {
    uint32_t abi;      /**< PUG_AUTHOR_ABI; of those that are registered it is looked at */
    const char *name;  /**< "coresight" */
    const char *title; /**< in words */
    bool single;       /**< one source, whatever its id: bytes go straight to it */
    /** Is this source id reserved? May be NULL: none is. */
    bool (*reserved)(uint16_t source);
    /** Optional: write all that what is still to come depends on (state.h). */
    void (*state)(const void *transport, struct pug_state *state);
    /**
     * Optional, of a transport that notifies a source where packets of it may be missing
     * (pug_run.gap): can the next run come without such a notification? It is part of that source's
     * state, not of state().
     */
    bool (*heard)(const void *transport, uint16_t source);
    /** With that: were packets lost since the transport began to read, wherever that was? */
    bool (*lost)(const void *transport);
    /** Settings are used during the call; the sink outlives what is made. */
    enum pug_status (*create)(const struct pug_settings *settings, struct pug_transport_sink *sink,
                              void **transport);
    void (*free)(void *transport); /**< never with NULL */
    /** Take bytes; *used as in pug_tree_data(). */
    enum pug_response (*data)(void *transport, uint64_t index, const uint8_t *bytes, size_t size,
                              size_t *used);
    /** Deliver what waits. */
    enum pug_response (*flush)(void *transport);
    /** No more bytes: deliver or drop what is incomplete. */
    enum pug_response (*end)(void *transport);
    void (*reset)(void *transport); /**< forget the trace, not the settings */
};

#ifdef __cplusplus
}
#endif
#endif
