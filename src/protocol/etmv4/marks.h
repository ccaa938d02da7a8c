// SPDX-License-Identifier: MIT
/**
 * @file The fast path's packets that only mark a place or a time, events, cycle counts, timestamps
 * and their markers: their elements come before the next atom's range. Without cycle counts and
 * timestamps no consumer needs the others.
 */
#ifndef PUG_PROTOCOL_ETMV4_MARKS_H
#define PUG_PROTOCOL_ETMV4_MARKS_H

#include "protocol/etmv4/fast_path.h"

/* the number that wait for the next atom on the fast path: there is room for them after any packet
 */
#define PUG_ETMV4_MARKS 4u

/** Outside of the fast path they wait in the queue. */
struct pug_etmv4_marks {
    unsigned count;
    unsigned put; /**< elements before the ranges of the last packet of atoms */
    struct pug_etmv4_p0 waiting[PUG_ETMV4_MARKS];
};

/** Does the unit count cycles, in packets that commit nothing? */
static inline bool pug_etmv4_counts_cycles(const struct pug_etmv4_decoder *d)
{
    return d->config->cycle_count && d->config->commit_option_1;
}

/**
 * A number of bytes of seven bits, `most` at the most, from `at + *size` on. False: it is longer,
 * or not all there.
 */
static inline bool pug_etmv4_take_number(const uint8_t *at, const uint8_t *end, unsigned most,
                                         size_t *size, uint64_t *value)
{
    *value = 0;
    for (unsigned i = 0; i < most && (size_t)(end - at) > *size; i++) {
        const uint8_t byte = at[(*size)++];
        *value |= (uint64_t)(byte & 0x7f) << 7 * i;
        if (!(byte & 0x80))
            return true;
    }
    return false;
}

/** A packet with a cycle count that commits nothing: its size, or 0. */
static inline size_t pug_etmv4_take_cycles(const struct pug_etmv4_reader *r,
                                           const struct pug_etmv4_header *header, const uint8_t *at,
                                           const uint8_t *end, struct pug_etmv4_p0 *mark)
{
    const uint32_t least =
        r->packet.valid & PUG_ETMV4_HAS_CC_THRESHOLD ? r->packet.cc_threshold : 0;
    const bool is_long = header->form == PUG_ETMV4_FORM_CCNT_F1;
    size_t size = 1;
    uint64_t count = 0;
    mark->kind = PUG_ETMV4_P0_CYCLE_COUNT;
    mark->bits = 0;
    if (is_long && (*at & 1)) /* it is unknown */
        return size;
    if (header->form == PUG_ETMV4_FORM_CCNT_F3) {
        mark->bits = least + (*at & 3);
        return size;
    }
    if (is_long ? !pug_etmv4_take_number(at, end, 3, &size, &count) : end - at < 2)
        return 0;
    mark->bits = least + (is_long ? (uint32_t)count : at[1] & 0xfu);
    return is_long ? size : 2;
}

/** A timestamp of less than nine bytes: its size, or 0. */
static inline size_t pug_etmv4_take_time(struct pug_etmv4_reader *r,
                                         const struct pug_etmv4_decoder *d, const uint8_t *at,
                                         const uint8_t *end, struct pug_etmv4_p0 *mark)
{
    struct pug_etmv4_packet *packet = &r->packet;
    size_t size = 1;
    uint64_t time, cycles = 0;
    if (!(packet->valid & PUG_ETMV4_HAS_TIMESTAMP) ||
        !pug_etmv4_take_number(at, end, 8, &size, &time))
        return 0;
    const unsigned bits = 7 * (unsigned)(size - 1);
    if (*at == 0x03 && !pug_etmv4_take_number(at, end, 3, &size, &cycles))
        return 0;
    packet->timestamp = (packet->timestamp & ~((UINT64_C(1) << bits) - 1)) | time;
    packet->timestamp_bits = (uint8_t)bits;
    mark->kind = PUG_ETMV4_P0_TIMESTAMP;
    mark->flags = d->config->cycle_count ? PUG_ETMV4_WITH_CYCLES : 0;
    mark->value = packet->timestamp;
    mark->bits = (uint32_t)cycles & ((UINT32_C(1) << d->config->cycle_count_bits) - 1);
    return size;
}

/** A timestamp marker or an event: its size. */
static inline size_t pug_etmv4_take_bare(const struct pug_etmv4_header *header, const uint8_t *at,
                                         struct pug_etmv4_p0 *mark)
{
    const bool event = header->form == PUG_ETMV4_FORM_EVENT;
    mark->kind = event ? PUG_ETMV4_P0_EVENT : PUG_ETMV4_P0_MARKER;
    mark->bits = event ? *at & 0xf : 0;
    return 1;
}

/** Take a packet that only marks a place or a time, if it is one and all there: its size, or 0. */
static inline size_t pug_etmv4_take_mark(struct pug_etmv4_reader *r,
                                         const struct pug_etmv4_decoder *d,
                                         const struct pug_etmv4_header *header, uint64_t index,
                                         const uint8_t *at, const uint8_t *end,
                                         struct pug_etmv4_marks *marks)
{
    size_t size = 0;
    if (marks->count == PUG_ETMV4_MARKS)
        return 0;
    struct pug_etmv4_p0 *mark = &marks->waiting[marks->count];
    *mark = (struct pug_etmv4_p0){.index = index};
    if (header->form == PUG_ETMV4_FORM_TIMESTAMP)
        size = pug_etmv4_take_time(r, d, at, end, mark);
    else if (header->form >= PUG_ETMV4_FORM_CCNT_F1 && header->form <= PUG_ETMV4_FORM_CCNT_F3 &&
             pug_etmv4_counts_cycles(d))
        size = pug_etmv4_take_cycles(r, header, at, end, mark);
    else if (header->form == PUG_ETMV4_FORM_EVENT ||
             (header->form == PUG_ETMV4_FORM_BARE && header->type == PUG_ETMV4_TS_MARKER))
        size = pug_etmv4_take_bare(header, at, mark);
    marks->count += size > 0;
    return size;
}

/** Put their elements after ranges of this instruction set. */
static inline struct pug_element *pug_etmv4_put_waiting(struct pug_etmv4_decoder *d,
                                                        struct pug_etmv4_marks *marks,
                                                        struct pug_element *element, uint8_t isa)
{
    struct pug_batch *batch = d->stage->out.batch;
    const uint32_t before = (uint32_t)(element - batch->elements);
    marks->put = 0;
    if (marks->count == 0)
        return element;
    batch->count = before;
    pug_etmv4_set_isa(d, isa);
    for (unsigned i = 0; i < marks->count; i++)
        pug_etmv4_put_event(d, &marks->waiting[i]);
    marks->put = batch->count - before; /* times without a marker are none */
    marks->count = 0;
    return pug_etmv4_batch_end(batch);
}

#endif
