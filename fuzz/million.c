// SPDX-License-Identifier: MIT
/**
 * @file The whole command on damaged inputs, hundreds a second: it is this program.
 *
 *     million_COMMAND SUBJECTS FROM COUNT   the inputs with the seeds from FROM on
 *     million_COMMAND SUBJECTS SEED         one, which is left there; says the command
 *
 * SUBJECTS is a folder of folders, which this program changes. Each is a snapshot, or has a file
 * "arguments" with the words that stand for an input. A seed chooses one, which of its files is
 * damaged and how, what is asked for, and with which options. That is done twice, on one and on
 * several threads. A finding is: an end by a signal or by a sanitizer, another exit code than the
 * documented ones, more time than there is, more memory than is promised, a file that is left
 * (open, or in the folder), a leak, or a difference between threads.
 *
 * Inputs are taken in lots. A process that is forked for a lot runs the command's main() for one
 * after another, and looks for leaks when all are done (to look costs more than most commands).
 * Whatever is wrong in a lot is looked at again with a process for each run.
 */
#define _GNU_SOURCE /* MAP_ANONYMOUS, realpath() */
#include "damage.h"
#include "million_library.h"
#include "million_run.h"

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define ROOM       ((size_t)1 << 18)
#define MOST_FILES 64
#define SECONDS(size)                                                                              \
    (30 + (unsigned)((size) >> 8))    /**< for an input of so many bytes, with sanitizers */
#define MOST_MEMORY ((long)512 << 10) /**< in KiB */
#define LOT         500u
#define ENDED_EARLY 77 /**< a lot's process: something is wrong with the input that it was at */
#define LEAKED      78

int __wrap_main(int argc, char **argv);

#ifdef MILLION_LISTER
static const char *const commands[] = {
    "-decode",           "-decode -stats",         "-decode -multi_session",
    "-decode -halt_err", "-pkt_mon -o_raw_packed", "-decode -tpiu",
    "-decode_only",      "-decode -test_waits 9",  "-decode -range_cont -src_addr_n"};
static const char *const options[] = {"-id #",           "-src_name buffer_0", "-o_raw_unpacked",
                                      "-o_raw_packed",   "-dstream_format",    "-tpiu_hsync",
                                      "-direct_br_cond", "-strict_br_cond",    "-range_cont",
                                      "-halt_err",       "-aa64_opcode_chk",   "-src_addr_n",
                                      "-no_time_print",  "-profile",           "-stats"};
static const char *const threads[] = {""}; /* it has one */
static const char input_words[] = "-logstdout -ss_dir .";
#define PROGRAM "trc_pkt_lister"
#elif defined(MILLION_PLANTED)
static const char *const commands[] = {"fine",      "crash",  "overflow",   "hang",
                                       "undefined", "memory", "difference", "descriptor",
                                       "code",      "file",   "leak",       "fine"};
static const char *const options[] = {""};
static const char *const threads[] = {"--jobs 1", "--jobs 3"};
static const char input_words[] = ".";
#define PROGRAM "planted"
#undef SECONDS
#define SECONDS(size) 1
#else
static const char *const commands[] = {
    "list",
    "list --packets --elements",
    "list --format csv",
    "list --format jsonl --packets",
    "list --by-time",
    "list --around 1000 --count 9",
    "pc",
    "pc --by-thread",
    "stat --packets --json",
    "info",
    "calls",
    "calls --summary",
    "trace --ranges --last 30",
    "trace --ranges --format jsonl",
    "profile",
    "profile --output made",
    "profile --format folded --stacks",
    "profile --format callgrind",
    "profile --format pprof --output made",
    "coverage --format lcov",
    "coverage --format json",
    "timeline --output made",
    "timeline --format speedscope",
    "report --output made",
    "index --rebuild --output made --block 1024",
    "index --rebuild --full --elements --output made",
    "find --sync",
    "find --context 1 --after 100",
    "itm",
};
/* Not --sandbox, which is for all that a process does: it is one for many runs. Nor --reference,
   with which it matters how large the pieces of a trace are. */
static const char *const options[] = {
    "--source #",
    "--buffer buffer_0",
    "--buffer ETB_0",
    "--pid #",
    "--tid #",
    "--cpu #",
    "--comm paw",
    "--dso memory_0.bin",
    "--time #,#",
    "--core Cortex-A53",
    "--core Cortex-M33",
    "--core #",
    "--set TRCCONFIGR=#",
    "--set TRCIDR0=#",
    "--set TRCIDR8=#",
    "--set ETMCR=#",
    "--set xlen=#",
    "--set src_bits=#",
    "--set type_bits=#",
    "--set timestamp_bytes=#",
    "--set ADDR_WIDTH=#",
    "--set padding=auto",
    "--set isa=x86",
    "--transport coresight",
    "--transport plain",
    "--protocol etrace",
    "--image memory_0.bin@#",
    "--elf memory_0.bin@#",
    "--source-limit #",
    "--confine",
    "--from #",
    "--to #",
    "--from-time #",
    "--to-time #",
    "--around #",
    "--radius #",
    "--count #",
    "--limit #",
    "--block #",
    "--full",
    "--full-source #",
    "--elements",
    "--packets",
    "--after #",
    "--before #",
    "--last #",
    "--depth #",
    "--least #",
    "--rows #",
    "--stacks",
    "--weight cycles",
    "--format jsonl",
    "--format csv",
    "--clock #",
    "--port #",
    "--json",
    "--mangled",
    "--title #",
};
static const char *const threads[] = {"--quiet --expansion 1024 --jobs 1",
                                      "--quiet --expansion 1024 --jobs 3"};
static const char input_words[] = ".";
#define PROGRAM "pugmark"
#endif

struct subject {
    char path[1024];
    char files[MOST_FILES][256];
    size_t count;
};

/** The memory that the process of a lot shares with its parent. */
struct shared {
    char what[400];        /**< is wrong with it */
    uint64_t seed;         /**< that it is at */
    uint64_t runs;         /**< that were done */
    uint64_t threaded;     /**< of these: that several threads worked at */
    bool alone;            /**< a process for each run */
    uint8_t whole[ROOM];   /**< the file that is damaged, as it was */
    uint8_t damaged[ROOM]; /**< and as it is */
    struct million_runs library;
    char path[1300]; /**< where that is */
    size_t size;
};

struct trial {
    char *folder;
    struct runner *runner;
    struct shared *shared;
};

/* ---- subjects ---- */

static _Noreturn void fail(const char *what)
{
    perror(what);
    exit(2);
}

static void need(bool good, const char *what)
{
    if (!good)
        fail(what);
}

static int by_name(const void *a, const void *b)
{
    return strcmp(a, b);
}

static bool begins(const char *text, const char *with)
{
    return strncmp(text, with, strlen(with)) == 0;
}

__attribute__((returns_nonnull)) static DIR *open_folder(const char *path)
{
    DIR *folder = opendir(path);
    if (!folder)
        fail(path);
    return folder;
}

/** Names in a folder, sorted, so that seeds mean the same everywhere. */
static size_t names_in(const char *path, char names[MOST_FILES][256])
{
    DIR *folder = open_folder(path);
    struct dirent *entry;
    size_t count = 0;
    while ((entry = readdir(folder)) != NULL && count < MOST_FILES)
        if (entry->d_name[0] != '.')
            snprintf(names[count++], sizeof(names[0]), "%s", entry->d_name);
    closedir(folder);
    qsort(names, count, sizeof(names[0]), by_name);
    return count;
}

static bool is_file(const char *folder, const char *name)
{
    char path[1300];
    struct stat status;
    snprintf(path, sizeof(path), "%.1023s/%.255s", folder, name);
    return stat(path, &status) == 0 && S_ISREG(status.st_mode);
}

static void open_subject(struct subject *subject, const char *folder, uint64_t seed)
{
    char names[MOST_FILES][256];
    const size_t count = names_in(folder, names);
    if (count == 0)
        fail(folder);
    snprintf(subject->path, sizeof(subject->path), "%s/%s", folder, names[seed % count]);
    subject->count = 0;
    char found[MOST_FILES][256];
    const size_t all = names_in(subject->path, found);
    for (size_t i = 0; i < all; i++)
        if (is_file(subject->path, found[i]))
            memcpy(subject->files[subject->count++], found[i], sizeof(found[i]));
}

static size_t load(const char *path, uint8_t *bytes, size_t room)
{
    const int file = open(path, O_RDONLY | O_CLOEXEC);
    const ssize_t size = file < 0 ? -1 : read(file, bytes, room);
    need(size >= 0, path);
    close(file);
    return (size_t)size;
}

static void store(const char *path, const uint8_t *bytes, size_t size)
{
    const int file = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    need(file >= 0 && write(file, bytes, size) == (ssize_t)size, path);
    close(file);
}

/** Three times of four a trace, else any of its files. */
static const char *choose_file(const struct subject *subject, struct rec_random *random)
{
    const bool any = rec_random_once_in(random, 4);
    for (;;) {
        const char *name = subject->files[rec_random_below(random, (uint32_t)subject->count)];
        const bool trace = begins(name, "trace") && !strstr(name, ".ini");
        if (strcmp(name, "arguments") != 0 && strcmp(name, "path") != 0 && (any || trace))
            return name;
    }
}

/** Most inputs are short, so that there can be many; where a trace begins is seen most often. */
static size_t window(uint8_t *bytes, size_t size, struct rec_random *random)
{
    const size_t most = (size_t)128 << rec_random_below(random, 6);
    if (size <= most)
        return size;
    if (rec_random_once_in(random, 2)) {
        const size_t from = rec_random_below(random, (uint32_t)(size - most)) & ~(size_t)15;
        memmove(bytes, bytes + from, most);
    }
    return most;
}

/* ---- one input ---- */

static const char *wrong(const struct done *done)
{
    if (WIFSIGNALED(done->status))
        return WTERMSIG(done->status) == SIGALRM || WTERMSIG(done->status) == SIGPROF
                   ? "takes too long"
                   : "is ended by a signal";
#ifdef MILLION_LISTER
    const bool known = WEXITSTATUS(done->status) <= 4 || WEXITSTATUS(done->status) >= 254;
#else
    const bool known = WEXITSTATUS(done->status) <= 4;
#endif
    if (!known)
        return "ends with what no exit code is";
    if (done->left)
        return "leaves a file open";
    return done->memory > MOST_MEMORY ? "takes too much memory" : NULL;
}

static void tell(struct shared *shared, const struct run *run, const char *what,
                 const struct done *done)
{
    char text[3000];
    snprintf(shared->what, sizeof(shared->what), "%s: %s", run->line, what);
    if (!shared->alone)
        return; /* it is looked at again, alone */
    const ssize_t size = pread(done->said, text, sizeof(text) - 1, 0);
    text[size > 0 ? size : 0] = 0;
    printf("seed %llu, %s, %s: %s (status %d, %ld KiB)\n%s\n", (unsigned long long)shared->seed,
           run->folder, run->line, what, done->status, done->memory, text);
    fflush(stdout);
}

static void line_of(char *line, size_t room, const struct subject *subject, const char *command,
                    unsigned way)
{
    char path[1100];
    uint8_t words[400] = {0};
    snprintf(path, sizeof(path), "%s/arguments", subject->path);
    if (access(path, R_OK) == 0)
        load(path, words, sizeof(words) - 1);
    else
        snprintf((char *)words, sizeof(words), "%s", input_words);
    snprintf(line, room, "%s %s %s", command, threads[way], (const char *)words);
}

/** How many files a folder has, whatever they are called. */
static unsigned files_in(const char *path)
{
    DIR *folder = open_folder(path);
    unsigned count = 0;
    while (readdir(folder))
        count++;
    closedir(folder);
    return count;
}

static struct done run_once(const struct trial *trial, const struct run *run)
{
    struct shared *shared = trial->shared;
    million_runs->most = 0;
    const struct done done =
        shared->alone ? run_alone(trial->runner, run) : run_here(trial->runner, run);
    shared->runs++;
    shared->threaded += million_runs->most > 1;
    return done;
}

static bool compare(const struct trial *trial, const struct subject *subject, const char *command,
                    unsigned seconds)
{
    char line[1024];
    struct run run = {PROGRAM, line, subject->path, seconds};
    uint64_t first = 0;
    const char *what = NULL;
    const unsigned files = files_in(subject->path);
    million_runs->plain = trial->shared->seed % 4 == 0;
    million_runs->piece = 64u << trial->shared->seed % 4;
    for (unsigned way = 0; way < sizeof(threads) / sizeof(threads[0]) && !what; way++) {
        line_of(line, sizeof(line), subject, command, way);
        const struct done done = run_once(trial, &run);
        what = wrong(&done);
        if (!what && files_in(subject->path) != files)
            what = "leaves a file";
        if (!what && way > 0 && done.hash != first && !begins(command, "stat")) /* has the time */
            what = "is not what one thread gives";
        first = done.hash;
        if (what)
            tell(trial->shared, &run, what, &done);
    }
    return !what;
}

/** Of seeds that follow each other nothing alike (the last step of splitmix64). */
static uint64_t mixed(uint64_t seed)
{
    uint64_t x = (seed + 1) * UINT64_C(0x9E3779B97F4A7C15);
    x = (x ^ (x >> 30)) * UINT64_C(0xBF58476D1CE4E5B9);
    x = (x ^ (x >> 27)) * UINT64_C(0x94D049BB133111EB);
    return x ^ (x >> 31);
}

/** A number as it stands in an option: at what readers stumble over, or any. */
static uint64_t some_number(struct rec_random *random)
{
    static const uint64_t usual[] = {0,    1,    2,     3,          7,          8,         16,
                                     17,   31,   32,    63,         64,         100,       255,
                                     1000, 1024, 65535, 0x7fffffff, 0xffffffff, UINT64_MAX};
    return rec_random_once_in(random, 3)
               ? rec_random(random) >> rec_random_below(random, 64)
               : usual[rec_random_below(random, sizeof(usual) / sizeof(usual[0]))];
}

/** The command, with up to three options added in half of the cases; each # is a number. */
static void add_options(char *line, size_t room, const char *command, struct rec_random *random)
{
    size_t at = (size_t)snprintf(line, room, "%s", command);
    unsigned count =
        *options[0] && rec_random_once_in(random, 2) ? 1 + rec_random_below(random, 3) : 0;
    for (; count > 0 && at + 100 < room; count--) {
        const char *word = options[rec_random_below(random, sizeof(options) / sizeof(options[0]))];
        line[at++] = ' ';
        for (; *word && at + 30 < room; word++)
            if (*word == '#')
                at += (size_t)snprintf(line + at, room - at, "%llu",
                                       (unsigned long long)some_number(random));
            else
                line[at++] = *word;
        line[at] = '\0';
    }
}

static bool try_seed(const struct trial *trial, uint64_t seed, bool keep)
{
    struct subject subject;
    struct shared *shared = trial->shared;
    uint8_t *bytes = shared->damaged;
    struct rec_random random = {.state = mixed(seed)};
    shared->seed = seed;
    shared->what[0] = 0;
    open_subject(&subject, trial->folder, seed);
    const char *name = choose_file(&subject, &random);
    char command[512];
    add_options(command, sizeof(command),
                commands[rec_random_below(&random, sizeof(commands) / sizeof(commands[0]))],
                &random);
    snprintf(shared->path, sizeof(shared->path), "%s/%s", subject.path, name);
    const size_t size = shared->size = load(shared->path, shared->whole, ROOM);
    memcpy(bytes, shared->whole, size);
    const size_t some =
        begins(name, "trace") && !strstr(name, ".ini") ? window(bytes, size, &random) : size;
    const size_t damaged = fuzz_damage(bytes, some, ROOM, &random);
    store(shared->path, bytes, damaged);
    if (keep)
        printf("%s: %s\n", shared->path, command);
    const bool good = compare(trial, &subject, command, SECONDS(damaged));
    if (!keep)
        store(shared->path, shared->whole, size);
    return good;
}

/* ---- lots ---- */

static bool try_alone(const struct trial *trial, uint64_t seed, bool keep)
{
    trial->shared->alone = true;
    const bool good = try_seed(trial, seed, keep);
    trial->shared->alone = false;
    return good;
}

static _Noreturn void be_lot(const struct trial *trial, uint64_t from, uint64_t to)
{
    for (uint64_t seed = from; seed < to; seed++)
        if (!try_seed(trial, seed, false))
            _exit(ENDED_EARLY);
    _exit(runner_leaks(trial->runner) ? LEAKED : 0);
}

/** It was wrong among others: what is it alone? */
static unsigned look_again(const struct trial *trial, uint64_t from, uint64_t seed, int status)
{
    char what[sizeof(trial->shared->what)];
    snprintf(what, sizeof(what), "%s", trial->shared->what[0] ? trial->shared->what : "it ends");
    if (!try_alone(trial, seed, false))
        return 1;
    printf("seed %llu, %s: %s, only after those from %llu on (status %d)\n",
           (unsigned long long)seed, trial->shared->path, what, (unsigned long long)from, status);
    return 1;
}

static unsigned find_leak(const struct trial *trial, uint64_t from, uint64_t to)
{
    unsigned bad = 0;
    for (uint64_t seed = from; seed < to; seed++)
        bad += !try_alone(trial, seed, false);
    if (bad == 0)
        printf("seed %llu and those after it leak together\n", (unsigned long long)from);
    return bad ? bad : 1;
}

/** How many of the inputs were bad. */
static unsigned try_lot(const struct trial *trial, uint64_t from, uint64_t to)
{
    int status = 0;
    unsigned bad = 0;
    while (from < to) {
        fflush(stdout); /* or the child would write it, too */
        const pid_t child = fork();
        need(child >= 0, "fork");
        if (child == 0)
            be_lot(trial, from, to);
        need(waitpid(child, &status, 0) == child, "waitpid");
        if (status == 0)
            return bad;
        const uint64_t at = trial->shared->seed;
        if (WIFEXITED(status) && WEXITSTATUS(status) == LEAKED)
            return bad + find_leak(trial, from, to);
        store(trial->shared->path, trial->shared->whole, trial->shared->size);
        bad += look_again(trial, from, at, status);
        bad += try_lot(trial, from, at); /* for leaks: the results are not checked */
        from = at + 1;
    }
    return bad;
}

int __wrap_main(int argc, char **argv)
{
    struct trial trial;
    if (argc < 3 || !(trial.folder = realpath(argv[1], NULL))) {
        fprintf(stderr, "usage: %s SUBJECTS FROM [COUNT]\n", argv[0]);
        return 2;
    }
    /* A process does many runs: the sandbox of the first would be that of all. */
    setenv("PUGMARK_LANDLOCK", "0", 1);
    trial.shared = mmap(NULL, sizeof(*trial.shared), PROT_READ | PROT_WRITE,
                        MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    need(trial.shared != MAP_FAILED, "memory");
    million_runs = &trial.shared->library;
    million_warm_up();
    trial.runner = runner_new();
    const uint64_t from = strtoull(argv[2], NULL, 0);
    const uint64_t end = from + (argc > 3 ? strtoull(argv[3], NULL, 0) : 1);
    unsigned bad = 0;
    if (argc == 3)
        bad = !try_alone(&trial, from, true);
    for (uint64_t at = from; at < end && argc > 3; at += LOT)
        bad += try_lot(&trial, at, at + LOT < end ? at + LOT : end);
    printf("%u of %llu; %llu runs, %llu of them on several threads\n", bad,
           (unsigned long long)(end - from), (unsigned long long)trial.shared->runs,
           (unsigned long long)trial.shared->threaded);
    runner_free(trial.runner);
    free(trial.folder);
    return bad ? 1 : 0;
}
