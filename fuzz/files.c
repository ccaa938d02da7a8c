// SPDX-License-Identifier: MIT
#define _XOPEN_SOURCE 700 /* nftw() */
#include "files.h"

#include "support/temporary.h"

#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static char folder[64];

static int remove_one(const char *path, const struct stat *status, int kind, struct FTW *place)
{
    (void)status;
    (void)kind;
    (void)place;
    return remove(path);
}

/** A run that ends by itself found nothing, so its files are not needed. */
static void remove_folder(void)
{
    (void)nftw(folder, remove_one, 8, FTW_DEPTH | FTW_PHYS);
}

const char *fuzz_place(const char *name)
{
    static char path[4096];
    if (!folder[0]) {
        if (!temporary_folder(folder, sizeof(folder), "fuzz") || atexit(remove_folder) != 0)
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
