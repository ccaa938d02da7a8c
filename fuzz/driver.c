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

/* ---- damage ---- */

static size_t cut(size_t size, struct rec_random *random)
{
    const size_t at = rec_random_below(random, (uint32_t)size);
    size_t length = 1 + rec_random_below(random, 40);
    length = length < size - at ? length : size - at;
    memmove(data + at, data + at + length, size - at - length);
    return size - length;
}

static size_t repeat(size_t size, struct rec_random *random)
{
    const size_t from = rec_random_below(random, (uint32_t)size);
    const size_t at = rec_random_below(random, (uint32_t)size);
    uint8_t copy[64];
    size_t length = 1 + rec_random_below(random, sizeof(copy) - 1);
    length = length < size - from ? length : size - from;
    if (size + length > ROOM)
        return size;
    memcpy(copy, data + from, length);
    memmove(data + at + length, data + at, size - at);
    memcpy(data + at, copy, length);
    return size + length;
}

/** A number that readers stumble over, of 1, 2, 4 or 8 bytes. */
static void odd_number(size_t size, struct rec_random *random)
{
    static const uint64_t odd[] = {
        0,          1,          0x7f,       0x80,       0xff,      0x7fff,   0xffff,
        0x7fffffff, 0x80000000, 0xffffffff, UINT64_MAX, INT64_MAX, 1u << 20, UINT64_C(1) << 40,
        16};
    const uint64_t number = odd[rec_random_below(random, sizeof(odd) / sizeof(odd[0]))];
    const size_t length = (size_t)1 << rec_random_below(random, 4);
    const size_t at = rec_random_below(random, (uint32_t)size);
    for (size_t i = 0; i < length && at + i < size; i++)
        data[at + i] = (uint8_t)(number >> (8 * i));
}

static size_t damage(size_t size, struct rec_random *random)
{
    for (unsigned n = rec_random_below(random, 12); n > 0 && size > 0; n--) {
        const size_t at = rec_random_below(random, (uint32_t)size);
        switch (rec_random_below(random, 7)) {
        case 0: data[at] ^= (uint8_t)(1u << rec_random_below(random, 8)); break;
        case 1: data[at] = (uint8_t)rec_random(random); break;
        case 2: size = cut(size, random); break;
        case 3: size = repeat(size, random); break;
        case 4: odd_number(size, random); break;
        case 5:
            memset(data + at, rec_random_once_in(random, 2) ? 0 : 0xff,
                   1 + rec_random_below(random, (uint32_t)(size - at < 32 ? size - at : 32)));
            break;
        default: size = rec_random_once_in(random, 8) ? at : size;
        }
    }
    return size;
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
        const size_t size = damage(fuzz_begin(data, sizeof(data) / 2, &random), &random);
        fuzz_mend(data, size);
        if (argc > 3)
            keep(argv[3], i, size);
        LLVMFuzzerTestOneInput(data, size);
    }
    printf("%lu inputs\n", count);
    return 0;
}
