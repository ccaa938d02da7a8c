// SPDX-License-Identifier: MIT
/**
 * @file The usual case of a walk by itself, with everything at hand: blocks that end in direct
 * branches and inferred returns, with links, and outcomes that are there.
 */
#include "protocol/etrace/walk.h"

#define HOP_JUMPS 64u /* between two looks whether they go round */

/** What of the decoder changes at each block. */
struct hop {
    uint64_t map, predicted, left; /* outcomes */
    unsigned mapped;
    uint32_t irets, returns;
    uint64_t branches;
    unsigned jumps;
};

/** The walk ends at its target, or may do so, in this block; `skip`: not at its first address. */
static inline bool may_stop(const struct pug_block *block, uint64_t target, uint64_t left,
                            unsigned skip)
{
    uint64_t offset = target - block->start;
    return left <= 1 && offset <= block->last - block->start && offset >= skip &&
           left == (target == block->last && block->insn.conditional);
}

/** Where the return that ends the block goes to, if that is inferred and the block is at hand. */
static const struct pug_block *return_block(struct etrace_decoder *d, const struct hop *hop,
                                            const struct pug_block *block, uint32_t epoch)
{
    const struct etrace_goal *goal = &d->walk.goal;
    if (block->insn.kind != PUG_RV_RETURN || d->stack.entries == 0 ||
        (d->options.sijump && (block->sequential || block->count == 1)))
        return NULL;
    if (goal->irreport && hop->left == d->walk.target_is_branch &&
        goal->ir_value == (goal->irets ? hop->irets : d->stack.entries))
        return NULL; /* the one that the packet reports */
    uint64_t target = etrace_top(d);
    const struct pug_block *next = pug_block_linked(block, true, epoch);
    return next && next->start == target ? next : etrace_near_block(d, target);
}

static inline const struct pug_block *hop_on(struct etrace_decoder *d,
                                             const struct pug_block *block, const bool predicts,
                                             const bool stacks)
{
    struct etrace_walk *w = &d->walk;
    struct pug_batch *batch = d->out->batch;
    struct pug_element *e = &batch->elements[batch->count];
    const struct pug_element *const end = &batch->elements[batch->limit];
    const uint64_t target = w->goal.target;
    const uint32_t epoch = d->code->epoch;
    unsigned skip = w->reported;
    uint64_t start = skip ? d->pc + d->pc_size : block->start, last = 0;
    bool returned = false, hopped = false, moved = false; /* the stack */
    struct hop hop = {.map = d->outcomes.map,
                      .mapped = d->outcomes.mapped,
                      .predicted = d->outcomes.predicted,
                      .left = etrace_total(d),
                      .irets = d->irets,
                      .returns = w->returns};
    while (e < end && block->ending == PUG_BLOCK_FLOW && !may_stop(block, target, hop.left, skip)) {
        const struct pug_insn *insn = &block->insn;
        const struct pug_block *next;
        bool taken = true, is_return = false;
        if (insn->conditional) {
            uint8_t *entry = NULL;
            if (hop.left <= !w->goal.has_target || hop.mapped + (predicts ? hop.predicted : 0) == 0)
                break;
            if (predicts)
                entry = etrace_predictor_entry(d, block->last);
            taken = !predicts || hop.mapped > 0 ? !(hop.map & 1) : *entry >> 1;
            next = pug_block_linked(block, taken, epoch);
            if (!next)
                break;
            if (predicts) {
                *entry = etrace_train(*entry, taken);
                hop.predicted -= hop.mapped == 0;
            }
            hop.map >>= 1;
            hop.mapped -= !predicts || hop.mapped > 0;
            hop.left--;
            hop.branches++;
            hop.jumps = 0;
            hop.irets = hop.returns = 0;
        } else if (++hop.jumps > HOP_JUMPS) {
            break;
        } else if (insn->type == PUG_INSTR_BR) {
            next = insn->table_jump ? NULL : pug_block_linked(block, true, epoch);
            if (!next)
                break;
            if (stacks && insn->kind == PUG_RV_CALL)
                moved |= etrace_push(d, block->end);
        } else {
            next = stacks ? return_block(d, &hop, block, epoch) : NULL;
            if (!next)
                break;
            is_return = moved = true;
            etrace_pop(d);
            hop.irets++;
            hop.returns++;
        }
        pug_range_fill(e, &d->out->blank, d->index, start, block->end,
                       (uint32_t)block->count - skip, insn, (uint8_t)d->isa, taken);
        e += block->count > skip;
        last = block->last;
        block = next;
        start = block->start;
        skip = 0;
        returned = is_return;
        hopped = true;
    }
    if (!hopped)
        return block;
    batch->count = (uint32_t)(e - batch->elements);
    d->outcomes.map = hop.map;
    d->outcomes.mapped = hop.mapped;
    d->outcomes.predicted = hop.predicted;
    d->irets = hop.irets;
    d->last = last;
    d->last_valid = true;
    w->at = block->start;
    w->reported = false;
    w->after_return = returned;
    w->outcomes += hop.branches;
    w->returns = hop.returns;
    if (hop.branches > 0)
        w->steps = 0;
    if (hop.branches > 0 || moved)
        w->jumps = 0;
    return block;
}

const struct pug_block *etrace_hop(struct etrace_decoder *d, const struct pug_block *block)
{
    const struct pug_etrace_options *o = &d->options;
    if (o->branch_prediction || o->implicit_return)
        return hop_on(d, block, o->branch_prediction, o->implicit_return);
    return hop_on(d, block, false, false);
}
