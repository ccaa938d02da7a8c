// SPDX-License-Identifier: MIT
/**
 * @file The usual case of a walk by itself, with everything at hand: blocks that end in direct
 * branches and inferred returns, with links, and outcomes that are there.
 */
#include "image/paths.h"
#include "protocol/etrace/walk.h"

/** The walk ends at its target, or may do so, in this block; `skip`: not at its first address. */
static inline bool may_stop(const struct pug_block *block, uint64_t target, uint64_t left,
                            unsigned skip)
{
    uint64_t offset = target - block->start;
    return offset <= block->last - block->start && offset >= skip &&
           left == (target == block->last && block->insn.conditional);
}

/** Where the return that ends the block goes to, if that is inferred and the block is at hand. */
static const struct pug_block *return_block(struct pug_etrace_decoder *d, uint64_t left,
                                            const struct pug_block *block)
{
    const struct pug_etrace_goal *goal = &d->walk.goal;
    if (block->insn.kind != PUG_RV_RETURN || d->stack.entries == 0 ||
        d->walk.returns >= PUG_ETRACE_RETURN_LIMIT ||
        (d->options.sijump && (block->sequential || block->count == 1)))
        return NULL;
    if (goal->irreport && left == d->walk.target_is_branch &&
        goal->ir_value == (goal->irets ? d->irets : d->stack.entries))
        return NULL; /* the one that the packet reports */
    uint64_t target = pug_etrace_top(d);
    return pug_codemap_jumped(d->code, target, block->isa);
}

/** A branch took an outcome: what is counted from there on begins anew. */
static void begin_counts(struct pug_etrace_decoder *d)
{
    d->walk.steps = 0;
    d->walk.jumps = d->walk.returns = 0;
    d->irets = 0;
}

/** The block behind a jump or return. NULL: not so easily; nothing was done. */
static const struct pug_block *jump(struct pug_etrace_decoder *d, const struct pug_block *block,
                                    uint64_t left, bool stacks, uint32_t epoch)
{
    struct pug_etrace_walk *w = &d->walk;
    const struct pug_insn *insn = &block->insn;
    bool direct = insn->type == PUG_INSTR_BR;
    const struct pug_block *next = NULL;
    if (direct && !insn->table_jump)
        next = pug_block_linked(block, true, epoch);
    else if (!direct && stacks)
        next = return_block(d, left, block);
    if (!next || (w->jumps > 0 && w->jumps % PUG_ETRACE_LOOKS == 0) ||
        w->steps + block->count > d->config->walk_limit || w->hops >= pug_etrace_most(d))
        return NULL;
    if (!direct) {
        pug_etrace_pop(d);
        d->irets++;
        w->returns++;
        w->jumps = 0;
    } else if (stacks && insn->kind == PUG_RV_CALL && pug_etrace_push(d, block->end)) {
        w->jumps = 0;
    }
    w->steps += block->count;
    w->hops++;
    w->at = next->start;
    (void)pug_etrace_goes_round(w);
    return next;
}

/**
 * The range of a block but for its first instruction, which was told already; at *e, which moves
 * on. True: what follows is counted.
 */
static bool put_rest(struct pug_etrace_decoder *d, struct pug_element **e,
                     const struct pug_block *block, bool taken, struct pug_chain *chain)
{
    struct pug_batch *batch = d->out->batch;
    if (block->count > 1)
        pug_range_fill((*e)++, &d->out->blank, d->index, d->pc + d->pc_size, block->end,
                       block->count - 1, &block->insn, block->isa, taken);
    batch->count = (uint32_t)(*e - batch->elements);
    const bool counts = pug_chain_begin(chain, d->stage);
    *e = &batch->elements[batch->count];
    return counts;
}

/**
 * `predicts`: outcomes may be predictions; else all of them are explicit. A function of its own for
 * each use, since most streams have neither predictions nor a stack.
 */
static inline __attribute__((always_inline)) const struct pug_block *
hop(struct pug_etrace_decoder *d, const struct pug_block *block, const bool predicts,
    const bool stacks)
{
    struct pug_etrace_walk *w = &d->walk;
    struct pug_etrace_outcomes outcomes = d->outcomes;
    struct pug_batch *batch = d->out->batch;
    const struct pug_element *const end = &batch->elements[batch->limit];
    const struct pug_range_context context = pug_range_context(&d->out->blank);
    const uint64_t target = w->goal.target, index = d->index;
    const uint32_t epoch = d->code->epoch;
    const struct pug_block *last = NULL;
    const uint64_t most = pug_etrace_most(d);
    const uint64_t branch_limit = d->config->branch_limit < most ? d->config->branch_limit : most;
    uint64_t branches = w->outcomes;
    unsigned skip = w->reported;
    uint64_t start = skip ? d->pc + d->pc_size : block->start;
    bool returned = false, anew = false;
    struct pug_chain chain;
    bool counts = skip == 0 && pug_chain_begin(&chain, d->stage);
    struct pug_element *e = &batch->elements[batch->count];
    while (e < end && pug_block_hops(block, epoch)) {
        const struct pug_block *next;
        const uint64_t left = predicts ? pug_etrace_outcomes_total(&outcomes) : outcomes.mapped;
        bool taken = true;
        if (left <= 1 && may_stop(block, target, left, skip))
            break;
        if (block->flags & PUG_ELEM_CONDITIONAL) {
            uint8_t *entry = NULL;
            if (left <= !w->goal.has_target || (predicts && branches >= branch_limit) ||
                (predicts && outcomes.mapped + outcomes.predicted == 0))
                break;
            if (predicts)
                entry = pug_etrace_predictor_entry(d, block->last);
            taken = !predicts || outcomes.mapped > 0 ? !(outcomes.map & 1) : *entry >> 1;
            next = pug_block_linked(block, taken, epoch);
            if (!next)
                break;
            if (predicts && outcomes.mapped == 0)
                outcomes.predicted--;
            else
                outcomes.mapped--;
            outcomes.map >>= 1;
            if (predicts)
                *entry = pug_etrace_train(*entry, taken);
            branches++;
            anew = true;
            returned = false;
        } else {
            if (anew)
                begin_counts(d);
            anew = false;
            next = jump(d, block, left, stacks, epoch);
            if (!next)
                break;
            returned = block->insn.special;
        }
        if (counts)
            pug_chain_hop(&chain, block, taken);
        else if (skip == 0)
            pug_block_range(e++, block, index, &context, taken);
        else
            counts = put_rest(d, &e, block, taken, &chain);
        last = block;
        block = next;
        start = block->start;
        skip = 0;
    }
    if (anew)
        begin_counts(d);
    if (counts)
        pug_chain_end(&chain);
    if (!last)
        return block;
    batch->count = (uint32_t)(e - batch->elements);
    d->outcomes = outcomes;
    d->last = last->last;
    d->last_valid = true;
    w->at = start;
    w->reported = false;
    w->after_return = returned;
    w->outcomes = branches;
    return block;
}

const struct pug_block *pug_etrace_hop(struct pug_etrace_decoder *d, const struct pug_block *block)
{
    bool stacks = d->options.implicit_return;
    if (d->options.branch_prediction || d->outcomes.predicted > 0 || d->outcomes.mispredicted ||
        d->walk.outcomes + d->outcomes.mapped > d->config->branch_limit)
        return d->options.branch_prediction ? hop(d, block, true, stacks) : block;
    return stacks ? hop(d, block, false, true) : hop(d, block, false, false);
}
