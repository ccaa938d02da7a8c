// SPDX-License-Identifier: MIT
/**
 * @file Registers. A set of registers is a list of runs of registers that have one size and one
 * feature; numbers go on from run to run, but where a run says its own.
 */
#include "target.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/** The knowledge of a register. */
enum meaning {
    NOTHING,
    ZERO, /* RISC-V: x0 */
    PC,
    LINK,   /* the link register, after a call */
    STATUS, /* Arm: cpsr or xpsr, of which only the instruction set is known */
    POSITION,
    LEVEL,
    CONTEXT,
};

struct run {
    const char *feature; /* begins with it; NULL: that of the run before */
    const char *names;   /* of each register, apart by blanks; with a %: by number from `first` */
    unsigned first, count, bits;
    int number;       /* of the first one; -1: goes on */
    const char *type; /* NULL: an integer */
    enum meaning meaning;
};

#define TRACE_RUNS                                                                                 \
    {"org.pugmark.trace", "trace_position", 0, 1, 64, -1, "uint64", POSITION},                     \
        {NULL, "trace_level", 0, 1, 32, -1, "int32", LEVEL},                                       \
        {NULL, "trace_context", 0, 1, 64, -1, "uint64", CONTEXT},                                  \
    {                                                                                              \
        NULL, NULL, 0, 0, 0, 0, NULL, NOTHING                                                      \
    }

static const struct run aarch64[] = {
    {"org.gnu.gdb.aarch64.core", "x%", 0, 30, 64, 0, NULL, NOTHING},
    {NULL, "x30", 0, 1, 64, -1, NULL, LINK},
    {NULL, "sp", 0, 1, 64, -1, "data_ptr", NOTHING},
    {NULL, "pc", 0, 1, 64, -1, "code_ptr", PC},
    {NULL, "cpsr", 0, 1, 32, -1, "int", NOTHING},
    TRACE_RUNS,
};

#define ARM_RUNS(feature_, status_)                                                                \
    {feature_, "r%", 0, 13, 32, 0, "uint32", NOTHING},                                             \
        {NULL, "sp", 0, 1, 32, -1, "data_ptr", NOTHING}, {NULL, "lr", 0, 1, 32, -1, NULL, LINK},   \
        {NULL, "pc", 0, 1, 32, -1, "code_ptr", PC}, {NULL, status_, 0, 1, 32, 25, NULL, STATUS},   \
        TRACE_RUNS

static const struct run arm[] = {ARM_RUNS("org.gnu.gdb.arm.core", "cpsr")};
static const struct run arm_m[] = {ARM_RUNS("org.gnu.gdb.arm.m-profile", "xpsr")};

#define RISCV_RUNS(bits_)                                                                          \
    {"org.gnu.gdb.riscv.cpu", "zero", 0, 1, bits_, 0, NULL, ZERO},                                 \
        {NULL, "ra", 0, 1, bits_, -1, "code_ptr", LINK},                                           \
        {NULL, "sp", 0, 1, bits_, -1, "data_ptr", NOTHING},                                        \
        {NULL, "gp tp t0 t1 t2 fp s1", 0, 7, bits_, -1, NULL, NOTHING},                            \
        {NULL, "a%", 0, 8, bits_, -1, NULL, NOTHING},                                              \
        {NULL, "s%", 2, 10, bits_, -1, NULL, NOTHING},                                             \
        {NULL, "t%", 3, 4, bits_, -1, NULL, NOTHING},                                              \
        {NULL, "pc", 0, 1, bits_, -1, "code_ptr", PC},                                             \
        {"org.gnu.gdb.riscv.fpu", "ft%", 0, 8, 64, -1, "ieee_double", NOTHING},                    \
        {NULL, "fs%", 0, 2, 64, -1, "ieee_double", NOTHING},                                       \
        {NULL, "fa%", 0, 8, 64, -1, "ieee_double", NOTHING},                                       \
        {NULL, "fs%", 2, 10, 64, -1, "ieee_double", NOTHING},                                      \
        {NULL, "ft%", 8, 4, 64, -1, "ieee_double", NOTHING},                                       \
        {NULL, "fflags frm fcsr", 0, 3, 32, 66, "int", NOTHING}, TRACE_RUNS

static const struct run riscv32[] = {RISCV_RUNS(32)};
static const struct run riscv64[] = {RISCV_RUNS(64)};

static const struct {
    const char *name;
    const struct run *runs;
} targets[] = {
    [GDB_AARCH64] = {"aarch64", aarch64},
    [GDB_ARM] = {"arm", arm},
    [GDB_ARM_M] = {"arm", arm_m},
    [GDB_RISCV32] = {"riscv:rv32", riscv32},
    [GDB_RISCV64] = {"riscv:rv64", riscv64},
};

enum gdb_target gdb_target_of(const struct pug_history_thread *thread, const char *core)
{
    switch (thread->isa) {
    case PUG_ISA_A64: return GDB_AARCH64;
    case PUG_ISA_RV32: return GDB_RISCV32;
    case PUG_ISA_RV64: return GDB_RISCV64;
    default: break;
    }
    return thread->m_profile || (core && strncmp(core, "Cortex-M", 8) == 0) ? GDB_ARM_M : GDB_ARM;
}

const char *gdb_target_name(enum gdb_target target)
{
    return targets[target].name;
}

uint64_t gdb_target_window(enum gdb_target target)
{
    return target == GDB_AARCH64 || target == GDB_RISCV64 ? UINT64_C(0xfffffffff0000000)
                                                          : UINT64_C(0xffff0000);
}

/* ---- the description ---- */

/** Writes the name of the n-th register of a run. */
static void name_register(const struct run *run, unsigned n, char *name, size_t size)
{
    const char *words = run->names;
    for (unsigned i = 0; i < n && !strchr(run->names, '%'); i++)
        words = strchr(words, ' ') ? strchr(words, ' ') + 1 : words;
    const int length = (int)strcspn(words, " %");
    if (words[length] == '%')
        snprintf(name, size, "%.*s%u", length, words, run->first + n);
    else
        snprintf(name, size, "%.*s", length, words);
}

static void describe_register(const struct run *run, unsigned n, struct pug_sink *sink)
{
    char name[32];
    name_register(run, n, name, sizeof(name));
    pug_sink_format(sink, "<reg name=\"%s\" bitsize=\"%u\"", name, run->bits);
    if (run->number >= 0 && n == 0)
        pug_sink_format(sink, " regnum=\"%d\"", run->number);
    if (run->type)
        pug_sink_format(sink, " type=\"%s\"", run->type);
    pug_sink_text(sink, "/>");
}

void gdb_target_describe(enum gdb_target target, struct pug_sink *sink)
{
    bool open = false;
    pug_sink_format(sink,
                    "<?xml version=\"1.0\"?><!DOCTYPE target SYSTEM \"gdb-target.dtd\">"
                    "<target version=\"1.0\"><architecture>%s</architecture>",
                    gdb_target_name(target));
    for (const struct run *run = targets[target].runs; run->names; run++) {
        if (run->feature)
            pug_sink_format(sink, "%s<feature name=\"%s\">", open ? "</feature>" : "",
                            run->feature);
        open = true;
        for (unsigned n = 0; n < run->count; n++)
            describe_register(run, n, sink);
    }
    pug_sink_text(sink, "</feature></target>");
}

/* ---- values ---- */

/** The value of a register; false: it is not known. */
static bool value_of(enum gdb_target target, enum meaning meaning,
                     const struct pug_history_place *place, uint64_t *value)
{
    const bool thumb = place->isa == PUG_ISA_T32 || place->isa == PUG_ISA_TEE;
    switch (meaning) {
    case ZERO: *value = 0; return true;
    case PC: *value = place->pc; return true;
    case LINK: *value = place->link; return place->has_link;
    case STATUS:
        *value = target == GDB_ARM_M ? UINT64_C(1) << 24 : 0x10 | (uint64_t)thumb << 5;
        return true;
    case POSITION: *value = place->position; return true;
    case LEVEL:
        *value = (uint64_t)(int64_t)place->level;
        return (place->context_flags & PUG_CTX_LEVEL) != 0;
    case CONTEXT:
        *value = place->context_id;
        return (place->context_flags & PUG_CTX_CONTEXT_ID) != 0;
    default: return false;
    }
}

/** The other name that a snapshot may have for a register: LR, X29, R13, or x2 of RISC-V. */
static void name_otherwise(enum gdb_target target, unsigned number, char *name, size_t size)
{
    if (target == GDB_AARCH64 && number == 30)
        snprintf(name, size, "lr");
    else if (number < 32)
        snprintf(name, size, "%c%u", target == GDB_ARM || target == GDB_ARM_M ? 'r' : 'x', number);
    else
        snprintf(name, size, "%s", target == GDB_ARM_M ? "cpsr" : "");
}

/** The value that a snapshot has; false: it has none. */
static bool read_kept(enum gdb_target target, const struct run *run, unsigned n, unsigned number,
                      const struct pug_snapshot_device *core, uint64_t *value)
{
    char name[32];
    if (!core || (run->feature && strcmp(run->feature, "org.pugmark.trace") == 0))
        return false;
    name_register(run, n, name, sizeof(name));
    if (core_register(core, name, value))
        return true;
    name_otherwise(target, number, name, sizeof(name));
    return name[0] && core_register(core, name, value);
}

static void put_value(enum gdb_target target, const struct run *run, unsigned n, unsigned number,
                      const struct gdb_state *state, struct pug_sink *sink)
{
    uint64_t value;
    const bool kept = run->meaning != PC && read_kept(target, run, n, number, state->core, &value);
    const bool known = kept || value_of(target, run->meaning, state->place, &value);
    for (unsigned i = 0; i < run->bits / 8; i++) {
        if (known)
            pug_sink_hex(sink, value >> 8 * i & 0xff, 2);
        else
            pug_sink_text(sink, "xx");
    }
}

void gdb_target_registers(enum gdb_target target, const struct gdb_state *state,
                          struct pug_sink *sink)
{
    unsigned at = 0;
    for (const struct run *run = targets[target].runs; run->names; run++) {
        at = run->number >= 0 ? (unsigned)run->number : at;
        for (unsigned n = 0; n < run->count; n++)
            put_value(target, run, n, at + n, state, sink);
        at += run->count;
    }
}

bool gdb_target_register(enum gdb_target target, const struct gdb_state *state, unsigned number,
                         struct pug_sink *sink)
{
    unsigned at = 0;
    for (const struct run *run = targets[target].runs; run->names; run++) {
        at = run->number >= 0 ? (unsigned)run->number : at;
        if (number >= at && number - at < run->count) {
            put_value(target, run, number - at, number, state, sink);
            return true;
        }
        at += run->count;
    }
    return false;
}

void gdb_target_expedite(enum gdb_target target, const struct gdb_state *state,
                         struct pug_sink *sink)
{
    unsigned at = 0;
    for (const struct run *run = targets[target].runs; run->names; run++) {
        at = run->number >= 0 ? (unsigned)run->number : at;
        if (run->meaning == PC || run->meaning == STATUS) {
            pug_sink_format(sink, "%x:", at);
            put_value(target, run, 0, at, state, sink);
            pug_sink_text(sink, ";");
        }
        at += run->count;
    }
}

/* ---- signals ---- */

enum { SIGNAL_ILLEGAL = 4, SIGNAL_TRAP = 5, SIGNAL_SEGMENT = 11 };

unsigned gdb_signal_of(const struct pug_history_place *place)
{
    const uint32_t number = place->exception;
    switch (place->exception_numbers) {
    case PUG_EXCEPTIONS_ARMV8:
        return number >= 10 && number <= 12 ? SIGNAL_SEGMENT
               : number == 3                ? SIGNAL_ILLEGAL
                                            : SIGNAL_TRAP;
    case PUG_EXCEPTIONS_ARMV7:
        return number == 11 || number == 12 || number == 4 ? SIGNAL_SEGMENT
               : number == 9                               ? SIGNAL_ILLEGAL
                                                           : SIGNAL_TRAP;
    case PUG_EXCEPTIONS_ARMV7M:
    case PUG_EXCEPTIONS_ARMV8M: {
        const unsigned vector =
            pug_exception_vector((enum pug_exception_numbers)place->exception_numbers, number);
        return vector == 4 || vector == 5 ? SIGNAL_SEGMENT
               : vector == 6              ? SIGNAL_ILLEGAL
                                          : SIGNAL_TRAP;
    }
    case PUG_EXCEPTIONS_RISCV:
        return number == 2                                                    ? SIGNAL_ILLEGAL
               : (number < 8 && number != 3) || (number >= 12 && number < 16) ? SIGNAL_SEGMENT
                                                                              : SIGNAL_TRAP;
    default: return SIGNAL_TRAP;
    }
}
