// SPDX-License-Identifier: MIT
/**
 * @file From trace to AutoFDO text, and to call stacks, beside only counting instructions.
 *
 *     profile_bench [CAPTURE] [ROUNDS]
 *
 * In each round the capture is decoded on one thread: once to count instructions, once to AutoFDO
 * text, once with call stacks to folded text; the best of each counts.
 */
#include "bench.h"

struct counted {
    unsigned long long elements, instructions;
};

static void *begin(void *context, unsigned worker, struct pug_piece *piece)
{
    (void)context;
    (void)worker;
    (void)piece;
    return calloc(1, sizeof(struct counted));
}

static void add(void *part, const struct pug_origin *origin, const struct pug_element *elements,
                size_t count)
{
    struct counted *counted = part;
    (void)origin;
    counted->elements += count;
    for (size_t i = 0; i < count; i++)
        if (elements[i].type == PUG_ELEM_INSTR_RANGE)
            counted->instructions += elements[i].count;
}

static bool take(void *context, void *part)
{
    struct counted *sum = context;
    const struct counted *counted = part;
    sum->elements += counted->elements;
    sum->instructions += counted->instructions;
    free(part);
    return true;
}

static struct pug_capture *open_capture(const char *path)
{
    struct pug_capture *capture;
    bench_good(pug_capture_open(path, &(struct pug_capture_options){0}, &capture));
    return capture;
}

static double bare(const char *path, struct counted *counted)
{
    struct pug_capture *capture = open_capture(path);
    struct pug_capture_result result;
    *counted = (struct counted){0};
    const double start = bench_seconds();
    const struct pug_consumer consumer = {
        .context = counted, .begin = begin, .elements = add, .take = take, .drop = free};
    const struct pug_capture_decode decode = {
        .consumers = &consumer, .consumer_count = 1, .threads = 1};
    bench_good(pug_capture_decode(capture, &decode, &result));
    const double took = bench_seconds() - start;
    pug_capture_free(capture);
    return took;
}

static void put(void *context, const void *bytes, size_t size)
{
    (void)bytes;
    *(size_t *)context += size;
}

static double profiled(const char *path, const char *format, bool stacks)
{
    struct pug_capture *capture = open_capture(path);
    struct pug_profile *profile = pug_profile_new();
    struct pug_names *names = pug_names_new(NULL);
    size_t size = 0;
    const double start = bench_seconds();
    bench_good(pug_profile_capture(
        profile, capture,
        &(struct pug_profiler_options){.threads = 1, .stacks = stacks, .names = names}, NULL));
    bench_good(
        pug_export(profile, format, &(struct pug_export_options){.names = names}, put, &size));
    const double took = bench_seconds() - start;
    pug_names_free(names);
    pug_profile_free(profile);
    pug_capture_free(capture);
    return took;
}

static double least(double a, double b)
{
    return a < b ? a : b;
}

int main(int argc, char **argv)
{
    const struct bench_arguments arguments = bench_begin(argc, argv, "[CAPTURE] [ROUNDS]");
    const char *path = bench_text(&arguments, 1, NULL);
    if (!path)
        path = bench_capture(PUG_SOURCE_DIR "/../shared/captures/bugfix-exact-match");
    const int rounds = (int)bench_number(&arguments, 2, 5);
    double best[3] = {1e9, 1e9, 1e9};
    struct counted counted = {0};
    for (int i = 0; i < rounds; i++) {
        best[0] = least(best[0], bare(path, &counted));
        best[1] = least(best[1], profiled(path, "autofdo", false));
        best[2] = least(best[2], profiled(path, "folded", true));
    }
    printf("%llu elements, %llu instructions\n", counted.elements, counted.instructions);
    static const char *const what[] = {"instructions counted", "to AutoFDO text",
                                       "to folded stacks"};
    for (int i = 0; i < 3; i++)
        printf("%-22s %8.2f ms %6.2f ns an element, %5.2f of bare counting's speed\n", what[i],
               best[i] * 1e3, best[i] * 1e9 / (double)counted.elements, best[0] / best[i]);
    return 0;
}
