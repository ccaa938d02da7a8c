// SPDX-License-Identifier: MIT
/** @file What of a reader and a decoder later packets depend on, written for comparison. */
#include "protocol/etmv4/etmv4.h"

typedef struct pug_etmv4_reader reader;
typedef struct pug_etmv4_decoder decoder;

/* ---- the reader ---- */

static void put_address(struct pug_state *state, const struct pug_etmv4_address *address)
{
    pug_state_number(state, address->value);
    pug_state_number(state, address->size | address->valid_bits << 8 | address->pkt_bits << 16 |
                                address->is << 24);
}

/** The registers that packets build on. Does not write what each packet sets before use. */
static void put_registers(struct pug_state *state, const reader *r)
{
    const struct pug_etmv4_packet *packet = &r->packet;
    const uint32_t of_one_packet =
        PUG_ETMV4_HAS_CYCLE_COUNT | PUG_ETMV4_HAS_COMMIT | PUG_ETMV4_HAS_CANCEL;
    const bool timed = !r->info_seen || (packet->valid & PUG_ETMV4_HAS_TIMESTAMP);
    /* the words of a TRACE_INFO that has none tell the one before, though it counts no more */
    const bool threshold = (packet->valid & PUG_ETMV4_HAS_CC_THRESHOLD) || !r->stage->unwatched;
    const struct pug_etmv4_context *context = &packet->context;
    pug_state_number(state, packet->valid & ~of_one_packet);
    pug_state_number(state, r->info_seen);
    for (unsigned i = 0; i <= PUG_ETMV4_REGISTER; i++)
        put_address(state, &r->stack[i]);
    pug_state_number(state, timed ? packet->timestamp : 0);
    pug_state_number(state, threshold ? packet->cc_threshold : 0);
    if (!(packet->valid & PUG_ETMV4_HAS_CONTEXT))
        return;
    pug_state_number(state, (unsigned)context->el | (unsigned)context->sf << 2 |
                                (unsigned)context->ns << 3 | (unsigned)context->nse << 4);
    /* its ids matter only in its own packet */
}

/** The search for the first ASYNC. */
static void put_hunt(struct pug_state *state, const reader *r)
{
    pug_state_number(state, r->unsynced_told);
    pug_state_number(state, r->hunting);
    pug_state_number(state, r->hunt);
    pug_state_number(state, r->hunt_type);
    pug_state_number(state, r->dump);
    pug_state_number(state, r->index);
    pug_state_number(state, r->next_index);
    pug_state_number(state, r->held);
    for (unsigned i = 0; i < r->held; i++)
        pug_state_number(state, r->indexes[i]);
    pug_state_put(state, r->bytes, r->held);
}

/** A packet that is not whole. */
static void put_held(struct pug_state *state, const reader *r)
{
    pug_state_number(state, r->index);
    pug_state_number(state, (uint64_t)(r->header - r->config->headers));
    pug_state_number(state, r->fields);
    pug_state_number(state, r->have);
    pug_state_number(state, r->rest);
    pug_state_number(state, r->held);
    pug_state_put(state, r->bytes, r->held);
}

void pug_etmv4_reader_state(const void *reader_, struct pug_state *state)
{
    const reader *r = reader_;
    pug_state_number(state, r->special & ~(unsigned)PUG_ETMV4_USED);
    put_registers(state, r);
    if (r->special & PUG_ETMV4_UNSYNCED)
        put_hunt(state, r);
    else if (r->special & PUG_ETMV4_HELD)
        put_held(state, r);
}

/* ---- the decoder ---- */

static void put_queue(struct pug_state *state, const struct pug_etmv4_queue *queue)
{
    uint32_t count = pug_etmv4_queue_count(queue);
    pug_state_number(state, count);
    for (uint32_t i = 0; i < count; i++) {
        const struct pug_etmv4_p0 *p0 = pug_etmv4_queue_at(queue, i);
        pug_state_number(state, p0->index);
        pug_state_number(state, p0->value);
        pug_state_number(state, p0->bits);
        pug_state_number(state, p0->kind | p0->count << 8 | p0->is << 16);
        pug_state_number(state, p0->flags | p0->el << 8);
    }
}

static void put_returns(struct pug_state *state, const struct pug_etmv4_return_stack *returns)
{
    const unsigned room = PUG_ETMV4_RETURNS;
    pug_state_number(state, returns->wait_address);
    pug_state_number(state, returns->count);
    for (unsigned i = 0; i < returns->count; i++) {
        unsigned at = (returns->head + room - i) % room;
        pug_state_number(state, returns->entries[at].address);
        pug_state_number(state, returns->entries[at].isa);
    }
}

/**
 * Between two packets nothing is being resolved. The code map's context is what the elements carry;
 * the block at hand follows from address, instruction set and IT state.
 */
void pug_etmv4_decoder_state(const void *decoder_, struct pug_state *state)
{
    const decoder *d = decoder_;
    const bool resolving = d->state == PUG_ETMV4_RESOLVE || d->source.active || d->drain;
    state->failed |= resolving || d->ending;
    pug_state_number(state, d->state);
    pug_state_number(state, d->state == PUG_ETMV4_NO_SYNC ? d->reason : 0);
    pug_state_number(state, d->index);
    put_queue(state, &d->queue);
    pug_state_number(state, (uint64_t)d->depth);
    pug_state_number(state, d->pending_address);
    pug_state_number(state, d->blocked);
    pug_state_number(state, d->isa);
    pug_state_number(state, d->it);
    pug_state_number(state, d->address);
    pug_state_number(state, d->space);
    pug_state_number(state, d->is64);
    pug_state_number(state, d->last_is);
    pug_state_number(state, d->prev_overflow);
    pug_state_number(state, d->config->marker_used && d->marker_seen);
    pug_state_number(state, d->expect_valid);
    pug_state_number(state, d->expect_valid ? d->expect : 0);
    put_returns(state, &d->returns);
}

/**
 * A context and an address follow each TRACE_INFO; in code that is not known the next address is
 * waited for again. The first marker, from which on timestamps count, may have come long ago, as
 * calls may that return; and how much is speculated adds up, of a trace that lost a commit for
 * good.
 */
bool pug_etmv4_self_synced(const void *decoder_)
{
    const decoder *d = decoder_;
    return d->state == PUG_ETMV4_DECODE && d->config->idr8 == 0 &&
           !(d->blocked & PUG_ETMV4_NEED_CONTEXT) &&
           (!(d->blocked & PUG_ETMV4_NEED_ADDRESS) || d->address != 0) &&
           (!d->config->marker_used || d->marker_seen) &&
           (!d->config->return_stack || d->returns.known ||
            d->stage->quirks.etm4_info_empties_stack);
}
