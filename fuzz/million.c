// SPDX-License-Identifier: MIT
/**
 * @file The whole command on damaged inputs, many a second: it is this program, which forks for
 * each of them.
 *
 *     million_COMMAND SUBJECTS FROM COUNT   the inputs with the seeds from FROM on
 *     million_COMMAND SUBJECTS SEED         one, which is left there; says the command
 *
 * SUBJECTS is a folder of folders, which this program changes. Each is a snapshot, or has a file
 * "arguments" with the words that stand for an input. A seed chooses one, which of its files is
 * damaged and how, and what is asked for. That is done twice, on one and on several threads. A
 * finding is: an end by a signal or by a sanitizer, another exit code than the documented ones,
 * more time than there is, more memory than is promised, or a difference between threads.
 */
#define _GNU_SOURCE /* memfd_create(), wait4() */
#include "damage.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define ROOM       ((size_t)1 << 18)
#define MOST_FILES 64
#define MOST_WORDS 40
#define SECONDS(size)                                                                              \
    (30 + (unsigned)((size) >> 8))    /**< for an input of so many bytes, with sanitizers */
#define MOST_MEMORY ((long)512 << 10) /**< in KiB */

int __real_main(int argc, char **argv);
int __wrap_main(int argc, char **argv);

#ifdef MILLION_LISTER
static const char *const commands[] = {
    "-decode",           "-decode -stats",         "-decode -multi_session",
    "-decode -halt_err", "-pkt_mon -o_raw_packed", "-decode -tpiu",
    "-decode_only",      "-decode -test_waits 9",  "-decode -range_cont -src_addr_n"};
static const char *const threads[] = {""}; /* it has one */
static const char input_words[] = "-logstdout -ss_dir .";
#define PROGRAM "trc_pkt_lister"
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
static const char *const threads[] = {"--quiet --expansion 1024 --jobs 1",
                                      "--quiet --expansion 1024 --jobs 3"};
static const char input_words[] = ".";
#define PROGRAM "pugmark"
#endif

struct subject {
    char path[512];
    char files[MOST_FILES][256];
    size_t count;
};

struct done {
    int status;
    long memory;
    uint64_t hash;
    int said; /**< what it said, as a file */
};

/* ---- subjects ---- */

static void need(bool good, const char *what)
{
    if (good)
        return;
    perror(what);
    exit(2);
}

static int by_name(const void *a, const void *b)
{
    return strcmp(a, b);
}

static bool begins(const char *text, const char *with)
{
    return strncmp(text, with, strlen(with)) == 0;
}

/** Names in a folder, sorted, so that seeds mean the same everywhere. */
static size_t names_in(const char *path, char names[MOST_FILES][256])
{
    DIR *folder = opendir(path);
    struct dirent *entry;
    size_t count = 0;
    need(folder != NULL, path);
    while ((entry = readdir(folder)) != NULL && count < MOST_FILES)
        if (entry->d_name[0] != '.')
            snprintf(names[count++], sizeof(names[0]), "%s", entry->d_name);
    closedir(folder);
    qsort(names, count, sizeof(names[0]), by_name);
    return count;
}

static void open_subject(struct subject *subject, const char *folder, uint64_t seed)
{
    static char names[MOST_FILES][256];
    const size_t count = names_in(folder, names);
    need(count > 0, folder);
    snprintf(subject->path, sizeof(subject->path), "%s/%s", folder, names[seed % count]);
    subject->count = names_in(subject->path, subject->files);
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
    const size_t most = (size_t)256 << rec_random_below(random, 7);
    if (size <= most)
        return size;
    if (rec_random_once_in(random, 2)) {
        const size_t from = rec_random_below(random, (uint32_t)(size - most)) & ~(size_t)15;
        memmove(bytes, bytes + from, most);
    }
    return most;
}

/* ---- one run ---- */

static int split(char *text, char **words, int count)
{
    char *rest = NULL;
    for (char *word = strtok_r(text, " \n", &rest); word && count < MOST_WORDS - 1;
         word = strtok_r(NULL, " \n", &rest))
        words[count++] = word;
    words[count] = NULL;
    return count;
}

static _Noreturn void be_command(const struct subject *subject, char *line, int out, int said,
                                 unsigned seconds)
{
    char name[] = PROGRAM, *words[MOST_WORDS] = {name};
    const int count = split(line, words, 1);
    const int nothing = open("/dev/null", O_RDONLY | O_CLOEXEC);
    need(chdir(subject->path) == 0 && dup2(nothing, 0) == 0 && dup2(out, 1) == 1 &&
             dup2(said, 2) == 2,
         subject->path);
    alarm(seconds);
    exit(__real_main(count, words));
}

static uint64_t hash_file(uint64_t hash, int file)
{
    struct stat status;
    if (fstat(file, &status) != 0 || status.st_size == 0)
        return hash;
    const uint8_t *bytes = mmap(NULL, (size_t)status.st_size, PROT_READ, MAP_SHARED, file, 0);
    need(bytes != MAP_FAILED, "output");
    for (off_t i = 0; i < status.st_size; i++)
        hash = (hash ^ bytes[i]) * UINT64_C(1099511628211);
    munmap((void *)(uintptr_t)bytes, (size_t)status.st_size);
    return hash + (uint64_t)status.st_size;
}

/** What the command wrote beside standard output; it is removed. */
static uint64_t hash_made(uint64_t hash, const struct subject *subject)
{
    char path[600];
    snprintf(path, sizeof(path), "%s/made", subject->path);
    const int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0)
        return hash;
    hash = hash_file(hash + 1, file);
    close(file);
    unlink(path);
    return hash;
}

static struct done run(const struct subject *subject, const char *line, unsigned seconds)
{
    char copy[1024];
    struct rusage usage;
    struct done done = {.said = memfd_create("said", MFD_CLOEXEC)};
    const int out = memfd_create("out", MFD_CLOEXEC);
    need(done.said >= 0 && out >= 0, "memfd_create");
    snprintf(copy, sizeof(copy), "%s", line);
    const pid_t child = fork();
    need(child >= 0, "fork");
    if (child == 0)
        be_command(subject, copy, out, done.said, seconds);
    need(wait4(child, &done.status, 0, &usage) == child, "wait4");
    done.memory = usage.ru_maxrss;
    done.hash = hash_made(hash_file(hash_file((uint64_t)done.status, done.said), out), subject);
    close(out);
    return done;
}

/* ---- one input ---- */

static const char *wrong(const struct done *done)
{
    if (WIFSIGNALED(done->status))
        return WTERMSIG(done->status) == SIGALRM ? "takes too long" : "is ended by a signal";
#ifdef MILLION_LISTER
    const bool known = WEXITSTATUS(done->status) <= 4 || WEXITSTATUS(done->status) >= 254;
#else
    const bool known = WEXITSTATUS(done->status) <= 4;
#endif
    if (!known)
        return "ends with what no exit code is";
    return done->memory > MOST_MEMORY ? "takes too much memory" : NULL;
}

static void tell(uint64_t seed, const struct subject *subject, const char *line, const char *what,
                 const struct done *done)
{
    char text[3000];
    const ssize_t size = pread(done->said, text, sizeof(text) - 1, 0);
    text[size > 0 ? size : 0] = 0;
    printf("seed %llu, %s, %s: %s (status %d, %ld KiB)\n%s\n", (unsigned long long)seed,
           subject->path, line, what, done->status, done->memory, text);
    fflush(stdout);
}

static void line_of(char *line, size_t room, const struct subject *subject, const char *command,
                    unsigned way)
{
    char path[600];
    uint8_t words[400] = {0};
    snprintf(path, sizeof(path), "%s/arguments", subject->path);
    if (access(path, R_OK) == 0)
        load(path, words, sizeof(words) - 1);
    else
        snprintf((char *)words, sizeof(words), "%s", input_words);
    snprintf(line, room, "%s %s %s", command, threads[way], (const char *)words);
}

static bool compare(uint64_t seed, const struct subject *subject, const char *command,
                    unsigned seconds)
{
    char line[1024];
    struct done done[2] = {{.said = -1}, {.said = -1}};
    const char *what = NULL;
    for (unsigned way = 0; way < sizeof(threads) / sizeof(threads[0]); way++) {
        line_of(line, sizeof(line), subject, command, way);
        done[way] = run(subject, line, seconds);
        what = wrong(&done[way]);
        if (what)
            tell(seed, subject, line, what, &done[way]);
        if (what)
            break;
        if (way == 1 && done[0].hash != done[1].hash &&
            !begins(command, "stat")) /* tells the time */
            tell(seed, subject, line, what = "is not what one thread gives", &done[1]);
    }
    for (unsigned way = 0; way < 2; way++)
        close(done[way].said);
    return !what;
}

static bool try_seed(uint64_t seed, const char *folder, bool keep)
{
    static uint8_t whole[ROOM], bytes[ROOM];
    struct subject subject;
    struct rec_random random = {.state = seed * UINT64_C(0x9E3779B97F4A7C15)};
    char path[800];
    open_subject(&subject, folder, seed);
    const char *name = choose_file(&subject, &random);
    const char *command =
        commands[rec_random_below(&random, sizeof(commands) / sizeof(commands[0]))];
    snprintf(path, sizeof(path), "%s/%s", subject.path, name);
    const size_t size = load(path, whole, ROOM);
    memcpy(bytes, whole, size);
    const size_t some =
        begins(name, "trace") && !strstr(name, ".ini") ? window(bytes, size, &random) : size;
    const size_t damaged = fuzz_damage(bytes, some, ROOM, &random);
    store(path, bytes, damaged);
    if (keep)
        printf("%s: %s\n", path, command);
    const bool good = compare(seed, &subject, command, SECONDS(damaged));
    if (!keep)
        store(path, whole, size);
    return good;
}

int __wrap_main(int argc, char **argv)
{
    if (argc < 3) {
        fprintf(stderr, "usage: %s SUBJECTS FROM [COUNT]\n", argv[0]);
        return 2;
    }
    const uint64_t from = strtoull(argv[2], NULL, 0);
    const uint64_t count = argc > 3 ? strtoull(argv[3], NULL, 0) : 1;
    uint64_t bad = 0;
    for (uint64_t seed = from; seed < from + count; seed++)
        bad += !try_seed(seed, argv[1], argc == 3);
    printf("%llu of %llu\n", (unsigned long long)bad, (unsigned long long)count);
    return bad ? 1 : 0;
}
