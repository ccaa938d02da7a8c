// SPDX-License-Identifier: MIT
/**
 * @file ETMv4 to elements, beside the reference doing the same with an empty callback.
 *
 *     etmv4_bench [CAPTURE] [ROUNDS]
 *
 * CAPTURE is a folder like bugfix-exact-match: cstrace.bin and the memory dumps of cc1. Each round
 * decodes it once with the reference and several times with pugmark; the best of each counts, so
 * that what else the machine does weighs on both. Without the reference's library (Debian:
 * libopencsd-dev) only pugmark is measured.
 */
#include "pugmark/pugmark.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

#ifdef PUG_WITH_OPENCSD
#include <opencsd/c_api/opencsd_c_api.h>
#endif

#define PASSES 8 /* of pugmark for one of the reference */

static const struct {
    const char *file;
    uint64_t address;
} dumps[] = {{"cc1.init_dump.bin", 0x4001D8},
             {"cc1.text_dump.bin", 0x400200},
             {"cc1__libc_freeres_fn_dump.bin", 0x5CE9C0},
             {"cc1__libc_thread_freeres_fn_dump.bin", 0x5CF610},
             {"cc1.fini_dump.bin", 0x5CF700}};

#define DUMPS (sizeof(dumps) / sizeof(dumps[0]))

static const uint16_t ids[] = {0x10, 0x12, 0x14, 0x16, 0x18, 0x1A};

#define IDS (sizeof(ids) / sizeof(ids[0]))

struct bytes {
    uint8_t *at;
    size_t size;
};

static struct bytes trace, memory[DUMPS];
static unsigned long long elements;

static struct bytes read_file(const char *folder, const char *name)
{
    char path[4096];
    snprintf(path, sizeof(path), "%s/%s", folder, name);
    FILE *file = fopen(path, "rb");
    if (!file) {
        perror(path);
        exit(2);
    }
    fseek(file, 0, SEEK_END);
    struct bytes bytes = {.size = (size_t)ftell(file)};
    rewind(file);
    bytes.at = malloc(bytes.size);
    if (!bytes.at || fread(bytes.at, 1, bytes.size, file) != bytes.size)
        exit(2);
    fclose(file);
    return bytes;
}

static double seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static void good(enum pug_status status)
{
    if (status == PUG_OK)
        return;
    fprintf(stderr, "%s\n", pug_status_text(status));
    exit(2);
}

/* ---- pugmark ---- */

static enum pug_response on_elements(void *context, const struct pug_element *batch, size_t count,
                                     size_t *taken)
{
    (void)context;
    (void)batch;
    elements += count;
    *taken = count;
    return PUG_RESP_CONT;
}

static struct pug_tree *make_tree(struct pug_image *image)
{
    struct pug_tree *tree;
    for (size_t i = 0; i < DUMPS; i++)
        good(pug_image_add_buffer(image, &(struct pug_place){.space = PUG_SPACE_ANY},
                                  dumps[i].address, memory[i].at, memory[i].size & ~(size_t)1));
    good(pug_tree_new(&(struct pug_tree_config){.transport = "coresight", .image = image}, &tree));
    for (size_t i = 0; i < IDS; i++) {
        const struct pug_setting settings[] = {
            {.name = "TRCIDR0", .value = 0x28000EA1},   {.name = "TRCIDR1", .value = 0x4100F403},
            {.name = "TRCIDR2", .value = 0x00000488},   {.name = "TRCCONFIGR", .value = 1},
            {.name = "TRCTRACEIDR", .value = ids[i]},   {.name = "arch", .value = PUG_ARCH_V8},
            {.name = "profile", .value = PUG_PROFILE_A}};
        struct pug_source_config config = {
            .protocol = "ETMV4I",
            .settings = {settings, sizeof(settings) / sizeof(settings[0])},
            .decode = true};
        good(pug_tree_add_source(tree, &config, NULL));
    }
    pug_tree_on_elements(tree, on_elements, NULL);
    return tree;
}

static double pass(struct pug_tree *tree)
{
    double start = seconds();
    size_t used;
    elements = 0;
    if (pug_tree_data(tree, 0, trace.at, trace.size, &used) >= PUG_RESP_WAIT ||
        pug_tree_end(tree) >= PUG_RESP_WAIT)
        exit(2);
    double taken = seconds() - start;
    pug_tree_reset(tree);
    return taken;
}

/* ---- the reference ---- */

#ifdef PUG_WITH_OPENCSD
static unsigned long long reference_elements;

static ocsd_datapath_resp_t on_reference(const void *context, const ocsd_trc_index_t index,
                                         const uint8_t id, const ocsd_generic_trace_elem *element)
{
    (void)context;
    (void)index;
    (void)id;
    (void)element;
    reference_elements++;
    return OCSD_RESP_CONT;
}

static dcd_tree_handle_t make_reference(void)
{
    dcd_tree_handle_t tree =
        ocsd_create_dcd_tree(OCSD_TRC_SRC_FRAME_FORMATTED, OCSD_DFRMTR_FRAME_MEM_ALIGN);
    for (size_t i = 0; i < IDS; i++) {
        ocsd_etmv4_cfg config = {.reg_idr0 = 0x28000EA1,
                                 .reg_idr1 = 0x4100F403,
                                 .reg_idr2 = 0x00000488,
                                 .reg_configr = 1,
                                 .reg_traceidr = ids[i],
                                 .arch_ver = ARCH_V8,
                                 .core_prof = profile_CortexA};
        unsigned char id;
        ocsd_dt_create_decoder(tree, OCSD_BUILTIN_DCD_ETMV4I, OCSD_CREATE_FLG_FULL_DECODER, &config,
                               &id);
    }
    for (size_t i = 0; i < DUMPS; i++)
        ocsd_dt_add_buffer_mem_acc(tree, dumps[i].address, OCSD_MEM_SPACE_ANY, memory[i].at,
                                   (uint32_t)memory[i].size & ~1u);
    ocsd_dt_set_gen_elem_outfn(tree, on_reference, NULL);
    return tree;
}

static double reference_pass(dcd_tree_handle_t tree)
{
    double start = seconds();
    uint32_t used, done = 0, size = (uint32_t)trace.size;
    reference_elements = 0;
    while (done < size) {
        if (ocsd_dt_process_data(tree, OCSD_OP_DATA, done, size - done, trace.at + done, &used) !=
            OCSD_RESP_CONT)
            exit(2);
        done += used;
    }
    ocsd_dt_process_data(tree, OCSD_OP_EOT, 0, 0, NULL, NULL);
    double taken = seconds() - start;
    ocsd_dt_process_data(tree, OCSD_OP_RESET, 0, 0, NULL, NULL);
    return taken;
}
#endif

static void report(const char *who, double best, unsigned long long count)
{
    printf("%-9s %llu elements, best pass %.4f s, %.2f ns an element, %.1f MB/s\n", who, count,
           best, best * 1e9 / (double)count, (double)trace.size / best / 1e6);
}

int main(int argc, char **argv)
{
    const char *folder =
        argc > 1 ? argv[1] : PUG_SOURCE_DIR "/../shared/captures/bugfix-exact-match";
    int rounds = argc > 2 ? atoi(argv[2]) : 10;
    double best = 1e9;
    trace = read_file(folder, "cstrace.bin");
    for (size_t i = 0; i < DUMPS; i++)
        memory[i] = read_file(folder, dumps[i].file);
    struct pug_image *image = pug_image_new();
    struct pug_tree *tree = make_tree(image);
    struct rusage usage;
    for (int i = 0; i < PASSES; i++)
        best = pass(tree);
    getrusage(RUSAGE_SELF, &usage);
    long peak = usage.ru_maxrss;
#ifdef PUG_WITH_OPENCSD
    double reference_best = 1e9;
    dcd_tree_handle_t reference = make_reference();
#endif
    for (int round = 0; round < rounds; round++) {
        for (int i = 0; i < PASSES; i++) {
            double taken = pass(tree);
            best = taken < best ? taken : best;
        }
#ifdef PUG_WITH_OPENCSD
        double taken = reference_pass(reference);
        reference_best = taken < reference_best ? taken : reference_best;
#endif
    }
    pass(tree);
    report("pugmark", best, elements);
#ifdef PUG_WITH_OPENCSD
    report("reference", reference_best, reference_elements);
    printf("ratio %.1f times the reference's speed\n", reference_best / best);
    ocsd_destroy_dcd_tree(reference);
#endif
    printf("peak memory of pugmark %.1f MiB\n", (double)peak / 1024);
    pug_tree_free(tree);
    pug_image_free(image);
    return 0;
}
