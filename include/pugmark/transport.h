// SPDX-License-Identifier: MIT
/** @file What a transport is: captured bytes in, runs of one source each out. */
#ifndef PUGMARK_TRANSPORT_H
#define PUGMARK_TRANSPORT_H

#include "pugmark/log.h"
#include "pugmark/protocol.h"
#include "pugmark/settings.h"

#ifdef __cplusplus
extern "C" {
#endif

enum pug_frame_kind { PUG_FRAME_PACKED, PUG_FRAME_HSYNC, PUG_FRAME_FSYNC, PUG_FRAME_ID_DATA };

/** No source id was seen yet. */
#define PUG_SOURCE_UNKNOWN 0xFFFFu

/** Raw frames, for who wants to see the transport at work. */
typedef void pug_frame_fn(void *context, enum pug_op op, uint64_t index, enum pug_frame_kind kind,
                          uint16_t source, const uint8_t *bytes, size_t size);

/** Bytes by what became of them. */
struct pug_transport_stats {
    uint64_t delivered;   /**< to sources with a decoder or packet reader */
    uint64_t no_decoder;  /**< of sources without one */
    uint64_t reserved;    /**< of reserved ids */
    uint64_t unknown;     /**< before the first id */
    uint64_t framing;     /**< the transport's own: ids, flags, syncs */
    uint64_t skipped;     /**< while not synchronised */
    uint64_t dropped;     /**< of a partial frame at the end */
    uint64_t triggers;    /**< trigger and other special ids seen */
    uint64_t other_types; /**< packets of types that are neither instruction nor data trace */
};

/** What the tree offers a transport. */
struct pug_transport_sink {
    void *context;
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
    /** The first slot from this one on that has a source, or -1. */
    int (*next_source)(void *context, int from);
    /**
     * Raw frames; NULL when nobody looks. `want` tells which: bit 0 packed, bit 1 unpacked, bit 2
     * synchronisation points alone, of which there is no need to give the bytes.
     */
    pug_frame_fn *frame;
    void *frame_context;
    unsigned want;
    struct pug_log *log;
    struct pug_quirks quirks;
    struct pug_transport_stats *stats;
};

struct pug_transport {
    const char *name;  /**< "coresight" */
    const char *title; /**< in words */
    bool single;       /**< one source, whatever its id: bytes go straight to it */
    /** Is this source id reserved? May be NULL: none is. */
    bool (*reserved)(uint16_t source);
    /** Optional: write all that what is still to come depends on (state.h). */
    void (*state)(const void *transport, struct pug_state *state);
    enum pug_status (*create)(const struct pug_settings *settings, struct pug_transport_sink *sink,
                              void **transport);
    void (*free)(void *transport);
    /** Take bytes; *used as in pug_tree_data(). */
    enum pug_response (*data)(void *transport, uint64_t index, const uint8_t *bytes, size_t size,
                              size_t *used);
    /** Deliver what waits. */
    enum pug_response (*flush)(void *transport);
    /** No more bytes: deliver or drop what is incomplete. */
    enum pug_response (*end)(void *transport);
    void (*reset)(void *transport);
};

/** By name, or NULL; and the n-th, or NULL. */
const struct pug_transport *pug_transport_find(const char *name);
const struct pug_transport *pug_transport_at(size_t n);

#ifdef __cplusplus
}
#endif
#endif
