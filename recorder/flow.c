// SPDX-License-Identifier: MIT
#include "recorder/flow.h"

#include <stdlib.h>

/* A64's numbers of the exceptions that a program meets by itself. */
#define EXCEPTION_CALL 2u

struct rec_flow {
    struct rec_flow_config config;
    struct rec_etmv4 *unit;
    struct rec_random random;
    bool tracing;   /* the unit knows where we are */
    bool restart;   /* trace was lost: begin anew with the next instruction */
    bool exception; /* an exception was reported; the next instruction is its handler */
    uint64_t pc;    /* the instruction that ran last */
    enum pug_isa isa;
    struct pug_insn insn; /* and what it is */
    uint8_t it;
    uint32_t since_waypoint; /* instructions since the last waypoint, this one included */
    uint64_t time;
};

struct rec_flow *rec_flow_new(const struct rec_flow_config *config, struct rec_etmv4 *unit)
{
    struct rec_flow *flow = calloc(1, sizeof(*flow));
    if (!flow)
        return NULL;
    flow->config = *config;
    flow->unit = unit;
    flow->random.state = config->seed;
    flow->time = 0x1000000;
    return flow;
}

void rec_flow_free(struct rec_flow *flow)
{
    free(flow);
}

static bool once_in(struct rec_flow *flow, uint32_t n)
{
    return n > 0 && rec_random_once_in(&flow->random, n);
}

static bool classify(struct rec_flow *flow, uint64_t pc, enum pug_isa isa)
{
    uint8_t bytes[4];
    const struct pug_reader_space anywhere = {.space = PUG_SPACE_ANY};
    int64_t got = pug_image_read(flow->config.image, &anywhere, pc, bytes, sizeof(bytes));
    if (got < 2)
        return false;
    return pug_isa_classify(&flow->config.isa, isa, pc, bytes, (unsigned)got, &flow->it,
                            &flow->insn) == PUG_OK;
}

static void begin(struct rec_flow *flow, uint64_t pc, bool t32)
{
    rec_etmv4_sync(flow->unit);
    rec_etmv4_trace_on(flow->unit);
    rec_etmv4_start(flow->unit, pc, t32, &flow->config.context);
    flow->tracing = true;
    flow->restart = false;
}

/** A direct branch that was taken: an atom, or one of the packets that say it otherwise. */
static void take_direct(struct rec_flow *flow, uint64_t target, bool t32)
{
    uint64_t after = flow->pc + flow->insn.size;
    if (flow->config.ete && once_in(flow, flow->config.source_once_in)) {
        rec_etmv4_source_address(flow->unit, flow->pc, flow->isa == PUG_ISA_T32);
    } else if (!flow->insn.link && rec_etmv4_q_reaches(flow->unit, target) &&
               once_in(flow, flow->config.q_once_in)) {
        rec_etmv4_q(flow->unit, flow->since_waypoint, target, t32);
    } else {
        rec_etmv4_atom(flow->unit, true);
    }
    if (flow->insn.link)
        rec_etmv4_call(flow->unit, after, flow->isa == PUG_ISA_T32);
}

static void take_indirect(struct rec_flow *flow, uint64_t target, bool t32)
{
    if (flow->insn.subtype == PUG_SUB_V8_ERET && !flow->config.ete) {
        rec_etmv4_atom(flow->unit, true);
        rec_etmv4_exception_return(flow->unit);
        rec_etmv4_address(flow->unit, target, t32);
        return;
    }
    if (flow->insn.link)
        rec_etmv4_call(flow->unit, flow->pc + flow->insn.size, flow->isa == PUG_ISA_T32);
    rec_etmv4_indirect(flow->unit, target, t32);
}

/** What the last instruction did, now that the next one is known. */
static void report(struct rec_flow *flow, uint64_t next, bool t32)
{
    uint64_t after = flow->pc + flow->insn.size;
    switch ((enum pug_instr_type)flow->insn.type) {
    case PUG_INSTR_OTHER:
        if (next != after) {
            rec_etmv4_exception(flow->unit, EXCEPTION_CALL, after, flow->isa == PUG_ISA_T32, false);
            rec_etmv4_address(flow->unit, next, t32);
            flow->since_waypoint = 0;
        }
        return;
    case PUG_INSTR_BR:
        if (next == flow->insn.target && (next != after || !flow->insn.conditional))
            take_direct(flow, next, t32);
        else
            rec_etmv4_atom(flow->unit, false);
        break;
    case PUG_INSTR_BR_INDIRECT:
        if (next == after && flow->insn.conditional)
            rec_etmv4_atom(flow->unit, false);
        else
            take_indirect(flow, next, t32);
        break;
    default: rec_etmv4_atom(flow->unit, true);
    }
    flow->since_waypoint = 0;
}

/** Time, events and synchronisation come between instructions. */
static void decorate(struct rec_flow *flow, uint64_t pc, bool t32)
{
    if (once_in(flow, flow->config.timestamp_once_in)) {
        flow->time += rec_random_below(&flow->random, 100000);
        rec_etmv4_timestamp(flow->unit, flow->time);
    }
    if (once_in(flow, flow->config.cycles_once_in))
        rec_etmv4_cycles(flow->unit, rec_random_below(&flow->random, 40));
    if (once_in(flow, flow->config.event_once_in))
        rec_etmv4_event(flow->unit, (uint8_t)(1 + rec_random_below(&flow->random, 15)));
    /* A synchronisation point carries the address, so it can only stand where a block begins. */
    if (flow->since_waypoint == 0 && once_in(flow, flow->config.sync_once_in)) {
        rec_etmv4_sync(flow->unit);
        rec_etmv4_start(flow->unit, pc, t32, &flow->config.context);
    }
    if (flow->since_waypoint == 0 && once_in(flow, flow->config.overflow_once_in)) {
        if (rec_random_once_in(&flow->random, 2))
            rec_etmv4_overflow(flow->unit);
        else
            rec_etmv4_discard(flow->unit);
        flow->restart = true;
    }
}

bool rec_flow_step(struct rec_flow *flow, uint64_t pc, enum pug_isa isa)
{
    bool t32 = isa == PUG_ISA_T32;
    if (flow->tracing && !flow->exception)
        report(flow, pc, t32);
    if (flow->exception) {
        rec_etmv4_address(flow->unit, pc, t32);
        flow->since_waypoint = 0;
    }
    flow->exception = false;
    if (!flow->tracing || flow->restart)
        begin(flow, pc, t32);
    else
        decorate(flow, pc, t32);
    if (flow->restart)
        begin(flow, pc, t32);
    flow->pc = pc;
    flow->isa = isa;
    flow->since_waypoint++;
    return classify(flow, pc, isa);
}

void rec_flow_exception(struct rec_flow *flow, uint32_t number, uint64_t return_address)
{
    bool t32 = flow->isa == PUG_ISA_T32;
    if (!flow->tracing || flow->exception)
        return;
    if (flow->insn.type != PUG_INSTR_OTHER)
        report(flow, return_address, t32);
    rec_etmv4_exception(flow->unit, number, return_address, t32, false);
    flow->exception = true;
}

void rec_flow_context(struct rec_flow *flow, const struct rec_context *context)
{
    flow->config.context = *context;
    if (flow->tracing)
        rec_etmv4_context(flow->unit, context);
}

void rec_flow_finish(struct rec_flow *flow)
{
    rec_etmv4_finish(flow->unit);
}
