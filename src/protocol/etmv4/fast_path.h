// SPDX-License-Identifier: MIT
/** @file What the fast paths of elements and of counts share. */
#ifndef PUG_PROTOCOL_ETMV4_FAST_PATH_H
#define PUG_PROTOCOL_ETMV4_FAST_PATH_H

#include "counts/paths.h"
#include "protocol/etmv4/address.h"

/**
 * The last address, if no atom has used it yet. Outside the fast path it waits in the queue, alone.
 * It commits with the next element.
 */
struct pug_etmv4_pending_target {
    bool open;
    uint8_t is;
    uint64_t value, index;
};

static inline struct pug_element *pug_etmv4_batch_end(const struct pug_batch *batch)
{
    return &batch->elements[batch->count];
}

/** Is it a branch that leaves it to an address packet, or to the return stack, where it goes? */
static inline bool pug_etmv4_asks_for_address(const struct pug_etmv4_decoder *d,
                                              const struct pug_block *from, bool taken)
{
    return taken && from->last_type == PUG_INSTR_BR_INDIRECT &&
           !(d->config->ete && from->last_subtype == PUG_SUB_V8_ERET);
}

/** The block that such a branch goes to; NULL: that takes a closer look. */
static inline const struct pug_block *
pug_etmv4_aimed_at(const struct pug_etmv4_decoder *d, const struct pug_etmv4_pending_target *target)
{
    const uint8_t isa = pug_etmv4_isa(d, target->is);
    if (isa == PUG_ISA_T32 && d->stage->quirks.etm4_stale_it)
        return NULL;
    return pug_codemap_known_jump(d->map, target->value, isa);
}

/** The block where the decoder stands, if it hops and there is room for a packet; else NULL. */
const struct pug_block *pug_etmv4_enter(struct pug_etmv4_decoder *decoder,
                                        struct pug_etmv4_pending_target *target, uint64_t index);

/**
 * Leaves the fast path: the decoder's place is after `from`, a block of a packet. Takes the batch's
 * end and returns the new one.  `chain`, or NULL, breaks.
 */
struct pug_element *pug_etmv4_leave(struct pug_etmv4_decoder *decoder, struct pug_chain *chain,
                                    struct pug_element *end, const struct pug_block *from,
                                    bool taken, uint64_t index);

struct pug_etmv4_marks;

/** Elements of gathered turns; the atoms that are left of the last packet, or 0. */
uint32_t pug_etmv4_run_fast_turns(struct pug_etmv4_reader *reader,
                                  struct pug_etmv4_decoder *decoder, struct pug_span *span,
                                  struct pug_etmv4_pending_target *target,
                                  struct pug_etmv4_marks *marks);

/**
 * Count by paths; the atoms that are left of the last packet, or 0. `marks`: where timestamps wait,
 * which come between; or NULL.
 */
uint32_t pug_etmv4_count(struct pug_etmv4_reader *reader, struct pug_etmv4_decoder *decoder,
                         struct pug_span *span, struct pug_etmv4_pending_target *target,
                         struct pug_etmv4_marks *marks);

#endif
