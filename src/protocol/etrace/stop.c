// SPDX-License-Identifier: MIT
/** @file Where a walk ends. */
#include "protocol/etrace/walk.h"

#define LOOK_AHEAD 256u /* blocks */

void pug_etrace_look_at_target(struct pug_etrace_decoder *d)
{
    struct pug_etrace_walk *w = &d->walk;
    struct pug_insn insn;
    uint8_t it = 0;
    w->target_is_branch =
        pug_codemap_insn(d->code, w->goal.target, d->isa, &it, &insn) == PUG_OK && insn.conditional;
    w->target_known = true;
}

/** The packet says that a return ends the walk, and it is not this one yet. */
static bool unresolved_returns(const struct pug_etrace_decoder *d)
{
    const struct pug_etrace_goal *goal = &d->walk.goal;
    if (!goal->irreport)
        return false;
    if (goal->irets) /* none before it: then it is that return's own target */
        return goal->ir_value > d->irets || goal->ir_value == 0;
    /* A depth is given only when a return came since the last branch: so it is none from before. */
    return goal->ir_value != d->stack.entries || (d->walk.outcomes > 0 && d->walk.returns == 0);
}

bool pug_etrace_is_explicit_return(const struct pug_etrace_decoder *d)
{
    const struct pug_etrace_goal *goal = &d->walk.goal;
    if (!goal->irreport || pug_etrace_total(d) != d->walk.target_is_branch)
        return false;
    return goal->ir_value == (goal->irets ? d->irets : d->stack.entries);
}

/**
 * May the walk end at its target, come to by normal flow, with all outcomes used up? A flow packet
 * then leaves open whether this is the first of two visits: what comes next decides.
 */
static bool goal_reached(const struct pug_etrace_decoder *d, bool after_return)
{
    const struct pug_etrace_walk *w = &d->walk;
    switch (w->kind) {
    case PUG_ETRACE_WALK_REPLAY: return false;
    case PUG_ETRACE_WALK_SYNC: return w->goal.privilege == d->privilege;
    case PUG_ETRACE_WALK_FLOW: break;
    }
    if (unresolved_returns(d))
        return false;
    return w->goal.notify || (!w->goal.only_discontinuity && !after_return);
}

/** Does the path from `address` lead to an uninferable jump without a branch in between? */
static bool leads_to_jump(struct pug_etrace_decoder *d, uint64_t address)
{
    for (unsigned blocks = 0; blocks < LOOK_AHEAD; blocks++) {
        const struct pug_block *block = pug_etrace_block(d, address);
        const struct pug_insn *insn = &block->insn;
        if (block->ending == PUG_BLOCK_LONG)
            address = block->end;
        else if (block->ending != PUG_BLOCK_FLOW || insn->conditional || insn->table_jump ||
                 insn->kind == PUG_RV_TRAP)
            return false;
        else if (insn->type == PUG_INSTR_BR || (block->sequential && d->options.sijump))
            address = pug_etrace_canonical(d, insn->target);
        else
            return !(insn->kind == PUG_RV_RETURN && d->options.implicit_return &&
                     d->stack.entries > 0);
    }
    return false;
}

/**
 * An encoder that reports where it stands before each periodic synchronisation leaves one step to
 * walk. With more of them, when the flow could pass once more before the next branch, the number of
 * passes is unknown.
 */
static void warn_of_rounds(struct pug_etrace_decoder *d, uint64_t steps)
{
    const struct pug_etrace_packet *p = d->packet;
    if (steps <= 1 || !leads_to_jump(d, d->walk.goal.target))
        return;
    bool periodic = !p->has_context || (uint32_t)p->context == d->out->blank.context_id;
    pug_stage_log(d->stage, d->stage->decoder_name, periodic ? PUG_SEV_ERROR : PUG_SEV_WARN,
                  PUG_ERR_TRACE_MISMATCH, d->index,
                  "no address packet before this synchronisation: rounds of a loop may be missing");
}

/** Returns how the block is executed up to the target, which lies after its start. */
static const struct pug_etrace_way *find_way(struct pug_etrace_decoder *d,
                                             const struct pug_block *block)
{
    uint64_t target = d->walk.goal.target, start = block->start;
    struct pug_etrace_way *way = &d->near.ways[(target ^ start >> 4) >> 1 & (PUG_ETRACE_WAYS - 1)];
    bool lasts = pug_block_lasts(block);
    struct pug_code_walk walk;
    if (d->near.epoch != d->code->epoch)
        pug_etrace_forget_ways(d);
    if (lasts && way->start == start && way->target == target)
        return way;
    pug_codemap_walk_to(d->code, start, d->isa, 0, target, block->count, &walk);
    *way = (struct pug_etrace_way){.start = lasts ? start : target,
                                   .target = target,
                                   .last = walk.last,
                                   .count = walk.status == PUG_OK ? walk.count : 0};
    return way;
}

/** Instructions before the target, which is where one begins; -1: it is not. */
static int64_t count_before(struct pug_etrace_decoder *d, const struct pug_block *block,
                            uint64_t offset)
{
    const struct pug_etrace_walk *w = &d->walk;
    uint64_t target = w->goal.target;
    if (offset == 0)
        return 0;
    if (w->reported && target == d->pc + d->pc_size) { /* the next instruction */
        d->last = d->pc;
        d->last_valid = true;
        return 1;
    }
    if (w->kind == PUG_ETRACE_WALK_FLOW && target == block->last && block->insn.conditional) {
        d->last_valid = false; /* of no use before a branch */
        return block->count - 1;
    }
    const struct pug_etrace_way *way = find_way(d, block);
    d->last = way->last;
    d->last_valid = true;
    return way->count > 0 ? (int64_t)way->count : -1;
}

/** Count the instructions before the target into the range. */
static void cover_way(struct pug_etrace_decoder *d, uint64_t start, uint32_t count)
{
    struct pug_etrace_walk *w = &d->walk;
    uint32_t before = count > 0 ? count - w->reported : 0;
    if (before > 0 && w->range_count == 0)
        w->range_start = w->reported ? d->pc + d->pc_size : start;
    w->range_count += before;
}

/** The range up to the target, before which there are so many instructions in its block. */
static void flush_before(struct pug_etrace_decoder *d, uint32_t count)
{
    const struct pug_etrace_walk *w = &d->walk;
    struct pug_insn last = w->before;
    uint8_t it = 0;
    if (w->range_count == 0)
        return;
    if (count > 0)
        (void)pug_codemap_insn(d->code, d->last, d->isa, &it, &last);
    pug_etrace_flush_range(d, &last, w->goal.target, true);
}

enum pug_etrace_walk_result pug_etrace_stop_inside(struct pug_etrace_decoder *d,
                                                   const struct pug_block *block, uint64_t offset)
{
    struct pug_etrace_walk *w = &d->walk;
    bool branch = w->goal.target == block->last && block->insn.conditional;
    if (pug_etrace_total(d) != branch || !goal_reached(d, offset == 0 && w->after_return))
        return PUG_ETRACE_WALK_SUSPENDED;
    const uint64_t start = block->start;
    const int64_t before = count_before(d, block, offset);
    if (before < 0)
        return PUG_ETRACE_WALK_SUSPENDED;
    const uint32_t count = (uint32_t)before;
    cover_way(d, start, count);
    d->tentative = w->kind == PUG_ETRACE_WALK_FLOW && !w->goal.notify && !branch;
    if (d->tentative)
        d->tentative_goal = w->goal;
    if (w->kind == PUG_ETRACE_WALK_SYNC) { /* which reports the instruction itself */
        warn_of_rounds(d, w->steps + count);
        if (w->range_count > 0)
            pug_etrace_count_close(d);
        flush_before(d, count);
    }
    d->pc = w->goal.target;
    const struct pug_block *here = pug_etrace_pc_block(d);
    if (here->count == 0) {
        pug_etrace_count_close(d);
        pug_etrace_unreadable(d, here);
        return PUG_ETRACE_WALK_FAILED;
    }
    d->pc_size = here->first_size;
    if (branch)
        pug_etrace_fix_outcome(d, d->pc);
    if (w->kind == PUG_ETRACE_WALK_SYNC)
        return PUG_ETRACE_WALK_DONE;
    pug_etrace_flush_to_pc(d, here);
    return PUG_ETRACE_WALK_DONE;
}

enum pug_etrace_walk_result pug_etrace_stop_at_target(struct pug_etrace_decoder *d,
                                                      const struct pug_block *block)
{
    if (block->count == 0) {
        pug_etrace_unreadable(d, block);
        return PUG_ETRACE_WALK_FAILED;
    }
    const bool branch = pug_etrace_is_branch(block);
    if (d->walk.kind != PUG_ETRACE_WALK_REPLAY && pug_etrace_total(d) != branch) {
        pug_etrace_fail_at(d, PUG_ERR_TRACE_MISMATCH, "branch outcomes left over", block->start);
        return PUG_ETRACE_WALK_FAILED;
    }
    d->pc = block->start;
    d->pc_size = block->first_size;
    if (branch)
        pug_etrace_fix_outcome(d, d->pc);
    if (d->walk.kind != PUG_ETRACE_WALK_SYNC)
        pug_etrace_push_pc(d, block);
    return PUG_ETRACE_WALK_DONE;
}

void pug_etrace_stop_on_branch(struct pug_etrace_decoder *d, const struct pug_block *block)
{
    d->pc = block->last;
    d->pc_size = block->insn.size;
    d->last_valid = false; /* of no use before a branch */
    pug_etrace_fix_outcome(d, d->pc);
    pug_etrace_flush_range(d, &block->insn, block->end, pug_etrace_peek_outcome(d, d->pc));
}
