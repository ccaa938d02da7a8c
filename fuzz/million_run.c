// SPDX-License-Identifier: MIT
#define _GNU_SOURCE /* memfd_create(), wait4() */
#include "million_run.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#define MOST_WORDS 40
#define SIGNALS    32
/* Linux: a page that no other process has, in a word of /proc/self/pagemap. */
#define OWN_PAGE (UINT64_C(1) << 56)

int __real_main(int argc, char **argv);
/* Only where there is a sanitizer that has it. */
__attribute__((weak)) int __lsan_do_recoverable_leak_check(void);

/* Static variables of the program, those of the sanitizers' libraries not among them. */
extern char __data_start[], _end[];

struct runner {
    int out, said, err, nothing, peak, pages, statics;
    uintptr_t page, from; /**< how long one is, and the first of the static variables */
    size_t count;
    struct sigaction signals[SIGNALS];
    uint64_t *map;
};

static void need(bool good, const char *what)
{
    if (good)
        return;
    perror(what);
    exit(2);
}

/* ---- what a run finds ---- */

/** The sanitizer does not see these reads and writes, which go over its own margins, too. */
static bool copy_statics(const struct runner *runner, long call, uintptr_t at, size_t size)
{
    const off_t offset = (off_t)(at - runner->from);
    return syscall(call, runner->statics, at, size, offset) == (long)size;
}

struct runner *runner_new(void)
{
    struct runner *runner = calloc(1, sizeof(*runner));
    need(runner != NULL, "memory");
    runner->page = (uintptr_t)sysconf(_SC_PAGESIZE);
    runner->from = (uintptr_t)__data_start & ~(runner->page - 1);
    runner->count = ((uintptr_t)_end - runner->from + runner->page - 1) / runner->page;
    runner->map = calloc(runner->count, sizeof(*runner->map));
    runner->out = memfd_create("out", MFD_CLOEXEC);
    runner->said = memfd_create("said", MFD_CLOEXEC);
    runner->statics = memfd_create("statics", MFD_CLOEXEC);
    runner->err = fcntl(2, F_DUPFD_CLOEXEC, 3);
    runner->nothing = open("/dev/null", O_RDONLY | O_CLOEXEC);
    need(runner->map && runner->out >= 0 && runner->said >= 0 && runner->nothing >= 0, "memory");
    for (int i = 1; i < SIGNALS; i++)
        sigaction(i, NULL, &runner->signals[i]);
    need(copy_statics(runner, SYS_pwrite64, runner->from, (uintptr_t)_end - runner->from),
         "static variables");
    return runner;
}

void runner_free(struct runner *runner)
{
    close(runner->out);
    close(runner->said);
    close(runner->statics);
    close(runner->err);
    close(runner->nothing);
    free(runner->map);
    free(runner);
}

/** This process's own; of the one that it was forked from they would say nothing. */
static void open_self(struct runner *runner)
{
    if (runner->pages > 0)
        return;
    runner->pages = open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC);
    runner->peak = open("/proc/self/clear_refs", O_WRONLY | O_CLOEXEC);
    need(runner->pages > 0 && runner->peak > 0, "/proc/self");
}

/** Who wrote to a page has one of its own: only these are looked at. */
static void restore_statics(struct runner *runner)
{
    const uintptr_t end = (uintptr_t)_end;
    const size_t size = runner->count * sizeof(*runner->map);
    const off_t offset = (off_t)(runner->from / runner->page * sizeof(*runner->map));
    need(syscall(SYS_pread64, runner->pages, runner->map, size, offset) == (long)size, "pagemap");
    for (size_t i = 0; i < runner->count; i++) {
        const uintptr_t at = runner->from + i * runner->page;
        const size_t some = end - at < runner->page ? end - at : runner->page;
        if (runner->map[i] & OWN_PAGE)
            need(copy_statics(runner, SYS_pread64, at, some), "static variables");
    }
}

static void restore_signals(const struct runner *runner)
{
    for (int i = 1; i < SIGNALS; i++)
        if (i != SIGKILL && i != SIGSTOP)
            sigaction(i, &runner->signals[i], NULL);
}

static void empty(int file)
{
    need(ftruncate(file, 0) == 0 && lseek(file, 0, SEEK_SET) == 0, "output");
}

static void prepare(struct runner *runner, const struct run *run)
{
    empty(runner->out);
    empty(runner->said);
    need(chdir(run->folder) == 0 && dup2(runner->nothing, 0) == 0 && dup2(runner->out, 1) == 1 &&
             dup2(runner->said, 2) == 2,
         run->folder);
    /* Of the processor; where others have it, or a thread waits for ever, much longer of the clock.
     */
    const struct itimerval most = {.it_value = {.tv_sec = run->seconds}};
    setitimer(ITIMER_PROF, &most, NULL);
    alarm(run->seconds * 30);
}

static int command(const struct run *run)
{
    char copy[1024], *words[MOST_WORDS], *rest = NULL;
    int count = 0;
    snprintf(copy, sizeof(copy), "%s %s", run->program, run->line);
    for (char *word = strtok_r(copy, " \n", &rest); word && count < MOST_WORDS - 1;
         word = strtok_r(NULL, " \n", &rest))
        words[count++] = word;
    words[count] = NULL;
    return __real_main(count, words);
}

/* ---- what it leaves ---- */

static uint64_t hash_file(uint64_t hash, int file)
{
    struct stat status;
    if (fstat(file, &status) != 0 || status.st_size == 0)
        return hash;
    const size_t size = (size_t)status.st_size;
    uint8_t *bytes = mmap(NULL, size, PROT_READ, MAP_SHARED, file, 0);
    need(bytes != MAP_FAILED, "output");
    uint64_t word;
    size_t i = 0;
    for (; i + sizeof(word) <= size; i += sizeof(word)) {
        memcpy(&word, bytes + i, sizeof(word));
        hash = (hash ^ word) * UINT64_C(1099511628211);
        hash ^= hash >> 29;
    }
    for (; i < size; i++)
        hash = (hash ^ bytes[i]) * UINT64_C(1099511628211);
    munmap(bytes, size);
    return hash + size;
}

/** The hash of files that the command wrote; they are removed. */
static uint64_t hash_made(uint64_t hash, const char *folder, const char *name)
{
    char path[1100];
    snprintf(path, sizeof(path), "%s/%s", folder, name);
    const int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0)
        return hash;
    hash = hash_file(hash + 1, file);
    close(file);
    unlink(path);
    return hash;
}

static void hash_all(struct done *done, const struct runner *runner, const char *folder)
{
    const uint64_t begun = (uint64_t)done->status;
    done->said = runner->said;
    done->hash = hash_file(hash_file(begun, runner->said), runner->out);
    done->hash = hash_made(done->hash, folder, "made");
    done->hash = hash_made(done->hash, folder, "trc_pkt_lister.ppl");
}

struct done run_alone(struct runner *runner, const struct run *run)
{
    struct rusage usage;
    struct done done = {0};
    fflush(stdout); /* or the child would write it, too */
    const pid_t child = fork();
    need(child >= 0, "fork");
    if (child == 0) {
        prepare(runner, run);
        exit(command(run));
    }
    need(wait4(child, &done.status, 0, &usage) == child, "wait4");
    done.memory = usage.ru_maxrss;
    hash_all(&done, runner, run->folder);
    return done;
}

/** The number that the next file gets. */
static int next_file(const struct runner *runner)
{
    const int file = dup(runner->nothing);
    close(file);
    return file;
}

struct done run_here(struct runner *runner, const struct run *run)
{
    struct rusage usage;
    struct done done = {0};
    open_self(runner);
    prepare(runner, run);
    const int free_before = next_file(runner);
    need(write(runner->peak, "5", 1) == 1, "clear_refs"); /* the peak is now what it is now */
    done.status = (command(run) & 0xff) << 8;
    alarm(0);
    setitimer(ITIMER_PROF, &(struct itimerval){.it_value = {0}}, NULL);
    fflush(NULL);
    clearerr(stdout);
    clearerr(stderr);
    getrusage(RUSAGE_SELF, &usage);
    done.memory = usage.ru_maxrss;
    done.left = next_file(runner) != free_before;
    restore_signals(runner);
    restore_statics(runner);
    hash_all(&done, runner, run->folder);
    return done;
}

bool runner_leaks(const struct runner *runner)
{
    need(dup2(runner->err, 2) == 2, "standard error");
    return __lsan_do_recoverable_leak_check && __lsan_do_recoverable_leak_check() != 0;
}
