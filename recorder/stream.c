// SPDX-License-Identifier: MIT
/**
 * @file Gives the instructions of a stream to its unit as soon as the next place is known.
 */
#include "recorder/stream.h"

struct rec_place rec_stream_place_in(const struct prepared *block, uint32_t n)
{
    return (struct rec_place){prepared_address(block, n), block->isa};
}

/** Does the instruction itself say where it branches to? */
static bool is_direct(const struct pug_insn *insn)
{
    return insn->type == PUG_INSTR_BR && !insn->table_jump;
}

/** Can the instruction lead there without a trap? */
static bool leads_to(const struct pug_insn *insn, uint64_t after, uint64_t next)
{
    if (insn->type == PUG_INSTR_BR_INDIRECT || insn->table_jump)
        return true;
    if (is_direct(insn))
        return next == insn->target || (insn->conditional && next == after);
    return next == after;
}

struct rec_place rec_stream_place_of(const struct rec_stream *stream,
                                     const struct rec_path_item *item)
{
    if (!stream->t32_bit)
        return (struct rec_place){item->address, stream->block->isa};
    return (struct rec_place){item->address & ~UINT64_C(1),
                              item->address & 1 ? PUG_ISA_T32 : PUG_ISA_A32};
}

struct rec_place rec_stream_natural_next(const struct rec_stream *stream)
{
    const struct prepared *block = stream->block;
    struct rec_place after = rec_stream_place_in(block, stream->count);
    if (stream->returned && stream->back.known)
        return rec_stream_place_of(stream, &stream->back);
    if (stream->count < block->count || stream->count == 0)
        return after;
    const struct pug_insn *insn = &block->insns[stream->count - 1];
    bool known = stream->trapped && stream->trap.known && !stream->returned;
    if (is_direct(insn) &&
        (!insn->conditional ||
         (known && rec_stream_place_of(stream, &stream->trap).address == insn->target)))
        return (struct rec_place){insn->target, insn->next_isa};
    if ((insn->type == PUG_INSTR_BR_INDIRECT || insn->table_jump) && known)
        return rec_stream_place_of(stream, &stream->trap);
    return after;
}

static bool is_trap(const struct rec_stream *stream, const struct rec_place *next)
{
    const struct prepared *block = stream->block;
    struct rec_place after = rec_stream_place_in(block, stream->count);
    if (stream->asked)
        return true;
    if (stream->returned)
        return stream->trapped;
    if (stream->count < block->count || stream->count == 0)
        return stream->trapped || next->address != after.address || next->isa != after.isa;
    const struct pug_insn *insn = &block->insns[stream->count - 1];
    if (stream->trapped)
        return insn->type != PUG_INSTR_BR_INDIRECT || stream->trap.known;
    return !leads_to(insn, after.address, next->address);
}

/** Give the unit an instruction of the block; it has got all earlier ones that it wants. */
static void tell(struct rec_engine *engine, struct rec_stream *stream, uint32_t n,
                 const struct rec_place *next, bool trapped)
{
    const struct prepared *block = stream->block;
    const struct pug_insn *insn = &block->insns[n];
    uint64_t pc = prepared_address(block, n), after = pc + insn->size;
    bool goes_on = next->address == after;
    struct rec_step step = {.pc = pc,
                            .insn = insn,
                            .bytes = block->bytes + block->offset[n],
                            .accesses = stream->accesses + stream->access_at,
                            .next = *next,
                            .since = stream->since,
                            .isa = block->isa,
                            .trapped = trapped || stream->preempted};
    while (stream->access_at + step.access_count < stream->access_count &&
           step.accesses[step.access_count].insn == n)
        step.access_count++;
    stream->access_at += step.access_count;
    step.returns = stream->returned && n + 1 == stream->count;
    step.chained = step.returns && !stream->back.known;
    if (is_direct(insn))
        step.taken = next->address == insn->target && (!goes_on || !insn->conditional);
    else if (insn->type == PUG_INSTR_BR_INDIRECT || insn->table_jump)
        step.taken = !goes_on || !insn->conditional || step.returns;
    engine->config.unit_class->instruction(stream->unit, &step);
    if (insn->type != PUG_INSTR_OTHER)
        stream->since = 0;
}

/** All instructions of the block that retired, or the waypoints among them. */
static void tell_block(struct rec_engine *engine, struct rec_stream *stream,
                       const struct rec_place *next, bool trapped)
{
    const struct prepared *block = stream->block;
    bool every = engine->config.unit_class->every;
    uint32_t told = 0; /* instructions that are counted in `since` */
    for (uint32_t i = 0; i < (every ? stream->count : block->waypoint_count); i++) {
        uint32_t n = every ? i : block->waypoints[i];
        if (n >= stream->count)
            break;
        struct rec_place after = rec_stream_place_in(block, n + 1);
        bool last = n + 1 == stream->count;
        stream->since += n + 1 - told;
        told = n + 1;
        tell(engine, stream, n, last ? next : &after, last && trapped);
    }
    stream->since += stream->count - told;
    if (stream->count > 0)
        stream->last = rec_stream_place_in(block, stream->count - 1);
}

/** Is what trapped a call of a supervisor? RISC-V's ecall does not retire, Arm's svc does. */
static bool is_call(const struct rec_stream *stream)
{
    const struct prepared *block = stream->block;
    uint32_t n = block->riscv ? stream->count : stream->count - 1;
    bool there = block->riscv ? n < block->count : stream->count > 0;
    return there && rec_path_is_call(block->block.isa, block->bytes + block->offset[n]);
}

/**
 * What a trap is. The path of a machine does not contain it, but its code shows calls, and what
 * came between two instructions was an interrupt.
 */
static enum rec_path_trap kind_of(const struct rec_engine *engine, const struct rec_stream *stream)
{
    if (stream->trapped)
        return (enum rec_path_trap)stream->trap.value;
    if (stream->asked)
        return REC_TRAP_CALL;
    if (!engine->config.path.system)
        return REC_TRAP_SIGNAL;
    if (is_call(stream))
        return REC_TRAP_CALL;
    return stream->count < stream->block->count ? REC_TRAP_EXCEPTION : REC_TRAP_INTERRUPT;
}

static void tell_trap(struct rec_engine *engine, struct rec_stream *stream,
                      const struct rec_place *back, const struct rec_place *next)
{
    enum rec_calls calls = engine->config.calls;
    struct rec_trap trap = {.kind = kind_of(engine, stream),
                            .back = *back,
                            .to = *next,
                            .traced = !stream->asked || calls == REC_CALLS_ON,
                            .begun = stream->count < stream->block->count,
                            .last = stream->last,
                            .since = stream->since,
                            .numbered = stream->trapped && stream->trap.numbered,
                            .number = stream->trap.number,
                            .chained = stream->returned,
                            .situation = stream->is.coming};
    bool straight = stream->asked && next->address == back->address && next->isa == back->isa;
    if (stream->asked && calls == REC_CALLS_SILENT && straight && !stream->block->riscv)
        return;
    engine->config.unit_class->trap(stream->unit, &trap);
    stream->told_trap = true;
    if (stream->trapped)
        rec_engine_give_path(engine, &stream->trap);
    stream->since = 0;
    if (!trap.traced) {
        stream->on = false;
        stream->why = REC_WHY_RETURN;
    }
}

/** A jump through a table: memory has its entry, which is never executed. */
static bool remember_entry(struct rec_engine *engine, const struct rec_stream *stream,
                           const struct rec_place *next)
{
    const struct prepared *block = stream->block;
    const struct pug_insn *insn = stream->count > 0 ? &block->insns[stream->count - 1] : NULL;
    uint8_t entry[8];
    unsigned size = engine->config.path.family == REC_FAMILY_RV32 ? 4 : 8;
    if (!insn || !insn->table_jump)
        return true;
    for (unsigned i = 0; i < size; i++)
        entry[i] = (uint8_t)(next->address >> 8 * i);
    const struct rec_memory_place place = {.address = insn->target};
    if (rec_memory_differs(engine->memory, &place, entry, size))
        return rec_engine_fail(engine, "the table of jumps changes, or is elsewhere");
    return rec_memory_put(engine->memory, &place, entry, size) ||
           rec_engine_fail(engine, "no memory");
}

void rec_stream_resolve(struct rec_engine *engine, struct rec_stream *stream,
                        const struct rec_place *next)
{
    struct prepared *block = stream->block;
    if (block && stream->on) {
        bool trapped = is_trap(stream, next);
        struct rec_place back = rec_stream_natural_next(stream);
        if (!remember_entry(engine, stream, trapped ? &back : next))
            return;
        tell_block(engine, stream, trapped ? &back : next, trapped);
        if (stream->returned)
            rec_engine_give_path(engine, &stream->back);
        stream->told_trap = stream->returned;
        if (trapped)
            tell_trap(engine, stream, &back, next);
    }
    stream->block = NULL;
    stream->asked = stream->trapped = stream->returned = stream->preempted = false;
}
