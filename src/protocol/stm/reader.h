// SPDX-License-Identifier: MIT
/** @file The packet reader's state, shared by the search for synchronisation and the reading. */
#ifndef PUG_PROTOCOL_STM_READER_H
#define PUG_PROTOCOL_STM_READER_H

#include "protocol/stm/stm.h"

/** An ASYNC is this many F nibbles or more, then a 0. */
#define STM_ASYNC_RUN 21u

/** What the field being read is. */
enum stm_step {
    STM_NO_OPCODE,
    STM_OPCODE1,
    STM_OPCODE2, /**< after F */
    STM_OPCODE3, /**< after F 0 */
    STM_PAYLOAD,
    STM_TS_LENGTH,
    STM_TS,
    STM_ASYNC_FIELD, /**< one nibble at a time, after F F */
};

struct stm_reader {
    struct pug_stage *stage;
    struct pug_stm_packet packet;
    struct pug_rawbytes raw; /**< of the packet under way, from earlier runs */

    /* the high nibble of the last byte taken, while it is not used */
    bool has_high;
    uint8_t high;
    uint64_t high_index; /**< of that byte */

    /* the packet under way */
    bool open;      /**< at least a nibble of it was read */
    uint8_t type;   /**< what it is, as far as is known */
    uint8_t step;   /**< enum stm_step */
    uint8_t left;   /**< nibbles that the field still lacks */
    uint8_t length; /**< nibbles of the field */
    bool has_ts;    /**< a timestamp follows the payload */
    bool marker;
    uint64_t value; /**< the field, as far as it was read */
    uint64_t index;

    /* synchronisation */
    bool synced;
    bool started;        /**< in a run of F nibbles that may become an ASYNC */
    bool found;          /**< the ASYNC is complete, but not output */
    uint64_t f_run;      /**< F nibbles just before the next nibble */
    uint64_t borrowed;   /**< those of them that a packet used */
    uint64_t sync_index; /**< where the run began */
    uint64_t count;      /**< nibbles of the search that no packet has, from `index` on */
    bool from_high;      /**< the first of them is the high one of its byte */
};

static inline bool stm_has_nibble(const struct stm_reader *r, const struct pug_span *span)
{
    return r->has_high || span->at != span->end;
}

/** Trace index of the next nibble. */
static inline uint64_t stm_nibble_index(const struct stm_reader *r, const struct pug_span *span)
{
    if (r->has_high && !r->stage->quirks.stm_index_of_next_byte)
        return r->high_index;
    return pug_span_index(span);
}

static inline uint8_t stm_take_nibble(struct stm_reader *r, struct pug_span *span)
{
    if (r->has_high) {
        r->has_high = false;
        return r->high;
    }
    r->high_index = pug_span_index(span);
    uint8_t byte = *span->at++;
    r->high = byte >> 4;
    r->has_high = true;
    return byte & 0xf;
}

/** The next NOTSYNC or ASYNC of a stream that is not synchronised. */
bool stm_search(struct stm_reader *r, struct pug_span *span, struct pug_packet *packet);

/** What is left of a search when the trace ends. */
bool stm_search_end(struct stm_reader *r, struct pug_packet *packet);

#endif
