// SPDX-License-Identifier: MIT
/**
 * @file What a transport is: captured bytes in, runs of one source each out. For who writes one of
 * his own, and makes it known with pug_transport_register().
 */
#ifndef PUGMARK_AUTHOR_TRANSPORT_H
#define PUGMARK_AUTHOR_TRANSPORT_H

#include "pugmark/author/protocol.h"
#include "pugmark/transport.h"

#ifdef __cplusplus
extern "C" {
#endif

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
     * Raw frames; NULL when nobody looks. `want` tells which: bit 0 packed, bit 1 unpacked, bit 2
     * synchronisation points alone, of which there is no need to give the bytes.
     */
    pug_frame_fn *frame;
    void *frame_context;               /**< is handed to frame() */
    unsigned want;                     /**< what of frames is wanted, as above */
    struct pug_log *log;               /**< where messages go; NULL: nowhere */
    struct pug_quirks quirks;          /**< the tree's */
    struct pug_transport_stats *stats; /**< the transport counts, but what it delivers */
    /** Shown the packets of the RISC-V packet encapsulation; NULL when nobody looks. */
    pug_encapsulation_fn *encapsulation;
    void *encapsulation_context; /**< is handed to it */
    /** Runs of different sources may come in another order than in the trace: nobody minds. */
    bool any_order;
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
     * Optional, of who tells a source where packets of it may be missing (pug_run.gap): is there
     * nothing to be told when it is heard next? It is part of that source's state, not of state().
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
