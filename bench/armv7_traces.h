// SPDX-License-Identifier: MIT
/**
 * @file Traces of ETMv3 and PTM: three sources of one and two of the other from the capture TC2,
 * and a program of loops and calls, which is run here and traced by the recorder.
 */
#ifndef PUG_BENCH_ARMV7_TRACES_H
#define PUG_BENCH_ARMV7_TRACES_H

#include "bench.h"

#include "pugmark/advanced/isa.h"
#include "pugmark/advanced/settings.h"
#include "recorder/etmv3.h"
#include "recorder/ptm.h"

#define ARMV7_INSTRUCTIONS 400000u
#define ARMV7_BASE         0x8000u
#define ARMV7_JOBS         5

struct armv7_source {
    bool ptm;
    uint32_t trace_id, control, id, code;
};

/** A trace, and what it takes to decode it. */
struct armv7_job {
    const char *title;
    bool framed;
    struct armv7_source sources[3];
    size_t source_count;
    uint64_t address;
    struct bench_bytes memory, trace;
};

/* ---- a program of our own ---- */

/* Three functions; who runs it decides the conditions at random, and keeps the return addresses. */
static const uint32_t armv7_program[] = {
    0xe1a00000, 0xe1a00000, 0xeb00000c, 0xe1a00000, /* 8000  nop; nop; bl 8040; nop */
    0x0afffffa, 0xeb000011, 0xeafffff8, 0xe1a00000, /* 8010  beq 8000; bl 8060; b 8000 */
    0xe1a00000, 0xe1a00000, 0xe1a00000, 0xe1a00000, /* 8020 */
    0xe1a00000, 0xe1a00000, 0xe1a00000, 0xe1a00000, /* 8030 */
    0xe1a00000, 0xe1a00000, 0xe1a00000, 0x1afffffb, /* 8040  nop; nop; nop; bne 8040 */
    0xe1a00000, 0xe12fff1e, 0xe1a00000, 0xe1a00000, /* 8050  nop; bx lr */
    0xe1a00000, 0x0a000001, 0xebfffff4, 0xe1a00000, /* 8060  nop; beq 8070; bl 8040; nop */
    0xe12fff1e,                                     /* 8070  bx lr */
};

/** Both units; the one that is not wanted writes nowhere. */
struct armv7_run {
    struct rec_random random;
    struct rec_etmv3 etmv3;
    struct rec_ptm ptm;
    uint32_t stack[8];
    unsigned depth;
};

/** Run one instruction; the address of the next. */
static inline uint32_t armv7_step(struct armv7_run *run, bool ptm, uint32_t pc)
{
    const struct pug_isa_config config = {.arch = PUG_ARCH_V7};
    struct pug_insn insn;
    uint8_t it = 0;
    const uint8_t *bytes = (const uint8_t *)armv7_program + (pc - ARMV7_BASE);
    bench_good(pug_isa_classify(&config, PUG_ISA_A32, pc, bytes, 4, &it, &insn));
    bool direct = insn.type == PUG_INSTR_BR, indirect = insn.type == PUG_INSTR_BR_INDIRECT;
    bool taken = !insn.conditional || rec_random_once_in(&run->random, 2);
    uint32_t next = direct && taken ? (uint32_t)insn.target : pc + 4;
    if (indirect)
        next = run->stack[--run->depth];
    if (insn.link)
        run->stack[run->depth++] = pc + 4;
    if (!ptm)
        rec_etmv3_atom(&run->etmv3, taken, 0);
    else if (direct)
        rec_ptm_atom(&run->ptm, taken, 0);
    if (indirect && ptm)
        rec_ptm_indirect(&run->ptm, next, PUG_ISA_A32, 0);
    else if (indirect)
        rec_etmv3_branch(&run->etmv3, next, PUG_ISA_A32, NULL);
    else if (insn.link)
        rec_ptm_call(&run->ptm, pc + 4, PUG_ISA_A32);
    return next;
}

static inline struct bench_bytes armv7_record(const struct armv7_source *source)
{
    struct rec_bytes out = {0};
    struct armv7_run run = {.random = {1}};
    uint32_t pc = ARMV7_BASE;
    rec_etmv3_begin(&run.etmv3,
                    &(struct rec_etmv3_config){source->control, source->id, source->code, false},
                    &out);
    rec_ptm_begin(&run.ptm, &(struct rec_ptm_config){source->control, source->id, source->code},
                  &out);
    rec_ptm_a_sync(&run.ptm);
    if (source->ptm)
        rec_ptm_isync(&run.ptm, &(struct rec_ptm_isync){.address = pc, .reason = 1});
    else
        rec_etmv3_isync(&run.etmv3, &(struct rec_etmv3_isync){.address = pc, .reason = 1});
    for (unsigned i = 0; i < ARMV7_INSTRUCTIONS; i++)
        pc = armv7_step(&run, source->ptm, pc);
    rec_etmv3_flush(&run.etmv3);
    rec_ptm_flush(&run.ptm);
    return (struct bench_bytes){out.data, out.size};
}

/* ---- the reference's decoders ---- */

#ifdef PUG_WITH_OPENCSD
static inline ocsd_etmv3_cfg armv7_config(const struct armv7_source *source)
{
    return (ocsd_etmv3_cfg){.reg_idr = source->id,
                            .reg_ctrl = source->control,
                            .reg_ccer = source->code,
                            .reg_trc_id = source->trace_id,
                            .arch_ver = ARCH_V7,
                            .core_prof = profile_CortexA};
}

static inline const char *armv7_decoder(const struct armv7_source *source)
{
    return source->ptm ? OCSD_BUILTIN_DCD_PTM : OCSD_BUILTIN_DCD_ETMV3;
}
#endif

/* ---- all of them ---- */

/** Those of a folder like TC2, if cstrace.bin and kernel_dump.bin are there, and our own. How many.
 */
static inline size_t armv7_jobs(const char *folder, struct armv7_job jobs[ARMV7_JOBS])
{
    const bool captured = bench_has(folder, "cstrace.bin");
    struct bench_bytes trace = {0}, kernel = {0};
    if (captured) {
        trace = bench_read_file(folder, "cstrace.bin");
        kernel = bench_read_file(folder, "kernel_dump.bin");
    }
    const struct bench_bytes own = {(uint8_t *)armv7_program, sizeof(armv7_program) & ~(size_t)1};
    const struct armv7_job all[ARMV7_JOBS] = {
        {.title = "ETMv3, captured, cycle-accurate",
         .framed = true,
         .sources = {{false, 0x10, 0x10001860, 0x410cf250, 0x344008f2},
                     {false, 0x11, 0x10001860, 0x410cf250, 0x344008f2},
                     {false, 0x12, 0x10001860, 0x410cf250, 0x344008f2}},
         .source_count = 3,
         .address = 0xc0008000,
         .memory = kernel,
         .trace = trace},
        {.title = "PTM, captured, cycle-accurate",
         .framed = true,
         .sources = {{true, 0x13, 0x10001000, 0x411cf312, 0x34c01ac2},
                     {true, 0x14, 0x10001000, 0x411cf312, 0x34c01ac2}},
         .source_count = 2,
         .address = 0xc0008000,
         .memory = kernel,
         .trace = trace},
        {.title = "ETMv3, recorded",
         .sources = {{false, 0x10, 0, 0x410cf250, 0x344008f2}},
         .source_count = 1,
         .address = ARMV7_BASE,
         .memory = own},
        {.title = "PTM, recorded",
         .sources = {{true, 0x13, 0, 0x411cf312, 0x34c01ac2}},
         .source_count = 1,
         .address = ARMV7_BASE,
         .memory = own},
        {.title = "PTM, recorded, return stack",
         .sources = {{true, 0x13, 0x20000000, 0x411cf312, 0x34c01ac2}},
         .source_count = 1,
         .address = ARMV7_BASE,
         .memory = own},
    };
    size_t count = 0;
    for (size_t i = 0; i < ARMV7_JOBS; i++) {
        if (all[i].framed && !captured)
            continue;
        jobs[count] = all[i];
        if (!all[i].framed)
            jobs[count].trace = armv7_record(&all[i].sources[0]);
        count++;
    }
    return count;
}

#endif
