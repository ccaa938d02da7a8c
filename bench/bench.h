// SPDX-License-Identifier: MIT
/**
 * @file What benchmarks beside the reference share: a trace, a tree of ours and, where its library
 * is there, one of the reference, both with an empty callback, in turn; the best pass of each
 * counts, so that what else the machine does weighs on both.
 */
#ifndef PUG_BENCH_H
#define PUG_BENCH_H

#include "pugmark/advanced/counts.h"
#include "pugmark/advanced/snapshot.h"
#include "pugmark/advanced/tree.h"
#include "pugmark/pugmark.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#ifdef PUG_WITH_OPENCSD
#include <opencsd/c_api/opencsd_c_api.h>
#endif

struct bench_bytes {
    uint8_t *at;
    size_t size;
};

/* ---- arguments ---- */

struct bench_arguments {
    const char *usage; /**< follows the name of the program */
    int count;
    char **all;
};

static inline void bench_say_usage(const struct bench_arguments *arguments, FILE *file)
{
    const char *name = strrchr(arguments->all[0], '/');
    fprintf(file, "usage: %s %s\n", name ? name + 1 : arguments->all[0], arguments->usage);
}

/** A benchmark's arguments. Options and requests for help print the usage. */
static inline struct bench_arguments bench_begin(int argc, char **argv, const char *usage)
{
    const struct bench_arguments arguments = {usage, argc, argv};
    for (int i = 1; i < argc; i++) {
        if (argv[i][0] != '-')
            continue;
        const bool help = strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0;
        bench_say_usage(&arguments, help ? stdout : stderr);
        exit(help ? 0 : 2);
    }
    return arguments;
}

static inline const char *bench_text(const struct bench_arguments *arguments, int n,
                                     const char *otherwise)
{
    return n < arguments->count ? arguments->all[n] : otherwise;
}

/** The n-th one, a number of at least 1. */
static inline unsigned long bench_number(const struct bench_arguments *arguments, int n,
                                         unsigned long otherwise)
{
    if (n >= arguments->count)
        return otherwise;
    char *end;
    const unsigned long number = strtoul(arguments->all[n], &end, 0);
    if (*end == 0 && number > 0)
        return number;
    bench_say_usage(arguments, stderr);
    exit(2);
}

/* ---- files ---- */

static inline struct bench_bytes bench_read_file(const char *folder, const char *name)
{
    char path[4096];
    snprintf(path, sizeof(path), "%s/%s", folder, name);
    FILE *file = fopen(path, "rb");
    if (!file) {
        perror(path);
        exit(2);
    }
    fseek(file, 0, SEEK_END);
    struct bench_bytes bytes = {.size = (size_t)ftell(file)};
    rewind(file);
    bytes.at = malloc(bytes.size);
    if (!bytes.at || fread(bytes.at, 1, bytes.size, file) != bytes.size)
        exit(2);
    fclose(file);
    return bytes;
}

/** Is there such a file? Says so if not. */
static inline bool bench_has(const char *folder, const char *name)
{
    char path[4096];
    snprintf(path, sizeof(path), "%s/%s", folder, name);
    FILE *file = fopen(path, "rb");
    if (file)
        fclose(file);
    else
        printf("(%s is not there: left out, or a trace of our own in its place)\n", path);
    return file != NULL;
}

/** A shared capture, or the bundled one where that is not there. */
static inline const char *bench_capture(const char *shared)
{
    return bench_has(shared, "snapshot.ini") ? shared : PUG_SOURCE_DIR "/examples/demo";
}

static inline double bench_seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/** Seconds that this process worked: what else runs on the machine is not in them. */
static inline double bench_worked(void)
{
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static inline void bench_good(enum pug_status status)
{
    if (status == PUG_OK)
        return;
    fprintf(stderr, "%s\n", pug_status_text(status));
    exit(2);
}

/** A buffer of a snapshot, over and over until there are `least` bytes. */
static inline struct bench_bytes
bench_repeat(struct pug_snapshot *snapshot, const struct pug_snapshot_buffer *buffer, size_t least)
{
    struct pug_trace *trace;
    enum pug_status status;
    bench_good(pug_trace_open(snapshot, buffer, &trace));
    const size_t once = (size_t)pug_trace_size(trace), times = once ? least / once + 1 : 0;
    struct bench_bytes bytes = {.at = malloc(once * times + 1), .size = once * times};
    if (!bytes.at || times == 0 || pug_trace_read(trace, bytes.at, once, &status) != once)
        exit(2);
    for (size_t i = 1; i < times; i++)
        memcpy(bytes.at + i * once, bytes.at, once);
    pug_trace_close(trace);
    return bytes;
}

/** The first buffer of a snapshot, made long. */
struct bench_input {
    struct pug_snapshot *snapshot;
    const struct pug_snapshot_buffer *buffer;
    struct bench_bytes trace;
};

/** Arguments 1 and 2: the snapshot, and how many megabytes of it. */
static inline struct bench_input bench_open(const struct bench_arguments *arguments)
{
    struct bench_input input;
    const char *path = bench_text(arguments, 1, NULL);
    if (!path)
        path = bench_capture(PUG_SOURCE_DIR "/../shared/captures/bugfix-exact-match");
    const size_t least = bench_number(arguments, 2, 64) << 20;
    bench_good(pug_snapshot_open(path, &(struct pug_snapshot_options){0}, &input.snapshot));
    input.buffer = pug_snapshot_buffer_at(input.snapshot, 0);
    if (!input.buffer)
        exit(2);
    input.trace = bench_repeat(input.snapshot, input.buffer, least);
    return input;
}

/* ---- pugmark ---- */

static inline enum pug_response bench_count(void *context, const struct pug_element *batch,
                                            size_t count, size_t *taken)
{
    *(unsigned long long *)context += count;
    (void)batch;
    *taken = count;
    return PUG_RESP_CONT;
}

/**
 * Seconds of work for the trace once; *elements: how many came. The tree is reset for the next
 * pass.
 */
static inline double bench_pass(struct pug_tree *tree, const struct bench_bytes *trace,
                                unsigned long long *elements)
{
    double start = bench_worked();
    size_t used;
    *elements = 0;
    pug_tree_on_elements(tree, bench_count, elements);
    if (pug_tree_data(tree, 0, trace->at, trace->size, &used) >= PUG_RESP_WAIT ||
        pug_tree_end(tree) >= PUG_RESP_WAIT)
        exit(2);
    double taken = bench_worked() - start;
    pug_tree_reset(tree);
    return taken;
}

/** The best of so many passes, sources in the trace's order or in any. */
static inline double bench_passes(struct pug_tree *tree, const struct bench_bytes *trace,
                                  bool any_order, int passes, unsigned long long *elements)
{
    double best = 1e9;
    pug_tree_any_order(tree, any_order);
    for (int i = 0; i < passes; i++) {
        double taken = bench_pass(tree, trace, elements);
        best = taken < best ? taken : best;
    }
    return best;
}

/**
 * The same, counted in place of delivered. The counts add up over the passes, as they do over a
 * long trace, so that spreading them in the end weighs little.
 */
static inline double bench_count_passes(struct pug_tree *tree, const struct bench_bytes *trace,
                                        int passes)
{
    struct pug_counts *counts = pug_counts_new();
    unsigned long long others;
    pug_tree_count(tree, counts);
    const double best = bench_passes(tree, trace, true, passes, &others);
    pug_tree_count(tree, NULL);
    pug_counts_free(counts);
    return best;
}

/* ---- the reference ---- */

#ifdef PUG_WITH_OPENCSD
static inline ocsd_datapath_resp_t bench_count_reference(const void *context,
                                                         const ocsd_trc_index_t index,
                                                         const uint8_t id,
                                                         const ocsd_generic_trace_elem *element)
{
    (void)index;
    (void)id;
    (void)element;
    ++*(unsigned long long *)(uintptr_t)context;
    return OCSD_RESP_CONT;
}

static inline double bench_reference_pass(dcd_tree_handle_t tree, const struct bench_bytes *trace,
                                          unsigned long long *elements)
{
    double start = bench_worked();
    uint32_t used, done = 0, size = (uint32_t)trace->size;
    *elements = 0;
    ocsd_dt_set_gen_elem_outfn(tree, bench_count_reference, elements);
    while (done < size) {
        if (ocsd_dt_process_data(tree, OCSD_OP_DATA, done, size - done, trace->at + done, &used) >=
            OCSD_RESP_WAIT)
            exit(2);
        done += used;
    }
    ocsd_dt_process_data(tree, OCSD_OP_EOT, 0, 0, NULL, NULL);
    double taken = bench_worked() - start;
    ocsd_dt_process_data(tree, OCSD_OP_RESET, 0, 0, NULL, NULL);
    return taken;
}
#else
typedef void *dcd_tree_handle_t;
#endif

/* ---- both ---- */

static inline void bench_report(const char *who, double best, unsigned long long count,
                                size_t bytes)
{
    printf("%-9s %llu elements, best pass %.6f s, %.2f ns an element, %.1f MB/s\n", who, count,
           best, best * 1e9 / (double)count, (double)bytes / best / 1e6);
}

/**
 * The floor: so many elements stored and delivered in batches, and nothing else. Seconds.
 */
static inline double bench_floor(unsigned long long elements)
{
    static struct pug_element batch[256];
    const struct pug_element element = {.start = 1, .end = 2, .count = 3, .isa = PUG_ISA_A64};
    pug_elements_fn *volatile give = bench_count;
    unsigned long long count = 0;
    const double start = bench_worked();
    for (unsigned long long i = 0; i < elements;) {
        size_t n = 0, taken;
        for (; n < 240 && i < elements; n++, i++) {
            batch[n] = element;
            batch[n].index = i;
        }
        (void)give(&count, batch, n, &taken);
    }
    return bench_worked() - start;
}

/** Measure, and print the lines and the ratio. `passes` of ours for one of the reference. */
static inline void bench_compare(struct pug_tree *tree, dcd_tree_handle_t reference,
                                 const struct bench_bytes *trace, int rounds, int passes)
{
    unsigned long long elements = 0;
    double best = 1e9, best_any = 1e9, best_count = 1e9;
    (void)reference;
#ifdef PUG_WITH_OPENCSD
    unsigned long long reference_elements = 0;
    double reference_best = 1e9;
#endif
    for (int round = 0; round < rounds; round++) {
        const double ordered = bench_passes(tree, trace, false, passes, &elements);
        const double any = bench_passes(tree, trace, true, passes, &elements);
        const double counting = bench_count_passes(tree, trace, passes);
        best = ordered < best ? ordered : best;
        best_any = any < best_any ? any : best_any;
        best_count = counting < best_count ? counting : best_count;
#ifdef PUG_WITH_OPENCSD
        double taken = bench_reference_pass(reference, trace, &reference_elements);
        reference_best = taken < reference_best ? taken : reference_best;
#endif
    }
    bench_report("pugmark", best, elements, trace->size);
    bench_report("any order", best_any, elements, trace->size);
    bench_report("counts", best_count, elements, trace->size);
    double floor = 1e9;
    for (int i = 0; i < passes; i++) {
        double taken = bench_floor(elements);
        floor = taken < floor ? taken : floor;
    }
    bench_report("floor", floor, elements, trace->size);
#ifdef PUG_WITH_OPENCSD
    bench_report("reference", reference_best, reference_elements, trace->size);
    printf("ratio %.1f times the reference's speed, in any order %.1f times, counts %.1f times\n",
           reference_best / best, reference_best / best_any, reference_best / best_count);
#endif
}

#endif
