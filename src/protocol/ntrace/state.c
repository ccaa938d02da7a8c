// SPDX-License-Identifier: MIT
/** @file What the messages to come depend on, written for comparison (state.h). */
#include "protocol/ntrace/decode.h"
#include "protocol/ntrace/reader.h"

/** The count of messages is left out: it only numbers them. */
void pug_ntrace_reader_state(const void *data, struct pug_state *state)
{
    const struct pug_ntrace_reader *reader = data;
    bool inside = reader->state == PUG_NTRACE_READER_INSIDE;
    pug_state_number(state, reader->state);
    pug_state_number(state, reader->stage->source); /* SRC of the first message, if none was said */
    pug_state_number(state, reader->gap);
    pug_state_number(state, reader->src_locked);
    pug_state_number(state, reader->src_locked ? reader->src : 0u);
    pug_state_number(state, reader->time_known);
    if (!inside)
        return;
    pug_state_number(state, reader->first);
    pug_state_number(state, reader->index);
    pug_state_number(state, reader->kept);
    pug_state_put(state, reader->raw, reader->kept);
}

/** Differences are added to it, whatever its width. */
unsigned pug_ntrace_reader_clock(const void *data, uint64_t *time)
{
    const struct pug_ntrace_reader *reader = data;
    *time = reader->now;
    return reader->config->ts_width ? reader->config->ts_width : 64;
}

void pug_ntrace_reader_set_time(void *data, uint64_t time)
{
    struct pug_ntrace_reader *reader = data;
    reader->now = time;
}

/**
 * The last instruction counts where it may be the first of a pair whose jump is the next one, and
 * for the complaint that nothing is known of where its jump went.
 */
static uint64_t last_that_counts(const struct pug_ntrace_decoder *d)
{
    bool near = !d->by_jump && d->last < d->pc && d->pc - d->last <= PUG_NTRACE_LONGEST_CONSTANT;
    return near || !d->pc_known ? d->last : d->pc;
}

/** The flow, while it is known. Otherwise a sync message sets all of it. */
static void put_flow(const struct pug_ntrace_decoder *d, struct pug_state *state)
{
    pug_state_number(state, d->pc_known);
    pug_state_number(state, d->pc);
    pug_state_number(state, d->by_jump);
    pug_state_number(state, d->trap_size);
    pug_state_number(state, last_that_counts(d));
    pug_state_number(state, d->ref_known ? d->ref : 0);
    pug_state_number(state, d->ref_known);
    pug_state_number(state, (uint64_t)d->full);
    pug_state_number(state, d->branch.valid);
    if (d->branch.valid) {
        pug_state_number(state, d->branch.type);
        pug_state_number(state, d->branch.btype);
        pug_state_number(state, d->branch.icnt);
        pug_state_number(state, d->branch.hist);
    }
    if (!d->config->implicit_return) /* every return has its own address */
        return;
    uint32_t depth = d->config->stack_depth;
    pug_state_number(state, d->stack_count);
    for (uint32_t i = 0; i < d->stack_count; i++)
        pug_state_number(state, d->stack[(d->stack_top + depth - i) % depth]);
}

/** Of the message before, only its index is kept: the end of the trace is reported there. */
void pug_ntrace_decoder_state(const void *data, struct pug_state *state)
{
    const struct pug_ntrace_decoder *d = data;
    pug_state_number(state, d->started);
    pug_state_number(state, !d->started && d->was_reset);
    pug_state_number(state, d->index);
    pug_state_number(state, d->lost);
    pug_state_number(state, d->synced);
    if (d->synced)
        put_flow(d, state);
}

/** A sync message sets all of it. */
bool pug_ntrace_self_synced(const void *decoder)
{
    const struct pug_ntrace_decoder *d = decoder;
    return d->started && d->synced && d->pc_known;
}
