// SPDX-License-Identifier: MIT
/**
 * @file What packets did before, kept to be done again. those of formats 1 and 2, jumps to what is
 * in the jump target cache, and synchronisations in mid-flow, that give nothing but ranges.
 *
 * What such a packet does follows from itself, from where the decoder stands, and from what the
 * stack of returns says, if no outcome is predicted.
 */
#include "protocol/etrace/packet_memo.h"
#include "protocol/etrace/packet_fields.h"
#include "protocol/etrace/walk.h"

/** What is in a memo's `saved`: addresses, and bits of the last word. */
enum { SAVED_PC, SAVED_LAST, SAVED_ADDRESS, SAVED_REST };
#define SAVED_SIZE       0 /* of the instruction at pc: eight bits */
#define SAVED_IR_VALUE   8 /* of the goal, where the stop is tentative: 16 */
#define SAVED_OUTCOMES   24
#define SAVED_LAST_VALID 26
#define SAVED_TENTATIVE  27
#define SAVED_SYNCS      28
#define SAVED_ARRIVES    29 /* by an uninferable jump */
#define SAVED_CALLS      30 /* the return stack has entries */
#define SAVED_IRETS      31 /* no more than hops: eight bits */
#define SAVED_PRIVILEGE  40 /* from a synchronisation: eight bits */
#define SAVED_LEARNS     48 /* more follows from it than where the decoder stands */

static inline bool stands(const struct pug_memo *memo, unsigned bit)
{
    return memo->saved[SAVED_REST] >> bit & 1;
}

/** The outcome that is left, if any. */
static uint8_t outcomes_of(const struct pug_etrace_decoder *d)
{
    return (uint8_t)(d->outcomes.map << 1 | d->outcomes.mapped);
}

/** Does the decoder stand as it does between most packets? */
static bool is_usual(const struct pug_etrace_decoder *d)
{
    const struct pug_etrace_outcomes *outcomes = &d->outcomes;
    return d->synced && !d->fresh && !d->after_trap && !d->data_counts && !d->data_complete &&
           outcomes->mapped <= 1 && outcomes->predicted == 0 && !outcomes->mispredicted &&
           d->addresses == PUG_ETRACE_ADDRESSES_AS_SAID;
}

/* ---- once more ---- */

static uint64_t newest(const void *context, uint32_t n)
{
    const struct pug_etrace_stack *stack = context;
    return stack->links[(stack->top - n) & (stack->limit - 1)].address;
}

/** Does the stack infer the same returns as before, and no others? */
static bool fits_stack(const struct pug_etrace_decoder *d, const struct pug_memo *memo)
{
    const struct pug_memo_stack stack = {.entries = d->stack.entries,
                                         .limit = d->stack.limit,
                                         .newest = newest,
                                         .context = &d->stack};
    const bool arrives = stands(memo, SAVED_ARRIVES);
    const int64_t left = pug_memo_fits(memo, &stack, arrives);
    const struct pug_block *last = pug_memo_block(memo->hops[memo->count - 1]);
    return arrives && last->insn.kind == PUG_RV_RETURN ? left == 0 : left >= 0;
}

static void pass_calls(struct pug_etrace_decoder *d, const struct pug_memo *memo)
{
    for (uint32_t i = 0; i < memo->count; i++) {
        const struct pug_block *block = pug_memo_block(memo->hops[i]);
        if (block->insn.kind == PUG_RV_CALL)
            pug_etrace_push(d, block->end);
        else if (pug_memo_infers(memo, i, stands(memo, SAVED_ARRIVES)))
            pug_etrace_pop(d);
    }
}

/** Stores the packet's hops and its end in the memo. */
static void learn(struct pug_etrace_decoder *d, const struct pug_memo *memo)
{
    for (uint32_t i = 0; d->options.branch_prediction && i < memo->count; i++) {
        const struct pug_block *block = pug_memo_block(memo->hops[i]);
        uint8_t *entry = pug_etrace_predictor_entry(d, block->last);
        if (block->insn.conditional)
            *entry = pug_etrace_train(*entry, memo->hops[i] & 1);
    }
    if (stands(memo, SAVED_CALLS))
        pass_calls(d, memo);
    if (stands(memo, SAVED_ARRIVES) && d->options.jump_target_cache)
        pug_etrace_learn_target(d, memo->saved[SAVED_PC]);
    if (!stands(memo, SAVED_SYNCS))
        return;
    d->privilege = (uint8_t)(memo->saved[SAVED_REST] >> SAVED_PRIVILEGE);
    d->privilege_known = true;
    if (!d->options.resync_disabled)
        pug_etrace_forget(d);
    pug_etrace_data_sync(d);
}

static inline void restore_saved(struct pug_etrace_decoder *d, const struct pug_memo *memo)
{
    const uint64_t rest = memo->saved[SAVED_REST];
    d->pc = memo->saved[SAVED_PC];
    d->pc_size = (uint8_t)(rest >> SAVED_SIZE);
    d->last = memo->saved[SAVED_LAST];
    d->last_valid = stands(memo, SAVED_LAST_VALID);
    d->address = memo->saved[SAVED_ADDRESS];
    d->outcomes.map = rest >> SAVED_OUTCOMES >> 1 & 1;
    d->outcomes.mapped = rest >> SAVED_OUTCOMES & 1;
    d->irets = (uint8_t)(rest >> SAVED_IRETS);
    d->tentative = stands(memo, SAVED_TENTATIVE);
    if (d->tentative)
        d->tentative_goal =
            (struct pug_etrace_goal){.target = d->pc,
                                     .has_target = true,
                                     .irets = d->options.irets,
                                     .ir_value = (uint16_t)(rest >> SAVED_IR_VALUE)};
}

void pug_etrace_settle(struct pug_etrace_decoder *d)
{
    const struct pug_memo *memo = d->memos.at;
    if (memo)
        restore_saved(d, memo);
    d->memos.at = NULL;
}

static void begin_anew(struct pug_etrace_decoder *d)
{
    pug_memos_forget(&d->memos);
    d->memo_options = d->options;
    d->memos_hold = true;
}

/** Handle a synchronisation whose context is not the one in force. */
static inline void synchronise(const struct pug_element *blank, struct pug_memo_cause *cause)
{
    cause->base = (uint64_t)blank->vmid << 32 | blank->context_id;
    cause->rest |= (uint64_t)(uint8_t)blank->level << 16 | (uint64_t)blank->context_flags << 24;
}

/**
 * Of a packet of format 0: its address is relative to nothing, but in the jump target cache. False:
 * it is a count of predicted branches, or bad.
 */
static inline bool look_up(const struct pug_etrace_decoder *d, struct pug_memo_cause *cause)
{
    const struct pug_etrace_options *o = &d->options;
    const unsigned width = o->f0s_width;
    const uint64_t fields = cause->low >> 2;
    const unsigned subformat =
        width > 0 ? fields & ((1u << width) - 1) : pug_etrace_subformat_unsaid(o);
    cause->base = pug_etrace_cached_target(d, fields >> width & ((1u << o->cache_size) - 1));
    return subformat == 1 && o->jump_target_cache;
}

/** Has it more outcomes than hops can be kept? 0 stands for 31. */
static inline bool is_long(uint64_t low)
{
    return (low & 3) == 1 && (((low >> 2) - 1) & 31) >= PUG_MEMO_HOPS;
}

/** NULL: there is none, or it is not looked for. */
static struct pug_memo *look(struct pug_etrace_decoder *d, struct pug_memo_lookup *lookup,
                             uint64_t low, uint64_t high)
{
    const bool syncs = (low & 3) == 3;
    struct pug_memo_cause cause = {.low = low,
                                   .high = high,
                                   .at = d->pc,
                                   .base = d->address,
                                   .rest = (uint64_t)d->privilege << 8 | outcomes_of(d)};
    if (is_long(low) || (syncs ? low >> 2 & 3 : d->tentative) || pug_memos_rest(&d->memos))
        return NULL;
    if (syncs)
        synchronise(&d->out->blank, &cause);
    else if ((low & 3) == 0 && !look_up(d, &cause))
        return NULL;
    struct pug_memo *memo =
        pug_memos_look(&d->memos, d->code, d->out->batch, cause, d->pc_size, lookup);
    if (!memo)
        d->walk.outcomes = 0; /* also for a synchronisation without a walk */
    return memo;
}

/**
 * For a trap after another one: is the part of its cause that neither of the two gives still the
 * same?
 */
static inline bool still_causes(const struct pug_etrace_decoder *d, const struct pug_memo *memo)
{
    struct pug_memo_cause cause = memo->cause;
    switch (cause.low & 3) {
    case 0: return look_up(d, &cause) && cause.base == memo->cause.base;
    case 3:
        cause.rest &= UINT16_MAX;
        synchronise(&d->out->blank, &cause);
        return cause.base == memo->cause.base && cause.rest == memo->cause.rest;
    default: return true;
    }
}

bool pug_etrace_may_repeat(struct pug_etrace_decoder *d)
{
    if (!is_usual(d) || !d->exact_addresses || pug_codemap_outdated(d->code))
        return false;
    if (!d->memos_hold)
        begin_anew(d);
    return true;
}

bool pug_etrace_repeat(struct pug_etrace_decoder *d, struct pug_memo_lookup *lookup, uint64_t low,
                       uint64_t high, uint64_t index)
{
    struct pug_memos *memos = &d->memos;
    struct pug_memo *before = memos->at, *memo = pug_memos_next(memos, low, high);
    if (!memo || !still_causes(d, memo)) {
        pug_etrace_settle(d);
        memo = look(d, lookup, low, high);
        if (!memo)
            return false;
        pug_memos_follow(memos, before, memo);
    }
    if (stands(memo, SAVED_CALLS) && !fits_stack(d, memo))
        return false;
    if (!d->stage->paths)
        pug_memo_repeat(memos, memo, d->out, index);
    else if (!pug_memos_count(memos, d->stage, &d->chain, memo))
        return false;
    d->index = index;
    memos->at = memo;
    if (stands(memo, SAVED_LEARNS))
        learn(d, memo);
    return true;
}

/* ---- the second time ---- */

/** Does where the hop led follow from its block, the stack and the packet alone? */
static bool is_plain(const struct pug_etrace_decoder *d, const struct pug_memo *memo, uint32_t hop,
                     bool syncs)
{
    const struct pug_block *block = pug_memo_block(memo->hops[hop]);
    const bool last = hop + 1 == memo->count;
    const bool returns = d->options.implicit_return && block->insn.kind == PUG_RV_RETURN;
    return block->last_type != PUG_INSTR_BR_INDIRECT || pug_etrace_is_sequential(d, block) ||
           (!pug_etrace_may_be_sequential(d, block) && (last ? !syncs || !returns : returns));
}

/** Are these all hops? What was delivered meanwhile is missing, and with it an outcome. */
static bool are_plain(const struct pug_etrace_decoder *d, const struct pug_memo *memo, bool syncs)
{
    uint64_t outcomes = 0;
    for (uint32_t i = 0; i < memo->count; i++) {
        if (!is_plain(d, memo, i, syncs))
            return false;
        outcomes += pug_memo_block(memo->hops[i])->insn.conditional;
    }
    return outcomes == d->walk.outcomes;
}

/** Did the last hop go to where a packet had to tell? A return that is inferred goes on. */
static bool arrives(const struct pug_etrace_decoder *d, const struct pug_memo *memo)
{
    if (memo->count == 0)
        return false;
    const struct pug_block *last = pug_memo_block(memo->hops[memo->count - 1]);
    return last->last_type == PUG_INSTR_BR_INDIRECT && !pug_etrace_is_sequential(d, last) &&
           d->pc == memo->last.start;
}

static uint64_t bit(bool is, unsigned at)
{
    return is ? UINT64_C(1) << at : 0;
}

/** False: it does more than what is kept. */
static bool note(struct pug_etrace_decoder *d, const struct pug_memo_lookup *lookup,
                 struct pug_memo *memo)
{
    const struct pug_batch *batch = d->out->batch;
    const struct pug_block *first = pug_codemap_held(d->code, lookup->cause.at, (uint8_t)d->isa);
    const bool syncs = (lookup->cause.low & 3) == 3;
    if (!is_usual(d) || !first ||
        (syncs ? batch->count > lookup->count + 1 /* then more elements are written than the batch
                                                   * counts */
               : d->walk.goal.irreport))
        return false;
    const struct pug_memo_way way = {.taken = !first->insn.conditional || !(lookup->cause.rest & 2),
                                     .inside = true};
    if (!pug_memo_hops(memo, d->code, batch, lookup, first, way) || !are_plain(d, memo, syncs))
        return false;
    const bool calls = d->options.implicit_return && pug_memo_has_calls(memo);
    if (calls && d->stack.recursion > 0) /* what counts calls is no list of them */
        return false;
    const bool comes = arrives(d, memo);
    const bool learns =
        d->options.branch_prediction || calls || syncs || (comes && d->options.jump_target_cache);
    memo->saved[SAVED_PC] = d->pc;
    memo->saved[SAVED_LAST] = d->last;
    memo->saved[SAVED_ADDRESS] = d->address;
    memo->saved[SAVED_REST] =
        (uint64_t)d->pc_size << SAVED_SIZE |
        (uint64_t)d->tentative_goal.ir_value << SAVED_IR_VALUE |
        (uint64_t)outcomes_of(d) << SAVED_OUTCOMES | bit(d->last_valid, SAVED_LAST_VALID) |
        bit(d->tentative, SAVED_TENTATIVE) | bit(syncs, SAVED_SYNCS) | bit(comes, SAVED_ARRIVES) |
        bit(calls, SAVED_CALLS) | (uint64_t)d->irets << SAVED_IRETS |
        (uint64_t)d->privilege << SAVED_PRIVILEGE | bit(learns, SAVED_LEARNS);
    return true;
}

void pug_etrace_keep(struct pug_etrace_decoder *d, const struct pug_memo_lookup *lookup)
{
    struct pug_memo memo = {.cause = lookup->cause, .stamp = lookup->stamp};
    if (d->stage->pending || !pug_memo_lookup_holds(lookup, d->code, d->out->batch))
        return;
    if (!note(d, lookup, &memo))
        pug_memo_none(&memo);
    pug_memos_keep(&d->memos, d->code, &memo);
}
