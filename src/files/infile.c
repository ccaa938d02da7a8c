// SPDX-License-Identifier: MIT
#include "files/infile.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

struct pug_infile {
    int descriptor;
    uint64_t size;
};

static enum pug_status refuse(mode_t mode)
{
    errno = S_ISDIR(mode) ? EISDIR : EINVAL;
    return PUG_ERR_FILE;
}

static enum pug_status look(struct pug_infile *file)
{
    struct stat status;
    if (fstat(file->descriptor, &status) != 0)
        return PUG_ERR_FILE;
    if (!S_ISREG(status.st_mode))
        return refuse(status.st_mode);
    file->size = status.st_size > 0 ? (uint64_t)status.st_size : 0;
    return PUG_OK;
}

enum pug_status pug_infile_adopt(int descriptor, struct pug_infile **out)
{
    struct pug_infile *file = calloc(1, sizeof(*file));
    if (!file) {
        close(descriptor);
        return PUG_ERR_MEM;
    }
    file->descriptor = descriptor;
    enum pug_status status = look(file);
    if (status != PUG_OK) {
        pug_infile_close(file);
        return status;
    }
    *out = file;
    return PUG_OK;
}

enum pug_status pug_infile_open(const char *path, struct pug_infile **file)
{
    struct stat status;
    /* Looked at before it is opened: opening a FIFO waits for a writer, a device may act. */
    if (stat(path, &status) != 0)
        return PUG_ERR_FILE;
    if (!S_ISREG(status.st_mode))
        return refuse(status.st_mode);
    const int descriptor = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    return descriptor < 0 ? PUG_ERR_FILE : pug_infile_adopt(descriptor, file);
}

void pug_infile_close(struct pug_infile *file)
{
    if (!file)
        return;
    const int why = errno;
    if (file->descriptor >= 0)
        close(file->descriptor);
    free(file);
    errno = why;
}

int pug_infile_descriptor(const struct pug_infile *file)
{
    return file->descriptor;
}

uint64_t pug_infile_size(const struct pug_infile *file)
{
    return file->size;
}

enum pug_status pug_infile_read(const struct pug_infile *file, uint64_t offset, void *bytes,
                                size_t size)
{
    uint8_t *at = bytes;
    while (size > 0) {
        ssize_t got = offset <= INT64_MAX ? pread(file->descriptor, at, size, (off_t)offset) : 0;
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return PUG_ERR_FILE;
        if (got == 0)
            return PUG_ERR_TRUNCATED;
        at += got;
        offset += (uint64_t)got;
        size -= (size_t)got;
    }
    return PUG_OK;
}

static enum pug_status load(const struct pug_infile *file, size_t limit, uint8_t **out,
                            size_t *size)
{
    if (file->size > limit)
        return PUG_ERR_LIMIT;
    uint8_t *bytes = malloc((size_t)file->size + 1);
    if (!bytes)
        return PUG_ERR_MEM;
    enum pug_status status = pug_infile_read(file, 0, bytes, (size_t)file->size);
    if (status != PUG_OK) {
        free(bytes);
        return status;
    }
    bytes[file->size] = 0;
    *out = bytes;
    *size = (size_t)file->size;
    return PUG_OK;
}

enum pug_status pug_infile_load(const char *path, size_t limit, uint8_t **bytes, size_t *size)
{
    struct pug_infile *file;
    enum pug_status status = pug_infile_open(path, &file);
    if (status != PUG_OK)
        return status;
    status = load(file, limit, bytes, size);
    pug_infile_close(file);
    return status;
}
