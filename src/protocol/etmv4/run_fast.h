// SPDX-License-Identifier: MIT
/**
 * @file The fast path's loop, in each of the ways that fast_path.c and run_fast_turns.c have of it.
 * What a way does not need is not asked for there: arguments that are constant choose.
 */
#ifndef PUG_PROTOCOL_ETMV4_RUN_FAST_H
#define PUG_PROTOCOL_ETMV4_RUN_FAST_H

#include "protocol/etmv4/fast_path.h"
#include "protocol/etmv4/marks.h"

/* The most atoms in a packet, and the EXCEPTION_RET that may follow the last. */
#define PUG_ETMV4_PACKET_ELEMENTS 25u

/** Atoms and addresses that they ask for: there are no marks and no addresses besides. */
static inline bool pug_etmv4_is_plain(const struct pug_etmv4_decoder *d)
{
    return !pug_etmv4_counts_cycles(d) && !d->config->timestamps && !d->config->broadcast;
}

/**
 * The trace index of the range that was put down last: `ran`, where it was delivered or counted.
 */
static inline uint64_t pug_etmv4_last_index(const struct pug_batch *batch,
                                            const struct pug_element *end, uint64_t ran,
                                            const enum pug_want want)
{
    return want != PUG_WANT_COUNTS && end > batch->elements ? end[-1].index : ran;
}

/**
 * Deliver. True: the consumer just goes on, and what the fast path knows of the map still holds. (A
 * call would keep `end` and `ran` in memory.)
 */
static inline __attribute__((always_inline)) bool pug_etmv4_deliver(struct pug_etmv4_decoder *d,
                                                                    struct pug_element **end,
                                                                    uint32_t epoch, uint64_t *ran,
                                                                    const enum pug_want want)
{
    struct pug_batch *batch = d->stage->out.batch;
    *ran = pug_etmv4_last_index(batch, *end, *ran, want);
    batch->count = (uint32_t)(*end - batch->elements);
    pug_batch_give(batch);
    *end = pug_etmv4_batch_end(batch);
    return batch->response == PUG_RESP_CONT && d->map->epoch == epoch &&
           !pug_codemap_outdated(d->map);
}

/* ---- calls and returns, where the unit has a return stack ---- */

/** Does the block after a branch depend on the return stack, or does the branch itself? */
static inline bool pug_etmv4_uses_stack(const struct pug_etmv4_decoder *d,
                                        const struct pug_block *from, bool taken)
{
    return taken && (from->last_type == PUG_INSTR_BR ? from->insn.link
                                                     : pug_etmv4_asks_for_address(d, from, taken));
}

static inline void pug_etmv4_push_call(struct pug_etmv4_decoder *d, const struct pug_block *from)
{
    if (from->insn.link)
        pug_etmv4_push_return(d, from->end, from->isa);
}

/**
 * Returns the target of a taken branch for which no address packet exists; NULL: use the slow path.
 */
static inline const struct pug_block *pug_etmv4_pass_branch(struct pug_etmv4_decoder *d,
                                                            const struct pug_block *from)
{
    struct pug_etmv4_return_stack *returns = &d->returns;
    const struct pug_insn *insn = &from->insn;
    const struct pug_block *block;
    if (insn->type == PUG_INSTR_BR) {
        block = pug_codemap_jumped(d->map, insn->target, insn->next_isa);
        if (block)
            pug_etmv4_push_call(d, from);
        return block;
    }
    if (insn->link || returns->count == 0)
        return NULL;
    block = pug_codemap_jumped(d->map, returns->entries[returns->head].address,
                               returns->entries[returns->head].isa);
    if (block)
        pug_etmv4_drop_return(returns);
    return block;
}

static inline bool pug_etmv4_is_jump(const struct pug_block *from, bool taken)
{
    return taken && from->last_type == PUG_INSTR_BR;
}

/**
 * The block at an address that says where a direct branch went, although the walk knew it (branch
 * broadcasting); `block`: the target as the walk knows it. NULL: that takes a closer look.
 */
static inline const struct pug_block *
pug_etmv4_told_block(const struct pug_etmv4_decoder *d, const struct pug_block *from, bool taken,
                     const struct pug_etmv4_pending_target *target, const struct pug_block *block)
{
    const struct pug_insn *insn = &from->insn;
    if (!pug_etmv4_is_jump(from, taken) || insn->target != target->value ||
        insn->next_isa != pug_etmv4_isa(d, target->is))
        return NULL;
    return block ? block : pug_etmv4_aimed_at(d, target);
}

/* ---- the fast path ---- */

/** Atoms were executed after the pending target. */
static inline void pug_etmv4_pass_target(struct pug_etmv4_decoder *d,
                                         struct pug_etmv4_pending_target *target,
                                         const struct pug_block *from, bool stack)
{
    if (stack)
        pug_etmv4_push_call(d, from);
    target->open = false;
    d->returns.wait_address = false;
}

/**
 * Stops before a packet that is for read() and decode(), or in one of atoms: then the answer is
 * what is left of these. With EACH, elements are delivered after each packet; with COUNTS, ranges
 * go into the chain, and where another element than a mark comes between, that is the end.
 */
static inline __attribute__((always_inline)) uint32_t
pug_etmv4_run_fast(struct pug_etmv4_reader *r, struct pug_etmv4_decoder *d, struct pug_span *span,
                   struct pug_etmv4_pending_target *kept, struct pug_chain *chain,
                   struct pug_etmv4_marks *marks, const enum pug_want want, const bool stack,
                   const bool turns)
{
    struct pug_batch *const batch = d->stage->out.batch;
    const struct pug_element *const full =
        &batch->elements[batch->limit + PUG_OUT_STEP - PUG_ETMV4_PACKET_ELEMENTS -
                         (marks ? PUG_ETMV4_MARKS : 0)];
    const struct pug_range_context context = pug_range_context(&d->stage->out.blank);
    const struct pug_etmv4_header *const headers = r->config->headers;
    const pug_etmv4_forms forms = pug_etmv4_forms_of(r);
    const struct pug_run run = *span->run;
    const uint8_t *at = span->at, *const end = turns ? pug_span_last(span) : span->end;
    struct pug_element *element = pug_etmv4_batch_end(batch);
    const struct pug_block *block = NULL, *from = NULL; /* without `from` the place is known */
    struct pug_etmv4_pending_target target = *kept;
    uint64_t index = d->index, ran = index, atoms = 1, taken = 0;
    bool goes_on = true;                      /* as the last delivery says */
    uint32_t epoch = d->map->epoch, told = 0; /* of counts: marks in the batch */
    while (at < end) {
        if (turns && at >= span->end)
            pug_span_end_turns(span, at + 1, (uint32_t)(element - batch->elements));
        const struct pug_etmv4_header *const header = &headers[*at];
        if (!pug_etmv4_is_atoms(*at)) {
            if (marks && marks->count > 0 && target.open && pug_etmv4_is_address(*at))
                break; /* both addresses wait, and what is between them */
            const size_t size = pug_etmv4_take_address(r, forms, (uint16_t)pug_etmv4_ahead(at, end),
                                                       at, end, &target.value);
            if (size == 0 && marks) {
                const uint64_t own = pug_run_index(&run, at);
                const size_t more = pug_etmv4_take_mark(r, d, header, own, at, end, marks);
                if (more == 0)
                    break;
                if (turns && at + more > span->end)
                    pug_span_end_turns(span, at + more, (uint32_t)(element - batch->elements));
                index = own;
                at += more;
                continue;
            }
            if (size == 0)
                break;
            if (turns && at + size > span->end)
                pug_span_end_turns(span, at + size, (uint32_t)(element - batch->elements));
            index = target.index = pug_run_index(&run, at);
            target.open = true;
            target.is = d->last_is = r->stack[PUG_ETMV4_REGISTER].is;
            at += size;
            if (from && pug_etmv4_asks_for_address(d, from, taken))
                block = pug_etmv4_aimed_at(d, &target);
            else
                block = marks && from ? pug_etmv4_told_block(d, from, taken, &target, block) : NULL;
            continue;
        }
        if (element > full && (stack ? from : block) &&
            !pug_etmv4_deliver(d, &element, epoch, &ran, want))
            break;
        index = pug_run_index(&run, at++);
        atoms = header->atoms;
        if (marks)
            element = pug_etmv4_put_waiting(d, marks, element,
                                            from ? from->isa : d->stage->out.blank.isa);
        if (marks && want == PUG_WANT_COUNTS && marks->put > 0)
            pug_chain_tally(chain, batch, marks->put);
        told = (uint32_t)(element - batch->elements);
        if (block && target.open)
            pug_etmv4_pass_target(d, &target, from, stack);
        const uint8_t *const turn = span->end;
        do {
            if (stack && !block && from && !target.open && pug_etmv4_uses_stack(d, from, taken))
                block = pug_etmv4_pass_branch(d, from);
            if (!block) {
                if (from)
                    element = pug_etmv4_leave(d, chain, element, from, taken,
                                              pug_etmv4_last_index(batch, element, ran, want));
                from = NULL;
                batch->count = (uint32_t)(element - batch->elements);
                const bool ends = want == PUG_WANT_COUNTS && batch->count > told;
                block = ends ? NULL : pug_etmv4_enter(d, &target, index);
                element = pug_etmv4_batch_end(batch);
                told = batch->count;
                epoch = d->map->epoch;
                if (!block)
                    break;
            }
            /* Loop over the atoms of this packet and the next ones, and over addresses that they
             * need. The trace decides what comes next before the block does, because the block
             * needs the one before it. The other order is 5 % slower. */
            for (;;) {
                for (;;) {
                    taken = atoms & 1;
                    atoms >>= 1;
                    if (want == PUG_WANT_COUNTS)
                        pug_chain_hop(chain, block, taken);
                    else
                        pug_block_range(element++, block, index, &context, taken);
                    from = block;
                    block = block->links[taken];
                    if (atoms == 1)
                        break;
                    if (!pug_block_hops(block, epoch) && !(block = pug_block_regain(d->map, block)))
                        goto out;
                }
                if (want == PUG_WANT_EACH) {
                    if (!pug_block_hops(block, epoch) &&
                        !pug_etmv4_asks_for_address(d, from, taken))
                        break;
                    goes_on = pug_etmv4_deliver(d, &element, epoch, &ran, want);
                }
                if (at >= turn || !goes_on)
                    break;
                if (!pug_etmv4_is_atoms(*at)) {
                    if (pug_block_hops(block, epoch) || !pug_etmv4_asks_for_address(d, from, taken))
                        break;
                    const size_t size = pug_etmv4_take_address(
                        r, forms, (uint16_t)pug_etmv4_ahead(at, turn), at, turn, &target.value);
                    if (size == 0)
                        break;
                    index = target.index = pug_run_index(&run, at);
                    target.is = d->last_is = r->stack[PUG_ETMV4_REGISTER].is;
                    at += size;
                    block = pug_etmv4_aimed_at(d, &target);
                    target.open = true;
                    if (!block || at >= turn || !pug_etmv4_is_atoms(*at) || element > full)
                        break;
                    pug_etmv4_pass_target(d, &target, from, stack);
                } else if (element > full || (!pug_block_hops(block, epoch) &&
                                              !(block = pug_block_regain(d->map, block))))
                    break;
                index = pug_run_index(&run, at);
                atoms = headers[*at++].atoms;
            }
        out:
            if (block && !pug_block_hops(block, epoch))
                block = pug_block_regain(d->map, block);
            if (want == PUG_WANT_COUNTS)
                ran = index;
        } while (atoms > 1);
        if (atoms > 1)
            break;
        if (!block && !pug_etmv4_asks_for_address(d, from, taken) &&
            !(stack && pug_etmv4_uses_stack(d, from, taken)) &&
            !(marks && d->config->broadcast && pug_etmv4_is_jump(from, taken)) && from) {
            element = pug_etmv4_leave(d, chain, element, from, taken,
                                      pug_etmv4_last_index(batch, element, ran, want));
            from = NULL;
            if (want == PUG_WANT_COUNTS && batch->count > told)
                break; /* count an EXCEPTION_RET before the next packet */
        }
        if (want == PUG_WANT_EACH && goes_on && element > batch->elements)
            goes_on = pug_etmv4_deliver(d, &element, epoch, &ran, want);
        if (!goes_on)
            break;
    }
    batch->count = (uint32_t)(element - batch->elements);
    if (from)
        pug_etmv4_leave(d, chain, element, from, taken,
                        pug_etmv4_last_index(batch, element, ran, want));
    pug_etmv4_show_address(r);
    d->index = index;
    span->at = at;
    *kept = target;
    return atoms > 1 ? (uint32_t)atoms : 0;
}

#endif
