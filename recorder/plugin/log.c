// SPDX-License-Identifier: MIT
#define _GNU_SOURCE // memfd_create(), fallocate()
#include "log.h"

#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* A function of QEMU; NULL when QEMU does not export it. */
__attribute__((weak)) bool qemu_set_log_filename_flags(const char *name, int flags, void *error);
__attribute__((weak)) extern int qemu_loglevel;
__attribute__((weak)) FILE *qemu_log_trylock(void);
__attribute__((weak)) void qemu_log_unlock(FILE *file);

#define LOG_EXCEPTIONS (1 << 4)  /* -d int */
#define LOG_TRACE      (1 << 15) /* always on where trace points go to the log */
#if SIZE_MAX > UINT32_MAX
#define LOG_ROOM ((size_t)1 << 36) /* addresses, not memory */
#else
#define LOG_ROOM ((size_t)1 << 28)
#endif
#define LOG_PIECE ((uint64_t)1 << 20) /* so much of what was read is given back at once */
#define LOG_LINE  256u

static struct {
    int file;
    const volatile char *bytes;
    uint64_t at, before, freed; /* before: where the last line began */
    char line[LOG_LINE];
} qemu_log;

/**
 * QEMU may have opened the file to append to it; here its lines have to come from the beginning of
 * a file that is long already.
 */
static bool write_from_beginning(void)
{
    FILE *file = qemu_log_trylock();
    int flags = file ? fcntl(fileno(file), F_GETFL) : -1;
    bool good = flags >= 0 && fcntl(fileno(file), F_SETFL, flags & ~O_APPEND) == 0;
    if (file)
        qemu_log_unlock(file);
    return good;
}

static bool open_file(void)
{
    char name[64];
    qemu_log.file = memfd_create("pugmark-log", MFD_CLOEXEC);
    if (qemu_log.file < 0)
        return false;
    snprintf(name, sizeof(name), "/proc/self/fd/%d", qemu_log.file);
    /* From here on it is as long as it may become, so that all of it can be read. */
    if (!qemu_set_log_filename_flags(name, LOG_EXCEPTIONS, NULL) || !write_from_beginning() ||
        ftruncate(qemu_log.file, (off_t)LOG_ROOM) != 0)
        return false;
    void *bytes = mmap(NULL, LOG_ROOM, PROT_READ, MAP_SHARED | MAP_NORESERVE, qemu_log.file, 0);
    qemu_log.bytes = bytes == MAP_FAILED ? NULL : bytes;
    return qemu_log.bytes != NULL;
}

bool log_begin(void)
{
    return qemu_set_log_filename_flags && &qemu_loglevel && qemu_log_trylock && qemu_log_unlock &&
           !(qemu_loglevel & ~LOG_TRACE) && open_file();
}

bool log_waits(void)
{
    return qemu_log.bytes && qemu_log.at < LOG_ROOM && qemu_log.bytes[qemu_log.at] != 0;
}

/** Gives memory back that holds lines which were taken. */
static void give_back(void)
{
    if (qemu_log.at - qemu_log.freed < 2 * LOG_PIECE)
        return;
    fallocate(qemu_log.file, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, (off_t)qemu_log.freed,
              (off_t)LOG_PIECE);
    qemu_log.freed += LOG_PIECE;
}

const char *log_next(void)
{
    size_t size = 0;
    if (!log_waits())
        return NULL;
    qemu_log.before = qemu_log.at;
    for (char c; qemu_log.at < LOG_ROOM && (c = qemu_log.bytes[qemu_log.at]) != 0; size++) {
        qemu_log.at++;
        if (c == '\n')
            break;
        if (size + 1 < LOG_LINE)
            qemu_log.line[size] = c;
    }
    qemu_log.line[size + 1 < LOG_LINE ? size : LOG_LINE - 1] = 0;
    give_back();
    if (qemu_log.at >= LOG_ROOM)
        fprintf(stderr,
                "pugmark: QEMU's log of exceptions is full: the path lacks all that follow; "
                "record less with --limit\n");
    return qemu_log.line;
}

void log_back(void)
{
    qemu_log.at = qemu_log.before;
}
