// SPDX-License-Identifier: MIT
/**
 * @file RISC-V trace to elements, with an empty consumer, and to counts of ranges: nanoseconds for
 * each executed branch or jump, the best of several rounds.
 *
 *     riscv_bench [ROUNDS [VECTORS [ONLY]]]
 *
 * First the project's own recordings, each over and over to a megabyte. VECTORS is the folder that
 * the E-Trace and N-Trace test vectors are in; they are left out where it is not there. ONLY: what
 * has this in its name, which is protocol, program and option with a space between.
 */
#include "bench.h"
#include "pugmark/advanced/params.h"

#define ENOUGH (1u << 20) /* bytes of a recording, for one measurement */

static const char *const recordings[] = {"etrace-rv64", "etrace-rv64-options", "etrace-rv32",
                                         "ntrace-rv64", "ntrace-rv64-btm",     "ntrace-rv32"};

static const char *const etrace_programs[] = {"coremark",    "dhrystone",  "embench-crc32",
                                              "embench-edn", "median",     "embench-wikisort",
                                              "qsort",       "hello_world"};
static const char *const etrace_options[] = {"base",          "bp6", "bp6jtc5",
                                             "irets_rs6_rsi", "all", "rsi50"};

static const struct {
    const char *name;
    unsigned xlen;
} ntrace_programs[] = {
    {"coremark", 64},     {"dhrystone", 64},        {"embench-crc32", 32}, {"median", 64},
    {"embench-slre", 32}, {"embench-wikisort", 32}, {"qsort", 64},         {"pk", 64}};
static const char *const ntrace_options[] = {"btm", "htm", "htm_rpt2", "htm_cs8"};

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/** The sums of several streams. */
struct total {
    double time, count_time;
    uint64_t branches;
};

struct counts {
    uint64_t branches, elements, instructions;
};

static enum pug_response count(void *context, const struct pug_element *elements, size_t n,
                               size_t *taken)
{
    struct counts *counts = context;
    (void)taken;
    for (size_t i = 0; i < n; i++) {
        if (elements[i].type != PUG_ELEM_INSTR_RANGE)
            continue;
        counts->branches += elements[i].last_type != PUG_INSTR_OTHER;
        counts->instructions += elements[i].count;
    }
    counts->elements += n;
    return PUG_RESP_CONT;
}

static enum pug_response ignore(void *context, const struct pug_element *elements, size_t n,
                                size_t *taken)
{
    (void)context;
    (void)elements;
    (void)n;
    (void)taken;
    return PUG_RESP_CONT;
}

static void report(const char *what, const struct total *total)
{
    if (total->branches == 0)
        return;
    printf("%s: %.1f ns per branch, to counts %.1f, %llu branches\n", what,
           total->time * 1e9 / (double)total->branches,
           total->count_time * 1e9 / (double)total->branches, (unsigned long long)total->branches);
}

/** A stream, and what decodes it. */
struct stream {
    const char *protocol, *program, *option;
    struct pug_tree *tree;
    struct bench_bytes bytes;
};

/** The stream decoded once on its tree; the time in seconds. */
static double decode(const struct stream *stream, pug_elements_fn *consumer, struct counts *counts)
{
    struct pug_tree *tree = stream->tree;
    size_t used;
    pug_tree_on_elements(tree, consumer, counts);
    const double begin = bench_worked();
    pug_tree_data(tree, 0, stream->bytes.at, stream->bytes.size, &used);
    pug_tree_end(tree);
    const double taken = bench_worked() - begin;
    pug_tree_reset(tree);
    return taken;
}

/** The best of `rounds` times, warm. */
static double measure(const struct stream *stream, unsigned rounds)
{
    double best = 1e9;
    for (unsigned i = 0; i < rounds; i++) {
        const double taken = decode(stream, ignore, NULL);
        best = taken < best ? taken : best;
    }
    return best;
}

/** The same, with ranges counted; they add up over the rounds, as in etmv4_bench. */
static double measure_counts(const struct stream *stream, unsigned rounds)
{
    struct pug_counts *counts = pug_counts_new();
    pug_tree_count(stream->tree, counts);
    (void)decode(stream, ignore, NULL);
    const double best = measure(stream, rounds);
    pug_tree_count(stream->tree, NULL);
    pug_counts_free(counts);
    return best;
}

static const char *only = "";

static bool is_wanted(const struct stream *stream)
{
    char name[200];
    snprintf(name, sizeof(name), "%s %s %s", stream->protocol, stream->program, stream->option);
    return strstr(name, only) != NULL;
}

static void bench(const struct stream *stream, unsigned rounds, struct total *total)
{
    struct counts counts = {0};
    if (!is_wanted(stream))
        return;
    (void)decode(stream, count, &counts);
    const double best = measure(stream, rounds), best_count = measure_counts(stream, rounds);
    if (counts.branches == 0)
        exit(2);
    printf("%s %-19s %-14s %6.1f ns per branch %6.2f ns per instruction %7.1f MB/s, to counts "
           "%6.1f ns per branch\n",
           stream->protocol, stream->program, stream->option, best * 1e9 / (double)counts.branches,
           best * 1e9 / (double)counts.instructions, (double)stream->bytes.size / best / 1e6,
           best_count * 1e9 / (double)counts.branches);
    total->time += best;
    total->count_time += best_count;
    total->branches += counts.branches;
}

/* ---- recordings of our own ---- */

static void bench_recording(const char *name, unsigned rounds, struct total *total)
{
    char path[1000];
    struct pug_snapshot *snapshot;
    struct pug_snapshot_source source;
    struct pug_image *image = pug_image_new();
    snprintf(path, sizeof(path), "%s/tests/captures/%s", PUG_SOURCE_DIR, name);
    bench_good(pug_snapshot_open(path, NULL, &snapshot));
    const struct pug_snapshot_buffer *buffer = pug_snapshot_buffer_at(snapshot, 0);
    if (!pug_snapshot_source_at(snapshot, buffer, 0, &source))
        exit(2);
    struct stream stream = {.protocol = source.protocol,
                            .program = name,
                            .option = "",
                            .bytes = bench_repeat(snapshot, buffer, ENOUGH)};
    const struct pug_snapshot_tree_config config = {.image = image, .decode = true};
    bench_good(pug_snapshot_tree(snapshot, buffer, &config, &stream.tree));
    bench(&stream, rounds, total);
    pug_tree_free(stream.tree);
    pug_image_free(image);
    pug_snapshot_free(snapshot);
    free(stream.bytes.at);
}

/* ---- vectors ---- */

static void bench_vector(struct stream *stream, const char *transport, struct pug_image *image,
                         const struct pug_settings *settings, unsigned rounds, struct total *total)
{
    const struct pug_tree_config config = {
        .transport = transport, .settings = *settings, .image = image};
    const struct pug_source_config source = {
        .protocol = stream->protocol, .settings = *settings, .decode = true};
    bench_good(pug_tree_new(&config, &stream->tree));
    bench_good(pug_tree_add_source(stream->tree, &source, NULL));
    bench(stream, rounds, total);
    pug_tree_free(stream->tree);
    free(stream->bytes.at);
}

static struct bench_bytes read_vector(const char *folder, const char *option, const char *ending)
{
    char name[100];
    snprintf(name, sizeof(name), "%s.%s", option, ending);
    return bench_read_file(folder, name);
}

static struct pug_image *image_of(const char *folder, const char *program)
{
    char path[1100];
    struct pug_image *image = pug_image_new();
    snprintf(path, sizeof(path), "%s/%s.elf", folder, program);
    bench_good(pug_image_add_elf(image, NULL, path, 0));
    return image;
}

static void bench_etrace(const char *vectors, const char *program, const char *option,
                         unsigned rounds, struct total *total)
{
    char folder[1000], path[1100];
    struct pug_params *params;
    struct pug_region rom = {.address = 0x1000};
    struct stream stream = {.protocol = "E-Trace", .program = program, .option = option};
    snprintf(folder, sizeof(folder), "%s/etrace/%s", vectors, program);
    struct pug_image *image = image_of(folder, "program");
    stream.bytes = read_vector(folder, option, "te");
    snprintf(path, sizeof(path), "%s/%s.params", folder, option);
    bench_good(pug_params_load(path, NULL, &params));
    snprintf(path, sizeof(path), "%s/bootrom.bin", folder);
    bench_good(pug_image_add_file(image, NULL, path, &rom, 1));
    bench_vector(&stream, "encapsulation", image, pug_params_settings(params), rounds, total);
    pug_image_free(image);
    pug_params_free(params);
}

static void bench_ntrace(const char *vectors, const char *program, unsigned xlen,
                         const char *option, unsigned rounds, struct total *total)
{
    char folder[1000];
    const struct pug_setting items[] = {
        {.name = "xlen", .value = xlen},
        {.name = "implicit_return", .value = strstr(option, "_cs") != NULL}};
    const struct pug_settings settings = {.items = items, .count = COUNT(items)};
    struct stream stream = {.protocol = "N-Trace", .program = program, .option = option};
    snprintf(folder, sizeof(folder), "%s/ntrace/ref-%s", vectors, program);
    struct pug_image *image = image_of(folder, program);
    stream.bytes = read_vector(folder, option, "nex");
    bench_vector(&stream, "nexus", image, &settings, rounds, total);
    pug_image_free(image);
}

static void bench_vectors(const char *folder, unsigned rounds)
{
    struct total etrace = {0}, ntrace = {0};
    for (size_t i = 0; i < COUNT(etrace_programs); i++)
        for (size_t j = 0; j < COUNT(etrace_options); j++)
            bench_etrace(folder, etrace_programs[i], etrace_options[j], rounds, &etrace);
    for (size_t i = 0; i < COUNT(ntrace_programs); i++)
        for (size_t j = 0; j < COUNT(ntrace_options); j++)
            bench_ntrace(folder, ntrace_programs[i].name, ntrace_programs[i].xlen,
                         ntrace_options[j], rounds, &ntrace);
    report("E-Trace vectors", &etrace);
    report("N-Trace vectors", &ntrace);
}

int main(int argc, char **argv)
{
    const struct bench_arguments arguments = bench_begin(argc, argv, "[ROUNDS [VECTORS [ONLY]]]");
    const unsigned rounds = (unsigned)bench_number(&arguments, 1, 20);
    const char *folder = bench_text(&arguments, 2, PUG_SOURCE_DIR "/../shared/vectors");
    only = bench_text(&arguments, 3, only);
    struct total recorded = {0};
    for (size_t i = 0; i < COUNT(recordings); i++)
        bench_recording(recordings[i], rounds, &recorded);
    report("recordings", &recorded);
    if (bench_has(folder, "etrace/coremark/program.elf"))
        bench_vectors(folder, rounds);
    return 0;
}
