// SPDX-License-Identifier: MIT
/** @file Walking: what walk.c, stop.c and range.c share. */
#ifndef PUG_PROTOCOL_ETRACE_WALK_H
#define PUG_PROTOCOL_ETRACE_WALK_H

#include "protocol/etrace/decoder.h"

/* ---- range.c ---- */

/**
 * The instructions executed since the last range, if any: up to `end`, the address after the
 * instruction `last`, which moved the flow or did not.
 */
void pug_etrace_flush_range(struct pug_etrace_decoder *d, const struct pug_insn *last, uint64_t end,
                            bool executed);

/** The same up to the instruction at pc, where `block` begins. */
void pug_etrace_flush_to_pc(struct pug_etrace_decoder *d, const struct pug_block *block);

/** The flow ends, as the program does not fit; `address` is put into the message. */
void pug_etrace_fail_at(struct pug_etrace_decoder *d, enum pug_status code, const char *text,
                        uint64_t address);
void pug_etrace_no_access(struct pug_etrace_decoder *d, uint64_t address);
/** The flow ends at memory, or an instruction, that cannot be executed. */
void pug_etrace_unreadable(struct pug_etrace_decoder *d, const struct pug_block *block);

/* ---- walk.c ---- */

/** Most returns inferred without an outcome: more than any stack counts. */
#define PUG_ETRACE_RETURN_LIMIT (1u << 18)

/** Jumps between two looks whether they go round. */
#define PUG_ETRACE_LOOKS 64u

/**
 * Where nothing but inferable jumps happens, an address that comes again will come for ever. The
 * one to compare with moves on now and then (Brent), so that it lies on the circle at last.
 */
static inline bool pug_etrace_goes_round(struct pug_etrace_walk *w)
{
    if (w->jumps++ % PUG_ETRACE_LOOKS != 0)
        return false;
    uint32_t looks = w->jumps / PUG_ETRACE_LOOKS + 1;
    bool first = looks == 1, again = !first && w->at == w->landmark;
    if (first || looks >= w->landmark_looks) {
        w->landmark = w->at;
        w->landmark_looks = 2 * looks;
    }
    return again;
}

/** Can a jump of this kind be inferred by a constant in front of it? */
static inline bool pug_etrace_takes_constants(const struct pug_etrace_decoder *d,
                                              const struct pug_insn *insn)
{
    return d->options.sijump && (insn->kind != PUG_RV_RETURN || d->config->sijump_returns);
}

/** Is the jump that ends the block inferred by a constant in it? */
static inline bool pug_etrace_is_sequential(const struct pug_etrace_decoder *d,
                                            const struct pug_block *block)
{
    return block->sequential && pug_etrace_takes_constants(d, &block->insn);
}

/** … or may it be, by one that is in the block or in the one before? */
static inline bool pug_etrace_may_be_sequential(const struct pug_etrace_decoder *d,
                                                const struct pug_block *block)
{
    return (block->sequential || block->count == 1) && pug_etrace_takes_constants(d, &block->insn);
}

static inline uint64_t pug_etrace_total(const struct pug_etrace_decoder *d)
{
    return pug_etrace_outcomes_total(&d->outcomes);
}

/** Most outcomes that a packet's walk may consume. */
static inline uint64_t pug_etrace_outcomes_bound(const struct pug_etrace_decoder *d)
{
    const uint64_t limit = d->config->branch_limit, most = pug_repeats_bound(d->stage);
    return limit < most ? limit : most;
}

/** Has the packet more of them? While it is walked that does not change. */
static inline bool pug_etrace_is_beyond(const struct pug_etrace_decoder *d)
{
    return d->walk.outcomes + pug_etrace_total(d) > pug_etrace_outcomes_bound(d);
}

/* ---- hop.c ---- */

/**
 * Go on from `block` as long as nothing special is met. Returns the block where it is; state is as
 * if each one before it had been executed in the long way. NULL: the walk is done.
 */
const struct pug_block *pug_etrace_hop(struct pug_etrace_decoder *d, const struct pug_block *block);

/* ---- stop.c ---- */

/**
 * The target is in the block, at `offset`. If the walk ends there: ranges up to it, and
 * PUG_ETRACE_WALK_DONE. Otherwise PUG_ETRACE_WALK_SUSPENDED, and the caller has to look up the
 * block again.
 */
enum pug_etrace_walk_result pug_etrace_stop_inside(struct pug_etrace_decoder *d,
                                                   const struct pug_block *block, uint64_t offset);

/** An uninferable jump took the flow to the target, where `block` begins: all walks end here. */
enum pug_etrace_walk_result pug_etrace_stop_at_target(struct pug_etrace_decoder *d,
                                                      const struct pug_block *block);

/** A packet without address ends on the branch whose outcome is its last. */
void pug_etrace_stop_on_branch(struct pug_etrace_decoder *d, const struct pug_block *block);

/** This return is the one that the packet reports, so it is not inferred. */
bool pug_etrace_is_explicit_return(const struct pug_etrace_decoder *d);

/** Look up what the above needs to know. */
void pug_etrace_look_at_target(struct pug_etrace_decoder *d);

#endif
