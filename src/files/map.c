// SPDX-License-Identifier: MIT
#define _DEFAULT_SOURCE /* MAP_ANONYMOUS */

#include "files/map.h"

#include <stdlib.h>

#ifdef _WIN32

/* On this system no process can cut a file that is open; a file that is read at once needs no
 * handler either. */
struct pug_map {
    uint8_t *bytes;
    size_t size;
};

enum pug_status pug_map_part(const struct pug_infile *file, uint64_t offset, size_t size,
                             struct pug_map **out)
{
    struct pug_map *map = calloc(1, sizeof(*map));
    if (!map || !(map->bytes = malloc(size + 1))) {
        free(map);
        return PUG_ERR_MEM;
    }
    map->size = size;
    const enum pug_status status = pug_infile_read(file, offset, map->bytes, size);
    if (status == PUG_OK)
        *out = map;
    else
        pug_map_close(map);
    return status;
}

void pug_map_close(struct pug_map *map)
{
    if (map)
        free(map->bytes);
    free(map);
}

const uint8_t *pug_map_bytes(const struct pug_map *map)
{
    return map->bytes;
}

uint64_t pug_map_size(const struct pug_map *map)
{
    return map->size;
}

bool pug_map_lost(const struct pug_map *map, uint64_t *offset)
{
    (void)map;
    (void)offset;
    return false;
}

#else

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <unistd.h>

/**
 * The handler may run on any thread at any time, so entries are never freed: one whose mapping is
 * gone is free for another.
 */
struct pug_map {
    struct pug_map *next;
    _Atomic(uintptr_t) start; /* 0: nothing is mapped */
    _Atomic(uintptr_t) end;
    _Atomic uint64_t lost; /* the lowest offset that was missed; UINT64_MAX: none */
    size_t skip;           /* pages begin before the part that was wanted */
    bool used;             /* guarded by the lock */
};

static _Atomic(struct pug_map *) maps;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct sigaction before;
static uintptr_t page_size;

static bool give_zeros(struct pug_map *map, uintptr_t address)
{
    const uintptr_t page = address & ~(page_size - 1);
    if (mmap((void *)page, page_size, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) ==
        MAP_FAILED)
        return false;
    const uint64_t offset = page - atomic_load(&map->start);
    uint64_t lost = atomic_load(&map->lost);
    while (offset < lost && !atomic_compare_exchange_weak(&map->lost, &lost, offset)) {
    }
    return true;
}

static void pass_on(int number, siginfo_t *info, void *context)
{
    if (before.sa_flags & SA_SIGINFO)
        before.sa_sigaction(number, info, context);
    else if (before.sa_handler != SIG_DFL && before.sa_handler != SIG_IGN)
        before.sa_handler(number);
    else
        sigaction(SIGBUS, &before, NULL); /* it comes again */
}

static void on_fault(int number, siginfo_t *info, void *context)
{
    const int error = errno;
    const uintptr_t address = (uintptr_t)info->si_addr;
    bool done = false;
    for (struct pug_map *map = atomic_load(&maps); map && !done; map = map->next)
        if (address >= atomic_load(&map->start) && address < atomic_load(&map->end))
            done = give_zeros(map, address);
    if (!done)
        pass_on(number, info, context);
    errno = error;
}

/** Under the lock. */
static void install(void)
{
    struct sigaction action = {.sa_sigaction = on_fault, .sa_flags = SA_SIGINFO | SA_NODEFER};
    page_size = (uintptr_t)sysconf(_SC_PAGESIZE);
    sigemptyset(&action.sa_mask);
    sigaction(SIGBUS, &action, &before);
}

/** An entry that is the caller's until it is closed; NULL: no memory. */
static struct pug_map *take_entry(void)
{
    pthread_mutex_lock(&lock);
    struct pug_map *map = atomic_load(&maps);
    if (!map)
        install();
    while (map && map->used)
        map = map->next;
    if (!map && (map = calloc(1, sizeof(*map))) != NULL) {
        map->next = atomic_load(&maps);
        atomic_store(&maps, map);
    }
    if (map)
        map->used = true;
    pthread_mutex_unlock(&lock);
    return map;
}

static enum pug_status map_bytes(const struct pug_infile *file, uint64_t offset, size_t size,
                                 struct pug_map *map)
{
    map->skip = (size_t)(offset & (page_size - 1));
    if (size == 0)
        return PUG_OK;
    if (size > SIZE_MAX - map->skip || offset > INT64_MAX)
        return PUG_ERR_LIMIT;
    void *bytes = mmap(NULL, size + map->skip, PROT_READ, MAP_PRIVATE, pug_infile_descriptor(file),
                       (off_t)(offset - map->skip));
    if (bytes == MAP_FAILED)
        return errno == ENOMEM ? PUG_ERR_MEM : PUG_ERR_FILE;
    atomic_store(&map->end, (uintptr_t)bytes + map->skip + size);
    atomic_store(&map->start, (uintptr_t)bytes);
    return PUG_OK;
}

enum pug_status pug_map_part(const struct pug_infile *file, uint64_t offset, size_t size,
                             struct pug_map **out)
{
    struct pug_map *map = take_entry();
    if (!map)
        return PUG_ERR_MEM;
    atomic_store(&map->lost, UINT64_MAX);
    const enum pug_status status = map_bytes(file, offset, size, map);
    if (status == PUG_OK)
        *out = map;
    else
        pug_map_close(map);
    return status;
}

void pug_map_close(struct pug_map *map)
{
    if (!map)
        return;
    const int why = errno;
    const uintptr_t start = atomic_exchange(&map->start, 0);
    const uintptr_t end = atomic_exchange(&map->end, 0);
    if (start)
        munmap((void *)start, end - start);
    pthread_mutex_lock(&lock);
    map->used = false;
    pthread_mutex_unlock(&lock);
    errno = why;
}

const uint8_t *pug_map_bytes(const struct pug_map *map)
{
    const uintptr_t start = atomic_load(&map->start);
    return start ? (const uint8_t *)start + map->skip : NULL;
}

uint64_t pug_map_size(const struct pug_map *map)
{
    const uintptr_t start = atomic_load(&map->start);
    return start ? atomic_load(&map->end) - start - map->skip : 0;
}

bool pug_map_lost(const struct pug_map *map, uint64_t *offset)
{
    *offset = atomic_load(&map->lost);
    return *offset != UINT64_MAX;
}

#endif

enum pug_status pug_map_open(const char *path, struct pug_map **out)
{
    struct pug_infile *file;
    enum pug_status status = pug_infile_open(path, &file);
    if (status != PUG_OK)
        return status;
    const uint64_t size = pug_infile_size(file);
    status = size < SIZE_MAX ? pug_map_part(file, 0, (size_t)size, out) : PUG_ERR_LIMIT;
    pug_infile_close(file);
    return status;
}
