// SPDX-License-Identifier: MIT
/**
 * @file Packets to elements at once, when no consumer reads packets: source packets and local
 * timestamps, which are most of a trace. All else is left to the reader and the decoder.
 */
#include "protocol/itm/elements.h"
#include "protocol/itm/reader.h"

/** aaaaaxss and its payload; how many bytes that is, 0: there are not enough. */
static inline size_t decode_source(struct pug_itm_decoder *d, const uint8_t *at, size_t left,
                                   uint64_t index)
{
    static const uint8_t sizes[4] = {0, 1, 2, 4};
    unsigned size = sizes[at[0] & 3];
    if (left < 1 + size)
        return 0;
    uint32_t value = at[1];
    if (size > 1)
        value |= (uint32_t)at[2] << 8;
    if (size > 2)
        value |= (uint32_t)at[3] << 16 | (uint32_t)at[4] << 24;
    if (at[0] & 4)
        pug_itm_push(d, index, PUG_ITM_DWT, at[0] >> 3, value, size);
    else
        pug_itm_push_write(d, index, at[0] >> 3, value, size);
    return 1 + size;
}

/** 0b0xxx0000 with xxx from 1 to 6, or 0b11xx0000 and what it is continued with. */
static inline size_t decode_local_time(struct pug_itm_decoder *d, const uint8_t *at, size_t left,
                                       uint64_t index)
{
    if (!(at[0] & 0x80)) {
        pug_itm_push_local_time(d, index, 0, at[0] >> 4, 1);
        return 1;
    }
    uint32_t value = 0;
    for (unsigned i = 1; i < left && i <= PUG_ITM_LOCAL_TS_BYTES; i++) {
        value |= (uint32_t)(at[i] & 0x7f) << 7 * (i - 1);
        if (at[i] & 0x80)
            continue;
        pug_itm_push_local_time(d, index, at[0] >> 4 & 3, value, i);
        return 1 + i;
    }
    return 0;
}

static bool is_local_time(uint8_t header)
{
    return (header & 0x0f) == 0 && header != 0 && header != 0x70 && (header & 0xc0) != 0x80;
}

/** With `each`, elements are delivered as they come; true: the consumer goes on. */
static inline bool deliver(struct pug_batch *batch, bool each)
{
    if (!each || batch->count == 0)
        return true;
    pug_batch_give(batch);
    return batch->response == PUG_RESP_CONT;
}

static inline void run_fast(struct pug_itm_reader *r, struct pug_itm_decoder *d,
                            struct pug_span *span, bool each)
{
    if (!r->synced || r->open || d->state != PUG_ITM_RUN)
        return;
    struct pug_batch *batch = d->stage->out.batch;
    const uint8_t *at = span->at;
    while (at != span->end && batch->count < batch->limit) {
        size_t left = (size_t)(span->end - at), used = 0;
        uint64_t own = pug_run_index(span->run, at);
        if (*at & 3)
            used = decode_source(d, at, left, own);
        else if (is_local_time(*at))
            used = decode_local_time(d, at, left, own);
        if (used == 0)
            break;
        d->last_index = own;
        at += used;
        if (!deliver(batch, each))
            break;
    }
    pug_itm_took(r, span, at);
}

enum pug_response pug_itm_fast_path(void *reader, void *decoder, struct pug_span *span,
                                    enum pug_want want)
{
    pug_itm_pass_over_noise(reader, decoder, span);
    switch (want) {
    case PUG_WANT_COUNTS:
    case PUG_WANT_BATCH: run_fast(reader, decoder, span, false); break;
    case PUG_WANT_EACH: run_fast(reader, decoder, span, true); break;
    case PUG_WANT_MARKS: pug_itm_scan_marks(reader, span); break;
    }
    return PUG_RESP_CONT;
}
