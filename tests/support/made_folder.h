// SPDX-License-Identifier: MIT
/** @file A folder of files that a test makes, and removes in the end. */
#ifndef PUG_TESTS_SUPPORT_MADE_FOLDER_H
#define PUG_TESTS_SUPPORT_MADE_FOLDER_H

#include "base/text.h"
#include "support/temporary.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

struct made_folder {
    char path[64];
    char made[16][256]; /* paths */
    unsigned count;
};

static inline void made_folder_begin(struct made_folder *folder)
{
    *folder = (struct made_folder){0};
    assert_true(temporary_folder(folder->path, sizeof(folder->path), "text"));
}

static inline const char *made_folder_path(struct made_folder *folder, const char *name)
{
    assert_true(folder->count < 16);
    char *path = folder->made[folder->count++];
    struct pug_text text = PUG_TEXT(path, sizeof(folder->made[0]));
    pug_text_put(&text, folder->path);
    pug_text_put(&text, "/");
    pug_text_put(&text, name);
    assert_true(pug_text_end(&text) < sizeof(folder->made[0]));
    return path;
}

static inline const char *made_folder_file(struct made_folder *folder, const char *name,
                                           const void *bytes, size_t size)
{
    const char *path = made_folder_path(folder, name);
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, size, file), size);
    fclose(file);
    return path;
}

static inline void made_folder_inner(struct made_folder *folder, const char *name)
{
    assert_int_equal(mkdir(made_folder_path(folder, name), 0700), 0);
}

static inline void made_folder_end(struct made_folder *folder)
{
    while (folder->count > 0)
        assert_int_equal(remove(folder->made[--folder->count]), 0);
    assert_int_equal(rmdir(folder->path), 0);
}

#endif
