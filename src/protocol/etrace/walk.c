// SPDX-License-Identifier: MIT
/**
 * @file Executing the program between two packets. Whole blocks are hopped over; single
 * instructions matter where a block holds the address that the packet reports.
 */
#include "protocol/etrace/decoder.h"

#include "base/text.h"

#include <inttypes.h>
#include <stdio.h>

/* An address that is in no block: instructions are at even ones. */
#define NOWHERE UINT64_MAX

#define LOOK_AHEAD   256u       /* blocks */
#define RETURN_LIMIT (1u << 18) /* inferred without an outcome: more than any stack counts */

/* ---- ranges ---- */

/** What the last instruction of a range is and did. */
struct ending {
    const struct pug_insn *insn;
    uint64_t end; /* address behind it */
    bool executed;
};

static void push_range(struct etrace_decoder *d, uint64_t start, uint32_t count,
                       struct ending ending)
{
    const struct pug_insn *insn = ending.insn;
    struct pug_element *e = pug_out_push(d->out, PUG_ELEM_INSTR_RANGE, d->index);
    e->start = start;
    e->end = ending.end;
    e->count = count;
    e->last_type = insn->type;
    e->last_subtype = insn->subtype;
    e->last_size = insn->size;
    e->flags = (uint16_t)((ending.executed ? PUG_ELEM_EXECUTED : 0) |
                          (insn->conditional ? PUG_ELEM_CONDITIONAL : 0));
    if (insn->kind == PUG_RV_XRET)
        pug_out_push(d->out, PUG_ELEM_EXCEPTION_RET, d->index);
    if (d->data_counts)
        etrace_data_range(d, start, count);
}

/** What was executed since the last range, if anything. */
static void flush_range(struct etrace_decoder *d, struct ending ending)
{
    struct etrace_walk *w = &d->walk;
    if (w->range_count > 0)
        push_range(d, w->range_start, w->range_count, ending);
    w->range_count = 0;
}

void etrace_push_pc(struct etrace_decoder *d, const struct pug_insn *insn)
{
    bool taken = !insn->conditional || etrace_peek_outcome(d, d->pc);
    push_range(d, d->pc, 1, (struct ending){insn, d->pc + insn->size, taken});
}

/* ---- the end of the flow ---- */

void etrace_unsync(struct etrace_decoder *d)
{
    d->synced = false;
    d->fresh = true;
    d->tentative = false;
    d->after_trap = false;
    etrace_clear_outcomes(d);
    etrace_data_uncount(d);
}

void etrace_fail(struct etrace_decoder *d, enum pug_status code, const char *text)
{
    pug_stage_log(d->stage, d->stage->decoder_name, PUG_SEV_ERROR, code, d->index, text);
    etrace_unsync(d);
    d->lost = true;
    pug_out_push(d->out, PUG_ELEM_UNKNOWN, d->index);
    pug_out_push(d->out, PUG_ELEM_NO_SYNC, d->index)->reason = PUG_UNSYNC_BAD_IMAGE;
}

static void fail_at(struct etrace_decoder *d, enum pug_status code, const char *text,
                    uint64_t address)
{
    char buffer[128];
    struct pug_text message = PUG_TEXT(buffer, sizeof(buffer));
    pug_text_format(&message, "%s at 0x%" PRIx64, text, address);
    pug_text_end(&message);
    etrace_fail(d, code, buffer);
}

static void no_access(struct etrace_decoder *d, uint64_t address)
{
    char buffer[64];
    struct pug_text message = PUG_TEXT(buffer, sizeof(buffer));
    pug_text_format(&message, "no program memory at 0x%" PRIx64, address);
    pug_text_end(&message);
    pug_stage_log(d->stage, d->stage->decoder_name, PUG_SEV_ERROR, PUG_ERR_MEM_NACC, d->index,
                  buffer);
    etrace_unsync(d);
    pug_out_push(d->out, PUG_ELEM_ADDR_NACC, d->index)->start = address;
}

/** Memory, or an instruction, that cannot be executed. */
static void unreadable(struct etrace_decoder *d, enum pug_status status, uint64_t address)
{
    if (status == PUG_ERR_MEM_NACC)
        no_access(d, address);
    else
        fail_at(d, status, "instruction that cannot be decoded", address);
}

bool etrace_insn_at(struct etrace_decoder *d, uint64_t address, struct pug_insn *insn)
{
    uint8_t it = 0;
    enum pug_status status = pug_codemap_insn(d->code, address, d->isa, &it, insn);
    if (status != PUG_OK)
        unreadable(d, status, address);
    return status == PUG_OK;
}

/* ---- where a walk ends ---- */

void etrace_walk_begin(struct etrace_decoder *d, enum etrace_walk_kind kind,
                       const struct etrace_goal *goal)
{
    d->walk = (struct etrace_walk){.kind = kind, .goal = *goal, .at = d->pc, .reported = true};
    if (!goal->has_target)
        d->walk.goal.target = NOWHERE;
}

static uint64_t total(const struct etrace_decoder *d)
{
    return etrace_outcomes_total(&d->outcomes);
}

static bool target_is_branch(struct etrace_decoder *d)
{
    struct etrace_walk *w = &d->walk;
    struct pug_insn insn;
    uint8_t it = 0;
    if (!w->target_known)
        w->target_is_branch =
            pug_codemap_insn(d->code, w->goal.target, d->isa, &it, &insn) == PUG_OK &&
            insn.conditional;
    w->target_known = true;
    return w->target_is_branch;
}

/** The packet says that a return ends the walk, and it is not this one yet. */
static bool unresolved_returns(const struct etrace_decoder *d)
{
    const struct etrace_goal *goal = &d->walk.goal;
    if (!goal->irreport)
        return false;
    if (goal->irets) /* none before it: then it is that return's own target */
        return goal->ir_value > d->irets || goal->ir_value == 0;
    return goal->ir_value != d->stack.entries;
}

/** This return is the one that the packet reports, so it is not inferred. */
static bool is_explicit_return(struct etrace_decoder *d)
{
    const struct etrace_goal *goal = &d->walk.goal;
    if (!goal->irreport || total(d) != target_is_branch(d))
        return false;
    return goal->ir_value == (goal->irets ? d->irets : d->stack.entries);
}

/**
 * May the walk end at its target, come to by normal flow, with all outcomes used up? A flow packet
 * then leaves open whether this is the first of two visits: what comes next decides.
 */
static bool goal_reached(const struct etrace_decoder *d, bool after_return)
{
    const struct etrace_walk *w = &d->walk;
    switch (w->kind) {
    case WALK_REPLAY: return false;
    case WALK_SYNC: return w->goal.privilege == d->privilege;
    case WALK_FLOW: break;
    }
    if (unresolved_returns(d))
        return false;
    return w->goal.notify || (!w->goal.only_discontinuity && !after_return);
}

/** Stand on the target now; a synchronisation reports it itself. */
static bool settle(struct etrace_decoder *d, const struct pug_insn *insn)
{
    const struct etrace_walk *w = &d->walk;
    d->pc = w->goal.target;
    d->pc_size = insn->size;
    if (insn->conditional)
        etrace_fix_outcome(d, d->pc);
    return w->kind != WALK_SYNC;
}

/** Does the path from `address` lead to an uninferable jump without a branch in between? */
static bool leads_to_jump(struct etrace_decoder *d, uint64_t address)
{
    for (unsigned blocks = 0; blocks < LOOK_AHEAD; blocks++) {
        const struct pug_block *block = pug_codemap_block(d->code, address, d->isa, 0);
        const struct pug_insn *insn = &block->insn;
        if (block->ending == PUG_BLOCK_LONG)
            address = block->end;
        else if (block->ending != PUG_BLOCK_FLOW || insn->conditional || insn->table_jump ||
                 insn->kind == PUG_RV_TRAP)
            return false;
        else if (insn->type == PUG_INSTR_BR || (block->sequential && d->options.sijump))
            address = etrace_canonical(d, insn->target);
        else
            return !(insn->kind == PUG_RV_RETURN && d->options.implicit_return &&
                     d->stack.entries > 0);
    }
    return false;
}

/**
 * An encoder that reports where it stands before each periodic synchronisation leaves one step to
 * walk. Where there are more, and the flow could come by once more before the next branch, nobody
 * can tell how often it did.
 */
static void warn_of_rounds(struct etrace_decoder *d, uint64_t steps)
{
    const struct pug_etrace_packet *p = d->packet;
    if (d->walk.kind != WALK_SYNC || steps <= 1 || !leads_to_jump(d, d->walk.goal.target))
        return;
    bool periodic = !p->has_context || (uint32_t)p->context == d->out->blank.context_id;
    pug_stage_log(d->stage, d->stage->decoder_name, periodic ? PUG_SEV_ERROR : PUG_SEV_WARN,
                  PUG_ERR_TRACE_MISMATCH, d->index,
                  "no address packet before this synchronisation: rounds of a loop may be missing");
}

/**
 * The target is in the block, at `offset`. If the walk ends there: ranges up to it, and WALK_DONE.
 * Else WALK_SUSPENDED, and the block has to be looked up anew.
 */
static enum etrace_walk_result stop_inside(struct etrace_decoder *d, const struct pug_block *block,
                                           uint64_t offset)
{
    struct etrace_walk *w = &d->walk;
    bool branch = w->goal.target == block->last && block->insn.conditional;
    if (total(d) != branch || !goal_reached(d, offset == 0 && w->after_return))
        return WALK_SUSPENDED;
    struct pug_walk way = {.insn = w->before};
    uint64_t start = block->start;
    uint32_t bound = block->count;
    if (offset > 0) {
        pug_codemap_walk_to(d->code, start, d->isa, 0, w->goal.target, bound, &way);
        if (way.status != PUG_OK)
            return WALK_SUSPENDED; /* inside of an instruction */
        d->last = way.last;
        d->last_valid = true;
        uint32_t before = way.count - w->reported;
        if (before > 0 && w->range_count == 0)
            w->range_start = w->reported ? d->pc + d->pc_size : start;
        w->range_count += before;
    }
    struct pug_insn insn;
    if (!etrace_insn_at(d, w->goal.target, &insn))
        return WALK_FAILED;
    d->tentative = w->kind == WALK_FLOW && !w->goal.notify && !branch;
    d->tentative_goal = w->goal;
    if (w->kind == WALK_SYNC) {
        warn_of_rounds(d, w->steps + way.count);
        flush_range(d, (struct ending){&way.insn, w->goal.target, true});
        settle(d, &insn);
        return WALK_DONE;
    }
    if (w->range_count++ == 0)
        w->range_start = w->goal.target;
    settle(d, &insn);
    bool taken = !branch || etrace_peek_outcome(d, d->pc);
    flush_range(d, (struct ending){&insn, d->pc + insn.size, taken});
    return WALK_DONE;
}

/** An uninferable jump took the flow to the target: all walks end here. */
static enum etrace_walk_result stop_at_target(struct etrace_decoder *d)
{
    struct pug_insn insn;
    if (!etrace_insn_at(d, d->walk.goal.target, &insn))
        return WALK_FAILED;
    if (d->walk.kind != WALK_REPLAY && total(d) != insn.conditional) {
        fail_at(d, PUG_ERR_TRACE_MISMATCH, "branch outcomes left over", d->walk.goal.target);
        return WALK_FAILED;
    }
    if (settle(d, &insn))
        etrace_push_pc(d, &insn);
    return WALK_DONE;
}

/* ---- one block ---- */

/** The jump that ends a block: what is needed of it when the block itself may be gone. */
struct jump {
    struct pug_insn insn;
    uint64_t address, end;
    bool sequential;
};

bool etrace_sequential(struct etrace_decoder *d, uint64_t address, const struct pug_insn *insn,
                       uint64_t *target)
{
    struct pug_insn constant;
    uint8_t it = 0;
    if (!d->options.sijump || insn->type != PUG_INSTR_BR_INDIRECT || insn->kind == PUG_RV_XRET ||
        insn->rs1 == 0 || !d->last_valid || d->last + 8 < address || d->last >= address ||
        (insn->kind == PUG_RV_RETURN && !d->config->sijump_returns) ||
        pug_codemap_insn(d->code, d->last, d->isa, &it, &constant) != PUG_OK ||
        constant.kind != PUG_RV_CONSTANT || constant.rd != insn->rs1 ||
        d->last + constant.size != address)
        return false;
    *target = etrace_canonical(d, (constant.constant + insn->constant) & ~UINT64_C(1));
    return true;
}

static void call(struct etrace_decoder *d, const struct pug_insn *insn, uint64_t end)
{
    uint32_t entries = d->stack.entries;
    if (insn->kind == PUG_RV_CALL && d->options.implicit_return)
        etrace_push(d, etrace_canonical(d, end));
    if (d->stack.entries != entries)
        d->walk.jumps = 0;
}

static void go_on_at(struct etrace_decoder *d, uint64_t address)
{
    d->walk.at = address;
    d->walk.reported = false;
    d->walk.after_return = false;
}

/** The target cannot be inferred, the packet has to tell it. */
static enum etrace_walk_result discontinuity(struct etrace_decoder *d, const struct jump *jump)
{
    const struct etrace_goal *goal = &d->walk.goal;
    flush_range(d, (struct ending){&jump->insn, jump->end, true});
    if (!goal->has_target) {
        fail_at(d, PUG_ERR_TRACE_MISMATCH,
                "jump with unknown target, but the packet has no address", jump->address);
        return WALK_FAILED;
    }
    bool predicted = false;
    if (d->options.implicit_return && jump->insn.kind == PUG_RV_RETURN && d->stack.entries > 0) {
        predicted = etrace_top(d) == goal->target;
        if (d->options.irets || predicted)
            etrace_pop(d);
    }
    if (d->options.jump_target_cache && !predicted)
        etrace_learn_target(d, goal->target);
    call(d, &jump->insn, jump->end);
    d->last = jump->address;
    d->last_valid = true;
    return stop_at_target(d);
}

/** An indirect jump, xRET, ECALL or EBREAK. WALK_SUSPENDED: it is inferred, go on. */
static enum etrace_walk_result execute_jump(struct etrace_decoder *d, const struct pug_block *block)
{
    struct jump jump = {block->insn, block->last, block->end, block->sequential};
    uint64_t target = 0;
    bool inferable = jump.insn.type == PUG_INSTR_BR_INDIRECT && jump.insn.kind != PUG_RV_XRET;
    bool is_return = inferable && jump.insn.kind == PUG_RV_RETURN;
    bool after_return = false;
    if (inferable && d->options.sijump && jump.sequential &&
        (!is_return || d->config->sijump_returns)) {
        target = etrace_canonical(d, jump.insn.target);
    } else if (inferable && block->count == 1 &&
               etrace_sequential(d, jump.address, &jump.insn, &target)) {
        /* the constant was in the block before */
    } else if (is_return && d->options.implicit_return && d->stack.entries > 0 &&
               !is_explicit_return(d)) {
        target = etrace_pop(d);
        d->irets++;
        d->walk.returns++;
        d->walk.jumps = 0;
        after_return = true;
    } else {
        return discontinuity(d, &jump);
    }
    flush_range(d, (struct ending){&jump.insn, jump.end, true});
    call(d, &jump.insn, jump.end);
    d->last = jump.address;
    d->last_valid = true;
    go_on_at(d, target);
    d->walk.after_return = after_return;
    return WALK_SUSPENDED;
}

/** The branch that ends the block has no outcome: it was not executed, if all is well. */
static void fail_branch(struct etrace_decoder *d, const struct pug_block *block)
{
    struct pug_walk way = {.insn = d->walk.before};
    uint64_t last = block->last;
    if (block->count > 1)
        pug_codemap_walk_to(d->code, block->start, d->isa, 0, last, block->count, &way);
    if (d->walk.range_count > 0 && --d->walk.range_count > 0)
        flush_range(d, (struct ending){&way.insn, last, true});
    fail_at(d, PUG_ERR_TRACE_MISMATCH, "branch without an outcome", last);
}

/** A packet without address ends on the branch whose outcome is its last. */
static void stop_on_branch(struct etrace_decoder *d, const struct pug_block *block)
{
    d->pc = block->last;
    d->pc_size = block->insn.size;
    d->last_valid = false; /* of no use before a branch */
    etrace_fix_outcome(d, d->pc);
    flush_range(d, (struct ending){&block->insn, block->end, etrace_peek_outcome(d, d->pc)});
}

/** The block that follows on a path that the program tells, with addresses of the trace's width. */
static const struct pug_block *follow(struct etrace_decoder *d, const struct pug_block *block,
                                      bool taken)
{
    uint64_t address = taken ? block->insn.target : block->end;
    uint64_t canonical = etrace_canonical(d, address);
    d->last = block->last;
    d->last_valid = true;
    go_on_at(d, canonical);
    if (canonical != address)
        return pug_codemap_block(d->code, canonical, d->isa, 0);
    return pug_block_follow(d->code, block, taken);
}

/** A block that ends where its memory, or what can be decoded of it, ends. */
static void fail_block(struct etrace_decoder *d, const struct pug_block *block)
{
    struct pug_insn insn = block->insn;
    uint64_t end = block->end;
    enum pug_status status =
        block->ending == PUG_BLOCK_NO_ACCESS ? PUG_ERR_MEM_NACC : (enum pug_status)block->status;
    flush_range(d, (struct ending){&insn, end, true});
    unreadable(d, status, end);
}

/**
 * Where nothing but inferable jumps happens, an address that comes again will come for ever. The
 * one to compare with moves on now and then (Brent), so that it lies on the circle at last.
 */
static bool goes_round(struct etrace_walk *w)
{
    bool again = w->jumps > 0 && w->at == w->landmark;
    if (w->jumps++ == 0)
        w->landmark_jumps = 1;
    if (w->jumps >= w->landmark_jumps) {
        w->landmark = w->at;
        w->landmark_jumps = 2 * w->jumps;
    }
    return again;
}

static bool too_long(struct etrace_decoder *d)
{
    struct etrace_walk *w = &d->walk;
    uint32_t limit = d->stage->options.range_limit;
    if (w->steps <= d->config->walk_limit && w->outcomes <= d->config->branch_limit &&
        w->returns <= RETURN_LIMIT && (limit == 0 || w->range_count <= limit) &&
        (w->steps == 0 || !goes_round(w)))
        return false;
    flush_range(d, (struct ending){&w->before, w->at, true});
    fail_at(d, PUG_ERR_LIMIT, "walk without end", w->at);
    return true;
}

/** Ready for another step? The batch may be delivered, and the block with it be gone. */
static bool ready(struct etrace_decoder *d, const struct pug_block **block)
{
    struct pug_batch *batch = d->out->batch;
    if (batch->count < batch->limit && batch->response < PUG_RESP_WAIT && !d->data_counts)
        return true;
    if (!etrace_data_drain(d) || !pug_out_ready(d->out))
        return false;
    *block = pug_codemap_block(d->code, d->walk.at, d->isa, 0);
    return true;
}

/** Count the block's instructions into the range. */
static void cover(struct etrace_decoder *d, const struct pug_block *block)
{
    struct etrace_walk *w = &d->walk;
    uint32_t count = (uint32_t)block->count - w->reported;
    if (w->range_count == 0)
        w->range_start = w->reported ? d->pc + d->pc_size : block->start;
    w->range_count += count;
    w->steps += block->count;
}

enum etrace_walk_result etrace_walk_on(struct etrace_decoder *d)
{
    struct etrace_walk *w = &d->walk;
    const struct pug_block *block = pug_codemap_block(d->code, w->at, d->isa, 0);
    enum etrace_walk_result result;
    for (;;) {
        if (!ready(d, &block))
            return WALK_SUSPENDED;
        uint64_t offset = w->goal.target - block->start;
        if (block->count > 0 && offset <= block->last - block->start &&
            (offset > 0 || !w->reported)) {
            result = stop_inside(d, block, offset);
            if (result != WALK_SUSPENDED)
                return result;
            block = pug_codemap_block(d->code, w->at, d->isa, 0);
        }
        bool again = w->reported && block->count == 1; /* nothing new but the jump itself */
        if (block->count > 0)
            cover(d, block);
        if (block->ending == PUG_BLOCK_LONG) {
            w->before = block->insn;
            block = follow(d, block, false);
        } else if (block->ending != PUG_BLOCK_FLOW) {
            fail_block(d, block);
            return WALK_FAILED;
        } else if (block->insn.conditional) {
            uint64_t left = total(d);
            if (left == 1 && !w->goal.has_target && !again) {
                stop_on_branch(d, block);
                return WALK_DONE;
            }
            if (left == 0) {
                fail_branch(d, block);
                return WALK_FAILED;
            }
            bool taken = etrace_take_outcome(d, block->last);
            w->steps = 0;
            w->jumps = w->returns = 0;
            w->outcomes++;
            flush_range(d, (struct ending){&block->insn, block->end, taken});
            block = follow(d, block, taken);
        } else if (block->insn.type == PUG_INSTR_BR && !block->insn.table_jump) {
            flush_range(d, (struct ending){&block->insn, block->end, true});
            call(d, &block->insn, block->end);
            block = follow(d, block, true);
        } else if (block->insn.table_jump) {
            uint64_t word = block->insn.target;
            flush_range(d, (struct ending){&block->insn, block->end, true});
            no_access(d, word);
            return WALK_FAILED;
        } else {
            result = execute_jump(d, block);
            if (result != WALK_SUSPENDED)
                return result;
            block = pug_codemap_block(d->code, w->at, d->isa, 0);
        }
        if (too_long(d))
            return WALK_FAILED;
    }
}
