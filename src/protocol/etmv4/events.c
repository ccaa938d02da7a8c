// SPDX-License-Identifier: MIT
/** @file Committed P0 elements that walk in their own way: exceptions, Q elements, sources. */
#include "isa/core_names.h"
#include "protocol/etmv4/etmv4.h"

typedef struct pug_etmv4_decoder decoder;

/** A walk failed: the reference stops for good, atoms only lose their synchronisation. */
static enum pug_etmv4_outcome fail_walk(decoder *d, enum pug_status code, uint64_t index,
                                        const char *text)
{
    if (!d->stage->quirks.etm4_walk_error_fatal)
        return pug_etmv4_fail(d, PUG_SEV_ERROR, code, index, PUG_UNSYNC_BAD_PACKET, text);
    pug_stage_log(d->stage, d->stage->decoder_name, PUG_SEV_ERROR, code, index, text);
    return PUG_ETMV4_FATAL;
}

static void finish(decoder *d, uint32_t elements)
{
    d->queue.head += elements;
    d->commits--;
    d->depth--;
}

/** Is it known where execution is? The reference goes on from where it was. */
static bool is_lost(const decoder *d)
{
    return (d->blocked & (PUG_ETMV4_NEED_ADDRESS | PUG_ETMV4_NEED_CONTEXT)) &&
           !d->stage->quirks.etm4_stale_state;
}

static uint8_t current_it(const decoder *d)
{
    return d->isa == PUG_ISA_T32 ? d->it : 0;
}

/** The n-th oldest element if it is of a kind. */
static struct pug_etmv4_p0 *element_of(decoder *d, uint32_t n, enum pug_etmv4_p0_kind kind)
{
    if (n >= pug_etmv4_queue_count(&d->queue))
        return NULL;
    struct pug_etmv4_p0 *p0 = pug_etmv4_queue_at(&d->queue, n);
    return p0->kind == kind ? p0 : NULL;
}

/* ---- exceptions ---- */

static enum pug_etmv4_outcome exception_without_address(decoder *d)
{
    enum pug_etmv4_outcome outcome =
        pug_etmv4_fail(d, PUG_SEV_ERROR, PUG_ERR_PACKET_SEQUENCE, d->index, PUG_UNSYNC_BAD_PACKET,
                       "Address missing in exception packet.");
    if (outcome == PUG_ETMV4_FAILED && d->stage->quirks.etm4_missing_address_twice)
        pug_stage_log(d->stage, d->stage->decoder_name, PUG_SEV_ERROR, PUG_ERR_COMMIT_TOO_MANY, 0,
                      "Not enough elements to commit");
    return outcome;
}

/** A PE reset says nothing of where it struck. */
static enum pug_etmv4_outcome commit_pe_reset(decoder *d, const struct pug_etmv4_p0 *p0)
{
    pug_etmv4_push(d, PUG_ELEM_EXCEPTION, p0->index)->reason = PUG_EXCEPTIONS_ARMV8;
    d->blocked |= PUG_ETMV4_NEED_ADDRESS;
    d->expect_valid = false;
    d->it = 0;
    pug_etmv4_flush_returns(d);
    finish(d, 1);
    return PUG_ETMV4_DONE;
}

/** Does a handler of an M profile core follow another one without a return between them? */
static bool is_tail_chained(const decoder *d, const struct pug_etmv4_p0 *address)
{
    const bool is_m = d->config->profile == PUG_PROFILE_M || (d->may_be_m && !d->is64);
    return is_m && address->value == 0xFFFFFFFE;
}

/**
 * Whose numbers an exception's are. T32 alone does not distinguish A profile programs from M
 * profile programs.
 */
static enum pug_exception_numbers numbers_of(const decoder *d)
{
    if (d->config->profile == PUG_PROFILE_M)
        return PUG_EXCEPTIONS_ARMV8M;
    if (!d->may_be_m || d->isa == PUG_ISA_A64 || d->isa == PUG_ISA_A32)
        return PUG_EXCEPTIONS_ARMV8;
    pug_log_profile_unknown(d->stage->log, d->stage->decoder_name);
    return PUG_EXCEPTIONS_UNNAMED;
}

/** What comes before an exception's own context: the return stack, the branch's target. */
static enum pug_etmv4_outcome begin_exception(decoder *d, struct pug_etmv4_p0 *p0,
                                              const struct pug_etmv4_p0 *context,
                                              const struct pug_etmv4_p0 *address)
{
    bool given = p0->flags & PUG_ETMV4_MATCH_PREV;
    if (address && is_tail_chained(d, address))
        pug_etmv4_leave_handler(d);
    if ((given && !d->stage->quirks.etm4_match_prev_pops) || (d->blocked & PUG_ETMV4_RETURNED))
        d->blocked &= (uint8_t)~PUG_ETMV4_STACK_BITS;
    enum pug_etmv4_outcome outcome = pug_etmv4_pop_return(d);
    if (outcome != PUG_ETMV4_DONE)
        return outcome;
    if (!address)
        return exception_without_address(d);
    p0->flags |= PUG_ETMV4_BEGUN;
    d->expect_valid = false;
    if (!given)
        return PUG_ETMV4_DONE;
    bool is64 = context ? context->flags & PUG_ETMV4_SF : d->isa == PUG_ISA_A64;
    uint8_t isa = address->is ? PUG_ISA_T32 : is64 ? PUG_ISA_A64 : PUG_ISA_A32;
    pug_etmv4_jump(d, address->value, isa);
    d->blocked &= (uint8_t)~PUG_ETMV4_NEED_ADDRESS;
    return PUG_ETMV4_DONE;
}

/** The instructions before an exception, up to its return address. */
static enum pug_etmv4_outcome walk_to_exception(decoder *d, uint64_t index, uint64_t stop)
{
    struct pug_code_walk walk;
    uint8_t isa = d->isa;
    (d->stage->quirks.etm4_walks_over_return ? pug_codemap_walk_to : pug_codemap_walk_before)(
        d->map, d->address, (enum pug_isa)isa, current_it(d), stop, pug_walk_bound(d->stage),
        &walk);
    enum pug_status status = walk.status;
    bool nacc = status == PUG_ERR_NO_PROGRAM_MEMORY;
    if (status == PUG_ERR_LIMIT)
        status = PUG_ERR_RANGE_LIMIT;
    if (pug_etmv4_over_limit(d, walk.count, walk.count + nacc) &&
        (status == PUG_OK || nacc || !d->stage->quirks.etm4_limit_runs_on))
        status = PUG_ERR_RANGE_LIMIT;
    if (status == PUG_ERR_UNSUPPORTED_ISA) {
        pug_stage_log(d->stage, d->stage->decoder_name, PUG_SEV_WARN, status, index,
                      "Warning: unsupported instruction set processing exception packet.");
        return PUG_ETMV4_FATAL;
    }
    if (status != PUG_OK && status != PUG_ERR_NO_PROGRAM_MEMORY)
        return fail_walk(d, status, index, "Error processing exception packet.");
    d->from = NULL;
    d->address = walk.end;
    d->it = walk.it;
    if (walk.count > 0)
        pug_etmv4_put_range(d, index, walk.start, walk.end, walk.count, &walk.insn, isa, true);
    if (nacc) {
        d->blocked |= PUG_ETMV4_NEED_ADDRESS;
        pug_etmv4_put_nacc(d, index, walk.end);
    } else if (walk.count > 0) {
        d->isa = walk.insn.next_isa;
    }
    return PUG_ETMV4_DONE;
}

/**
 * EXCEPTION, perhaps CONTEXT, ADDRESS: in two steps, so that the context is known to the consumer
 * before memory is read in it.
 */
enum pug_etmv4_outcome pug_etmv4_commit_exception(decoder *d)
{
    struct pug_etmv4_p0 *p0 = pug_etmv4_queue_at(&d->queue, 0);
    if (p0->flags & PUG_ETMV4_NO_ADDRESS)
        return commit_pe_reset(d, p0);
    const struct pug_etmv4_p0 *context = element_of(d, 1, PUG_ETMV4_P0_CONTEXT);
    const struct pug_etmv4_p0 *address = element_of(d, context ? 2 : 1, PUG_ETMV4_P0_ADDRESS);
    if (!(p0->flags & PUG_ETMV4_BEGUN)) {
        enum pug_etmv4_outcome outcome = begin_exception(d, p0, context, address);
        if (outcome != PUG_ETMV4_DONE)
            return outcome;
        if (context) {
            pug_etmv4_put_context(d, p0->index, context);
            return PUG_ETMV4_DONE;
        }
    }
    uint64_t target = address->value;
    bool tail = is_tail_chained(d, address);
    if (d->address < target && !tail && !is_lost(d)) {
        enum pug_etmv4_outcome outcome = walk_to_exception(d, p0->index, target);
        if (outcome != PUG_ETMV4_DONE)
            return outcome;
    }
    struct pug_element *element = pug_etmv4_push(d, PUG_ELEM_EXCEPTION, p0->index);
    element->number = p0->bits;
    element->reason = (uint8_t)numbers_of(d);
    element->end = target;
    element->flags = tail ? PUG_ELEM_M_TAIL_CHAIN : PUG_ELEM_RET_ADDR;
    if (p0->flags & PUG_ETMV4_MATCH_PREV)
        element->flags |= PUG_ELEM_RET_ADDR_BR_TGT;
    d->it = 0;
    d->from = NULL;
    finish(d, context ? 3 : 2);
    return PUG_ETMV4_DONE;
}

/* ---- straight code, piece by piece ---- */

/** A piece of straight code: a whole block, or one instruction. */
struct piece {
    uint64_t end;
    uint32_t count;
    struct pug_insn insn; /**< the last */
};

/**
 * The next piece from `at` on, not beyond `end` and not more than `most` instructions (but at least
 * one). PUG_OK, PUG_ERR_NO_PROGRAM_MEMORY, or what is wrong.
 */
static enum pug_status next_piece(decoder *d, uint64_t at, uint64_t end, uint32_t most, uint8_t *it,
                                  struct piece *piece)
{
    const struct pug_block *block = pug_codemap_block(d->map, at, (enum pug_isa)d->isa, *it);
    if (block->count > 0 && block->count <= most && block->end - at <= end - at) {
        *piece = (struct piece){.end = block->end, .count = block->count, .insn = block->insn};
        *it = block->it_out;
        return PUG_OK;
    }
    enum pug_status status = pug_codemap_insn(d->map, at, (enum pug_isa)d->isa, it, &piece->insn);
    piece->count = 1;
    piece->end = at + piece->insn.size;
    return status;
}

/* ---- Q elements ---- */

static bool is_branch(const struct pug_insn *insn)
{
    return insn->type == PUG_INSTR_BR || insn->type == PUG_INSTR_BR_INDIRECT;
}

/** Walk `wanted` instructions or to a branch; what was walked is in `walked`. */
static enum pug_status walk_q(decoder *d, uint32_t wanted, struct piece *walked)
{
    uint8_t it = current_it(d);
    struct piece piece;
    *walked = (struct piece){.end = d->address};
    while (walked->count < wanted && !is_branch(&walked->insn)) {
        if (walked->count > pug_walk_bound(d->stage))
            return PUG_ERR_RANGE_LIMIT;
        enum pug_status status =
            next_piece(d, walked->end, UINT64_MAX, wanted - walked->count, &it, &piece);
        if (status != PUG_OK)
            return status;
        piece.count += walked->count;
        *walked = piece;
    }
    d->it = it;
    return PUG_OK;
}

/** The elements of a Q element. */
static enum pug_etmv4_outcome put_q(decoder *d, const struct pug_etmv4_p0 *p0, uint64_t address,
                                    uint8_t isa)
{
    struct piece walked;
    uint64_t start = d->address;
    uint32_t wanted = p0->bits;
    enum pug_status status = walk_q(d, wanted, &walked);
    if (status != PUG_OK && status != PUG_ERR_NO_PROGRAM_MEMORY)
        return fail_walk(d, status, p0->index, "Error processing Q packet");
    if (wanted > 0 && walked.count == wanted &&
        (walked.end == address || is_branch(&walked.insn))) {
        pug_etmv4_put_range(d, p0->index, start, walked.end, walked.count, &walked.insn, d->isa,
                            true);
        return PUG_ETMV4_DONE;
    }
    d->stage->out.blank.isa = isa;
    struct pug_element *element = pug_etmv4_push(d, PUG_ELEM_I_RANGE_NOPATH, p0->index);
    element->start = start;
    element->end = address;
    element->count = wanted;
    return PUG_ETMV4_DONE;
}

/** Q with its address, or Q, perhaps CONTEXT, ADDRESS; the context then belongs to what follows. */
enum pug_etmv4_outcome pug_etmv4_commit_q(decoder *d)
{
    struct pug_etmv4_p0 *p0 = pug_etmv4_queue_at(&d->queue, 0), *context = NULL, *from = p0;
    if (!d->stage->quirks.etm4_stale_state) {
        enum pug_etmv4_outcome outcome = pug_etmv4_pop_return(d);
        if (outcome != PUG_ETMV4_DONE)
            return outcome;
    }
    if (p0->flags & PUG_ETMV4_NO_ADDRESS) {
        context = element_of(d, 1, PUG_ETMV4_P0_CONTEXT);
        from = element_of(d, context ? 2 : 1, PUG_ETMV4_P0_ADDRESS);
        if (!from)
            return fail_walk(d, PUG_ERR_PACKET_SEQUENCE, p0->index, "Address missing in Q packet.");
    }
    uint64_t address = from->value;
    uint8_t isa = pug_etmv4_isa(d, from->is);
    d->expect_valid = false;
    if (!is_lost(d)) {
        enum pug_etmv4_outcome outcome = put_q(d, p0, address, isa);
        if (outcome != PUG_ETMV4_DONE)
            return outcome;
    }
    pug_etmv4_jump(d, address, isa);
    d->blocked &= (uint8_t)~PUG_ETMV4_NEED_ADDRESS;
    if (context)
        *from = *context; /* the oldest again */
    finish(d, context ? 2 : from == p0 ? 1 : 2);
    if (d->stage->quirks.etm4_q_eats_element && pug_etmv4_queue_count(&d->queue) > 0)
        d->queue.head++;
    return PUG_ETMV4_DONE;
}

/* ---- source addresses ---- */

/** Read the instruction at the source address and find where its range begins. */
static enum pug_etmv4_outcome begin_source(decoder *d, const struct pug_etmv4_p0 *p0)
{
    struct pug_etmv4_source_walk *source = &d->source;
    const struct pug_stage *stage = d->stage;
    if (!stage->quirks.etm4_source_is_bare) {
        enum pug_etmv4_outcome outcome = pug_etmv4_pop_return(d);
        if (outcome != PUG_ETMV4_DONE)
            return outcome;
    }
    d->expect_valid = false;
    if ((d->blocked & PUG_ETMV4_NEED_CONTEXT) && !stage->quirks.etm4_stale_state) {
        finish(d, 1);
        return PUG_ETMV4_DONE;
    }
    uint8_t it = current_it(d);
    enum pug_status status =
        pug_codemap_insn(d->map, p0->value, (enum pug_isa)d->isa, &it, &source->insn);
    d->from = NULL;
    if (status == PUG_ERR_NO_PROGRAM_MEMORY) {
        pug_etmv4_put_nacc(d, p0->index, p0->value);
        if (!stage->quirks.etm4_stale_state)
            d->blocked |= PUG_ETMV4_NEED_ADDRESS;
        finish(d, 1);
        return PUG_ETMV4_DONE;
    }
    if (status != PUG_OK)
        return fail_walk(d, status, p0->index,
                         status == PUG_ERR_INVALID_OPCODE || status == PUG_ERR_UNSUPPORTED_ISA
                             ? "Instruction decode error processing source address packet."
                             : "Mem access error processing source address packet.");
    d->it = it;
    bool lost = (d->blocked & PUG_ETMV4_NEED_ADDRESS) || d->address > p0->value;
    d->blocked &= (uint8_t)~PUG_ETMV4_NEED_ADDRESS;
    source->active = true;
    source->start = source->at = lost ? p0->value : d->address;
    source->end = p0->value + source->insn.size;
    source->count = 1;
    source->it = 0;
    if (source->end - source->start <= source->insn.size) {
        source->at = source->end;
    } else if (d->isa != PUG_ISA_T32 && !stage->options.split_source_address) {
        uint64_t bytes = source->end - source->start;
        if (stage->quirks.etm4_source_32_bits)
            bytes &= UINT32_MAX;
        source->count = (uint32_t)(bytes / 4);
        source->at = source->end;
    } else {
        source->count = 0;
    }
    return PUG_ETMV4_ROUND_ENDS;
}

/** One piece further towards the source; true where a range ends before it. */
static enum pug_status walk_source(decoder *d, const struct pug_etmv4_p0 *p0, bool *split,
                                   struct piece *piece)
{
    struct pug_etmv4_source_walk *source = &d->source;
    enum pug_status status = next_piece(d, source->at, source->end, UINT32_MAX, &source->it, piece);
    if (status == PUG_ERR_NO_PROGRAM_MEMORY) {
        pug_etmv4_put_nacc(d, p0->index, p0->value);
        source->start = p0->value;
        source->at = source->end;
        source->count = 1;
        return PUG_OK;
    }
    if (status != PUG_OK)
        return status;
    source->at = piece->end;
    source->count += piece->count;
    *split = d->stage->options.split_source_address && piece->insn.type != PUG_INSTR_OTHER &&
             source->at < source->end;
    return source->count > pug_walk_bound(d->stage) ? PUG_ERR_RANGE_LIMIT : PUG_OK;
}

/** The last range, and the branch that ends it. */
static void finish_source(decoder *d, const struct pug_etmv4_p0 *p0)
{
    struct pug_etmv4_source_walk *source = &d->source;
    const struct pug_insn *insn = &source->insn;
    uint8_t isa = d->isa;
    source->active = false;
    pug_etmv4_take_branch(d, insn, source->end);
    if (d->stage->quirks.etm4_source_next_isa)
        isa = insn->next_isa;
    pug_etmv4_put_range(d, p0->index, source->start, source->end, source->count, insn, isa, true);
    if (insn->subtype == PUG_SUB_V8_ERET && !d->stage->quirks.etm4_source_is_bare)
        pug_etmv4_push(d, PUG_ELEM_EXCEPTION_RET, p0->index);
    finish(d, 1);
}

enum pug_etmv4_outcome pug_etmv4_commit_source(decoder *d)
{
    const struct pug_etmv4_p0 *p0 = pug_etmv4_queue_at(&d->queue, 0);
    struct pug_etmv4_source_walk *source = &d->source;
    if (!source->active) {
        enum pug_etmv4_outcome outcome = begin_source(d, p0);
        if (outcome != PUG_ETMV4_ROUND_ENDS)
            return outcome;
    }
    while (source->at < source->end) {
        struct piece piece;
        bool split = false;
        enum pug_status status = walk_source(d, p0, &split, &piece);
        if (status != PUG_OK)
            return fail_walk(d, status, p0->index,
                             "Instruction decode error processing source address packet.");
        if (!split)
            continue;
        pug_etmv4_put_range(d, p0->index, source->start, source->at, source->count, &piece.insn,
                            d->isa, false);
        source->start = source->at;
        source->count = 0;
        if (!pug_out_ready(&d->stage->out))
            return PUG_ETMV4_SUSPENDED;
    }
    finish_source(d, p0);
    return PUG_ETMV4_DONE;
}
