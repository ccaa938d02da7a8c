// SPDX-License-Identifier: MIT
/**
 * @file The usual case of a walk by itself, with everything at hand: blocks that end in direct
 * branches and inferred returns, with links, and outcomes that are there.
 */
#include "protocol/etrace/walk.h"

/** Outcomes, while they are being used up. */
struct outcomes {
    uint64_t map, predicted, left;
    unsigned mapped;
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
static const struct pug_block *return_block(struct etrace_decoder *d, uint64_t left,
                                            const struct pug_block *block, uint32_t epoch)
{
    const struct etrace_goal *goal = &d->walk.goal;
    if (block->insn.kind != PUG_RV_RETURN || d->stack.entries == 0 ||
        d->walk.returns >= ETRACE_RETURN_LIMIT ||
        (d->options.sijump && (block->sequential || block->count == 1)))
        return NULL;
    if (goal->irreport && left == d->walk.target_is_branch &&
        goal->ir_value == (goal->irets ? d->irets : d->stack.entries))
        return NULL; /* the one that the packet reports */
    uint64_t target = etrace_top(d);
    const struct pug_block *next = pug_block_linked(block, true, epoch);
    return next && next->start == target ? next : etrace_near_block(d, target);
}

/** The block behind a jump or return. NULL: not so easily; nothing was done. */
static const struct pug_block *jump(struct etrace_decoder *d, const struct pug_block *block,
                                    uint64_t left, bool stacks, uint32_t epoch)
{
    struct etrace_walk *w = &d->walk;
    const struct pug_insn *insn = &block->insn;
    bool direct = insn->type == PUG_INSTR_BR, moved = false; /* the stack */
    const struct pug_block *next = NULL;
    if (direct && !insn->table_jump)
        next = pug_block_linked(block, true, epoch);
    else if (!direct && stacks)
        next = return_block(d, left, block, epoch);
    if (!next || (w->jumps > 0 && next->start == w->landmark) ||
        w->steps + block->count > d->config->walk_limit)
        return NULL;
    if (!direct) {
        etrace_pop(d);
        d->irets++;
        w->returns++;
        moved = true;
    } else if (stacks && insn->kind == PUG_RV_CALL) {
        moved = etrace_push(d, block->end);
    }
    if (moved)
        w->jumps = 0;
    w->steps += block->count;
    w->at = next->start;
    (void)etrace_goes_round(w);
    return next;
}

static inline const struct pug_block *hop(struct etrace_decoder *d, const struct pug_block *block,
                                          const bool predicts, const bool stacks)
{
    struct etrace_walk *w = &d->walk;
    struct pug_batch *batch = d->out->batch;
    struct pug_element *e = &batch->elements[batch->count];
    const struct pug_element *const end = &batch->elements[batch->limit];
    const uint64_t target = w->goal.target, index = d->index;
    const uint64_t branch_limit = d->config->branch_limit;
    const uint32_t epoch = d->code->epoch;
    const uint8_t isa = (uint8_t)d->isa;
    const bool has_target = w->goal.has_target;
    struct outcomes outcomes = {d->outcomes.map, d->outcomes.predicted, etrace_total(d),
                                d->outcomes.mapped};
    unsigned skip = w->reported;
    uint64_t start = skip ? d->pc + d->pc_size : block->start, last = 0, branches = w->outcomes;
    bool hopped = false, returned = false;
    while (e < end && block->ending == PUG_BLOCK_FLOW &&
           !may_stop(block, target, outcomes.left, skip)) {
        const struct pug_insn *insn = &block->insn;
        const struct pug_block *next;
        bool taken = true;
        if (insn->conditional) {
            uint8_t *entry = NULL;
            bool mapped = !predicts || outcomes.mapped > 0;
            if (outcomes.left <= !has_target || branches >= branch_limit ||
                outcomes.mapped + (predicts ? outcomes.predicted : 0) == 0)
                break;
            if (predicts)
                entry = etrace_predictor_entry(d, block->last);
            taken = mapped ? !(outcomes.map & 1) : *entry >> 1;
            next = pug_block_linked(block, taken, epoch);
            if (!next)
                break;
            if (predicts)
                *entry = etrace_train(*entry, taken);
            outcomes.map >>= 1;
            outcomes.mapped -= mapped;
            outcomes.predicted -= !mapped;
            outcomes.left--;
            branches++;
            w->steps = 0;
            w->jumps = w->returns = 0;
            d->irets = 0;
            returned = false;
        } else {
            next = jump(d, block, outcomes.left, stacks, epoch);
            if (!next)
                break;
            returned = insn->type != PUG_INSTR_BR;
        }
        pug_range_fill(e, &d->out->blank, index, start, block->end, (uint32_t)block->count - skip,
                       insn, isa, taken);
        e += block->count > skip;
        last = block->last;
        block = next;
        start = block->start;
        skip = 0;
        hopped = true;
    }
    if (!hopped)
        return block;
    batch->count = (uint32_t)(e - batch->elements);
    d->outcomes.map = outcomes.map;
    d->outcomes.mapped = outcomes.mapped;
    d->outcomes.predicted = outcomes.predicted;
    d->last = last;
    d->last_valid = true;
    w->at = start;
    w->reported = false;
    w->after_return = returned;
    w->outcomes = branches;
    return block;
}

const struct pug_block *etrace_hop(struct etrace_decoder *d, const struct pug_block *block)
{
    const struct pug_etrace_options *o = &d->options;
    if (o->branch_prediction || o->implicit_return)
        return hop(d, block, o->branch_prediction, o->implicit_return);
    return hop(d, block, false, false);
}
