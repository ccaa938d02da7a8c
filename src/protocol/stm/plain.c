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

/** `count` nibbles from nibble `at` on, the first one highest; anything for none. */
static inline uint64_t nibbles_at(const uint8_t *bytes, unsigned at, unsigned count)
{
    const struct stm_view view = {.bytes = bytes, .at = at};
    uint64_t last = (uint64_t)bytes[at / 2 + 8] << 60;
    return stm_turn(stm_look(&view) | (last & (0 - (uint64_t)(at & 1))), count);
}

/** The opcode that begins at nibble `at`, with its F; one more after F0 is not looked at. */
static inline const struct stm_opcode *opcode_at(const uint8_t *bytes, unsigned *at)
{
    const struct stm_view view = {.bytes = bytes, .at = *at};
    uint64_t next = stm_look(&view);
    bool prefixed = (next & 0xf) == 0xf;
    *at += 1u + prefixed;
    return prefixed ? &stm_opcodes[1][next >> 4 & 0xf] : &stm_opcodes[0][next & 0xf];
}

/** What changes from packet to packet, kept at hand. */
struct common {
    struct pug_element *next; /**< of the batch, or the message under way */
    bool open;                /**< … which there is */
    uint32_t channel;         /**< as the reader knows it; and as elements tell it: */
    uint32_t told_master, told_channel;
    uint64_t time, told_time;
    unsigned last; /**< where the last packet began */
};

static inline struct common begin_common(const struct stm_reader *r, const struct stm_decoder *d,
                                         unsigned at)
{
    const struct pug_batch *batch = r->stage->out.batch;
    struct common c = {.next = &batch->elements[batch->count],
                       .open = d->message.element.sw_packets > 0,
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

static inline void end_common(struct stm_reader *r, struct stm_decoder *d, const struct common *c)
{
    struct pug_batch *batch = r->stage->out.batch;
    batch->count = (uint32_t)(c->next - batch->elements);
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

static inline void close_message(struct stm_decoder *d, struct common *c)
{
    if (!c->open)
        return;
    stm_message_finish(&d->message, c->next++);
    c->open = false;
}

static inline void set_channel(struct common *c, uint32_t master, const struct stm_opcode *opcode,
                               uint64_t value)
{
    c->channel = (uint32_t)value | (opcode->type == PUG_STM_C8 ? c->channel & 0xff00 : 0);
    c->told_master = master;
    c->told_channel = c->channel;
}

/** A timestamp in natural binary, at nibble `at`; where it ends, 0: it is none. */
static inline unsigned take_time(struct common *c, const struct stm_view *view, unsigned at)
{
    unsigned length = stm_ts_nibbles[view->bytes[at / 2] >> 4 * (at & 1) & 0xf];
    uint64_t value = nibbles_at(view->bytes, at + 1, length);
    uint64_t mask = length < 16 ? (UINT64_C(1) << 4 * length) - 1 : UINT64_MAX;
    if (length > 16 || at + 1 + length > view->end)
        return 0;
    c->time = c->told_time = (c->time & ~mask) | (value & mask);
    return at + 1 + length;
}

/** Data or a flag. */
static inline void tell_common(struct stm_decoder *d, struct common *c,
                               const struct stm_opcode *opcode, uint64_t value, uint64_t index)
{
    struct pug_element *e = c->next;
    unsigned bits = stm_meanings[opcode->type].bits;
    value &= stm_meanings[opcode->type].mask;
    if (c->open) {
        if (stm_meanings[opcode->type].joins && !opcode->marker && !opcode->has_ts &&
            stm_message_takes(&d->message, e, bits)) {
            stm_message_go_on(&d->message, e, value, bits);
            return;
        }
        close_message(d, c);
        e = c->next;
    }
    *e = d->blank;
    e->index = index;
    e->timestamp = c->told_time;
    e->value = value;
    PUG_SW_MASTER(e) = c->told_master;
    PUG_SW_CHANNEL(e) = c->told_channel;
    e->flags = opcode->has_ts ? PUG_ELEM_HAS_TS : 0;
    e->sw_flags = (uint8_t)(d->blank.sw_flags | stm_meanings[opcode->type].flags |
                            (opcode->marker ? PUG_SW_MARKER : 0));
    e->sw_bits = (uint8_t)bits;
    e->sw_packets = bits != 0;
    c->open = d->join_payloads && stm_meanings[opcode->type].joins;
    c->next += !c->open;
    if (c->open)
        stm_message_append(&d->message, value, bits);
}

/** Deliver what a packet gave; true: the consumer goes on. */
static inline bool deliver(struct pug_batch *batch, struct common *c)
{
    if (c->next == batch->elements)
        return true;
    batch->count = (uint32_t)(c->next - batch->elements);
    pug_batch_give(batch);
    c->next = &batch->elements[batch->count];
    return batch->response == PUG_RESP_CONT;
}

/**
 * Data, flags and channels, and times in natural binary. Stops before anything else, and where a
 * packet is not whole. With `each`, elements are delivered as they come. How far it got.
 */
static inline unsigned take_common(struct stm_reader *r, struct stm_decoder *d,
                                   const struct stm_view *view, unsigned stop,
                                   const struct pug_run *run, size_t place, bool each)
{
    struct pug_batch *const batch = r->stage->out.batch;
    const struct pug_element *const full = &batch->elements[batch->limit];
    const bool natural = r->packet.ts_type == PUG_STM_TS_NATURAL;
    const uint32_t master = r->packet.master;
    struct common c = begin_common(r, d, view->at);
    unsigned at = view->at;
    while (at < stop && c.next < full) {
        unsigned after = at;
        const struct stm_opcode *opcode = opcode_at(view->bytes, &after);
        uint64_t value = nibbles_at(view->bytes, after, opcode->nibbles);
        after += opcode->nibbles;
        if (after > view->end)
            break;
        if (opcode->kind == STM_PACKET) {
            if (opcode->has_ts && (!natural || !(after = take_time(&c, view, after))))
                break;
            if (opcode->type != PUG_STM_NULL)
                tell_common(d, &c, opcode, value, index_at(r, run, place, at));
        } else if (opcode->type == PUG_STM_C8 || opcode->type == PUG_STM_C16) {
            close_message(d, &c);
            set_channel(&c, master, opcode, value);
        } else {
            break;
        }
        c.last = at;
        at = after;
        if (each && !deliver(batch, &c))
            break;
    }
    end_common(r, d, &c);
    if (at != view->at) {
        /* The last packet once more, for what the reader keeps of it. */
        struct stm_view again = {.bytes = view->bytes, .at = c.last, .end = at};
        stm_take_packet(r, &again);
        d->last_index = index_at(r, run, place, c.last);
    }
    return at;
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
        view.at = take_common(r, d, &view, stop, run, place, false);
        reached.at = view.at;
        own = index_at(r, run, place, view.at);
    }
    return reached;
}

/** What is left of a long run, of which no packet is under way; *stop: no packet is to begin there.
 */
static inline struct stm_view view_long(const struct stm_reader *r, const struct pug_span *span,
                                        unsigned *stop)
{
    size_t left = (size_t)(span->end - span->at);
    struct stm_view view = {.bytes = span->at, .at = r->odd, .end = PLAIN_NIBBLES};
    if (left < PLAIN_NIBBLES / 2)
        view.end = 2 * (unsigned)left;
    *stop = view.end - 2 * STM_LOOK_BYTES + 1;
    return view;
}

static inline void advance_long(struct stm_reader *r, struct pug_span *span, unsigned at)
{
    span->at += at / 2;
    r->odd = at & 1;
    r->copied = false;
}

static void decode_long(struct stm_reader *r, struct stm_decoder *d, struct pug_span *span)
{
    unsigned stop;
    struct stm_view view = view_long(r, span, &stop);
    size_t place = (size_t)(span->at - span->run->bytes);
    uint64_t own = index_at(r, span->run, place, r->odd);
    advance_long(r, span, decode_piece(r, d, view, stop, span->run, place, own).at);
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

static bool is_long(const struct stm_reader *r, const struct pug_span *span)
{
    return r->held == 0 && (size_t)(span->end - span->at) >= STM_LOOK_BYTES;
}

enum pug_response pug_stm_run(void *reader, void *decoder, struct pug_span *span)
{
    struct stm_reader *r = reader;
    struct stm_decoder *d = decoder;
    if (r->state != STM_READING || span->at == span->end || d->state != STM_RUN)
        return PUG_RESP_CONT;
    if (is_long(r, span))
        decode_long(r, d, span);
    else
        decode_short(r, d, span);
    return PUG_RESP_CONT;
}

/** Payloads that are joined, and runs that may end in a packet, are left to the reader. */
enum pug_response pug_stm_run_each(void *reader, void *decoder, struct pug_span *span)
{
    struct stm_reader *r = reader;
    struct stm_decoder *d = decoder;
    const struct pug_batch *batch = r->stage->out.batch;
    if (r->state != STM_READING || d->state != STM_RUN || d->join_payloads || batch->count > 0 ||
        !is_long(r, span))
        return PUG_RESP_CONT;
    unsigned stop;
    struct stm_view view = view_long(r, span, &stop);
    size_t place = (size_t)(span->at - span->run->bytes);
    advance_long(r, span, take_common(r, d, &view, stop, span->run, place, true));
    if (batch->response != PUG_RESP_CONT)
        stm_use_up(r, span);
    return PUG_RESP_CONT;
}
