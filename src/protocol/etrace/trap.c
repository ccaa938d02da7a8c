// SPDX-License-Identifier: MIT
/** @file Trap packets to elements: what trapped, where, and where its handler is. */
#include "protocol/etrace/decoder.h"

#include <inttypes.h>
#include <stdio.h>

static bool is_indirect(const struct pug_insn *insn)
{
    return insn->type == PUG_INSTR_BR_INDIRECT; /* xRET too */
}

/**
 * Computes where execution would continue after pc, without executing it. False: the program does
 * not say.
 */
static bool next_address(struct pug_etrace_decoder *d, const struct pug_insn *insn, uint64_t *next)
{
    bool thaddr = d->packet->thaddr;
    if (insn->kind == PUG_RV_TRAP) {
        *next = d->pc;
        return true;
    }
    if (is_indirect(insn)) {
        if (insn->kind == PUG_RV_XRET)
            return false;
        if (pug_etrace_sequential(d, d->pc, insn, next))
            return true;
        if (insn->kind == PUG_RV_RETURN && d->options.implicit_return && thaddr &&
            d->stack.entries > 0) {
            *next = pug_etrace_top(d);
            return true;
        }
        return false;
    }
    bool taken =
        insn->type == PUG_INSTR_BR && (!insn->conditional || pug_etrace_peek_outcome(d, d->pc));
    *next = pug_etrace_canonical(d, taken ? insn->target : d->pc + insn->size);
    return !insn->table_jump;
}

/** Where the walk stands: the EPC of a trap. `taken`: it is the target of the jump before it. */
static bool walked_epc(struct pug_etrace_decoder *d, uint64_t *epc, bool *taken, bool *indirect)
{
    struct pug_insn insn;
    uint8_t it = 0;
    *taken = *indirect = false;
    if (d->after_trap) {
        *epc = d->next_epc;
        return d->next_epc_valid;
    }
    if (pug_codemap_insn(d->code, d->pc, d->isa, &it, &insn) != PUG_OK)
        return false;
    *taken =
        insn.type != PUG_INSTR_OTHER && (!insn.conditional || pug_etrace_peek_outcome(d, d->pc));
    *indirect = is_indirect(&insn);
    return next_address(d, &insn, epc);
}

/** A trap that brings its own EPC: is that where the walk came to? */
static void compare_epc(struct pug_etrace_decoder *d)
{
    const uint64_t own = pug_etrace_canonical(d, d->packet->epc);
    uint64_t walked;
    bool taken, indirect;
    char text[128];
    if (!d->synced || d->fresh || !walked_epc(d, &walked, &taken, &indirect) ||
        pug_etrace_canonical(d, walked) == own)
        return;
    snprintf(text, sizeof(text),
             "the trap was at 0x%" PRIx64 ", and execution had come to 0x%" PRIx64, own,
             pug_etrace_canonical(d, walked));
    pug_stage_log(d->stage, d->stage->decoder_name, PUG_SEV_ERROR, PUG_ERR_TRACE_MISMATCH, d->index,
                  text);
}

/** The trap's EPC. `taken`: it is also the target of the branch or jump before it. */
static bool trap_epc(struct pug_etrace_decoder *d, uint64_t *epc, bool *taken)
{
    const struct pug_etrace_packet *p = d->packet;
    bool indirect;
    *epc = p->has_epc ? p->epc : d->address;
    *taken = false;
    if (p->has_epc) {
        compare_epc(d);
        return true;
    }
    if (!d->synced || d->fresh)
        return !p->thaddr;
    if (walked_epc(d, epc, taken, &indirect))
        return true;
    *epc = d->address;
    return indirect && !p->thaddr;
}

/** A trap that was reported without its handler: what its address is. */
static void note_epc(struct pug_etrace_decoder *d)
{
    struct pug_insn insn;
    uint8_t it = 0;
    bool own = d->fresh || !d->synced ||
               (!d->after_trap && pug_codemap_insn(d->code, d->pc, d->isa, &it, &insn) == PUG_OK &&
                is_indirect(&insn));
    d->next_epc_valid = !own;
    d->next_epc = d->address;
    d->after_trap = true;
    pug_etrace_clear_outcomes(d);
}

/** The branch before the trap retired: the predictor learns from it, though no walk crosses it. */
static void learn_last_branch(struct pug_etrace_decoder *d)
{
    struct pug_insn insn;
    uint8_t it = 0;
    const bool waits = d->synced && !d->fresh && !d->after_trap;
    if (waits && d->options.branch_prediction && pug_etrace_outcomes_total(&d->outcomes) > 0 &&
        pug_codemap_insn(d->code, d->pc, d->isa, &it, &insn) == PUG_OK && insn.conditional)
        (void)pug_etrace_take_outcome(d, d->pc);
}

static uint64_t handler_address(const struct pug_etrace_decoder *d)
{
    const struct pug_etrace_packet *p = d->packet;
    const struct pug_etrace_vector *vector =
        &d->config->vectors[p->privilege % PUG_ETRACE_PRIVILEGES];
    return vector->base + (vector->vectored && p->interrupt ? 4 * p->ecause : 0);
}

enum pug_etrace_phase pug_etrace_trap(struct pug_etrace_decoder *d)
{
    const struct pug_etrace_packet *p = d->packet;
    bool taken = false;
    uint64_t epc = 0;
    d->tentative = false;
    d->irets = 0;
    d->address = pug_etrace_canonical(d, p->has_address ? p->address : handler_address(d));
    bool known = trap_epc(d, &epc, &taken);
    learn_last_branch(d);
    if (p->thaddr && (d->fresh || !d->synced))
        pug_etrace_push_trace_on(d);
    struct pug_element *e = pug_out_push(d->out, PUG_ELEM_EXCEPTION, d->index);
    e->number = pug_etrace_exception(p);
    e->reason = PUG_EXCEPTIONS_RISCV;
    if (known) {
        e->flags |= PUG_ELEM_RET_ADDR;
        e->end = pug_etrace_canonical(d, epc);
        if (taken)
            e->flags |= PUG_ELEM_RET_ADDR_BR_TGT;
    }
    if (!p->interrupt && !p->has_epc) {
        e->flags |= PUG_ELEM_HAS_VALUE;
        e->value = p->tval;
    }
    if (p->thaddr)
        return pug_etrace_report_directly(d);
    note_epc(d);
    pug_etrace_data_restart(d);
    return PUG_ETRACE_PHASE_TIME;
}
