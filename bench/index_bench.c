// SPDX-License-Identifier: MIT
/**
 * @file The index of a long capture: how fast it is made, how large it is, how fast it answers.
 *
 *     index_bench [SNAPSHOT] [MEGABYTES] [ROUNDS]
 *
 * The first buffer of the snapshot is repeated until it has so many megabytes. In each round the
 * index is made once with one thread and once with as many as there are processors, and each
 * question is asked of the index in a file, which is mapped and checked each time as `pugmark find`
 * does; the best of each counts.
 */
#include "bench.h"
#include "pugmark/advanced/index.h"

#include <unistd.h>

static struct pug_tree *new_tree(const struct bench_input *input)
{
    struct pug_tree *tree;
    bench_good(pug_snapshot_tree(input->snapshot, input->buffer,
                                 &(struct pug_snapshot_tree_config){0}, &tree));
    return tree;
}

/** Best times: passed, and of all processors together, on which what else runs weighs less. */
struct best {
    double passed, worked;
};

static void keep_best(double *best, double taken)
{
    *best = *best == 0 || taken < *best ? taken : *best;
}

static void make(const struct bench_input *input, unsigned threads, struct pug_index **index,
                 struct best *best)
{
    struct pug_tree *tree = new_tree(input);
    const double start = bench_seconds(), work = bench_worked();
    bench_good(pug_index_build(tree, input->trace.at, input->trace.size,
                               &(struct pug_index_options){.jobs = threads}, index));
    keep_best(&best->passed, bench_seconds() - start);
    keep_best(&best->worked, bench_worked() - work);
    pug_tree_free(tree);
}

/** Seconds for an answer. */
static double ask(const struct bench_input *input, const char *path,
                  const struct pug_index_query *query)
{
    struct pug_tree *tree = new_tree(input);
    struct pug_index *index;
    struct pug_index_mark mark;
    const double start = bench_seconds();
    bench_good(
        pug_index_load(path, input->trace.at, input->trace.size, pug_index_identity(tree), &index));
    (void)pug_index_find(index, tree, input->trace.at, input->trace.size, query, &mark);
    const double taken = bench_seconds() - start;
    pug_index_free(index);
    pug_tree_free(tree);
    return taken;
}

static void report(unsigned threads, const struct bench_input *input, const struct best *best)
{
    const double megabytes = (double)input->trace.size / 1e6;
    printf("%u threads: %.1f MB/s; %.1f MB for a second of processor time\n", threads,
           megabytes / best->passed, megabytes / best->worked);
}

int main(int argc, char **argv)
{
    const struct bench_arguments arguments =
        bench_begin(argc, argv, "[SNAPSHOT] [MEGABYTES] [ROUNDS]");
    const int rounds = (int)bench_number(&arguments, 3, 3);
    const struct bench_input input = bench_open(&arguments);
    const uint64_t late = input.trace.size / 10 * 9;
    const struct {
        const char *name;
        struct pug_index_query query;
    } questions[] = {
        {"an address that is nowhere",
         {.kind = PUG_MARK_ADDRESS,
          .source = PUG_INDEX_ANY,
          .from = 0,
          .backwards = false,
          .least = 3,
          .greatest = 3}},
        {"an exception that is nowhere",
         {.kind = PUG_MARK_EXCEPTION,
          .source = PUG_INDEX_ANY,
          .from = 0,
          .backwards = false,
          .least = 99,
          .greatest = 99}},
        {"the last sync before 90 %",
         {.kind = PUG_MARK_SYNC,
          .source = PUG_INDEX_ANY,
          .from = late,
          .backwards = true,
          .least = 0,
          .greatest = UINT64_MAX}},
        {"the next context from 90 %",
         {.kind = PUG_MARK_CONTEXT,
          .source = PUG_INDEX_ANY,
          .from = late,
          .backwards = false,
          .least = 0,
          .greatest = UINT64_MAX}},
        {"the next exception from 90 %",
         {.kind = PUG_MARK_EXCEPTION,
          .source = PUG_INDEX_ANY,
          .from = late,
          .backwards = false,
          .least = 0,
          .greatest = UINT64_MAX}},
    };
    enum { QUESTIONS = sizeof(questions) / sizeof(questions[0]) };
    double answers[QUESTIONS] = {0};
    struct best alone = {0}, together = {0};
    char file[] = "/tmp/index_bench-XXXXXX";
    int made = mkstemp(file);
    if (made < 0)
        return 2;
    close(made);
    struct pug_index_info info = {0};
    for (int round = 0; round < rounds; round++) {
        struct pug_index *index;
        make(&input, 1, &index, &alone);
        pug_index_free(index);
        make(&input, 0, &index, &together);
        pug_index_info(index, &info);
        bench_good(pug_index_save(index, file));
        pug_index_free(index);
        for (int i = 0; i < QUESTIONS; i++)
            keep_best(&answers[i], ask(&input, file, &questions[i].query));
    }
    unlink(file);
    report(1, &input, &alone);
    report(pug_jobs_processors(), &input, &together);
    printf("index: %.2f %% of the capture\n", 100.0 * (double)info.size / (double)input.trace.size);
    for (int i = 0; i < QUESTIONS; i++)
        printf("%s: %.1f ms\n", questions[i].name, answers[i] * 1e3);
    free(input.trace.at);
    pug_snapshot_free(input.snapshot);
    return 0;
}
