// SPDX-License-Identifier: MIT
#define _GNU_SOURCE /* O_TMPFILE */
#include "files/outfile.h"

#include "files/whole.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define BUFFER     65536u
#define LINKS_MOST 40

struct pug_outfile {
    int descriptor;
    int error;   /* the first errno */
    bool stream; /* standard output, or no regular file: no name to give */
    bool named;  /* `beside` is there */
    char target[PATH_MAX];
    char beside[PATH_MAX + 32];
    size_t count;
    char bytes[BUFFER];
};

/* ---- where it goes ---- */

/** Follow the links at the end of a path, also one that leads to nothing yet. */
static bool follow_links(char path[PATH_MAX])
{
    for (int links = 0; links < LINKS_MOST; links++) {
        char link[PATH_MAX];
        ssize_t length = readlink(path, link, sizeof(link) - 1);
        if (length < 0)
            return true; /* no link, or nothing there */
        link[length] = 0;
        const char *slash = strrchr(path, '/');
        size_t folder = link[0] == '/' || !slash ? 0 : (size_t)(slash - path) + 1;
        if (folder + (size_t)length >= PATH_MAX) {
            errno = ENAMETOOLONG;
            return false;
        }
        memcpy(path + folder, link, (size_t)length + 1);
    }
    errno = ELOOP;
    return false;
}

/** Is nothing there, or a regular file that may be written? Then *mode is its mode, else 0. */
static bool may_replace(const char *path, mode_t *mode)
{
    struct stat status;
    *mode = 0;
    if (lstat(path, &status) != 0)
        return errno == ENOENT;
    *mode = status.st_mode & 07777;
    if (S_ISREG(status.st_mode))
        return access(path, W_OK) == 0;
    errno = S_ISDIR(status.st_mode) ? EISDIR : EEXIST;
    return false;
}

#define NAMES_MOST 1000

/** The n-th name to try; other processes try others. */
static void name_beside(struct pug_outfile *file, unsigned n)
{
    snprintf(file->beside, sizeof(file->beside), "%s.%lx.%u", file->target, (long)getpid(), n);
}

static int open_beside(struct pug_outfile *file)
{
    int descriptor = -1;
    errno = EEXIST;
    for (unsigned n = 0; n < NAMES_MOST && descriptor < 0 && errno == EEXIST; n++) {
        name_beside(file, n);
        descriptor = open(file->beside, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0666);
    }
    file->named = descriptor >= 0;
    return descriptor;
}

/** The folder of what has this path. */
static void folder_of(const char *path, char folder[PATH_MAX])
{
    const char *slash = strrchr(path, '/');
    snprintf(folder, PATH_MAX, "%.*s", slash ? (int)(slash - path) + 1 : 1, slash ? path : ".");
}

/** A file without a name, which goes by itself when the process does. */
static int open_nameless(const char *target)
{
#ifdef O_TMPFILE
    char folder[PATH_MAX];
    folder_of(target, folder);
    if (access("/proc/self/fd", X_OK) != 0)
        return -1; /* it could not be named later */
    return open(folder, O_TMPFILE | O_WRONLY | O_CLOEXEC, 0666);
#else
    (void)target;
    return -1;
#endif
}

static bool open_target(struct pug_outfile *file)
{
    mode_t mode;
    if (!follow_links(file->target) || !may_replace(file->target, &mode))
        return false;
    file->descriptor = open_nameless(file->target);
    if (file->descriptor < 0)
        file->descriptor = open_beside(file);
    return file->descriptor >= 0 && (mode == 0 || fchmod(file->descriptor, mode) == 0);
}

/** Is it a device, a FIFO or a pipe, which cannot be written beside itself? */
static bool is_stream(const char *path)
{
    struct stat status;
    return stat(path, &status) == 0 && !S_ISREG(status.st_mode) && !S_ISDIR(status.st_mode);
}

static bool open_stream(struct pug_outfile *file)
{
    file->stream = true;
    file->descriptor = strcmp(file->target, "-") == 0 ? dup(STDOUT_FILENO)
                                                      : open(file->target, O_WRONLY | O_CLOEXEC);
    return file->descriptor >= 0;
}

static enum pug_status open_file(const char *path, bool streams, struct pug_outfile **out)
{
    if (strlen(path) >= PATH_MAX) {
        errno = ENAMETOOLONG;
        return PUG_ERR_FILE;
    }
    struct pug_outfile *file = malloc(sizeof(*file));
    if (!file)
        return PUG_ERR_MEM;
    *file = (struct pug_outfile){.descriptor = -1};
    snprintf(file->target, sizeof(file->target), "%s", path);
    const bool stream = strcmp(path, "-") == 0 || (streams && is_stream(path));
    if (!(stream ? open_stream(file) : open_target(file))) {
        pug_outfile_abandon(file);
        return PUG_ERR_FILE;
    }
    *out = file;
    return PUG_OK;
}

enum pug_status pug_outfile_open(const char *path, struct pug_outfile **out)
{
    return open_file(path, false, out);
}

enum pug_status pug_outfile_open_any(const char *path, struct pug_outfile **out)
{
    return open_file(path, true, out);
}

/** Could something be made in the folder that it is in? */
static bool has_place(const char *path)
{
    char folder[PATH_MAX];
    struct stat status;
    folder_of(path, folder);
    if (stat(folder, &status) != 0)
        return false;
    errno = ENOTDIR;
    return S_ISDIR(status.st_mode) && access(folder, W_OK) == 0;
}

bool pug_outfile_may(const char *path)
{
    char target[PATH_MAX];
    mode_t mode;
    if (strcmp(path, "-") == 0 || is_stream(path))
        return true;
    errno = ENAMETOOLONG;
    if (strlen(path) >= PATH_MAX)
        return false;
    snprintf(target, sizeof(target), "%s", path);
    return follow_links(target) && may_replace(target, &mode) && has_place(target);
}

bool pug_outfile_may_folder(const char *path)
{
    struct stat status;
    char plain[PATH_MAX];
    errno = ENAMETOOLONG;
    if (strlen(path) >= PATH_MAX)
        return false;
    if (stat(path, &status) == 0) {
        errno = ENOTDIR;
        return S_ISDIR(status.st_mode) && access(path, W_OK) == 0;
    }
    snprintf(plain, sizeof(plain), "%s", path);
    for (size_t size = strlen(plain); size > 1 && plain[size - 1] == '/'; size--)
        plain[size - 1] = 0; /* as mkdir() has it */
    return errno == ENOENT && has_place(plain);
}

bool pug_outfile_place(const char *path, char *place, size_t size, unsigned *mode)
{
    char target[PATH_MAX];
    mode_t has;
    const int length = snprintf(target, sizeof(target), "%s", path);
    errno = ENAMETOOLONG;
    if (length < 0 || (size_t)length >= sizeof(target) || !follow_links(target) ||
        !may_replace(target, &has))
        return false;
    errno = ENAMETOOLONG;
    *mode = has;
    return (size_t)snprintf(place, size, "%s", target) < size;
}

/* ---- writing ---- */

static void write_all(struct pug_outfile *file, const char *bytes, size_t size)
{
    if (!file->error && !pug_write_whole(file->descriptor, bytes, size))
        file->error = errno;
}

static void empty_buffer(struct pug_outfile *file)
{
    write_all(file, file->bytes, file->count);
    file->count = 0;
}

static void put(void *context, const void *bytes, size_t size)
{
    struct pug_outfile *file = context;
    if (BUFFER - file->count < size)
        empty_buffer(file);
    if (size >= BUFFER) {
        write_all(file, bytes, size);
        return;
    }
    memcpy(file->bytes + file->count, bytes, size);
    file->count += size;
}

struct pug_sink pug_outfile_sink(struct pug_outfile *file)
{
    return (struct pug_sink){.put = put, .context = file};
}

int pug_outfile_descriptor(const struct pug_outfile *file)
{
    return file->descriptor;
}

bool pug_outfile_failed(const struct pug_outfile *file)
{
    return file->error != 0;
}

/* ---- the end ---- */

/** A nameless file gets a name beside the target: a link cannot replace what is there. */
static bool give_name(struct pug_outfile *file)
{
#ifdef O_TMPFILE
    char self[64];
    snprintf(self, sizeof(self), "/proc/self/fd/%d", file->descriptor);
    errno = EEXIST;
    for (unsigned n = 0; n < NAMES_MOST && !file->named && errno == EEXIST; n++) {
        name_beside(file, n);
        file->named = linkat(AT_FDCWD, self, AT_FDCWD, file->beside, AT_SYMLINK_FOLLOW) == 0;
    }
#endif
    return file->named;
}

static bool finish(struct pug_outfile *file)
{
    empty_buffer(file);
    if (file->error) {
        errno = file->error;
        return false;
    }
    if (!file->stream && (fsync(file->descriptor) != 0 || (!file->named && !give_name(file))))
        return false;
    int descriptor = file->descriptor;
    file->descriptor = -1;
    if (close(descriptor) != 0 || (!file->stream && rename(file->beside, file->target) != 0))
        return false;
    file->named = false;
    return true;
}

bool pug_outfile_settle(struct pug_outfile *file, bool whole)
{
    const bool good = !whole || finish(file);
    const int why = errno;
    if (file->named)
        unlink(file->beside);
    errno = why;
    return good;
}

void pug_outfile_hand_over(struct pug_outfile *file)
{
    file->named = false;
    pug_outfile_abandon(file);
}

enum pug_status pug_outfile_commit(struct pug_outfile *file)
{
    bool good = finish(file);
    pug_outfile_abandon(file);
    return good ? PUG_OK : PUG_ERR_FILE;
}

void pug_outfile_abandon(struct pug_outfile *file)
{
    if (!file)
        return;
    const int why = errno;
    if (file->descriptor >= 0)
        close(file->descriptor);
    if (file->named)
        unlink(file->beside);
    free(file);
    errno = why;
}

static enum pug_status save(const char *path, bool streams, const void *bytes, size_t size)
{
    struct pug_outfile *file;
    enum pug_status status = open_file(path, streams, &file);
    if (status != PUG_OK)
        return status;
    put(file, bytes, size);
    return pug_outfile_commit(file);
}

enum pug_status pug_outfile_save(const char *path, const void *bytes, size_t size)
{
    return save(path, false, bytes, size);
}

enum pug_status pug_outfile_save_any(const char *path, const void *bytes, size_t size)
{
    return save(path, true, bytes, size);
}

int pug_outfile_go_on(const char *path, uint64_t size)
{
    const int descriptor = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW, 0666);
    struct stat status;
    if (descriptor < 0)
        return -1;
    errno = EINVAL;
    if (fstat(descriptor, &status) == 0 && S_ISREG(status.st_mode) &&
        (uint64_t)status.st_size >= size && ftruncate(descriptor, (off_t)size) == 0)
        return descriptor;
    close(descriptor);
    return -1;
}
