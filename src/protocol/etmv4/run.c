// SPDX-License-Identifier: MIT
/**
 * @file Bytes to elements at once: the lane over atoms and addresses, packet after packet.
 *
 * It serves two consumers. One takes what it is given in batches and is told of a WAIT whenever the
 * batch is full. The other has to find everything, after each packet, as if nothing behind it had
 * been read: for that one the run keeps to packets that touch nothing outside of reader and decoder
 * (no callback, no log), and when it waits all the same in the midst of them, the run goes back to
 * where it began and takes the packets up to that place again.
 */
#include "protocol/etmv4/lane.h"

typedef struct pug_etmv4_decoder decoder;
typedef struct pug_etmv4_reader reader;

static bool is_address(const struct pug_etmv4_header *header)
{
    return header->type >= PUG_ETMV4_ADDR_MATCH && header->type <= PUG_ETMV4_ADDR_L_64IS1 &&
           header->form != PUG_ETMV4_FORM_RESERVED;
}

/**
 * The last address, if no atom has used it yet. Outside of the run it waits in the queue, alone:
 * it commits with what comes behind it.
 */
struct aim {
    bool open;
    uint8_t is;
    uint64_t value, index;
};

static struct aim take_aim(decoder *d)
{
    if (pug_etmv4_queue_count(&d->queue) == 0)
        return (struct aim){0};
    const struct pug_etmv4_p0 *p0 = pug_etmv4_queue_at(&d->queue, 0);
    d->queue.head++;
    return (struct aim){.open = true, .is = p0->is, .value = p0->value, .index = p0->index};
}

static void leave_aim(decoder *d, const struct aim *aim)
{
    if (aim->open)
        pug_etmv4_admit_address(d, aim->index, aim->value, aim->is);
    d->direct = !aim->open;
}

static inline void use_aim(decoder *d, struct aim *aim)
{
    if (aim->open)
        pug_etmv4_commit_address(d, aim->value, aim->is);
    aim->open = false;
}

static inline struct aim read_address(reader *r, decoder *d, const struct pug_etmv4_header *header,
                                      const uint8_t *raw)
{
    r->header = header;
    r->packet.type = header->type;
    pug_etmv4_read_address(r, raw);
    d->last_is = r->packet.address.is;
    return (struct aim){.open = true,
                        .is = r->packet.address.is,
                        .value = r->packet.address.value,
                        .index = d->index};
}

/** The current block as the start of a lane; `exact`: only where that touches nothing else. */
static inline const struct pug_block *first_block(decoder *d, bool exact)
{
    if (!exact)
        return pug_etmv4_plain_block(d);
    const struct pug_block *block = pug_etmv4_known_block(d);
    return block && block->ending == PUG_BLOCK_FLOW ? block : NULL;
}

/**
 * Atoms and addresses. Stops before a packet that is for read() and decode(), or in one of atoms:
 * then it is true, and *done of them are done.
 */
static inline bool run(reader *r, decoder *d, struct pug_span *span, struct aim *last,
                       const bool exact, uint32_t *done)
{
    struct aim aim = *last;
    struct pug_batch *const batch = d->stage->out.batch;
    const struct pug_element *const full =
        &batch->elements[batch->limit + PUG_OUT_STEP - PUG_ETMV4_PACKET_ELEMENTS];
    const struct pug_etmv4_header *const headers = r->config->headers;
    const uint8_t *at = span->at, *const end = span->end;
    struct pug_etmv4_lane lane = {0};
    bool riding = false;
    while (at < end) {
        const struct pug_etmv4_header *header = &headers[*at];
        const uint64_t index = pug_run_index(span->run, at);
        if (header->form == PUG_ETMV4_FORM_ATOM) {
            uint32_t bits = header->atom_bits, left = header->atom_count;
            if (riding && (lane.element > full || (exact && !lane.next))) {
                pug_etmv4_leave_to_batch(d, &lane);
                riding = false;
            }
            if (exact && !riding && pug_etmv4_batch_end(batch) > full)
                break;
            if (!riding)
                use_aim(d, &aim);
            do {
                if (!riding && !d->blocked) {
                    const struct pug_block *block = first_block(d, exact);
                    riding = block != NULL;
                    if (riding)
                        lane = pug_etmv4_enter(d, block, pug_etmv4_batch_end(batch));
                }
                if (!riding)
                    break;
                uint32_t before = left;
                left = pug_etmv4_ride(d, &lane, index, bits, left);
                if (left == 0 && !lane.lost)
                    break;
                bits >>= before - left;
                pug_etmv4_leave_to_batch(d, &lane);
                riding = false;
            } while (exact && left > 0);
            if (exact && left == header->atom_count)
                break;
            d->index = index;
            at++;
            if (left == 0)
                continue;
            r->packet.type = header->type;
            r->packet.atom_bits = header->atom_bits;
            r->packet.atom_count = header->atom_count;
            *done = header->atom_count - left;
            *last = aim;
            span->at = at;
            return true;
        }
        size_t size = is_address(header) ? pug_etmv4_plain_size(header, at, end) : 0;
        if (size == 0)
            break;
        if (riding)
            pug_etmv4_leave_to_batch(d, &lane);
        riding = false;
        d->index = index;
        aim = read_address(r, d, header, at);
        at += size;
    }
    if (riding)
        pug_etmv4_leave_to_batch(d, &lane);
    *last = aim;
    span->at = at;
    return false;
}

/** Is nothing speculated, and nothing in the queue but an address? */
static bool can_run(const reader *r, const decoder *d)
{
    if (r->special || d->checks)
        return false;
    return d->direct || (d->state == PUG_ETMV4_DECODE && d->config->idr8 == 0 &&
                         pug_etmv4_queue_count(&d->queue) == 1 &&
                         pug_etmv4_queue_at(&d->queue, 0)->kind == PUG_ETMV4_P0_ADDRESS);
}

enum pug_response pug_etmv4_run(void *reader_state, void *state, struct pug_span *span)
{
    reader *r = reader_state;
    decoder *d = state;
    uint32_t done = 0;
    if (!can_run(r, d))
        return PUG_RESP_CONT;
    struct aim aim = take_aim(d);
    bool partly = run(r, d, span, &aim, false, &done);
    leave_aim(d, &aim);
    return partly ? pug_etmv4_decode_rest(d, &r->packet, done) : PUG_RESP_CONT;
}

/* ---- for who is asked after each packet ---- */

/** What atoms and addresses change in reader and decoder. */
struct start {
    const uint8_t *at;
    struct aim aim;
    struct pug_etmv4_address address, stack[3];
    uint64_t index, where;
    const struct pug_block *from;
    uint32_t epoch, map_epoch;
    uint8_t blocked, isa, it, last_is, blank_isa;
    bool from_taken;
    struct pug_etmv4_return_stack returns; /* where the configuration has one */
};

static inline void note_start(struct start *start, const reader *r, const decoder *d,
                              const struct pug_span *span, const struct aim *aim)
{
    start->at = span->at;
    start->aim = *aim;
    start->address = r->packet.address;
    memcpy(start->stack, r->stack, sizeof(start->stack));
    start->index = d->index;
    start->where = d->address;
    start->from = d->from;
    start->epoch = d->epoch;
    start->map_epoch = d->map->epoch;
    start->blocked = d->blocked;
    start->isa = d->isa;
    start->it = d->it;
    start->last_is = d->last_is;
    start->blank_isa = d->stage->out.blank.isa;
    start->from_taken = d->from_taken;
    if (d->config->return_stack)
        start->returns = d->returns;
    else
        start->returns.wait_address = d->returns.wait_address;
}

static void restore_start(const struct start *start, reader *r, decoder *d, struct pug_span *span)
{
    span->at = start->at;
    d->queue.head = d->queue.tail;
    d->direct = true;
    r->packet.address = start->address;
    memcpy(r->stack, start->stack, sizeof(start->stack));
    d->index = start->index;
    d->address = start->where;
    d->from = start->from;
    d->epoch = start->epoch;
    d->blocked = start->blocked;
    d->isa = start->isa;
    d->it = start->it;
    d->last_is = start->last_is;
    d->stage->out.blank.isa = start->blank_isa;
    d->from_taken = start->from_taken;
    if (d->config->return_stack)
        d->returns = start->returns;
    else
        d->returns.wait_address = start->returns.wait_address;
}

/** A packet of atoms again: its elements are made already. */
static void repeat_atoms(decoder *d, uint64_t index, const struct pug_etmv4_header *header)
{
    struct pug_element elements[PUG_ETMV4_PACKET_ELEMENTS];
    uint32_t bits = header->atom_bits, left = header->atom_count;
    const struct pug_block *block;
    while (left > 0 && (block = first_block(d, true))) {
        struct pug_etmv4_lane lane = pug_etmv4_enter(d, block, elements);
        uint32_t before = left;
        left = pug_etmv4_ride(d, &lane, index, bits, left);
        bits >>= before - left;
        pug_etmv4_leave(d, &lane);
    }
}

/** Make it so that nothing behind the packet at `index`, which is one of the run, was read. */
static PUG_NOINLINE void go_back(const struct start *start, reader *r, decoder *d,
                                 struct pug_span *span, uint64_t index)
{
    struct pug_batch *batch = d->stage->out.batch;
    struct aim aim = start->aim;
    uint32_t kept = 0;
    while (kept < batch->count && batch->elements[kept].index == index)
        kept++;
    restore_start(start, r, d, span);
    batch->count = kept;
    do {
        const struct pug_etmv4_header *header = &r->config->headers[*span->at];
        d->index = pug_span_index(span);
        if (header->form == PUG_ETMV4_FORM_ATOM) {
            use_aim(d, &aim);
            repeat_atoms(d, d->index, header);
            span->at++;
        } else {
            size_t size = pug_etmv4_plain_size(header, span->at, span->end);
            aim = read_address(r, d, header, span->at);
            span->at += size;
        }
        batch->count = kept; /* the lane may have put an EXCEPTION_RET behind them */
    } while (d->index < index);
}

/** Deliver all but the newest `held`; true when the consumer just goes on. */
static bool deliver_before(struct pug_batch *batch, uint32_t held)
{
    uint32_t count = batch->count - held;
    batch->count = count;
    batch->by_packet = true;
    batch->flush(batch);
    batch->by_packet = false;
    if (held > 0)
        memmove(pug_etmv4_batch_end(batch), &batch->elements[count],
                held * sizeof(*batch->elements));
    batch->count += held;
    return batch->response == PUG_RESP_CONT;
}

enum pug_response pug_etmv4_run_exactly(void *reader_state, void *state, struct pug_span *span)
{
    reader *r = reader_state;
    decoder *d = state;
    struct pug_batch *batch = d->stage->out.batch;
    struct start start;
    uint32_t done = 0;
    if (!can_run(r, d))
        return PUG_RESP_CONT;
    struct aim aim = take_aim(d);
    note_start(&start, r, d, span, &aim);
    bool partly = run(r, d, span, &aim, true, &done);
    leave_aim(d, &aim);
    if (batch->count > done && !deliver_before(batch, done) &&
        (partly || batch->taken_index != d->index) && d->map->epoch == start.map_epoch) {
        go_back(&start, r, d, span, batch->taken_index);
        return batch->response;
    }
    return partly ? pug_etmv4_decode_rest(d, &r->packet, done) : batch->response;
}
