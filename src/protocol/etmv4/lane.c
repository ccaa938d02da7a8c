// SPDX-License-Identifier: MIT
/**
 * @file Bytes to elements at once: the lane over atoms and addresses, packet after packet.
 *
 * For who takes batches, and for who takes the elements of each packet and has to find everything,
 * whenever it looks, as if nothing behind that packet had been read.
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
 * The last address, if no atom has used it yet. Outside of the lane it waits in the queue, alone:
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

/** Deliver what a packet of atoms gave. True: the consumer just goes on, and the lane holds. */
static inline bool deliver(decoder *d, struct pug_etmv4_lane *lane, bool riding)
{
    struct pug_batch *const batch = d->stage->out.batch;
    if (riding)
        batch->count = (uint32_t)(lane->element - batch->elements);
    pug_batch_give(batch);
    lane->element = pug_etmv4_batch_end(batch);
    return batch->response == PUG_RESP_CONT && d->map->epoch == lane->epoch &&
           !pug_codemap_outdated(d->map);
}

/**
 * Atoms and addresses. Stops before a packet that is for read() and decode(), or in one of atoms:
 * then it is true, and *done of them are done. With `each`, elements are delivered after each
 * packet, and an answer other than CONT stops it, too.
 */
static inline __attribute__((always_inline)) bool ride(reader *r, decoder *d, struct pug_span *span,
                                                       struct aim *last, const bool each,
                                                       uint32_t *done)
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
            uint32_t left = header->atom_count;
            if (riding && !each && lane.element > full) {
                pug_etmv4_leave_to_batch(d, &lane);
                riding = false;
            }
            if (!riding) {
                use_aim(d, &aim);
                const struct pug_block *block = d->blocked ? NULL : pug_etmv4_plain_block(d);
                riding = block != NULL;
                if (riding)
                    lane = pug_etmv4_enter(d, block, pug_etmv4_batch_end(batch));
            }
            d->index = index;
            at++;
            if (riding) {
                left = pug_etmv4_ride(d, &lane, index, header->atom_bits, left);
                if (left > 0 || lane.lost) {
                    pug_etmv4_leave_to_batch(d, &lane);
                    riding = false;
                }
                if (each && left == 0 && !deliver(d, &lane, riding))
                    break;
                if (left == 0)
                    continue;
            }
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
static bool can_ride(const reader *r, const decoder *d)
{
    if (r->special || d->checks)
        return false;
    return d->direct || (d->state == PUG_ETMV4_DECODE && d->config->idr8 == 0 &&
                         pug_etmv4_queue_count(&d->queue) == 1 &&
                         pug_etmv4_queue_at(&d->queue, 0)->kind == PUG_ETMV4_P0_ADDRESS);
}

static inline __attribute__((always_inline)) enum pug_response
ride_all(reader *r, decoder *d, struct pug_span *span, const bool each)
{
    uint32_t done = 0;
    if (!can_ride(r, d))
        return PUG_RESP_CONT;
    struct aim aim = take_aim(d);
    bool partly = ride(r, d, span, &aim, each, &done);
    leave_aim(d, &aim);
    if (partly)
        return pug_etmv4_decode_rest(d, &r->packet, done);
    return each ? d->stage->out.batch->response : PUG_RESP_CONT;
}

enum pug_response pug_etmv4_lane(void *reader_state, void *state, struct pug_span *span,
                                 enum pug_want want)
{
    switch (want) {
    case PUG_WANT_BATCH: return ride_all(reader_state, state, span, false);
    case PUG_WANT_EACH: return ride_all(reader_state, state, span, true);
    case PUG_WANT_MARKS: pug_etmv4_skim(reader_state, span); break;
    }
    return PUG_RESP_CONT;
}
