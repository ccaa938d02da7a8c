// SPDX-License-Identifier: MIT
/**
 * @file The drop-in beside the reference: one client of OpenCSD's C API, on both libraries in turn.
 *
 *     dropin_bench [CAPTURES] [ROUNDS] [JOB]
 *
 * CAPTURES has the folders bugfix-exact-match (ETMv4) and TC2 (ETMv3 and PTM); besides there are
 * recorded traces of the latter two. JOB, from 1, is one trace alone. Program memory comes from
 * buffers, or from a callback as perf gives it. A client that hashes all that an element says
 * spends its own time, which is the same with both libraries and hides what they take; one that
 * only counts spends next to none. So there are two ratios. The best pass of each counts.
 */
#include "armv7_traces.h"
#include "cc1_dumps.h"

#if defined(PUG_WITH_OPENCSD) && defined(PUG_WITH_DROPIN)
#include <dlfcn.h>

#define PASSES 4 /* of ours for one of the reference */

/** The functions that the client calls in one of the libraries. */
struct library {
    __typeof__(ocsd_create_dcd_tree) *create;
    __typeof__(ocsd_dt_create_decoder) *add_decoder;
    __typeof__(ocsd_dt_add_buffer_mem_acc) *add_buffer;
    __typeof__(ocsd_dt_add_callback_trcid_mem_acc) *add_callback;
    __typeof__(ocsd_dt_set_gen_elem_outfn) *set_client;
    __typeof__(ocsd_dt_process_data) *process;
};

/** A trace, the decoders for it, and the program's memory, lowest first. */
struct job {
    const char *title;
    const struct armv7_job *armv7; /* NULL: ETMv4 */
    bool framed;
    struct bench_bytes trace, memory[DUMPS];
    uint64_t addresses[DUMPS];
    size_t memories;
};

static uint64_t count, hash;

/* ---- the client ---- */

static void mix(uint64_t value)
{
    hash = (hash ^ value) * UINT64_C(1099511628211);
}

static ocsd_datapath_resp_t on_hashed(const void *context, const ocsd_trc_index_t index,
                                      const uint8_t id, const ocsd_generic_trace_elem *element)
{
    (void)context;
    count++;
    if (element->elem_type == OCSD_GEN_TRC_ELEM_INSTR_RANGE) {
        mix(element->st_addr);
        mix(element->en_addr);
        mix(element->num_instr_range);
        mix((uint64_t)element->last_i_type << 1 | element->last_instr_exec);
    }
    mix(index);
    mix((uint64_t)id << 32 | element->elem_type);
    return OCSD_RESP_CONT;
}

static ocsd_datapath_resp_t on_counted(const void *context, const ocsd_trc_index_t index,
                                       const uint8_t id, const ocsd_generic_trace_elem *element)
{
    (void)context;
    (void)index;
    (void)id;
    (void)element;
    count++;
    return OCSD_RESP_CONT;
}

static uint32_t on_memory(const void *context, const ocsd_vaddr_t address,
                          const ocsd_mem_space_acc_t space, const uint8_t id, const uint32_t wanted,
                          uint8_t *buffer)
{
    const struct job *job = context;
    (void)space;
    (void)id;
    for (size_t i = 0; i < job->memories; i++) {
        const struct bench_bytes *memory = &job->memory[i];
        const uint64_t place = address - job->addresses[i];
        if (address < job->addresses[i] || place >= memory->size)
            continue;
        const uint64_t left = memory->size - place;
        const uint32_t size = wanted < left ? wanted : (uint32_t)left;
        memcpy(buffer, memory->at + place, size);
        return size;
    }
    return 0;
}

/* ---- the libraries ---- */

static void find(void *handle, const char *name, void *function)
{
    void *found = handle ? dlsym(handle, name) : NULL;
    if (!found) {
        fprintf(stderr, "%s\n", dlerror());
        exit(2);
    }
    memcpy(function, &found, sizeof(found));
}

static struct library open_library(const char *path)
{
    struct library library;
    void *handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    find(handle, "ocsd_create_dcd_tree", &library.create);
    find(handle, "ocsd_dt_create_decoder", &library.add_decoder);
    find(handle, "ocsd_dt_add_buffer_mem_acc", &library.add_buffer);
    find(handle, "ocsd_dt_add_callback_trcid_mem_acc", &library.add_callback);
    find(handle, "ocsd_dt_set_gen_elem_outfn", &library.set_client);
    find(handle, "ocsd_dt_process_data", &library.process);
    return library;
}

static void add_etmv4(const struct library *library, dcd_tree_handle_t tree)
{
    for (uint32_t id = 0x10; id <= 0x1A; id += 2) {
        ocsd_etmv4_cfg config = {.reg_idr0 = 0x28000EA1,
                                 .reg_idr1 = 0x4100F403,
                                 .reg_idr2 = 0x00000488,
                                 .reg_configr = 1,
                                 .reg_traceidr = id,
                                 .arch_ver = ARCH_V8,
                                 .core_prof = profile_CortexA};
        unsigned char taken;
        library->add_decoder(tree, OCSD_BUILTIN_DCD_ETMV4I, OCSD_CREATE_FLG_FULL_DECODER, &config,
                             &taken);
    }
}

static void add_armv7(const struct library *library, dcd_tree_handle_t tree,
                      const struct armv7_job *job)
{
    for (size_t i = 0; i < job->source_count; i++) {
        const ocsd_etmv3_cfg config = armv7_config(&job->sources[i]);
        unsigned char taken;
        library->add_decoder(tree, armv7_decoder(&job->sources[i]), OCSD_CREATE_FLG_FULL_DECODER,
                             &config, &taken);
    }
}

static dcd_tree_handle_t make_tree(const struct library *library, const struct job *job,
                                   bool callback)
{
    dcd_tree_handle_t tree =
        library->create(job->framed ? OCSD_TRC_SRC_FRAME_FORMATTED : OCSD_TRC_SRC_SINGLE,
                        job->framed ? OCSD_DFRMTR_FRAME_MEM_ALIGN : 0);
    if (job->armv7)
        add_armv7(library, tree, job->armv7);
    else
        add_etmv4(library, tree);
    for (size_t i = 0; i < job->memories && !callback; i++)
        library->add_buffer(tree, job->addresses[i], OCSD_MEM_SPACE_ANY, job->memory[i].at,
                            (uint32_t)job->memory[i].size);
    const size_t last = job->memories - 1;
    if (callback)
        library->add_callback(tree, job->addresses[0],
                              job->addresses[last] + job->memory[last].size - 1, OCSD_MEM_SPACE_ANY,
                              on_memory, job);
    return tree;
}

/** One pass over the trace; seconds. */
static double pass(const struct library *library, dcd_tree_handle_t tree,
                   const struct bench_bytes *trace)
{
    const double begin = bench_worked();
    uint32_t used = 0;
    count = hash = 0;
    for (size_t done = 0; done < trace->size; done += used)
        if (OCSD_DATA_RESP_IS_FATAL(library->process(tree, OCSD_OP_DATA, done,
                                                     (uint32_t)(trace->size - done),
                                                     trace->at + done, &used)) ||
            used == 0)
            break;
    library->process(tree, OCSD_OP_EOT, 0, 0, NULL, NULL);
    const double seconds = bench_worked() - begin;
    library->process(tree, OCSD_OP_RESET, 0, 0, NULL, NULL);
    return seconds;
}

static void compare(const struct library libraries[2], const struct job *job, bool callback,
                    bool hashed, int rounds)
{
    dcd_tree_handle_t trees[2];
    double best[2] = {1e9, 1e9};
    uint64_t hashes[2] = {0};
    for (int i = 0; i < 2; i++) {
        trees[i] = make_tree(&libraries[i], job, callback);
        libraries[i].set_client(trees[i], hashed ? on_hashed : on_counted, NULL);
    }
    for (int round = 0; round < rounds; round++)
        for (int i = 0; i < 2; i++)
            for (int k = 0; k < (i == 0 ? PASSES : 1); k++) {
                const double seconds = pass(&libraries[i], trees[i], &job->trace);
                best[i] = seconds < best[i] ? seconds : best[i];
                hashes[i] = hash;
            }
    printf("memory from %s, client that %s: %.2f ns an element, reference %.2f, ratio %.1f%s\n",
           callback ? "a callback" : "buffers", hashed ? "hashes" : "counts",
           best[0] * 1e9 / (double)count, best[1] * 1e9 / (double)count, best[1] / best[0],
           hashes[0] == hashes[1] ? "" : " (elements differ)");
}

static struct job etmv4_job(const char *folder)
{
    struct job job = {.title = "ETMv4",
                      .framed = true,
                      .trace = bench_read_file(folder, "cstrace.bin"),
                      .memories = DUMPS};
    for (size_t i = 0; i < DUMPS; i++) {
        job.memory[i] = bench_read_file(folder, dumps[i].file);
        job.addresses[i] = dumps[i].address;
    }
    return job;
}

static struct job armv7_job(const struct armv7_job *armv7)
{
    return (struct job){.title = armv7->title,
                        .armv7 = armv7,
                        .framed = armv7->framed,
                        .trace = armv7->trace,
                        .memory = {armv7->memory},
                        .addresses = {armv7->address},
                        .memories = 1};
}

int main(int argc, char **argv)
{
    const struct bench_arguments arguments = bench_begin(argc, argv, "[CAPTURES] [ROUNDS] [JOB]");
    const char *captures = bench_text(&arguments, 1, PUG_SOURCE_DIR "/../shared/captures");
    const int rounds = (int)bench_number(&arguments, 2, 5);
    const size_t only = bench_number(&arguments, 3, 0);
    const struct library libraries[2] = {open_library(PUG_WITH_DROPIN),
                                         open_library(PUG_WITH_REFERENCE)};
    char etmv4[2048], tc2[2048];
    struct armv7_job armv7[ARMV7_JOBS];
    struct job jobs[1 + ARMV7_JOBS];
    size_t n = 0;
    snprintf(etmv4, sizeof(etmv4), "%s/bugfix-exact-match", captures);
    snprintf(tc2, sizeof(tc2), "%s/TC2", captures);
    if (bench_has(etmv4, "cstrace.bin"))
        jobs[n++] = etmv4_job(etmv4);
    const size_t others = armv7_jobs(tc2, armv7);
    for (size_t i = 0; i < others; i++)
        jobs[n++] = armv7_job(&armv7[i]);
    for (size_t i = 0; i < n; i++) {
        if (only != 0 && only != i + 1)
            continue;
        printf("%s\n", jobs[i].title);
        for (int way = 0; way < 4; way++)
            compare(libraries, &jobs[i], way / 2 == 1, way % 2 == 0, rounds);
    }
    return 0;
}
#else
int main(void)
{
    printf("(the reference or the drop-in is not built: left out)\n");
    return 0;
}
#endif
