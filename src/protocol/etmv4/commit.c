// SPDX-License-Identifier: MIT
/** @file Committed P0 elements: addresses, contexts, and what only marks a place. */
#include "protocol/etmv4/etmv4.h"

typedef struct pug_etmv4_decoder decoder;

/* ---- elements ---- */

void pug_etmv4_put_range(decoder *d, uint64_t index, uint64_t start, uint64_t end, uint32_t count,
                         const struct pug_insn *insn, uint8_t isa, bool executed)
{
    struct pug_batch *batch = d->stage->out.batch;
    pug_range_fill(&batch->elements[batch->count++], &d->stage->out.blank, index, start, end, count,
                   insn, isa, executed);
    pug_etmv4_set_isa(d, isa);
}

void pug_etmv4_put_nacc(decoder *d, uint64_t index, uint64_t address)
{
    struct pug_element *element = pug_etmv4_push(d, PUG_ELEM_ADDR_NACC, index);
    element->start = address;
    element->number = d->space;
}

void pug_etmv4_put_context(decoder *d, uint64_t index, const struct pug_etmv4_p0 *context)
{
    struct pug_element *blank = &d->stage->out.blank;
    d->is64 = context->flags & PUG_ETMV4_SF;
    d->isa = pug_etmv4_isa(d, context->is);
    d->from = NULL;
    d->blocked &= (uint8_t)~PUG_ETMV4_NEED_CONTEXT;
    blank->isa = d->isa;
    blank->security = (uint8_t)context->bits;
    blank->level = (int8_t)context->el;
    blank->context_flags &= (uint8_t)~PUG_CTX_BITS64;
    blank->context_flags |= PUG_CTX_LEVEL | (d->is64 ? PUG_CTX_BITS64 : 0);
    if (context->flags & PUG_ETMV4_NEW_CONTEXT_ID) {
        blank->context_id = (uint32_t)context->value;
        blank->context_flags |= PUG_CTX_CONTEXT_ID;
    }
    if (context->flags & PUG_ETMV4_NEW_VMID) {
        blank->vmid = (uint32_t)(context->value >> 32);
        blank->context_flags |= PUG_CTX_VMID;
    }
    d->space = pug_space_of_level(blank->security, context->el);
    pug_codemap_moment(d->map, index);
    pug_codemap_element_space(d->map, blank, d->space);
    pug_codemap_context_changed(d->map);
    pug_etmv4_push(d, PUG_ELEM_PE_CONTEXT, index);
}

static void put_timestamp(decoder *d, const struct pug_etmv4_p0 *p0)
{
    if (d->config->marker_used && !d->marker_seen)
        return;
    struct pug_element *element = pug_etmv4_push(d, PUG_ELEM_TIMESTAMP, p0->index);
    element->timestamp = p0->value;
    if (p0->flags & PUG_ETMV4_WITH_CYCLES) {
        element->cycle_count = p0->bits;
        element->flags = PUG_ELEM_HAS_CC | PUG_ELEM_CC_APART; /* since the last CYCLE_COUNT */
    }
}

void pug_etmv4_put_event(decoder *d, const struct pug_etmv4_p0 *p0)
{
    struct pug_element *element;
    switch ((enum pug_etmv4_p0_kind)p0->kind) {
    case PUG_ETMV4_P0_EVENT:
        element = pug_etmv4_push(d, PUG_ELEM_EVENT, p0->index);
        element->reason = PUG_EVENT_NUMBERED;
        element->number = p0->bits;
        break;
    case PUG_ETMV4_P0_CYCLE_COUNT:
        element = pug_etmv4_push(d, PUG_ELEM_CYCLE_COUNT, p0->index);
        element->cycle_count = p0->bits;
        element->flags = PUG_ELEM_HAS_CC;
        break;
    case PUG_ETMV4_P0_TIMESTAMP: put_timestamp(d, p0); break;
    case PUG_ETMV4_P0_MARKER:
        pug_etmv4_push(d, PUG_ELEM_SYNC_MARKER, p0->index);
        d->marker_seen = true;
        break;
    case PUG_ETMV4_P0_ITE:
        element = pug_etmv4_push(d, PUG_ELEM_INSTRUMENTATION, p0->index);
        element->level = (int8_t)p0->el;
        element->value = p0->value;
        break;
    case PUG_ETMV4_P0_EXCEPTION_RETURN: pug_etmv4_push(d, PUG_ELEM_EXCEPTION_RET, p0->index); break;
    case PUG_ETMV4_P0_TRANSACTION:
        element = pug_etmv4_push(d, PUG_ELEM_MEMTRANS, p0->index);
        element->reason = (uint8_t)p0->bits;
        break;
    default: break;
    }
}

/* ---- the return stack ---- */

void pug_etmv4_push_return(decoder *d, uint64_t address, uint8_t isa)
{
    struct pug_etmv4_return_stack *returns = &d->returns;
    if (!d->config->return_stack || returns->wait_address)
        return;
    returns->head = (uint8_t)((returns->head + 1) % PUG_ETMV4_RETURNS);
    returns->entries[returns->head].address = address;
    returns->entries[returns->head].isa = isa;
    if (returns->count < PUG_ETMV4_RETURNS)
        returns->count++;
    d->blocked &= (uint8_t)~PUG_ETMV4_STACK_BITS;
}

void pug_etmv4_flush_returns(decoder *d)
{
    d->returns.count = 0;
    d->returns.known = true;
    d->blocked &= (uint8_t)~PUG_ETMV4_STACK_BITS;
}

void pug_etmv4_leave_handler(decoder *d)
{
    if ((d->blocked & PUG_ETMV4_POP_PENDING) && !d->stage->quirks.etm4_exception_return_pops)
        d->blocked |= PUG_ETMV4_RETURNED;
}

enum pug_etmv4_outcome pug_etmv4_pop_return(decoder *d)
{
    struct pug_etmv4_return_stack *returns = &d->returns;
    const bool asked = d->blocked & PUG_ETMV4_POP_PENDING;
    d->blocked &= (uint8_t)~PUG_ETMV4_STACK_BITS;
    if (!asked || !d->config->return_stack)
        return PUG_ETMV4_DONE;
    if (returns->count == 0)
        return pug_etmv4_fail(d, PUG_SEV_ERROR, PUG_ERR_RETURN_STACK, PUG_NO_INDEX,
                              PUG_UNSYNC_BAD_PACKET,
                              pug_quirks_any(&d->stage->quirks) /* the reference's word for it */
                                  ? "Trace Return Stack Overflow."
                                  : "Trace return stack underflow: a return, and nothing on it");
    pug_etmv4_jump(d, returns->entries[returns->head].address, returns->entries[returns->head].isa);
    pug_etmv4_drop_return(returns);
    d->blocked &= (uint8_t)~PUG_ETMV4_NEED_ADDRESS;
    return PUG_ETMV4_DONE;
}

/**
 * A TRACE_INFO stands between a branch and what follows it. Where a function returned to is taken
 * from the stack now; a stack without entries is reported when an atom comes.
 */
static void pass_trace_info(decoder *d)
{
    if (d->stage->quirks.etm4_info_empties_stack) {
        d->returns.wait_address = d->config->return_stack;
        pug_etmv4_flush_returns(d);
        return;
    }
    if ((d->blocked & PUG_ETMV4_STACK_BITS) != PUG_ETMV4_POP_PENDING || !d->config->return_stack ||
        d->returns.count == 0)
        return;
    (void)pug_etmv4_pop_return(d);
    d->blocked |= PUG_ETMV4_POPPED;
}

/**
 * The address after a TRACE_INFO differs from the stack's. So the branch before it did not return
 * to its caller, and the trace unit did not pop its stack.
 */
static void put_return_back(decoder *d, uint64_t address)
{
    struct pug_etmv4_return_stack *returns = &d->returns;
    if (address != d->address) {
        returns->head = (uint8_t)((returns->head + 1) % PUG_ETMV4_RETURNS);
        returns->count++;
    }
}

/* ---- where execution goes ---- */

void pug_etmv4_jump(decoder *d, uint64_t address, uint8_t isa)
{
    if ((address != d->address || isa != d->isa) && !d->stage->quirks.etm4_stale_it)
        d->it = 0;
    d->address = address;
    d->isa = isa;
    d->from = NULL;
}

void pug_etmv4_take_branch(decoder *d, const struct pug_insn *insn, uint64_t end)
{
    d->from = NULL;
    d->address = end;
    if (insn->type == PUG_INSTR_BR || insn->type == PUG_INSTR_BR_INDIRECT) {
        if (insn->link)
            pug_etmv4_push_return(d, end, d->isa);
        d->it = 0;
    }
    if (insn->type == PUG_INSTR_BR) {
        d->address = insn->target;
    } else if (insn->type == PUG_INSTR_BR_INDIRECT) {
        d->blocked |= PUG_ETMV4_NEED_ADDRESS | PUG_ETMV4_POP_PENDING;
        if (insn->subtype == PUG_SUB_V8_ERET)
            pug_etmv4_leave_handler(d);
    }
    d->isa = insn->next_isa;
}

/* ---- elements that wait ---- */

static void count_commit(decoder *d)
{
    d->commits--;
    d->depth--;
}

void pug_etmv4_commit_address(decoder *d, uint64_t address, uint8_t is)
{
    if (d->blocked & PUG_ETMV4_POPPED)
        put_return_back(d, address);
    d->blocked &= (uint8_t) ~(PUG_ETMV4_STACK_BITS | PUG_ETMV4_NEED_ADDRESS);
    d->returns.wait_address = false;
    /* the next place is known: a later TRACE_ON does not belong to the overflow */
    d->prev_overflow &= d->stage->quirks.etm4_stale_state;
    pug_etmv4_jump(d, address, pug_etmv4_isa(d, is));
}

static void commit_trace_on(decoder *d, const struct pug_etmv4_p0 *p0)
{
    struct pug_element *element = pug_etmv4_push(d, PUG_ELEM_TRACE_ON, p0->index);
    element->reason = d->prev_overflow ? PUG_TRACE_ON_OVERFLOW : PUG_TRACE_ON_NORMAL;
    d->prev_overflow = false;
    d->expect_valid = false;
    pug_etmv4_flush_returns(d);
    pug_codemap_moment(d->map, p0->index);
}

/** An element that one step does away with. */
static enum pug_etmv4_outcome commit_simple(decoder *d, struct pug_etmv4_p0 *p0)
{
    enum pug_etmv4_outcome outcome = PUG_ETMV4_DONE;
    switch ((enum pug_etmv4_p0_kind)p0->kind) {
    case PUG_ETMV4_P0_ADDRESS: pug_etmv4_commit_address(d, p0->value, p0->is); break;
    case PUG_ETMV4_P0_CONTEXT:
        if (p0->flags & PUG_ETMV4_UPDATED) {
            pug_etmv4_put_context(d, p0->index, p0);
            outcome = PUG_ETMV4_ROUND_ENDS;
        }
        break;
    case PUG_ETMV4_P0_TRACE_ON: commit_trace_on(d, p0); break;
    case PUG_ETMV4_P0_TRACE_INFO: pass_trace_info(d); break;
    case PUG_ETMV4_P0_EXCEPTION_RETURN:
        d->expect_valid = false;
        pug_etmv4_leave_handler(d);
        pug_etmv4_put_event(d, p0);
        break;
    case PUG_ETMV4_P0_FUNCTION_RETURN: pug_etmv4_leave_handler(d); break; /* to the secure state */
    case PUG_ETMV4_P0_TRANSACTION:
        d->expect_valid = false;
        pug_etmv4_put_event(d, p0);
        break;
    default: pug_etmv4_put_event(d, p0);
    }
    if (p0->flags & PUG_ETMV4_COUNTS)
        count_commit(d);
    d->queue.head++;
    return outcome;
}

static void commit_unseen(decoder *d, struct pug_etmv4_p0 *p0)
{
    uint32_t taken = d->commits < p0->bits ? (uint32_t)d->commits : p0->bits;
    d->commits -= taken;
    d->depth -= taken;
    p0->bits -= taken;
    if (p0->bits == 0)
        d->queue.head++;
}

/** The oldest element, or a part of it. */
static inline enum pug_etmv4_outcome commit_oldest(decoder *d)
{
    struct pug_etmv4_p0 *p0 = pug_etmv4_queue_at(&d->queue, 0);
    d->round_index = p0->index;
    if (p0->kind == PUG_ETMV4_P0_ATOM)
        return pug_etmv4_commit_atoms(d, p0);
    switch ((enum pug_etmv4_p0_kind)p0->kind) {
    case PUG_ETMV4_P0_UNSEEN: commit_unseen(d, p0); return PUG_ETMV4_DONE;
    case PUG_ETMV4_P0_EXCEPTION: return pug_etmv4_commit_exception(d);
    case PUG_ETMV4_P0_Q: return pug_etmv4_commit_q(d);
    case PUG_ETMV4_P0_SOURCE_ADDRESS: return pug_etmv4_commit_source(d);
    default: return commit_simple(d, p0);
    }
}

/** Is there more to do: commits, or elements that nothing holds back in a full queue? */
static inline bool work_left(const decoder *d)
{
    if (d->commits > 0)
        return true;
    return d->drain && pug_etmv4_queue_count(&d->queue) > 0 &&
           !(pug_etmv4_queue_at(&d->queue, 0)->flags & PUG_ETMV4_COUNTS);
}

enum pug_etmv4_outcome pug_etmv4_commit(decoder *d)
{
    while (work_left(d)) {
        if (!pug_out_ready(&d->stage->out))
            return PUG_ETMV4_SUSPENDED;
        if (pug_etmv4_queue_count(&d->queue) == 0)
            return pug_etmv4_fail(d, PUG_SEV_ERROR, PUG_ERR_COMMIT_TOO_MANY, d->round_index,
                                  PUG_UNSYNC_BAD_PACKET, "Not enough elements to commit");
        enum pug_etmv4_outcome outcome = commit_oldest(d);
        if (outcome != PUG_ETMV4_DONE)
            return outcome;
    }
    return PUG_ETMV4_DONE;
}
