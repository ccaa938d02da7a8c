// SPDX-License-Identifier: MIT
/** @file Whole files in memory, unchanged or unpacked; a zero follows their end. */
#ifndef PUG_TESTS_SUPPORT_WHOLE_FILE_H
#define PUG_TESTS_SUPPORT_WHOLE_FILE_H

#include "files/unpack.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct whole_file {
    uint8_t *bytes;
    size_t size, room;
};

/** Append bytes. */
static inline bool whole_file_put(void *context, const uint8_t *bytes, size_t size)
{
    struct whole_file *file = context;
    if (!file->bytes || size >= file->room - file->size) {
        file->room = 2 * (file->size + size) + 1;
        uint8_t *grown = realloc(file->bytes, file->room);
        if (!grown)
            return false;
        file->bytes = grown;
    }
    memcpy(file->bytes + file->size, bytes, size);
    file->size += size;
    file->bytes[file->size] = 0;
    return true;
}

/** NULL: no such file, or it cannot be unpacked. */
static inline uint8_t *whole_file_as(const char *path, enum pug_unpack_kind kind, size_t *size)
{
    struct whole_file whole = {0};
    uint8_t piece[16384];
    FILE *file = fopen(path, "rb");
    struct pug_unpack *unpack = kind != PUG_UNPACK_NONE ? pug_unpack_new(kind) : NULL;
    bool good = file && (unpack || kind == PUG_UNPACK_NONE) && whole_file_put(&whole, piece, 0);
    for (size_t n; good && (n = fread(piece, 1, sizeof(piece), file)) > 0;)
        good = unpack ? pug_unpack_bytes(unpack, piece, n, whole_file_put, &whole)
                      : whole_file_put(&whole, piece, n);
    if (!good || (unpack && !pug_unpack_ended(unpack))) {
        free(whole.bytes);
        whole.bytes = NULL;
    }
    pug_unpack_free(unpack);
    if (file)
        fclose(file);
    *size = whole.size;
    return whole.bytes;
}

static inline uint8_t *whole_file(const char *path, size_t *size)
{
    return whole_file_as(path, PUG_UNPACK_NONE, size);
}

/** Can this build unpack that? */
static inline bool whole_file_unpacks(enum pug_unpack_kind kind)
{
    struct pug_unpack *unpack = pug_unpack_new(kind);
    pug_unpack_free(unpack);
    return unpack != NULL;
}

/** By the end of its name. */
static inline uint8_t *whole_file_unpacked(const char *path, size_t *size)
{
    return whole_file_as(path, pug_unpack_kind(path), size);
}

#endif
