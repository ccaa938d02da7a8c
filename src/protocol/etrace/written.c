// SPDX-License-Identifier: MIT
/**
 * @file What of a reader and a decoder later packets depend on, written for comparison. (state.c
 * is about what encoder and decoder keep alike.)
 */
#include "protocol/etrace/decoder.h"
#include "protocol/etrace/reader.h"

void pug_etrace_write_options(const struct pug_etrace_options *o, struct pug_state *state)
{
    const uint8_t values[] = {
        o->sijump,
        o->implicit_return,
        o->branch_prediction,
        o->jump_target_cache,
        o->implicit_exception,
        o->full_address,
        o->resync_disabled,
        o->irets,
        o->data_no_address,
        o->data_no_value,
        o->data_full_address,
        o->data_full_value,
        o->data_mma_cas,
        o->time_width,
        o->f0s_width,
        o->return_stack_size,
        o->call_counter_size,
        o->bpred_size,
        o->cache_size,
    };
    pug_state_put(state, values, sizeof(values));
}

/** Newest first. The position in the ring does not matter. */
static void write_stack(const struct pug_etrace_stack *stack, struct pug_state *state)
{
    pug_state_number(state, stack->entries);
    for (uint32_t i = 0; i < stack->entries; i++) {
        const struct pug_etrace_link *link = &stack->links[(stack->top - i) & (stack->limit - 1)];
        pug_state_number(state, link->address);
        pug_state_number(state, link->count);
    }
}

/** The walk on from a tentative stop goes to `pc`, and ends for no other reason. */
static void write_tentative(const struct pug_etrace_decoder *d, struct pug_state *state)
{
    const struct pug_etrace_goal *goal = &d->tentative_goal;
    pug_state_number(state, d->tentative);
    if (!d->tentative)
        return;
    pug_state_number(state, goal->irreport);
    pug_state_number(state, goal->irets);
    pug_state_number(state, goal->ir_value);
}

static void write_predictions(const struct pug_etrace_decoder *d, struct pug_state *state)
{
    const struct pug_etrace_options *o = &d->options;
    uint64_t predictor = UINT64_C(1) << o->bpred_size, cache = UINT64_C(1) << o->cache_size;
    if (o->branch_prediction) /* when switched on, it restarts */
        pug_state_put(state, d->predictor,
                      predictor < PUG_ETRACE_BPRED_MAX ? predictor : PUG_ETRACE_BPRED_MAX);
    if (!o->jump_target_cache) /* the same */
        return;
    for (uint64_t i = 0; i < cache && i < PUG_ETRACE_CACHE_MAX; i++)
        pug_state_number(state, d->targets[i]);
}

/** Where the flow is, and what it depends on: without one the next synchronisation sets all. */
static void write_flow(const struct pug_etrace_decoder *d, struct pug_state *state)
{
    pug_state_number(state, d->pc);
    pug_state_number(state, d->pc_size);
    pug_state_number(state, d->last_valid);
    pug_state_number(state, d->last_valid ? d->last : 0);
    pug_state_number(state, d->address);
    pug_state_number(state, d->after_trap);
    pug_state_number(state, d->after_trap && d->next_epc_valid);
    pug_state_number(state, d->after_trap && d->next_epc_valid ? d->next_epc : 0);
    pug_state_number(state, d->irets);
    pug_state_number(state, d->outcomes.map);
    pug_state_number(state, d->outcomes.mapped);
    pug_state_number(state, d->outcomes.predicted);
    pug_state_number(state, d->outcomes.mispredicted);
    write_tentative(d, state);
    write_stack(&d->stack, state);
    write_predictions(d, state);
}

/** The walk and the packet are over between two runs; blocks are only kept to be fast. */
void pug_etrace_decoder_state(const void *decoder, struct pug_state *state)
{
    const struct pug_etrace_decoder *d = decoder;
    pug_etrace_write_options(&d->options, state);
    pug_state_number(state, d->addresses);
    pug_state_number(state, d->addresses == PUG_ETRACE_ADDRESSES_AS_SAID ? 0 : d->unsaid);
    pug_state_number(state, d->started);
    pug_state_number(state, d->started ? 0 : d->start_reason);
    pug_state_number(state, d->started ? d->index : 0); /* the end of the trace has it, too */
    pug_state_number(state, d->privilege_known);
    pug_state_number(state, d->privilege_known ? d->privilege : 0);
    pug_state_number(state, d->lost);
    pug_state_number(state, d->synced);
    if (d->synced)
        write_flow(d, state);
    pug_etrace_data_write(d, state);
}

/** Options are sent when tracing begins, and when they change. */
bool pug_etrace_decoder_begin(void *decoder, const void *reader)
{
    return pug_etrace_set_options(decoder, &((const struct pug_etrace_reader *)reader)->options);
}

/**
 * A synchronisation contains the rest if it makes the encoder forget everything that it could build
 * on. An address must have shown what addresses are, and data are matched with instructions of long
 * ago; that they were switched on is not seen while there are none.
 */
bool pug_etrace_self_synced(const void *decoder)
{
    const struct pug_etrace_decoder *d = decoder;
    const bool shown = d->config->full_address_known || d->unsaid < PUG_ETRACE_UNSAID_MOST;
    return d->synced && d->privilege_known && !d->options.resync_disabled && shown &&
           d->addresses == PUG_ETRACE_ADDRESSES_AS_SAID && !pug_etrace_data_enabled(d);
}
