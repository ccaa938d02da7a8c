// SPDX-License-Identifier: MIT
#include "file.h"

#include "files/outfile.h"
#include "pugmark/advanced/state.h"
#include "schedule/peers.h"
#include "world.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define PIECE ((size_t)4 << 20)

/** The bytes that a process keeps, and their place in the file. */
struct placed {
    uint64_t at, size, to;
};

struct cluster_file {
    struct cluster *cluster;
    struct pug_peers *peers;
    struct output_target target;
    MPI_File file;
    char path[4096], beside[4128]; /* `path`: where links lead */
    unsigned mode;                 /* of what is there; 0: nothing */
    uint64_t position;             /* of what comes next */
    struct pug_spool kept;         /* what this process has for it */
    struct pug_state *lists;       /* by process: struct placed */
    bool failed;
};

/* ---- writing ---- */

static bool write_at(struct cluster_file *file, uint64_t to, const void *bytes, size_t count)
{
    if (MPI_File_write_at(file->file, (MPI_Offset)to, bytes, (int)count, MPI_BYTE,
                          MPI_STATUS_IGNORE) == MPI_SUCCESS)
        return true;
    file->failed = true;
    errno = EIO;
    return false;
}

static bool write_next(void *context, const void *bytes, size_t count)
{
    struct cluster_file *file = context;
    const char *at = bytes;
    bool good = true;
    while (file->peers->number == 0 && count > 0 && good) {
        const size_t size = count < PIECE ? count : PIECE;
        good = write_at(file, file->position, at, size);
        file->position += size;
        at += size;
        count -= size;
    }
    return good;
}

static bool keep(void *context, const void *bytes, size_t count, uint64_t *at)
{
    struct cluster_file *file = context;
    *at = file->kept.size;
    return pug_spool_put(&file->kept, bytes, count);
}

static bool place(void *context, unsigned process, uint64_t at, uint64_t size)
{
    struct cluster_file *file = context;
    struct pug_state *list = &file->lists[process];
    struct placed placed = {at, size, file->position}, last;
    file->position += size;
    if (list->size > 0) {
        memcpy(&last, list->bytes + list->size - sizeof(last), sizeof(last));
        if (last.at + last.size == placed.at && last.to + last.size == placed.to) {
            placed = (struct placed){last.at, last.size + size, last.to};
            list->size -= sizeof(last);
        }
    }
    pug_state_put(list, &placed, sizeof(placed));
    errno = ENOMEM;
    return !list->failed;
}

/* ---- the end ---- */

static bool copy(struct cluster_file *file, const struct placed *placed, uint8_t *bytes)
{
    bool good = true;
    for (uint64_t done = 0, size; good && done < placed->size; done += size) {
        size = placed->size - done < PIECE ? placed->size - done : PIECE;
        good = pug_spool_get(&file->kept, placed->at + done, bytes, (size_t)size) &&
               write_at(file, placed->to + done, bytes, (size_t)size);
    }
    return good;
}

/** Write the bytes that this process keeps at their place. */
static void write_kept(struct cluster_file *file)
{
    struct pug_peers_message message;
    uint8_t *bytes = malloc(PIECE);
    bool good = bytes != NULL;
    (void)pug_peers_receive(file->peers, 0, PUG_PEERS_DATA, true, &message);
    for (size_t at = 0; good && at < message.size; at += sizeof(struct placed)) {
        struct placed placed;
        memcpy(&placed, message.bytes + at, sizeof(placed));
        good = copy(file, &placed, bytes);
    }
    free(message.bytes);
    free(bytes);
    const uint8_t failed = !good;
    pug_peers_send(file->peers, 0, PUG_PEERS_DATA, &failed, sizeof(failed));
}

/** Tell all others what goes where, and hear whether it did. */
static void have_written(struct cluster_file *file)
{
    for (unsigned to = 1; to < file->peers->count; to++)
        pug_peers_send(file->peers, to, PUG_PEERS_DATA, file->lists[to].bytes,
                       file->lists[to].size);
    for (unsigned from = 1; from < file->peers->count; from++) {
        struct pug_peers_message message;
        (void)pug_peers_receive(file->peers, from, PUG_PEERS_DATA, true, &message);
        file->failed |= message.size != 1 || message.bytes[0];
        free(message.bytes);
    }
}

static bool give_name(struct cluster_file *file)
{
    const bool named = !file->failed &&
                       (file->mode == 0 || chmod(file->beside, (mode_t)file->mode) == 0) &&
                       rename(file->beside, file->path) == 0;
    if (!named)
        cluster_say(file->cluster, "pugmark: %s: %s\n", file->path,
                    strerror(file->failed ? EIO : errno));
    if (!named)
        unlink(file->beside);
    return named;
}

bool cluster_file_close(struct cluster_file *file, bool good)
{
    const bool first = file->peers->number == 0;
    if (first && !good) { /* the other processes get the order to end */
        unlink(file->beside);
        return true;
    }
    pug_peers_begin(file->peers);
    if (first)
        have_written(file);
    else
        write_kept(file);
    MPI_File_close(&file->file);
    const bool named = !first || give_name(file);
    for (unsigned i = 0; i < file->peers->count; i++)
        pug_state_free(&file->lists[i]);
    pug_spool_free(&file->kept);
    free(file->lists);
    free(file);
    return named;
}

/* ---- the beginning ---- */

/** The results kept from earlier work refer to bytes in the folder; more bytes follow those. */
static void keep_in_folder(struct cluster_file *file)
{
    char path[4096];
    struct stat status;
    const struct pug_peers_keep *keep = file->peers->keep;
    if (!keep || file->peers->number == 0)
        return;
    const int length =
        snprintf(path, sizeof(path), "%s/output.%u.made", keep->folder, file->peers->number);
    const bool fits = length > 0 && (size_t)length < sizeof(path);
    const uint64_t size = fits && stat(path, &status) == 0 ? (uint64_t)status.st_size : 0;
    if (!fits || !pug_spool_open(&file->kept, path, size))
        pug_peers_fail(file->peers, "what was done cannot be kept");
}

bool cluster_file_settle(void *file)
{
    return !file || pug_spool_settle(&((struct cluster_file *)file)->kept);
}

struct cluster_file *cluster_file_open(struct cluster *cluster, const char *path)
{
    struct pug_peers *peers = cluster_peers(cluster);
    struct cluster_file *file = calloc(1, sizeof(*file));
    uint32_t number = (uint32_t)getpid();
    if (!file || !(file->lists = calloc(peers->count, sizeof(*file->lists))) ||
        strlen(path) >= sizeof(file->path))
        pug_peers_fail(peers, "out of memory");
    file->cluster = cluster;
    file->peers = peers;
    file->target = (struct output_target){file, write_next, keep, place};
    pug_peers_begin(peers);
    pug_peers_share(peers, &number, sizeof(number));
    keep_in_folder(file);
    const bool placed = pug_outfile_place(path, file->path, sizeof(file->path), &file->mode);
    snprintf(file->beside, sizeof(file->beside), "%s.%lx", file->path, (unsigned long)number);
    if (placed && MPI_File_open(cluster_world(cluster), file->beside,
                                MPI_MODE_CREATE | MPI_MODE_EXCL | MPI_MODE_WRONLY, MPI_INFO_NULL,
                                &file->file) == MPI_SUCCESS)
        return file;
    if (peers->number == 0)
        cluster_say(cluster, "pugmark: %s: it cannot be written\n", path);
    free(file->lists);
    free(file);
    return NULL;
}

const struct output_target *cluster_file_target(struct cluster_file *file)
{
    return &file->target;
}
