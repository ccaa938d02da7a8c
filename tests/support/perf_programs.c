// SPDX-License-Identifier: MIT
#include "support/perf_programs.h"

#include <stdio.h>
#include <sys/stat.h>

const char *const perf_program_names[PERF_PROGRAMS] = {"one", "two", "libthree.so", "libfour.so"};

unsigned perf_program_target(unsigned program, unsigned block)
{
    return (block * 7 + program * 11 + 5) % PERF_BLOCKS;
}

void perf_program_text(struct rec_bytes *out, unsigned program)
{
    for (unsigned block = 0; block < PERF_BLOCKS; block++) {
        const uint32_t words = (uint32_t)((int)(perf_program_target(program, block) * PERF_BLOCK) -
                                          (int)(block * PERF_BLOCK + 12)) /
                               4;
        for (unsigned i = 0; i < 3; i++)
            rec_put_le(out, 0xd503201f, 4);
        rec_put_le(out, 0x54000001 | (words & 0x7ffff) << 5, 4);
    }
}

static void put_program(struct rec_bytes *out, unsigned program)
{
    rec_put_n(out, "\177ELF\2\1\1\0\0\0\0\0\0\0\0\0", 16);
    rec_put_le(out, program < 2 ? 2 : 3, 2); /* a program, or a library */
    rec_put_le(out, 183, 2);                 /* AArch64 */
    rec_put_le(out, 1, 4);
    rec_put_le(out, 0, 8);
    rec_put_le(out, 64, 8); /* segments */
    rec_put_le(out, 0, 8);
    rec_put_le(out, 0, 4);
    static const uint16_t sizes[] = {64, 56, 1, 64, 0, 0};
    for (unsigned i = 0; i < 6; i++)
        rec_put_le(out, sizes[i], 2);
    rec_put_le(out, 1, 4); /* a segment to be loaded, read and executed */
    rec_put_le(out, 5, 4);
    rec_put_le(out, PERF_HEADERS, 8);
    rec_put_le(out, program < 2 ? PERF_MAIN_BASE : 0, 8);
    rec_put_le(out, program < 2 ? PERF_MAIN_BASE : 0, 8);
    rec_put_le(out, PERF_TEXT, 8);
    rec_put_le(out, PERF_TEXT, 8);
    rec_put_le(out, PERF_HEADERS, 8);
    while (out->size < PERF_HEADERS)
        rec_put(out, 0);
    perf_program_text(out, program);
}

static bool write_file(const char *path, unsigned program)
{
    struct rec_bytes bytes = {0};
    put_program(&bytes, program);
    FILE *file = fopen(path, "wb");
    const bool good = file && fwrite(bytes.data, 1, bytes.size, file) == bytes.size;
    rec_bytes_free(&bytes);
    return file && fclose(file) == 0 && good;
}

bool perf_programs_write(const char *folder)
{
    char path[256];
    snprintf(path, sizeof(path), "%s/bin", folder);
    bool good = mkdir(path, 0700) == 0;
    for (unsigned i = 0; good && i < PERF_PROGRAMS; i++) {
        snprintf(path, sizeof(path), "%s/bin/%s", folder, perf_program_names[i]);
        good = write_file(path, i);
    }
    return good;
}
