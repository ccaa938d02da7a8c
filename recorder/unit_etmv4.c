// SPDX-License-Identifier: MIT
/** @file The engine's view of an ETMv4 or ETE unit. */
#include "pugmark/advanced/settings.h"
#include "recorder/etmv4.h"
#include "recorder/exceptions.h"
#include "recorder/unit.h"

#include <stdlib.h>

/* Exception types of a program that is interrupted: Arm ETM architecture, table of the A profile.
 */
enum { DEBUG_HALT = 1, CALL = 2, DATA_FAULT = 12, IRQ = 14 };
enum { DEBUG_HALT_M = 0x18, TAIL_CHAIN = 0xfffffffe }; /* of the M profile: the latter an address */

enum value {
    VERSION,
    RETURN_STACK,
    BROADCAST,
    CYCLES,
    TIMESTAMPS,
    CONTEXT_ID,
    VMID,
    SPECULATION,
    GUESSES,
    COMMITS,
    Q,
    EVENTS,
    THRESHOLD,
    LONGER,
    SHORTER,
    SOURCE_ADDRESSES, /* from here on: of ETE */
    MARKERS,
    OPTIONS
};

#define ETMV4_OPTIONS                                                                              \
    [RETURN_STACK] = {"return_stack", 1, 1, 1, "returns are left out where a stack knows them"},   \
    [BROADCAST] = {"branch_broadcast", 0, 1, 0, "direct branches tell their targets, too"},        \
    [CYCLES] = {"cycles", 0, 1, 1, "cycle counts"},                                                \
    [TIMESTAMPS] = {"timestamps", 1, 1, 1, "timestamps"},                                          \
    [CONTEXT_ID] = {"context_id", 1, 1, 1, "context ids"},                                         \
    [VMID] = {"vmid", 0, 1, 1, "virtual context ids"},                                             \
    [SPECULATION] = {"speculation", 0, 64, 40, "TRCIDR8: P0 elements that wait to be committed"},  \
    [GUESSES] = {"guess_once_in", 0, 65535, 9, "wrong paths, cancelled; once in so many atoms"},   \
    [COMMITS] = {"commit_packets", 0, 1, 1,                                                        \
                 "commits have packets of their own, not cycle counts"},                           \
    [Q] = {"q_once_in", 0, 65535, 12, "Q elements, once in so many branches"},                     \
    [EVENTS] = {"events", 0, 1, 1, "event packets, and what else says nothing of the flow"},       \
    [THRESHOLD] = {"cycle_threshold", 0, 4095, 250, "fewer cycles are not counted"},               \
    [LONGER] = {"longer_once_in", 0, 65535, 7, "addresses in a longer form than needed"},          \
    [SHORTER] = {"shorter_once_in", 0, 65535, 7, "fewer atoms in a packet than fit"}

static const struct rec_option etmv4_options[SOURCE_ADDRESSES] = {
    [VERSION] = {"version", 2, 6, 6, "minor version of the architecture, 4.N"}, ETMV4_OPTIONS};

static const struct rec_option ete_options[OPTIONS] = {
    [VERSION] = {"version", 0, 3, 3, "minor version of the architecture, 1.N"},
    ETMV4_OPTIONS,
    [SOURCE_ADDRESSES] = {"source_once_in", 0, 65535, 12,
                          "source address packets, once in so many branches"},
    [MARKERS] = {"markers", 0, 1, 1, "timestamps have markers, which say where (from 1.1 on)"},
};

struct rec_unit {
    struct rec_unit_setup setup;
    struct rec_etmv4 *etm;
    struct rec_context context;
    struct rec_random random;
    uint32_t source_once_in;
    bool ete, a64;
    bool freedom;            /* forms are a matter of chance */
    struct rec_place branch; /* the target of the last indirect branch, which was not sent */
    bool untold;
    uint64_t cycle; /* of the last count */
};

static bool has_markers(const uint64_t *values, bool ete)
{
    return ete && values[MARKERS] && values[VERSION] >= 1;
}

static struct rec_etmv4_config registers_of(const struct rec_unit_setup *setup, bool ete)
{
    const uint64_t *v = setup->values;
    uint32_t old = !ete && v[VERSION] == 0;
    struct rec_etmv4_config registers = {
        .ete = ete,
        .m_profile = setup->m_profile,
        .idr0 = 0x08000ea1u | (v[Q] ? 3u << 15 : 0) | (v[COMMITS] ? 1u << 29 : 0) |
                (has_markers(v, ete) ? 1u << 23 : 0),
        .idr2 = old ? 0x00000488u : 0x20001088u,
        .idr8 = (uint32_t)v[SPECULATION],
        .threshold = (uint32_t)v[THRESHOLD],
        .configr = 1u | (uint32_t)v[BROADCAST] << 3 | (uint32_t)v[CYCLES] << 4 |
                   (uint32_t)v[CONTEXT_ID] << 6 | (uint32_t)v[VMID] << 7 |
                   (uint32_t)v[TIMESTAMPS] << 11 | (uint32_t)v[RETURN_STACK] << 12 |
                   (v[Q] ? 3u << 13 : 0),
        .guess_once_in = (uint32_t)v[GUESSES],
        .longer_once_in = (uint32_t)v[LONGER],
        .shorter_once_in = (uint32_t)v[SHORTER],
        .seed = setup->seed,
    };
    if (setup->m_profile) { /* addresses of 32 bits, no context ids */
        registers.idr2 = 0x20000004;
        registers.configr &= ~(1u << 6 | 1u << 7);
    }
    return registers;
}

static void settle(uint64_t *values, uint8_t family)
{
    (void)family;
    if (values[BROADCAST])
        values[RETURN_STACK] = 0; /* the stack is unused when every target is sent */
    if (values[SPECULATION] == 0) {
        values[GUESSES] = 0;
        values[COMMITS] = 1; /* nothing waits, nothing is committed */
    }
    if (!values[CYCLES])
        values[COMMITS] = 1;
}

static struct rec_unit *make(const struct rec_unit_setup *setup, bool ete)
{
    struct rec_unit *unit = calloc(1, sizeof(*unit));
    if (!unit)
        return NULL;
    struct rec_etmv4_config registers = registers_of(setup, ete);
    unit->setup = *setup;
    unit->ete = ete;
    unit->freedom = setup->values[LONGER] || setup->values[SHORTER];
    unit->source_once_in = ete ? (uint32_t)setup->values[SOURCE_ADDRESSES] : 0;
    unit->random.state = setup->seed + 1;
    unit->etm = rec_etmv4_new(&registers, setup->out);
    if (!unit->etm) {
        free(unit);
        return NULL;
    }
    return unit;
}

static struct rec_unit *etmv4_make(const struct rec_unit_setup *setup)
{
    return make(setup, false);
}

static struct rec_unit *ete_make(const struct rec_unit_setup *setup)
{
    return make(setup, true);
}

static void unit_free(struct rec_unit *unit)
{
    rec_etmv4_free(unit->etm);
    free(unit);
}

static void isa(const uint64_t *values, struct pug_isa_config *config)
{
    (void)values;
    config->arch = PUG_ARCH_AA64;
    config->track_it = true;
}

static bool is_t32(uint8_t isa)
{
    return isa == PUG_ISA_T32;
}

static bool by_context(const uint64_t *values)
{
    return values[CONTEXT_ID];
}

static struct rec_context context_of(const struct rec_unit *unit, uint8_t isa,
                                     const struct rec_situation *situation)
{
    return (struct rec_context){.el = situation->privilege,
                                .sf = isa == PUG_ISA_A64,
                                .ns = true,
                                .has_context_id =
                                    unit->setup.values[CONTEXT_ID] && !unit->setup.m_profile,
                                .has_vmid = unit->setup.values[VMID] && !unit->setup.m_profile,
                                .context_id = situation->context_id,
                                .vmid = 1};
}

static void begin(struct rec_unit *unit, const struct rec_place *at,
                  const struct rec_situation *situation, enum rec_why why)
{
    (void)why;
    unit->context = context_of(unit, at->isa, situation);
    unit->untold = false;
    rec_etmv4_sync(unit->etm);
    rec_etmv4_trace_on(unit->etm);
    rec_etmv4_start(unit->etm, at->address, is_t32(at->isa), &unit->context);
}

static bool once_in(struct rec_unit *unit, uint64_t n)
{
    return n > 0 && rec_random_once_in(&unit->random, (uint32_t)n);
}

/** A direct branch that was taken: an atom, or one of the packets that say it otherwise. */
static void take_direct(struct rec_unit *unit, const struct rec_step *step)
{
    const uint64_t *values = unit->setup.values;
    bool t32 = is_t32(step->next.isa);
    if (once_in(unit, unit->source_once_in)) {
        rec_etmv4_source_address(unit->etm, step->pc, is_t32(step->isa));
    } else if (!step->insn->link && rec_etmv4_q_reaches(unit->etm, step->next.address) &&
               once_in(unit, values[Q])) {
        rec_etmv4_q(unit->etm, step->since, step->next.address, t32);
        return;
    } else {
        rec_etmv4_atom(unit->etm, true);
    }
    if (step->insn->link)
        rec_etmv4_call(unit->etm, step->pc + step->insn->size, is_t32(step->isa));
    if (values[BROADCAST])
        rec_etmv4_address(unit->etm, step->next.address, t32);
}

static void take_indirect(struct rec_unit *unit, const struct rec_step *step)
{
    bool t32 = is_t32(step->next.isa);
    const uint64_t *values = unit->setup.values;
    if (step->returns || (step->insn->subtype == PUG_SUB_V8_ERET && !unit->ete)) {
        rec_etmv4_atom(unit->etm, true);
        rec_etmv4_exception_return(unit->etm);
        /* The exception that comes at once has the address, too. */
        bool told = step->trapped && unit->setup.m_profile && unit->freedom &&
                    rec_random_once_in(&unit->random, 2);
        if (!step->chained && !told)
            rec_etmv4_address(unit->etm, step->next.address, t32);
        return;
    }
    /* The exception that follows at once gives the branch's target. */
    if (step->trapped && !values[RETURN_STACK] && rec_random_once_in(&unit->random, 2)) {
        rec_etmv4_atom(unit->etm, true);
        unit->untold = true;
        return;
    }
    if (step->insn->link)
        rec_etmv4_call(unit->etm, step->pc + step->insn->size, is_t32(step->isa));
    rec_etmv4_indirect(unit->etm, step->next.address, t32);
}

static void instruction(struct rec_unit *unit, const struct rec_step *step)
{
    switch ((enum pug_instr_type)step->insn->type) {
    case PUG_INSTR_OTHER: break;
    case PUG_INSTR_BR:
        if (step->taken)
            take_direct(unit, step);
        else
            rec_etmv4_atom(unit->etm, false);
        break;
    case PUG_INSTR_BR_INDIRECT:
        if (step->taken)
            take_indirect(unit, step);
        else
            rec_etmv4_atom(unit->etm, false);
        break;
    default: rec_etmv4_atom(unit->etm, true);
    }
}

static uint32_t number_of(const struct rec_unit *unit, const struct rec_trap *trap)
{
    static const uint8_t numbers[] = {[REC_TRAP_SIGNAL] = DATA_FAULT,
                                      [REC_TRAP_EXCEPTION] = DATA_FAULT,
                                      [REC_TRAP_INTERRUPT] = IRQ,
                                      [REC_TRAP_CALL] = CALL};
    if (trap->numbered)
        return rec_exception_number(
            unit->setup.m_profile ? PUG_EXCEPTIONS_ARMV8M : PUG_EXCEPTIONS_ARMV8, trap->number);
    return trap->kind <= REC_TRAP_CALL ? numbers[trap->kind] : DATA_FAULT;
}

static void trap(struct rec_unit *unit, const struct rec_trap *trap)
{
    rec_etmv4_exception(unit->etm, number_of(unit, trap),
                        trap->chained ? TAIL_CHAIN : trap->back.address, is_t32(trap->back.isa),
                        unit->untold);
    unit->untold = false;
    if (!trap->traced) {
        rec_etmv4_finish(unit->etm);
        return;
    }
    struct rec_context context = context_of(unit, trap->to.isa, &trap->situation);
    if (context.el != unit->context.el || context.sf != unit->context.sf ||
        rec_random_once_in(&unit->random, 4))
        rec_etmv4_start(unit->etm, trap->to.address, is_t32(trap->to.isa), &context);
    else
        rec_etmv4_address(unit->etm, trap->to.address, is_t32(trap->to.isa));
    unit->context = context;
}

/**
 * Cycles since the last count, where there are enough; by chance a few of them, the others later.
 */
static void put_cycles(struct rec_unit *unit, uint64_t time)
{
    uint64_t cycles = time - unit->cycle, least = unit->setup.values[THRESHOLD];
    if (cycles < least)
        return;
    if (unit->freedom && cycles > least + 20 && rec_random_once_in(&unit->random, 3))
        cycles = least + rec_random_below(&unit->random, 20);
    unit->cycle += cycles;
    if (cycles > 0xfffff || (unit->freedom && rec_random_once_in(&unit->random, 50)))
        cycles = UINT32_MAX; /* the counter overflowed */
    rec_etmv4_cycles(unit->etm, (uint32_t)cycles);
}

/**
 * May a context packet stand alone? A decoder takes the instruction set of the last address packet,
 * where a Q packet or a BLX to a label may have led to the other one.
 */
static bool knows_isa(const struct rec_unit *unit, const struct rec_place *at)
{
    return at->isa == PUG_ISA_A64 || unit->setup.m_profile;
}

static void put_other(struct rec_unit *unit, const struct rec_place *at)
{
    unsigned minor = (unsigned)unit->setup.values[VERSION];
    bool markers = unit->ete || minor >= 6;
    switch (rec_random_below(&unit->random, unit->freedom ? 5 : 1)) {
    case 1: /* as it was */
        if (knows_isa(unit, at))
            rec_etmv4_context(unit->etm, &unit->context);
        break;
    case 2:
        if (markers)
            rec_etmv4_timestamp_marker(unit->etm);
        break;
    case 3:
        if (unit->ete && minor >= 3)
            rec_etmv4_instrumentation(unit->etm, unit->context.el, rec_random(&unit->random));
        break;
    case 4:
        if (unit->ete) {
            rec_etmv4_transaction(unit->etm, REC_TRANS_START);
            rec_etmv4_transaction(unit->etm, REC_TRANS_COMMIT);
        }
        break;
    default: rec_etmv4_event(unit->etm, (uint8_t)(1 + rec_random_below(&unit->random, 15)));
    }
}

static void between(struct rec_unit *unit, unsigned what, const struct rec_place *at,
                    const struct rec_situation *situation)
{
    const uint64_t *values = unit->setup.values;
    if (what & REC_BETWEEN_CONTEXT) {
        unit->context = context_of(unit, at->isa, situation);
        if (unit->freedom && knows_isa(unit, at) && rec_random_once_in(&unit->random, 2))
            rec_etmv4_context(unit->etm, &unit->context);
        else
            rec_etmv4_start(unit->etm, at->address, is_t32(at->isa), &unit->context);
    }
    if (what & REC_BETWEEN_TIME && values[TIMESTAMPS]) {
        if (has_markers(values, unit->ete))
            rec_etmv4_timestamp_marker(unit->etm);
        rec_etmv4_timestamp(unit->etm, situation->time);
    }
    if (what & REC_BETWEEN_CYCLES && values[CYCLES])
        put_cycles(unit, situation->time);
    if (what & REC_BETWEEN_OTHER && values[EVENTS])
        put_other(unit, at);
    if (what & REC_BETWEEN_SYNC) {
        rec_etmv4_sync(unit->etm);
        rec_etmv4_start(unit->etm, at->address, is_t32(at->isa), &unit->context);
    }
}

static void end(struct rec_unit *unit, const struct rec_place *last, const struct rec_place *next,
                uint32_t since)
{
    (void)last;
    if (since > 0)
        rec_etmv4_exception(unit->etm, unit->setup.m_profile ? DEBUG_HALT_M : DEBUG_HALT,
                            next->address, is_t32(next->isa), false);
    rec_etmv4_finish(unit->etm);
}

static void lose(struct rec_unit *unit, const struct rec_place *at)
{
    (void)at;
    if (rec_random_once_in(&unit->random, 4))
        rec_etmv4_discard(unit->etm);
    else
        rec_etmv4_overflow(unit->etm);
}

static void describe(const struct rec_unit_setup *setup, FILE *file, bool ete)
{
    struct rec_etmv4_config r = registers_of(setup, ete);
    uint32_t minor = (uint32_t)setup->values[VERSION];
    fprintf(file,
            "TRCCONFIGR(0x004)=0x%08x\nTRCTRACEIDR(0x010)=0x%08x\nTRCAUTHSTATUS(0x3ee)=0x000000cc\n"
            "TRCIDR0(0x078)=0x%08x\nTRCIDR1(0x079)=0x%08x\nTRCIDR2(0x07a)=0x%08x\n"
            "TRCIDR8(0x060)=0x%08x\nTRCIDR9(0x061)=0\nTRCIDR10(0x062)=0\nTRCIDR11(0x063)=0\n"
            "TRCIDR12(0x064)=0\nTRCIDR13(0x065)=0\n",
            r.configr, setup->source, r.idr0, ete ? 0x4100fff3u : 0x4100f402u | minor << 4, r.idr2,
            r.idr8);
    if (ete)
        fprintf(file, "TRCDEVARCH(0x3ef)=0x%08x\n", 0x47705a13u | minor << 16);
}

static void etmv4_describe(const struct rec_unit_setup *setup, FILE *file)
{
    describe(setup, file, false);
}

static void ete_describe(const struct rec_unit_setup *setup, FILE *file)
{
    describe(setup, file, true);
}

static const char *format(const struct rec_unit_setup *setup)
{
    (void)setup;
    return "coresight";
}

#define ETMV4_COMMON                                                                               \
    .families = 1u << REC_FAMILY_A64 | 1u << REC_FAMILY_ARM, .frames = true, .settle = settle,     \
    .free = unit_free, .isa = isa, .begin = begin, .instruction = instruction, .trap = trap,       \
    .between = between, .end = end, .lose = lose, .format = format, .by_context = by_context

static const struct rec_absent absent[] = {
    {"conditional",
     "QEMU does not tell whether an instruction's condition held, and nobody decodes "
     "conditional tracing (docs/recorder.md)"},
    {"load_store_p0",
     "no decoder exists for loads and stores that are P0 elements (docs/recorder.md)"},
    {NULL, NULL},
};

const struct rec_unit_class rec_unit_etmv4 = {.name = "etmv4",
                                              .device = "ETM4",
                                              .core = "Cortex-A53",
                                              .m_profile = PUG_ARCH_V7,
                                              .m_newest = PUG_ARCH_V8,
                                              .options = etmv4_options,
                                              .option_count = SOURCE_ADDRESSES,
                                              .absent = absent,
                                              .make = etmv4_make,
                                              .describe = etmv4_describe,
                                              ETMV4_COMMON};

const struct rec_unit_class rec_unit_ete = {.name = "ete",
                                            .device = "ETE",
                                            .core = "ARM-AA64",
                                            .options = ete_options,
                                            .option_count = OPTIONS,
                                            .absent = absent,
                                            .make = ete_make,
                                            .describe = ete_describe,
                                            ETMV4_COMMON};
