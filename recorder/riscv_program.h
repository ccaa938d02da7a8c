// SPDX-License-Identifier: MIT
/** @file Random RISC-V programs and random executions of them, to have paths to encode. */
#ifndef PUG_RECORDER_RISCV_PROGRAM_H
#define PUG_RECORDER_RISCV_PROGRAM_H

#include "pugmark/advanced/isa.h"
#include "recorder/bytes.h"

struct rec_riscv_options {
    unsigned xlen;
    uint64_t base;   /**< 64-byte aligned */
    uint32_t length; /**< instructions, at most 400 */
    bool zcm;        /**< with Zcmp and Zcmt; their jump table is at `base` */
    bool long_insns; /**< with instructions of 6 and 8 bytes */
    bool tidy;       /**< no swaps, and returns are never jumps on constants */
};

struct rec_riscv_program {
    struct rec_riscv_options options;
    struct pug_isa_config isa; /**< what classifies its instructions */
    struct rec_bytes code;     /**< at options.base */
    uint32_t *starts;          /**< offsets of the instructions */
    uint32_t count;
};

/** False: no memory. */
bool rec_riscv_program_make(struct rec_riscv_program *program,
                            const struct rec_riscv_options *options, struct rec_random *random);
void rec_riscv_program_free(struct rec_riscv_program *program);

enum rec_riscv_what { REC_RISCV_RETIRED, REC_RISCV_EXCEPTION, REC_RISCV_INTERRUPT };

/** What happened at `pc`: the instruction there retired, or a trap came before it did. */
struct rec_riscv_event {
    enum rec_riscv_what what;
    uint64_t pc, next; /**< next: of a trap the handler */
    struct pug_insn insn;
};

#define REC_RISCV_CALLS 64

struct rec_riscv_run {
    const struct rec_riscv_program *program;
    struct rec_random *random;
    uint32_t trap_once_in;  /**< 0: only ECALL and EBREAK trap */
    uint32_t stray_once_in; /**< returns that go somewhere else; 0: none */
    uint64_t pc;
    struct pug_insn previous; /**< retired just before, at the address in front of pc */
    uint64_t calls[REC_RISCV_CALLS];
    unsigned depth;
};

/** Begin at a random instruction. */
void rec_riscv_run_start(struct rec_riscv_run *run, const struct rec_riscv_program *program,
                         struct rec_random *random);
struct rec_riscv_event rec_riscv_step(struct rec_riscv_run *run);

#endif
