// SPDX-License-Identifier: MIT
/**
 * @file A long capture on one thread and on several.
 *
 *     jobs_bench [SNAPSHOT] [MEGABYTES] [ROUNDS]
 *
 * The first buffer of the snapshot is repeated until it has so many megabytes. In each round it is
 * decoded once with one thread and once with as many as there are processors; the best of each
 * counts. The consumer counts elements and instructions. Besides, what it costs to make the tree,
 * which each thread has one of.
 */
#include "bench.h"

struct counts {
    unsigned long long elements, instructions;
};

static void *begin(void *context, unsigned worker)
{
    (void)context;
    (void)worker;
    return calloc(1, sizeof(struct counts));
}

static void add(void *part, const struct pug_element *elements, size_t count)
{
    struct counts *counts = part;
    counts->elements += count;
    for (size_t i = 0; i < count; i++)
        if (elements[i].type == PUG_ELEM_INSTR_RANGE)
            counts->instructions += elements[i].count;
}

static bool take(void *context, void *part)
{
    struct counts *sum = context;
    const struct counts *counts = part;
    sum->elements += counts->elements;
    sum->instructions += counts->instructions;
    free(part);
    return true;
}

struct input {
    struct pug_snapshot *snapshot;
    const struct pug_snapshot_buffer *buffer;
    struct bench_bytes trace;
};

static double pass(const struct input *input, unsigned threads, struct counts *counts,
                   struct pug_jobs_result *result)
{
    const struct pug_parts parts = {
        .context = counts, .begin = begin, .elements = add, .take = take, .drop = free};
    struct pug_image *image = pug_image_new();
    struct pug_tree *tree;
    *counts = (struct counts){0};
    bench_good(pug_snapshot_tree(input->snapshot, input->buffer,
                                 &(struct pug_snapshot_tree_config){.image = image, .decode = true},
                                 &tree));
    const double start = bench_seconds();
    bench_good(pug_tree_decode(tree, &(struct pug_jobs){.threads = threads, .parts = &parts},
                               input->trace.at, input->trace.size, result));
    const double taken = bench_seconds() - start;
    pug_tree_free(tree);
    pug_image_free(image);
    return taken;
}

#define TREES 1000

/** Seconds for a tree with the buffer's sources, made and freed; the best of several times many. */
static double make_trees(const struct input *input, int rounds)
{
    struct pug_image *image = pug_image_new();
    const struct pug_snapshot_tree_config config = {.image = image, .decode = true};
    struct pug_tree *first, *tree;
    double best = 1e9;
    bench_good(pug_snapshot_tree(input->snapshot, input->buffer, &config, &first));
    for (int round = 0; round < rounds; round++) {
        const double start = bench_seconds();
        for (int i = 0; i < TREES; i++) {
            bench_good(pug_tree_clone(first, NULL, &tree));
            pug_tree_free(tree);
        }
        const double taken = (bench_seconds() - start) / TREES;
        best = taken < best ? taken : best;
    }
    pug_tree_free(first);
    pug_image_free(image);
    return best;
}

int main(int argc, char **argv)
{
    const char *path =
        argc > 1 ? argv[1] : bench_capture(PUG_SOURCE_DIR "/../shared/captures/bugfix-exact-match");
    const size_t least = (argc > 2 ? strtoul(argv[2], NULL, 0) : 64) << 20;
    const int rounds = argc > 3 ? atoi(argv[3]) : 3;
    struct input input;
    struct counts alone = {0}, together = {0};
    struct pug_jobs_result one, many = {0};
    double alone_best = 1e9, together_best = 1e9;
    bench_good(pug_snapshot_open(path, &(struct pug_snapshot_options){0}, &input.snapshot));
    input.buffer = pug_snapshot_buffer_at(input.snapshot, 0);
    if (!input.buffer)
        return 2;
    input.trace = bench_repeat(input.snapshot, input.buffer, least);
    for (int round = 0; round < rounds; round++) {
        double taken = pass(&input, 1, &alone, &one);
        alone_best = taken < alone_best ? taken : alone_best;
        taken = pass(&input, 0, &together, &many);
        together_best = taken < together_best ? taken : together_best;
    }
    bench_report("1 thread", alone_best, alone.elements, input.trace.size);
    bench_report("together", together_best, together.elements, input.trace.size);
    if (alone.elements != together.elements || alone.instructions != together.instructions) {
        fprintf(stderr, "the output is not the same\n");
        return 1;
    }
    printf("%u threads: %.2f times the speed of one; %.1f %% was decoded twice\n", many.threads,
           alone_best / together_best, 100.0 * (double)many.repeated / (double)input.trace.size);
    printf("a tree: %.1f microseconds\n", 1e6 * make_trees(&input, rounds));
    free(input.trace.at);
    pug_snapshot_free(input.snapshot);
    return 0;
}
