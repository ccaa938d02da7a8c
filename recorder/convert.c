// SPDX-License-Identifier: MIT
#include "recorder/convert.h"

#include "pugmark/advanced/isa.h"
#include "recorder/path_build.h"
#include "recorder/spike.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define LINE 1024

/** A line of Spike's: "core   0: 3 0x0000000080000000 (0x00000297) x5 0x…". */
struct spike_line {
    unsigned cpu, privilege;
    uint64_t address, opcode;
    bool wide;        /* addresses have 64 bits */
    const char *rest; /* of the line: what was written */
};

static bool parse_spike(const char *line, struct spike_line *spike)
{
    int from = 0, to = 0, end = 0;
    if (sscanf(line, "core %u: %u 0x%n%" SCNx64 "%n (0x%" SCNx64 "%n)", &spike->cpu,
               &spike->privilege, &from, &spike->address, &to, &spike->opcode, &end) < 4 ||
        end == 0)
        return false;
    spike->wide = to - from > 8;
    spike->rest = line + end;
    return true;
}

/** A control register that the line's instruction wrote: "… c384_satp 0x8000…". */
static bool find_written(const char *line, const char *name, uint64_t *value)
{
    const char *at = strstr(line, name);
    return at && sscanf(at + strlen(name), " 0x%" SCNx64, value) == 1;
}

/** "core   0: exception trap_user_ecall, epc 0x…", or "… exception interrupt #7, epc 0x…". */
static bool parse_spike_trap(const char *line, struct rec_path_item *item)
{
    unsigned cpu;
    char name[64];
    uint64_t epc;
    if (sscanf(line, "core %u: exception %63[^,], epc 0x%" SCNx64, &cpu, name, &epc) < 3)
        return false;
    bool interrupt = strncmp(name, "interrupt", 9) == 0;
    *item = (struct rec_path_item){.kind = REC_PATH_TRAPPED,
                                   .cpu = cpu,
                                   .value = interrupt ? REC_TRAP_INTERRUPT : REC_TRAP_EXCEPTION,
                                   .address = epc,
                                   .known = true};
    return cpu < REC_PATH_CPUS;
}

#define QEMU_THUMB 0x00800000u /* of a block's `cs_base` */
#define QEMU_COUNT 0x1ffu      /* of its `cflags`: instructions that it may have; 0: any number */

/**
 * "Trace 0: 0x7f… [00000000/0000000000400544/00000000/ff000000] main": the second one is it, the
 * first is `cs_base`, the last `cflags`.
 */
struct qemu_line {
    unsigned cpu;
    uint64_t base, address;
    unsigned count;
};

static bool parse_qemu(const char *line, struct qemu_line *qemu)
{
    unsigned cflags = 0;
    int got = sscanf(line, "Trace %u: %*s [%" SCNx64 "/%" SCNx64 "/%*x/%x", &qemu->cpu, &qemu->base,
                     &qemu->address, &cflags);
    qemu->count = cflags & QEMU_COUNT;
    return got >= 3 && qemu->cpu < REC_PATH_CPUS;
}

static bool parse_address(const char *line, uint64_t *address)
{
    char *end;
    *address = strtoull(line, &end, 16);
    return end != line && (*end == 0 || strchr(" \t\r\n,;", *end));
}

bool rec_convert_guess(const char *line, struct rec_convert *convert)
{
    struct spike_line spike;
    struct qemu_line qemu;
    uint64_t address;
    if (parse_spike(line, &spike)) {
        convert->form = REC_CONVERT_SPIKE;
        convert->family = spike.wide ? REC_FAMILY_RV64 : REC_FAMILY_RV32;
    } else if (parse_qemu(line, &qemu)) {
        convert->form = REC_CONVERT_QEMU;
    } else if (parse_address(line, &address)) {
        convert->form = REC_CONVERT_ADDRESSES;
    } else {
        return false;
    }
    return true;
}

/* ---- building ---- */

struct run {
    struct rec_convert *convert;
    struct rec_path_builder *builder;
    unsigned privilege[REC_PATH_CPUS]; /* + 1; 0: not known */
    bool scontext[REC_PATH_CPUS];      /* that the context comes from, not satp */
    struct rec_spike_registers registers[REC_PATH_CPUS];
    struct pug_isa_config isa;
    uint64_t at[REC_PATH_CPUS]; /* QEMU: the block that runs, + 1; 0: none */
    enum rec_path_isa at_isa[REC_PATH_CPUS];
    unsigned at_count[REC_PATH_CPUS]; /* instructions that it may have; 0: any number */
};

static bool wrong(struct run *run, const char *what, uint64_t address)
{
    snprintf(run->convert->why, sizeof(run->convert->why), "line %" PRIu64 ": %s 0x%" PRIx64,
             run->convert->lines, what, address);
    return false;
}

/**
 * A context that is in force from the next instruction on: scontext, where it is used, else the
 * address space.
 */
static bool take_context(struct run *run, unsigned cpu, const char *line)
{
    struct rec_path_item item = {.kind = REC_PATH_IN_CONTEXT, .cpu = cpu};
    uint64_t value;
    if (find_written(line, " c1448_scontext", &value)) {
        run->scontext[cpu] = true;
        item.value = (uint32_t)value;
    } else if (!run->scontext[cpu] && find_written(line, " c384_satp", &value)) {
        item.value = rec_path_asid((enum rec_path_family)run->convert->family, value);
    } else {
        return true;
    }
    return rec_path_builder_event(run->builder, &item);
}

static bool take_accesses(struct run *run, const struct spike_line *spike, const uint8_t *bytes)
{
    struct rec_path_access accesses[REC_SPIKE_ACCESSES];
    unsigned count =
        rec_spike_accesses(&run->registers[spike->cpu], (enum rec_path_family)run->convert->family,
                           bytes, spike->rest, accesses);
    for (unsigned i = 0; i < count; i++)
        if (!rec_path_builder_access(run->builder, spike->cpu, &accesses[i]))
            return false;
    return true;
}

static bool take_spike(struct run *run, const char *line)
{
    struct spike_line spike;
    struct rec_path_item item;
    if (parse_spike_trap(line, &item))
        return rec_path_builder_event(run->builder, &item);
    if (!parse_spike(line, &spike) || spike.cpu >= REC_PATH_CPUS)
        return true; /* another record */
    if (run->privilege[spike.cpu] != spike.privilege + 1) {
        item = (struct rec_path_item){
            .kind = REC_PATH_IN_PRIVILEGE, .cpu = spike.cpu, .value = spike.privilege};
        run->privilege[spike.cpu] = spike.privilege + 1;
        if (!rec_path_builder_event(run->builder, &item))
            return false;
    }
    uint8_t bytes[8];
    for (unsigned i = 0; i < sizeof(bytes); i++)
        bytes[i] = (uint8_t)(spike.opcode >> 8 * i);
    unsigned size = rec_path_insn_size(REC_PATH_RISCV, bytes);
    return (!run->convert->data || take_accesses(run, &spike, bytes)) &&
           rec_path_builder_insn(run->builder, spike.cpu, spike.address, REC_PATH_RISCV, bytes,
                                 size) &&
           take_context(run, spike.cpu, line);
}

/** Bytes of the instruction from the program. 0: it is not there. */
static unsigned fetch(const struct run *run, uint64_t address, enum rec_path_isa isa,
                      uint8_t bytes[8])
{
    const struct pug_reader_space anywhere = {.space = PUG_SPACE_ANY};
    memset(bytes, 0, 8);
    int64_t got = pug_image_read(run->convert->image, &anywhere, address, bytes, 8);
    unsigned size = got >= 2 ? rec_path_insn_size((uint8_t)isa, bytes) : 0;
    return size <= got ? size : 0;
}

static enum rec_path_isa isa_at(const struct run *run, bool t32)
{
    switch (run->convert->family) {
    case REC_FAMILY_A64: return REC_PATH_A64;
    case REC_FAMILY_ARM: return t32 || run->convert->t32_only ? REC_PATH_T32 : REC_PATH_A32;
    default: return REC_PATH_RISCV;
    }
}

/** Give an instruction, and a call of the supervisor besides. RISC-V's ecall does not retire. */
static bool give_insn(struct run *run, unsigned cpu, uint64_t address, enum rec_path_isa isa,
                      const uint8_t *bytes, unsigned size)
{
    const struct rec_path_item asked = {.kind = REC_PATH_ASKED, .cpu = cpu};
    bool call = rec_path_is_call((uint8_t)isa, bytes);
    return ((call && isa == REC_PATH_RISCV) ||
            rec_path_builder_insn(run->builder, cpu, address, isa, bytes, size)) &&
           (!call || rec_path_builder_event(run->builder, &asked));
}

static bool take_address(struct run *run, const char *line)
{
    uint64_t address;
    uint8_t bytes[8];
    if (!parse_address(line, &address))
        return true;
    enum rec_path_isa isa = isa_at(run, address & 1);
    address &= ~UINT64_C(1);
    unsigned size = fetch(run, address, isa, bytes);
    if (size == 0)
        return wrong(run, "the program has nothing at", address);
    return give_insn(run, 0, address, isa, bytes, size);
}

/** How a block that QEMU translated ends. */
struct ending {
    uint64_t after; /* its last instruction */
    struct pug_insn insn;
};

/**
 * Returns where QEMU ends a block that begins there: at a branch, a call, its page's end, or after
 * the most instructions that it may have; or at `stop`, where that is not 0. False, having said so:
 * the program has not all of it.
 */
static bool find_end(struct run *run, unsigned cpu, uint64_t stop, struct ending *ending)
{
    static const enum pug_isa isas[] = {PUG_ISA_A64, PUG_ISA_A32, PUG_ISA_T32, PUG_ISA_RV64};
    enum rec_path_isa isa = run->at_isa[cpu];
    enum pug_isa which = run->convert->family == REC_FAMILY_RV32 ? PUG_ISA_RV32 : isas[isa];
    ending->after = run->at[cpu] - 1;
    uint64_t page = ending->after | 0xfff;
    unsigned count = 0;
    uint8_t it = 0;
    for (;;) {
        uint8_t bytes[8];
        unsigned size = fetch(run, ending->after, isa, bytes);
        if (size == 0)
            return wrong(run, "the program has nothing at", ending->after);
        ending->insn = (struct pug_insn){.type = PUG_INSTR_OTHER};
        (void)pug_isa_classify(&run->isa, which, ending->after, bytes, size, &it, &ending->insn);
        ending->after += size;
        if (ending->insn.type == PUG_INSTR_BR || ending->insn.type == PUG_INSTR_BR_INDIRECT ||
            rec_path_is_call((uint8_t)isa, bytes) || ending->after > page ||
            ending->after == stop || ++count == run->at_count[cpu])
            return true;
    }
}

/** Can a block with this ending lead there? */
static bool leads_to(const struct ending *ending, uint64_t next)
{
    if (ending->insn.type == PUG_INSTR_BR)
        return ending->insn.target == next || (ending->insn.conditional && ending->after == next);
    return ending->insn.type == PUG_INSTR_BR_INDIRECT || ending->after == next;
}

static bool give_block(struct run *run, unsigned cpu, const struct ending *ending)
{
    enum rec_path_isa isa = run->at_isa[cpu];
    for (uint64_t address = run->at[cpu] - 1; address < ending->after;) {
        uint8_t bytes[8];
        unsigned size = fetch(run, address, isa, bytes);
        if (!give_insn(run, cpu, address, isa, bytes, size))
            return false;
        address += size;
    }
    return true;
}

/**
 * The block that QEMU announced was executed. It ended where blocks do, unless that does not lead
 * to the next one: then it was cut in front of that.
 */
static bool runs_to(struct run *run, unsigned cpu, uint64_t next)
{
    uint64_t address = run->at[cpu] - 1;
    struct ending ending;
    if (!find_end(run, cpu, 0, &ending))
        return false;
    if (!leads_to(&ending, next) && next > address && next < ending.after &&
        !find_end(run, cpu, next, &ending))
        return false;
    return give_block(run, cpu, &ending);
}

/** A block begins: the one before it ran up to a branch, or to here. */
static bool take_qemu(struct run *run, const char *line)
{
    struct qemu_line qemu;
    uint64_t address;
    if (sscanf(line, "Stopped execution of TB chain before %*s [%" SCNx64 "]", &address) == 1) {
        for (unsigned cpu = 0; cpu < REC_PATH_CPUS; cpu++)
            if (run->at[cpu] == address + 1)
                run->at[cpu] = 0; /* it was not run; QEMU will announce it again */
        return true;
    }
    if (!parse_qemu(line, &qemu))
        return true;
    if (run->at[qemu.cpu] && !runs_to(run, qemu.cpu, qemu.address))
        return false;
    run->at[qemu.cpu] = qemu.address + 1;
    run->at_isa[qemu.cpu] = isa_at(run, qemu.base & QEMU_THUMB);
    run->at_count[qemu.cpu] = qemu.count;
    return true;
}

static bool take_line(struct run *run, const char *line)
{
    switch (run->convert->form) {
    case REC_CONVERT_SPIKE: return take_spike(run, line);
    case REC_CONVERT_QEMU: return take_qemu(run, line);
    default: return take_address(run, line);
    }
}

static bool read_lines(struct run *run)
{
    char line[LINE];
    const char *next = run->convert->first;
    for (; next; next = fgets(line, sizeof(line), run->convert->file)) {
        run->convert->lines++;
        if (!take_line(run, next))
            return false;
    }
    for (unsigned cpu = 0; cpu < REC_PATH_CPUS; cpu++)
        if (run->at[cpu] && !runs_to(run, cpu, 0))
            return false;
    return rec_path_builder_end(run->builder);
}

bool rec_convert_run(struct rec_convert *convert, rec_path_take_fn *take, void *context)
{
    struct run *run = calloc(1, sizeof(*run));
    struct rec_path_builder *builder = rec_path_builder_new(convert->family, take, context);
    bool good = false;
    convert->why[0] = 0;
    if (run && builder) {
        run->convert = convert;
        run->builder = builder;
        good = read_lines(run);
    } else {
        snprintf(convert->why, sizeof(convert->why), "no memory");
    }
    rec_path_builder_free(builder);
    free(run);
    return good;
}
