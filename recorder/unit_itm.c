// SPDX-License-Identifier: MIT
/**
 * @file The engine's view of an ITM and a DWT beside a core of the M profile: software writes of
 * stimulus ports, interrupts, samples of the PC, accesses that comparators watch, and the time of
 * each in cycles. An instruction takes one cycle, and the entry of an exception 12, or 6 when it is
 * tail-chained, as on a Cortex-M3.
 */
#include "pugmark/advanced/settings.h"
#include "recorder/itm.h"
#include "recorder/unit.h"

#include <stdlib.h>

enum {
    EXCEPTIONS,
    SAMPLE,
    TIMESTAMPS,
    PRESCALER,
    WATCH,
    COMP0,
    COMP3 = COMP0 + 3,
    OPTIONS,
};

static const struct rec_option options[OPTIONS] = {
    {"exceptions", 1, 1, 0, "interrupts entered, exited and returned to"},
    {"sample", 0, UINT32_MAX, 0, "instructions between samples of the PC; 0: none"},
    {"timestamps", 1, 1, 1, "local timestamps, in cycles"},
    {"prescaler", 0, 3, 3, "TSPrescale: a step is 1, 4, 16 or 64 cycles"},
    {"watch", 5, 7, 7, "sent of a watched access: 1 the PC, 2 the address, 4 the value, added up"},
    {"comp0", 0, UINT32_MAX, 0, "address of the word that comparator 0 watches; 0: none"},
    {"comp1", 0, UINT32_MAX, 0, "the same of comparator 1"},
    {"comp2", 0, UINT32_MAX, 0, "the same of comparator 2"},
    {"comp3", 0, UINT32_MAX, 0, "the same of comparator 3"},
};

static const struct rec_absent absent[] = {
    {"counters", "QEMU counts no stalls, sleep or folded instructions"},
    {"gts", "a machine under QEMU has one clock"},
    {0},
};

enum { WATCH_PC = 1, WATCH_ADDRESS = 2, WATCH_VALUE = 4 };

/* Actions of the DWT on exceptions. */
enum { ENTERED = 1, EXITED = 2, RETURNED = 3 };

#define PORTS      UINT64_C(0xe0000000) /* of stimulus */
#define PORT_COUNT 256u
#define NESTED     16u

struct rec_unit {
    struct rec_bytes *out;
    const uint64_t *values;
    uint64_t cycles, sent; /* sent: those in timestamps so far */
    uint64_t sample_at;
    unsigned page; /* of ports, as it was sent last */
    size_t before; /* bytes of `out` before this instruction */
    unsigned depth;
    uint16_t active[NESTED];
};

static struct rec_unit *make(const struct rec_unit_setup *setup)
{
    struct rec_unit *unit = calloc(1, sizeof(*unit));
    if (!unit)
        return NULL;
    unit->out = setup->out;
    unit->values = setup->values;
    unit->sample_at = setup->values[SAMPLE];
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

static void synchronise(struct rec_unit *unit)
{
    rec_itm_async(unit->out);
    unit->page = 0;
}

/** Puts the time of the packets before, if there were some. */
static void put_time(struct rec_unit *unit)
{
    const unsigned shift = 2 * (unsigned)unit->values[PRESCALER];
    if (!unit->values[TIMESTAMPS] || unit->out->size == unit->before)
        return;
    for (uint64_t steps = (unit->cycles - unit->sent) >> shift; steps > 0;) {
        const uint32_t part = steps < REC_ITM_LOCAL_MOST ? (uint32_t)steps : REC_ITM_LOCAL_MOST;
        rec_itm_local_ts(unit->out, 0, part);
        unit->sent += (uint64_t)part << shift;
        steps -= part;
    }
}

static void begin(struct rec_unit *unit, const struct rec_place *at,
                  const struct rec_situation *situation, enum rec_why why)
{
    (void)at;
    (void)situation;
    if (why == REC_WHY_OVERFLOW)
        rec_itm_put(unit->out, &(struct pug_itm_packet){.type = PUG_ITM_PKT_OVERFLOW});
    unit->depth = 0;
    synchronise(unit);
}

static void put_exception(struct rec_unit *unit, unsigned action, unsigned number)
{
    if (unit->values[EXCEPTIONS])
        rec_itm_dwt(unit->out, REC_DWT_EXCEPTION, number | action << 12, 2);
}

static void put_port(struct rec_unit *unit, const struct rec_path_access *access)
{
    const unsigned port = (unsigned)(access->address - PORTS) / 4;
    if (!access->known || access->size > 2 || access->address % 4)
        return;
    if (port / 32 != unit->page) {
        unit->page = port / 32;
        rec_itm_page(unit->out, unit->page);
    }
    rec_itm_swit(unit->out, port, (uint32_t)access->value, 1u << access->size);
}

static void put_watched(struct rec_unit *unit, unsigned n, uint64_t pc,
                        const struct rec_path_access *access)
{
    const uint64_t what = unit->values[WATCH];
    const unsigned source = REC_DWT_ACCESS + 2 * n;
    if (what & WATCH_PC)
        rec_itm_dwt(unit->out, source, (uint32_t)pc, 4);
    if (what & WATCH_ADDRESS)
        rec_itm_dwt(unit->out, source + 1, (uint32_t)access->address & 0xffff, 2);
    if (what & WATCH_VALUE && access->known && access->size <= 2)
        rec_itm_dwt(unit->out, REC_DWT_VALUE + 2 * n + access->store, (uint32_t)access->value,
                    1u << access->size);
}

static void put_access(struct rec_unit *unit, uint64_t pc, const struct rec_path_access *access)
{
    if (access->store && access->address >= PORTS && access->address < PORTS + 4 * PORT_COUNT)
        put_port(unit, access);
    for (unsigned n = 0; n < 4; n++)
        if (unit->values[COMP0 + n] && access->address >> 2 == unit->values[COMP0 + n] >> 2)
            put_watched(unit, n, pc, access);
}

/** An exception ended; `chained`: another one begins at once. */
static void leave(struct rec_unit *unit, bool chained)
{
    if (unit->depth == 0)
        return; /* it began before the trace */
    put_exception(unit, EXITED, unit->active[--unit->depth]);
    if (!chained)
        put_exception(unit, RETURNED, unit->depth > 0 ? unit->active[unit->depth - 1] : 0);
}

static void instruction(struct rec_unit *unit, const struct rec_step *step)
{
    unit->before = unit->out->size;
    unit->cycles++;
    for (uint32_t i = 0; i < step->access_count; i++)
        put_access(unit, step->pc, &step->accesses[i]);
    if (unit->values[SAMPLE] && unit->cycles >= unit->sample_at) {
        rec_itm_dwt(unit->out, REC_DWT_SAMPLE, (uint32_t)step->pc, 4);
        unit->sample_at += unit->values[SAMPLE];
    }
    if (step->returns)
        leave(unit, step->chained);
    put_time(unit);
}

static void trap(struct rec_unit *unit, const struct rec_trap *trap)
{
    if (!trap->numbered || unit->depth == NESTED)
        return;
    unit->before = unit->out->size;
    unit->cycles += trap->chained ? 6 : 12;
    unit->active[unit->depth++] = (uint16_t)(trap->number & 0x1ff); /* that of IPSR */
    put_exception(unit, ENTERED, unit->active[unit->depth - 1]);
    put_time(unit);
}

static void between(struct rec_unit *unit, unsigned what, const struct rec_place *at,
                    const struct rec_situation *situation)
{
    (void)at;
    (void)situation;
    if (what & REC_BETWEEN_SYNC)
        synchronise(unit);
}

static void end(struct rec_unit *unit, const struct rec_place *last, const struct rec_place *next,
                uint32_t since)
{
    (void)unit;
    (void)last;
    (void)next;
    (void)since; /* packets are complete at once */
}

static void lose(struct rec_unit *unit, const struct rec_place *at)
{
    (void)unit;
    (void)at;
}

static uint32_t tells(const uint64_t *values, uint8_t isa, const uint8_t *bytes,
                      struct rec_path_access *accesses, uint32_t count)
{
    (void)values;
    (void)isa;
    (void)bytes;
    (void)accesses;
    return count;
}

static void describe(const struct rec_unit_setup *setup, FILE *file)
{
    fprintf(file, "ITMTCR(0xE80)=0x%08x\n",
            (unsigned)setup->source << 16 | (unsigned)setup->values[PRESCALER] << 8 | 0xf);
    for (unsigned n = 0; n < 4; n++)
        if (setup->values[COMP0 + n])
            fprintf(file, "DWT_COMP%u=0x%08x\n", n, (unsigned)setup->values[COMP0 + n]);
}

static const char *format(const struct rec_unit_setup *setup)
{
    (void)setup;
    return "coresight";
}

const struct rec_unit_class rec_unit_itm = {
    .name = "itm",
    .device = "ITM",
    .core = "Cortex-M3",
    .families = 1u << REC_FAMILY_ARM,
    .every = true,
    .frames = true,
    .m_profile = PUG_ARCH_V6,
    .m_newest = PUG_ARCH_V8,
    .m_only = true,
    .ports = true,
    .options = options,
    .option_count = OPTIONS,
    .absent = absent,
    REC_UNIT_FUNCTIONS,
    .tells = tells,
    .format = format,
};
