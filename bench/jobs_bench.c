// SPDX-License-Identifier: MIT
/**
 * @file A long capture on one thread and on several.
 *
 *     jobs_bench [SNAPSHOT] [MEGABYTES] [ROUNDS]
 *
 * The first buffer of the snapshot is repeated until it has so many megabytes. In each round it is
 * decoded once with one thread and once with as many as there are processors; the best of each
 * counts. The consumer counts elements and instructions. Besides, what it costs to make the tree,
 * which each thread has one of; and how fast it would be on more processors than there are, by a
 * model of what was measured: the work alone and together, what each thread does once more for
 * itself, what only the caller's thread can do, and how even the pieces are. Beside it stands what
 * was measured, and the processor time of more threads than there are processors.
 */
#include "bench.h"

#include <pthread.h>

struct counts {
    unsigned long long elements, instructions;
};

static void *begin(void *context, unsigned worker, struct pug_piece *piece)
{
    (void)piece;
    (void)context;
    (void)worker;
    return calloc(1, sizeof(struct counts));
}

static void add(void *part, const struct pug_origin *origin, const struct pug_element *elements,
                size_t count)
{
    (void)origin;
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

/** Seconds: on the wall, of all threads together, and of the caller's alone. */
struct work {
    double wall, all, caller;
};

static double caller_worked(void)
{
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static void keep_least(double *least, double seconds)
{
    *least = seconds < *least ? seconds : *least;
}

#define PIECE ((size_t)512 << 10)

/** Decode the first `size` bytes; the least seconds go to *best. */
static void pass(const struct bench_input *input, size_t size, unsigned threads,
                 struct counts *counts, struct pug_jobs_result *result, struct work *best)
{
    const struct pug_consumer consumer = {
        .context = counts, .begin = begin, .elements = add, .take = take, .drop = free};
    struct pug_image *image = pug_image_new();
    struct pug_tree *tree;
    *counts = (struct counts){0};
    bench_good(pug_snapshot_tree(input->snapshot, input->buffer,
                                 &(struct pug_snapshot_tree_config){.image = image, .decode = true},
                                 &tree));
    const double wall = bench_seconds(), all = bench_worked(), caller = caller_worked();
    bench_good(pug_tree_decode(
        tree,
        &(struct pug_jobs){
            .threads = threads, .consumers = &consumer, .consumer_count = 1, .piece = PIECE},
        input->trace.at, size, result));
    keep_least(&best->wall, bench_seconds() - wall);
    keep_least(&best->all, bench_worked() - all);
    keep_least(&best->caller, caller_worked() - caller);
    pug_tree_free(tree);
    pug_image_free(image);
}

#define TREES 1000

/** Seconds for a tree with the buffer's sources, made and freed; the best of several times many. */
static double make_trees(const struct bench_input *input, int rounds)
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

/* ---- memory ---- */

/** Read all of it once. Returns the sum, so that no compiler leaves it out. */
static void *read_all(void *pointer)
{
    struct bench_bytes *bytes = pointer;
    uint64_t sum = 0, word;
    for (size_t at = 0; at + sizeof(word) <= bytes->size; at += sizeof(word)) {
        memcpy(&word, bytes->at + at, sizeof(word));
        sum += word;
    }
    return (void *)(uintptr_t)sum;
}

#define MOST_READERS 64u

/** Bytes a second that memory gives to so many threads at once. */
static double read_together(const struct bench_bytes *trace, unsigned threads, int rounds)
{
    pthread_t readers[MOST_READERS];
    struct bench_bytes parts[MOST_READERS];
    double best = 1e9;
    if (threads == 0 || threads > MOST_READERS)
        threads = MOST_READERS;
    const size_t size = trace->size / threads;
    for (int round = 0; round < rounds; round++) {
        const double start = bench_seconds();
        for (unsigned i = 0; i < threads; i++) {
            parts[i] = (struct bench_bytes){.at = trace->at + i * size, .size = size};
            if (pthread_create(&readers[i], NULL, read_all, &parts[i]) != 0)
                exit(2);
        }
        for (unsigned i = 0; i < threads; i++)
            pthread_join(readers[i], NULL);
        keep_least(&best, bench_seconds() - start);
    }
    return (double)(size * threads) / best;
}

/* ---- the model ---- */

struct model {
    double alone;    /* seconds of one thread */
    double together; /* of several, who decode a little twice and compare states */
    double once;     /* of each of them, until it knows the program */
    double tree;     /* ... and for its tree, which the caller makes */
    double caller;   /* what only the caller's thread does, while the others work */
    size_t pieces;   /* that are shared out */
};

/** Seconds on so many processors. */
static double foretell(const struct model *model, unsigned threads)
{
    if (threads == 1)
        return model->alone;
    const size_t most = (model->pieces + threads - 1) / threads;
    const double uneven = (double)(most * threads) / (double)model->pieces;
    const double share = (model->together * uneven + model->caller) / threads;
    const double all = model->once + share + model->tree * threads;
    return all > model->caller ? all : model->caller;
}

/** Seconds of all threads together. */
static double foretell_work(const struct model *model, unsigned threads)
{
    return threads == 1 ? model->alone
                        : model->together + model->caller + (model->once + model->tree) * threads;
}

/** A run beside what the model says of it. */
struct run {
    unsigned threads;
    struct work best;
};

static void print_model(const struct model *model, const struct run *runs, size_t count,
                        size_t size)
{
    printf(
        "processors  seconds  faster  MB/s of trace  of all threads  measured: seconds, of all\n");
    for (unsigned n = 1; n <= 64; n *= 2) {
        const double seconds = foretell(model, n);
        printf("%10u  %7.4f  %6.1f  %13.0f  %14.4f", n, seconds, foretell(model, 1) / seconds,
               (double)size / seconds / 1e6, foretell_work(model, n));
        for (size_t i = 0; i < count; i++)
            if (runs[i].threads == n && n <= pug_jobs_processors())
                printf("  %17.4f, %.4f", runs[i].best.wall, runs[i].best.all);
            else if (runs[i].threads == n)
                printf("                   , %.4f", runs[i].best.all);
        printf("\n");
    }
}

#define MANY 8u /* threads, whether there are processors for them or not */

int main(int argc, char **argv)
{
    const struct bench_arguments arguments =
        bench_begin(argc, argv, "[SNAPSHOT] [MEGABYTES] [ROUNDS]");
    const int rounds = (int)bench_number(&arguments, 3, 3);
    struct counts alone = {0}, together = {0}, others = {0};
    struct pug_jobs_result one, many = {0}, first = {0}, crowd = {0};
    struct work one_best = {1e9, 1e9, 1e9}, many_best = one_best, first_best = one_best,
                crowd_best = one_best;
    const struct bench_input input = bench_open(&arguments);
    const size_t size = input.trace.size;
    for (int round = 0; round < rounds; round++) {
        pass(&input, size, 1, &alone, &one, &one_best);
        pass(&input, size, 0, &together, &many, &many_best);
        pass(&input, size, MANY, &others, &crowd, &crowd_best);
        pass(&input, PIECE < size ? PIECE : size, 1, &others, &first, &first_best);
    }
    bench_report("1 thread", one_best.wall, alone.elements, size);
    bench_report("together", many_best.wall, together.elements, size);
    if (alone.elements != together.elements || alone.instructions != together.instructions) {
        fprintf(stderr, "the output is not the same\n");
        return 1;
    }
    const double again = (double)many.repeated / (double)size;
    const double tree = make_trees(&input, rounds);
    printf("%u threads: %.2f times the speed of one; %.1f %% was decoded twice\n", many.threads,
           one_best.wall / many_best.wall, 100.0 * again);
    printf("a tree: %.1f microseconds\n", 1e6 * tree);
    const double share = (double)first.at / (double)size;
    const double cold = (first_best.all - one_best.all * share) / (1 - share);
    const double once = cold > 0 ? cold : 0;
    const struct model model = {.alone = one_best.all,
                                .together = many_best.all - many_best.caller - once * many.threads,
                                .once = once,
                                .tree = tree,
                                .caller = many_best.caller,
                                .pieces = (size + PIECE - 1) / PIECE};
    printf("work alone %.4f s, together %.4f s, of each thread %.4f s, of the caller's %.5f s, "
           "%zu pieces\n",
           model.alone, model.together, model.once, model.caller, model.pieces);
    printf("memory gives %.0f MB/s to one thread, %.0f MB/s to %u\n",
           read_together(&input.trace, 1, rounds) / 1e6,
           read_together(&input.trace, many.threads, rounds) / 1e6, many.threads);
    const struct run runs[] = {
        {1, one_best}, {many.threads, many_best}, {crowd.threads, crowd_best}};
    if (share < 1 && many.threads > 1)
        print_model(&model, runs, sizeof(runs) / sizeof(runs[0]), size);
    free(input.trace.at);
    pug_snapshot_free(input.snapshot);
    return 0;
}
