// SPDX-License-Identifier: MIT
/**
 * @file Packets to elements at once, where nobody looks at packets. Only what is plain is done
 * here: all else is left to the reader and the decoder.
 */
#include "protocol/stm/elements.h"
#include "protocol/stm/fields.h"

/** As many nibbles at a time as a view can count. */
#define PLAIN_NIBBLES (1u << 30)

/** How far a piece was decoded, in nibbles, and why not further. */
struct reached {
    unsigned at;
    enum stm_progress progress;
};

/** The index of a packet that begins at nibble `at` of what stands at `place` of the run. */
static inline uint64_t index_at(const struct stm_reader *r, const struct pug_run *run, size_t place,
                                unsigned at)
{
    return pug_run_index(run, run->bytes + (place + at / 2)) + (at & r->next_index);
}

/**
 * The packets that begin before nibble `stop` of a piece, which stands at `place` of the run. The
 * first one has index `own`.
 */
static struct reached decode_piece(struct stm_reader *r, struct stm_decoder *d,
                                   struct stm_view view, unsigned stop, const struct pug_run *run,
                                   size_t place, uint64_t own)
{
    const struct pug_batch *batch = r->stage->out.batch;
    struct reached reached = {.at = view.at, .progress = DONE};
    while (reached.at < stop && batch->count < batch->limit) {
        reached.progress = stm_take_packet(r, &view);
        if (reached.progress != DONE)
            break;
        stm_decode_running(d, own, &r->packet);
        r->open = false;
        reached.at = view.at;
        own = index_at(r, run, place, view.at);
    }
    return reached;
}

/** A long run, of which no packet is under way. */
static void decode_long(struct stm_reader *r, struct stm_decoder *d, struct pug_span *span)
{
    size_t left = (size_t)(span->end - span->at);
    struct stm_view view = {.bytes = span->at, .at = r->odd, .end = PLAIN_NIBBLES};
    if (left < PLAIN_NIBBLES / 2)
        view.end = 2 * (unsigned)left;
    unsigned stop = view.end - 2 * STM_LOOK_BYTES + 1;
    size_t place = (size_t)(span->at - span->run->bytes);
    struct reached reached =
        decode_piece(r, d, view, stop, span->run, place, index_at(r, span->run, place, r->odd));
    span->at += reached.at / 2;
    r->odd = reached.at & 1;
}

/** Up to 32 bytes; pieces that overlap need no loop. */
static inline void copy_short(uint8_t *to, const uint8_t *from, unsigned size)
{
    if (size >= 16) {
        memcpy(to, from, 16);
        memcpy(to + size - 16, from + size - 16, 16);
    } else if (size >= 8) {
        memcpy(to, from, 8);
        memcpy(to + size - 8, from + size - 8, 8);
    } else {
        for (unsigned i = 0; i < size; i++)
            to[i] = from[i];
    }
}

/** A short run, or the rest of a packet, from a copy. */
static void decode_short(struct stm_reader *r, struct stm_decoder *d, struct pug_span *span)
{
    size_t left = (size_t)(span->end - span->at);
    unsigned size = left < STM_LOOK_BYTES ? (unsigned)left : STM_LOOK_BYTES;
    copy_short(r->copy + STM_PACKET_BYTES, span->at, size);
    r->copied = false;
    if (!r->open)
        stm_place_half(r);
    struct stm_view view = {
        .bytes = r->copy + STM_PACKET_BYTES - r->held, .at = r->odd, .end = 2 * (r->held + size)};
    /* What is held stands before the run's bytes: only the first packet begins in it. */
    const struct pug_run *run = span->run;
    size_t place = (size_t)(span->at - run->bytes) - r->held;
    uint64_t own = r->open   ? r->index
                   : r->held ? stm_half_index(span)
                             : index_at(r, run, place, r->odd);
    struct reached reached = decode_piece(r, d, view, view.end, run, place, own);
    if (reached.at / 2 < r->held)
        return;
    span->at += reached.at / 2 - r->held;
    r->odd = reached.at & 1;
    r->held = 0;
    if (reached.progress != MORE || size < left)
        return;
    /* What begins here goes on in the next run. */
    view.bytes += reached.at / 2;
    view.end -= reached.at & ~1u;
    r->index = index_at(r, run, place, reached.at);
    stm_hold(r, &view, span);
}

enum pug_response pug_stm_run(void *reader, void *decoder, struct pug_span *span)
{
    struct stm_reader *r = reader;
    struct stm_decoder *d = decoder;
    if (r->state != STM_READING || span->at == span->end || d->state != STM_RUN)
        return PUG_RESP_CONT;
    if (r->held == 0 && (size_t)(span->end - span->at) >= STM_LOOK_BYTES)
        decode_long(r, d, span);
    else
        decode_short(r, d, span);
    return PUG_RESP_CONT;
}
