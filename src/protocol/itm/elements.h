// SPDX-License-Identifier: MIT
/**
 * @file The decoder's state, and what a packet of a running stream gives.
 *
 * It is inline: the decoder takes one packet at a time, and fast_path.c many at once.
 */
#ifndef PUG_PROTOCOL_ITM_ELEMENTS_H
#define PUG_PROTOCOL_ITM_ELEMENTS_H

#include "protocol/itm/itm.h"

enum pug_itm_state { PUG_ITM_NO_SYNC, PUG_ITM_WAIT_SYNC, PUG_ITM_RUN };

struct pug_itm_decoder {
    struct pug_stage *stage;
    bool assume_sync;
    uint32_t prescale; /**< cycles that a step of the local timestamp stands for */
    uint32_t loss;     /**< cycles that each local timestamp lacks */
    enum pug_itm_state state;
    enum pug_unsync reason; /**< why there is no synchronisation */
    uint64_t local_time;    /**< sum of the local timestamps */
    uint64_t global_time;
    uint64_t timestamp; /**< the last one given */
    uint8_t page;       /**< of stimulus ports */
    bool need_gts2;     /**< the upper bits of the global time are not known */
    bool overflow;      /**< packets were lost since the last element */
    bool clock_changed;
    bool guessed;        /**< decoding began by a guess, and there was no ASYNC since */
    uint16_t time_flag;  /**< PUG_ELEM_HAS_TS, unless a quirk forbids it */
    uint64_t last_index; /**< of the last packet */
};

/** One element. The flag of lost packets goes with the first one after them. */
static inline struct pug_element *pug_itm_push(struct pug_itm_decoder *d, uint64_t index,
                                               enum pug_itm_kind kind, uint32_t number,
                                               uint32_t value, unsigned size)
{
    struct pug_element *e = pug_out_push(&d->stage->out, PUG_ELEM_ITMTRACE, index);
    e->reason = (uint8_t)kind;
    e->number = number;
    e->value = value;
    e->last_size = (uint8_t)size;
    e->timestamp = d->timestamp;
    PUG_ITM_FLAGS(e) = d->guessed ? PUG_ITM_GUESSED : 0;
    e->flags = d->overflow ? PUG_ELEM_OVERFLOW : 0;
    d->overflow = false;
    return e;
}

static inline void pug_itm_push_write(struct pug_itm_decoder *d, uint64_t index, unsigned source,
                                      uint32_t value, unsigned size)
{
    pug_itm_push(d, index, PUG_ITM_SWIT, pug_itm_port(source, d->page), value, size);
}

static inline void pug_itm_push_time(struct pug_itm_decoder *d, uint64_t index,
                                     enum pug_itm_kind kind, uint64_t time, uint32_t value,
                                     unsigned size)
{
    d->timestamp = time;
    pug_itm_push(d, index, kind, 0, value, size)->flags |= d->time_flag;
}

static inline void pug_itm_push_local_time(struct pug_itm_decoder *d, uint64_t index,
                                           unsigned relation, uint32_t value, unsigned size)
{
    d->local_time += pug_itm_cycles(d->prescale, d->loss, value);
    pug_itm_push_time(d, index, (enum pug_itm_kind)(PUG_ITM_TS_SYNC + relation), d->local_time,
                      value, size);
}

#endif
