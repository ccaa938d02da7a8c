// SPDX-License-Identifier: MIT
/**
 * @file Packets to elements at once, when no consumer reads packets. Only what is usual is done
 * here: all else is left to the reader and the decoder.
 */
#include "protocol/stm/elements.h"
#include "protocol/stm/fields.h"

/** As many nibbles at a time as a view can count. */
#define VIEW_NIBBLES (1u << 30)

/** How far a piece was decoded, in nibbles, and why not further. */
struct reached {
    unsigned at;
    enum pug_stm_progress progress;
};

/** The index of a packet that begins at nibble `at` of what stands at `place` of the run. */
static inline uint64_t index_at(const struct pug_stm_reader *r, const struct pug_run *run,
                                size_t place, unsigned at)
{
    return pug_run_index(run, run->bytes + (place + at / 2)) + (at & r->next_index);
}

/** 16 nibbles from nibble `at` on, the first one highest. */
static inline uint64_t nibbles_at(const uint8_t *bytes, unsigned at)
{
    const struct pug_stm_view view = {.bytes = bytes, .at = at};
    uint64_t last = (uint64_t)bytes[at / 2 + 8] << 60;
    return pug_stm_turn(pug_stm_look(&view) | (last & (0 - (uint64_t)(at & 1))), 16);
}

/** The opcode that begins at nibble `at`, with its F; one more after F0 is not looked at. */
static inline const struct pug_stm_opcode *opcode_at(const uint8_t *bytes, unsigned *at)
{
    const struct pug_stm_view view = {.bytes = bytes, .at = *at};
    uint64_t next = pug_stm_look(&view);
    bool prefixed = (next & 0xf) == 0xf;
    *at += 1u + prefixed;
    return prefixed ? &stm_opcodes[1][next >> 4 & 0xf] : &stm_opcodes[0][next & 0xf];
}

/** The fields that change from packet to packet, kept together. */
struct common {
    struct pug_element *next; /**< of the batch, or the message under way */
    bool open;                /**< … which there is */
    uint32_t channel;         /**< as the reader knows it; and as elements tell it: */
    uint32_t told_master, told_channel;
    uint64_t time, told_time;
    unsigned last; /**< where the last packet began */
};

static inline struct common begin_common(const struct pug_stm_reader *r,
                                         const struct pug_stm_decoder *d, unsigned at, bool each)
{
    const struct pug_batch *batch = r->stage->out.batch;
    struct common c = {.next = &batch->elements[batch->count],
                       .open = !each && d->message.element.sw_packets > 0,
                       .channel = r->packet.channel,
                       .told_master = PUG_SW_MASTER(&d->blank),
                       .told_channel = PUG_SW_CHANNEL(&d->blank),
                       .time = r->packet.timestamp,
                       .told_time = d->timestamp,
                       .last = at};
    if (c.open)
        *c.next = d->message.element;
    return c;
}

static inline void end_common(struct pug_stm_reader *r, struct pug_stm_decoder *d,
                              const struct common *c)
{
    PUG_SW_MASTER(&d->blank) = c->told_master;
    PUG_SW_CHANNEL(&d->blank) = c->told_channel;
    d->timestamp = c->told_time;
    r->packet.channel = (uint16_t)c->channel;
    r->packet.timestamp = c->time;
    if (c->open)
        d->message.element = *c->next;
    else
        d->message.element.sw_packets = 0;
}

static inline void close_message(struct pug_stm_decoder *d, struct common *c)
{
    if (!c->open)
        return;
    pug_stm_message_finish(&d->message, c->next++);
    c->open = false;
}

static inline void set_channel(struct common *c, uint32_t master,
                               const struct pug_stm_opcode *opcode, uint64_t value)
{
    c->channel = (uint32_t)value | (opcode->type == PUG_STM_C8 ? c->channel & 0xff00 : 0);
    c->told_master = master;
    c->told_channel = c->channel;
}

/** Fill in the fields that all elements share. */
static inline void fill_blank(const struct pug_stm_decoder *d, const struct common *c)
{
    *c->next = d->blank;
    PUG_SW_MASTER(c->next) = c->told_master;
    PUG_SW_CHANNEL(c->next) = c->told_channel;
}

/** A timestamp in natural binary, at nibble `at`; where it ends, 0: it is none. */
static inline unsigned take_time(struct common *c, const struct pug_stm_view *view, unsigned at)
{
    unsigned length = stm_ts_nibbles[view->bytes[at / 2] >> 4 * (at & 1) & 0xf];
    if (length > 16 || at + 1 + length > view->end)
        return 0;
    uint64_t mask = length < 16 ? (UINT64_C(1) << 4 * length) - 1 : UINT64_MAX;
    uint64_t value = nibbles_at(view->bytes, at + 1) >> ((64 - 4 * length) & 63);
    c->time = c->told_time = (c->time & ~mask) | (value & mask);
    return at + 1 + length;
}

/** Fill in the fields that differ between elements. */
static inline void fill_common(const struct pug_stm_decoder *d, const struct common *c,
                               const struct pug_stm_opcode *opcode, uint64_t value, uint64_t index)
{
    c->next->index = index;
    c->next->timestamp = c->told_time;
    c->next->value = value;
    pug_stm_fill_software(d, c->next, opcode->type, opcode->marker, opcode->has_ts);
}

/** Data or a flag as one more element of the batch, or of the message under way. */
static inline void add_common(struct pug_stm_decoder *d, struct common *c,
                              const struct pug_stm_opcode *opcode, uint64_t value, uint64_t index)
{
    unsigned bits = stm_meanings[opcode->type].word >> 16 & 0xff;
    if (c->open) {
        if (stm_meanings[opcode->type].joins && !opcode->marker && !opcode->has_ts &&
            pug_stm_message_takes(&d->message, c->next, bits)) {
            pug_stm_message_go_on(&d->message, c->next, value, bits);
            return;
        }
        close_message(d, c);
    }
    fill_blank(d, c);
    fill_common(d, c, opcode, value, index);
    c->open = d->join_payloads && stm_meanings[opcode->type].joins;
    c->next += !c->open;
    if (c->open)
        pug_stm_message_append(&d->message, value, bits);
}

/** Deliver what there is; true: the consumer goes on. */
static inline bool deliver(struct pug_batch *batch)
{
    pug_batch_give(batch);
    return batch->response == PUG_RESP_CONT;
}

static inline bool is_common(const struct pug_stm_opcode *opcode)
{
    return opcode->kind == PUG_STM_PACKET || opcode->type == PUG_STM_C8 ||
           opcode->type == PUG_STM_C16;
}

/** Data or a flag; true: the consumer goes on. */
static inline bool tell_common(struct pug_stm_decoder *d, struct common *c,
                               const struct pug_stm_opcode *opcode, uint64_t value, uint64_t index,
                               struct pug_batch *each)
{
    value &= opcode->mask;
    if (!each) {
        add_common(d, c, opcode, value, index);
        return true;
    }
    fill_common(d, c, opcode, value, index);
    each->count = 1;
    return deliver(each);
}

/**
 * Data, flags and channels, and times in natural binary. Stops before anything else, and where a
 * packet is not whole. With `each`, elements are delivered as they come. How far it got.
 */
static inline __attribute__((always_inline)) unsigned
take_common(struct pug_stm_reader *r, struct pug_stm_decoder *d, const struct pug_stm_view *view,
            unsigned stop, const struct pug_run *run, size_t place, bool each)
{
    struct pug_batch *const batch = r->stage->out.batch;
    const struct pug_element *const full = &batch->elements[batch->limit];
    const bool natural = r->packet.ts_type == PUG_STM_TS_NATURAL;
    const uint32_t master = r->packet.master;
    struct common c = begin_common(r, d, view->at, each);
    unsigned at = view->at;
    if (each)
        fill_blank(d, &c);
    while (at < stop && (each || c.next < full)) {
        unsigned after = at;
        const struct pug_stm_opcode *opcode = opcode_at(view->bytes, &after);
        uint64_t value = nibbles_at(view->bytes, after) >> opcode->unused;
        after += opcode->nibbles;
        if (after > view->end || !is_common(opcode) ||
            (opcode->has_ts && (!natural || !(after = take_time(&c, view, after)))))
            break;
        c.last = at;
        at = after;
        if (opcode->kind != PUG_STM_PACKET) {
            close_message(d, &c);
            set_channel(&c, master, opcode, value);
            if (each)
                fill_blank(d, &c);
        } else if (opcode->type != PUG_STM_NULL &&
                   !tell_common(d, &c, opcode, value, index_at(r, run, place, c.last),
                                each ? batch : NULL)) {
            break;
        }
    }
    if (!each)
        batch->count = (uint32_t)(c.next - batch->elements);
    end_common(r, d, &c);
    if (at != view->at) {
        /* The last packet once more, for what the reader keeps of it. */
        struct pug_stm_view again = {.bytes = view->bytes, .at = c.last, .end = at};
        pug_stm_take_packet(r, &again);
        d->last_index = index_at(r, run, place, c.last);
    }
    return at;
}

/** A function of its own, so that the loop has the registers for itself. */
static __attribute__((noinline)) unsigned take_each(struct pug_stm_reader *r,
                                                    struct pug_stm_decoder *d,
                                                    struct pug_stm_view view, unsigned stop,
                                                    const struct pug_run *run, size_t place)
{
    return take_common(r, d, &view, stop, run, place, true);
}

/** May the next packet be taken? With `each`, what the last one gave is delivered before. */
static inline bool goes_on(struct pug_batch *batch, bool each)
{
    if (!each)
        return batch->count < batch->limit;
    return batch->response == PUG_RESP_CONT && (batch->count == 0 || deliver(batch));
}

/** A part of a run that is decoded at once. */
struct piece {
    struct pug_stm_view view;
    unsigned stop; /**< no packet is to begin from this nibble on */
    size_t place;  /**< of the view in the run */
    uint64_t own;  /**< index of the first packet */
    bool ends;     /**< with it the run ends, and what is not whole goes on in the next one */
};

static inline __attribute__((always_inline)) struct reached
decode_piece(struct pug_stm_reader *r, struct pug_stm_decoder *d, const struct piece *piece,
             const struct pug_run *run, bool each)
{
    struct pug_batch *batch = r->stage->out.batch;
    struct pug_stm_view view = piece->view;
    struct reached reached = {.at = view.at, .progress = DONE};
    uint64_t own = piece->own;
    while (reached.at < piece->stop && goes_on(batch, each)) {
        reached.progress = pug_stm_take_packet(r, &view);
        /* The tree sees by the span that a packet was taken: this one is left to the reader. */
        bool unseen = each && view.at / 2 <= r->held;
        if (reached.progress != DONE || unseen)
            break;
        pug_stm_decode_running(d, own, &r->packet);
        r->open = false;
        if (goes_on(batch, each))
            view.at = each ? take_each(r, d, view, piece->stop, run, piece->place)
                           : take_common(r, d, &view, piece->stop, run, piece->place, false);
        reached.at = view.at;
        own = index_at(r, run, piece->place, view.at);
    }
    return reached;
}

static inline bool is_long(const struct pug_stm_reader *r, const struct pug_span *span)
{
    return r->held == 0 && (size_t)(span->end - span->at) >= PUG_STM_LOOK_BYTES;
}

/** Returns the rest of a long run when no packet is under way. */
static inline struct piece long_piece(const struct pug_stm_reader *r, const struct pug_span *span)
{
    size_t left = (size_t)(span->end - span->at);
    struct piece piece = {
        .view = {.bytes = span->at, .at = r->odd, .end = VIEW_NIBBLES},
        .place = (size_t)(span->at - span->run->bytes),
    };
    if (left < VIEW_NIBBLES / 2)
        piece.view.end = 2 * (unsigned)left;
    piece.stop = piece.view.end - 2 * PUG_STM_LOOK_BYTES + 1;
    piece.own = index_at(r, span->run, piece.place, r->odd);
    return piece;
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
static inline struct piece short_piece(struct pug_stm_reader *r, const struct pug_span *span)
{
    size_t left = (size_t)(span->end - span->at);
    unsigned size = left < PUG_STM_LOOK_BYTES ? (unsigned)left : PUG_STM_LOOK_BYTES;
    copy_short(r->copy + PUG_STM_PACKET_BYTES, span->at, size);
    if (!r->open)
        pug_stm_place_half(r);
    /* What is held stands before the run's bytes: only the first packet begins in it. */
    struct piece piece = {
        .view = {.bytes = r->copy + PUG_STM_PACKET_BYTES - r->held,
                 .at = r->odd,
                 .end = 2 * (r->held + size)},
        .stop = 2 * (r->held + size),
        .place = (size_t)(span->at - span->run->bytes) - r->held,
        .ends = size == left,
    };
    piece.own = r->open   ? r->index
                : r->held ? pug_stm_half_index(span)
                          : index_at(r, span->run, piece.place, r->odd);
    return piece;
}

static inline __attribute__((always_inline)) void
run_fast(struct pug_stm_reader *r, struct pug_stm_decoder *d, struct pug_span *span, bool each)
{
    const struct pug_batch *batch = r->stage->out.batch;
    if (r->state != PUG_STM_READING || span->at == span->end || d->state != PUG_STM_RUN ||
        (each && batch->count > 0))
        return;
    struct piece piece = is_long(r, span) ? long_piece(r, span) : short_piece(r, span);
    struct reached reached = decode_piece(r, d, &piece, span->run, each);
    r->copied = false;
    /* Of who takes elements after each packet, the answer to an earlier one is to stay. */
    if (reached.at / 2 < r->held || (each && reached.at == piece.view.at))
        return;
    span->at += reached.at / 2 - r->held;
    r->odd = reached.at & 1;
    r->held = 0;
    if (each && batch->response != PUG_RESP_CONT) {
        pug_stm_use_up(r, span);
    } else if (reached.progress == MORE && piece.ends) {
        piece.view.bytes += reached.at / 2;
        piece.view.end -= reached.at & ~1u;
        r->index = index_at(r, span->run, piece.place, reached.at);
        pug_stm_hold(r, &piece.view, span);
    }
}

enum pug_response pug_stm_fast_path(void *reader, void *decoder, struct pug_span *span,
                                    enum pug_want want)
{
    struct pug_stm_decoder *d = decoder;
    pug_stm_pass_over_noise(reader, d, span);
    if (want != PUG_WANT_MARKS && d->parting)
        return PUG_RESP_CONT;
    switch (want) {
    case PUG_WANT_COUNTS:
    case PUG_WANT_BATCH: run_fast(reader, d, span, false); break;
    case PUG_WANT_EACH:
        if (!d->join_payloads) /* payloads that are joined are left to the decoder */
            run_fast(reader, d, span, true);
        break;
    case PUG_WANT_MARKS: pug_stm_scan_marks(reader, span); break;
    }
    return PUG_RESP_CONT;
}
