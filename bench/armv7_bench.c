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
#include "armv7_traces.h"

#define PASSES 8 /* of pugmark for one of the reference */

/* ---- pugmark ---- */

static struct pug_tree *make_tree(const struct armv7_job *job, struct pug_image *image)
{
    struct pug_tree_config config = {.transport = job->framed ? "coresight" : NULL, .image = image};
    struct pug_tree *tree;
    bench_good(pug_image_add_buffer(image, &(struct pug_place){.space = PUG_SPACE_ANY},
                                    job->address, job->memory.at, job->memory.size));
    bench_good(pug_tree_new(&config, &tree));
    for (size_t i = 0; i < job->source_count; i++) {
        const struct armv7_source *source = &job->sources[i];
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
static dcd_tree_handle_t make_reference(const struct armv7_job *job)
{
    dcd_tree_handle_t tree =
        ocsd_create_dcd_tree(job->framed ? OCSD_TRC_SRC_FRAME_FORMATTED : OCSD_TRC_SRC_SINGLE,
                             job->framed ? OCSD_DFRMTR_FRAME_MEM_ALIGN : 0);
    for (size_t i = 0; i < job->source_count; i++) {
        const struct armv7_source *source = &job->sources[i];
        const ocsd_etmv3_cfg config = armv7_config(source);
        unsigned char id;
        ocsd_dt_create_decoder(tree, armv7_decoder(source), OCSD_CREATE_FLG_FULL_DECODER, &config,
                               &id);
    }
    ocsd_dt_add_buffer_mem_acc(tree, job->address, OCSD_MEM_SPACE_ANY, job->memory.at,
                               (uint32_t)job->memory.size);
    return tree;
}
#else
static dcd_tree_handle_t make_reference(const struct armv7_job *job)
{
    (void)job;
    return NULL;
}
#endif

/* ---- all of it ---- */

static void run(const struct armv7_job *job, int rounds)
{
    struct pug_image *image = pug_image_new();
    struct pug_tree *tree = make_tree(job, image);
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
    struct armv7_job jobs[ARMV7_JOBS];
    const size_t count = armv7_jobs(folder, jobs);
    for (size_t i = 0; i < count; i++)
        if (only == 0 || only == i + 1)
            run(&jobs[i], rounds);
    return 0;
}
