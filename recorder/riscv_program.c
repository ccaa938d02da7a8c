// SPDX-License-Identifier: MIT
#include "recorder/riscv_program.h"

#include <stdlib.h>
#include <string.h>

enum { LENGTH_LIMIT = 400, TABLE_ENTRIES = 48 };

enum slot_kind {
    C_OTHER,
    OTHER,
    WIDE_OTHER,
    LONG_OTHER,
    BRANCH,
    C_BRANCH,
    JAL,
    C_J,
    C_JAL,
    JALR,
    C_JR,
    C_JALR,
    PAIR_LUI,   /* LUI, then JALR on it in the next slot */
    PAIR_AUIPC, /* AUIPC, then JALR or C.JR on it in the next slot */
    XRET,
    ECALL,
    C_EBREAK,
    LANDING_PAD,
    CM_JT,
    CM_POPRET,
    CM_PUSH,
    SLOT_KINDS
};

/** How often each kind comes, and its size. */
static const struct {
    uint8_t weight, size;
} kinds[SLOT_KINDS] = {
    [C_OTHER] = {24, 2}, [OTHER] = {24, 4},      [WIDE_OTHER] = {2, 6}, [LONG_OTHER] = {2, 8},
    [BRANCH] = {20, 4},  [C_BRANCH] = {14, 2},   [JAL] = {12, 4},       [C_J] = {6, 2},
    [C_JAL] = {4, 2},    [JALR] = {8, 4},        [C_JR] = {10, 2},      [C_JALR] = {4, 2},
    [PAIR_LUI] = {2, 4}, [PAIR_AUIPC] = {4, 4},  [XRET] = {1, 4},       [ECALL] = {1, 4},
    [C_EBREAK] = {1, 2}, [LANDING_PAD] = {1, 4}, [CM_JT] = {5, 2},      [CM_POPRET] = {2, 2},
    [CM_PUSH] = {2, 2},
};

struct maker {
    struct rec_riscv_program *program;
    struct rec_random *random;
    uint8_t slots[LENGTH_LIMIT];
    uint32_t starts[LENGTH_LIMIT + 1];
};

static bool possible(const struct rec_riscv_options *options, unsigned kind)
{
    switch (kind) {
    case WIDE_OTHER:
    case LONG_OTHER: return options->long_insns;
    case C_JAL: return options->xlen == 32;
    case CM_JT:
    case CM_POPRET:
    case CM_PUSH: return options->zcm;
    case PAIR_LUI: return options->base < 0x80000000; /* what LUI can make */
    default: return true;
    }
}

static unsigned choose_kind(const struct maker *maker)
{
    for (;;) {
        unsigned all = 0;
        for (unsigned i = 0; i < SLOT_KINDS; i++)
            all += kinds[i].weight;
        unsigned pick = rec_random_below(maker->random, all), kind = 0;
        while (pick >= kinds[kind].weight)
            pick -= kinds[kind++].weight;
        if (possible(&maker->program->options, kind))
            return kind;
    }
}

static uint32_t any_start(const struct maker *maker)
{
    return maker->starts[rec_random_below(maker->random, maker->program->count)];
}

/** The distance to a random instruction at most `reach` bytes away. */
static int32_t any_distance(const struct maker *maker, uint32_t from, int32_t reach)
{
    for (;;) {
        int32_t distance = (int32_t)any_start(maker) - (int32_t)from;
        if (distance > -reach && distance < reach)
            return distance;
    }
}

/** A register to jump on. */
static unsigned any_register(const struct maker *maker, bool returns)
{
    static const uint8_t some[] = {6, 10, 31, 7, 1, 5, 1, 5};
    bool tidy = maker->program->options.tidy && !returns;
    return some[rec_random_below(maker->random, tidy ? 4 : 8)];
}

/* Bit `from` and up of `value`, `bits` of them, moved to bit `to`. */
static uint32_t move(uint32_t value, unsigned from, unsigned bits, unsigned to)
{
    return (value >> from & ((1u << bits) - 1)) << to;
}

static uint32_t branch(int32_t distance, unsigned condition)
{
    uint32_t d = (uint32_t)distance;
    return 0x63 | condition << 12 | 10u << 15 | 11u << 20 | move(d, 12, 1, 31) | move(d, 5, 6, 25) |
           move(d, 1, 4, 8) | move(d, 11, 1, 7);
}

static uint32_t c_branch(int32_t distance, bool not_zero)
{
    uint32_t d = (uint32_t)distance;
    return (not_zero ? 0xe001u : 0xc001u) | move(d, 8, 1, 12) | move(d, 3, 2, 10) |
           move(d, 6, 2, 5) | move(d, 1, 2, 3) | move(d, 5, 1, 2);
}

static uint32_t jal(int32_t distance, unsigned rd)
{
    uint32_t d = (uint32_t)distance;
    return 0x6f | rd << 7 | move(d, 20, 1, 31) | move(d, 1, 10, 21) | move(d, 11, 1, 20) |
           move(d, 12, 8, 12);
}

static uint32_t c_jump(int32_t distance, bool link)
{
    uint32_t d = (uint32_t)distance;
    return (link ? 0x2001u : 0xa001u) | move(d, 11, 1, 12) | move(d, 4, 1, 11) | move(d, 8, 2, 9) |
           move(d, 10, 1, 8) | move(d, 6, 1, 7) | move(d, 7, 1, 6) | move(d, 1, 3, 3) |
           move(d, 5, 1, 2);
}

static uint32_t jalr(unsigned rd, unsigned rs1, uint32_t offset)
{
    return 0x67 | rd << 7 | rs1 << 15 | (offset & 0xfff) << 20;
}

/** Put the constant's instruction, followed by the jump on it to a random instruction. */
static void put_pair(struct maker *maker, uint32_t at, bool auipc)
{
    struct rec_bytes *code = &maker->program->code;
    uint64_t target = maker->program->options.base + any_start(maker);
    uint64_t value = auipc ? target - (maker->program->options.base + at) : target;
    uint32_t low = (uint32_t)value & 0xfff;
    uint32_t high = ((uint32_t)value + 0x800) & 0xfffff000;
    unsigned reg = any_register(maker, false);
    static const uint8_t links[] = {0, 0, 1, 5, 7};
    rec_put_le(code, (auipc ? 0x17u : 0x37u) | reg << 7 | high, 4);
    rec_put_le(code, jalr(links[rec_random_below(maker->random, sizeof(links))], reg, low), 4);
}

static void put_slot(struct maker *maker, uint32_t n)
{
    struct rec_bytes *code = &maker->program->code;
    struct rec_random *random = maker->random;
    static const uint8_t conditions[] = {0, 1, 4, 5, 6, 7};
    static const uint8_t links[] = {0, 0, 1, 1, 5, 7};
    static const uint32_t xrets[] = {0x30200073, 0x10200073, 0x00200073, 0x70200073};
    uint32_t at = maker->starts[n];
    unsigned link = links[rec_random_below(random, sizeof(links))];
    switch ((enum slot_kind)maker->slots[n]) {
    case C_OTHER: rec_put_le(code, 0x0001, 2); break;
    case OTHER: rec_put_le(code, 0x00150513, 4); break; /* ADDI a0, a0, 1 */
    case WIDE_OTHER: rec_put_le(code, 0x00000000001f, 6); break;
    case LONG_OTHER: rec_put_le(code, 0x3f, 8); break;
    case BRANCH:
        rec_put_le(code,
                   branch(any_distance(maker, at, 4096), conditions[rec_random_below(random, 6)]),
                   4);
        break;
    case C_BRANCH:
        rec_put_le(code, c_branch(any_distance(maker, at, 256), rec_random_below(random, 2)), 2);
        break;
    case JAL: rec_put_le(code, jal(any_distance(maker, at, 1 << 20), link), 4); break;
    case C_J: rec_put_le(code, c_jump(any_distance(maker, at, 2048), false), 2); break;
    case C_JAL: rec_put_le(code, c_jump(any_distance(maker, at, 2048), true), 2); break;
    case JALR: rec_put_le(code, jalr(link, any_register(maker, link == 0), 0), 4); break;
    case C_JR: rec_put_le(code, 0x8002 | any_register(maker, true) << 7, 2); break;
    case C_JALR: rec_put_le(code, 0x9002 | any_register(maker, false) << 7, 2); break;
    case PAIR_LUI: put_pair(maker, at, false); break;
    case PAIR_AUIPC: put_pair(maker, at, true); break;
    case XRET: rec_put_le(code, xrets[rec_random_below(random, 4)], 4); break;
    case ECALL: rec_put_le(code, 0x00000073, 4); break;
    case C_EBREAK: rec_put_le(code, 0x9002, 2); break;
    case LANDING_PAD: rec_put_le(code, 0x00001017, 4); break;
    case CM_JT: rec_put_le(code, 0xa002 | rec_random_below(random, TABLE_ENTRIES) << 2, 2); break;
    case CM_POPRET: rec_put_le(code, rec_random_below(random, 2) ? 0xbe52 : 0xbc52, 2); break;
    case CM_PUSH: rec_put_le(code, 0xb852, 2); break;
    case SLOT_KINDS: break;
    }
}

/** A pair is one slot here; its jump gets a start of its own. */
static bool is_pair(unsigned kind)
{
    return kind == PAIR_LUI || kind == PAIR_AUIPC;
}

static void lay_out(struct maker *maker, uint32_t length, uint32_t at)
{
    for (uint32_t n = 0; n < length; n++) {
        unsigned kind = n + 1 < length ? choose_kind(maker) : C_J;
        if (is_pair(kind) && n + 2 >= length)
            kind = OTHER;
        maker->slots[n] = (uint8_t)kind;
        maker->starts[n] = at;
        at += kinds[kind].size;
        if (is_pair(kind)) {
            maker->slots[++n] = SLOT_KINDS;
            maker->starts[n] = at;
            at += 4;
        }
    }
}

bool rec_riscv_program_make(struct rec_riscv_program *program,
                            const struct rec_riscv_options *options, struct rec_random *random)
{
    *program = (struct rec_riscv_program){.options = *options, .count = options->length};
    struct maker *maker = calloc(1, sizeof(*maker));
    program->starts = calloc(options->length, sizeof(*program->starts));
    if (!maker || !program->starts || options->length > LENGTH_LIMIT || options->length < 2) {
        free(maker);
        return false;
    }
    maker->program = program;
    maker->random = random;
    program->isa.zcmp_zcmt = options->zcm;
    program->isa.jvt_base = options->base;
    uint32_t table = options->zcm ? TABLE_ENTRIES * options->xlen / 8 : 0;
    lay_out(maker, options->length, table);
    memcpy(program->starts, maker->starts, options->length * sizeof(*program->starts));
    for (uint32_t n = 0; options->zcm && n < TABLE_ENTRIES; n++)
        rec_put_le(&program->code, options->base + any_start(maker), options->xlen / 8);
    for (uint32_t n = 0; n < options->length; n++)
        put_slot(maker, n);
    free(maker);
    return !program->code.failed;
}

void rec_riscv_program_free(struct rec_riscv_program *program)
{
    rec_bytes_free(&program->code);
    free(program->starts);
    program->starts = NULL;
}

/* ---- execution ---- */

static uint64_t random_pc(struct rec_riscv_run *run)
{
    const struct rec_riscv_program *program = run->program;
    return program->options.base + program->starts[rec_random_below(run->random, program->count)];
}

void rec_riscv_run_start(struct rec_riscv_run *run, const struct rec_riscv_program *program,
                         struct rec_random *random)
{
    *run = (struct rec_riscv_run){.program = program, .random = random};
    run->pc = random_pc(run);
}

static uint64_t wrap(const struct rec_riscv_run *run, uint64_t address)
{
    return run->program->options.xlen == 32 ? (uint32_t)address : address;
}

static void call(struct rec_riscv_run *run, uint64_t return_address)
{
    if (run->depth == REC_RISCV_CALLS) {
        memmove(run->calls, run->calls + 1, (REC_RISCV_CALLS - 1) * sizeof(run->calls[0]));
        run->depth--;
    }
    run->calls[run->depth++] = return_address;
}

static uint64_t give_back(struct rec_riscv_run *run)
{
    uint64_t address = run->depth > 0 ? run->calls[--run->depth] : random_pc(run);
    bool stray = run->stray_once_in && rec_random_once_in(run->random, run->stray_once_in);
    return stray ? random_pc(run) : address;
}

static uint64_t jump_table(const struct rec_riscv_run *run, uint64_t entry)
{
    const struct rec_riscv_options *options = &run->program->options;
    const uint8_t *at = run->program->code.data + (entry - options->base);
    uint64_t target = 0;
    for (unsigned i = 0; i < options->xlen / 8; i++)
        target |= (uint64_t)at[i] << 8 * i;
    return target & ~UINT64_C(1);
}

static uint64_t indirect(struct rec_riscv_run *run, const struct pug_insn *insn)
{
    const struct pug_insn *previous = &run->previous;
    uint64_t target = random_pc(run);
    if (insn->kind == PUG_RV_RETURN || insn->kind == PUG_RV_SWAP)
        target = give_back(run);
    if (previous->kind == PUG_RV_CONSTANT && previous->rd == insn->rs1)
        target = wrap(run, (previous->constant + insn->constant) & ~UINT64_C(1));
    return target;
}

static uint64_t after(struct rec_riscv_run *run, const struct pug_insn *insn)
{
    uint64_t next = wrap(run, run->pc + insn->size);
    uint64_t target = next;
    if (insn->kind == PUG_RV_BRANCH)
        return rec_random_below(run->random, 2) ? insn->target : next;
    if (insn->kind == PUG_RV_XRET)
        return random_pc(run);
    if (insn->table_jump)
        target = jump_table(run, insn->target);
    else if (insn->type == PUG_INSTR_BR)
        target = insn->target;
    else if (insn->type == PUG_INSTR_BR_INDIRECT)
        target = indirect(run, insn);
    if (insn->kind == PUG_RV_CALL || insn->kind == PUG_RV_SWAP)
        call(run, next);
    return target;
}

struct rec_riscv_event rec_riscv_step(struct rec_riscv_run *run)
{
    const struct rec_riscv_program *program = run->program;
    enum pug_isa isa = program->options.xlen == 32 ? PUG_ISA_RV32 : PUG_ISA_RV64;
    size_t offset = (size_t)(run->pc - program->options.base);
    size_t left = program->code.size - offset;
    struct rec_riscv_event event = {.what = REC_RISCV_RETIRED, .pc = run->pc};
    uint8_t it = 0;
    pug_isa_classify(&program->isa, isa, run->pc, program->code.data + offset,
                     left < 8 ? (unsigned)left : 8, &it, &event.insn);
    bool trap = run->trap_once_in && rec_random_once_in(run->random, run->trap_once_in);
    if (trap || event.insn.kind == PUG_RV_TRAP) {
        event.what =
            trap && rec_random_below(run->random, 2) ? REC_RISCV_INTERRUPT : REC_RISCV_EXCEPTION;
        event.next = random_pc(run);
        run->previous = (struct pug_insn){0};
    } else {
        event.next = after(run, &event.insn);
        run->previous = event.insn;
    }
    run->pc = event.next;
    return event;
}
