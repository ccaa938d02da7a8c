// SPDX-License-Identifier: MIT
#include "support/program.h"

#include <string.h>

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

static void put_a32(struct rec_bytes *code, const struct op *op, int64_t offset)
{
    uint32_t word = 0xe320f000; /* NOP */
    uint32_t distance = (uint32_t)((offset - 8) / 4) & 0xffffff;
    switch (op->kind) {
    case OP_OTHER: break;
    case OP_BARRIER: word = 0xf57ff06f; break;
    case OP_JUMP: word = 0xea000000 | distance; break;
    case OP_CALL: word = 0xeb000000 | distance; break;
    case OP_BRANCH: word = 0x0a000000 | distance; break;
    case OP_INDIRECT_JUMP: word = 0xe12fff11; break;
    case OP_INDIRECT_CALL: word = 0xe12fff31; break;
    case OP_RETURN: word = 0xe12fff1e; break;
    }
    rec_put_le(code, word, 4);
}

/** B.W and BL: S:I1:I2:imm10:imm11 with J = NOT(I) XOR S. */
static void put_t32_wide(struct rec_bytes *code, int64_t offset, uint32_t low)
{
    uint32_t distance = (uint32_t)((offset - 4) / 2);
    uint32_t s = distance >> 23 & 1;
    uint32_t j1 = ~(distance >> 22 ^ s) & 1;
    uint32_t j2 = ~(distance >> 21 ^ s) & 1;
    rec_put_le(code, 0xf000 | s << 10 | (distance >> 11 & 0x3ff), 2);
    rec_put_le(code, low | j1 << 13 | j2 << 11 | (distance & 0x7ff), 2);
}

static void put_t32(struct rec_bytes *code, const struct op *op, int64_t offset, unsigned size)
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
    case OP_CALL: put_t32_wide(code, offset, 0xd000); break;
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

void program_make(struct program *program, enum pug_isa isa, uint64_t base,
                  struct rec_random *random)
{
    uint8_t sizes[PROGRAM_OPS];
    *program = (struct program){.isa = isa, .base = base};
    uint64_t address = base;
    for (uint32_t i = 0; i < PROGRAM_OPS; i++) {
        struct op *op = &program->ops[i];
        /* The end must not be run over. */
        op->kind = i + 1 == PROGRAM_OPS ? OP_RETURN : random_kind(random);
        op->target = rec_random_once_in(random, 2)
                         ? rec_random_below(random, PROGRAM_OPS)
                         : (i + rec_random_below(random, 12)) % PROGRAM_OPS;
        op->address = address;
        sizes[i] = (uint8_t)size_of(isa, op->kind, random);
        address += sizes[i];
    }
    for (uint32_t i = 0; i < PROGRAM_OPS; i++) {
        const struct op *op = &program->ops[i];
        int64_t offset = (int64_t)(program->ops[op->target].address - op->address);
        if (isa == PUG_ISA_A64)
            put_a64(&program->code, op, offset, random);
        else if (isa == PUG_ISA_A32)
            put_a32(&program->code, op, offset);
        else
            put_t32(&program->code, op, offset, sizes[i]);
    }
    rec_put_le(&program->code, 0, 4); /* so that the last instruction can be read in a whole word */
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
