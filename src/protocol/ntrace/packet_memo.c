// SPDX-License-Identifier: MIT
/**
 * @file What messages did before, kept to be done again. branch messages and full histories, that
 * give nothing but whole blocks. What such a message does follows from its bytes, from where the
 * decoder stands, and from what the stack of returns says.
 */
#include "protocol/ntrace/packet_memo.h"
#include "protocol/ntrace/message.h"

/** What is in a memo's `saved`: an address, a count, and bits of the last word. */
enum { SAVED_REF, SAVED_FULL, SAVED_BRANCH };
#define SAVED_ICNT  32 /* the bits after the history */
#define SAVED_CALLS 63 /* the return stack has entries */

static inline uint8_t type_of(const struct pug_memo_cause *cause)
{
    return cause->low >> 2 & 63;
}

/** Does the message say where the last instruction led? */
static inline bool tells(uint8_t type)
{
    return type == PUG_NTRACE_INDIRECT_BRANCH || type == PUG_NTRACE_INDIRECT_BRANCH_HIST;
}

static inline const struct pug_block *last_block(const struct pug_memo *memo)
{
    return pug_memo_block(memo->hops[memo->count - 1]);
}

/* ---- once more ---- */

bool pug_ntrace_may_repeat(const struct pug_ntrace_decoder *d)
{
    return d->synced && d->pc_known && d->ref_known && d->full == (int32_t)d->full &&
           !pug_codemap_outdated(d->stage->code);
}

static uint64_t newest(const void *context, uint32_t n)
{
    const struct pug_ntrace_decoder *d = context;
    const uint32_t depth = d->config->stack_depth;
    return d->stack[d->stack_top >= n ? d->stack_top - n : d->stack_top + depth - n];
}

static bool fits_stack(const struct pug_ntrace_decoder *d, const struct pug_memo *memo)
{
    const struct pug_memo_stack stack = {
        .entries = d->stack_count, .limit = d->config->stack_depth, .newest = newest, .context = d};
    return pug_memo_fits(memo, &stack, tells(type_of(&memo->cause))) >= 0;
}

static void pass_calls(struct pug_ntrace_decoder *d, const struct pug_memo *memo)
{
    uint64_t address;
    for (uint32_t i = 0; i < memo->count; i++) {
        const struct pug_block *block = pug_memo_block(memo->hops[i]);
        if (block->insn.kind == PUG_RV_CALL)
            pug_ntrace_push_return(d, block->end);
        else if (block->insn.kind == PUG_RV_RETURN)
            pug_ntrace_pop_return(d, &address);
    }
}

static void restore_saved(struct pug_ntrace_decoder *d, const struct pug_memo *memo)
{
    const uint64_t branch = memo->saved[SAVED_BRANCH];
    const uint8_t type = type_of(&memo->cause);
    const struct pug_block *last = last_block(memo);
    d->pc = memo->last.start;
    d->ref = memo->saved[SAVED_REF];
    d->full = (int64_t)memo->saved[SAVED_FULL];
    d->last = last->last;
    d->by_jump = tells(type) || (memo->hops[memo->count - 1] & 1);
    d->before = last;
    d->trap_size = 0;
    d->branch = (struct pug_ntrace_branch){.valid = type != PUG_NTRACE_RESOURCE_FULL,
                                           .type = type,
                                           .icnt = branch >> SAVED_ICNT & ~(UINT64_C(1) << 31),
                                           .hist = (uint32_t)branch};
}

void pug_ntrace_settle(struct pug_ntrace_decoder *d)
{
    const struct pug_memo *memo = d->memos.at;
    if (memo)
        restore_saved(d, memo);
    d->memos.at = NULL;
}

/** NULL: there is none, or it is not looked for. */
static struct pug_memo *look(struct pug_ntrace_decoder *d, struct pug_memo_lookup *lookup,
                             uint64_t low, uint64_t high)
{
    const struct pug_memo_cause cause = {.low = low,
                                         .high = high,
                                         .at = d->pc,
                                         .base = d->ref,
                                         .rest = (uint64_t)d->full << 16 |
                                                 (uint64_t)d->trap_size << 1 | d->by_jump};
    if (pug_memos_rest(&d->memos))
        return NULL;
    return pug_memos_look(&d->memos, d->stage->code, d->stage->out.batch, cause, 0, lookup);
}

bool pug_ntrace_repeat(struct pug_ntrace_decoder *d, struct pug_memo_lookup *lookup, uint64_t low,
                       uint64_t high, uint64_t index)
{
    struct pug_memos *memos = &d->memos;
    struct pug_memo *before = memos->at, *memo = pug_memos_next(memos, low, high);
    if (!memo) {
        pug_ntrace_settle(d);
        memo = look(d, lookup, low, high);
        if (!memo)
            return false;
        pug_memos_follow(memos, before, memo);
    }
    const bool calls = memo->saved[SAVED_BRANCH] >> SAVED_CALLS;
    if (calls && !fits_stack(d, memo))
        return false;
    if (!d->stage->paths)
        pug_memo_repeat(memos, memo, &d->stage->out, index);
    else if (!pug_memos_count(memos, d->stage, &d->chain, memo))
        return false;
    d->index = index;
    memos->at = memo;
    if (calls)
        pass_calls(d, memo);
    return true;
}

/* ---- the second time ---- */

/** Does where the hop led follow from its block, the stack and the message alone? */
static bool is_plain(const struct pug_ntrace_decoder *d, const struct pug_memo *memo, uint32_t hop)
{
    const struct pug_ntrace_config *config = d->config;
    const struct pug_block *block = pug_memo_block(memo->hops[hop]);
    const uint8_t kind = block->insn.kind;
    const bool last = hop + 1u == memo->count;
    if (kind == PUG_RV_XRET || kind == PUG_RV_SWAP || kind == PUG_RV_TRAP)
        return false;
    if (last && tells(type_of(&memo->cause))) /* else it leads elsewhere than the message says */
        return block->last_type == PUG_INSTR_BR_INDIRECT;
    if (block->last_type != PUG_INSTR_BR_INDIRECT)
        return true;
    if (kind == PUG_RV_RETURN)
        return config->implicit_return && !last;
    return config->sequential_jump && block->sequential;
}

/** Are these all hops? What was delivered meanwhile is missing. */
static bool are_plain(const struct pug_ntrace_decoder *d, const struct pug_memo *memo)
{
    uint64_t bytes = 0;
    for (uint32_t i = 0; i < memo->count; i++) {
        const struct pug_block *block = pug_memo_block(memo->hops[i]);
        if (!is_plain(d, memo, i))
            return false;
        bytes += block->end - block->start;
    }
    return bytes == 2 * (uint64_t)d->walk.passed;
}

/** False: it does more than what is kept. */
static bool note(const struct pug_ntrace_decoder *d, const struct pug_memo_lookup *lookup,
                 struct pug_memo *memo)
{
    const struct pug_codemap *code = d->stage->code;
    const struct pug_block *first = pug_codemap_held(code, lookup->cause.at, d->isa);
    const struct pug_memo_way way = {.inside = false};
    if (!pug_ntrace_may_repeat(d) || !first ||
        !pug_memo_hops(memo, code, d->stage->out.batch, lookup, first, way) || !are_plain(d, memo))
        return false;
    const bool calls = d->config->implicit_return && pug_memo_has_calls(memo);
    memo->last.start = d->pc;
    memo->saved[SAVED_REF] = d->ref;
    memo->saved[SAVED_FULL] = (uint64_t)d->full;
    memo->saved[SAVED_BRANCH] =
        d->branch.hist | d->branch.icnt << SAVED_ICNT | (uint64_t)calls << SAVED_CALLS;
    return true;
}

void pug_ntrace_keep(struct pug_ntrace_decoder *d, const struct pug_memo_lookup *lookup)
{
    struct pug_memo memo = {.cause = lookup->cause, .stamp = lookup->stamp};
    if (d->stage->pending || !pug_memo_lookup_holds(lookup, d->stage->code, d->stage->out.batch))
        return;
    if (!note(d, lookup, &memo))
        pug_memo_none(&memo);
    pug_memos_keep(&d->memos, d->stage->code, &memo);
}
