// SPDX-License-Identifier: MIT
/** @file The bytes of a trace buffer, from one file or several. */
#include "files/infile.h"
#include "snapshot/snapshot.h"

#include <stdlib.h>
#include <sys/stat.h>

struct pug_trace {
    const struct pug_snapshot *snapshot;
    const char *next; /* file names not yet opened, separated by commas; NULL: none */
    struct pug_infile *file;
    uint64_t at; /* in the file */
    uint64_t size;
};

/**
 * The next of some names with commas between them, blanks around, and perhaps nothing after the
 * last.
 */
static const char *begin_of_next(const char *names)
{
    names += strspn(names, ", \t");
    return *names ? names : NULL;
}

#define MOST_FILES 1024u /* of a buffer */

/** The files of a buffer that were opened. */
struct seen {
    struct {
        dev_t device;
        ino_t number;
    } files[MOST_FILES];
    size_t count;
};

/**
 * Notes a file of the buffer, which is copied into memory. One that is named again, by whatever
 * path, is refused: a list of a thousand times the same would make gigabytes of a megabyte.
 */
static enum pug_status note_file(const struct pug_trace *trace, const char *path, struct seen *seen)
{
    struct stat status;
    if (seen->count == MOST_FILES) {
        pug_snapshot_say(trace->snapshot, "snapshot_reader", PUG_SEV_ERROR, PUG_ERR_LIMIT,
                         "a buffer has more than %u files\n", MOST_FILES);
        return PUG_ERR_LIMIT;
    }
    if (stat(path, &status) != 0)
        return PUG_OK; /* that it cannot be opened is said where it is */
    for (size_t i = 0; i < seen->count && status.st_ino != 0; i++)
        if (seen->files[i].device == status.st_dev && seen->files[i].number == status.st_ino) {
            pug_snapshot_say(trace->snapshot, "snapshot_reader", PUG_SEV_ERROR,
                             PUG_ERR_SNAPSHOT_READ,
                             "%s: the buffer that it is of names this file twice\n", path);
            return PUG_ERR_SNAPSHOT_READ;
        }
    seen->files[seen->count].device = status.st_dev;
    seen->files[seen->count++].number = status.st_ino;
    return PUG_OK;
}

/** The next file's path. */
static char *next_path(struct pug_trace *trace)
{
    bool many = pug_snapshot_is_native(trace->snapshot);
    size_t length = many ? strcspn(trace->next, ",") : strlen(trace->next);
    const char *rest = trace->next + length;
    while (many && length > 0 && strchr(" \t", trace->next[length - 1]))
        length--;
    char *name = strndup(trace->next, length), *path = NULL;
    trace->next = begin_of_next(rest);
    if (name && *name) {
        size_t size = pug_snapshot_path(trace->snapshot, name, NULL, 0) + 1;
        path = malloc(size);
        if (path)
            pug_snapshot_path(trace->snapshot, name, path, size);
    }
    free(name);
    return path;
}

/** `seen`: the files before it; NULL: they were looked at. */
static enum pug_status open_next(struct pug_trace *trace, struct seen *seen)
{
    char *path = next_path(trace);
    if (!path)
        return PUG_ERR_FILE;
    enum pug_status status = seen ? note_file(trace, path, seen) : PUG_OK;
    if (status == PUG_OK)
        status = pug_infile_open(path, &trace->file);
    free(path);
    trace->at = 0;
    return status;
}

static void close_file(struct pug_trace *trace)
{
    pug_infile_close(trace->file);
    trace->file = NULL;
}

enum pug_status pug_trace_open(const struct pug_snapshot *snapshot,
                               const struct pug_snapshot_buffer *buffer, struct pug_trace **out)
{
    if (!out)
        return PUG_ERR_INVALID_PARAM_VAL;
    *out = NULL;
    if (!snapshot || !buffer)
        return PUG_ERR_INVALID_PARAM_VAL;
    struct pug_trace *trace = calloc(1, sizeof(*trace));
    if (!trace)
        return PUG_ERR_MEM;
    *trace = (struct pug_trace){.snapshot = snapshot, .next = buffer->file};
    /* all are opened once, for their size and to know now that they are there */
    enum pug_status status = PUG_OK;
    struct seen seen = {.count = 0};
    while (trace->next && status == PUG_OK) {
        status = open_next(trace, &seen);
        trace->size += status == PUG_OK ? pug_infile_size(trace->file) : 0;
        close_file(trace);
    }
    trace->next = buffer->file;
    if (status == PUG_OK)
        *out = trace;
    else
        pug_trace_close(trace);
    return status;
}

/** What the open file still has, at most `size` bytes; it is closed where it ends. */
static enum pug_status read_file(struct pug_trace *trace, char *bytes, size_t size, size_t *length)
{
    const uint64_t left = pug_infile_size(trace->file) - trace->at;
    *length = left < size ? (size_t)left : size;
    enum pug_status status = pug_infile_read(trace->file, trace->at, bytes, *length);
    if (status != PUG_OK)
        *length = 0;
    trace->at += *length;
    if (status != PUG_OK || *length == left)
        close_file(trace);
    return status;
}

size_t pug_trace_read(struct pug_trace *trace, void *bytes, size_t size, enum pug_status *status)
{
    size_t length = 0;
    enum pug_status result = PUG_OK;
    while (length < size && result == PUG_OK && (trace->file || trace->next)) {
        size_t got = 0;
        if (!trace->file)
            result = open_next(trace, NULL);
        if (result == PUG_OK)
            result = read_file(trace, (char *)bytes + length, size - length, &got);
        length += got;
    }
    if (status)
        *status = result;
    return length;
}

uint64_t pug_trace_size(const struct pug_trace *trace)
{
    return trace->size;
}

void pug_trace_close(struct pug_trace *trace)
{
    if (!trace)
        return;
    close_file(trace);
    free(trace);
}
