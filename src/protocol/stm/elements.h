// SPDX-License-Identifier: MIT
/**
 * @file The decoder's state, and what a packet of a running stream gives.
 *
 * All of it is inline: the decoder takes one packet at a time, and fast_path.c many at once.
 */
#ifndef PUG_PROTOCOL_STM_ELEMENTS_H
#define PUG_PROTOCOL_STM_ELEMENTS_H

#include "protocol/stm/message.h"
#include "protocol/stm/stm.h"

enum pug_stm_state { PUG_STM_NO_SYNC, PUG_STM_WAIT_SYNC, PUG_STM_RUN };

struct pug_stm_decoder {
    struct pug_stage *stage;
    bool join_payloads;
    bool parting; /**< no more, once the message under way is delivered */
    enum pug_stm_state state;
    enum pug_unsync reason;   /**< why there is no synchronisation */
    struct pug_element blank; /**< a SWTRACE element with the current master and channel */
    uint64_t timestamp;       /**< of the last packet that had one */
    uint64_t last_index;      /**< of the last packet */
    struct pug_stm_message message;
};

enum pug_stm_action {
    PUG_STM_IGNORE,
    PUG_STM_FOLLOW,     /**< master and channel, but no element */
    PUG_STM_TELL,       /**< an element */
    PUG_STM_TELL_TIME,  /**< an element where it has a timestamp */
    PUG_STM_TELL_ERROR, /**< master and channel, and an element */
    PUG_STM_UNSYNC,
};

/**
 * sw_flags, sw_bits and sw_packets in one word that begins with context_flags. They are written as
 * one: who takes the element at once and reads some of them together need not wait.
 */
#define PUG_STM_WORD(flags, bits)                                                                  \
    ((uint32_t)(flags) << 8 | (uint32_t)(bits) << 16 | (uint32_t)((bits) > 0) << 24)

/** How the decoder handles a packet type. */
static const struct {
    uint8_t action; /**< enum pug_stm_action */
    bool joins;     /**< the payload may be a part of a message */
    bool sets_id;   /**< master and channel are known from here on … */
    bool clears_id; /**< … or not known any more */
    uint32_t word;  /**< PUG_STM_WORD() */
    uint64_t mask;  /**< of the payload */
} stm_meanings[PUG_STM_TYPE_COUNT] = {
    [PUG_STM_NOTSYNC] = {.action = PUG_STM_UNSYNC},
    [PUG_STM_RESERVED] = {.action = PUG_STM_UNSYNC},
    [PUG_STM_BAD_SEQUENCE] = {.action = PUG_STM_UNSYNC},
    [PUG_STM_VERSION] = {.action = PUG_STM_FOLLOW},
    [PUG_STM_M8] = {.action = PUG_STM_FOLLOW, .sets_id = true},
    [PUG_STM_C8] = {.action = PUG_STM_FOLLOW},
    [PUG_STM_C16] = {.action = PUG_STM_FOLLOW},
    [PUG_STM_FREQ] = {PUG_STM_TELL, .word = PUG_STM_WORD(PUG_SW_FREQUENCY, 32), .mask = UINT32_MAX},
    [PUG_STM_TRIG] = {PUG_STM_TELL, .word = PUG_STM_WORD(PUG_SW_TRIGGER, 8), .mask = 0xff},
    [PUG_STM_GERR] = {PUG_STM_TELL_ERROR, .clears_id = true,
                      .word = PUG_STM_WORD(PUG_SW_GLOBAL_ERROR, 8), .mask = 0xff},
    [PUG_STM_MERR] = {PUG_STM_TELL_ERROR, .word = PUG_STM_WORD(PUG_SW_MASTER_ERROR, 8),
                      .mask = 0xff},
    [PUG_STM_NULL] = {.action = PUG_STM_TELL_TIME},
    [PUG_STM_FLAG] = {PUG_STM_TELL, .word = PUG_STM_WORD(PUG_SW_MARKER, 0), .mask = 0},
    [PUG_STM_D4] = {PUG_STM_TELL, .word = PUG_STM_WORD(0, 4), .mask = 0xf},
    [PUG_STM_D8] = {PUG_STM_TELL, .joins = true, .word = PUG_STM_WORD(0, 8), .mask = 0xff},
    [PUG_STM_D16] = {PUG_STM_TELL, .joins = true, .word = PUG_STM_WORD(0, 16), .mask = 0xffff},
    [PUG_STM_D32] = {PUG_STM_TELL, .joins = true, .word = PUG_STM_WORD(0, 32), .mask = UINT32_MAX},
    [PUG_STM_D64] = {PUG_STM_TELL, .joins = true, .word = PUG_STM_WORD(0, 64), .mask = UINT64_MAX},
};

/** Fill in an element, which is `blank` otherwise, from a packet. */
static inline void pug_stm_fill_software(const struct pug_stm_decoder *d, struct pug_element *e,
                                         unsigned type, bool marker, bool has_ts)
{
    uint32_t word = stm_meanings[type].word | (uint32_t)marker * PUG_STM_WORD(PUG_SW_MARKER, 0) |
                    PUG_STM_WORD(d->blank.sw_flags, 0);
    e->flags = has_ts ? PUG_ELEM_HAS_TS : 0;
    e->context_flags = (uint8_t)word;
    e->sw_flags = (uint8_t)(word >> 8);
    e->sw_bits = (uint8_t)(word >> 16);
    e->sw_packets = (uint8_t)(word >> 24);
}

/** The element that a packet alone gives. */
static inline void pug_stm_fill_element(struct pug_stm_decoder *d, struct pug_element *e,
                                        uint64_t index, const struct pug_stm_packet *packet)
{
    unsigned type = packet->type;
    if (packet->has_ts)
        d->timestamp = packet->timestamp;
    *e = d->blank;
    e->index = index;
    e->value = packet->payload & stm_meanings[type].mask;
    e->timestamp = d->timestamp;
    pug_stm_fill_software(d, e, type, packet->marker, packet->has_ts);
}

static inline void pug_stm_follow_ids(struct pug_stm_decoder *d,
                                      const struct pug_stm_packet *packet)
{
    PUG_SW_MASTER(&d->blank) = packet->master;
    PUG_SW_CHANNEL(&d->blank) = packet->channel;
    if (stm_meanings[packet->type].sets_id)
        d->blank.sw_flags = PUG_SW_ID_VALID;
    if (stm_meanings[packet->type].clears_id)
        d->blank.sw_flags = 0;
}

static inline void pug_stm_lose_sync(struct pug_stm_decoder *d)
{
    d->state = PUG_STM_NO_SYNC;
    d->blank = d->stage->out.blank;
    d->blank.type = PUG_ELEM_SWTRACE;
}

static inline enum pug_response pug_stm_decode_unsync(struct pug_stm_decoder *d, uint8_t type)
{
    pug_stm_message_close(&d->message, &d->stage->out);
    pug_stm_lose_sync(d);
    if (type == PUG_STM_NOTSYNC)
        return PUG_RESP_CONT;
    d->reason = PUG_UNSYNC_BAD_PACKET;
    bool fatal = d->stage->quirks.bad_software_packet_fatal || d->stage->options.halt_on_bad_packet;
    return fatal ? PUG_RESP_FATAL_INVALID_DATA : PUG_RESP_CONT;
}

static inline void pug_stm_decode_joining(struct pug_stm_decoder *d, uint64_t index,
                                          const struct pug_stm_packet *packet)
{
    struct pug_element element;
    pug_stm_fill_element(d, &element, index, packet);
    pug_stm_message_add(&d->message, &d->stage->out, &element);
}

/** A packet of the running stream. */
static inline enum pug_response pug_stm_decode_running(struct pug_stm_decoder *d, uint64_t index,
                                                       const struct pug_stm_packet *packet)
{
    struct pug_batch *batch = d->stage->out.batch;
    unsigned action = stm_meanings[packet->type].action;
    d->last_index = index;
    if (d->parting) {
        pug_stm_message_close(&d->message, &d->stage->out);
        d->join_payloads = d->parting = false;
    }
    if (d->join_payloads) {
        if (stm_meanings[packet->type].joins) {
            pug_stm_decode_joining(d, index, packet);
            return PUG_RESP_CONT;
        }
        if (action != PUG_STM_IGNORE && (action != PUG_STM_TELL_TIME || packet->has_ts))
            pug_stm_message_close(&d->message, &d->stage->out);
    }
    if (action == PUG_STM_TELL) {
        pug_stm_fill_element(d, &batch->elements[batch->count++], index, packet);
        return PUG_RESP_CONT;
    }
    if (action == PUG_STM_UNSYNC)
        return pug_stm_decode_unsync(d, packet->type);
    if (action == PUG_STM_FOLLOW || action == PUG_STM_TELL_ERROR)
        pug_stm_follow_ids(d, packet);
    if (action == PUG_STM_TELL_ERROR || (action == PUG_STM_TELL_TIME && packet->has_ts))
        pug_stm_fill_element(d, &batch->elements[batch->count++], index, packet);
    return PUG_RESP_CONT;
}

#endif
