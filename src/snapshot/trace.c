// SPDX-License-Identifier: MIT
/** @file The bytes of a trace buffer, from one file or several. */
#include "snapshot/snapshot.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

struct pug_trace {
    const struct pug_snapshot *snapshot;
    const char *next; /* file names not yet opened, separated by commas; NULL: none */
    FILE *file;
    uint64_t size;
};

/** The next file's path. */
static char *next_path(struct pug_trace *trace)
{
    bool many = pug_snapshot_is_native(trace->snapshot);
    size_t length = many ? strcspn(trace->next, ",") : strlen(trace->next);
    char *name = strndup(trace->next, length), *path = NULL;
    trace->next += length;
    trace->next = *trace->next == ',' ? trace->next + 1 + strspn(trace->next + 1, " \t") : NULL;
    if (name && *name) {
        size_t size = pug_snapshot_path(trace->snapshot, name, NULL, 0) + 1;
        path = malloc(size);
        if (path)
            pug_snapshot_path(trace->snapshot, name, path, size);
    }
    free(name);
    return path;
}

static enum pug_status open_next(struct pug_trace *trace)
{
    struct stat info;
    char *path = next_path(trace);
    trace->file = path ? fopen(path, "rb") : NULL;
    free(path);
    if (!trace->file)
        return PUG_ERR_FILE;
    if (fstat(fileno(trace->file), &info) != 0 || S_ISDIR(info.st_mode))
        return PUG_ERR_FILE;
    trace->size += S_ISREG(info.st_mode) ? (uint64_t)info.st_size : 0;
    return PUG_OK;
}

static void close_file(struct pug_trace *trace)
{
    if (trace->file)
        fclose(trace->file);
    trace->file = NULL;
}

enum pug_status pug_trace_open(const struct pug_snapshot *snapshot,
                               const struct pug_snapshot_buffer *buffer, struct pug_trace **out)
{
    struct pug_trace *trace = calloc(1, sizeof(*trace));
    if (!trace)
        return PUG_ERR_MEM;
    *trace = (struct pug_trace){.snapshot = snapshot, .next = buffer->file};
    /* all are opened once, for their size and to know now that they are there */
    enum pug_status status = PUG_OK;
    while (trace->next && status == PUG_OK) {
        status = open_next(trace);
        close_file(trace);
    }
    trace->next = buffer->file;
    if (status == PUG_OK)
        *out = trace;
    else
        pug_trace_close(trace);
    return status;
}

size_t pug_trace_read(struct pug_trace *trace, void *bytes, size_t size, enum pug_status *status)
{
    size_t length = 0;
    uint64_t known = trace->size;
    enum pug_status result = PUG_OK;
    while (length < size && result == PUG_OK && (trace->file || trace->next)) {
        if (!trace->file && (result = open_next(trace)) != PUG_OK)
            break;
        length += fread((char *)bytes + length, 1, size - length, trace->file);
        if (ferror(trace->file))
            result = PUG_ERR_FILE;
        if (length < size)
            close_file(trace);
    }
    trace->size = known;
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
