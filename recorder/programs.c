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

/** Returns the load address of the file, as far as this item gives it. */
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

enum copied { COPIED, NOT_READ, NOT_WRITTEN };

/** Piece by piece: a program may be large. */
static enum copied copy_bytes(const struct pug_infile *in, struct pug_outfile *out)
{
    uint8_t piece[1 << 14];
    struct pug_sink sink = pug_outfile_sink(out);
    const uint64_t size = pug_infile_size(in);
    for (uint64_t at = 0; at < size && !pug_outfile_failed(out); at += sizeof(piece)) {
        const size_t some = size - at < sizeof(piece) ? (size_t)(size - at) : sizeof(piece);
        if (pug_infile_read(in, at, piece, some) != PUG_OK) {
            pug_outfile_abandon(out);
            return NOT_READ;
        }
        pug_sink_put(&sink, piece, some);
    }
    return pug_outfile_commit(out) == PUG_OK ? COPIED : NOT_WRITTEN;
}

static enum copied copy(const struct rec_programs *programs, unsigned n, const char *folder,
                        const struct pug_infile *in)
{
    char name[256], target[4096 + 256];
    struct pug_outfile *out;
    rec_programs_name(programs, n, name, sizeof(name));
    snprintf(target, sizeof(target), "%s/program_%u", folder, n);
    if (mkdir(target, 0777) != 0 && errno != EEXIST)
        return NOT_WRITTEN;
    snprintf(target, sizeof(target), "%s/%s", folder, name);
    return pug_outfile_open(target, &out) == PUG_OK ? copy_bytes(in, out) : NOT_WRITTEN;
}

/** It becomes the n-th; or is forgotten, if it is not there any more, or very large. */
static enum copied take(struct rec_programs *programs, unsigned from, unsigned n,
                        const char *folder)
{
    struct pug_infile *in = NULL;
    enum copied copied = NOT_READ;
    if (pug_infile_open(programs->items[from].path, &in) == PUG_OK &&
        pug_infile_size(in) <= LARGEST) {
        programs->items[n] = programs->items[from];
        copied = copy(programs, n, folder, in);
    }
    pug_infile_close(in);
    return copied;
}

bool rec_programs_copy(struct rec_programs *programs, const char *folder)
{
    unsigned kept = 0;
    bool good = true;
    for (unsigned i = 0; i < programs->count; i++) {
        char *path = programs->items[i].path;
        const enum copied copied = good ? take(programs, i, kept, folder) : NOT_READ;
        good = good && copied != NOT_WRITTEN;
        if (copied == NOT_READ)
            free(path);
        else
            kept++;
    }
    programs->count = kept;
    return good;
}
