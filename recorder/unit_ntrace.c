// SPDX-License-Identifier: MIT
/** @file The engine's view of an N-Trace encoder. */
#include "recorder/ntrace.h"
#include "recorder/unit_riscv.h"

#include <stdlib.h>

/* SYNC and EVCODE reasons of the specification. */
enum { SYNC_EXIT_RESET = 1, SYNC_PERIODIC = 2, SYNC_ENABLE = 5, SYNC_RESTART = 7, SYNC_LOST = 6 };
enum { STOP_DISABLED = 4 };

enum { LEAST_ADDRESS = 8 }; /* bits */

enum value {
    BTM,
    IMPLICIT_RETURN,
    STACK_DEPTH,
    SEQUENTIAL_JUMP,
    REPEATED_HISTORY,
    REPEAT_BRANCH,
    ALL_JUMPS,
    EXTEND_MSB,
    EXACT_TRAPS,
    SIFIVE,
    TIMESTAMPS,
    STAMP_ONCE_IN,
    HIST_BITS,
    ICNT_MAX,
    ICNT_SYNC,
    OWNERSHIP,
    ADDR_BITS,
    TS_WIDTH,
    SRC_BITS,
    ZCMT,
    JVT_BASE,
    OPTIONS
};

static const struct rec_option options[OPTIONS] = {
    [BTM] = {"btm", 0, 1, 1, "branch trace messages, not histories"},
    [IMPLICIT_RETURN] = {"implicit_return", 1, 2, 1,
                         "1: returns are compared, 2: counted (all must match their calls)"},
    [STACK_DEPTH] = {"stack_depth", 32, 1024, 63, "return addresses that are remembered"},
    [SEQUENTIAL_JUMP] = {"sequential_jump", 1, 1, 1, "sequentially inferable jumps are left out"},
    [REPEATED_HISTORY] = {"repeated_history", 1, 1, 1, "equal full histories are counted"},
    [REPEAT_BRANCH] = {"repeat_branch", 1, 1, 1, "equal branch messages are counted"},
    [ALL_JUMPS] = {"all_jumps", 0, 1, 1, "direct jumps are told, too"},
    [EXTEND_MSB] = {"extend_addr_msb", 1, 1, 1, "addresses end where their sign repeats"},
    [EXACT_TRAPS] = {"exact_traps", 1, 1, 1, "exceptions are told from interrupts"},
    [SIFIVE] = {"sifive", 0, 1, 1, "the dialect before version 1.0"},
    [TIMESTAMPS] = {"timestamps", 1, 1, 1, "timestamps"},
    [STAMP_ONCE_IN] = {"timestamp_once_in", 8, 65535, 6, "of messages that need none; 1: all"},
    [HIST_BITS] = {"hist_bits", 32, 32, 32, "bits of a history with its stop bit, 2 to 32"},
    [ICNT_MAX] = {"icnt_max", (1u << 22) - 1, (1u << 22) - 1, 400, "a full instruction count"},
    [ICNT_SYNC] = {"icnt_sync", 0, 1, 1, "with btm a full count is told by a synchronisation"},
    [OWNERSHIP] = {"ownership", 1, 1, 1, "ownership messages: privilege and context"},
    [ADDR_BITS] = {"addr_bits", 0, 64, 0, "of addresses, the highest is a sign; 0: all"},
    [TS_WIDTH] = {"ts_width", 0, 63, 63, "bits of timestamps, which begin again; 0: all"},
    REC_RISCV_OPTIONS,
};

struct rec_unit {
    struct rec_unit_setup setup;
    struct rec_ntrace *encoder;
    struct rec_random random;
    uint64_t time;
};

static void settle(uint64_t *values, uint8_t family)
{
    if (values[HIST_BITS] < 2)
        values[HIST_BITS] = 2;
    if (values[ICNT_MAX] < 8)
        values[ICNT_MAX] = 8;
    if (values[STAMP_ONCE_IN] < 1)
        values[STAMP_ONCE_IN] = 1;
    unsigned xlen = rec_riscv_width(family);
    if (values[ADDR_BITS] == 0 || values[ADDR_BITS] > xlen)
        values[ADDR_BITS] = xlen;
    if (values[ADDR_BITS] < LEAST_ADDRESS)
        values[ADDR_BITS] = LEAST_ADDRESS;
    if (values[STACK_DEPTH] < 1)
        values[STACK_DEPTH] = 1;
    if (values[IMPLICIT_RETURN] == 2)
        values[STACK_DEPTH] = 1024;
}

static bool reaches(const uint64_t *values, uint8_t family, bool data,
                    const struct rec_path_item *item)
{
    (void)data;
    return rec_riscv_repeats(item->block->address, (unsigned)values[ADDR_BITS],
                             rec_riscv_width(family), true);
}

static struct rec_ntrace_options options_of(const struct rec_unit_setup *setup)
{
    static const enum rec_ntrace_return returns[] = {
        REC_NTRACE_RETURN_OFF, REC_NTRACE_RETURN_COMPARE, REC_NTRACE_RETURN_COUNT};
    const uint64_t *v = setup->values;
    return (struct rec_ntrace_options){
        .xlen = rec_riscv_xlen(setup),
        .addr_bits = (unsigned)v[ADDR_BITS],
        .src_bits = (unsigned)v[SRC_BITS],
        .src = setup->source,
        .btm = v[BTM],
        .implicit_return = returns[v[IMPLICIT_RETURN]],
        .stack_depth = (uint32_t)v[STACK_DEPTH],
        .sequential_jump = v[SEQUENTIAL_JUMP],
        .repeated_history = v[REPEATED_HISTORY],
        .repeat_branch = v[REPEAT_BRANCH],
        .all_jumps = v[ALL_JUMPS],
        .extend_addr_msb = v[EXTEND_MSB],
        .exact_traps = v[EXACT_TRAPS],
        .sifive = v[SIFIVE],
        .timestamps = v[TIMESTAMPS],
        .ts_width = (unsigned)v[TS_WIDTH],
        .timestamp_once_in = (uint32_t)v[STAMP_ONCE_IN],
        .hist_bits = (unsigned)v[HIST_BITS],
        .icnt_max = (uint32_t)v[ICNT_MAX],
        .icnt_sync = v[ICNT_SYNC],
        .seed = setup->seed,
    };
}

static struct rec_unit *make(const struct rec_unit_setup *setup)
{
    struct rec_unit *unit = calloc(1, sizeof(*unit));
    if (!unit)
        return NULL;
    struct rec_ntrace_options encoder = options_of(setup);
    unit->setup = *setup;
    unit->random.state = setup->seed + 1;
    unit->encoder = rec_ntrace_new(&encoder, setup->out);
    if (!unit->encoder) {
        free(unit);
        return NULL;
    }
    return unit;
}

static void unit_free(struct rec_unit *unit)
{
    rec_ntrace_free(unit->encoder);
    free(unit);
}

static void isa(const uint64_t *values, struct pug_isa_config *config)
{
    config->zcmp_zcmt = values[ZCMT];
    config->jvt_base = values[JVT_BASE];
}

static void situate(struct rec_unit *unit, const struct rec_situation *situation)
{
    unit->time = situation->time;
    rec_ntrace_time(unit->encoder, situation->time);
}

static void own(struct rec_unit *unit, const struct rec_situation *situation)
{
    if (unit->setup.values[OWNERSHIP])
        rec_ntrace_ownership(unit->encoder, 2, situation->privilege, false, situation->context_id);
}

static void begin(struct rec_unit *unit, const struct rec_place *at,
                  const struct rec_situation *situation, enum rec_why why)
{
    situate(unit, situation);
    rec_ntrace_start(unit->encoder, why == REC_WHY_OVERFLOW ? SYNC_RESTART : SYNC_ENABLE,
                     at->address);
    own(unit, situation);
}

static void instruction(struct rec_unit *unit, const struct rec_step *step)
{
    rec_ntrace_retire(unit->encoder, step->pc, step->insn, step->next.address);
}

static void trap(struct rec_unit *unit, const struct rec_trap *trap)
{
    if (!trap->traced) {
        rec_ntrace_stop(unit->encoder, STOP_DISABLED);
        return;
    }
    situate(unit, &trap->situation);
    rec_ntrace_trap(unit->encoder, trap->kind == REC_TRAP_INTERRUPT, trap->to.address);
}

static void between(struct rec_unit *unit, unsigned what, const struct rec_place *at,
                    const struct rec_situation *situation)
{
    situate(unit, situation);
    if (what & REC_BETWEEN_CONTEXT)
        own(unit, situation);
    if (what & REC_BETWEEN_OTHER)
        rec_ntrace_idle(unit->encoder, 1 + rec_random_below(&unit->random, 4));
    if (what & REC_BETWEEN_SYNC)
        rec_ntrace_sync(unit->encoder, SYNC_PERIODIC, at->address,
                        rec_random_once_in(&unit->random, 2));
}

static void end(struct rec_unit *unit, const struct rec_place *last, const struct rec_place *next,
                uint32_t since)
{
    (void)last, (void)next, (void)since;
    rec_ntrace_stop(unit->encoder, STOP_DISABLED);
}

static void lose(struct rec_unit *unit, const struct rec_place *at)
{
    rec_ntrace_sync(unit->encoder, SYNC_LOST, at->address, false);
    rec_ntrace_overflow(unit->encoder, 4);
}

static void describe(const struct rec_unit_setup *setup, FILE *file)
{
    const struct rec_ntrace_options o = options_of(setup);
    fprintf(file,
            "xlen=%u\nsrc_bits=%u\nsrc_id=%u\nbtm=%d\nimplicit_return=%d\nsequential_jump=%d\n"
            "all_jumps=%d\nextend_addr_msb=%d\nts=%d\ndialect=%s\naddr_bits=%u\nts_width=%u\n"
            "return_stack_depth=%u\n",
            o.xlen, o.src_bits, o.src, o.btm, o.implicit_return != REC_NTRACE_RETURN_OFF,
            o.sequential_jump, o.all_jumps, o.extend_addr_msb, o.timestamps,
            o.sifive ? "sifive-pre1" : "ratified", o.addr_bits, o.ts_width, o.stack_depth);
    rec_riscv_describe(file, setup->values[ZCMT], setup->values[JVT_BASE]);
}

static void describe_buffer(const struct rec_unit_setup *setup, FILE *file)
{
    fprintf(file, "src_bits=%u\nsrc_id=%u\n", (unsigned)setup->values[SRC_BITS], setup->source);
}

static const char *format(const struct rec_unit_setup *setup)
{
    (void)setup;
    return "nexus";
}

const struct rec_unit_class rec_unit_ntrace = {
    .name = "ntrace",
    .device = "N-Trace",
    REC_RISCV_CLASS,
};
