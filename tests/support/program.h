// SPDX-License-Identifier: MIT
/** @file Random programs and random paths through them, for round trips. */
#ifndef PUG_TESTS_PROGRAM_H
#define PUG_TESTS_PROGRAM_H

#include "pugmark/advanced/image.h"
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
    enum pug_isa isa;
    uint32_t target; /* number of the instruction that a direct branch goes to */
    uint64_t address;
};

#define PROGRAM_OPS 600

struct program {
    uint64_t base;
    uint64_t gap; /* between the two halves */
    struct op ops[PROGRAM_OPS];
    struct rec_bytes code;
};

/** A random program for A64, A32 or T32. */
void program_make(struct program *program, enum pug_isa isa, uint64_t base,
                  struct rec_random *random);
/** One whose first half is A32 and whose second half is T32; calls and indirect branches cross. */
void program_make_mixed(struct program *program, uint64_t base, struct rec_random *random);
/** One for A64 whose second half lies `gap` bytes after the first; indirect branches cross. */
void program_make_apart(struct program *program, uint64_t base, uint64_t gap,
                        struct rec_random *random);
/** Its code as program memory. False: it is refused. */
bool program_add_to(const struct program *program, struct pug_image *image);
/** The instruction set of the code at an address of it. */
enum pug_isa program_isa(const struct program *program, uint64_t address);
/** Bytes of the instruction there. */
unsigned program_insn_size(const struct program *program, uint64_t address);
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

/** Program counters, one after another; free() `pcs`. */
struct path {
    uint64_t *pcs;
    size_t count, capacity;
};

void path_add(struct path *path, uint64_t pc);
/** All of a range; asserts that they end where it ends. */
void path_add_range(struct path *path, const struct program *program,
                    const struct pug_element *range);

#endif
