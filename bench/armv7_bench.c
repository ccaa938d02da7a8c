// SPDX-License-Identifier: MIT
/**
 * @file ETMv3 and PTM to elements, beside the reference doing the same with an empty callback.
 *
 *     armv7_bench [CAPTURE] [ROUNDS] [JOB]
 *
 * CAPTURE is a folder like TC2: cstrace.bin with three ETMv3 and two PTM sources, and
 * kernel_dump.bin. Besides, a program of loops and calls is run here and traced by the recorder.
 * JOB, from 1, is one of them alone.
 */
#include "bench.h"

#include "recorder/etmv3.h"
#include "recorder/ptm.h"

#define PASSES       8 /* of pugmark for one of the reference */
#define INSTRUCTIONS 400000u
#define PROGRAM_BASE 0x8000u

struct source {
    bool ptm;
    uint32_t trace_id, control, id, code;
};

/** A trace, and what it takes to decode it. */
struct job {
    const char *title;
    bool framed;
    struct source sources[3];
    size_t source_count;
    uint64_t address;
    struct bench_bytes memory, trace;
};

/* ---- pugmark ---- */

static struct pug_tree *make_tree(const struct job *job, struct pug_image *image)
{
    struct pug_tree_config config = {.transport = job->framed ? "coresight" : NULL, .image = image};
    struct pug_tree *tree;
    bench_good(pug_image_add_buffer(image, &(struct pug_place){.space = PUG_SPACE_ANY},
                                    job->address, job->memory.at, job->memory.size));
    bench_good(pug_tree_new(&config, &tree));
    for (size_t i = 0; i < job->source_count; i++) {
        const struct source *source = &job->sources[i];
        const struct pug_setting settings[] = {{"ETMCR", source->control, NULL},
                                               {"ETMIDR", source->id, NULL},
                                               {"ETMCCER", source->code, NULL},
                                               {"ETMTRACEIDR", source->trace_id, NULL}};
        struct pug_source_config source_config = {.protocol = source->ptm ? "PTM" : "ETMV3",
                                                  .settings = {.items = settings, .count = 4},
                                                  .decode = true};
        bench_good(pug_tree_add_source(tree, &source_config, NULL));
    }
    return tree;
}

/* ---- the reference ---- */

#ifdef PUG_WITH_OPENCSD
static dcd_tree_handle_t make_reference(const struct job *job)
{
    dcd_tree_handle_t tree =
        ocsd_create_dcd_tree(job->framed ? OCSD_TRC_SRC_FRAME_FORMATTED : OCSD_TRC_SRC_SINGLE,
                             job->framed ? OCSD_DFRMTR_FRAME_MEM_ALIGN : 0);
    for (size_t i = 0; i < job->source_count; i++) {
        const struct source *source = &job->sources[i];
        ocsd_etmv3_cfg config = {.reg_idr = source->id,
                                 .reg_ctrl = source->control,
                                 .reg_ccer = source->code,
                                 .reg_trc_id = source->trace_id,
                                 .arch_ver = ARCH_V7,
                                 .core_prof = profile_CortexA};
        unsigned char id;
        ocsd_dt_create_decoder(tree, source->ptm ? OCSD_BUILTIN_DCD_PTM : OCSD_BUILTIN_DCD_ETMV3,
                               OCSD_CREATE_FLG_FULL_DECODER, &config, &id);
    }
    ocsd_dt_add_buffer_mem_acc(tree, job->address, OCSD_MEM_SPACE_ANY, job->memory.at,
                               (uint32_t)job->memory.size);
    return tree;
}
#else
static dcd_tree_handle_t make_reference(const struct job *job)
{
    (void)job;
    return NULL;
}
#endif

/* ---- a program of our own ---- */

/* Three functions; who runs it decides the conditions at random, and keeps the return addresses. */
static const uint32_t program[] = {
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
struct recorder {
    struct rec_random random;
    struct rec_etmv3 etmv3;
    struct rec_ptm ptm;
    uint32_t stack[8];
    unsigned depth;
};

/** Run one instruction; the address of the next. */
static uint32_t step(struct recorder *recorder, bool ptm, uint32_t pc)
{
    const struct pug_isa_config config = {.arch = PUG_ARCH_V7};
    struct pug_insn insn;
    uint8_t it = 0;
    const uint8_t *bytes = (const uint8_t *)program + (pc - PROGRAM_BASE);
    bench_good(pug_isa_classify(&config, PUG_ISA_A32, pc, bytes, 4, &it, &insn));
    bool direct = insn.type == PUG_INSTR_BR, indirect = insn.type == PUG_INSTR_BR_INDIRECT;
    bool taken = !insn.conditional || rec_random_once_in(&recorder->random, 2);
    uint32_t next = direct && taken ? (uint32_t)insn.target : pc + 4;
    if (indirect)
        next = recorder->stack[--recorder->depth];
    if (insn.link)
        recorder->stack[recorder->depth++] = pc + 4;
    if (!ptm)
        rec_etmv3_atom(&recorder->etmv3, taken, 0);
    else if (direct)
        rec_ptm_atom(&recorder->ptm, taken, 0);
    if (indirect && ptm)
        rec_ptm_indirect(&recorder->ptm, next, PUG_ISA_A32, 0);
    else if (indirect)
        rec_etmv3_branch(&recorder->etmv3, next, PUG_ISA_A32, NULL);
    else if (insn.link)
        rec_ptm_call(&recorder->ptm, pc + 4, PUG_ISA_A32);
    return next;
}

static struct bench_bytes record(const struct source *source)
{
    struct rec_bytes out = {0};
    struct recorder recorder = {.random = {1}};
    uint32_t pc = PROGRAM_BASE;
    rec_etmv3_begin(&recorder.etmv3,
                    &(struct rec_etmv3_config){source->control, source->id, source->code, false},
                    &out);
    rec_ptm_begin(&recorder.ptm,
                  &(struct rec_ptm_config){source->control, source->id, source->code}, &out);
    rec_ptm_a_sync(&recorder.ptm);
    if (source->ptm)
        rec_ptm_isync(&recorder.ptm, &(struct rec_ptm_isync){.address = pc, .reason = 1});
    else
        rec_etmv3_isync(&recorder.etmv3, &(struct rec_etmv3_isync){.address = pc, .reason = 1});
    for (unsigned i = 0; i < INSTRUCTIONS; i++)
        pc = step(&recorder, source->ptm, pc);
    rec_etmv3_flush(&recorder.etmv3);
    rec_ptm_flush(&recorder.ptm);
    return (struct bench_bytes){out.data, out.size};
}

/* ---- all of it ---- */

static void run(struct job *job, int rounds)
{
    struct pug_image *image = pug_image_new();
    struct pug_tree *tree = make_tree(job, image);
    if (!job->trace.at)
        job->trace = record(&job->sources[0]);
    printf("%s\n", job->title);
    bench_compare(tree, make_reference(job), &job->trace, rounds, PASSES);
    pug_tree_free(tree);
    pug_image_free(image);
}

int main(int argc, char **argv)
{
    const struct bench_arguments arguments = bench_begin(argc, argv, "[CAPTURE] [ROUNDS] [JOB]");
    const char *folder = bench_text(&arguments, 1, PUG_SOURCE_DIR "/../shared/captures/TC2");
    int rounds = (int)bench_number(&arguments, 2, 20);
    size_t only = (unsigned)bench_number(&arguments, 3, 0);
    const bool captured = bench_has(folder, "cstrace.bin");
    struct bench_bytes trace = {0}, kernel = {0};
    if (captured) {
        trace = bench_read_file(folder, "cstrace.bin");
        kernel = bench_read_file(folder, "kernel_dump.bin");
    }
    struct bench_bytes own = {(uint8_t *)program, sizeof(program) & ~(size_t)1};
    struct job jobs[] = {
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
         .address = PROGRAM_BASE,
         .memory = own},
        {.title = "PTM, recorded",
         .sources = {{true, 0x13, 0, 0x411cf312, 0x34c01ac2}},
         .source_count = 1,
         .address = PROGRAM_BASE,
         .memory = own},
        {.title = "PTM, recorded, return stack",
         .sources = {{true, 0x13, 0x20000000, 0x411cf312, 0x34c01ac2}},
         .source_count = 1,
         .address = PROGRAM_BASE,
         .memory = own},
    };
    for (size_t i = 0; i < sizeof(jobs) / sizeof(jobs[0]); i++)
        if ((only == 0 || only == i + 1) && (captured || !jobs[i].framed))
            run(&jobs[i], rounds);
    return 0;
}
