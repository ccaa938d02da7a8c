// SPDX-License-Identifier: MIT
/** @file PTM: from one waypoint to the next. */
#include "protocol/ptm/decoder.h"

#include <stdio.h>

/** A stretch of instructions; `insn` is the last one. */
struct stretch {
    uint64_t end;
    uint32_t count;
    uint8_t it; /**< after it */
    struct pug_insn insn;
};

/** Most instructions of a walk. */
static uint32_t walk_limit(const struct pug_ptm_decoder *decoder)
{
    uint32_t limit = decoder->stage->options.range_limit;
    return limit && !decoder->stage->quirks.ptm_waypoint_unbounded ? limit
                                                                   : pug_walk_bound(decoder->stage);
}

/* ---- return stack ---- */

void pug_ptm_push(struct pug_ptm_decoder *decoder, uint64_t address, uint8_t isa)
{
    struct pug_ptm_stack *stack = &decoder->stack;
    if (!decoder->config->return_stack)
        return;
    stack->top = (stack->top + 1) % PUG_PTM_STACK_ENTRIES;
    stack->entries[stack->top].address = address;
    stack->entries[stack->top].isa = isa;
    if (stack->count < PUG_PTM_STACK_ENTRIES)
        stack->count++;
}

bool pug_ptm_pop(struct pug_ptm_decoder *decoder)
{
    struct pug_ptm_stack *stack = &decoder->stack;
    if (stack->count == 0)
        return false;
    decoder->address = stack->entries[stack->top].address;
    decoder->isa = stack->entries[stack->top].isa;
    decoder->has_address = true;
    stack->top = (stack->top + PUG_PTM_STACK_ENTRIES - 1) % PUG_PTM_STACK_ENTRIES;
    stack->count--;
    return true;
}

/* ---- elements ---- */

static struct pug_element *put_range(struct pug_ptm_decoder *decoder, uint64_t start, uint8_t isa,
                                     const struct stretch *stretch, bool executed)
{
    struct pug_element *element = pug_ptm_put(decoder, PUG_ELEM_INSTR_RANGE);
    const struct pug_insn *insn = &stretch->insn;
    element->start = start;
    element->end = stretch->end;
    element->count = stretch->count;
    element->isa = isa;
    element->last_type = insn->type;
    element->last_subtype = insn->subtype;
    element->last_size = insn->size;
    element->flags =
        (executed ? PUG_ELEM_EXECUTED : 0) | (insn->conditional ? PUG_ELEM_CONDITIONAL : 0);
    return element;
}

/** The ISA that elements without one of their own carry. */
static void tell_isa(struct pug_ptm_decoder *decoder, uint8_t walked)
{
    bool silent = decoder->stage->quirks.ptm_silent_context;
    decoder->stage->out.blank.isa = silent ? walked : decoder->isa;
}

/** Report what was walked, and then the memory that is missing. */
static void not_accessible(struct pug_ptm_decoder *decoder, const struct pug_ptm_walk *walk,
                           const struct stretch *stretch)
{
    if (stretch->count > 0) {
        put_range(decoder, decoder->address, decoder->isa, stretch, true);
        tell_isa(decoder, decoder->isa);
    }
    struct pug_element *element = pug_ptm_put(decoder, PUG_ELEM_ADDR_NACC);
    element->start = stretch->end;
    element->number = pug_armv7_space(decoder->stage, &decoder->config->registers);
    if (!decoder->stage->quirks.ptm_cycles_lost)
        pug_ptm_put_cycles(element, walk->packet);
    decoder->has_address = false;
}

/* ---- trouble ---- */

/** Log `what` went wrong in which packet; the address is unknown from here on. */
static void complain(struct pug_ptm_decoder *decoder, enum pug_severity severity,
                     enum pug_status status, const char *what, const char *packet)
{
    char text[96];
    snprintf(text, sizeof(text), "%s %s packet.", what, packet);
    decoder->has_address = false;
    pug_armv7_deliver(decoder->stage);
    pug_stage_log(decoder->stage, decoder->stage->decoder_name, severity, status, decoder->index,
                  text);
}

static enum pug_response error(struct pug_ptm_decoder *decoder, enum pug_status status,
                               const char *what, const struct pug_ptm_walk *walk)
{
    complain(decoder, PUG_SEV_ERROR, status, what, walk->what);
    return decoder->stage->quirks.ptm_errors_fatal ? PUG_RESP_FATAL_INVALID_DATA
                                                   : PUG_RESP_ERR_CONT;
}

/**
 * Nothing is logged while the consumer waits at what came before in the packet: PUG_RESP_WAIT, and
 * nothing has changed.
 */
static bool must_wait(struct pug_ptm_decoder *decoder, const struct pug_ptm_walk *walk)
{
    if (walk->behind)
        pug_armv7_deliver(decoder->stage);
    return walk->behind && !pug_out_ready(&decoder->stage->out);
}

/** The walk came to something that is no instruction that it knows. */
static enum pug_response fail(struct pug_ptm_decoder *decoder, const struct pug_ptm_walk *walk,
                              enum pug_status status)
{
    if (must_wait(decoder, walk))
        return PUG_RESP_WAIT;
    if (status != PUG_ERR_UNSUPPORTED_ISA)
        return error(decoder, status, "Error processing", walk);
    complain(decoder, PUG_SEV_WARN, status, "Warning: unsupported instruction set processing",
             walk->what);
    return PUG_RESP_WARN_CONT;
}

/* ---- to the next waypoint ---- */

const struct pug_block *pug_ptm_take_unusual(struct pug_ptm_decoder *decoder)
{
    const struct pug_block *block = decoder->unusual;
    decoder->unusual = NULL;
    return pug_codemap_outdated(decoder->code) ? NULL : block;
}

/** Does the return stack fail, and with it everything? */
static bool stack_fails(const struct pug_ptm_decoder *decoder, const struct pug_ptm_walk *walk,
                        const struct pug_insn *insn)
{
    return walk->executed && walk->atom && pug_ptm_needs_stack(decoder, insn) &&
           decoder->config->return_stack && decoder->stage->quirks.ptm_errors_fatal;
}

/** Did the unit leave out where an indirect branch went, as with a return stack, which is off? */
static bool is_stackless(const struct pug_ptm_decoder *decoder, const struct pug_ptm_walk *walk,
                         const struct pug_insn *insn)
{
    return walk->executed && walk->atom && pug_ptm_needs_stack(decoder, insn) &&
           !decoder->config->return_stack && !decoder->stage->quirks.silent_stack;
}

static void log_stackless(const struct pug_ptm_decoder *decoder)
{
    pug_armv7_deliver(decoder->stage);
    pug_stage_log(decoder->stage, decoder->stage->decoder_name, PUG_SEV_WARN,
                  PUG_ERR_TRACE_SETTINGS, decoder->index,
                  "where an indirect branch went is not told, as by a unit with a return stack, "
                  "which is off: bit 29 of ETMCR, or bit 23 of ETMCCER");
}

/** Follow the path to the waypoint. */
static void follow(struct pug_ptm_decoder *decoder, const struct pug_ptm_walk *walk,
                   const struct stretch *stretch)
{
    const struct pug_insn *insn = &stretch->insn;
    uint8_t isa = decoder->isa;
    bool taken = walk->executed;
    decoder->address = stretch->end;
    if (taken || decoder->stage->quirks.ptm_untaken_blx)
        decoder->isa = insn->next_isa;
    decoder->it = pug_ptm_jumps(insn, taken) ? 0 : stretch->it;
    if (taken && insn->type == PUG_INSTR_BR)
        decoder->address = insn->target;
    if (taken && insn->type == PUG_INSTR_BR_INDIRECT) {
        decoder->has_address = false;
        if (walk->atom)
            pug_ptm_pop(decoder);
    }
    if (taken && insn->link)
        pug_ptm_push(decoder, stretch->end, isa);
}

enum pug_response pug_ptm_walk(struct pug_ptm_decoder *decoder, const struct pug_ptm_walk *walk)
{
    uint64_t start = decoder->address;
    uint8_t isa = decoder->isa;
    uint32_t limit = walk_limit(decoder);
    struct stretch stretch = {.end = start};
    const struct pug_block *block = pug_ptm_take_unusual(decoder);
    if (!block)
        block = pug_codemap_block(decoder->code, start, isa, decoder->it);
    for (;;) {
        stretch.end = block->end;
        stretch.it = block->it_out;
        stretch.count += block->count;
        if (block->count > 0)
            stretch.insn = block->insn;
        if (stretch.count > limit)
            return fail(decoder, walk, PUG_ERR_RANGE_LIMIT);
        if (block->ending != PUG_BLOCK_LONG)
            break;
        block = pug_block_follow(decoder->code, block, false);
    }
    if (block->ending == PUG_BLOCK_NO_ACCESS) {
        not_accessible(decoder, walk, &stretch);
        return PUG_RESP_CONT;
    }
    if (block->ending == PUG_BLOCK_ERROR)
        return fail(decoder, walk, block->status);
    if (stack_fails(decoder, walk, &stretch.insn))
        return must_wait(decoder, walk)
                   ? PUG_RESP_WAIT
                   : error(decoder, PUG_ERR_RETURN_STACK, "Return stack error processing", walk);
    if (is_stackless(decoder, walk, &stretch.insn)) {
        if (must_wait(decoder, walk))
            return PUG_RESP_WAIT;
        log_stackless(decoder);
    }
    follow(decoder, walk, &stretch);
    pug_ptm_put_cycles(put_range(decoder, start, isa, &stretch, walk->executed), walk->packet);
    tell_isa(decoder, isa);
    return PUG_RESP_CONT;
}

/* ---- to an address ---- */

/** The instruction at `last` is the end of the walk so far; take it, too. */
static enum pug_status take_last(struct pug_ptm_decoder *decoder, struct stretch *stretch)
{
    struct pug_insn insn;
    enum pug_status status =
        pug_codemap_insn(decoder->code, stretch->end, decoder->isa, &stretch->it, &insn);
    if (status != PUG_OK)
        return status;
    stretch->end += insn.size;
    stretch->count++;
    stretch->insn = insn;
    return PUG_OK;
}

/** Straight on to `last`, which is ahead, as far as there are no waypoints before it. */
static bool is_reachable(struct pug_ptm_decoder *decoder, uint64_t last)
{
    uint64_t at = decoder->address;
    uint32_t count = 0;
    uint8_t it = decoder->it;
    while (at < last && count < walk_limit(decoder)) {
        const struct pug_block *block = pug_codemap_block(decoder->code, at, decoder->isa, it);
        if (block->end > last)
            return true; /* inside the block, or between two instructions */
        if (block->ending != PUG_BLOCK_LONG)
            return block->ending != PUG_BLOCK_FLOW;
        at = block->end;
        it = block->it_out;
        count += block->count;
    }
    return at == last;
}

enum pug_response pug_ptm_walk_to(struct pug_ptm_decoder *decoder, const struct pug_ptm_walk *walk,
                                  uint64_t last)
{
    uint64_t start = decoder->address;
    struct stretch stretch = {.end = start, .it = decoder->it};
    enum pug_status status = PUG_OK;
    bool checks = !decoder->stage->quirks.ptm_waypoint_unbounded;
    if (checks && !is_reachable(decoder, last))
        return error(decoder, PUG_ERR_TRACE_MISMATCH, "Address not reached processing", walk);
    if (start != last) {
        struct pug_code_walk straight;
        pug_codemap_walk_to(decoder->code, start, decoder->isa, decoder->it, last,
                            walk_limit(decoder), &straight);
        stretch = (struct stretch){straight.end, straight.count, straight.it, straight.insn};
        status = straight.status;
    }
    if (status == PUG_OK)
        status = take_last(decoder, &stretch);
    if (status == PUG_ERR_NO_PROGRAM_MEMORY) {
        not_accessible(decoder, walk, &stretch);
        return PUG_RESP_CONT;
    }
    if (status != PUG_OK)
        return fail(decoder, walk, status);
    uint8_t isa = decoder->isa;
    follow(decoder, walk, &stretch);
    put_range(decoder, start, isa, &stretch, true);
    tell_isa(decoder, isa);
    return PUG_RESP_CONT;
}
