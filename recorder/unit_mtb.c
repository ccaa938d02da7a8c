// SPDX-License-Identifier: MIT
/**
 * @file The engine's view of a Micro Trace Buffer with memory without end. Where trace begins and
 * ends the PC counts as moved there by a debugger, so that everything that ran is in the trace.
 */
#include "pugmark/advanced/settings.h"
#include "recorder/unit.h"

#include <stdlib.h>

/** EXC_RETURN to Thread mode and its main stack, and to Handler mode. */
#define EXC_RETURN         UINT32_C(0xfffffff8)
#define EXC_RETURN_HANDLER UINT32_C(0xfffffff0)

struct rec_unit {
    struct rec_bytes *out;
    bool starting;
    unsigned depth; /* exceptions in each other */
};

static uint32_t exc_return(const struct rec_unit *unit)
{
    return unit->depth > 1 ? EXC_RETURN_HANDLER : EXC_RETURN;
}

static struct rec_unit *make(const struct rec_unit_setup *setup)
{
    struct rec_unit *unit = calloc(1, sizeof(*unit));
    if (unit)
        unit->out = setup->out;
    return unit;
}

static void unit_free(struct rec_unit *unit)
{
    free(unit);
}

static void settle(uint64_t *values, uint8_t family)
{
    (void)values;
    (void)family;
}

static void isa(const uint64_t *values, struct pug_isa_config *config)
{
    (void)values;
    config->arch = PUG_ARCH_V8;
    config->track_it = true;
}

static void put(struct rec_unit *unit, uint64_t source, bool atomic, uint64_t destination)
{
    rec_put_le(unit->out, (source & ~UINT64_C(1)) | atomic, 4);
    rec_put_le(unit->out, (destination & ~UINT64_C(1)) | unit->starting, 4);
    unit->starting = false;
}

static void begin(struct rec_unit *unit, const struct rec_place *at,
                  const struct rec_situation *situation, enum rec_why why)
{
    (void)situation;
    (void)why;
    unit->starting = true;
    put(unit, at->address, true, at->address);
}

static void instruction(struct rec_unit *unit, const struct rec_step *step)
{
    const uint32_t magic = exc_return(unit);
    if (step->returns)
        put(unit, step->pc, false, magic);
    if (step->returns && !step->chained) {
        put(unit, magic, true, step->next.address);
        unit->depth -= unit->depth > 0;
    } else if (!step->returns && step->taken) {
        put(unit, step->pc, false, step->next.address);
    }
}

static void trap(struct rec_unit *unit, const struct rec_trap *trap)
{
    if (!trap->traced)
        return;
    put(unit, trap->chained ? exc_return(unit) : trap->back.address, true, trap->to.address);
    unit->depth += !trap->chained;
}

static void between(struct rec_unit *unit, unsigned what, const struct rec_place *at,
                    const struct rec_situation *situation)
{
    (void)unit;
    (void)what;
    (void)at;
    (void)situation;
}

static void end(struct rec_unit *unit, const struct rec_place *last, const struct rec_place *next,
                uint32_t since)
{
    (void)last;
    (void)since; /* nothing else shows branches that were not taken */
    put(unit, next->address, true, next->address);
}

static void lose(struct rec_unit *unit, const struct rec_place *at)
{
    (void)unit;
    (void)at;
}

static void describe(const struct rec_unit_setup *setup, FILE *file)
{
    (void)setup;
    (void)file;
}

static const char *format(const struct rec_unit_setup *setup)
{
    (void)setup;
    return "source_data";
}

const struct rec_unit_class rec_unit_mtb = {
    .name = "mtb",
    .device = "MTB",
    .core = "Cortex-M0+",
    .families = 1u << REC_FAMILY_ARM,
    .m_profile = PUG_ARCH_V6,
    .m_newest = PUG_ARCH_V8,
    .m_only = true,
    REC_UNIT_FUNCTIONS,
    .format = format,
};
