// SPDX-License-Identifier: MIT
#include "image/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define PIECE_SIZE (64u * 1024)

struct piece {
    uint64_t size;
    uint8_t bytes[];
};

struct pug_file {
    char *path;
    unsigned others; /* who hold it, too */
    int descriptor;
    struct stat opened; /* what it was then */
    uint64_t length;
    size_t count;
    _Atomic(struct piece *) *pieces;
    atomic_int failed; /* the status of the first read that failed; PUG_OK: none */
    int reason;        /* these are written by the thread that set it … */
    uint64_t offset;
    atomic_bool told; /* … before this */
};

/** False, with errno, for what is no file of bytes. */
static bool is_regular(const struct stat *status)
{
    if (S_ISREG(status->st_mode) && status->st_size >= 0)
        return true;
    errno = S_ISDIR(status->st_mode) ? EISDIR : EINVAL;
    return false;
}

/** The descriptor is open. */
static enum pug_status measure(struct pug_file *file, bool even)
{
    struct stat status;
    if (fstat(file->descriptor, &status) != 0 || !is_regular(&status))
        return PUG_ERR_FILE;
    file->opened = status;
    file->length = (uint64_t)status.st_size & ~(uint64_t)even;
    file->count = (size_t)((file->length + PIECE_SIZE - 1) / PIECE_SIZE);
    file->pieces = calloc(file->count ? file->count : 1, sizeof(*file->pieces));
    return file->pieces ? PUG_OK : PUG_ERR_MEM;
}

static enum pug_status open_regular(struct pug_file *file, bool even)
{
    struct stat status;
    /* Looked at before it is opened: a FIFO would wait for a writer. */
    if (stat(file->path, &status) != 0 || !is_regular(&status))
        return PUG_ERR_FILE;
    file->descriptor = open(file->path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    return file->descriptor < 0 ? PUG_ERR_FILE : measure(file, even);
}

/* A small file is read at once and closed, so that thousands of them can be in an image. */
static void read_if_small(struct pug_file *file)
{
    uint64_t size;
    if (file->count != 1 || !pug_file_piece(file, 0, &size))
        return;
    close(file->descriptor);
    file->descriptor = -1;
}

static struct pug_file *new_file(const char *path)
{
    struct pug_file *file = calloc(1, sizeof(*file));
    if (!file)
        return NULL;
    file->descriptor = -1;
    file->path = strdup(path);
    if (file->path)
        return file;
    free(file);
    return NULL;
}

static enum pug_status finish(struct pug_file *file, enum pug_status status, struct pug_file **out)
{
    if (status != PUG_OK) {
        const int reason = errno;
        pug_file_free(file);
        errno = reason;
        return status;
    }
    read_if_small(file);
    *out = file;
    return PUG_OK;
}

enum pug_status pug_file_open(const char *path, bool even, struct pug_file **out)
{
    struct pug_file *file = new_file(path);
    return file ? finish(file, open_regular(file, even), out) : PUG_ERR_MEM;
}

enum pug_status pug_file_adopt(int descriptor, const char *path, struct pug_file **out)
{
    struct pug_file *file = new_file(path);
    if (!file) {
        close(descriptor);
        return PUG_ERR_MEM;
    }
    file->descriptor = descriptor;
    return finish(file, measure(file, false), out);
}

bool pug_file_is_current(const struct pug_file *file)
{
    const struct stat *then = &file->opened;
    struct stat now;
    return stat(file->path, &now) == 0 && is_regular(&now) && now.st_dev == then->st_dev &&
           now.st_ino == then->st_ino && now.st_size == then->st_size &&
           now.st_mtime == then->st_mtime;
}

struct pug_file *pug_file_share(struct pug_file *file)
{
    file->others++;
    return file;
}

void pug_file_free(struct pug_file *file)
{
    if (!file || file->others-- > 0)
        return;
    if (file->descriptor >= 0)
        close(file->descriptor);
    for (size_t i = 0; file->pieces && i < file->count; i++)
        free(atomic_load_explicit(&file->pieces[i], memory_order_relaxed));
    free(file->pieces);
    free(file->path);
    free(file);
}

const char *pug_file_path(const struct pug_file *file)
{
    return file->path;
}

uint64_t pug_file_length(const struct pug_file *file)
{
    return file->length;
}

static void fail(struct pug_file *file, enum pug_status status, uint64_t offset)
{
    const int reason = errno;
    int none = PUG_OK;
    if (!atomic_compare_exchange_strong(&file->failed, &none, status))
        return;
    file->reason = status == PUG_ERR_FILE ? reason : 0;
    file->offset = offset;
    atomic_store(&file->told, true);
}

bool pug_file_failure(const struct pug_file *file, struct pug_read_failure *failure)
{
    if (!atomic_load(&file->told))
        return false;
    *failure = (struct pug_read_failure){.path = file->path,
                                         .offset = file->offset,
                                         .status = (enum pug_status)atomic_load(&file->failed),
                                         .reason = file->reason};
    return true;
}

/* What the file has from `offset` on, at most `size` bytes: fewer if it shrank since. */
static uint64_t read_at(struct pug_file *file, uint64_t offset, uint8_t *bytes, uint64_t size)
{
    uint64_t done = 0;
    while (done < size) {
        ssize_t got = pread(file->descriptor, bytes + done, size - done, (off_t)(offset + done));
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0) {
            fail(file, got < 0 ? PUG_ERR_FILE : PUG_ERR_TRUNCATED, offset + done);
            break;
        }
        done += (uint64_t)got;
    }
    return done;
}

static struct piece *load(struct pug_file *file, size_t number)
{
    uint64_t offset = (uint64_t)number * PIECE_SIZE;
    uint64_t size = file->length - offset < PIECE_SIZE ? file->length - offset : PIECE_SIZE;
    struct piece *piece = malloc(sizeof(*piece) + size);
    if (!piece) {
        fail(file, PUG_ERR_MEM, offset);
        return NULL;
    }
    piece->size = read_at(file, offset, piece->bytes, size);
    /* Two threads may have loaded it: the first one's stays. */
    struct piece *other = NULL;
    if (atomic_compare_exchange_strong_explicit(&file->pieces[number], &other, piece,
                                                memory_order_acq_rel, memory_order_acquire))
        return piece;
    free(piece);
    return other;
}

const uint8_t *pug_file_piece(struct pug_file *file, uint64_t offset, uint64_t *size)
{
    *size = 0;
    if (offset >= file->length)
        return NULL;
    size_t number = (size_t)(offset / PIECE_SIZE);
    uint64_t within = offset % PIECE_SIZE;
    struct piece *piece = atomic_load_explicit(&file->pieces[number], memory_order_acquire);
    if (!piece)
        piece = load(file, number);
    if (!piece || within >= piece->size)
        return NULL;
    *size = piece->size - within;
    return piece->bytes + within;
}
