// SPDX-License-Identifier: MIT
/**
 * @file What of POSIX the project uses and Windows has not: the build includes this in front of
 * each source there, and nowhere else. Threads are those of winpthreads.
 */
#ifndef PUG_BASE_WINDOWS_H
#define PUG_BASE_WINDOWS_H

#include <direct.h>
#include <errno.h>
#include <fcntl.h>
#include <io.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Files are bytes, and are not inherited. Opening one never waits. */
#define O_CLOEXEC  (_O_NOINHERIT | _O_BINARY)
#define O_NONBLOCK 0
#define O_NOFOLLOW 0

#define NAME_MAX 255

/* An old name of a function of <io.h>; here it is the name of other things. */
#define tell pug_windows_tell

/** Standard streams are bytes, too. */
void pug_windows_begin(void);

/* ---- positioned reads, and files in memory ---- */

/** From any thread; the file's own position is lost. */
ssize_t pug_windows_pread(int file, void *bytes, size_t size, uint64_t offset);
#define pread(file, bytes, size, offset) pug_windows_pread(file, bytes, size, (uint64_t)(offset))

#define PROT_READ   1
#define MAP_PRIVATE 2
#define MAP_FAILED  ((void *)-1)

/** A whole file, to be read; MAP_FAILED with errno. */
void *pug_windows_map(int file, size_t size);
int pug_windows_unmap(void *bytes);
#define mmap(address, size, protection, flags, file, offset) pug_windows_map(file, size)
#define munmap(bytes, size)                                  pug_windows_unmap(bytes)

/* ---- files and folders ---- */

/** Also where something is there already. */
int pug_windows_rename(const char *from, const char *to);
#define rename(from, to)              pug_windows_rename(from, to)
#define mkdir(path, mode)             _mkdir(path)
#define fsync(file)                   _commit(file)
#define fchmod(file, mode)            ((void)(mode), 0)
#define realpath(path, buffer)        _fullpath(buffer, path, 0)
#define lstat(path, status)           stat(path, status)
#define setenv(name, text, overwrite) ((overwrite) || !getenv(name) ? _putenv_s(name, text) : 0)

/** A new file that goes when it is closed; where temporary files are, whatever `path` says. */
int pug_windows_temporary(void);
#define mkstemp(path)              ((void)(path), pug_windows_temporary())
#define F_SETFD                    0
#define FD_CLOEXEC                 0
#define fcntl(file, what, as_well) ((void)(file), 0)

/** The system follows links without reporting it. */
static inline ssize_t readlink(const char *path, char *link, size_t size)
{
    (void)path;
    (void)link;
    (void)size;
    errno = EINVAL;
    return -1;
}

/* ---- memory and processors ---- */

/* What malloc() gives is aligned for all types; the lines of a cache are for speed alone. */
#define aligned_alloc(alignment, size) malloc(size)

static inline char *strndup(const char *text, size_t size)
{
    size = strnlen(text, size);
    char *copy = malloc(size + 1);
    if (copy) {
        memcpy(copy, text, size);
        copy[size] = 0;
    }
    return copy;
}

#define _SC_NPROCESSORS_ONLN 0
#define sysconf(name)        ((void)(name), (long)pthread_num_processors_np())

#endif
