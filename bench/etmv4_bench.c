// SPDX-License-Identifier: MIT
/**
 * @file ETMv4 to elements, beside the reference doing the same with an empty callback.
 *
 *     etmv4_bench [CAPTURE] [ROUNDS] [SPEAKERS]
 *
 * CAPTURE is a folder like bugfix-exact-match: cstrace.bin and the memory dumps of cc1; where it is
 * not there the recorder makes a trace of a program of our own. Each round
 * decodes it once with the reference and several times with pugmark; the best of each counts, so
 * that what else the machine does weighs on both. Without the reference's library (Debian:
 * libopencsd-dev) only pugmark is measured. With SPEAKERS, at most six, the trace is shared out to
 * so many cores, a piece to each, and they speak in turn, 8 to 24 bytes at a time.
 */
#include "cc1_dumps.h"
#include "own_program.h"

#include "recorder/frames.h"

#include <sys/resource.h>

#define PASSES 8 /* of pugmark for one of the reference */

static const uint16_t ids[] = {0x10, 0x12, 0x14, 0x16, 0x18, 0x1A};

#define IDS (sizeof(ids) / sizeof(ids[0]))

static struct bench_bytes trace, memory[DUMPS];
static uint64_t addresses[DUMPS];
static size_t memories;

/* ---- pugmark ---- */

static struct pug_tree *make_tree(struct pug_image *image)
{
    struct pug_tree *tree;
    for (size_t i = 0; i < memories; i++)
        bench_good(pug_image_add_buffer(image, &(struct pug_place){.space = PUG_SPACE_ANY},
                                        addresses[i], memory[i].at, memory[i].size & ~(size_t)1));
    bench_good(
        pug_tree_new(&(struct pug_tree_config){.transport = "coresight", .image = image}, &tree));
    for (size_t i = 0; i < IDS; i++) {
        const struct pug_setting settings[] = {
            {.name = "TRCIDR0", .value = 0x28000EA1},   {.name = "TRCIDR1", .value = 0x4100F403},
            {.name = "TRCIDR2", .value = 0x00000488},   {.name = "TRCCONFIGR", .value = 1},
            {.name = "TRCTRACEIDR", .value = ids[i]},   {.name = "arch", .value = PUG_ARCH_V8},
            {.name = "profile", .value = PUG_PROFILE_A}};
        struct pug_source_config config = {
            .protocol = "ETMV4I",
            .settings = {.items = settings, .count = sizeof(settings) / sizeof(settings[0])},
            .decode = true};
        bench_good(pug_tree_add_source(tree, &config, NULL));
    }
    return tree;
}

/* ---- the reference ---- */

#ifdef PUG_WITH_OPENCSD
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
    for (size_t i = 0; i < memories; i++)
        ocsd_dt_add_buffer_mem_acc(tree, addresses[i], OCSD_MEM_SPACE_ANY, memory[i].at,
                                   (uint32_t)memory[i].size & ~1u);
    return tree;
}

#else
static dcd_tree_handle_t make_reference(void)
{
    return NULL;
}
#endif

/** The capture, or a program and a trace of our own. */
static void load(const char *folder)
{
    if (!bench_has(folder, "cstrace.bin")) {
        memory[0] = own_program();
        addresses[0] = OWN_BASE;
        memories = 1;
        trace = own_trace(2000000);
        return;
    }
    trace = bench_read_file(folder, "cstrace.bin");
    for (; memories < DUMPS; memories++) {
        memory[memories] = bench_read_file(folder, dumps[memories].file);
        addresses[memories] = dumps[memories].address;
    }
}

/* ---- cores that speak in turn ---- */

static void keep_run(void *context, const struct pug_run *run)
{
    if (run->source > 0 && run->source < 0x70)
        rec_put_n(context, run->bytes, run->size);
}

/** The bytes of all sources, which are of one in the capture. */
static struct rec_bytes unframe(void)
{
    struct rec_bytes bytes = {0};
    struct pug_tree *tree;
    size_t used;
    bench_good(pug_tree_new(&(struct pug_tree_config){.transport = "coresight"}, &tree));
    pug_tree_on_runs(tree, keep_run, &bytes);
    (void)pug_tree_data(tree, 0, trace.at, trace.size, &used);
    pug_tree_free(tree);
    return bytes;
}

static void share_out(size_t speakers)
{
    struct rec_random random = {1};
    struct rec_bytes bytes = unframe(), out = {0};
    struct rec_frames frames = {.out = &out};
    const size_t piece = bytes.size / speakers;
    if (piece == 0) {
        fprintf(stderr, "%zu bytes of trace are too few for %zu speakers\n", bytes.size, speakers);
        exit(2);
    }
    size_t done[IDS] = {0};
    for (size_t left = speakers; left > 0;) {
        const size_t n = rec_random_below(&random, (uint32_t)speakers);
        size_t size = 8 + rec_random_below(&random, 17);
        if (size > piece - done[n])
            size = piece - done[n];
        rec_frames_put(&frames, (uint8_t)ids[n], bytes.data + n * piece + done[n], size);
        done[n] += size;
        left -= size > 0 && done[n] == piece;
    }
    rec_frames_finish(&frames);
    rec_bytes_free(&bytes);
    trace = (struct bench_bytes){out.data, out.size};
}

int main(int argc, char **argv)
{
    const struct bench_arguments arguments =
        bench_begin(argc, argv, "[CAPTURE] [ROUNDS] [SPEAKERS]");
    const char *folder =
        bench_text(&arguments, 1, PUG_SOURCE_DIR "/../shared/captures/bugfix-exact-match");
    int rounds = (int)bench_number(&arguments, 2, 10);
    const size_t speakers = bench_number(&arguments, 3, 1);
    unsigned long long elements;
    load(folder);
    if (speakers > 1)
        share_out(speakers < IDS ? speakers : IDS);
    struct pug_image *image = pug_image_new();
    struct pug_tree *tree = make_tree(image);
    struct rusage usage;
    for (int i = 0; i < PASSES; i++)
        bench_pass(tree, &trace, &elements);
    getrusage(RUSAGE_SELF, &usage);
    bench_compare(tree, make_reference(), &trace, rounds, PASSES);
    printf("peak memory of pugmark %.1f MiB\n", (double)usage.ru_maxrss / 1024);
    pug_tree_free(tree);
    pug_image_free(image);
    return 0;
}
