// SPDX-License-Identifier: MIT
/** @file The packet reader's state, shared by the search for synchronisation and the reading. */
#ifndef PUG_PROTOCOL_ITM_READER_H
#define PUG_PROTOCOL_ITM_READER_H

#include "protocol/itm/itm.h"

/** An ASYNC is this many bytes of 0x00 or more, then an 0x80. */
#define PUG_ITM_ASYNC_ZEROS 5u
#define PUG_ITM_ASYNC_END   0x80

/** Most bytes after a local timestamp's header. */
#define PUG_ITM_LOCAL_TS_BYTES 4u

/** bits of the global time; the others are in a GTS2 */
#define PUG_ITM_GTS1_BITS 26u

struct pug_itm_reader {
    struct pug_stage *stage;
    const struct pug_itm_config *config;
    bool begins;    /**< a packet begins after `ahead` more bytes */
    uint64_t ahead; /**< while `begins` */
    struct pug_itm_packet packet;
    struct pug_rawbytes raw; /**< searching: bytes not given out; else of the packet under way */
    uint64_t index;          /**< of the packet under way */

    bool synced;
    bool open;      /**< a packet is under way */
    uint8_t shape;  /**< of it: enum itm_shape */
    uint8_t limit;  /**< bytes that may follow its header */
    uint8_t count;  /**< bytes that did */
    uint64_t value; /**< what they say */
    uint64_t zeros; /**< bytes of 0x00 just before the next byte */
    uint64_t global_time;
    bool has_upper; /**< its bits above PUG_ITM_GTS1_BITS are known */
    uint8_t page;   /**< of stimulus ports */

    /* searching */
    bool matching; /**< inside what may be an ASYNC; `raw` has nothing else */
    bool told;     /**< a NOTSYNC went to the decoder */
    size_t unsure; /**< bytes of `raw` that are none, not given out */
    size_t given;  /**< bytes of `raw` that went out with the last packet */
};

/** Whole packets were taken from the span up to `at`; none of their headers is 0. */
static inline void pug_itm_took(struct pug_itm_reader *r, struct pug_span *span, const uint8_t *at)
{
    if (at == span->at)
        return;
    span->at = at;
    r->zeros = 0;
    while (at[-1 - (ptrdiff_t)r->zeros] == 0) /* it ends in the last packet */
        r->zeros++;
}

/** The next NOTSYNC or ASYNC of a stream that is not synchronised. */
bool pug_itm_search(struct pug_itm_reader *r, struct pug_span *span, struct pug_packet *packet);

struct pug_itm_decoder;

/**
 * Pass over noise of a search while no packets are reported, as far as it cannot be an ASYNC. The
 * decoder gets the same notifications as it would from packets. NULL: no decoder.
 */
void pug_itm_pass_over_noise(struct pug_itm_reader *r, struct pug_itm_decoder *d,
                             struct pug_span *span);

/** Reports the rest of a search when the trace ends. */
bool pug_itm_search_end(struct pug_itm_reader *r, struct pug_packet *packet);

#endif
