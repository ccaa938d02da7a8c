// SPDX-License-Identifier: MIT
#include "files.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

const char *fuzz_place(const char *name)
{
    static char folder[64], path[4096];
    if (!folder[0]) {
        snprintf(folder, sizeof(folder), "/tmp/pugmark-fuzz-XXXXXX");
        if (!mkdtemp(folder))
            exit(2);
    }
    snprintf(path, sizeof(path), "%s%s%s", folder, *name ? "/" : "", name);
    return path;
}

void fuzz_write(const char *name, const void *bytes, size_t size)
{
    FILE *file = fopen(fuzz_place(name), "wb");
    if (!file || fwrite(bytes, 1, size, file) != size || fclose(file) != 0) {
        perror(fuzz_place(name));
        exit(2);
    }
}

size_t fuzz_load(const char *path, uint8_t *data, size_t room)
{
    char whole[4096];
    snprintf(whole, sizeof(whole), "%s/%s", PUG_SOURCE_DIR, path);
    FILE *file = fopen(whole, "rb");
    const size_t size = file ? fread(data, 1, room, file) : 0;
    if (file)
        fclose(file);
    return size;
}
