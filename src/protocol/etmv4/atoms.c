// SPDX-License-Identifier: MIT
/** @file Atoms: each is a range of instructions up to the next waypoint. */
#include "protocol/etmv4/etmv4.h"

typedef struct pug_etmv4_decoder decoder;

/* ---- where execution is ---- */

const struct pug_block *pug_etmv4_block(decoder *d)
{
    if (d->from && d->epoch == d->map->epoch)
        return pug_block_follow(d->map, d->from, d->from_taken);
    return pug_codemap_block(d->map, d->address, (enum pug_isa)d->isa,
                             d->isa == PUG_ISA_T32 ? d->it : 0);
}

void pug_etmv4_leave_block(decoder *d, uint64_t index, const struct pug_block *block, bool taken)
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
                                             .code = PUG_ERR_RANGE_LIMIT,
                                             .index = PUG_NO_INDEX,
                                             .source = PUG_NO_SOURCE,
                                             .component = d->stage->decoder_name,
                                             .text = "Decode Instruction Range Limit Overrun"});
}

bool pug_etmv4_over_limit(decoder *d, uint32_t count, uint32_t steps)
{
    uint32_t limit = d->stage->options.range_limit;
    if (limit == 0 || count <= limit)
        return count > pug_walk_bound(d->stage);
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
    d->expect_valid = options->check_range_continuity && !taken;
    d->expect = block->end;
    return NULL;
}

/* ---- atoms ---- */

/** The walk found no waypoint: memory ends, or an opcode is in error. */
static enum pug_etmv4_outcome no_waypoint(decoder *d, uint64_t index, uint64_t start,
                                          uint32_t count, const struct pug_block *block,
                                          const struct pug_insn *before)
{
    bool error = block->ending == PUG_BLOCK_ERROR;
    enum pug_status code = PUG_ERR_RANGE_LIMIT;
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

/** The range of one atom. SUSPENDED: to find its block, others were delivered, and are waited for.
 */
static enum pug_etmv4_outcome commit_range(decoder *d, uint64_t index, bool taken)
{
    const struct pug_block *block = d->unusual ? d->unusual : pug_etmv4_block(d);
    uint64_t start = d->address;
    uint32_t count = block->count;
    d->unusual = NULL;
    if (!pug_out_ready(&d->stage->out))
        return PUG_ETMV4_SUSPENDED;
    struct pug_insn before = {0};
    const uint32_t bound = pug_walk_bound(d->stage);
    while (block->ending == PUG_BLOCK_LONG && count <= bound) {
        before = block->insn;
        block = pug_block_follow(d->map, block, false);
        count += block->count;
    }
    if (block->ending != PUG_BLOCK_FLOW)
        return no_waypoint(d, index, start, count, block, &before);
    if (pug_etmv4_over_limit(d, count, count))
        return pug_etmv4_fail(d, PUG_SEV_ERROR, PUG_ERR_RANGE_LIMIT, index, PUG_UNSYNC_BAD_PACKET,
                              "Error processing atom packet.");
    const char *wrong = wrong_range(d, block, start, taken);
    if (wrong)
        return pug_etmv4_fail(d, PUG_SEV_ERROR, PUG_ERR_WRONG_PROGRAM, index, PUG_UNSYNC_BAD_IMAGE,
                              wrong);
    pug_etmv4_put_range(d, index, start, block->end, count, &block->insn, block->isa, taken);
    pug_etmv4_leave_block(d, index, block, taken);
    return PUG_ETMV4_DONE;
}

/* ---- any atoms ---- */

/** The unit left out where an indirect branch went: it had a return stack. */
static void log_stackless(decoder *d, uint64_t index)
{
    if (!d->stage->quirks.silent_stack)
        pug_stage_log(
            d->stage, d->stage->decoder_name, PUG_SEV_WARN, PUG_ERR_TRACE_SETTINGS, index,
            "where an indirect branch went is not told, as by a unit with a return stack, "
            "which is off: bit 12 of TRCCONFIGR");
}

/** Let the return stack help an atom. ROUND_ENDS: where execution is is not known all the same. */
static inline enum pug_etmv4_outcome clear_way(decoder *d, uint64_t index)
{
    if (!d->blocked)
        return PUG_ETMV4_DONE;
    const bool asks = d->blocked & PUG_ETMV4_POP_PENDING;
    enum pug_etmv4_outcome outcome = pug_etmv4_pop_return(d);
    if (outcome != PUG_ETMV4_DONE || !d->blocked)
        return outcome;
    if (asks)
        log_stackless(d, index);
    return PUG_ETMV4_ROUND_ENDS;
}

enum pug_etmv4_outcome pug_etmv4_take_atoms(decoder *d, uint64_t index, uint32_t bits,
                                            uint32_t most, uint32_t *done)
{
    for (; *done < most; ++*done) {
        if (!pug_out_ready(&d->stage->out))
            return PUG_ETMV4_SUSPENDED;
        enum pug_etmv4_outcome outcome = clear_way(d, index);
        if (outcome == PUG_ETMV4_DONE)
            outcome = commit_range(d, index, bits >> *done & 1);
        if (outcome != PUG_ETMV4_DONE && outcome != PUG_ETMV4_ROUND_ENDS)
            return outcome;
    }
    return PUG_ETMV4_DONE;
}

enum pug_etmv4_outcome pug_etmv4_commit_atoms(decoder *d, struct pug_etmv4_p0 *p0)
{
    uint32_t most = d->commits < p0->count ? (uint32_t)d->commits : p0->count, done = 0;
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
