// SPDX-License-Identifier: MIT
/** @file The packet reader's state, shared by the search for synchronisation and the reading. */
#ifndef PUG_PROTOCOL_STM_READER_H
#define PUG_PROTOCOL_STM_READER_H

#include "protocol/stm/stm.h"

/** An ASYNC is this many F nibbles or more, then a 0. */
#define PUG_STM_ASYNC_RUN 21u

/** The longest packet but ASYNC: 3 nibbles of opcode, 16 of payload, 1 and 16 of timestamp. */
#define PUG_STM_PACKET_BYTES 20u
/** … and as much as is looked at where it may be. */
#define PUG_STM_LOOK_BYTES 32u

enum pug_stm_reading { PUG_STM_SEARCHING, PUG_STM_READING, PUG_STM_IN_ASYNC };

struct pug_stm_reader {
    struct pug_stage *stage;
    struct pug_stm_packet packet; /**< its type is kept until another one is known */
    struct pug_rawbytes raw;      /**< of an ASYNC, or of what is searched */
    uint8_t state;                /**< enum pug_stm_reading */
    bool odd; /**< the low nibble of the span's next byte, or of the first one held, is used */
    bool stale_type, next_index; /**< quirks: stm_stale_error_type, stm_index_of_next_byte */

    /* the packet under way */
    bool open; /**< a part of it was looked at */
    uint64_t index;

    /* Packets of short runs, and those that began in an earlier run, are read from a copy: the
       run's bytes stand at PUG_STM_PACKET_BYTES, what is held of earlier runs just before them. */
    unsigned held;
    uint8_t half; /**< held, though nothing of its packet was looked at: the first byte of it */
    bool copied;  /**< the whole run is there */
    uint8_t copy[PUG_STM_PACKET_BYTES + 2 * PUG_STM_LOOK_BYTES];
    uint8_t shown[PUG_STM_LOOK_BYTES]; /**< bytes of a packet that begins in the middle of one */

    uint64_t tail; /**< the last field that was read … */
    uint8_t
        tail_length; /**< … and its nibbles, or PUG_STM_TAIL_COUNTED: its F are counted in f_run */

    /* synchronisation */
    bool started;        /**< in a run of F nibbles that may become an ASYNC */
    bool found;          /**< the ASYNC is complete, but not output */
    bool from_odd;       /**< the search began in the middle of a byte */
    uint64_t f_run;      /**< F nibbles just before the next nibble */
    uint64_t borrowed;   /**< those of them that a packet used */
    uint64_t sync_index; /**< where the run began */
    uint64_t count;      /**< nibbles of the search that no packet has, from `index` on */
};

#define PUG_STM_TAIL_COUNTED 0xff

/** The next nibble; there is one. */
static inline uint8_t pug_stm_take_nibble(struct pug_stm_reader *r, struct pug_span *span)
{
    uint8_t nibble = r->odd ? *span->at++ >> 4 : *span->at & 0xf;
    r->odd = !r->odd;
    return nibble;
}

/** The reference counts a byte as used when its low nibble is. */
static inline void pug_stm_use_up(struct pug_stm_reader *r, struct pug_span *span)
{
    bool between = r->state == PUG_STM_READING || (r->state == PUG_STM_SEARCHING && r->found);
    if (!r->next_index || !r->odd || !between || r->held)
        return;
    r->half = *span->at++;
    r->held = 1;
}

/** The index of a packet that begins in the high nibble of the byte before, which is used up. */
static inline uint64_t pug_stm_half_index(const struct pug_span *span)
{
    return span->at == span->run->bytes ? pug_span_index(span)
                                        : pug_run_index(span->run, span->at - 1) + 1;
}

/** The next NOTSYNC or ASYNC of a stream that is not synchronised. */
bool pug_stm_search(struct pug_stm_reader *r, struct pug_span *span, struct pug_packet *packet);

struct pug_stm_decoder;

/**
 * Pass over noise of a search while no packets are reported, as far as it cannot be an ASYNC. The
 * decoder gets the same notifications as it would from packets. NULL: no decoder.
 */
void pug_stm_pass_over_noise(struct pug_stm_reader *r, struct pug_stm_decoder *d,
                             struct pug_span *span);

/** Reports the rest of a search when the trace ends. */
bool pug_stm_search_end(struct pug_stm_reader *r, struct pug_packet *packet);

#endif
