// SPDX-License-Identifier: MIT
/** @file Where a source begins that has no synchronisation point for long. */
#ifndef PUG_CAPTURE_BEGIN_H
#define PUG_CAPTURE_BEGIN_H

#include "capture/capture.h"
#include "pugmark/author/protocol.h"
#include "pugmark/author/transport.h"

/** Settings of a source that begins by a guess. */
#define PUG_BEGIN_SETTINGS 2u

/** A source in the bytes of a buffer. */
struct pug_begin {
    const struct pug_transport *transport;
    const struct pug_protocol *protocol;
    const struct pug_settings *settings; /**< of the transport, and what is said of the source */
    const uint8_t *bytes;
    uint64_t size;
    uint16_t id;
};

/**
 * The byte of a source where it begins by a guess; SIZE_MAX: where it is synchronised, as usual.
 * PUG_ERR_MEM.
 */
enum pug_status pug_capture_begin(const struct pug_capture *capture, const struct pug_begin *what,
                                  size_t *begin);

#endif
