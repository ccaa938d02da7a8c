// SPDX-License-Identifier: MIT
/**
 * @file Executing the program between two packets. Whole blocks are hopped over; single
 * instructions matter where a block holds the address that the packet reports.
 */
#include "protocol/etrace/walk.h"

#include <stdio.h>

/* ---- jumps ---- */

static inline const struct pug_block *current_block(struct pug_etrace_decoder *d)
{
    return pug_etrace_block(d, d->walk.reported ? d->pc : d->walk.at);
}

bool pug_etrace_sequential(struct pug_etrace_decoder *d, uint64_t address,
                           const struct pug_insn *insn, uint64_t *target)
{
    struct pug_insn constant;
    uint8_t it = 0;
    if (!pug_etrace_takes_constants(d, insn) || insn->type != PUG_INSTR_BR_INDIRECT ||
        insn->kind == PUG_RV_XRET || insn->rs1 == 0 || !d->last_valid || d->last + 8 < address ||
        d->last >= address ||
        pug_codemap_insn(d->code, d->last, d->isa, &it, &constant) != PUG_OK ||
        constant.kind != PUG_RV_CONSTANT || constant.rd != insn->rs1 ||
        d->last + constant.size != address)
        return false;
    *target = pug_etrace_canonical(d, (constant.constant + insn->constant) & ~UINT64_C(1));
    return true;
}

static void call(struct pug_etrace_decoder *d, uint8_t kind, uint64_t end)
{
    if (kind != PUG_RV_CALL || !d->options.implicit_return)
        return;
    if (pug_etrace_push(d, pug_etrace_canonical(d, end)))
        d->walk.jumps = 0;
}

static void go_on_at(struct pug_etrace_decoder *d, uint64_t address)
{
    d->walk.at = address;
    d->walk.reported = false;
    d->walk.after_return = false;
}

/** The target cannot be inferred, the packet has to tell it. */
static enum pug_etrace_walk_result discontinuity(struct pug_etrace_decoder *d,
                                                 const struct pug_block *block)
{
    const struct pug_etrace_goal *goal = &d->walk.goal;
    const uint64_t end = block->end, last = block->last;
    const uint8_t kind = block->insn.kind;
    pug_etrace_flush_range(d, &block->insn, end, true);
    if (!goal->has_target) {
        pug_etrace_fail_at(d, PUG_ERR_TRACE_MISMATCH,
                           "jump with unknown target, but the packet has no address", last);
        return PUG_ETRACE_WALK_FAILED;
    }
    /* a range that data trace looked at has looked at code, too */
    const struct pug_block *target = d->data_counts
                                         ? pug_etrace_block(d, goal->target)
                                         : pug_codemap_block(d->code, goal->target, block->isa, 0);
    bool predicted = false;
    if (d->options.implicit_return && kind == PUG_RV_RETURN && d->stack.entries > 0) {
        predicted = pug_etrace_top(d) == goal->target;
        if (d->options.irets || predicted)
            pug_etrace_pop(d);
    }
    if (d->options.jump_target_cache && !predicted)
        pug_etrace_learn_target(d, goal->target);
    call(d, kind, end);
    d->last = last;
    d->last_valid = true;
    return pug_etrace_stop_at_target(d, target);
}

/** Where an indirect jump, xRET, ECALL or EBREAK goes, if more than its block infers that. */
static bool infer(struct pug_etrace_decoder *d, const struct pug_block *block, uint64_t *target,
                  bool *is_return)
{
    const struct pug_insn *insn = &block->insn;
    struct pug_insn copy = *insn;
    *is_return = false;
    if (insn->type != PUG_INSTR_BR_INDIRECT || insn->kind == PUG_RV_XRET)
        return false;
    /* the constant may have been in the block before */
    if (block->count == 1 && pug_etrace_sequential(d, block->last, &copy, target))
        return true;
    *is_return = copy.kind == PUG_RV_RETURN && d->options.implicit_return && d->stack.entries > 0 &&
                 !pug_etrace_is_explicit_return(d);
    if (*is_return)
        *target = pug_etrace_pop(d);
    return *is_return;
}

/** PUG_ETRACE_WALK_SUSPENDED: the jump is inferred, *block the next one. */
static enum pug_etrace_walk_result execute_jump(struct pug_etrace_decoder *d,
                                                const struct pug_block **block)
{
    struct pug_etrace_walk *w = &d->walk;
    uint64_t target = 0;
    bool is_return;
    bool alone = d->options.sijump && (*block)->count == 1; /* looks at the code before it */
    bool inferred = infer(d, *block, &target, &is_return);
    if (alone)
        *block = current_block(d);
    if (!inferred)
        return discontinuity(d, *block);
    if (is_return) {
        d->irets++;
        w->returns++;
        w->jumps = 0;
    }
    const uint64_t end = (*block)->end, last = (*block)->last;
    const uint8_t kind = (*block)->insn.kind;
    pug_etrace_flush_range(d, &(*block)->insn, end, true);
    *block = d->data_counts ? pug_etrace_block(d, target)
                            : pug_codemap_block(d->code, target, (*block)->isa, 0);
    call(d, kind, end);
    d->last = last;
    d->last_valid = true;
    go_on_at(d, target);
    w->after_return = is_return;
    return PUG_ETRACE_WALK_SUSPENDED;
}

/* ---- one block ---- */

void pug_etrace_forget_ways(struct pug_etrace_decoder *d)
{
    memset(&d->near, 0, sizeof(d->near));
    d->near.epoch = d->code->epoch;
}

/** The branch that ends the block has no outcome: it was not executed, if all is well. */
static void fail_branch(struct pug_etrace_decoder *d, const struct pug_block *block)
{
    struct pug_code_walk way = {.insn = d->walk.before};
    uint64_t last = block->last;
    if (block->count > 1)
        pug_codemap_walk_to(d->code, block->start, d->isa, 0, last, block->count, &way);
    if (d->walk.range_count > 0 && --d->walk.range_count > 0)
        pug_etrace_flush_range(d, &way.insn, last, true);
    pug_etrace_fail_at(d, PUG_ERR_TRACE_MISMATCH, "branch without an outcome", last);
}

/**
 * Returns the block that follows on a path that the program determines, with addresses of the
 * trace's width.
 */
static const struct pug_block *follow(struct pug_etrace_decoder *d, const struct pug_block *block,
                                      bool taken)
{
    uint64_t address = taken ? block->insn.target : block->end;
    uint64_t canonical = pug_etrace_canonical(d, address);
    d->last = block->last;
    d->last_valid = true;
    go_on_at(d, canonical);
    if (canonical != address)
        return pug_etrace_block(d, canonical);
    return pug_block_follow(d->code, block, taken);
}

/** A block that ends where its memory, or what can be decoded of it, ends. */
static void fail_block(struct pug_etrace_decoder *d, const struct pug_block *block)
{
    struct pug_block copy = *block;
    pug_etrace_flush_range(d, &copy.insn, copy.end, true);
    pug_etrace_unreadable(d, &copy);
}

/** The bound that the walk goes beyond, by its name; NULL: none. */
static const char *bound_passed(struct pug_etrace_decoder *d)
{
    struct pug_etrace_walk *w = &d->walk;
    const uint32_t limit = d->stage->options.range_limit;
    const uint64_t most = pug_repeats_bound(d->stage);
    if (w->steps > d->config->walk_limit)
        return " (walk_limit)";
    if (w->outcomes > d->config->branch_limit)
        return " (branch_limit)";
    if (w->outcomes > most || w->hops > most)
        return " (expansion)";
    if (limit > 0 && w->range_count > limit)
        return " (range_limit)";
    const bool rounds =
        w->returns > PUG_ETRACE_RETURN_LIMIT || (w->steps > 0 && pug_etrace_goes_round(w));
    return rounds ? "" : NULL;
}

static bool too_long(struct pug_etrace_decoder *d)
{
    const struct pug_etrace_walk *w = &d->walk;
    const char *bound = bound_passed(d);
    char text[64];
    if (!bound)
        return false;
    snprintf(text, sizeof(text), "walk without end%s", bound);
    pug_etrace_flush_range(d, &w->before, w->at, true);
    pug_etrace_fail_at(d, PUG_ERR_LIMIT, text, w->at);
    return true;
}

/** Ready for another step? The batch may be delivered, and the block with it be gone. */
static bool ready(struct pug_etrace_decoder *d, const struct pug_block **block)
{
    struct pug_batch *batch = d->out->batch;
    if (batch->count < batch->limit && batch->response < PUG_RESP_WAIT && !d->data_counts)
        return true;
    if (!pug_etrace_data_drain(d) || !pug_out_ready(d->out))
        return false;
    *block = current_block(d);
    return true;
}

/** Count the block's instructions into the range. */
static void cover(struct pug_etrace_decoder *d, const struct pug_block *block)
{
    struct pug_etrace_walk *w = &d->walk;
    uint32_t count = (uint32_t)block->count - w->reported;
    if (w->range_count == 0)
        w->range_start = w->reported ? d->pc + d->pc_size : block->start;
    w->range_count += count;
    w->steps += block->count;
    w->hops += !block->insn.conditional || pug_etrace_is_beyond(d);
}

/** The flow instruction that ends a block. PUG_ETRACE_WALK_SUSPENDED: *block is the next one. */
static enum pug_etrace_walk_result execute(struct pug_etrace_decoder *d,
                                           const struct pug_block **next, bool again)
{
    const struct pug_block *block = *next;
    struct pug_etrace_walk *w = &d->walk;
    bool taken = true;
    if (block->insn.conditional) {
        uint64_t left = pug_etrace_total(d);
        if (left == 1 && !w->goal.has_target && !again) {
            pug_etrace_stop_on_branch(d, block);
            return PUG_ETRACE_WALK_DONE;
        }
        if (left == 0) {
            fail_branch(d, block);
            return PUG_ETRACE_WALK_FAILED;
        }
        taken = pug_etrace_take_outcome(d, block->last);
        w->steps = 0;
        w->jumps = w->returns = 0;
        w->outcomes++;
        pug_etrace_flush_range(d, &block->insn, block->end, taken);
    } else if (block->insn.type != PUG_INSTR_BR && !pug_etrace_is_sequential(d, block)) {
        return execute_jump(d, next);
    } else {
        const uint64_t end = block->end, target = block->insn.target;
        const uint8_t kind = block->insn.kind;
        const bool table_jump = block->insn.table_jump;
        pug_etrace_flush_range(d, &block->insn, end, true);
        if (table_jump) {
            pug_etrace_no_access(d, target);
            return PUG_ETRACE_WALK_FAILED;
        }
        call(d, kind, end);
    }
    if (d->data_counts) /* the range looked at code */
        block = current_block(d);
    *next = follow(d, block, taken);
    return PUG_ETRACE_WALK_SUSPENDED;
}

/** May pug_etrace_hop() go on from here? */
static bool may_hop(const struct pug_etrace_decoder *d)
{
    const struct pug_etrace_walk *w = &d->walk;
    return w->range_count == 0 && d->exact_addresses && !d->data_counts &&
           w->outcomes <= d->config->branch_limit && !pug_codemap_outdated(d->code);
}

enum pug_etrace_walk_result pug_etrace_walk_on(struct pug_etrace_decoder *d)
{
    struct pug_etrace_walk *w = &d->walk;
    if (w->goal.irreport && !w->target_known)
        pug_etrace_look_at_target(d);
    const struct pug_block *block = current_block(d);
    enum pug_etrace_walk_result result;
    for (;;) { /* who calls, and who goes round, has room for an element */
        if (may_hop(d) && !(block = pug_etrace_hop(d, block)))
            return PUG_ETRACE_WALK_DONE;
        const bool full = d->out->batch->count >= d->out->batch->limit;
        if (!ready(d, &block))
            return PUG_ETRACE_WALK_SUSPENDED;
        if (full)
            continue;
        uint64_t offset = w->goal.target - block->start;
        if (block->count > 0 && offset <= block->last - block->start &&
            (offset > 0 || !w->reported)) {
            result = pug_etrace_stop_inside(d, block, offset);
            if (result != PUG_ETRACE_WALK_SUSPENDED)
                return result;
            block = current_block(d);
        }
        pug_etrace_count_close(d);
        bool again = w->reported && block->count == 1; /* nothing new but the jump itself */
        if (block->count > 0)
            cover(d, block);
        if (block->ending == PUG_BLOCK_FLOW) {
            result = execute(d, &block, again);
            if (result != PUG_ETRACE_WALK_SUSPENDED)
                return result;
        } else if (block->ending == PUG_BLOCK_LONG) {
            w->before = block->insn;
            block = follow(d, block, false);
        } else {
            fail_block(d, block);
            return PUG_ETRACE_WALK_FAILED;
        }
        if (too_long(d))
            return PUG_ETRACE_WALK_FAILED;
    }
}
