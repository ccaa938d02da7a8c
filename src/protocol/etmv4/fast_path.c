// SPDX-License-Identifier: MIT
/**
 * @file The fast path: atoms and addresses from bytes to elements at once, packet after packet,
 * where nothing is speculated (enum pug_etmv4_commit_mode).
 *
 * On the fast path the decoder's own place is out of date: where execution is, `from`, the last
 * block, and `block`, the next one, tell. pug_etmv4_leave() brings the place up to date,
 * pug_etmv4_enter() finds the block at it; between them an atom is a hop, and an address a look
 * into the table of jumps. A taken call pushes its return address when execution continues after
 * it, or in pug_etmv4_leave().
 */
#include "protocol/etmv4/run_fast.h"

#include <assert.h>

typedef struct pug_etmv4_decoder decoder;
typedef struct pug_etmv4_reader reader;

static_assert(PUG_ETMV4_PACKET_ELEMENTS + PUG_ETMV4_MARKS - PUG_OUT_STEP < 16,
              "a batch has room for a packet");

/* ---- addresses ---- */

static struct pug_etmv4_pending_target take_target(decoder *d)
{
    if (d->commit_mode != PUG_ETMV4_AIMED)
        return (struct pug_etmv4_pending_target){0};
    const struct pug_etmv4_p0 *p0 = pug_etmv4_queue_at(&d->queue, 0);
    d->queue.head++;
    return (struct pug_etmv4_pending_target){
        .open = true, .is = p0->is, .value = p0->value, .index = p0->index};
}

static void leave_target(decoder *d, const struct pug_etmv4_pending_target *target)
{
    if (target->open)
        pug_etmv4_enqueue_address(d, target->index, target->value, target->is);
    d->commit_mode = target->open ? PUG_ETMV4_AIMED : PUG_ETMV4_DIRECT;
}

/* ---- marks ---- */

/** Leaves the rest waiting, in its order. */
static void leave_waiting(decoder *d, const struct pug_etmv4_pending_target *target,
                          const struct pug_etmv4_marks *marks)
{
    unsigned i = 0;
    for (; i < marks->count && (!target->open || marks->waiting[i].index < target->index); i++)
        pug_etmv4_enqueue_mark(d, &marks->waiting[i]);
    leave_target(d, target);
    for (; i < marks->count; i++)
        pug_etmv4_enqueue_mark(d, &marks->waiting[i]);
    if (marks->count > 0)
        pug_etmv4_set_commit_mode(d);
}

/* ---- onto the fast path and off it ---- */

const struct pug_block *pug_etmv4_enter(decoder *d, struct pug_etmv4_pending_target *target,
                                        uint64_t index)
{
    struct pug_batch *batch = d->stage->out.batch;
    if (target->open)
        pug_etmv4_commit_address(d, target->value, target->is);
    target->open = false;
    d->index = index;
    if (d->returns.count > 0)
        (void)pug_etmv4_pop_return(d);
    const struct pug_block *block = d->blocked ? NULL : pug_etmv4_block(d);
    if (block && !pug_block_hops(block, d->map->epoch)) {
        d->unusual = block;
        return NULL;
    }
    const bool room = batch->response < PUG_RESP_WAIT &&
                      (batch->count + PUG_ETMV4_PACKET_ELEMENTS + PUG_ETMV4_MARKS <=
                           batch->limit + PUG_OUT_STEP ||
                       batch->flush(batch));
    return room ? block : NULL;
}

struct pug_element *pug_etmv4_leave(decoder *d, struct pug_chain *chain, struct pug_element *end,
                                    const struct pug_block *from, bool taken, uint64_t index)
{
    struct pug_batch *batch = d->stage->out.batch;
    if (chain)
        pug_chain_break(chain);
    batch->count = (uint32_t)(end - batch->elements);
    pug_etmv4_set_isa(d, from->isa);
    d->isa = from->isa;
    pug_etmv4_leave_block(d, index, from, taken);
    return pug_etmv4_batch_end(batch);
}

static inline __attribute__((always_inline)) uint32_t
run_fast_want(reader *r, decoder *d, struct pug_span *span, struct pug_etmv4_pending_target *target,
              struct pug_etmv4_marks *marks, const enum pug_want want)
{
    if (d->config->return_stack)
        return pug_etmv4_run_fast(r, d, span, target, NULL, marks, want, true, false);
    return pug_etmv4_run_fast(r, d, span, target, NULL, marks, want, false, false);
}

static inline __attribute__((always_inline)) uint32_t
run_fast_any(reader *r, decoder *d, struct pug_span *span, struct pug_etmv4_pending_target *target,
             struct pug_etmv4_marks *marks, const enum pug_want want)
{
    if (want == PUG_WANT_BATCH && span->turns)
        return pug_etmv4_run_fast_turns(r, d, span, target, marks);
    return pug_etmv4_is_plain(d) ? run_fast_want(r, d, span, target, NULL, want)
                                 : run_fast_want(r, d, span, target, marks, want);
}

/** By a quirk an error takes ranges back, as long as they are elements. */
static bool can_count(const decoder *d)
{
    return !d->stage->quirks.etm4_error_drops_run;
}

static bool can_count_paths(const decoder *d)
{
    return d->stage->paths && !d->config->return_stack && !pug_codemap_is_volatile(d->map) &&
           pug_paths_begin(d->stage->paths, &d->stage->out.blank);
}

/**
 * Count by paths. Where cycles are counted or every target needs its own element, make elements.
 */
static uint32_t count_any(reader *r, decoder *d, struct pug_span *span,
                          struct pug_etmv4_pending_target *target, struct pug_etmv4_marks *marks)
{
    const bool stack = d->config->return_stack, times = d->config->timestamps;
    struct pug_chain chain;
    uint32_t left;
    /* where timestamps tell cycles they are off the fast path */
    if (!pug_etmv4_counts_cycles(d) && !d->config->broadcast && can_count_paths(d))
        return pug_etmv4_count(r, d, span, target, times && !d->config->cycle_count ? marks : NULL);
    if (!pug_chain_begin(&chain, d->stage))
        return run_fast_any(r, d, span, target, marks, PUG_WANT_BATCH);
    if (pug_etmv4_is_plain(d))
        left = pug_etmv4_run_fast(r, d, span, target, &chain, NULL, PUG_WANT_COUNTS, stack, false);
    else
        left = pug_etmv4_run_fast(r, d, span, target, &chain, marks, PUG_WANT_COUNTS, stack, false);
    pug_chain_end(&chain);
    return left;
}

/* ---- all fast paths ---- */

/** Is it the next byte's turn? Before ranges are counted all elements that came earlier are. */
static bool is_ready(const reader *r, decoder *d, const uint8_t *at, enum pug_want want)
{
    struct pug_batch *batch = d->stage->out.batch;
    if (r->special || d->commit_mode == PUG_ETMV4_QUEUES)
        return false;
    if (d->commit_mode == PUG_ETMV4_MARKED && (!pug_etmv4_is_atoms(*at) || !pug_etmv4_put_marks(d)))
        return false;
    if (want == PUG_WANT_COUNTS && batch->count > 0)
        (void)batch->flush(batch);
    return batch->response < PUG_RESP_WAIT;
}

/** How many at the end of the batch are of `done` atoms of a packet, and of marks before them. */
static uint32_t elements_of(const decoder *d, uint32_t done, uint32_t marks)
{
    const struct pug_batch *batch = d->stage->out.batch;
    uint32_t first = batch->count;
    for (; first > 0 && done > 0; first--)
        done -= batch->elements[first - 1].type == PUG_ELEM_INSTR_RANGE;
    return batch->count - (first > marks ? first - marks : 0);
}

static inline __attribute__((always_inline)) enum pug_response
run_fast_all(reader *r, decoder *d, struct pug_span *span, const enum pug_want want)
{
    if (span->at == span->end || !is_ready(r, d, span->at, want))
        return PUG_RESP_CONT;
    struct pug_etmv4_pending_target target = take_target(d);
    struct pug_etmv4_marks marks;
    marks.count = marks.put = 0;
    const uint32_t left = want == PUG_WANT_COUNTS ? count_any(r, d, span, &target, &marks)
                                                  : run_fast_any(r, d, span, &target, &marks, want);
    leave_waiting(d, &target, &marks);
    if (left == 0)
        return want == PUG_WANT_EACH ? d->stage->out.batch->response : PUG_RESP_CONT;
    const struct pug_etmv4_header *header = &r->config->headers[span->at[-1]];
    r->packet.type = header->type;
    pug_etmv4_set_atoms(&r->packet, header);
    const uint32_t done = header->atom_count - (31u - (uint32_t)__builtin_clz(left));
    return pug_etmv4_decode_rest(d, &r->packet, done, elements_of(d, done, marks.put));
}

enum pug_response pug_etmv4_fast_path(void *reader_state, void *state, struct pug_span *span,
                                      enum pug_want want)
{
    reader *r = reader_state;
    if (r->special & PUG_ETMV4_UNSYNCED)
        pug_etmv4_pass_over_noise(r, span);
    switch (want) {
    case PUG_WANT_COUNTS:
        if (!can_count(state))
            return run_fast_all(reader_state, state, span, PUG_WANT_BATCH);
        return run_fast_all(reader_state, state, span, PUG_WANT_COUNTS);
    case PUG_WANT_BATCH: return run_fast_all(reader_state, state, span, PUG_WANT_BATCH);
    case PUG_WANT_EACH: return run_fast_all(reader_state, state, span, PUG_WANT_EACH);
    case PUG_WANT_MARKS: pug_etmv4_scan_marks(reader_state, span); break;
    }
    return PUG_RESP_CONT;
}
