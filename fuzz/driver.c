// SPDX-License-Identifier: MIT
/**
 * @file The program of a fuzz target without libFuzzer:
 *
 *     TARGET [COUNT [SEED [FOLDER]]]  COUNT inputs of its own (1000), damaged, from SEED (1) on
 *     TARGET FILE|FOLDER...           these inputs as they are: a corpus
 *
 * With a FOLDER the inputs are kept there; the last one is what ended the program.
 */
#include "driver.h"
#include "damage.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ROOM ((size_t)64 << 10)

static uint8_t data[ROOM];

/** Write the input into a folder, before it is tried. */
static void keep(const char *folder, unsigned long number, size_t size)
{
    char path[4096];
    snprintf(path, sizeof(path), "%s/%06lu", folder, number);
    FILE *file = fopen(path, "wb");
    if (!file || fwrite(data, 1, size, file) != size || fclose(file) != 0) {
        perror(path);
        exit(2);
    }
}

/* ---- inputs ---- */

static bool try_file(const char *path)
{
    FILE *file = fopen(path, "rb");
    if (!file)
        return false;
    const size_t size = fread(data, 1, sizeof(data), file);
    fclose(file);
    LLVMFuzzerTestOneInput(data, size);
    return true;
}

/** How many inputs there were; -1: it cannot be read. */
static long try_place(const char *path)
{
    DIR *folder = opendir(path);
    struct dirent *entry;
    long count = 0;
    if (!folder)
        return try_file(path) ? 1 : -1;
    while ((entry = readdir(folder)) != NULL) {
        char place[4096];
        if (entry->d_name[0] != '.' &&
            snprintf(place, sizeof(place), "%s/%s", path, entry->d_name) < (int)sizeof(place))
            count += try_file(place);
    }
    closedir(folder);
    return count;
}

static int try_places(int count, char **paths)
{
    long all = 0;
    for (int i = 0; i < count; i++) {
        const long tried = try_place(paths[i]);
        if (tried < 0)
            perror(paths[i]);
        if (tried < 0)
            return 2;
        all += tried;
    }
    printf("%ld inputs\n", all);
    return 0;
}

int main(int argc, char **argv)
{
    char *end = NULL;
    const unsigned long count = argc > 1 ? strtoul(argv[1], &end, 0) : 1000;
    if (end && *end)
        return try_places(argc - 1, argv + 1);
    const uint64_t seed = argc > 2 ? strtoull(argv[2], NULL, 0) : 1;
    for (unsigned long i = 0; i < count; i++) {
        /* each from a seed of its own, so that one can be tried alone */
        struct rec_random random = {.state = (seed + i) * UINT64_C(0x9E3779B97F4A7C15)};
        const size_t size =
            fuzz_damage(data, fuzz_begin(data, sizeof(data) / 2, &random), ROOM, &random);
        fuzz_mend(data, size);
        if (argc > 3)
            keep(argv[3], i, size);
        LLVMFuzzerTestOneInput(data, size);
    }
    printf("%lu inputs\n", count);
    return 0;
}
