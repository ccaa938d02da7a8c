// SPDX-License-Identifier: MIT
/** @file The engine's view of a PTM. */
#include "pugmark/advanced/settings.h"
#include "recorder/exceptions.h"
#include "recorder/ptm.h"
#include "recorder/unit_armv7.h"

#include <stdlib.h>

enum value {
    VERSION,
    RETURN_STACK,
    CYCLES,
    TIMESTAMPS,
    WIDE_TIMESTAMPS,
    CONTEXT_BYTES,
    BROADCAST,
    BARRIERS,
    OTHERS,
    LONGER,
    SHORTER,
    OPTIONS
};

static const struct rec_option options[OPTIONS] = {
    [VERSION] = {"version", 1, 1, 1, "minor version of the architecture, 1.N"},
    [RETURN_STACK] = {"return_stack", 1, 1, 1, "returns are left out where a stack knows them"},
    [CYCLES] = {"cycles", 0, 1, 1, "cycle-accurate: every waypoint with its cycles"},
    [BARRIERS] = {"barriers", 0, 1, 1, "DMB and DSB are waypoints"},
    REC_ARMV7_OPTIONS,
};

struct rec_unit {
    struct rec_unit_setup setup;
    struct rec_ptm ptm;
    struct rec_random random;
};

static struct rec_ptm_config registers_of(const struct rec_unit_setup *setup)
{
    const uint64_t *v = setup->values;
    return (struct rec_ptm_config){
        .control = rec_armv7_context_field(v[CONTEXT_BYTES]) | (uint32_t)v[CYCLES] << 12 |
                   (uint32_t)v[BROADCAST] << 8 | (uint32_t)v[TIMESTAMPS] << 28 |
                   (uint32_t)v[RETURN_STACK] << 29,
        .id = 0x4100f300u | (uint32_t)v[VERSION] << 4,
        .code = (uint32_t)v[WIDE_TIMESTAMPS] << 29 | 1u << 28 | 1u << 26 |
                (uint32_t)v[BARRIERS] << 24 | (uint32_t)v[RETURN_STACK] << 23 | 1u << 22,
    };
}

static bool by_context(const uint64_t *values)
{
    return values[CONTEXT_BYTES] == 4;
}

static void settle(uint64_t *values, uint8_t family)
{
    (void)family;
    if (values[CONTEXT_BYTES] == 3)
        values[CONTEXT_BYTES] = 4;
    if (values[VERSION] < 1)
        values[WIDE_TIMESTAMPS] = 0;
    if (values[BROADCAST])
        values[RETURN_STACK] = 0; /* the stack is unused when every target is sent */
}

static struct rec_unit *make(const struct rec_unit_setup *setup)
{
    struct rec_unit *unit = calloc(1, sizeof(*unit));
    if (!unit)
        return NULL;
    struct rec_ptm_config registers = registers_of(setup);
    unit->setup = *setup;
    unit->random.state = setup->seed;
    rec_ptm_begin(&unit->ptm, &registers, setup->out);
    unit->ptm.freedom = rec_armv7_freedom_of(setup, setup->values[LONGER], setup->values[SHORTER]);
    return unit;
}

static void unit_free(struct rec_unit *unit)
{
    free(unit);
}

static void isa(const uint64_t *values, struct pug_isa_config *config)
{
    config->arch = PUG_ARCH_V7;
    config->track_it = true;
    config->dsb_dmb_waypoints = values[BARRIERS];
}

static uint32_t some_cycles(struct rec_unit *unit)
{
    if (rec_random_once_in(&unit->random, 50))
        return rec_random_below(&unit->random, 5000);
    return rec_random_below(&unit->random, 20);
}

static void put_isync(struct rec_unit *unit, const struct rec_place *at,
                      const struct rec_situation *situation, uint8_t reason)
{
    rec_ptm_isync(&unit->ptm, &(struct rec_ptm_isync){.address = (uint32_t)at->address,
                                                      .isa = at->isa,
                                                      .reason = reason,
                                                      .non_secure = true,
                                                      .cycles = some_cycles(unit),
                                                      .context_id = situation->context_id});
}

static void begin(struct rec_unit *unit, const struct rec_place *at,
                  const struct rec_situation *situation, enum rec_why why)
{
    rec_ptm_a_sync(&unit->ptm);
    put_isync(unit, at, situation,
              why == REC_WHY_OVERFLOW ? PUG_ISYNC_RESTART_OVERFLOW : PUG_ISYNC_TRACE_ENABLE);
}

static void instruction(struct rec_unit *unit, const struct rec_step *step)
{
    uint32_t target = (uint32_t)step->next.address;
    if (step->insn->type == PUG_INSTR_OTHER)
        return;
    bool branch = step->insn->type == PUG_INSTR_BR || step->insn->type == PUG_INSTR_BR_INDIRECT;
    if (branch && !step->taken)
        rec_ptm_atom(&unit->ptm, false, some_cycles(unit));
    else if (branch && unit->setup.values[BROADCAST])
        rec_ptm_branch(&unit->ptm, target, step->next.isa, NULL, some_cycles(unit));
    else if (step->insn->type == PUG_INSTR_BR_INDIRECT)
        rec_ptm_indirect(&unit->ptm, target, step->next.isa, some_cycles(unit));
    else
        rec_ptm_atom(&unit->ptm, true, some_cycles(unit));
    if (step->returns)
        rec_ptm_plain(&unit->ptm, PUG_PTM_EXCEPTION_RET);
    rec_ptm_runs_in(&unit->ptm, step->next.isa);
    if (branch && step->taken && step->insn->link)
        rec_ptm_call(&unit->ptm, (uint32_t)step->pc + step->insn->size, step->isa);
}

static void trap(struct rec_unit *unit, const struct rec_trap *trap)
{
    struct rec_place to = trap->traced ? trap->to : rec_armv7_vector(trap->kind);
    if (trap->since > 0)
        rec_ptm_waypoint(&unit->ptm, (uint32_t)trap->last.address, trap->last.isa);
    uint32_t number = trap->numbered ? rec_exception_number(PUG_EXCEPTIONS_ARMV7, trap->number)
                                     : rec_armv7_number(trap->kind);
    rec_ptm_branch(&unit->ptm, (uint32_t)to.address, to.isa,
                   &(struct rec_ptm_exception){.number = (uint16_t)number, .non_secure = true},
                   some_cycles(unit));
}

static void put_other(struct rec_unit *unit, const struct rec_situation *situation)
{
    switch (rec_random_below(&unit->random, 4)) {
    case 0: rec_ptm_plain(&unit->ptm, PUG_PTM_TRIGGER); break;
    case 1: rec_ptm_plain(&unit->ptm, PUG_PTM_IGNORE); break;
    case 2: /* as it was */
        if (unit->setup.values[CONTEXT_BYTES])
            rec_ptm_context_id(&unit->ptm, situation->context_id);
        break;
    default: rec_ptm_vmid(&unit->ptm, (uint8_t)rec_random_below(&unit->random, 256));
    }
}

static void between(struct rec_unit *unit, unsigned what, const struct rec_place *at,
                    const struct rec_situation *situation)
{
    const uint64_t *values = unit->setup.values;
    if (what & REC_BETWEEN_CONTEXT && values[CONTEXT_BYTES])
        rec_ptm_context_id(&unit->ptm, situation->context_id);
    if (what & REC_BETWEEN_TIME && values[TIMESTAMPS])
        rec_ptm_timestamp(&unit->ptm, situation->time, rec_random_once_in(&unit->random, 20),
                          some_cycles(unit));
    if (what & REC_BETWEEN_OTHER && values[OTHERS])
        put_other(unit, situation);
    if (what & REC_BETWEEN_SYNC) {
        rec_ptm_a_sync(&unit->ptm);
        put_isync(unit, at, situation, PUG_ISYNC_PERIODIC);
    }
}

static void end(struct rec_unit *unit, const struct rec_place *last, const struct rec_place *next,
                uint32_t since)
{
    struct rec_place to = rec_armv7_vector(REC_TRAP_SIGNAL);
    (void)next;
    rec_ptm_flush(&unit->ptm);
    if (since == 0)
        return;
    rec_ptm_waypoint(&unit->ptm, (uint32_t)last->address, last->isa);
    rec_ptm_branch(&unit->ptm, (uint32_t)to.address, to.isa,
                   &(struct rec_ptm_exception){.number = REC_ARMV7_HALT, .non_secure = true},
                   some_cycles(unit));
}

static void lose(struct rec_unit *unit, const struct rec_place *at)
{
    (void)at;
    rec_ptm_flush(&unit->ptm);
}

static void describe(const struct rec_unit_setup *setup, FILE *file)
{
    struct rec_ptm_config r = registers_of(setup);
    rec_armv7_describe(file, r.control, r.id, r.code, setup->source);
}

const struct rec_unit_class rec_unit_ptm = {
    .name = "ptm",
    .device = "PTM1.1",
    .core = "Cortex-A9",
    .families = 1u << REC_FAMILY_ARM,
    .frames = true,
    .options = options,
    .option_count = OPTIONS,
    .by_context = by_context,
    REC_UNIT_FUNCTIONS,
    .format = rec_armv7_format,
};
