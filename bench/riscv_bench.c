// SPDX-License-Identifier: MIT
/**
 * @file RISC-V trace to elements, with an empty consumer: nanoseconds for each executed branch or
 * jump, the best of several rounds.
 *
 *     riscv_bench [ROUNDS [VECTORS]]
 *
 * VECTORS is the folder of the E-Trace test vectors.
 */
#include "pugmark/pugmark.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static const char *const programs[] = {"coremark",    "dhrystone",  "embench-crc32",
                                       "embench-edn", "median",     "embench-wikisort",
                                       "qsort",       "hello_world"};
static const char *const options[] = {"base", "bp6", "bp6jtc5", "irets_rs6_rsi", "all", "rsi50"};

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

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

/** One stream decoded `rounds` times on one tree, warm; the best time in nanoseconds. */
static double measure(const struct pug_settings *settings, struct pug_image *image,
                      const uint8_t *bytes, size_t size, unsigned rounds, struct counts *counts)
{
    struct pug_tree *tree;
    struct pug_tree_config config = {
        .transport = "encapsulation", .settings = *settings, .image = image};
    struct pug_source_config source = {
        .protocol = "E-Trace", .settings = *settings, .decode = true};
    double best = 1e18;
    size_t used;
    if (pug_tree_new(&config, &tree) != PUG_OK ||
        pug_tree_add_source(tree, &source, NULL) != PUG_OK)
        exit(1);
    for (unsigned i = 0; i <= rounds; i++) {
        pug_tree_on_elements(tree, i == 0 ? count : ignore, counts);
        double begin = now();
        pug_tree_data(tree, 0, bytes, size, &used);
        pug_tree_end(tree);
        double taken = now() - begin;
        if (i > 0 && taken < best)
            best = taken;
        pug_tree_reset(tree);
    }
    pug_tree_free(tree);
    return best;
}

static bool bench(const char *folder, const char *program, const char *option, unsigned rounds,
                  double *time, uint64_t *branches)
{
    char path[2000];
    size_t size;
    struct pug_params *params;
    struct pug_place place = {.space = PUG_SPACE_ANY};
    struct pug_region rom = {.address = 0x1000};
    struct counts counts = {0};
    snprintf(path, sizeof(path), "%s/%s/%s.te", folder, program, option);
    uint8_t *bytes = read_file(path, &size);
    snprintf(path, sizeof(path), "%s/%s/%s.params", folder, program, option);
    if (!bytes || pug_params_load(path, NULL, &params) != PUG_OK) {
        free(bytes);
        return false;
    }
    struct pug_image *image = pug_image_new();
    snprintf(path, sizeof(path), "%s/%s/program.elf", folder, program);
    pug_image_add_elf(image, &place, path, 0);
    snprintf(path, sizeof(path), "%s/%s/bootrom.bin", folder, program);
    pug_image_add_file(image, &place, path, &rom, 1);
    double best = measure(pug_params_settings(params), image, bytes, size, rounds, &counts);
    printf("E-Trace %-18s %-14s %6.1f ns per branch %6.2f ns per instruction %7.1f MB/s\n", program,
           option, best / (double)counts.branches, best / (double)counts.instructions,
           (double)size / best * 1e3);
    *time += best;
    *branches += counts.branches;
    pug_image_free(image);
    pug_params_free(params);
    free(bytes);
    return true;
}

int main(int argc, char **argv)
{
    unsigned rounds = argc > 1 ? (unsigned)atoi(argv[1]) : 20;
    const char *folder = argc > 2 ? argv[2] : PUG_SOURCE_DIR "/../shared/vectors/etrace";
    double time = 0;
    uint64_t branches = 0;
    for (size_t i = 0; i < COUNT(programs); i++)
        for (size_t j = 0; j < COUNT(options); j++)
            if (!bench(folder, programs[i], options[j], rounds, &time, &branches))
                printf("E-Trace %s %s: not there\n", programs[i], options[j]);
    if (branches > 0)
        printf("E-Trace: %.1f ns per branch, %llu branches\n", time / (double)branches,
               (unsigned long long)branches);
    return 0;
}
