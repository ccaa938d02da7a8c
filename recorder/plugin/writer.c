// SPDX-License-Identifier: MIT
#include "writer.h"

#include "files/outfile.h"

#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define NOTICED 20000000 /* nanoseconds until a program's death is */

void writer_wait(sem_t *semaphore)
{
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_nsec += NOTICED;
    if (until.tv_nsec >= 1000000000) {
        until.tv_nsec -= 1000000000;
        until.tv_sec++;
    }
    sem_timedwait(semaphore, &until);
}

/** Who reads may be gone: then there is nothing to write for. The program must not notice. */
static bool write_all(int file, const uint8_t *bytes, size_t size)
{
    while (size > 0) {
        ssize_t wrote = write(file, bytes, size);
        if (wrote < 0 && errno == EINTR)
            continue;
        if (wrote < 0) {
            if (errno != EPIPE)
                perror("pugmark: cannot write the path");
            return false;
        }
        bytes += wrote;
        size -= (size_t)wrote;
    }
    return true;
}

static bool drain(struct shared *shared, int file)
{
    uint64_t taken = shared->taken, put;
    while ((put = shared->put) > taken) {
        size_t at = taken % SHARED_RING, size = (size_t)(put - taken);
        if (size > SHARED_RING - at)
            size = SHARED_RING - at;
        if (!write_all(file, shared->ring + at, size))
            return false;
        shared->taken = taken += size;
        sem_post(&shared->drained);
    }
    return true;
}

/** Write what a processor did since its events went into the ring. */
static bool write_tail(const struct shared *shared, int file, unsigned index)
{
    static uint8_t record[SHARED_EVENTS + 128];
    const struct shared_cpu *cpu = &shared->cpus[index];
    struct tail tail = tail_unpack(cpu->tail);
    uint8_t rest[32];
    size_t more = 0;
    if (cpu->sent && cpu->sent <= shared->put)
        tail.size = 0, tail.hits = 0;
    if (tail.cut != TAIL_WHOLE)
        more = put_event(rest, tail.hits, REC_EVENT_CUT, tail.cut);
    else if (tail.hits > 0)
        more = put_number(rest, tail.hits << 1);
    if (tail.size + more == 0)
        return true;
    size_t size = put_number(record, REC_PATH_EVENTS);
    size += put_number(record + size, index);
    size += put_number(record + size, cpu->began);
    size += put_number(record + size, tail.size + more);
    return write_all(file, record, size) && write_all(file, shared->events[index], tail.size) &&
           write_all(file, rest, more);
}

static bool write_end(const struct shared *shared, int file)
{
    static const uint8_t end = REC_PATH_END;
    for (unsigned i = 0; i < REC_PATH_CPUS; i++)
        if (!write_tail(shared, file, i))
            return false;
    return !shared->ended || write_all(file, &end, 1);
}

static void close_from(int first, int last)
{
#ifdef SYS_close_range
    if (first > last || syscall(SYS_close_range, first, last, 0) == 0)
        return;
#endif
    for (int i = first; i <= last && i < 1024; i++)
        close(i);
}

/** Keep nothing open that somebody may wait for, and hear no signal that is the program's. */
static void stand_alone(int file)
{
    setsid();
    prctl(PR_SET_NAME, "pugmark-path");
    for (int i = STDIN_FILENO; i < STDERR_FILENO; i++)
        if (i != file)
            close(i);
    close_from(STDERR_FILENO + 1, file - 1);
    close_from(file > STDERR_FILENO ? file + 1 : STDERR_FILENO + 1, INT_MAX);
}

/** True: all is written that there was. */
static bool run(struct shared *shared, int file, pid_t program)
{
    for (;;) {
        bool over = shared->ended || getppid() != program;
        if (!drain(shared, file))
            return false;
        if (over)
            return write_end(shared, file);
        writer_wait(&shared->filled);
    }
}

static void write_path(struct shared *shared, int file, struct pug_outfile *named,
                       const uint8_t *bytes, size_t size, pid_t program)
{
    stand_alone(file);
    const bool whole = write_all(file, bytes, size) && run(shared, file, program);
    if (named && !pug_outfile_settle(named, whole))
        perror("pugmark: cannot write the path");
    shared->gone = true;
    sem_post(&shared->drained);
}

pid_t writer_start(struct shared *shared, int file, struct pug_outfile *named, const uint8_t *bytes,
                   size_t size)
{
    sigset_t all, before;
    pid_t program = getpid();
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    /* fork(), but without what is to be done in forked programs, and without SIGCHLD at the end. */
    pid_t writer = (pid_t)syscall(SYS_clone, 0, 0, 0, 0, 0);
    if (writer == 0) {
        write_path(shared, file, named, bytes, size, program);
        _exit(0);
    }
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return writer;
}

bool writer_lives(pid_t writer, bool wait)
{
    int status;
    pid_t ended;
    do {
        ended = waitpid(writer, &status, __WCLONE | (wait ? 0 : WNOHANG));
    } while (ended < 0 && errno == EINTR);
    return ended == 0;
}
