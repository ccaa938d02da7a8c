// SPDX-License-Identifier: MIT
/**
 * @file The lane: atoms of plain blocks, one link after the other, with all that takes in
 * registers. Inline, for the two that ride it: atoms.c with one packet, lane.c with as many as
 * come.
 */
#ifndef PUG_PROTOCOL_ETMV4_LANE_H
#define PUG_PROTOCOL_ETMV4_LANE_H

#include "protocol/etmv4/etmv4.h"

/* ---- where execution is ---- */

/** The block at the current address: along the link of the block before where that holds. */
static inline const struct pug_block *pug_etmv4_block(struct pug_etmv4_decoder *d)
{
    if (d->from && d->epoch == d->map->epoch)
        return pug_block_follow(d->map, d->from, d->from_taken);
    const struct pug_block *branch = d->branch;
    d->branch = NULL;
    if (branch && d->epoch == d->map->epoch && branch->isa == d->isa &&
        (d->isa != PUG_ISA_T32 || d->it == 0))
        return pug_block_jump(d->map, branch, d->address);
    return pug_codemap_block(d->map, d->address, (enum pug_isa)d->isa,
                             d->isa == PUG_ISA_T32 ? d->it : 0);
}

/** Behind a block: its branch is taken, or not. */
static inline void pug_etmv4_leave_block(struct pug_etmv4_decoder *d, uint64_t index,
                                         const struct pug_block *block, bool taken)
{
    d->address = block->end;
    if (taken) {
        pug_etmv4_take_branch(d, &block->insn, block->end);
        if (block->insn.subtype == PUG_SUB_V8_ERET && d->config->ete)
            pug_etmv4_push(d, PUG_ELEM_EXCEPTION_RET, index);
        if (block->insn.type == PUG_INSTR_BR_INDIRECT) {
            d->branch = block;
            d->epoch = d->map->epoch;
            return;
        }
        taken = block->insn.type == PUG_INSTR_BR;
    }
    if (!taken)
        d->it = block->isa == PUG_ISA_T32 ? block->it_out : 0;
    d->from = block;
    d->from_taken = taken;
    d->epoch = d->map->epoch;
}

/* ---- the lane ---- */

/* The most atoms in a packet, and the EXCEPTION_RET that may follow the last. */
#define PUG_ETMV4_PACKET_ELEMENTS 25u

static_assert(PUG_ETMV4_PACKET_ELEMENTS - PUG_OUT_STEP < 16, "a batch has room for a packet");

/**
 * What atoms of plain blocks need, in registers: where the next range goes in the batch, and where
 * execution is. `next` is the next block where its link is made, else NULL.
 */
struct pug_etmv4_lane {
    struct pug_element *element;
    const struct pug_block *from, *next;
    uint64_t address;
    uint32_t epoch;
    bool taken;
    bool lost; /**< an indirect branch: where it goes is not known */
};

/** Enter the lane at a block; its ranges go to `element`. */
static inline struct pug_etmv4_lane pug_etmv4_enter(const struct pug_etmv4_decoder *d,
                                                    const struct pug_block *block,
                                                    struct pug_element *element)
{
    return (struct pug_etmv4_lane){.element = element,
                                   .from = block,
                                   .next = block,
                                   .address = d->address,
                                   .epoch = d->map->epoch};
}

/** Leave it where it is. There was at least one range. */
static inline void pug_etmv4_leave(struct pug_etmv4_decoder *d, const struct pug_etmv4_lane *lane)
{
    const struct pug_block *from = lane->from;
    pug_etmv4_set_isa(d, from->isa);
    d->isa = from->isa;
    if (lane->lost) {
        pug_etmv4_leave_block(d, lane->element[-1].index, from, true);
        return;
    }
    d->from = from;
    d->from_taken = lane->taken;
    d->epoch = lane->epoch;
    d->address = lane->address;
    if (d->isa != PUG_ISA_A64) {
        d->it = !lane->taken && d->isa == PUG_ISA_T32 ? from->it_out : 0;
        d->isa = lane->taken ? from->insn.next_isa : d->isa;
    }
}

/** The batch as far as it is filled, as a lane's place for ranges; and back. */
static inline struct pug_element *pug_etmv4_batch_end(const struct pug_batch *batch)
{
    return &batch->elements[batch->count];
}

static inline void pug_etmv4_leave_to_batch(struct pug_etmv4_decoder *d,
                                            const struct pug_etmv4_lane *lane)
{
    struct pug_batch *batch = d->stage->out.batch;
    batch->count = (uint32_t)(lane->element - batch->elements);
    pug_etmv4_leave(d, lane);
}

/**
 * `count` atoms, for which the batch has room; how many are left. Ends before a block that is not
 * plain or not linked yet, and behind a branch that does not say where it goes.
 */
static inline uint32_t pug_etmv4_ride(struct pug_etmv4_decoder *d, struct pug_etmv4_lane *lane,
                                      uint64_t index, uint32_t bits, uint32_t count)
{
    const struct pug_element *const blank = &d->stage->out.blank;
    const bool returns = d->config->return_stack;
    while (lane->next && lane->next->ending == PUG_BLOCK_FLOW) {
        const struct pug_block *block = lane->next;
        const bool taken = bits & 1;
        pug_range_fill(lane->element++, blank, index, lane->address, block->end, block->count,
                       &block->insn, block->isa, taken);
        bits >>= 1;
        count--;
        lane->address = pug_block_next(block, taken);
        lane->from = block;
        lane->taken = taken;
        /* an atom cannot be foretold: one rare branch for all that is not a plain one */
        if (taken & (block->insn.special | (block->insn.link & returns))) {
            lane->lost = block->insn.type != PUG_INSTR_BR;
            if (lane->lost)
                break;
            pug_etmv4_push_return(d, block->end, block->isa);
        }
        lane->next = pug_block_known_next(d->map, block, taken, lane->epoch);
        if (count == 0)
            break;
    }
    return count;
}

/** Room for a whole packet in the batch. False: the consumer waits. */
static inline bool pug_etmv4_room_for_packet(struct pug_etmv4_decoder *d)
{
    struct pug_batch *batch = d->stage->out.batch;
    return batch->count + PUG_ETMV4_PACKET_ELEMENTS <= batch->limit + PUG_OUT_STEP ||
           batch->flush(batch);
}

/** The current block as the start of a lane, with room for a packet; NULL where that cannot be. */
static inline const struct pug_block *pug_etmv4_plain_block(struct pug_etmv4_decoder *d)
{
    const struct pug_block *block = pug_etmv4_block(d);
    if (block->ending != PUG_BLOCK_FLOW) {
        d->unusual = block;
        return NULL;
    }
    return pug_out_ready(&d->stage->out) && pug_etmv4_room_for_packet(d) ? block : NULL;
}

#endif
