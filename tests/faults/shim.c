// SPDX-License-Identifier: MIT
/**
 * @file Loaded in front of the C library (LD_PRELOAD): makes one call of the program fail.
 * FAULT_KIND says of which calls ("memory", "open", "read", …, see `kinds`), FAULT_AT which of
 * them, from 1 on; 0: none, they are counted. FAULT_ON: all from there on fail. FAULT_COUNT names a
 * file that gets how many there were. FAULT_STOP: abort there, for a debugger.
 * FAULT_TURNS: one after the other (turns.c).
 */
#define _GNU_SOURCE
#include "shim.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

static const char *const kinds[FAULT_KINDS] = {"memory", "open",   "read",   "write", "stat",
                                               "map",    "rename", "thread", "sync",  "close"};
static const int errors[FAULT_KINDS] = {ENOMEM, EMFILE, EIO,    ENOSPC, EACCES,
                                        ENOMEM, EIO,    EAGAIN, EIO,    ENOSPC};

static struct {
    enum fault_kind kind;
    long at;
    bool on, ready;
    atomic_long *count;
} fault = {.kind = FAULT_KINDS};

/* Where the objects are that the program began with, but for the loader. */
#define OBJECTS 64
static struct {
    uintptr_t from, to;
} objects[OBJECTS];
static size_t object_count;

static int note_object(struct dl_phdr_info *info, size_t size, void *context)
{
    (void)size;
    (void)context;
    if (object_count == OBJECTS || strstr(info->dlpi_name, "/ld-"))
        return 0;
    uintptr_t from = UINTPTR_MAX, to = 0;
    for (unsigned i = 0; i < info->dlpi_phnum; i++) {
        const uintptr_t start = info->dlpi_addr + info->dlpi_phdr[i].p_vaddr;
        if (info->dlpi_phdr[i].p_type != PT_LOAD)
            continue;
        from = start < from ? start : from;
        to = start + info->dlpi_phdr[i].p_memsz > to ? start + info->dlpi_phdr[i].p_memsz : to;
    }
    objects[object_count].from = from;
    objects[object_count++].to = to;
    return 0;
}

/* LLVM, and what loads it, end the process where there is no memory. The library makes sure of some
 * before (src/disasm/llvm.c), and that fails in its turn. */
static bool is_loaded_later(const void *caller)
{
    const uintptr_t at = (uintptr_t)caller;
    for (size_t i = 0; i < object_count; i++)
        if (at >= objects[i].from && at < objects[i].to)
            return false;
    return true;
}

enum fault_kind fault_kind(const char *name)
{
    enum fault_kind kind = MEMORY;
    while (kind < FAULT_KINDS && strcmp(name, kinds[kind]) != 0)
        kind++;
    return kind;
}

void fault_ready(enum fault_kind kind, long at, bool on, atomic_long *count)
{
    fault.kind = kind;
    fault.at = at;
    fault.on = on;
    fault.count = count;
    fault.ready = true;
}

__attribute__((constructor)) static void begin(void)
{
    static atomic_long count;
    dl_iterate_phdr(note_object, NULL);
    unsetenv("LD_PRELOAD"); /* of this program alone, not of those that it starts */
    const char *turns = getenv("FAULT_TURNS"), *kind = getenv("FAULT_KIND"),
               *at = getenv("FAULT_AT");
    if (turns)
        fault_turns(turns);
    else if (kind && at)
        fault_ready(fault_kind(kind), atol(at), getenv("FAULT_ON") != NULL, &count);
}

__attribute__((destructor)) static void end(void)
{
    const char *path = fault.ready ? getenv("FAULT_COUNT") : NULL;
    fault.ready = false;
    FILE *file = path ? fopen(path, "w") : NULL;
    if (file) {
        fprintf(file, "%ld\n", atomic_load(fault.count));
        fclose(file);
    }
}

static bool fails(enum fault_kind kind)
{
    if (!fault.ready || kind != fault.kind)
        return false;
    const long number = atomic_fetch_add(fault.count, 1) + 1;
    if (fault.at == 0 || (fault.on ? number < fault.at : number != fault.at))
        return false;
    if (getenv("FAULT_STOP"))
        abort();
    errno = errors[kind];
    return true;
}

/* Returns the library's function that this one replaces. */
#define NEXT(name) ((__typeof__(&(name)))dlsym(RTLD_NEXT, #name))

extern void *__libc_malloc(size_t size);
extern void *__libc_calloc(size_t count, size_t size);
extern void *__libc_realloc(void *block, size_t size);

static bool is_prime(size_t number)
{
    for (size_t i = 2; i * i <= number; i++)
        if (number % i == 0)
            return false;
    return true;
}

/* The table of a unit's abbreviations, at first (41 places and one) and when it grows: libdw does
 * not look whether it got it. The library makes sure of that much a moment before
 * (src/names/guard.c), and that fails in its turn. */
static bool made_sure(const void *caller, size_t size)
{
    Dl_info object;
    if (is_loaded_later(caller))
        return true;
    return size >= 672 && size % 16 == 0 && is_prime(size / 16 - 1) && dladdr(caller, &object) &&
           strstr(object.dli_fname, "/libdw.so");
}

static bool fails_for(const void *caller, size_t size)
{
    return fault.ready && fault.kind == MEMORY && !made_sure(caller, size) && fails(MEMORY);
}

void *malloc(size_t size)
{
    return fails_for(__builtin_return_address(0), size) ? NULL : __libc_malloc(size);
}

void *calloc(size_t count, size_t size)
{
    return fails_for(__builtin_return_address(0), 0) ? NULL : __libc_calloc(count, size);
}

void *realloc(void *block, size_t size)
{
    return fails_for(__builtin_return_address(0), 0) ? NULL : __libc_realloc(block, size);
}

static int open_mode(int flags, va_list args)
{
    return flags & (O_CREAT | O_TMPFILE) ? va_arg(args, int) : 0;
}

int open(const char *path, int flags, ...)
{
    va_list args;
    va_start(args, flags);
    const int mode = open_mode(flags, args);
    va_end(args);
    return fails(OPEN) ? -1 : NEXT(open)(path, flags, mode);
}

int open64(const char *path, int flags, ...)
{
    va_list args;
    va_start(args, flags);
    const int mode = open_mode(flags, args);
    va_end(args);
    return fails(OPEN) ? -1 : NEXT(open64)(path, flags, mode);
}

FILE *fopen64(const char *path, const char *mode)
{
    return fails(OPEN) ? NULL : NEXT(fopen64)(path, mode);
}

ssize_t read(int file, void *bytes, size_t size)
{
    return fails(READ) ? -1 : NEXT(read)(file, bytes, size);
}

ssize_t pread64(int file, void *bytes, size_t size, off64_t at)
{
    return fails(READ) ? -1 : NEXT(pread64)(file, bytes, size, at);
}

ssize_t write(int file, const void *bytes, size_t size)
{
    return fails(WRITE) ? -1 : NEXT(write)(file, bytes, size);
}

int stat64(const char *path, struct stat64 *status)
{
    return fails(STAT) ? -1 : NEXT(stat64)(path, status);
}

int fstat64(int file, struct stat64 *status)
{
    return fails(STAT) ? -1 : NEXT(fstat64)(file, status);
}

void *mmap64(void *address, size_t size, int access, int flags, int file, off64_t at)
{
    return fails(MAP) ? MAP_FAILED : NEXT(mmap64)(address, size, access, flags, file, at);
}

int rename(const char *from, const char *to)
{
    return fails(RENAME) ? -1 : NEXT(rename)(from, to);
}

int linkat(int from_folder, const char *from, int to_folder, const char *to, int flags)
{
    return fails(RENAME) ? -1 : NEXT(linkat)(from_folder, from, to_folder, to, flags);
}

int fsync(int file)
{
    return fails(SYNC) ? -1 : NEXT(fsync)(file);
}

/* What is closed is closed, also where that fails: a network's file system says then that there was
 * no room. */
int close(int file)
{
    const bool failed = fails(CLOSE);
    const int error = errno, answer = NEXT(close)(file);
    if (failed)
        errno = error;
    return failed ? -1 : answer;
}

int fclose(FILE *file)
{
    const bool failed = fails(CLOSE);
    const int error = errno, answer = NEXT(fclose)(file);
    if (failed)
        errno = error;
    return failed ? EOF : answer;
}

int mkdir(const char *path, mode_t mode)
{
    return fails(OPEN) ? -1 : NEXT(mkdir)(path, mode);
}

int pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*function)(void *),
                   void *context)
{
    return fails(THREAD) ? EAGAIN : NEXT(pthread_create)(thread, attributes, function, context);
}
