// SPDX-License-Identifier: MIT
#define _GNU_SOURCE /* openat() and its like */
#include "recorder/manifest.h"

#include "base/bytes.h"
#include "base/hash.h"
#include "files/whole.h"
#include "recorder/bytes.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define HEAD    "pugmark recording 1\n"
#define LARGEST ((size_t)64 << 20) /* of a manifest */
#define MOST    1000000u           /* files of a folder */
#define INDEX   ".pugindex"
#define PROGRAM "program_" /* and a number: the folder of a program's copy */

/* ---- names ---- */

static bool is_program_folder(const char *name, size_t length)
{
    const size_t begin = strlen(PROGRAM);
    return length > begin && strncmp(name, PROGRAM, begin) == 0 &&
           strspn(name + begin, "0123456789") >= length - begin;
}

/** Could a recording have such a file? One component, or one in a program's folder. */
static bool is_name(const char *name)
{
    const char *slash = strchr(name, '/'), *last = slash ? slash + 1 : name;
    return *last && strcmp(last, ".") != 0 && strcmp(last, "..") != 0 && !strchr(last, '/') &&
           !strchr(last, '\n') && (!slash || is_program_folder(name, (size_t)(slash - name)));
}

int rec_manifest_folder(int folder, const char **name, bool make)
{
    const char *slash = strchr(*name, '/');
    char first[64];
    if (!slash)
        return dup(folder);
    snprintf(first, sizeof(first), "%.*s", (int)(slash - *name), *name);
    *name = slash + 1;
    if (make && mkdirat(folder, first, 0777) != 0 && errno != EEXIST)
        return -1;
    return openat(folder, first, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
}

/* ---- the list ---- */

static int by_name(const void *a, const void *b)
{
    const struct rec_manifest_file *left = a, *right = b;
    return strcmp(left->name, right->name);
}

static void sort(struct rec_manifest *manifest)
{
    if (manifest->count > 0)
        qsort(manifest->files, manifest->count, sizeof(manifest->files[0]), by_name);
}

static struct rec_manifest_file *add(struct rec_manifest *manifest, const char *name)
{
    errno = EOVERFLOW;
    if (manifest->count == MOST)
        return NULL;
    if (manifest->count == manifest->room) {
        const size_t room = manifest->room * 2 + 16;
        struct rec_manifest_file *grown = realloc(manifest->files, room * sizeof(*grown));
        if (!grown)
            return NULL;
        manifest->files = grown;
        manifest->room = room;
    }
    char *copy = strdup(name);
    if (!copy)
        return NULL;
    struct rec_manifest_file *file = &manifest->files[manifest->count++];
    *file = (struct rec_manifest_file){.name = copy};
    return file;
}

void rec_manifest_free(struct rec_manifest *manifest)
{
    for (size_t i = 0; i < manifest->count; i++)
        free(manifest->files[i].name);
    free(manifest->files);
    *manifest = (struct rec_manifest){0};
}

struct rec_manifest_file *rec_manifest_find(const struct rec_manifest *manifest, const char *name)
{
    const struct rec_manifest_file wanted = {.name = (char *)name};
    return manifest->count == 0 ? NULL
                                : bsearch(&wanted, manifest->files, manifest->count,
                                          sizeof(manifest->files[0]), by_name);
}

/* ---- files ---- */

/** A regular file, and no link; -1: errno says why. */
static int open_file(int folder, const char *name, struct stat *status)
{
    const int within = rec_manifest_folder(folder, &name, false);
    const int file =
        within < 0 ? -1 : openat(within, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    const int why = errno;
    if (within >= 0)
        close(within);
    errno = why;
    if (file >= 0 && fstat(file, status) == 0 && S_ISREG(status->st_mode))
        return file;
    if (file >= 0) {
        close(file);
        errno = EINVAL;
    }
    return -1;
}

static bool hash_file(int file, uint64_t size, uint64_t *hash)
{
    uint8_t piece[1 << 15];
    *hash = pug_hash_mix(0, size);
    for (uint64_t at = 0; at < size;) {
        const size_t wanted = size - at < sizeof(piece) ? (size_t)(size - at) : sizeof(piece);
        size_t got = 0;
        while (got < wanted) {
            const ssize_t some = pread(file, piece + got, wanted - got, (off_t)(at + got));
            if (some < 0 && errno == EINTR)
                continue;
            if (some <= 0)
                return false;
            got += (size_t)some;
        }
        memset(piece + got, 0, got % 8 ? 8 - got % 8 : 0);
        for (size_t i = 0; i < got; i += 8)
            *hash = pug_hash_mix(*hash, pug_bytes_64(piece + i));
        at += got;
    }
    return true;
}

/* ---- folders ---- */

typedef bool entry_fn(void *context, int folder, const char *name, const struct stat *status);

/** For each entry of a folder: false, with errno, where it cannot be read or a call says so. */
static bool each_entry(int folder, const char *prefix, entry_fn *call, void *context)
{
    const int again = openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *stream = again < 0 ? NULL : fdopendir(again);
    const struct dirent *entry;
    struct stat status;
    char name[1024];
    bool good = stream != NULL;
    if (!stream && again >= 0)
        close(again);
    while (good && (entry = readdir(stream)) != NULL) {
        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
            continue;
        snprintf(name, sizeof(name), "%s%s", prefix, entry->d_name);
        good = fstatat(folder, entry->d_name, &status, AT_SYMLINK_NOFOLLOW) == 0 &&
               call(context, folder, name, &status);
    }
    const int why = errno;
    if (stream)
        closedir(stream);
    errno = why;
    return good;
}

/** The same in the folder of a program. */
static bool each_below(int folder, const char *name, entry_fn *call, void *context)
{
    char prefix[256];
    const int below = openat(folder, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    snprintf(prefix, sizeof(prefix), "%s/", name);
    const bool good = below >= 0 && each_entry(below, prefix, call, context);
    const int why = errno;
    if (below >= 0)
        close(below);
    errno = why;
    return good;
}

/* ---- making, writing, reading ---- */

static bool add_entry(void *context, int folder, const char *name, const struct stat *status)
{
    struct rec_manifest *manifest = context;
    if (S_ISDIR(status->st_mode))
        return each_below(folder, name, add_entry, context);
    struct rec_manifest_file *entry = add(manifest, name);
    const char *slash = strrchr(name, '/');
    struct stat opened;
    const int file = entry ? open_file(folder, slash ? slash + 1 : name, &opened) : -1;
    const bool good = file >= 0 && hash_file(file, (uint64_t)opened.st_size, &entry->hash);
    if (good) {
        entry->size = (uint64_t)opened.st_size;
        entry->seen = opened;
    }
    if (file >= 0)
        close(file);
    return good;
}

bool rec_manifest_make(struct rec_manifest *manifest, int folder)
{
    *manifest = (struct rec_manifest){0};
    const bool good = each_entry(folder, "", add_entry, manifest);
    sort(manifest);
    return good;
}

bool rec_manifest_write(const struct rec_manifest *manifest, int folder)
{
    struct rec_bytes text = {0};
    char line[64];
    rec_put_n(&text, HEAD, strlen(HEAD));
    for (size_t i = 0; i < manifest->count; i++) {
        const struct rec_manifest_file *file = &manifest->files[i];
        const int length =
            snprintf(line, sizeof(line), "%" PRIu64 " %016" PRIx64 " ", file->size, file->hash);
        rec_put_n(&text, line, (size_t)length);
        rec_put_n(&text, file->name, strlen(file->name));
        rec_put_n(&text, "\n", 1);
    }
    const int file =
        openat(folder, REC_MANIFEST, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);
    bool good = !text.failed && file >= 0 && pug_write_whole(file, text.data, text.size) &&
                fsync(file) == 0;
    if (text.failed)
        errno = ENOMEM;
    const int why = errno;
    if (file >= 0)
        good = close(file) == 0 && good;
    rec_bytes_free(&text);
    if (!good)
        errno = why;
    return good;
}

/** "SIZE HASH NAME" */
static bool take_line(struct rec_manifest *manifest, char *line)
{
    char *end;
    errno = 0;
    const uint64_t size = strtoull(line, &end, 10);
    if (*line < '0' || *line > '9' || *end != ' ' || errno != 0)
        return false;
    const char *digits = end + 1;
    const uint64_t hash = strtoull(digits, &end, 16);
    if (strspn(digits, "0123456789abcdef") != 16 || end != digits + 16 || *end != ' ' ||
        !is_name(end + 1))
        return false;
    struct rec_manifest_file *file = add(manifest, end + 1);
    if (file) {
        file->size = size;
        file->hash = hash;
    }
    return file != NULL;
}

static bool take_text(struct rec_manifest *manifest, char *text)
{
    if (strncmp(text, HEAD, strlen(HEAD)) != 0)
        return false;
    for (char *line = text + strlen(HEAD), *end; *line; line = end + 1) {
        end = strchr(line, '\n');
        if (!end)
            return false;
        *end = 0;
        if (!take_line(manifest, line))
            return false;
    }
    sort(manifest);
    for (size_t i = 1; i < manifest->count; i++)
        if (strcmp(manifest->files[i - 1].name, manifest->files[i].name) == 0)
            return false;
    return true;
}

bool rec_manifest_read(struct rec_manifest *manifest, int folder)
{
    struct stat status;
    *manifest = (struct rec_manifest){0};
    const int file = open_file(folder, REC_MANIFEST, &status);
    if (file < 0)
        return false;
    const size_t size = status.st_size <= (off_t)LARGEST ? (size_t)status.st_size : 0;
    char *text = size > 0 ? malloc(size + 1) : NULL;
    bool good = text && pread(file, text, size, 0) == (ssize_t)size;
    if (good)
        text[size] = 0;
    good = good && strlen(text) == size && take_text(manifest, text);
    free(text);
    close(file);
    if (!good)
        rec_manifest_free(manifest);
    return good;
}

/* ---- what a folder holds ---- */

struct look {
    struct rec_manifest *manifest;
    char *other;
    size_t size, count;
    bool has_other;
};

/** Something that is not the recording's; the first is named. */
static bool take_other(struct look *look, const char *name, const char *what)
{
    if (!look->has_other)
        snprintf(look->other, look->size, "%.200s %s", name, what);
    look->has_other = true;
    return true;
}

/** Has the recording a program in this folder? */
static bool has_below(const struct rec_manifest *manifest, const char *folder)
{
    const size_t length = strlen(folder);
    for (size_t i = 0; i < manifest->count; i++)
        if (strncmp(manifest->files[i].name, folder, length) == 0 &&
            manifest->files[i].name[length] == '/')
            return true;
    return false;
}

/** The file that an index belongs to is one of the recording's. */
static bool is_index(const struct rec_manifest *manifest, const char *name)
{
    char trace[1024];
    const size_t length = strlen(name), end = strlen(INDEX);
    if (length <= end || strcmp(name + length - end, INDEX) != 0)
        return false;
    snprintf(trace, sizeof(trace), "%.*s", (int)(length - end), name);
    return rec_manifest_find(manifest, trace) != NULL;
}

static bool look_at_file(struct look *look, int folder, const char *name)
{
    struct stat opened;
    uint64_t hash;
    struct rec_manifest_file *file = rec_manifest_find(look->manifest, name);
    if (!file)
        return take_other(look, name, "is not of a recording that lists its files");
    const char *slash = strrchr(name, '/');
    const int descriptor = open_file(folder, slash ? slash + 1 : name, &opened);
    if (descriptor < 0)
        return false;
    const bool same = (uint64_t)opened.st_size == file->size &&
                      hash_file(descriptor, file->size, &hash) && hash == file->hash;
    close(descriptor);
    if (!same)
        return take_other(look, name, "was changed since it was recorded");
    file->seen = opened;
    return true;
}

static bool look_at(void *context, int folder, const char *name, const struct stat *status)
{
    struct look *look = context;
    errno = EOVERFLOW;
    if (++look->count > MOST)
        return false;
    if (S_ISDIR(status->st_mode) && is_program_folder(name, strlen(name)) &&
        has_below(look->manifest, name))
        return each_below(folder, name, look_at, context);
    if (!S_ISREG(status->st_mode))
        return take_other(look, name, "is no file of a recording");
    if (strcmp(name, REC_MANIFEST) == 0 || is_index(look->manifest, name))
        return true;
    return look_at_file(look, folder, name);
}

enum rec_holds rec_manifest_check(struct rec_manifest *manifest, int folder, char *other,
                                  size_t size)
{
    struct look look = {.manifest = manifest, .other = other, .size = size};
    if (!each_entry(folder, "", look_at, &look))
        return REC_HOLDS_UNREADABLE;
    if (look.has_other)
        return REC_HOLDS_OTHERS;
    return look.count == 0 ? REC_HOLDS_NOTHING : REC_HOLDS_RECORDING;
}

/* ---- removing ---- */

static bool is_same(const struct stat *left, const struct stat *right)
{
    return left->st_dev == right->st_dev && left->st_ino == right->st_ino &&
           left->st_size == right->st_size && left->st_mtime == right->st_mtime;
}

static void remove_index(int folder, const char *trace)
{
    char name[1024];
    struct stat status;
    if (snprintf(name, sizeof(name), "%s" INDEX, trace) < (int)sizeof(name) &&
        fstatat(folder, name, &status, AT_SYMLINK_NOFOLLOW) == 0 && S_ISREG(status.st_mode))
        (void)unlinkat(folder, name, 0);
}

static void remove_file(const struct rec_manifest_file *file, int folder, bool stays,
                        const struct stat *spared)
{
    const char *name = file->name;
    const int within = rec_manifest_folder(folder, &name, false);
    struct stat status;
    if (within < 0)
        return;
    const bool there = fstatat(within, name, &status, AT_SYMLINK_NOFOLLOW) == 0;
    if (!stays && there && file->seen.st_nlink > 0 && is_same(&status, &file->seen) &&
        !(spared && spared->st_dev == status.st_dev && spared->st_ino == status.st_ino))
        (void)unlinkat(within, name, 0);
    close(within);
    if (!strchr(file->name, '/')) {
        if (file->seen.st_nlink > 0)
            remove_index(folder, file->name);
        return;
    }
    char program[64]; /* goes with the last file in it */
    snprintf(program, sizeof(program), "%.*s", (int)(strchr(file->name, '/') - file->name),
             file->name);
    (void)unlinkat(folder, program, AT_REMOVEDIR);
}

void rec_manifest_remove(const struct rec_manifest *manifest, int folder,
                         const struct rec_manifest *stays, const struct stat *spared)
{
    for (size_t i = 0; i < manifest->count; i++)
        remove_file(&manifest->files[i], folder,
                    stays && rec_manifest_find(stays, manifest->files[i].name), spared);
}
