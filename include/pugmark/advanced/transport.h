// SPDX-License-Identifier: MIT
/** @file Transports: captured bytes in, runs of one source each out. */
#ifndef PUGMARK_TRANSPORT_H
#define PUGMARK_TRANSPORT_H

#include "pugmark/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/** The kind of a piece of a frame. */
enum pug_frame_kind { PUG_FRAME_PACKED, PUG_FRAME_HSYNC, PUG_FRAME_FSYNC, PUG_FRAME_ID_DATA };

/** No source id was seen yet. */
#define PUG_SOURCE_UNKNOWN 0xFFFFu

/** Raw frames, to watch the transport at work. */
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
    uint64_t spare[4];    /**< zero */
};

struct pug_transport;

/**
 * Make a transport known under its name to pug_transport_find(), the trees and the formats of
 * snapshots (pugmark/author/transport.h). The table must outlive its use. At most 32;
 * PUG_ERR_NAME_TAKEN, PUG_ERR_TOO_MANY_PROTOCOLS, PUG_ERR_NOT_OFFERED: it was built
 * for another version of the library. Register before threads start: the list is the process's.
 */
enum pug_status pug_transport_register(const struct pug_transport *transport);
/** PUG_ERR_UNKNOWN_NAME: it was not registered. */
enum pug_status pug_transport_unregister(const char *name);

/** By name (case-sensitive), or NULL. */
const struct pug_transport *pug_transport_find(const char *name);
/** The n-th known transport, or NULL. */
const struct pug_transport *pug_transport_at(size_t n);

/** A transport's name: "coresight". */
const char *pug_transport_name(const struct pug_transport *transport);
/** Returns a transport's title in words. */
const char *pug_transport_title(const struct pug_transport *transport);

/** Does it carry one source, whatever its id? */
bool pug_transport_is_single(const struct pug_transport *transport);

#ifdef __cplusplus
}
#endif
#endif
