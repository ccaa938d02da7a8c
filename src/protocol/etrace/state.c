// SPDX-License-Identifier: MIT
/**
 * @file What encoder and decoder keep alike: branch outcomes and the branch predictor, the stack
 * of predicted returns, the jump target cache.
 */
#include "protocol/etrace/decoder.h"

#include <stdlib.h>

#define PREDICTOR_RESET 1u /* weakly not taken */

/* ---- branches ---- */

bool pug_etrace_peek_outcome(struct pug_etrace_decoder *d, uint64_t address)
{
    const struct pug_etrace_outcomes *outcomes = &d->outcomes;
    if (outcomes->mapped > 0)
        return !(outcomes->map & 1);
    bool prediction = *pug_etrace_predictor_entry(d, address) >> 1;
    return outcomes->predicted > 0 ? prediction : !prediction;
}

bool pug_etrace_take_outcome(struct pug_etrace_decoder *d, uint64_t address)
{
    struct pug_etrace_outcomes *outcomes = &d->outcomes;
    bool taken = pug_etrace_peek_outcome(d, address);
    if (outcomes->mapped > 0) {
        outcomes->map >>= 1;
        outcomes->mapped--;
    } else if (outcomes->predicted > 0) {
        outcomes->predicted--;
    } else {
        outcomes->mispredicted = false;
    }
    if (d->options.branch_prediction) {
        uint8_t *entry = pug_etrace_predictor_entry(d, address);
        *entry = pug_etrace_train(*entry, taken);
    }
    d->irets = 0;
    return taken;
}

void pug_etrace_fix_outcome(struct pug_etrace_decoder *d, uint64_t address)
{
    bool taken = pug_etrace_peek_outcome(d, address);
    d->outcomes = (struct pug_etrace_outcomes){.map = !taken, .mapped = 1};
}

void pug_etrace_clear_outcomes(struct pug_etrace_decoder *d)
{
    d->outcomes = (struct pug_etrace_outcomes){0};
}

/* ---- returns ---- */

static void clear_stack(struct pug_etrace_decoder *d)
{
    d->stack.entries = 0;
    d->stack.top = 0;
}

/** How many entries, and how far they count, follows from the two sizes. */
static bool size_stack(struct pug_etrace_decoder *d)
{
    const struct pug_etrace_options *o = &d->options;
    bool both = o->return_stack_size > 0 && o->call_counter_size > 0 && o->irets;
    unsigned size = o->return_stack_size > 0 ? o->return_stack_size : o->call_counter_size;
    uint32_t limit = size > 0 ? UINT32_C(1) << size : 0;
    d->stack.recursion = both ? (UINT32_C(1) << o->call_counter_size) - 1 : 0;
    if (limit == d->stack.limit)
        return true;
    struct pug_etrace_link *links =
        realloc(d->stack.links, (limit > 0 ? limit : 1) * sizeof(*links));
    if (!links)
        return false;
    d->stack.links = links;
    d->stack.limit = limit;
    clear_stack(d);
    return true;
}

/* ---- jump targets ---- */

static void clear_targets(struct pug_etrace_decoder *d)
{
    uint64_t count = UINT64_C(1) << d->options.cache_size;
    if (d->options.jump_target_cache)
        memset(d->targets, 0,
               (count < PUG_ETRACE_CACHE_MAX ? count : PUG_ETRACE_CACHE_MAX) *
                   sizeof(d->targets[0]));
}

static uint64_t *target_entry(struct pug_etrace_decoder *d, uint64_t index)
{
    uint64_t mask = (UINT64_C(1) << d->options.cache_size) - 1;
    return &d->targets[index & mask & (PUG_ETRACE_CACHE_MAX - 1)];
}

void pug_etrace_learn_target(struct pug_etrace_decoder *d, uint64_t target)
{
    *target_entry(d, target >> d->config->iaddress_lsb) = target;
}

uint64_t pug_etrace_cached_target(const struct pug_etrace_decoder *d, unsigned index)
{
    return d->targets[index & (PUG_ETRACE_CACHE_MAX - 1)];
}

/* ---- both ---- */

void pug_etrace_forget(struct pug_etrace_decoder *d)
{
    uint64_t count = UINT64_C(1) << d->options.bpred_size;
    if (d->options.branch_prediction)
        memset(d->predictor, PREDICTOR_RESET,
               count < PUG_ETRACE_BPRED_MAX ? count : PUG_ETRACE_BPRED_MAX);
    clear_targets(d);
    clear_stack(d);
}

bool pug_etrace_set_options(struct pug_etrace_decoder *d, const struct pug_etrace_options *options)
{
    bool predictor = options->bpred_size != d->options.bpred_size ||
                     options->branch_prediction != d->options.branch_prediction;
    bool cache = options->cache_size != d->options.cache_size ||
                 options->jump_target_cache != d->options.jump_target_cache;
    d->options = *options;
    d->memos_hold = memcmp(options, &d->memo_options, sizeof(*options)) == 0;
    d->return_width = (uint8_t)pug_etrace_return_width(options);
    if (cache)
        clear_targets(d);
    if (predictor)
        memset(d->predictor, PREDICTOR_RESET, sizeof(d->predictor));
    return size_stack(d);
}
