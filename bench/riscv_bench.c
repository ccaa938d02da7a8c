// SPDX-License-Identifier: MIT
/**
 * @file RISC-V trace to elements, with an empty consumer: nanoseconds for each executed branch or
 * jump, the best of several rounds.
 *
 *     riscv_bench [ROUNDS [VECTORS]]
 *
 * VECTORS is the folder that the E-Trace and N-Trace test vectors are in.
 */
#include "pugmark/pugmark.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

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

/** All streams of a protocol. */
struct total {
    double time;
    uint64_t branches;
};

struct counts {
    uint64_t branches, elements, instructions;
};

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec * 1e9 + (double)time.tv_nsec;
}

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

static uint8_t *read_file(const char *path, size_t *size)
{
    FILE *file = fopen(path, "rb");
    if (!file)
        return NULL;
    fseek(file, 0, SEEK_END);
    *size = (size_t)ftell(file);
    rewind(file);
    uint8_t *bytes = malloc(*size + 1);
    if (bytes && fread(bytes, 1, *size, file) != *size)
        *size = 0;
    fclose(file);
    return bytes;
}

/** A stream, and what decodes it. */
struct stream {
    const char *protocol, *transport, *program, *option;
    struct pug_settings settings;
    struct pug_image *image;
    const uint8_t *bytes;
    size_t size;
};

/** One stream decoded `rounds` times on one tree, warm; the best time in nanoseconds. */
static double measure(const struct stream *stream, unsigned rounds, struct counts *counts)
{
    struct pug_tree *tree;
    struct pug_tree_config config = {
        .transport = stream->transport, .settings = stream->settings, .image = stream->image};
    struct pug_source_config source = {
        .protocol = stream->protocol, .settings = stream->settings, .decode = true};
    double best = 1e18;
    size_t used;
    if (pug_tree_new(&config, &tree) != PUG_OK ||
        pug_tree_add_source(tree, &source, NULL) != PUG_OK)
        exit(1);
    for (unsigned i = 0; i <= rounds; i++) {
        pug_tree_on_elements(tree, i == 0 ? count : ignore, counts);
        double begin = now();
        pug_tree_data(tree, 0, stream->bytes, stream->size, &used);
        pug_tree_end(tree);
        double taken = now() - begin;
        if (i > 0 && taken < best)
            best = taken;
        pug_tree_reset(tree);
    }
    pug_tree_free(tree);
    return best;
}

static void bench(const struct stream *stream, unsigned rounds, struct total *total)
{
    struct counts counts = {0};
    double best = measure(stream, rounds, &counts);
    printf("%s %-18s %-14s %6.1f ns per branch %6.2f ns per instruction %7.1f MB/s\n",
           stream->protocol, stream->program, stream->option, best / (double)counts.branches,
           best / (double)counts.instructions, (double)stream->size / best * 1e3);
    total->time += best;
    total->branches += counts.branches;
}

static bool bench_etrace(const char *folder, const char *program, const char *option,
                         unsigned rounds, struct total *total)
{
    char path[2000];
    struct pug_params *params;
    struct pug_place place = {.space = PUG_SPACE_ANY};
    struct pug_region rom = {.address = 0x1000};
    struct stream stream = {
        .protocol = "E-Trace", .transport = "encapsulation", .program = program, .option = option};
    snprintf(path, sizeof(path), "%s/etrace/%s/%s.te", folder, program, option);
    uint8_t *bytes = read_file(path, &stream.size);
    snprintf(path, sizeof(path), "%s/etrace/%s/%s.params", folder, program, option);
    if (!bytes || pug_params_load(path, NULL, &params) != PUG_OK) {
        free(bytes);
        return false;
    }
    struct pug_image *image = pug_image_new();
    snprintf(path, sizeof(path), "%s/etrace/%s/program.elf", folder, program);
    pug_image_add_elf(image, &place, path, 0);
    snprintf(path, sizeof(path), "%s/etrace/%s/bootrom.bin", folder, program);
    pug_image_add_file(image, &place, path, &rom, 1);
    stream.settings = *pug_params_settings(params);
    stream.image = image;
    stream.bytes = bytes;
    bench(&stream, rounds, total);
    pug_image_free(image);
    pug_params_free(params);
    free(bytes);
    return true;
}

static bool bench_ntrace(const char *folder, const char *program, unsigned xlen, const char *option,
                         unsigned rounds, struct total *total)
{
    char path[2000];
    struct pug_place place = {.space = PUG_SPACE_ANY};
    const struct pug_setting settings[] = {
        {.name = "xlen", .value = xlen},
        {.name = "implicit_return", .value = strstr(option, "_cs") != NULL}};
    struct stream stream = {.protocol = "N-Trace",
                            .transport = "nexus",
                            .program = program,
                            .option = option,
                            .settings = {.items = settings, .count = COUNT(settings)}};
    snprintf(path, sizeof(path), "%s/ntrace/ref-%s/%s.nex", folder, program, option);
    uint8_t *bytes = read_file(path, &stream.size);
    if (!bytes)
        return false;
    stream.image = pug_image_new();
    stream.bytes = bytes;
    snprintf(path, sizeof(path), "%s/ntrace/ref-%s/%s.elf", folder, program, program);
    pug_image_add_elf(stream.image, &place, path, 0);
    bench(&stream, rounds, total);
    pug_image_free(stream.image);
    free(bytes);
    return true;
}

static void report(const char *protocol, const struct total *total)
{
    if (total->branches > 0)
        printf("%s: %.1f ns per branch, %llu branches\n", protocol,
               total->time / (double)total->branches, (unsigned long long)total->branches);
    else
        printf("%s: no vectors\n", protocol);
}

int main(int argc, char **argv)
{
    unsigned rounds = argc > 1 ? (unsigned)atoi(argv[1]) : 20;
    const char *folder = argc > 2 ? argv[2] : PUG_SOURCE_DIR "/../shared/vectors";
    struct total etrace = {0}, ntrace = {0};
    for (size_t i = 0; i < COUNT(etrace_programs); i++)
        for (size_t j = 0; j < COUNT(etrace_options); j++)
            bench_etrace(folder, etrace_programs[i], etrace_options[j], rounds, &etrace);
    for (size_t i = 0; i < COUNT(ntrace_programs); i++)
        for (size_t j = 0; j < COUNT(ntrace_options); j++)
            bench_ntrace(folder, ntrace_programs[i].name, ntrace_programs[i].xlen,
                         ntrace_options[j], rounds, &ntrace);
    report("E-Trace", &etrace);
    report("N-Trace", &ntrace);
    return 0;
}
