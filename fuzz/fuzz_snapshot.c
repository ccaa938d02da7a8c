// SPDX-License-Identifier: MIT
/** @file The ini files of a snapshot, one after the other, with trace and memory of zeros. */
#include "driver.h"
#include "files.h"
#include "through.h"

#include <stdio.h>
#include <string.h>

/** Files of a snapshot, one after the other, each below a line "==== NAME". */
#define HEAD "==== "
static const char *const files[] = {"snapshot.ini", "cpu_0.ini", "trace.ini", "trace_0.ini"};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const uint8_t trace[64] = {0};
    fuzz_write("trace.bin", trace, sizeof(trace));
    fuzz_write("memory_0.bin", trace, sizeof(trace));
    size_t from = 0;
    for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
        size_t to = from;
        while (to < size && !(size - to > 5 && to > from && memcmp(data + to, "\n" HEAD, 6) == 0))
            to++;
        fuzz_write(files[i], data + from, to - from);
        from = to < size ? to + 6 : size;
    }
    fuzz_go_through(fuzz_place(""));
    return 0;
}

size_t fuzz_begin(uint8_t *data, size_t room, struct rec_random *random)
{
    static const char *const captures[] = {"etmv4-arm", "etrace-rv64", "ptm-arm-cycles"};
    const char *capture = captures[rec_random_below(random, 3)];
    size_t size = 0;
    for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
        char path[4096];
        snprintf(path, sizeof(path), "tests/captures/%s/%s", capture, files[i]);
        size += fuzz_load(path, data + size, room - size);
        if (room - size > sizeof("\n" HEAD)) {
            memcpy(data + size, "\n" HEAD, sizeof("\n" HEAD) - 1);
            size += sizeof("\n" HEAD) - 1;
        }
    }
    return size;
}
