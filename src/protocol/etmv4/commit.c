// SPDX-License-Identifier: MIT
/** @file Committed P0 elements: atoms, addresses, contexts, and what only marks a place. */
#include "protocol/etmv4/etmv4.h"

typedef struct pug_etmv4_decoder decoder;

/* ---- elements ---- */

static inline void fill_range(struct pug_element *element, uint64_t index, uint64_t start,
                              uint64_t end, uint32_t count, const struct pug_insn *insn,
                              bool executed)
{
    element->type = PUG_ELEM_INSTR_RANGE;
    element->index = index;
    element->start = start;
    element->end = end;
    element->count = count;
    element->flags =
        (uint16_t)(executed * PUG_ELEM_EXECUTED + insn->conditional * PUG_ELEM_CONDITIONAL);
    element->last_type = insn->type;
    element->last_subtype = insn->subtype;
    element->last_size = insn->size;
}

/** The ISA of the elements from here on. Not stored without need: the copy of `blank` would wait.
 */
static inline void set_isa(decoder *d, uint8_t isa)
{
    if (d->stage->out.blank.isa != isa)
        d->stage->out.blank.isa = isa;
}

void pug_etmv4_put_range(decoder *d, uint64_t index, uint64_t start, uint64_t end, uint32_t count,
                         const struct pug_insn *insn, uint8_t isa, bool executed)
{
    set_isa(d, isa);
    fill_range(pug_etmv4_push(d, PUG_ELEM_INSTR_RANGE, index), index, start, end, count, insn,
               executed);
}

void pug_etmv4_put_nacc(decoder *d, uint64_t index, uint64_t address)
{
    struct pug_element *element = pug_etmv4_push(d, PUG_ELEM_ADDR_NACC, index);
    element->start = address;
    element->number = d->space;
}

/** The memory space of a security state and exception level. */
static uint8_t space_of(uint8_t security, uint8_t el)
{
    static const uint8_t spaces[4][4] = {
        [PUG_SEC_SECURE] = {PUG_SPACE_EL1S, PUG_SPACE_EL1S, PUG_SPACE_EL2S, PUG_SPACE_EL3},
        [PUG_SEC_NONSECURE] = {PUG_SPACE_EL1N, PUG_SPACE_EL1N, PUG_SPACE_EL2, PUG_SPACE_EL3},
        [PUG_SEC_ROOT] = {PUG_SPACE_ROOT, PUG_SPACE_ROOT, PUG_SPACE_ROOT, PUG_SPACE_ROOT},
        [PUG_SEC_REALM] = {PUG_SPACE_EL1R, PUG_SPACE_EL1R, PUG_SPACE_EL2R, PUG_SPACE_ROOT},
    };
    return spaces[security & 3][el & 3];
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
    d->space = space_of(blank->security, context->el);
    pug_codemap_space(d->map, &(struct pug_reader_space){
                                  .space = d->space,
                                  .has_context_id = blank->context_flags & PUG_CTX_CONTEXT_ID,
                                  .has_vmid = blank->context_flags & PUG_CTX_VMID,
                                  .context_id = blank->context_id,
                                  .vmid = blank->vmid,
                              });
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
        element->flags = PUG_ELEM_HAS_CC;
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
    case PUG_ETMV4_P0_TRANSACTION:
        element = pug_etmv4_push(d, PUG_ELEM_MEMTRANS, p0->index);
        element->reason = (uint8_t)p0->bits;
        break;
    default: break;
    }
}

/* ---- the return stack ---- */

#define RETURNS                                                                                    \
    (sizeof(((decoder *)0)->returns.entries) / sizeof(((decoder *)0)->returns.entries[0]))

static void push_return(decoder *d, uint64_t address, uint8_t isa)
{
    struct pug_etmv4_return_stack *returns = &d->returns;
    if (!d->config->return_stack || returns->wait_address)
        return;
    returns->head = (uint8_t)((returns->head + 1) % RETURNS);
    returns->entries[returns->head].address = address;
    returns->entries[returns->head].isa = isa;
    if (returns->count < RETURNS)
        returns->count++;
    d->blocked &= (uint8_t)~PUG_ETMV4_POP_PENDING;
}

void pug_etmv4_flush_returns(decoder *d)
{
    d->returns.count = 0;
    d->blocked &= (uint8_t)~PUG_ETMV4_POP_PENDING;
}

enum pug_etmv4_outcome pug_etmv4_pop_return(decoder *d)
{
    struct pug_etmv4_return_stack *returns = &d->returns;
    if (!(d->blocked & PUG_ETMV4_POP_PENDING))
        return PUG_ETMV4_DONE;
    d->blocked &= (uint8_t)~PUG_ETMV4_POP_PENDING;
    if (returns->count == 0)
        return pug_etmv4_fail(d, PUG_SEV_ERROR, PUG_ERR_RET_STACK_OVERFLOW, PUG_NO_INDEX,
                              PUG_UNSYNC_BAD_PACKET, "Trace Return Stack Overflow.");
    pug_etmv4_jump(d, returns->entries[returns->head].address, returns->entries[returns->head].isa);
    returns->head = (uint8_t)((returns->head + RETURNS - 1) % RETURNS);
    returns->count--;
    d->blocked &= (uint8_t)~PUG_ETMV4_NEED_ADDRESS;
    return PUG_ETMV4_DONE;
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
            push_return(d, end, d->isa);
        d->it = 0;
    }
    if (insn->type == PUG_INSTR_BR) {
        d->address = insn->target;
    } else if (insn->type == PUG_INSTR_BR_INDIRECT) {
        d->blocked |= PUG_ETMV4_NEED_ADDRESS;
        if (d->config->return_stack)
            d->blocked |= PUG_ETMV4_POP_PENDING;
    }
    d->isa = insn->next_isa;
}

/** The block at the current address: along the link of the block before where that holds. */
static inline const struct pug_block *current_block(decoder *d)
{
    if (d->from && d->epoch == d->map->epoch)
        return pug_block_follow(d->map, d->from, d->from_taken);
    return pug_codemap_block(d->map, d->address, (enum pug_isa)d->isa,
                             d->isa == PUG_ISA_T32 ? d->it : 0);
}

/** Behind a block: its branch is taken, or not. */
static inline void leave_block(decoder *d, uint64_t index, const struct pug_block *block,
                               bool taken)
{
    d->address = block->end;
    if (taken) {
        pug_etmv4_take_branch(d, &block->insn, block->end);
        if (block->insn.subtype == PUG_SUB_V8_ERET && d->config->ete)
            pug_etmv4_push(d, PUG_ELEM_EXCEPTION_RET, index);
        if (block->insn.type == PUG_INSTR_BR_INDIRECT)
            return;
        taken = block->insn.type == PUG_INSTR_BR;
    }
    if (!taken)
        d->it = block->isa == PUG_ISA_T32 ? block->it_out : 0;
    d->from = block;
    d->from_taken = taken;
    d->epoch = d->map->epoch;
}

/* ---- checks ---- */

static void log_overruns(decoder *d, uint32_t lines)
{
    for (uint32_t i = 0; i < lines; i++)
        pug_log_put(d->stage->log,
                    &(struct pug_log_record){.severity = PUG_SEV_ERROR,
                                             .code = PUG_ERR_I_RANGE_LIMIT_OVERRUN,
                                             .index = PUG_NO_INDEX,
                                             .source = PUG_NO_SOURCE,
                                             .component = d->stage->decoder_name,
                                             .text = "Decode Instruction Range Limit Overrun"});
}

bool pug_etmv4_over_limit(decoder *d, uint32_t count, uint32_t steps)
{
    uint32_t limit = d->stage->options.range_limit;
    if (limit == 0 || count <= limit)
        return count > PUG_WALK_BOUND;
    log_overruns(d, d->stage->quirks.etm4_limit_runs_on ? steps - limit : 1);
    return true;
}

/** What an option asks of a range that ends in a waypoint; NULL: nothing is wrong. */
static const char *wrong_range(decoder *d, const struct pug_block *block, uint64_t start,
                               bool taken)
{
    const struct pug_decode_options *options = &d->stage->options;
    const struct pug_insn *insn = &block->insn;
    bool skip =
        taken || insn->conditional || (options->check_skips_thumb && block->isa == PUG_ISA_T32);
    if (!skip && insn->type == PUG_INSTR_BR &&
        (options->check_strict_branch ||
         (options->check_direct_branch && insn->target != block->end)))
        return "Bad program image - N Atom on unconditional direct BR.\n";
    if (!skip && insn->type == PUG_INSTR_BR_INDIRECT && options->check_strict_branch)
        return "Bad program image - N Atom on unconditional indirect BR.\n";
    if (options->check_range_continuity && d->expect_valid && d->expect != start)
        return "Discontinuous ranges - Inconsistent program image for decode\n";
    d->expect_valid = !taken;
    d->expect = block->end;
    return NULL;
}

/* ---- atoms ---- */

static inline void count_commit(decoder *d)
{
    d->commits--;
    d->depth--;
}

/** The walk found no waypoint: memory ends, or an opcode is in error. */
static enum pug_etmv4_outcome no_waypoint(decoder *d, uint64_t index, uint64_t start,
                                          uint32_t count, const struct pug_block *block,
                                          const struct pug_insn *before)
{
    bool error = block->ending == PUG_BLOCK_ERROR;
    enum pug_status code = PUG_ERR_I_RANGE_LIMIT_OVERRUN;
    bool over = pug_etmv4_over_limit(d, count, count + !error);
    if (error && (!over || d->stage->quirks.etm4_limit_runs_on))
        code = (enum pug_status)block->status;
    if (code == PUG_ERR_UNSUPPORTED_ISA) {
        pug_stage_log(d->stage, d->stage->decoder_name, PUG_SEV_WARN, code, index,
                      "Warning: unsupported instruction set processing atom packet.");
        d->blocked |= PUG_ETMV4_NEED_ADDRESS | PUG_ETMV4_NEED_CONTEXT;
        return PUG_ETMV4_DONE;
    }
    if (error || over)
        return pug_etmv4_fail(d, PUG_SEV_ERROR, code, index, PUG_UNSYNC_BAD_PACKET,
                              "Error processing atom packet.");
    d->blocked |= PUG_ETMV4_NEED_ADDRESS;
    d->expect_valid = false;
    d->address = block->end;
    d->it = block->it_out;
    d->from = NULL;
    if (count > 0)
        pug_etmv4_put_range(d, index, start, block->end, count,
                            block->count > 0 ? &block->insn : before, block->isa, true);
    pug_etmv4_put_nacc(d, index, block->end);
    return PUG_ETMV4_DONE;
}

/** A range that is no plain block: of several blocks, without a waypoint, or to be checked. */
static PUG_NOINLINE enum pug_etmv4_outcome commit_unusual(decoder *d, uint64_t index, bool taken,
                                                          const struct pug_block *block)
{
    uint64_t start = d->address;
    uint32_t count = block->count;
    struct pug_insn before = {0};
    while (block->ending == PUG_BLOCK_LONG && count <= PUG_WALK_BOUND) {
        before = block->insn;
        block = pug_block_follow(d->map, block, false);
        count += block->count;
    }
    if (block->ending != PUG_BLOCK_FLOW)
        return no_waypoint(d, index, start, count, block, &before);
    if (pug_etmv4_over_limit(d, count, count))
        return pug_etmv4_fail(d, PUG_SEV_ERROR, PUG_ERR_I_RANGE_LIMIT_OVERRUN, index,
                              PUG_UNSYNC_BAD_PACKET, "Error processing atom packet.");
    const char *wrong = wrong_range(d, block, start, taken);
    if (wrong)
        return pug_etmv4_fail(d, PUG_SEV_ERROR, PUG_ERR_BAD_DECODE_IMAGE, index,
                              PUG_UNSYNC_BAD_IMAGE, wrong);
    pug_etmv4_put_range(d, index, start, block->end, count, &block->insn, block->isa, taken);
    leave_block(d, index, block, taken);
    return PUG_ETMV4_DONE;
}

/** An atom that something stands in the way of: then it says nothing, or the return stack helps. */
static PUG_NOINLINE enum pug_etmv4_outcome clear_way(decoder *d)
{
    enum pug_etmv4_outcome outcome = pug_etmv4_pop_return(d);
    if (outcome != PUG_ETMV4_DONE)
        return outcome;
    return d->blocked ? PUG_ETMV4_RUN_ENDS : PUG_ETMV4_DONE;
}

/**
 * Plain ranges, from the current block on along the links, as many as there is room for in the
 * batch: all that the loop needs is in registers. Ends before a block that is not plain or not
 * linked yet, and behind a branch of whose target the program says nothing. How many it did.
 */
static inline uint32_t hop(decoder *d, uint64_t index, uint32_t bits, uint32_t most,
                           const struct pug_block *block)
{
    struct pug_batch *batch = d->stage->out.batch;
    struct pug_element *const first = &batch->elements[batch->count], *element = first;
    const struct pug_element *last = first + most;
    const struct pug_block *from;
    const uint32_t epoch = d->map->epoch;
    uint64_t address = d->address;
    const struct pug_element *const blank = &d->stage->out.blank;
    const uint8_t isa = blank->isa;
    bool taken, goes_on = true;
    if (last > &batch->elements[batch->limit])
        last = &batch->elements[batch->limit];
    do {
        taken = bits & 1;
        bits >>= 1;
        *element = *blank;
        fill_range(element++, index, address, block->end, block->count, &block->insn, taken);
        address = pug_block_next(block, taken);
        from = block;
        block = pug_block_linked(from, taken, epoch);
        const unsigned unusual = (from->insn.type ^ PUG_INSTR_BR) | from->insn.link;
        if (unusual & (0u - taken)) {
            goes_on = from->insn.type == PUG_INSTR_BR;
            if (!goes_on)
                break;
            push_return(d, from->end, isa);
        }
    } while (element < last && block && pug_block_flows(block, isa));
    batch->count += (uint32_t)(element - first);
    d->run_pushed += (uint32_t)(element - first);
    d->isa = isa;
    if (!goes_on) {
        leave_block(d, index, from, true);
    } else {
        d->address = address;
        d->from = from;
        d->from_taken = taken;
        d->epoch = epoch;
        d->isa = taken ? from->insn.next_isa : isa;
        d->it = !taken && isa == PUG_ISA_T32 ? from->it_out : 0;
    }
    return (uint32_t)(element - first);
}

enum pug_etmv4_outcome pug_etmv4_take_atoms(decoder *d, uint64_t index, uint32_t bits,
                                            uint32_t most, uint32_t *done)
{
    for (*done = 0; *done < most;) {
        if (!pug_out_ready(&d->stage->out))
            return PUG_ETMV4_SUSPENDED;
        if (d->blocked) {
            enum pug_etmv4_outcome outcome = clear_way(d);
            if (outcome == PUG_ETMV4_RUN_ENDS) {
                *done = most;
                return PUG_ETMV4_DONE;
            }
            if (outcome != PUG_ETMV4_DONE)
                return outcome;
        }
        const struct pug_block *block = current_block(d);
        if (block->ending == PUG_BLOCK_FLOW && !d->checks) {
            set_isa(d, block->isa);
            *done += hop(d, index, bits >> *done, most - *done, block);
            continue;
        }
        enum pug_etmv4_outcome outcome = commit_unusual(d, index, bits >> *done & 1, block);
        if (outcome != PUG_ETMV4_DONE)
            return outcome;
        ++*done;
    }
    return PUG_ETMV4_DONE;
}

static enum pug_etmv4_outcome commit_atoms(decoder *d, struct pug_etmv4_p0 *p0)
{
    uint32_t most = d->commits < p0->count ? (uint32_t)d->commits : p0->count, done;
    enum pug_etmv4_outcome outcome = pug_etmv4_take_atoms(d, p0->index, p0->bits, most, &done);
    if (outcome != PUG_ETMV4_DONE && outcome != PUG_ETMV4_SUSPENDED)
        return outcome;
    d->commits -= done;
    d->depth -= done;
    p0->bits >>= done;
    p0->count = (uint8_t)(p0->count - done);
    d->queue.head += p0->count == 0;
    return outcome;
}

/* ---- other elements ---- */

void pug_etmv4_commit_address(decoder *d, const struct pug_etmv4_p0 *p0)
{
    d->blocked &= (uint8_t) ~(PUG_ETMV4_POP_PENDING | PUG_ETMV4_NEED_ADDRESS);
    d->returns.wait_address = false;
    pug_etmv4_jump(d, p0->value, pug_etmv4_isa(d, p0->is));
}

static void commit_trace_on(decoder *d, const struct pug_etmv4_p0 *p0)
{
    struct pug_element *element = pug_etmv4_push(d, PUG_ELEM_TRACE_ON, p0->index);
    element->reason = d->prev_overflow ? PUG_TRACE_ON_OVERFLOW : PUG_TRACE_ON_NORMAL;
    d->prev_overflow = false;
    d->expect_valid = false;
    pug_etmv4_flush_returns(d);
}

/** An element that one step does away with. */
static enum pug_etmv4_outcome commit_simple(decoder *d, struct pug_etmv4_p0 *p0)
{
    enum pug_etmv4_outcome outcome = PUG_ETMV4_DONE;
    switch ((enum pug_etmv4_p0_kind)p0->kind) {
    case PUG_ETMV4_P0_ADDRESS: pug_etmv4_commit_address(d, p0); break;
    case PUG_ETMV4_P0_CONTEXT:
        if (p0->flags & PUG_ETMV4_UPDATED) {
            pug_etmv4_put_context(d, p0->index, p0);
            outcome = PUG_ETMV4_RUN_ENDS;
        }
        break;
    case PUG_ETMV4_P0_TRACE_ON: commit_trace_on(d, p0); break;
    case PUG_ETMV4_P0_TRACE_INFO:
        d->returns.wait_address = true;
        pug_etmv4_flush_returns(d);
        break;
    case PUG_ETMV4_P0_EXCEPTION_RETURN:
        d->expect_valid = false;
        pug_etmv4_push(d, PUG_ELEM_EXCEPTION_RET, p0->index);
        break;
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
    d->run_index = p0->index;
    if (p0->kind == PUG_ETMV4_P0_ATOM)
        return commit_atoms(d, p0);
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
            return pug_etmv4_fail(d, PUG_SEV_ERROR, PUG_ERR_COMMIT_PKT_OVERRUN, d->run_index,
                                  PUG_UNSYNC_BAD_PACKET, "Not enough elements to commit");
        enum pug_etmv4_outcome outcome = commit_oldest(d);
        if (outcome != PUG_ETMV4_DONE)
            return outcome;
    }
    return PUG_ETMV4_DONE;
}
