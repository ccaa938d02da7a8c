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
    uint64_t spare[4];    /**< zero */
};

struct pug_transport;

/** By name, or NULL; and the n-th, or NULL. */
const struct pug_transport *pug_transport_find(const char *name);
const struct pug_transport *pug_transport_at(size_t n);

/** A transport's name ("coresight"), and what it is in words. */
const char *pug_transport_name(const struct pug_transport *transport);
const char *pug_transport_title(const struct pug_transport *transport);

/** Does it carry one source, whatever its id? */
bool pug_transport_is_single(const struct pug_transport *transport);

#ifdef __cplusplus
}
#endif
#endif
