// SPDX-License-Identifier: MIT
/** @file The engine's view of an ETMv3. */
#include "isa/arm_access.h"
#include "pugmark/advanced/settings.h"
#include "pugmark/element.h"
#include "recorder/etmv3.h"
#include "recorder/exceptions.h"
#include "recorder/unit_armv7.h"

#include <stdlib.h>

enum value {
    VERSION,
    CYCLES,
    TIMESTAMPS,
    WIDE_TIMESTAMPS,
    CONTEXT_BYTES,
    BROADCAST,
    ALTERNATIVE,
    OTHERS,
    LONGER,
    SHORTER,
    DATA_FORM,
    LATER,
    OPTIONS
};

static const struct rec_option options[OPTIONS] = {
    [VERSION] = {"version", 5, 5, 5, "minor version of the architecture, 3.N"},
    [CYCLES] = {"cycles", 0, 1, 1, "cycle-accurate: every instruction with its cycles"},
    [ALTERNATIVE] = {"alternative", 1, 1, 1, "alternative branch packets, from version 3.4"},
    [DATA_FORM] = {"data_form", 0, 2, 2, "of --data: 0 addresses and values, 1, 2 only these"},
    REC_ARMV7_OPTIONS,
    [LATER] = {"later_once_in", 0, 65535, 7, "of --data: values out of order, once in so many"},
};

enum { BOTH, ADDRESSES, VALUES };               /* DATA_FORM */
enum { TRACE_VALUES = 4, TRACE_ADDRESSES = 8 }; /* ETMCR */

enum { TAGS = 4 };

struct rec_unit {
    struct rec_unit_setup setup;
    struct rec_etmv3 etm;
    struct rec_random random;
    struct {
        bool waits;
        uint32_t value;
    } later[TAGS]; /* of placeholders, by tag; the first is none */
};

static struct rec_etmv3_config registers_of(const struct rec_unit_setup *setup)
{
    const uint64_t *v = setup->values;
    uint32_t data = (v[DATA_FORM] == ADDRESSES ? 0u : TRACE_VALUES) |
                    (v[DATA_FORM] == VALUES ? 0u : TRACE_ADDRESSES);
    return (struct rec_etmv3_config){
        .control = (setup->data ? data : 0) |
                   (setup->m_profile ? 0 : rec_armv7_context_field(v[CONTEXT_BYTES])) |
                   (uint32_t)v[CYCLES] << 12 | (uint32_t)v[BROADCAST] << 8 |
                   (uint32_t)v[TIMESTAMPS] << 28,
        .id = 0x4100f200u | (uint32_t)v[VERSION] << 4 | (uint32_t)v[ALTERNATIVE] << 20,
        .code = (uint32_t)v[WIDE_TIMESTAMPS] << 29 | 1u << 28 | 1u << 26 | 1u << 22,
        .m_profile = setup->m_profile,
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
    if (values[VERSION] < 5)
        values[TIMESTAMPS] = 0;
}

static struct rec_unit *make(const struct rec_unit_setup *setup)
{
    struct rec_unit *unit = calloc(1, sizeof(*unit));
    if (!unit)
        return NULL;
    struct rec_etmv3_config registers = registers_of(setup);
    unit->setup = *setup;
    unit->random.state = setup->seed;
    rec_etmv3_begin(&unit->etm, &registers, setup->out);
    unit->etm.freedom = rec_armv7_freedom_of(setup, setup->values[LONGER], setup->values[SHORTER]);
    return unit;
}

static void unit_free(struct rec_unit *unit)
{
    free(unit);
}

static void isa(const uint64_t *values, struct pug_isa_config *config)
{
    (void)values;
    config->arch = PUG_ARCH_V7;
    config->track_it = true;
}

/** Cycles before an instruction. */
static uint32_t some_cycles(struct rec_unit *unit)
{
    if (!unit->setup.values[CYCLES])
        return 0;
    if (rec_random_once_in(&unit->random, 50))
        return rec_random_below(&unit->random, 300);
    return rec_random_below(&unit->random, 3);
}

static void put_isync(struct rec_unit *unit, const struct rec_place *at,
                      const struct rec_situation *situation, uint8_t reason)
{
    bool cycles = unit->setup.values[CYCLES] && reason != PUG_ISYNC_PERIODIC;
    rec_etmv3_isync(&unit->etm, &(struct rec_etmv3_isync){.address = (uint32_t)at->address,
                                                          .isa = at->isa,
                                                          .reason = reason,
                                                          .non_secure = true,
                                                          .has_cycles = cycles,
                                                          .cycles = some_cycles(unit),
                                                          .context_id = situation->context_id});
}

static void begin(struct rec_unit *unit, const struct rec_place *at,
                  const struct rec_situation *situation, enum rec_why why)
{
    rec_etmv3_data_sync(&unit->etm);
    rec_etmv3_a_sync(&unit->etm);
    put_isync(unit, at, situation,
              why == REC_WHY_OVERFLOW ? PUG_ISYNC_RESTART_OVERFLOW : PUG_ISYNC_TRACE_ENABLE);
}

static uint32_t tells(const uint64_t *values, uint8_t isa_of, const uint8_t *bytes,
                      struct rec_path_access *accesses, uint32_t count)
{
    enum { T32_WIDE = 0xe8 };
    struct pug_arm_access kind;
    bool wide = isa_of == PUG_ISA_A32 || bytes[1] >= T32_WIDE;
    uint32_t opcode = bytes[0] | (uint32_t)bytes[1] << 8, kept = 0;
    if (wide)
        opcode |= (uint32_t)bytes[2] << 16 | (uint32_t)bytes[3] << 24;
    if (!pug_arm_access(isa_of, opcode, &kind) || kind.coprocessor)
        return 0;
    for (uint32_t i = 0; i < count; i++) {
        unsigned size = 1u << accesses[i].size;
        if ((size != kind.size && !(size == 8 && kind.size == 4)) ||
            (values[DATA_FORM] != ADDRESSES && !accesses[i].known))
            return 0;
        /* For a store-exclusive QEMU loads, too, to compare. */
        if (kind.access != PUG_ACCESS_SWAP && accesses[i].store != (kind.access != PUG_ACCESS_LOAD))
            continue;
        accesses[kept++] = accesses[i];
    }
    return kind.access == PUG_ACCESS_SWAP && kept != 2 ? 0 : kept;
}

/** The value of the placeholder with this tag. */
static void put_later(struct rec_unit *unit, unsigned tag)
{
    if (unit->later[tag].waits)
        rec_etmv3_data_value(&unit->etm, (uint8_t)tag, unit->later[tag].value);
    unit->later[tag].waits = false;
}

static void put_all_later(struct rec_unit *unit)
{
    for (unsigned tag = 1; tag < TAGS; tag++)
        put_later(unit, tag);
}

/** One transfer, which makes all that the instruction does, with its value to come. */
static void put_placeholder(struct rec_unit *unit, const struct rec_path_access *access)
{
    unsigned tag = 1 + rec_random_below(&unit->random, TAGS - 1);
    uint32_t address = (uint32_t)access->address;
    put_later(unit, tag);
    rec_etmv3_data_placeholder(&unit->etm, (uint8_t)tag, &address);
    unit->later[tag].waits = true;
    unit->later[tag].value = (uint32_t)access->value;
    if (access->size < 2)
        unit->later[tag].value &= (1u << (8u << access->size)) - 1;
}

/** A value that is identified by its place alone has to stay there. */
static bool comes_later(struct rec_unit *unit, const struct rec_step *step)
{
    uint64_t once_in = unit->setup.values[LATER];
    return once_in > 0 && unit->setup.values[DATA_FORM] == BOTH && step->access_count == 1 &&
           step->accesses[0].size <= 2 && rec_random_once_in(&unit->random, (uint32_t)once_in);
}

/** A transfer for each word; with its address where it does not follow the one before. */
static void put_data(struct rec_unit *unit, const struct rec_step *step)
{
    uint32_t behind = 0;
    bool first = true;
    if (comes_later(unit, step)) {
        put_placeholder(unit, &step->accesses[0]);
        return;
    }
    for (uint32_t i = 0; i < step->access_count; i++) {
        const struct rec_path_access *access = &step->accesses[i];
        uint32_t address = (uint32_t)access->address;
        for (unsigned shift = 0; shift < 8u << access->size; shift += 32, address += 4) {
            uint64_t value = access->value >> shift;
            if (access->size < 2)
                value &= (1u << (8u << access->size)) - 1;
            rec_etmv3_data(&unit->etm, first || address != behind ? &address : NULL,
                           (uint32_t)value);
            first = false;
            behind = address + 4;
        }
    }
}

static void instruction(struct rec_unit *unit, const struct rec_step *step)
{
    bool branch = step->insn->type == PUG_INSTR_BR || step->insn->type == PUG_INSTR_BR_INDIRECT;
    bool tells = step->insn->type == PUG_INSTR_BR_INDIRECT || unit->setup.values[BROADCAST];
    rec_etmv3_atom(&unit->etm, !branch || step->taken, some_cycles(unit));
    if (unit->setup.values[LATER] && step->access_count == 0 && !branch &&
        rec_random_once_in(&unit->random, 8))
        put_later(unit, 1 + rec_random_below(&unit->random, TAGS - 1));
    put_data(unit, step);
    if (step->returns)
        rec_etmv3_plain(&unit->etm, PUG_ETMV3_EXCEPTION_EXIT);
    if (step->chained)
        return; /* the branch to the next handler follows */
    if (branch && step->taken && !tells)
        rec_etmv3_runs_in(&unit->etm, step->next.isa);
    if (branch && step->taken && tells)
        rec_etmv3_branch(&unit->etm, (uint32_t)step->next.address, step->next.isa, NULL);
}

static uint16_t number_of(const struct rec_unit *unit, const struct rec_trap *trap)
{
    if (!trap->numbered)
        return rec_armv7_number(trap->kind);
    return (uint16_t)rec_exception_number(
        unit->setup.m_profile ? PUG_EXCEPTIONS_ARMV7M : PUG_EXCEPTIONS_ARMV7, trap->number);
}

static void trap(struct rec_unit *unit, const struct rec_trap *trap)
{
    struct rec_place to = trap->traced ? trap->to : rec_armv7_vector(trap->kind);
    /* Now and then the instruction that trapped was begun, and is taken back. */
    bool cancel = trap->begun && rec_random_once_in(&unit->random, 2);
    if (cancel)
        rec_etmv3_atom(&unit->etm, true, 0);
    rec_etmv3_branch(&unit->etm, (uint32_t)to.address, to.isa,
                     &(struct rec_etmv3_exception){
                         .number = number_of(unit, trap), .cancel = cancel, .non_secure = true});
}

static bool has_context(const struct rec_unit *unit)
{
    return unit->setup.values[CONTEXT_BYTES] && !unit->setup.m_profile;
}

static void put_other(struct rec_unit *unit, const struct rec_situation *situation)
{
    switch (rec_random_below(&unit->random, 4)) {
    case 0: rec_etmv3_plain(&unit->etm, PUG_ETMV3_TRIGGER); break;
    case 1: rec_etmv3_plain(&unit->etm, PUG_ETMV3_IGNORE); break;
    case 2: /* as it was */
        if (has_context(unit))
            rec_etmv3_context_id(&unit->etm, situation->context_id);
        break;
    default:
        if (unit->setup.values[VERSION] >= 5)
            rec_etmv3_vmid(&unit->etm, (uint8_t)rec_random_below(&unit->random, 256));
    }
}

static void between(struct rec_unit *unit, unsigned what, const struct rec_place *at,
                    const struct rec_situation *situation)
{
    const uint64_t *values = unit->setup.values;
    if (what & REC_BETWEEN_CONTEXT && has_context(unit))
        rec_etmv3_context_id(&unit->etm, situation->context_id);
    if (what & REC_BETWEEN_TIME && values[TIMESTAMPS])
        rec_etmv3_timestamp(&unit->etm, situation->time, rec_random_once_in(&unit->random, 20));
    if (what & REC_BETWEEN_OTHER && values[OTHERS])
        put_other(unit, situation);
    if (what & REC_BETWEEN_SYNC) {
        put_all_later(unit);
        rec_etmv3_a_sync(&unit->etm);
        put_isync(unit, at, situation, PUG_ISYNC_PERIODIC);
        rec_etmv3_data_sync(&unit->etm);
    }
}

static void end(struct rec_unit *unit, const struct rec_place *last, const struct rec_place *next,
                uint32_t since)
{
    (void)last, (void)next, (void)since; /* the unit got every instruction */
    put_all_later(unit);
    rec_etmv3_flush(&unit->etm);
}

static void lose(struct rec_unit *unit, const struct rec_place *at)
{
    (void)at;
    put_all_later(unit);
    rec_etmv3_flush(&unit->etm);
}

static void describe(const struct rec_unit_setup *setup, FILE *file)
{
    struct rec_etmv3_config r = registers_of(setup);
    rec_armv7_describe(file, r.control, r.id, r.code, setup->source);
}

void rec_armv7_describe(FILE *file, uint32_t control, uint32_t id, uint32_t code, uint16_t source)
{
    fprintf(file,
            "ETMCR(0x000)=0x%08x\nETMCCER(0x07a)=0x%08x\nETMIDR(0x079)=0x%08x\n"
            "ETMTRACEIDR(0x080)=0x%08x\n",
            control, code, id, source);
}

const char *rec_armv7_format(const struct rec_unit_setup *setup)
{
    (void)setup;
    return "coresight";
}

const struct rec_unit_class rec_unit_etmv3 = {
    .name = "etmv3",
    .device = "ETM3.5",
    .core = "Cortex-A5",
    .families = 1u << REC_FAMILY_ARM,
    .every = true,
    .frames = true,
    .m_profile = PUG_ARCH_V7,
    .m_newest = PUG_ARCH_V7,
    .options = options,
    .option_count = OPTIONS,
    .by_context = by_context,
    REC_UNIT_FUNCTIONS,
    .tells = tells,
    .format = rec_armv7_format,
};
