// SPDX-License-Identifier: MIT
/** @file Random programs and random paths through them, for round trips. */
#ifndef PUG_TESTS_PROGRAM_H
#define PUG_TESTS_PROGRAM_H

#include "pugmark/element.h"
#include "recorder/bytes.h"

enum op_kind {
    OP_OTHER,
    OP_BARRIER,
    OP_JUMP,
    OP_BRANCH,
    OP_CALL,
    OP_INDIRECT_JUMP,
    OP_INDIRECT_CALL,
    OP_RETURN
};

struct op {
    enum op_kind kind;
    uint32_t target; /* number of the instruction that a direct branch goes to */
    uint64_t address;
};

#define PROGRAM_OPS 600

struct program {
    enum pug_isa isa;
    uint64_t base;
    struct op ops[PROGRAM_OPS];
    struct rec_bytes code;
};

/** A random program for A64, A32 or T32. */
void program_make(struct program *program, enum pug_isa isa, uint64_t base,
                  struct rec_random *random);
void program_free(struct program *program);

/** Execution: where it is, and where it came from. */
struct execution {
    const struct program *program;
    struct rec_random *random;
    uint32_t at;
    uint32_t stack[24];
    unsigned depth;
};

/** The instruction to run; then move on. */
uint64_t execution_step(struct execution *execution);

#endif
