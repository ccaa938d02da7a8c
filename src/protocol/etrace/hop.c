// SPDX-License-Identifier: MIT
/**
 * @file The usual case of a walk by itself, with everything at hand: blocks that end in direct
 * branches and inferred returns, with links, and outcomes that are there.
 */
#include "image/paths.h"
#include "protocol/etrace/walk.h"

static inline bool is_conditional(const struct pug_block *block)
{
    return block->flags & PUG_ELEM_CONDITIONAL;
}

/**
 * With no outcome left, or one: the walk ends in this block, or may do so, at its target or on the
 * branch whose outcome is the last. `skip`: not at its first address.
 */
static inline bool may_stop(const struct pug_etrace_goal *goal, const struct pug_block *block,
                            uint64_t left, unsigned skip)
{
    const uint64_t offset = goal->target - block->start;
    if (offset <= block->last - block->start && offset >= skip &&
        left == (goal->target == block->last && is_conditional(block)))
        return true;
    return is_conditional(block) && left <= !goal->has_target;
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

/** If `last` is a branch, which took an outcome, what is counted from there on begins anew. */
static inline void begin_counts(struct pug_etrace_decoder *d, const struct pug_block *last)
{
    if (!last || !is_conditional(last))
        return;
    d->walk.steps = 0;
    d->walk.jumps = d->walk.returns = 0;
    d->irets = 0;
}

/** The block behind a jump or return. NULL: not so easily; nothing was done. */
static inline __attribute__((always_inline)) const struct pug_block *
jump(struct pug_etrace_decoder *d, const struct pug_block *block, uint64_t left, bool stacks,
     uint32_t epoch)
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

/** Of the range at `e`, the block that begins at pc: what was told already goes. Where it ends. */
static inline struct pug_element *put_rest(const struct pug_etrace_decoder *d,
                                           struct pug_element *e)
{
    e->start = d->pc + d->pc_size;
    return e + (--e->count > 0);
}

/**
 * Where the jump that ends the block went, if nothing infers it: to the target, and the walk ends.
 * NULL: not so easily; nothing was done.
 */
static inline const struct pug_block *arrival(const struct pug_etrace_decoder *d,
                                              const struct pug_block *block, uint64_t left,
                                              bool stacks)
{
    const struct pug_etrace_goal *goal = &d->walk.goal;
    const struct pug_insn *insn = &block->insn;
    if (insn->type != PUG_INSTR_BR_INDIRECT || insn->kind == PUG_RV_XRET || !goal->has_target ||
        d->options.sijump || (stacks && insn->kind == PUG_RV_RETURN && d->stack.entries > 0))
        return NULL;
    const struct pug_block *next = pug_codemap_jumped(d->code, goal->target, block->isa);
    return next && left == pug_etrace_is_branch(next) ? next : NULL;
}

/** The walk ends at the first instruction of `here`. */
static inline void arrive(struct pug_etrace_decoder *d, const struct pug_block *last,
                          const struct pug_block *here, bool stacks)
{
    if (d->options.jump_target_cache)
        pug_etrace_learn_target(d, here->start);
    if (stacks && last->insn.kind == PUG_RV_CALL)
        pug_etrace_push(d, last->end);
    d->pc = here->start;
    d->pc_size = here->first_size;
    if (pug_etrace_is_branch(here))
        pug_etrace_fix_outcome(d, d->pc);
    if (d->walk.kind != PUG_ETRACE_WALK_SYNC)
        pug_etrace_push_pc(d, here);
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
    const uint64_t index = d->index;
    const uint32_t epoch = d->code->epoch;
    const struct pug_block *last = NULL;
    const uint64_t most = pug_etrace_most(d);
    const uint64_t branch_limit = d->config->branch_limit < most ? d->config->branch_limit : most;
    uint64_t branches = w->outcomes;
    unsigned skip = w->reported;
    const struct pug_block *here = NULL;
    struct pug_chain chain;
    bool counts = skip == 0 && pug_chain_begin(&chain, d->stage);
    struct pug_element *e = &batch->elements[batch->count];
    while (e < end) {
        const struct pug_block *next;
        const uint64_t left = predicts ? pug_etrace_outcomes_total(&outcomes) : outcomes.mapped;
        bool taken = true;
        if (left <= 1 && may_stop(&w->goal, block, left, skip))
            break;
        if (is_conditional(block)) {
            uint8_t *entry = NULL;
            if (predicts && (branches >= branch_limit || outcomes.mapped + outcomes.predicted == 0))
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
        } else {
            begin_counts(d, last);
            next = jump(d, block, left, stacks, epoch);
            if (!next) {
                here = arrival(d, block, left, stacks);
                break;
            }
        }
        if (counts)
            pug_chain_hop(&chain, block, taken);
        else
            pug_block_range(e++, block, index, &context, taken);
        if (skip) {
            batch->count = (uint32_t)(put_rest(d, e - 1) - batch->elements);
            counts = pug_chain_begin(&chain, d->stage);
            e = &batch->elements[batch->count];
            skip = 0;
        }
        last = block;
        block = next;
    }
    begin_counts(d, last);
    if (counts)
        pug_chain_end(&chain);
    if (here) {
        pug_block_range(e++, block, index, &context, true);
        if (skip)
            e = put_rest(d, e - 1);
        last = block;
    }
    if (!last)
        return block;
    batch->count = (uint32_t)(e - batch->elements);
    d->outcomes = outcomes;
    d->last = last->last;
    d->last_valid = true;
    if (here) {
        arrive(d, last, here, stacks);
        return NULL;
    }
    w->at = block->start;
    w->reported = false;
    w->after_return = !is_conditional(last) && last->insn.special;
    w->outcomes = branches;
    return block;
}

const struct pug_block *pug_etrace_hop(struct pug_etrace_decoder *d, const struct pug_block *block)
{
    bool stacks = d->options.implicit_return;
    if (!pug_block_hops(block, d->code->epoch))
        return block;
    if (d->options.branch_prediction || d->outcomes.predicted > 0 || d->outcomes.mispredicted ||
        d->walk.outcomes + d->outcomes.mapped > d->config->branch_limit)
        return d->options.branch_prediction ? hop(d, block, true, stacks) : block;
    return stacks ? hop(d, block, false, true) : hop(d, block, false, false);
}
