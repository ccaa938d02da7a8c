// SPDX-License-Identifier: MIT
#include "support/program.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static enum op_kind random_kind(struct rec_random *random)
{
    static const uint8_t weights[] = {
        [OP_OTHER] = 60, [OP_BARRIER] = 2,       [OP_JUMP] = 4,          [OP_BRANCH] = 16,
        [OP_CALL] = 6,   [OP_INDIRECT_JUMP] = 3, [OP_INDIRECT_CALL] = 3, [OP_RETURN] = 6,
    };
    uint32_t n = rec_random_below(random, 100);
    unsigned kind = 0;
    while (n >= weights[kind])
        n -= weights[kind++];
    return (enum op_kind)kind;
}

/* ---- sizes and encodings; every T32 direct branch is a wide one, so that sizes are known first
 * ---- */

static unsigned size_of(enum pug_isa isa, enum op_kind kind, struct rec_random *random)
{
    if (isa != PUG_ISA_T32)
        return 4;
    switch (kind) {
    case OP_OTHER: return rec_random_once_in(random, 3) ? 4 : 2;
    case OP_INDIRECT_JUMP:
    case OP_INDIRECT_CALL:
    case OP_RETURN: return 2;
    default: return 4;
    }
}

static void put_a64(struct rec_bytes *code, const struct op *op, int64_t offset,
                    struct rec_random *random)
{
    uint32_t word = 0xd503201f; /* NOP */
    uint32_t distance = (uint32_t)(offset / 4);
    switch (op->kind) {
    case OP_OTHER: break;
    case OP_BARRIER: word = 0xd5033fdf; break;
    case OP_JUMP: word = 0x14000000 | (distance & 0x3ffffff); break;
    case OP_CALL: word = 0x94000000 | (distance & 0x3ffffff); break;
    case OP_BRANCH:
        word = rec_random_once_in(random, 2) ? 0x54000000 | (distance & 0x7ffff) << 5
                                             : 0xb4000001 | (distance & 0x7ffff) << 5;
        break;
    case OP_INDIRECT_JUMP: word = 0xd61f0020; break;
    case OP_INDIRECT_CALL: word = 0xd63f0020; break;
    case OP_RETURN: word = 0xd65f03c0; break;
    }
    rec_put_le(code, word, 4);
}

/** `isa`: of the target; a call to another one is a BLX. */
static void put_a32(struct rec_bytes *code, const struct op *op, int64_t offset, enum pug_isa isa)
{
    uint32_t word = 0xe320f000; /* NOP */
    uint32_t distance = (uint32_t)((offset - 8) >> 2) & 0xffffff;
    switch (op->kind) {
    case OP_OTHER: break;
    case OP_BARRIER: word = 0xf57ff06f; break;
    case OP_JUMP: word = 0xea000000 | distance; break;
    case OP_CALL:
        word = isa == PUG_ISA_A32 ? 0xeb000000 | distance
                                  : 0xfa000000 | (uint32_t)(offset >> 1 & 1) << 24 | distance;
        break;
    case OP_BRANCH: word = 0x0a000000 | distance; break;
    case OP_INDIRECT_JUMP: word = 0xe12fff11; break;
    case OP_INDIRECT_CALL: word = 0xe12fff31; break;
    case OP_RETURN: word = 0xe12fff1e; break;
    }
    rec_put_le(code, word, 4);
}

/** B.W, BL and BLX: S:I1:I2:imm10:imm11 with J = NOT(I) XOR S. */
static void put_t32_wide(struct rec_bytes *code, int64_t offset, uint32_t low)
{
    uint32_t distance = (uint32_t)((offset - 4) / 2);
    uint32_t s = distance >> 23 & 1;
    uint32_t j1 = ~(distance >> 22 ^ s) & 1;
    uint32_t j2 = ~(distance >> 21 ^ s) & 1;
    rec_put_le(code, 0xf000 | s << 10 | (distance >> 11 & 0x3ff), 2);
    rec_put_le(code, low | j1 << 13 | j2 << 11 | (distance & 0x7ff), 2);
}

/** `isa`: of the target; a call to another one is a BLX, relative to a whole word. */
static void put_t32(struct rec_bytes *code, const struct op *op, int64_t offset, unsigned size,
                    enum pug_isa isa)
{
    uint32_t distance = (uint32_t)((offset - 4) / 2);
    switch (op->kind) {
    case OP_OTHER:
        if (size == 2)
            rec_put_le(code, 0xbf00, 2);
        else
            rec_put_n(code, (const uint8_t[]){0xaf, 0xf3, 0x00, 0x80}, 4);
        break;
    case OP_BARRIER: rec_put_n(code, (const uint8_t[]){0xbf, 0xf3, 0x6f, 0x8f}, 4); break;
    case OP_JUMP: put_t32_wide(code, offset, 0x9000); break;
    case OP_CALL:
        if (isa == PUG_ISA_T32)
            put_t32_wide(code, offset, 0xd000);
        else
            put_t32_wide(code, offset + (int64_t)(op->address & 2), 0xc000);
        break;
    case OP_BRANCH: /* BEQ.W: S:J2:J1:imm6:imm11 */
        rec_put_le(code, 0xf000 | (distance >> 19 & 1) << 10 | (distance >> 11 & 0x3f), 2);
        rec_put_le(code,
                   0x8000 | (distance >> 17 & 1) << 13 | (distance >> 18 & 1) << 11 |
                       (distance & 0x7ff),
                   2);
        break;
    case OP_INDIRECT_JUMP: rec_put_le(code, 0x4708, 2); break;
    case OP_INDIRECT_CALL: rec_put_le(code, 0x4788, 2); break;
    case OP_RETURN: rec_put_le(code, 0x4770, 2); break;
    }
}

static bool is_second(uint32_t op)
{
    return op >= PROGRAM_OPS / 2;
}

/** Where an instruction leads: but for calls, not to another instruction set. */
static uint32_t choose_target(const struct program *program, uint32_t from,
                              struct rec_random *random)
{
    const struct op *op = &program->ops[from];
    uint32_t target = rec_random_once_in(random, 2)
                          ? rec_random_below(random, PROGRAM_OPS)
                          : (from + rec_random_below(random, 12)) % PROGRAM_OPS;
    bool crosses = is_second(target) != is_second(from);
    bool reached = program->ops[target].isa == op->isa || op->kind == OP_CALL;
    return crosses && (!reached || program->gap) ? (target + PROGRAM_OPS / 2) % PROGRAM_OPS
                                                 : target;
}

static void place_ops(struct program *program, uint8_t sizes[PROGRAM_OPS],
                      struct rec_random *random)
{
    uint64_t address = program->base;
    for (uint32_t i = 0; i < PROGRAM_OPS; i++) {
        struct op *op = &program->ops[i];
        /* An end must not be run over. */
        bool half = i + 1 == PROGRAM_OPS / 2;
        bool end =
            i + 1 == PROGRAM_OPS || (half && (program->gap || program->ops[i + 1].isa != op->isa));
        op->kind = end ? OP_RETURN : random_kind(random);
        op->target = choose_target(program, i, random);
        op->address = address;
        sizes[i] = (uint8_t)size_of(op->isa, op->kind, random);
        address += sizes[i] + (half ? program->gap : 0);
    }
}

static void encode_ops(struct program *program, const uint8_t sizes[PROGRAM_OPS],
                       struct rec_random *random)
{
    for (uint32_t i = 0; i < PROGRAM_OPS; i++) {
        const struct op *op = &program->ops[i], *target = &program->ops[op->target];
        int64_t offset = (int64_t)(target->address - op->address);
        if (op->isa == PUG_ISA_A64)
            put_a64(&program->code, op, offset, random);
        else if (op->isa == PUG_ISA_A32)
            put_a32(&program->code, op, offset, target->isa);
        else
            put_t32(&program->code, op, offset, sizes[i], target->isa);
    }
    rec_put_le(&program->code, 0, 4); /* so that the last instruction can be read in a whole word */
}

static void make(struct program *program, enum pug_isa first, enum pug_isa second,
                 struct rec_random *random)
{
    uint8_t sizes[PROGRAM_OPS];
    for (uint32_t i = 0; i < PROGRAM_OPS; i++)
        program->ops[i].isa = is_second(i) ? second : first;
    place_ops(program, sizes, random);
    encode_ops(program, sizes, random);
}

void program_make(struct program *program, enum pug_isa isa, uint64_t base,
                  struct rec_random *random)
{
    *program = (struct program){.base = base};
    make(program, isa, isa, random);
}

void program_make_mixed(struct program *program, uint64_t base, struct rec_random *random)
{
    *program = (struct program){.base = base};
    make(program, PUG_ISA_A32, PUG_ISA_T32, random);
}

void program_make_apart(struct program *program, uint64_t base, uint64_t gap,
                        struct rec_random *random)
{
    *program = (struct program){.base = base, .gap = gap};
    make(program, PUG_ISA_A64, PUG_ISA_A64, random);
}

static bool in_second(const struct program *program, uint64_t address)
{
    return address >= program->ops[PROGRAM_OPS / 2].address;
}

static const uint8_t *code_at(const struct program *program, uint64_t address)
{
    uint64_t offset = address - program->base;
    return program->code.data + offset - (in_second(program, address) ? program->gap : 0);
}

bool program_add_to(const struct program *program, struct pug_image *image)
{
    const struct pug_place anywhere = {.space = PUG_SPACE_ANY};
    uint64_t size = program->code.size & ~UINT64_C(1), behind = program->base + size;
    uint64_t second = program->ops[PROGRAM_OPS / 2].address;
    uint64_t first_size = program->gap ? second - program->gap - program->base : size;
    return pug_image_add_buffer(image, &anywhere, program->base, program->code.data, first_size) ==
               PUG_OK &&
           (!program->gap ||
            pug_image_add_buffer(image, &anywhere, second, code_at(program, second),
                                 behind + program->gap - second) == PUG_OK);
}

enum pug_isa program_isa(const struct program *program, uint64_t address)
{
    return program->ops[in_second(program, address) ? PROGRAM_OPS / 2 : 0].isa;
}

unsigned program_insn_size(const struct program *program, uint64_t address)
{
    return program_isa(program, address) != PUG_ISA_T32 || code_at(program, address)[1] >= 0xe8 ? 4
                                                                                                : 2;
}

void program_free(struct program *program)
{
    rec_bytes_free(&program->code);
}

uint64_t execution_step(struct execution *execution)
{
    const struct op *op = &execution->program->ops[execution->at];
    uint32_t next = (execution->at + 1) % PROGRAM_OPS;
    uint32_t anywhere = rec_random_below(execution->random, PROGRAM_OPS);
    bool call = op->kind == OP_CALL || op->kind == OP_INDIRECT_CALL;
    if (call && execution->depth < sizeof(execution->stack) / sizeof(execution->stack[0]))
        execution->stack[execution->depth++] = next;
    switch (op->kind) {
    case OP_JUMP:
    case OP_CALL: next = op->target; break;
    case OP_BRANCH: next = rec_random_once_in(execution->random, 2) ? op->target : next; break;
    case OP_INDIRECT_JUMP:
    case OP_INDIRECT_CALL: next = anywhere; break;
    case OP_RETURN:
        next = execution->depth ? execution->stack[--execution->depth] : anywhere;
        break;
    default: break;
    }
    execution->at = next;
    return op->address;
}

/* ---- program counters ---- */

void path_add(struct path *path, uint64_t pc)
{
    if (path->count == path->capacity) {
        path->capacity = path->capacity * 2 + 1024;
        path->pcs = realloc(path->pcs, path->capacity * sizeof(*path->pcs));
        assert_non_null(path->pcs);
    }
    path->pcs[path->count++] = pc;
}

void path_add_range(struct path *path, const struct program *program,
                    const struct pug_element *range)
{
    uint64_t pc = range->start;
    for (uint32_t i = 0; i < range->count; i++) {
        path_add(path, pc);
        pc += program_insn_size(program, pc);
    }
    assert_int_equal(pc, range->end);
}
