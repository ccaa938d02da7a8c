// SPDX-License-Identifier: MIT
#include "recorder/programs.h"

#include "files/infile.h"
#include "files/outfile.h"
#include "recorder/program.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define LARGEST (UINT64_C(256) << 20) /* of a file that is copied */

static bool is_known(const struct rec_programs *programs, const char *path)
{
    for (unsigned i = 0; i < programs->count; i++)
        if (strcmp(programs->items[i].path, path) == 0)
            return true;
    return false;
}

/** Where the file is, as far as this item says. */
static bool tells_bias(const struct rec_path_item *item, uint64_t *bias)
{
    struct rec_program program;
    *bias = 0;
    if (!rec_program_read(item->text, &program))
        return false;
    if (item->kind == REC_PATH_NAMED)
        return !program.movable;
    return program.movable && rec_program_bias(&program, item->address, item->offset, bias);
}

void rec_programs_take(struct rec_programs *programs, const struct rec_path_item *item)
{
    uint64_t bias;
    if ((item->kind != REC_PATH_NAMED && item->kind != REC_PATH_MAPPED) || !item->text ||
        !*item->text || programs->count == REC_PROGRAMS || is_known(programs, item->text) ||
        !tells_bias(item, &bias))
        return;
    char *path = strdup(item->text);
    if (!path)
        return; /* there are no names then, that is all */
    programs->items[programs->count].path = path;
    programs->items[programs->count++].bias = bias;
}

void rec_programs_free(struct rec_programs *programs)
{
    for (unsigned i = 0; i < programs->count; i++)
        free(programs->items[i].path);
    programs->count = 0;
}

void rec_programs_name(const struct rec_programs *programs, unsigned n, char *name, size_t size)
{
    static const char plain[] =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.-_+";
    const char *path = programs->items[n].path, *slash = strrchr(path, '/');
    snprintf(name, size, "program_%u/%.200s", n, slash ? slash + 1 : path);
    for (char *at = strchr(name, '/') + 1; *at; at++)
        if (!strchr(plain, *at))
            *at = '_';
}

static bool copy(const struct rec_programs *programs, unsigned n, const char *folder,
                 const uint8_t *bytes, size_t size)
{
    char name[256], target[4096 + 256];
    rec_programs_name(programs, n, name, sizeof(name));
    snprintf(target, sizeof(target), "%s/program_%u", folder, n);
    if (mkdir(target, 0777) != 0 && errno != EEXIST)
        return false;
    snprintf(target, sizeof(target), "%s/%s", folder, name);
    return pug_outfile_save(target, bytes, size) == PUG_OK;
}

bool rec_programs_copy(struct rec_programs *programs, const char *folder)
{
    unsigned kept = 0;
    bool good = true;
    for (unsigned i = 0; i < programs->count; i++) {
        uint8_t *bytes = NULL;
        size_t size;
        if (!good || pug_infile_load(programs->items[i].path, LARGEST, &bytes, &size) != PUG_OK) {
            free(programs->items[i].path);
            continue;
        }
        programs->items[kept] = programs->items[i];
        good = copy(programs, kept++, folder, bytes, size);
        free(bytes);
    }
    programs->count = kept;
    return good;
}
