// SPDX-License-Identifier: MIT
/**
 * @file The usual case of a walk by itself, with everything at hand: blocks that end in branches,
 * in jumps that need no telling and in inferred returns, with links, and outcomes that are there.
 */
#include "counts/paths.h"
#include "protocol/etrace/walk.h"

static inline bool is_conditional(const struct pug_block *block)
{
    return block->flags & PUG_ELEM_CONDITIONAL;
}

/* ---- where a walk ends ---- */

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

/** … and it does, on the branch that ends the block, if nothing speaks of returns. */
static inline bool stops_on_branch(const struct pug_etrace_walk *w, const struct pug_block *block,
                                   uint64_t left, bool skip, bool after_return)
{
    const struct pug_etrace_goal *goal = &w->goal;
    if (!is_conditional(block) || left != 1 || (skip && block->count == 1))
        return false;
    return !goal->has_target || (goal->target == block->last && w->kind == PUG_ETRACE_WALK_FLOW &&
                                 !goal->irreport && !goal->only_discontinuity && !after_return);
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
        pug_etrace_may_be_sequential(d, block) ||
        (stacks && insn->kind == PUG_RV_RETURN && d->stack.entries > 0))
        return NULL;
    const struct pug_block *next = pug_codemap_jumped(d->code, goal->target, block->isa);
    return next && left == pug_etrace_is_branch(next) ? next : NULL;
}

/** The walk ends at the first instruction of `here`. */
static inline void arrive(struct pug_etrace_decoder *d, const struct pug_block *last,
                          const struct pug_block *here, bool stacks, bool counts)
{
    if (d->options.jump_target_cache)
        pug_etrace_learn_target(d, here->start);
    if (stacks && last->insn.kind == PUG_RV_CALL)
        pug_etrace_push(d, last->end);
    d->last = last->last;
    d->last_valid = true;
    d->pc = here->start;
    d->pc_size = here->first_size;
    if (pug_etrace_is_branch(here))
        pug_etrace_fix_outcome(d, d->pc);
    if (d->walk.kind != PUG_ETRACE_WALK_SYNC)
        pug_etrace_tell_pc(d, here, counts);
}

/* ---- jumps ---- */

/** The instructions executed since the last outcome was consumed. */
struct since {
    uint64_t steps, hops, most; /**< hops in all, and how many there may be */
    uint32_t jumps;
    const struct pug_block *first; /**< where the first of these jumps went; NULL: none of now */
};

/** Where the return that ends the block goes to, if that is inferred and the block is at hand. */
static inline const struct pug_block *return_block(struct pug_etrace_decoder *d, uint64_t left,
                                                   const struct pug_block *block)
{
    const struct pug_etrace_goal *goal = &d->walk.goal;
    if (block->insn.kind != PUG_RV_RETURN || d->stack.entries == 0 ||
        d->walk.returns >= PUG_ETRACE_RETURN_LIMIT || pug_etrace_may_be_sequential(d, block))
        return NULL;
    if (goal->irreport && left == d->walk.target_is_branch &&
        goal->ir_value == (goal->irets ? d->irets : d->stack.entries))
        return NULL; /* the one that the packet reports */
    return pug_codemap_jumped(d->code, pug_etrace_top(d), block->isa);
}

/**
 * The block that follows a jump or return. NULL: not so easily; nothing was done. A table jump that
 * leads nowhere has no link.
 */
static inline const struct pug_block *jump(struct pug_etrace_decoder *d,
                                           const struct pug_block *block, uint64_t left,
                                           bool stacks, uint32_t epoch, struct since *since)
{
    const bool direct = block->last_type == PUG_INSTR_BR || pug_etrace_is_sequential(d, block);
    const struct pug_block *next = NULL;
    if (direct)
        next = pug_block_linked(block, true, epoch);
    else if (stacks)
        next = return_block(d, left, block);
    if (!next || since->jumps >= PUG_ETRACE_LOOKS ||
        since->steps + block->count > d->config->walk_limit || since->hops >= since->most)
        return NULL;
    if (!direct) {
        pug_etrace_pop(d);
        d->irets++;
        d->walk.returns++;
        since->jumps = 0;
    } else if (stacks && block->insn.kind == PUG_RV_CALL && pug_etrace_push(d, block->end)) {
        since->jumps = 0;
    }
    since->steps += block->count;
    since->hops++;
    if (since->jumps++ == 0)
        since->first = next;
    return next;
}

/** If `last` is a branch, which took an outcome, counting restarts after it. */
static inline void begin_counts(struct pug_etrace_decoder *d, const struct pug_block *last,
                                struct since *since)
{
    if (!last || !is_conditional(last))
        return;
    since->steps = since->jumps = 0;
    d->walk.returns = 0;
    d->irets = 0;
}

static inline void note_since(struct pug_etrace_walk *w, const struct since *since)
{
    w->steps = since->steps;
    w->hops = since->hops;
    w->jumps = since->jumps;
    if (!since->first)
        return;
    w->landmark = since->first->start; /* see pug_etrace_goes_round() */
    w->landmark_looks = 2;
}

/* ---- outcomes ---- */

/** Outcomes while they are consumed: explicit ones with a 1 after the last, then predictions. */
struct row {
    uint64_t map, predicted;
    uint64_t behind; /**< that no hop takes: those beyond the bounds, and a wrong prediction */
    uint8_t *predictor;
    unsigned mask, lsb; /**< of addresses, for the predictor */
};

#define NO_BOUND UINT64_MAX

/**
 * So many outcomes may be consumed. Where a packet has more than may be it is so many blocks, too,
 * until the walk goes beyond a bound; else it is as many as there are.
 */
static inline uint64_t room_of(const struct pug_etrace_decoder *d, uint64_t most)
{
    const struct pug_etrace_walk *w = &d->walk;
    const uint64_t bound = pug_etrace_outcomes_bound(d);
    if (!pug_etrace_is_beyond(d))
        return NO_BOUND;
    const uint64_t outcomes = bound > w->outcomes ? bound - w->outcomes : 0;
    const uint64_t blocks = most > w->hops ? most - w->hops : 0;
    return outcomes < blocks ? outcomes : blocks;
}

/** Explicit ones do not fill the room. */
static inline struct row begin_row(struct pug_etrace_decoder *d, bool predicts, uint64_t room)
{
    const struct pug_etrace_outcomes *outcomes = &d->outcomes;
    const uint64_t most = room == NO_BOUND ? room : room - outcomes->mapped;
    const uint64_t predicted = outcomes->predicted < most ? outcomes->predicted : most;
    return (struct row){.map = outcomes->map | UINT64_C(1) << outcomes->mapped,
                        .predicted = predicts ? predicted : 0,
                        .behind =
                            predicts ? outcomes->predicted - predicted + outcomes->mispredicted : 0,
                        .predictor = d->predictor,
                        .mask = pug_etrace_predictor_mask(d),
                        .lsb = d->config->iaddress_lsb};
}

/** A block without an outcome takes the room of one that has one. */
static inline bool give_room(struct row *row)
{
    if (row->predicted == 0)
        return false;
    row->predicted--;
    row->behind++;
    return true;
}

/** Are two left, or more? Then no walk ends in this block. May say no. */
static inline bool goes_on(const struct row *row, bool predicts)
{
    return row->map > 3 || (predicts && row->predicted > 1);
}

/** How many are left, if that is 0 or 1; else more than that. */
static inline uint64_t left_of(const struct row *row)
{
    return (row->map > 3 ? 2 : row->map >> 1) + row->predicted + row->behind;
}

/** Returns how many were consumed. */
static inline uint64_t end_row(const struct row *row, struct pug_etrace_outcomes *outcomes)
{
    const unsigned mapped = 63 - (unsigned)__builtin_clzll(row->map);
    const uint64_t before = outcomes->mapped + outcomes->predicted;
    outcomes->map = row->map ^ UINT64_C(1) << mapped;
    outcomes->mapped = mapped;
    outcomes->predicted = row->predicted + row->behind - outcomes->mispredicted;
    return before - mapped - outcomes->predicted;
}

/** By an explicit one. */
static inline const struct pug_block *mapped_branch(const struct pug_block *block, struct row *row,
                                                    uint8_t *entry, uint32_t epoch, bool *taken)
{
    *taken = !(row->map & 1);
    const struct pug_block *next = pug_block_linked(block, *taken, epoch);
    if (!next)
        return NULL;
    row->map >>= 1;
    if (entry)
        *entry = pug_etrace_train(*entry, *taken);
    return next;
}

/**
 * By a prediction, which was right. Two ways, so that the processor foretells it, too: with one
 * each hop would wait for the entry, and the next entry for the hop.
 */
static inline const struct pug_block *predicted_branch(const struct pug_block *block,
                                                       struct row *row, uint8_t *entry,
                                                       uint32_t epoch, bool *taken)
{
    const struct pug_block *next;
    if (row->predicted == 0)
        return NULL;
    if (*entry >> 1) {
        if (!(next = pug_block_linked(block, true, epoch)))
            return NULL;
        *taken = true;
        *entry = pug_etrace_train(2, true);
    } else {
        if (!(next = pug_block_linked(block, false, epoch)))
            return NULL;
        *taken = false;
        *entry = pug_etrace_train(0, false);
    }
    row->predicted--;
    return next;
}

/** The branch that ends the block takes an outcome: where it leads. NULL: not so easily. */
static inline const struct pug_block *branch(const struct pug_block *block, struct row *row,
                                             bool predicts, uint32_t epoch, bool *taken)
{
    uint8_t *entry = predicts ? &row->predictor[block->last >> row->lsb & row->mask] : NULL;
    return !predicts || row->map > 1 ? mapped_branch(block, row, entry, epoch, taken)
                                     : predicted_branch(block, row, entry, epoch, taken);
}

/* ---- the fast path ---- */

/** Came execution from the block by a return that was inferred? */
static inline bool returns(const struct pug_etrace_decoder *d, const struct pug_block *block)
{
    return block->last_type == PUG_INSTR_BR_INDIRECT && !pug_etrace_is_sequential(d, block);
}

/** The walk ends on the branch that ends the block; its range is the last one of the batch. */
static inline void stop_on(struct pug_etrace_decoder *d, const struct pug_block *block, bool taken)
{
    d->pc = block->last;
    d->pc_size = block->last_size;
    d->last_valid = false; /* of no use before a branch */
    d->outcomes = (struct pug_etrace_outcomes){.map = !taken, .mapped = 1};
}

/** Ranges as elements: where the next one goes, and what all have; or counted, in a chain. */
struct told {
    struct pug_element *e;
    uint64_t index;
    struct pug_range_context context;
    const struct pug_block *last;
    bool taken;
};

/**
 * The block ran. `skip`: the block starts at pc, and the part that was reported already is left
 * out.
 */
static inline void tell(struct pug_etrace_decoder *d, struct told *told,
                        const struct pug_block *block, bool taken, const bool counts, bool skip)
{
    if (counts && !skip) {
        pug_chain_hop_from(&d->chain, told->last, told->taken, block, taken);
        told->last = block;
        told->taken = taken;
    }
    if (counts)
        return;
    struct pug_element *e = told->e++;
    pug_block_range(e, block, told->index, &told->context, taken);
    if (!skip)
        return;
    e->start = d->pc + d->pc_size;
    told->e -= --e->count == 0;
}

/**
 * `counts`: ranges are no elements. `predicts`: outcomes may be predictions; else all of them are
 * explicit. A function of its own for each use, since most streams have neither predictions nor a
 * stack.
 */
static inline __attribute__((always_inline)) const struct pug_block *
hop(struct pug_etrace_decoder *d, const struct pug_block *block, const uint64_t room,
    const bool counts, const bool predicts, const bool stacks)
{
    struct pug_etrace_walk *w = &d->walk;
    struct pug_batch *batch = d->out->batch;
    const uint32_t epoch = d->code->epoch;
    const struct pug_block *last = NULL, *here = NULL;
    struct row row = begin_row(d, predicts, room);
    struct since since = {
        .steps = w->steps, .hops = w->hops, .most = pug_repeats_bound(d->stage), .jumps = w->jumps};
    bool skip = w->reported, stops = false, taken = true;
    struct told told = {.e = &batch->elements[batch->count],
                        .index = d->index,
                        .context = pug_range_context(&d->out->blank),
                        .last = d->chain.last,
                        .taken = d->chain.taken};
    const struct pug_element *end = &batch->elements[batch->limit];
    while (told.e < end) {
        const struct pug_block *next;
        while (!skip && goes_on(&row, predicts) && is_conditional(block) &&
               (next = branch(block, &row, predicts, epoch, &taken)) != NULL) {
            tell(d, &told, block, taken, counts, false); /* most blocks */
            last = block;
            block = next;
            if (told.e == end)
                break;
        }
        if (told.e == end)
            break;
        const uint64_t left = left_of(&row);
        if (left <= 1 && may_stop(&w->goal, block, left, skip)) {
            stops =
                stops_on_branch(w, block, left, skip, last ? returns(d, last) : w->after_return);
            break;
        }
        if (is_conditional(block)) {
            next = branch(block, &row, predicts, epoch, &taken);
            if (!next)
                break;
        } else {
            taken = true;
            begin_counts(d, last, &since);
            if (predicts && room != NO_BOUND && !give_room(&row))
                break;
            next = jump(d, block, left, stacks, epoch, &since);
            if (!next) {
                here = arrival(d, block, left, stacks);
                break;
            }
        }
        tell(d, &told, block, taken, counts, skip);
        skip = false;
        last = block;
        block = next;
    }
    begin_counts(d, last, &since);
    const uint64_t consumed = end_row(&row, &d->outcomes);
    w->outcomes += consumed;
    since.hops += predicts && room != NO_BOUND ? consumed : 0;
    if (here || stops) {
        taken = here || pug_etrace_peek_outcome(d, block->last);
        tell(d, &told, block, taken, counts, skip);
    }
    batch->count = (uint32_t)(told.e - batch->elements);
    if (counts)
        pug_chain_at(&d->chain, told.last, told.taken);
    if (stops)
        stop_on(d, block, taken);
    if (here)
        arrive(d, block, here, stacks, counts);
    if (counts)
        pug_chain_rest(&d->chain);
    if (stops || here)
        return NULL;
    if (!last)
        return block;
    d->last = last->last;
    d->last_valid = true;
    note_since(w, &since);
    w->at = block->start;
    w->reported = false;
    w->after_return = returns(d, last);
    return block;
}

/**
 * The rest of the block whose first instruction was reported is a block, too. It ends at the same
 * place and can be counted as one. NULL: but it ends in a jump that looks at the code before it.
 */
static const struct pug_block *rest_of(struct pug_etrace_decoder *d, const struct pug_block *block)
{
    struct pug_etrace_walk *w = &d->walk;
    if (block->count == 2 && block->last_type == PUG_INSTR_BR_INDIRECT &&
        pug_etrace_takes_constants(d, &block->insn))
        return NULL;
    d->last = d->pc;
    d->last_valid = true;
    w->at = d->pc + d->pc_size;
    w->reported = false;
    w->steps = 1;
    return pug_etrace_block(d, w->at);
}

/** Of a packet with more outcomes than may be: apart, so that others do not ask for room. */
static __attribute__((noinline)) const struct pug_block *
hop_beyond(struct pug_etrace_decoder *d, const struct pug_block *block, uint64_t room, bool counts)
{
    const bool stacks = d->options.implicit_return;
    return counts ? hop(d, block, room, true, true, stacks)
                  : hop(d, block, room, false, true, stacks);
}

static const struct pug_block *hop_counted(struct pug_etrace_decoder *d,
                                           const struct pug_block *block, uint64_t room)
{
    const bool stacks = d->options.implicit_return;
    if (d->walk.reported && block->count > 1) {
        const struct pug_block *rest = rest_of(d, block);
        if (!rest || !pug_block_hops(rest, d->code->epoch))
            return rest ? rest : block;
        block = rest;
    }
    if (room != NO_BOUND)
        return hop_beyond(d, block, room, true);
    return d->options.branch_prediction ? hop(d, block, NO_BOUND, true, true, stacks)
                                        : hop(d, block, NO_BOUND, true, false, stacks);
}

const struct pug_block *pug_etrace_hop(struct pug_etrace_decoder *d, const struct pug_block *block)
{
    const struct pug_etrace_outcomes *outcomes = &d->outcomes;
    const bool stacks = d->options.implicit_return, predicts = d->options.branch_prediction;
    const uint64_t room = room_of(d, pug_repeats_bound(d->stage));
    if (!pug_block_hops(block, d->code->epoch) || outcomes->mapped > room ||
        (!predicts && (room != NO_BOUND || outcomes->predicted > 0 || outcomes->mispredicted)))
        return block;
    if (pug_etrace_may_count(d))
        return hop_counted(d, block, room);
    if (room != NO_BOUND)
        return hop_beyond(d, block, room, false);
    if (predicts)
        return hop(d, block, NO_BOUND, false, true, stacks);
    return stacks ? hop(d, block, NO_BOUND, false, false, true)
                  : hop(d, block, NO_BOUND, false, false, false);
}
