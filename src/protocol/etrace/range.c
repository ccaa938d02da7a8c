// SPDX-License-Identifier: MIT
/** @file Elements of a walk: ranges, and what ends the flow. */
#include "protocol/etrace/walk.h"

#include "base/text.h"

#include <inttypes.h>

static void push_range(struct pug_etrace_decoder *d, uint64_t start, uint32_t count,
                       const struct pug_insn *last, uint64_t end, bool executed)
{
    struct pug_batch *batch = d->out->batch;
    pug_range_fill(&batch->elements[batch->count++], &d->out->blank, d->index, start, end, count,
                   last, (uint8_t)d->isa, executed);
    if (last->kind == PUG_RV_XRET)
        pug_out_push(d->out, PUG_ELEM_EXCEPTION_RET, d->index);
    if (d->data_counts)
        pug_etrace_data_range(d, start, count);
}

void pug_etrace_flush_range(struct pug_etrace_decoder *d, const struct pug_insn *last, uint64_t end,
                            bool executed)
{
    struct pug_etrace_walk *w = &d->walk;
    if (w->range_count > 0)
        push_range(d, w->range_start, w->range_count, last, end, executed);
    w->range_count = 0;
}

/** Make `e` a range that ends with the instruction at pc, the first one of `block`. */
static void fill_to_pc(struct pug_etrace_decoder *d, struct pug_element *e, uint64_t start,
                       uint32_t count, const struct pug_block *block)
{
    const struct pug_range_context context = pug_range_context(&d->out->blank);
    pug_block_range(e, block, d->index, &context,
                    !pug_etrace_is_branch(block) || pug_etrace_peek_outcome(d, d->pc));
    e->start = start;
    e->end = d->pc + block->first_size;
    e->count = count;
    if (block->count == 1)
        return;
    /* the block's last instruction is another one, for which nothing waits */
    e->flags = PUG_ELEM_EXECUTED;
    e->last_type = PUG_INSTR_OTHER;
    e->last_subtype = 0;
    e->last_size = block->first_size;
}

/** … which there is more to say of. */
static bool returns_from_trap(const struct pug_block *block)
{
    return block->count == 1 && block->insn.kind == PUG_RV_XRET;
}

static void push_to_pc(struct pug_etrace_decoder *d, uint64_t start, uint32_t count,
                       const struct pug_block *block)
{
    struct pug_batch *batch = d->out->batch;
    fill_to_pc(d, &batch->elements[batch->count++], start, count, block);
    if (returns_from_trap(block))
        pug_out_push(d->out, PUG_ELEM_EXCEPTION_RET, d->index);
    if (d->data_counts)
        pug_etrace_data_range(d, start, count);
}

void pug_etrace_tell_pc(struct pug_etrace_decoder *d, const struct pug_block *block, bool counts)
{
    struct pug_element range;
    if (!counts || returns_from_trap(block)) {
        pug_etrace_count_close(d);
        pug_etrace_push_pc(d, block);
    } else if (block->count > 1) {
        fill_to_pc(d, &range, d->pc, 1, block);
        pug_chain_part(&d->chain, block, &range);
    } else {
        pug_chain_hop(&d->chain, block,
                      !pug_etrace_is_branch(block) || pug_etrace_peek_outcome(d, d->pc));
    }
}

void pug_etrace_push_pc(struct pug_etrace_decoder *d, const struct pug_block *block)
{
    push_to_pc(d, d->pc, 1, block);
}

void pug_etrace_flush_to_pc(struct pug_etrace_decoder *d, const struct pug_block *block)
{
    struct pug_etrace_walk *w = &d->walk;
    struct pug_element range;
    if (w->range_count == 0)
        w->range_start = d->pc;
    if (d->chain.paths && !returns_from_trap(block)) {
        fill_to_pc(d, &range, w->range_start, w->range_count + 1, block);
        pug_chain_part(&d->chain, pug_etrace_block(d, w->range_start), &range);
    } else {
        pug_etrace_count_close(d);
        push_to_pc(d, w->range_start, w->range_count + 1, block);
    }
    w->range_count = 0;
}

/* ---- the end of the flow ---- */

void pug_etrace_unsync(struct pug_etrace_decoder *d)
{
    d->synced = false;
    d->fresh = true;
    d->tentative = false;
    d->after_trap = false;
    pug_etrace_clear_outcomes(d);
    pug_etrace_data_uncount(d);
}

/**
 * The capture begins after the packet that says how addresses are sent, and some were taken for
 * differences that do not fit the program.
 */
static void doubt_addresses(struct pug_etrace_decoder *d)
{
    if (d->addresses == PUG_ETRACE_ADDRESSES_AS_SAID || d->unsaid == 0)
        return;
    d->addresses = PUG_ETRACE_ADDRESSES_SEEM_FULL;
    d->unsaid = 0;
    pug_stage_log(d->stage, d->stage->decoder_name, PUG_SEV_WARN, PUG_ERR_TRACE_MISMATCH, d->index,
                  "no support packet yet, and addresses seem to be full: what was decoded before "
                  "is doubtful");
}

void pug_etrace_fail(struct pug_etrace_decoder *d, enum pug_status code, const char *text)
{
    pug_stage_log(d->stage, d->stage->decoder_name, PUG_SEV_ERROR, code, d->index, text);
    doubt_addresses(d);
    pug_etrace_unsync(d);
    pug_out_push(d->out, PUG_ELEM_UNKNOWN, d->index);
    pug_out_push(d->out, PUG_ELEM_NO_SYNC, d->index)->reason = PUG_UNSYNC_BAD_IMAGE;
}

void pug_etrace_fail_at(struct pug_etrace_decoder *d, enum pug_status code, const char *text,
                        uint64_t address)
{
    char buffer[128];
    struct pug_text message = PUG_TEXT(buffer, sizeof(buffer));
    pug_text_format(&message, "%s at 0x%" PRIx64, text, address);
    pug_text_end(&message);
    pug_etrace_fail(d, code, buffer);
}

void pug_etrace_no_access(struct pug_etrace_decoder *d, uint64_t address)
{
    char buffer[64];
    struct pug_text message = PUG_TEXT(buffer, sizeof(buffer));
    pug_text_format(&message, "no program memory at 0x%" PRIx64, address);
    pug_text_end(&message);
    pug_stage_log(d->stage, d->stage->decoder_name, PUG_SEV_ERROR, PUG_ERR_NO_PROGRAM_MEMORY,
                  d->index, buffer);
    pug_etrace_unsync(d);
    struct pug_element *e = pug_out_push(d->out, PUG_ELEM_ADDR_NACC, d->index);
    e->start = address;
    e->number = PUG_SPACE_ANY;
}

void pug_etrace_unreadable(struct pug_etrace_decoder *d, const struct pug_block *block)
{
    if (block->ending == PUG_BLOCK_NO_ACCESS || block->status == PUG_ERR_NO_PROGRAM_MEMORY)
        pug_etrace_no_access(d, block->end);
    else
        pug_etrace_fail_at(d, (enum pug_status)block->status, "instruction that cannot be decoded",
                           block->end);
}

bool pug_etrace_report_pc(struct pug_etrace_decoder *d)
{
    const struct pug_block *block = pug_etrace_pc_block(d);
    if (block->count == 0) {
        pug_etrace_count_close(d);
        pug_etrace_unreadable(d, block);
        return false;
    }
    d->pc_size = block->first_size;
    pug_etrace_tell_pc(d, block,
                       !d->data_counts && pug_block_hops(block, d->code->epoch) &&
                           pug_etrace_may_count(d));
    return true;
}
