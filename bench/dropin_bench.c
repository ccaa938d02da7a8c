// SPDX-License-Identifier: MIT
/**
 * @file The drop-in beside the reference: one client of OpenCSD's C API, on both libraries in turn.
 *
 *     dropin_bench [CAPTURE] [ROUNDS]
 *
 * CAPTURE is a folder like bugfix-exact-match. Program memory comes from buffers, or from a
 * callback as perf gives it. A client that hashes all that an element says spends its own time,
 * which is the same with both libraries and hides what they take; one that only counts spends next
 * to none. So there are two ratios. The best pass of each counts.
 */
#include "bench.h"
#include "cc1_dumps.h"

#if defined(PUG_WITH_OPENCSD) && defined(PUG_WITH_DROPIN)
#include <dlfcn.h>

#define PASSES 4 /* of ours for one of the reference */

/** What the client calls, of one of the libraries. */
struct library {
    __typeof__(ocsd_create_dcd_tree) *create;
    __typeof__(ocsd_dt_create_decoder) *add_decoder;
    __typeof__(ocsd_dt_add_buffer_mem_acc) *add_buffer;
    __typeof__(ocsd_dt_add_callback_trcid_mem_acc) *add_callback;
    __typeof__(ocsd_dt_set_gen_elem_outfn) *set_client;
    __typeof__(ocsd_dt_process_data) *process;
};

static struct bench_bytes trace, memory[DUMPS];
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
    (void)context;
    (void)space;
    (void)id;
    for (size_t i = 0; i < DUMPS; i++) {
        if (address < dumps[i].address || address - dumps[i].address >= memory[i].size)
            continue;
        const uint64_t left = memory[i].size - (address - dumps[i].address);
        const uint32_t size = wanted < left ? wanted : (uint32_t)left;
        memcpy(buffer, memory[i].at + (address - dumps[i].address), size);
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

static dcd_tree_handle_t make_tree(const struct library *library, bool callback)
{
    dcd_tree_handle_t tree =
        library->create(OCSD_TRC_SRC_FRAME_FORMATTED, OCSD_DFRMTR_FRAME_MEM_ALIGN);
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
    for (size_t i = 0; i < DUMPS && !callback; i++)
        library->add_buffer(tree, dumps[i].address, OCSD_MEM_SPACE_ANY, memory[i].at,
                            (uint32_t)memory[i].size);
    if (callback)
        library->add_callback(tree, dumps[0].address,
                              dumps[DUMPS - 1].address + memory[DUMPS - 1].size - 1,
                              OCSD_MEM_SPACE_ANY, on_memory, NULL);
    return tree;
}

/** One pass over the trace; seconds. */
static double pass(const struct library *library, dcd_tree_handle_t tree)
{
    const double begin = bench_worked();
    uint32_t used = 0;
    count = hash = 0;
    for (size_t done = 0; done < trace.size; done += used)
        if (OCSD_DATA_RESP_IS_FATAL(library->process(
                tree, OCSD_OP_DATA, done, (uint32_t)(trace.size - done), trace.at + done, &used)) ||
            used == 0)
            break;
    library->process(tree, OCSD_OP_EOT, 0, 0, NULL, NULL);
    const double seconds = bench_worked() - begin;
    library->process(tree, OCSD_OP_RESET, 0, 0, NULL, NULL);
    return seconds;
}

static void compare(const struct library libraries[2], bool callback, bool hashed, int rounds)
{
    dcd_tree_handle_t trees[2];
    double best[2] = {1e9, 1e9};
    uint64_t hashes[2] = {0};
    for (int i = 0; i < 2; i++) {
        trees[i] = make_tree(&libraries[i], callback);
        libraries[i].set_client(trees[i], hashed ? on_hashed : on_counted, NULL);
    }
    for (int round = 0; round < rounds; round++)
        for (int i = 0; i < 2; i++)
            for (int k = 0; k < (i == 0 ? PASSES : 1); k++) {
                const double seconds = pass(&libraries[i], trees[i]);
                best[i] = seconds < best[i] ? seconds : best[i];
                hashes[i] = hash;
            }
    printf("memory from %s, client that %s: %.2f ns an element, reference %.2f, ratio %.1f%s\n",
           callback ? "a callback" : "buffers", hashed ? "hashes" : "counts",
           best[0] * 1e9 / (double)count, best[1] * 1e9 / (double)count, best[1] / best[0],
           hashes[0] == hashes[1] ? "" : " (elements differ)");
}

int main(int argc, char **argv)
{
    const struct bench_arguments arguments = bench_begin(argc, argv, "[CAPTURE] [ROUNDS]");
    const char *folder =
        bench_text(&arguments, 1, PUG_SOURCE_DIR "/../shared/captures/bugfix-exact-match");
    const int rounds = (int)bench_number(&arguments, 2, 5);
    if (!bench_has(folder, "cstrace.bin"))
        return 0;
    trace = bench_read_file(folder, "cstrace.bin");
    for (size_t i = 0; i < DUMPS; i++)
        memory[i] = bench_read_file(folder, dumps[i].file);
    const struct library libraries[2] = {open_library(PUG_WITH_DROPIN),
                                         open_library(PUG_WITH_REFERENCE)};
    for (int way = 0; way < 4; way++)
        compare(libraries, way / 2 == 1, way % 2 == 0, rounds);
    return 0;
}
#else
int main(void)
{
    printf("(the reference or the drop-in is not built: left out)\n");
    return 0;
}
#endif
