// SPDX-License-Identifier: MIT
/**
 * @file The decoder's state, and what a packet of a running stream gives.
 *
 * All of it is inline: the decoder takes one packet at a time, and plain.c many at once.
 */
#ifndef PUG_PROTOCOL_STM_ELEMENTS_H
#define PUG_PROTOCOL_STM_ELEMENTS_H

#include "protocol/stm/message.h"
#include "protocol/stm/stm.h"

enum stm_state { STM_NO_SYNC, STM_WAIT_SYNC, STM_RUN };

struct stm_decoder {
    struct pug_stage *stage;
    bool join_payloads;
    enum stm_state state;
    enum pug_unsync reason;   /**< why there is no synchronisation */
    struct pug_element blank; /**< a SWTRACE element with the current master and channel */
    uint64_t timestamp;       /**< of the last packet that had one */
    uint64_t last_index;      /**< of the last packet */
    struct stm_message message;
};

enum stm_action {
    STM_IGNORE,
    STM_FOLLOW,     /**< master and channel, but no element */
    STM_TELL,       /**< an element */
    STM_TELL_TIME,  /**< an element where it has a timestamp */
    STM_TELL_ERROR, /**< master and channel, and an element */
    STM_UNSYNC,
};

/**
 * sw_flags, sw_bits and sw_packets in one word that begins with context_flags. They are written as
 * one: who takes the element at once and reads some of them together need not wait.
 */
#define STM_WORD(flags, bits)                                                                      \
    ((uint32_t)(flags) << 8 | (uint32_t)(bits) << 16 | (uint32_t)((bits) > 0) << 24)

/** What a packet type means to the decoder. */
static const struct {
    uint8_t action; /**< enum stm_action */
    bool joins;     /**< the payload may be a part of a message */
    bool sets_id;   /**< master and channel are known from here on … */
    bool clears_id; /**< … or not known any more */
    uint32_t word;  /**< STM_WORD() */
    uint64_t mask;  /**< of the payload */
} stm_meanings[PUG_STM_TYPE_COUNT] = {
    [PUG_STM_NOTSYNC] = {.action = STM_UNSYNC},
    [PUG_STM_RESERVED] = {.action = STM_UNSYNC},
    [PUG_STM_BAD_SEQUENCE] = {.action = STM_UNSYNC},
    [PUG_STM_VERSION] = {.action = STM_FOLLOW},
    [PUG_STM_M8] = {.action = STM_FOLLOW, .sets_id = true},
    [PUG_STM_C8] = {.action = STM_FOLLOW},
    [PUG_STM_C16] = {.action = STM_FOLLOW},
    [PUG_STM_FREQ] = {STM_TELL, .word = STM_WORD(PUG_SW_FREQUENCY, 32), .mask = UINT32_MAX},
    [PUG_STM_TRIG] = {STM_TELL, .word = STM_WORD(PUG_SW_TRIGGER, 8), .mask = 0xff},
    [PUG_STM_GERR] = {STM_TELL_ERROR, .clears_id = true, .word = STM_WORD(PUG_SW_GLOBAL_ERROR, 8),
                      .mask = 0xff},
    [PUG_STM_MERR] = {STM_TELL_ERROR, .word = STM_WORD(PUG_SW_MASTER_ERROR, 8), .mask = 0xff},
    [PUG_STM_NULL] = {.action = STM_TELL_TIME},
    [PUG_STM_FLAG] = {STM_TELL, .word = STM_WORD(PUG_SW_MARKER, 0), .mask = 0},
    [PUG_STM_D4] = {STM_TELL, .word = STM_WORD(0, 4), .mask = 0xf},
    [PUG_STM_D8] = {STM_TELL, .joins = true, .word = STM_WORD(0, 8), .mask = 0xff},
    [PUG_STM_D16] = {STM_TELL, .joins = true, .word = STM_WORD(0, 16), .mask = 0xffff},
    [PUG_STM_D32] = {STM_TELL, .joins = true, .word = STM_WORD(0, 32), .mask = UINT32_MAX},
    [PUG_STM_D64] = {STM_TELL, .joins = true, .word = STM_WORD(0, 64), .mask = UINT64_MAX},
};

/** What an element that is `blank` otherwise says of a packet. */
static inline void stm_fill_software(const struct stm_decoder *d, struct pug_element *e,
                                     unsigned type, bool marker, bool has_ts)
{
    uint32_t word = stm_meanings[type].word | (uint32_t)marker * STM_WORD(PUG_SW_MARKER, 0) |
                    STM_WORD(d->blank.sw_flags, 0);
    e->flags = has_ts ? PUG_ELEM_HAS_TS : 0;
    e->context_flags = (uint8_t)word;
    e->sw_flags = (uint8_t)(word >> 8);
    e->sw_bits = (uint8_t)(word >> 16);
    e->sw_packets = (uint8_t)(word >> 24);
}

/** The element that a packet alone gives. */
static inline void stm_fill_element(struct stm_decoder *d, struct pug_element *e, uint64_t index,
                                    const struct pug_stm_packet *packet)
{
    unsigned type = packet->type;
    if (packet->has_ts)
        d->timestamp = packet->timestamp;
    *e = d->blank;
    e->index = index;
    e->value = packet->payload & stm_meanings[type].mask;
    e->timestamp = d->timestamp;
    stm_fill_software(d, e, type, packet->marker, packet->has_ts);
}

static inline void stm_follow_ids(struct stm_decoder *d, const struct pug_stm_packet *packet)
{
    PUG_SW_MASTER(&d->blank) = packet->master;
    PUG_SW_CHANNEL(&d->blank) = packet->channel;
    if (stm_meanings[packet->type].sets_id)
        d->blank.sw_flags = PUG_SW_ID_VALID;
    if (stm_meanings[packet->type].clears_id)
        d->blank.sw_flags = 0;
}

static inline void stm_lose_sync(struct stm_decoder *d)
{
    d->state = STM_NO_SYNC;
    d->blank = d->stage->out.blank;
    d->blank.type = PUG_ELEM_SWTRACE;
}

static inline enum pug_response stm_decode_unsync(struct stm_decoder *d, uint8_t type)
{
    stm_message_close(&d->message, &d->stage->out);
    stm_lose_sync(d);
    if (type == PUG_STM_NOTSYNC)
        return PUG_RESP_CONT;
    d->reason = PUG_UNSYNC_BAD_PACKET;
    bool fatal = d->stage->quirks.bad_software_packet_fatal || d->stage->options.halt_on_bad_packet;
    return fatal ? PUG_RESP_FATAL_INVALID_DATA : PUG_RESP_CONT;
}

static inline void stm_decode_joining(struct stm_decoder *d, uint64_t index,
                                      const struct pug_stm_packet *packet)
{
    struct pug_element element;
    stm_fill_element(d, &element, index, packet);
    stm_message_add(&d->message, &d->stage->out, &element);
}

/** A packet of the running stream. */
static inline enum pug_response stm_decode_running(struct stm_decoder *d, uint64_t index,
                                                   const struct pug_stm_packet *packet)
{
    struct pug_batch *batch = d->stage->out.batch;
    unsigned action = stm_meanings[packet->type].action;
    d->last_index = index;
    if (d->join_payloads) {
        if (stm_meanings[packet->type].joins) {
            stm_decode_joining(d, index, packet);
            return PUG_RESP_CONT;
        }
        if (action != STM_IGNORE && (action != STM_TELL_TIME || packet->has_ts))
            stm_message_close(&d->message, &d->stage->out);
    }
    if (action == STM_TELL) {
        stm_fill_element(d, &batch->elements[batch->count++], index, packet);
        return PUG_RESP_CONT;
    }
    if (action == STM_UNSYNC)
        return stm_decode_unsync(d, packet->type);
    if (action == STM_FOLLOW || action == STM_TELL_ERROR)
        stm_follow_ids(d, packet);
    if (action == STM_TELL_ERROR || (action == STM_TELL_TIME && packet->has_ts))
        stm_fill_element(d, &batch->elements[batch->count++], index, packet);
    return PUG_RESP_CONT;
}

#endif
