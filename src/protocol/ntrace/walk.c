// SPDX-License-Identifier: MIT
/**
 * @file From one message to the next through the code: counts halfwords of instructions, spends
 * history bits on conditional branches, infers what the encoder left out, pushes a range for every
 * run of sequential instructions.
 */
#include "counts/paths.h"
#include "protocol/ntrace/packet_memo.h"

/* ---- return stack: the newest addresses, the oldest are dropped ---- */

void pug_ntrace_push_return(struct pug_ntrace_decoder *d, uint64_t address)
{
    d->stack_top = d->stack_top + 1 < d->config->stack_depth ? d->stack_top + 1 : 0;
    d->stack[d->stack_top] = address;
    d->stack_count += d->stack_count < d->config->stack_depth;
}

bool pug_ntrace_pop_return(struct pug_ntrace_decoder *d, uint64_t *address)
{
    if (d->stack_count == 0)
        return false;
    *address = d->stack[d->stack_top];
    d->stack_top = d->stack_top > 0 ? d->stack_top - 1 : d->config->stack_depth - 1;
    d->stack_count--;
    return true;
}

/* ---- ranges ---- */

static uint16_t branch_flags(const struct pug_insn *insn, bool taken)
{
    return (uint16_t)((taken ? PUG_ELEM_EXECUTED : 0) |
                      (insn->conditional ? PUG_ELEM_CONDITIONAL : 0));
}

/** The instructions from range_start to `end`, of which the last one is d->last. */
static struct pug_element *push_range(struct pug_ntrace_decoder *d, uint64_t end)
{
    struct pug_element *range = pug_out_push(&d->stage->out, PUG_ELEM_INSTR_RANGE, d->index);
    range->start = d->walk.range_start;
    range->end = end;
    range->count = d->walk.range_count;
    range->last_size = (uint8_t)(end - d->last);
    range->flags = PUG_ELEM_EXECUTED;
    d->walk.range_count = 0;
    return range;
}

enum pug_ntrace_walked pug_ntrace_fail(struct pug_ntrace_decoder *d, enum pug_status status,
                                       uint64_t pc, const char *text)
{
    if (d->walk.range_count > 0)
        push_range(d, d->pc);
    d->failure = status;
    d->failure_pc = pc;
    d->failure_text = text;
    return PUG_NTRACE_FAILED;
}

enum pug_ntrace_walked pug_ntrace_too_much(struct pug_ntrace_decoder *d, uint64_t pc)
{
    return pug_ntrace_fail(d, PUG_ERR_LIMIT, pc,
                           d->walk.blocks < 0 ? "one message covers too much code for expansion"
                                              : "one message covers too much code for walk_limit");
}

/** Instructions of a block in front of `stop`, as the walk's last range; where they end. */
static uint64_t push_part(struct pug_ntrace_decoder *d, uint64_t from, uint64_t stop)
{
    struct pug_codemap *code = d->stage->code;
    struct pug_insn insn;
    uint8_t it = 0;
    uint64_t at = from;
    d->trap_size = 0;
    while (at < stop && pug_codemap_insn(code, at, d->isa, &it, &insn) == PUG_OK &&
           insn.size <= stop - at) {
        d->last = at;
        d->trap_size = insn.kind == PUG_RV_TRAP ? insn.size : 0;
        at += insn.size;
        d->walk.range_count++;
    }
    if (d->walk.range_count > 0)
        push_range(d, at);
    return at;
}

/* ---- steps ---- */

/** Bytes of a walk's rest that lie in this block. */
static uint64_t stop_in(const struct pug_ntrace_walk *walk, const struct pug_block *block)
{
    return block->start + 2 * (uint64_t)walk->budget;
}

/** The walk ends inside this block. */
static enum pug_ntrace_walked step_into(struct pug_ntrace_decoder *d, const struct pug_block *block)
{
    struct pug_ntrace_walk *walk = &d->walk;
    if (walk->history_only && pug_ntrace_history_guard(d, walk->passed) < PUG_NTRACE_HISTORY_GUARD)
        return pug_ntrace_too_much(d, block->start);
    if (walk->history_only)
        return pug_ntrace_fail(d, PUG_ERR_TRACE_MISMATCH, block->start,
                               "no conditional branch for the branch history");
    uint64_t start = block->start, stop = stop_in(walk, block);
    uint64_t reached = push_part(d, start, stop);
    if (reached != stop)
        return pug_ntrace_fail(d, PUG_ERR_TRACE_MISMATCH, reached,
                               "the instruction count ends inside an instruction");
    walk->passed += walk->budget;
    walk->budget = 0;
    d->by_jump = false;
    d->pc = stop;
    return PUG_NTRACE_WALKED;
}

/**
 * The block ends without a jump: at a trapping instruction that counts as retired, at the length
 * bound, or where the code can't be read.
 */
static enum pug_ntrace_walked step_over(struct pug_ntrace_decoder *d, const struct pug_block *block)
{
    struct pug_ntrace_walk *walk = &d->walk;
    int64_t size = (int64_t)((block->end - block->start) >> 1);
    enum pug_block_end ending = block->ending;
    enum pug_status status = block->status;
    uint64_t end = block->end;
    walk->budget -= size;
    walk->passed += size;
    walk->range_count += block->count;
    if (size > 0) {
        d->by_jump = false;
        d->last = block->last;
        d->trap_size = block->insn.kind == PUG_RV_TRAP ? block->insn.size : 0;
    }
    d->pc = end;
    bool done = !walk->history_only && walk->budget == 0;
    if (ending <= PUG_BLOCK_LONG && !done)
        return PUG_NTRACE_WALKED;
    if (done) {
        push_range(d, end);
        return PUG_NTRACE_WALKED;
    }
    if (ending == PUG_BLOCK_NO_ACCESS)
        return pug_ntrace_fail(d, PUG_ERR_NO_PROGRAM_MEMORY, end, "program memory is not there");
    return pug_ntrace_fail(d, status, end, "the instruction can't be decoded");
}

/** Outcome of a conditional branch. */
static bool branch_taken(struct pug_ntrace_decoder *d, const struct pug_block *block, bool last)
{
    struct pug_ntrace_walk *walk = &d->walk;
    if (walk->bits > 0) {
        if (walk->history_only)
            walk->budget = pug_ntrace_history_guard(d, walk->passed);
        return walk->hist >> --walk->bits & 1;
    }
    if (last && walk->end == PUG_NTRACE_END_DIRECT)
        return true;
    return last && walk->end == PUG_NTRACE_END_SYNC && block->insn.target == walk->address &&
           block->end != walk->address;
}

/** With all_jumps, direct jumps are reported as taken branches are. */
static bool jump_reported(struct pug_ntrace_decoder *d, bool last)
{
    struct pug_ntrace_walk *walk = &d->walk;
    if (walk->bits > 0) {
        if (walk->history_only)
            walk->budget = pug_ntrace_history_guard(d, walk->passed);
        return walk->hist >> --walk->bits & 1;
    }
    return d->config->mode != PUG_NTRACE_MODE_BTM ||
           (last && (walk->end == PUG_NTRACE_END_DIRECT || walk->end == PUG_NTRACE_END_SYNC));
}

/**
 * A pair of constant and jump on it that is not in one block: the walk's last instruction made the
 * constant, and the jump is the first of this one.
 */
static bool split_pair(struct pug_ntrace_decoder *d, const struct pug_block *block,
                       uint64_t *target, bool *looked)
{
    struct pug_insn constant;
    const struct pug_insn jump = block->insn;
    uint64_t start = block->start;
    uint8_t it = 0;
    if (block->count != 1 || d->by_jump || d->last >= start ||
        start - d->last > PUG_NTRACE_LONGEST_CONSTANT)
        return false;
    *looked = true;
    if (pug_codemap_insn(d->stage->code, d->last, d->isa, &it, &constant) != PUG_OK ||
        constant.kind != PUG_RV_CONSTANT || d->last + constant.size != start ||
        constant.rd != jump.rs1)
        return false;
    *target = (constant.constant + jump.constant) & d->mask & ~UINT64_C(1);
    return true;
}

enum jump { JUMP_KNOWN, JUMP_UNKNOWN, JUMP_BAD };

/**
 * Where an indirect jump goes. *looked: the code map was asked, and pointers of before are void.
 */
static enum jump indirect_target(struct pug_ntrace_decoder *d, const struct pug_block *block,
                                 bool last, uint64_t *target, bool *looked)
{
    const struct pug_ntrace_config *config = d->config;
    const struct pug_insn insn = block->insn;
    bool sequential = block->sequential;
    bool swap = insn.kind == PUG_RV_SWAP && !config->sifive;
    bool popped = (insn.kind == PUG_RV_RETURN || swap) && pug_ntrace_pop_return(d, target);
    uint64_t behind = block->end;
    bool told = d->walk.end == PUG_NTRACE_END_INDIRECT ||
                (d->walk.end == PUG_NTRACE_END_SYNC && d->walk.sync_jumped);
    enum jump jump = JUMP_BAD;
    if (insn.kind == PUG_RV_XRET)
        return last ? JUMP_UNKNOWN : JUMP_BAD;
    if (last && told) {
        jump = JUMP_UNKNOWN;
    } else if (config->implicit_return && popped) {
        jump = JUMP_KNOWN;
    } else if (config->sequential_jump && sequential) {
        *target = insn.target;
        jump = JUMP_KNOWN;
    } else if (config->sequential_jump && split_pair(d, block, target, looked)) {
        jump = JUMP_KNOWN;
    } else if (last) {
        jump = JUMP_UNKNOWN;
    }
    if (insn.kind == PUG_RV_CALL || insn.kind == PUG_RV_SWAP)
        pug_ntrace_push_return(d, behind);
    return jump;
}

static void push_flow(struct pug_ntrace_decoder *d, const struct pug_block *block, bool taken)
{
    d->walk.range_count += block->count;
    d->last = block->last;
    d->trap_size = 0;
    struct pug_element *range = push_range(d, block->end);
    range->last_type = block->insn.type;
    range->last_subtype = block->insn.subtype;
    range->flags = branch_flags(&block->insn, taken);
}

/** Go on at `pc`. */
static void go_to(struct pug_ntrace_decoder *d, uint64_t pc, bool taken)
{
    d->by_jump = taken;
    d->pc = pc;
    d->walk.range_start = pc;
}

/**
 * Everything up to the block's last instruction is reported; that instruction does not fit the
 * trace.
 */
static enum pug_ntrace_walked refuse_last(struct pug_ntrace_decoder *d,
                                          const struct pug_block *block, const char *text)
{
    uint64_t start = block->start, last = block->last;
    push_part(d, start, last);
    return pug_ntrace_fail(d, PUG_ERR_TRACE_MISMATCH, last, text);
}

/** A block that ends in a flow instruction. */
static enum pug_ntrace_walked step(struct pug_ntrace_decoder *d, const struct pug_block *block)
{
    struct pug_ntrace_walk *walk = &d->walk;
    const struct pug_insn *insn = &block->insn;
    bool last = walk->budget == 0 && !walk->history_only;
    if (insn->conditional && walk->has_history && walk->bits == 0)
        return refuse_last(d, block, "branch history is used up at a conditional branch");
    if (insn->conditional) {
        bool taken = branch_taken(d, block, last);
        push_flow(d, block, taken);
        go_to(d, taken ? insn->target : block->end, taken);
        d->before = block;
        return PUG_NTRACE_WALKED;
    }
    if (insn->type == PUG_INSTR_BR) {
        if (d->config->all_jumps && !jump_reported(d, last))
            return refuse_last(d, block, "a direct jump is not reported");
        if (insn->kind == PUG_RV_CALL)
            pug_ntrace_push_return(d, block->end);
        push_flow(d, block, true);
        if (insn->table_jump)
            return pug_ntrace_fail(d, PUG_ERR_NO_PROGRAM_MEMORY, insn->target,
                                   "the jump table is not there");
        go_to(d, insn->target, true);
        d->before = block;
        return PUG_NTRACE_WALKED;
    }
    uint64_t target = 0;
    const struct pug_block copy = *block;
    bool looked = false;
    enum jump jump = indirect_target(d, &copy, last, &target, &looked);
    if (jump == JUMP_BAD)
        return refuse_last(d, &copy, "the target of an indirect jump is not known");
    push_flow(d, &copy, true);
    if (copy.insn.kind == PUG_RV_XRET)
        pug_out_push(&d->stage->out, PUG_ELEM_EXCEPTION_RET, d->index);
    go_to(d, jump == JUMP_KNOWN ? target : 0, true);
    d->before = looked ? NULL : block;
    d->pc_known = jump == JUMP_KNOWN;
    return PUG_NTRACE_WALKED;
}

static bool walk_is_over(const struct pug_ntrace_walk *walk)
{
    return walk->history_only ? walk->bits == 0 : walk->budget == 0;
}

/** The block where control came to from `before`: at d->pc, if that is an indirect branch. */
static const struct pug_block *block_behind(struct pug_ntrace_decoder *d,
                                            const struct pug_block *before, bool taken)
{
    return before->last_type == PUG_INSTR_BR_INDIRECT
               ? pug_codemap_block(d->stage->code, d->pc, before->isa, 0)
               : pug_block_follow(d->stage->code, before, taken);
}

/** The block at d->pc. */
static const struct pug_block *block_here(struct pug_ntrace_decoder *d)
{
    const struct pug_block *before = d->before;
    d->before = NULL;
    if (before)
        return block_behind(d, before, d->by_jump);
    return pug_codemap_block(d->stage->code, d->pc, d->isa, 0);
}

/** Outcomes, the next one on top; a 1 and zeros follow the last. */
#define NO_OUTCOMES (UINT64_C(1) << 63)

static inline uint64_t outcomes_of(const struct pug_ntrace_walk *walk)
{
    return (walk->hist << 1 | 1) << (63 - walk->bits);
}

/** A way along links: the last block that ran and how it was left, what is next, what is left. */
struct way {
    const struct pug_block *before, *block;
    uint64_t outcomes;
    int64_t budget, passed; /* bytes of instructions */
    bool taken;
};

/** What a jump that ends a block does to the stack of returns, but for those that are inferred. */
static inline void pass_call(struct pug_ntrace_decoder *d, const struct pug_block *block)
{
    if (block->insn.kind == PUG_RV_CALL)
        pug_ntrace_push_return(d, block->end);
}

/**
 * The block after an indirect jump: that of an inferred return, of a constant before it, or any,
 * where the message gives its last target. False: not so easily; nothing was done.
 */
static inline bool jump(struct pug_ntrace_decoder *d, const struct pug_block *block, int64_t left,
                        const struct pug_block **next)
{
    const uint8_t kind = block->insn.kind;
    uint64_t address;
    const bool told = left == 0 && d->walk.end == PUG_NTRACE_END_INDIRECT;
    if (block->last_type != PUG_INSTR_BR_INDIRECT || kind == PUG_RV_XRET || kind == PUG_RV_SWAP)
        return false;
    const bool pops = kind == PUG_RV_RETURN && d->config->implicit_return && d->stack_count > 0;
    *next = told ? block : NULL;
    if (left > 0 && (pops || (d->config->sequential_jump && block->sequential)))
        *next = pug_codemap_jumped(d->stage->code,
                                   pops ? d->stack[d->stack_top] : block->insn.target, block->isa);
    if (!*next)
        return false;
    if (kind == PUG_RV_RETURN)
        pug_ntrace_pop_return(d, &address);
    pass_call(d, block);
    return true;
}

/** Ranges that the batch has room for, and the message may still give. */
static inline size_t room_for_ranges(const struct pug_ntrace_decoder *d)
{
    const struct pug_batch *batch = d->stage->out.batch;
    const uint32_t room = batch->limit - batch->count;
    return d->walk.blocks < room ? (size_t)d->walk.blocks : room;
}

/**
 * What pug_ntrace_walk() does with blocks one by one, with everything at hand: those that are
 * linked, and end in the message with a branch or jump that is not special.
 */
static inline __attribute__((always_inline)) void hop(struct pug_ntrace_decoder *d, struct way *way,
                                                      struct pug_chain *chain, const bool counts,
                                                      const bool history_only)
{
    const struct pug_ntrace_walk *walk = &d->walk;
    struct pug_batch *batch = d->stage->out.batch;
    const struct pug_range_context context = pug_range_context(&d->stage->out.blank);
    const struct pug_element *const limit = &batch->elements[batch->count] + room_for_ranges(d);
    const bool all_jumps = d->config->all_jumps;
    const uint64_t index = d->index;
    const uint32_t epoch = d->stage->code->epoch;
    struct pug_element *e = &batch->elements[batch->count];
    struct way w = *way;
    const struct pug_block *last = counts ? chain->last : NULL;
    bool last_taken = counts && chain->taken;
    int64_t blocks = walk->blocks;
    do {
        const struct pug_block *const block = w.block;
        const int64_t size = (int64_t)(block->end - block->start);
        int64_t left = w.budget - size;
        bool go = true;
        const struct pug_block *next;
        if ((counts ? blocks <= 0 : e >= limit) || !pug_block_hops(block, epoch) || left < 0)
            break;
        if (__builtin_expect(block->flags & PUG_ELEM_CONDITIONAL,
                             PUG_ELEM_CONDITIONAL)) { /* most */
            if (w.outcomes != NO_OUTCOMES) {
                go = w.outcomes >> 63;
                w.outcomes <<= 1;
            } else if (walk->has_history) {
                break;
            } else if (left > 0) {
                go = false;
            } else if (walk->end == PUG_NTRACE_END_SYNC) {
                break;
            } else {
                go = walk->end == PUG_NTRACE_END_DIRECT;
            }
            if (history_only)
                left = 2 * pug_ntrace_history_guard(d, (w.passed + size) >> 1);
            next = block->links[go];
        } else if (block->last_type == PUG_INSTR_BR) {
            if (all_jumps || block->insn.table_jump)
                break;
            pass_call(d, block);
            next = block->links[true];
        } else if (!jump(d, block, left, &next)) {
            break;
        }
        if (counts)
            pug_chain_hop_from(chain, last, last_taken, block, go);
        else
            pug_block_range(e++, block, index, &context, go);
        blocks -= counts;
        w.budget = left;
        w.passed += size;
        w.before = last = block;
        w.taken = last_taken = go;
        w.block = next;
    } while (history_only ? w.outcomes != NO_OUTCOMES : w.budget > 0);
    if (counts)
        pug_chain_at(chain, last, last_taken);
    d->walk.blocks = counts ? blocks : walk->blocks - (e - &batch->elements[batch->count]);
    batch->count = (uint32_t)(e - batch->elements);
    *way = w;
}

static void hop_all(struct pug_ntrace_decoder *d, struct way *way, struct pug_chain *chain)
{
    if (chain)
        hop(d, way, chain, true, d->walk.history_only);
    else if (d->walk.history_only)
        hop(d, way, NULL, false, true);
    else
        hop(d, way, NULL, false, false);
}

/**
 * Returns where execution is after the last block of the path; *known: false when the message has
 * to give it.
 */
static uint64_t address_of(const struct pug_ntrace_decoder *d, const struct way *way, bool *known)
{
    *known = true;
    if (way->before->last_type != PUG_INSTR_BR_INDIRECT)
        return pug_block_next(way->before, way->taken);
    *known = way->budget > 0 || d->walk.end != PUG_NTRACE_END_INDIRECT;
    return *known ? way->block->start : 0;
}

/** Take over how far the way went; the block at d->pc, if it is known. */
static const struct pug_block *leave(struct pug_ntrace_decoder *d, const struct way *way)
{
    struct pug_ntrace_walk *walk = &d->walk;
    const struct pug_batch *batch = d->stage->out.batch;
    const bool went = way->passed != 2 * walk->passed;
    d->before = way->before;
    if (went) {
        d->last = way->before->last;
        d->by_jump = way->taken;
        walk->range_start = d->pc = address_of(d, way, &d->pc_known);
        walk->budget = way->budget / 2;
        walk->passed = way->passed / 2;
        walk->bits = 63 - (unsigned)__builtin_ctzll(way->outcomes);
    }
    if (walk_is_over(walk) || batch->count >= batch->limit ||
        (went && !pug_block_hops(way->block, d->stage->code->epoch)))
        return NULL;
    d->before = NULL;
    return way->block;
}

/** Are ranges counted now? Then the chain is open. */
static inline bool may_count(struct pug_ntrace_decoder *d)
{
    if (!d->stage->paths)
        return false;
    pug_memos_count_close(&d->memos);
    return pug_chain_resume(&d->chain, d->stage);
}

/**
 * Hops, as many as there are. Returns the block at d->pc where it is none, NULL where it was not
 * looked at.
 */
static const struct pug_block *walk_branches(struct pug_ntrace_decoder *d)
{
    struct pug_ntrace_walk *walk = &d->walk;
    const bool counts = !d->shows && may_count(d);
    if (!pug_out_ready(&d->stage->out))
        return NULL;
    struct way way = {.before = d->before,
                      .block = block_behind(d, d->before, d->by_jump),
                      .outcomes = outcomes_of(walk),
                      .budget = 2 * walk->budget,
                      .passed = 2 * walk->passed,
                      .taken = d->by_jump};
    hop_all(d, &way, counts ? &d->chain : NULL);
    if (counts)
        pug_chain_rest(&d->chain);
    return leave(d, &way);
}

enum pug_ntrace_walked pug_ntrace_walk(struct pug_ntrace_decoder *d)
{
    struct pug_ntrace_walk *walk = &d->walk;
    while (!walk_is_over(walk)) {
        const struct pug_block *block = NULL;
        if (!d->pc_known)
            return pug_ntrace_fail(d, PUG_ERR_TRACE_MISMATCH, d->last,
                                   "the target of an indirect jump is not known");
        if (d->before && walk->range_count == 0) {
            block = walk_branches(d);
            if (walk_is_over(walk))
                break;
        }
        pug_ntrace_count_close(d);
        if (!pug_out_ready(&d->stage->out))
            return PUG_NTRACE_WAITS;
        if (walk->blocks-- <= 0)
            return pug_ntrace_too_much(d, d->pc);
        if (!block)
            block = block_here(d);
        int64_t size = (int64_t)((block->end - block->start) >> 1);
        enum pug_ntrace_walked walked;
        if (size > walk->budget) {
            walked = step_into(d, block);
        } else if (block->ending != PUG_BLOCK_FLOW || block->insn.kind == PUG_RV_TRAP) {
            walked = step_over(d, block);
        } else {
            walk->budget -= size;
            walk->passed += size;
            walked = step(d, block);
        }
        if (walked != PUG_NTRACE_WALKED)
            return walked;
    }
    if (!walk->history_only && walk->bits > 0)
        return pug_ntrace_fail(d, PUG_ERR_TRACE_MISMATCH, d->pc, "branch history is left over");
    return PUG_NTRACE_WALKED;
}
