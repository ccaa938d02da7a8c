// SPDX-License-Identifier: MIT
/**
 * @file Each call of a program fails in turn, for tests/run/faults.sh. A process for each is forked
 * from here, before the program's own beginning: starting it from scratch would take longer than
 * its work.  In the current folder are made "out" and "said", what it put out and said; "made" is
 * what it makes, if it makes a file or folder.
 *
 * FAULT_TURNS is the program's name in messages. FAULT_KINDS says which kinds of calls fail, or how
 * many KB of data it may have. FAULT_SHARE says how many calls of each kind fail (0: all, each
 * alone and together with all later ones).
 */
#define _GNU_SOURCE
#include "shim.h"

#include <dirent.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static struct {
    const char *command;
    bool is_lister; /* its listing says what is wrong, and its exit code is the reference's */
    int code;       /* without a fault */
    atomic_long *count;
    long runs;
    bool bad;
} turns;

static void fail(const char *what)
{
    perror(what);
    _exit(2);
}

struct text {
    char *bytes;
    size_t size;
};

/* A zero follows it. */
static struct text whole(const char *path)
{
    struct text text = {0};
    struct stat status;
    const int file = open(path, O_RDONLY);
    if (file < 0 || fstat(file, &status) != 0 || !(text.bytes = malloc((size_t)status.st_size + 1)))
        fail(path);
    while (text.size < (size_t)status.st_size) {
        const ssize_t n = read(file, text.bytes + text.size, (size_t)status.st_size - text.size);
        if (n <= 0)
            fail(path);
        text.size += (size_t)n;
    }
    text.bytes[text.size] = 0;
    close(file);
    return text;
}

/* Without how long it took: lines that say so, and "seconds": …, */
static void settle(struct text *text)
{
    static const char field[] = "\"seconds\": ";
    char *to = text->bytes;
    for (char *at = text->bytes, *end = at + text->size, *line; at < end; at = line) {
        line = memchr(at, '\n', (size_t)(end - at));
        line = line ? line + 1 : end;
        char *word = memmem(at, (size_t)(line - at), "processed ", 10);
        if (word && memmem(word, (size_t)(line - word), " seconds", 8))
            continue;
        word = memmem(at, (size_t)(line - at), field, sizeof(field) - 1);
        char *comma = word ? memchr(word, ',', (size_t)(line - word)) : NULL;
        if (comma) {
            memmove(to, at, (size_t)(word - at));
            to += word - at;
            at = comma + 1;
        }
        memmove(to, at, (size_t)(line - at));
        to += line - at;
    }
    text->size = (size_t)(to - text->bytes);
}

static bool equal(const struct text *a, const struct text *b)
{
    return a->size == b->size && memcmp(a->bytes, b->bytes, a->size) == 0;
}

static bool same_output(const char *path, const char *other)
{
    struct text a = whole(path), b = whole(other);
    bool same = equal(&a, &b);
    if (!same) {
        settle(&a);
        settle(&b);
        same = equal(&a, &b);
    }
    free(a.bytes);
    free(b.bytes);
    return same;
}

static const char *const kept = "kept";

/* A file that is made is what was made without a fault. */
static int differs(const char *path, const struct stat *status, int type, struct FTW *walk)
{
    (void)walk;
    char other[4096];
    struct stat there;
    snprintf(other, sizeof(other), "%s%s", kept, path + strlen("made"));
    if (stat(other, &there) != 0 || (there.st_mode & S_IFMT) != (status->st_mode & S_IFMT))
        return 1;
    if (type != FTW_F)
        return 0;
    struct text a = whole(path), b = whole(other);
    const bool same = equal(&a, &b);
    free(a.bytes);
    free(b.bytes);
    return same ? 0 : 1;
}

static int put_away(const char *path, const struct stat *status, int type, struct FTW *walk)
{
    (void)status;
    (void)type;
    (void)walk;
    return remove(path);
}

static void clear(const char *path)
{
    if (access(path, F_OK) == 0 && nftw(path, put_away, 8, FTW_DEPTH | FTW_PHYS) != 0)
        fail(path);
}

struct fault {
    const char *name;
    enum fault_kind kind;
    long at, limit; /* 0: none */
    bool on;        /* all later ones, too */
};

/* Run with a fault; false in the process that does. `code` is how it ended. */
static bool run(const struct fault *fault, int *code)
{
    int status;
    clear("made");
    atomic_store(turns.count, 0);
    const pid_t child = fork();
    if (child < 0)
        fail("fork");
    if (child == 0) {
        const int out = open("out", O_WRONLY | O_CREAT | O_TRUNC, 0600);
        const int said = open("said", O_WRONLY | O_CREAT | O_TRUNC, 0600);
        const struct rlimit seconds = {120, 120},
                            data = {(rlim_t)fault->limit << 10, (rlim_t)fault->limit << 10};
        if (out < 0 || said < 0 || dup2(out, 1) < 0 || dup2(said, 2) < 0 ||
            setrlimit(RLIMIT_CPU, &seconds) != 0)
            fail("out");
        close(out);
        close(said);
        if (fault->limit && setrlimit(RLIMIT_DATA, &data) != 0)
            fail("limit");
        fault_ready(fault->kind, fault->at, fault->on, turns.count);
        return false;
    }
    if (waitpid(child, &status, 0) != child)
        fail("waitpid");
    *code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    return true;
}

/* Put away what is left. */
static bool leaves_temporary(void)
{
    static const char *const names[] = {"*.tmp*", "made.*", ".made*"};
    bool left = false;
    DIR *folder = opendir(".");
    if (!folder)
        fail("opendir");
    for (struct dirent *entry; (entry = readdir(folder));)
        for (unsigned i = 0; i < sizeof(names) / sizeof(names[0]); i++)
            if (fnmatch(names[i], entry->d_name, FNM_PERIOD) == 0) {
                left = true;
                clear(entry->d_name);
            }
    closedir(folder);
    return left;
}

static void wrong(const char *where, int code, const char *what)
{
    const struct text said = whole("said");
    char *line = said.bytes;
    for (char *at = line; (at = strchr(at, '\n')) && at[1]; at++)
        line = at + 1;
    line[strcspn(line, "\n")] = 0;
    printf("%s (%s): exit %d%s: %s\n", turns.command, where, code, what, line);
    fflush(stdout); /* a process that is begun would have it, too */
    free(said.bytes);
    turns.bad = true;
}

static bool says(const char *words)
{
    const struct text said = whole("said");
    const bool found = *words ? strstr(said.bytes, words) != NULL : said.size > 0;
    free(said.bytes);
    return found;
}

/* Checks what must not happen after a fault. */
static void check(int code, const char *where)
{
    const bool makes = access("made", F_OK) == 0, made = access(kept, F_OK) == 0;
    if (code > 4)
        wrong(where, code, "");
    else if (turns.is_lister)
        ;
    else if (code > 1 && !says(""))
        wrong(where, code, " without a message");
    else if (code <= turns.code && !same_output("out", "right"))
        wrong(where, code, " with other output");
    else if (code <= turns.code && made && !makes)
        wrong(where, code, " without a file");
    else if (makes && code != 1 &&
             !says("path: it needs too much memory") && /* what was recorded up to there stays */
             (!made || nftw("made", differs, 8, FTW_PHYS) != 0)) /* 1: all of what there was */
        wrong(where, code, ", and a file that is not whole");
    if (leaves_temporary())
        wrong(where, code, ", and a temporary file is left");
}

/* Run, and look at what came of it; false in the process that runs. */
static bool try(const struct fault *fault)
{
    char where[64];
    int code;
    if (!run(fault, &code))
        return false;
    if (fault->limit)
        snprintf(where, sizeof(where), "within %ld KB", fault->limit);
    else
        snprintf(where, sizeof(where), "%s %ld%s", fault->name, fault->at,
                 fault->on ? " and all behind it" : "");
    check(code, where);
    turns.runs++;
    return true;
}

/* Each call of a kind fails, or a share of them: this call alone, and also with all later ones; in
 * a share the two take turns. */
static bool try_calls(const char *name, long share)
{
    static bool turn;
    struct fault fault = {.name = name, .kind = fault_kind(name)};
    int code;
    if (fault.kind == FAULT_KINDS)
        fail(name);
    if (!run(&fault, &code))
        return false;
    const long number = atomic_load(turns.count), step = share ? number / share + 1 : 1;
    if (code != turns.code || !same_output("out", "right"))
        wrong(name, code, " without a fault");
    /* The first one alone, then from the midst of the first step on: another place in each run
     * would find more, and could not be found again. */
    for (fault.at = 1; fault.at <= number;) {
        const bool alone = !share || fault.at == 1 || turn;
        const bool on = !share || (fault.at == 1 ? step == 1 : !turn);
        for (int way = 0; way < 2; way++) {
            fault.on = way;
            if ((way ? on : alone) && !try(&fault))
                return false;
        }
        fault.at += fault.at == 1 && step > 2 ? (step - 1) / 2 : step;
        turn = !turn;
    }
    return true;
}

static bool try_limit(long limit)
{
    const struct fault fault = {.kind = FAULT_KINDS, .limit = limit};
    return try(&fault);
}

void fault_turns(const char *command)
{
    char *names = getenv("FAULT_KINDS"), *rest = NULL;
    const char *share = getenv("FAULT_SHARE");
    turns.command = command;
    turns.is_lister = strncmp(command, "trc_pkt_lister", 14) == 0;
    turns.count =
        mmap(NULL, sizeof(*turns.count), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (turns.count == MAP_FAILED || !names || !share)
        fail("FAULT_TURNS");
    clear(kept);
    if (!run(&(struct fault){.kind = FAULT_KINDS}, &turns.code))
        return;
    if (turns.code > 1)
        wrong("as it is", turns.code, " without a fault");
    if (rename("out", "right") != 0 || (access("made", F_OK) == 0 && rename("made", kept) != 0))
        fail("right");
    for (char *name = strtok_r(names, " ", &rest); name; name = strtok_r(NULL, " ", &rest))
        if (!(*name >= '0' && *name <= '9' ? try_limit(atol(name)) : try_calls(name, atol(share))))
            return;
    printf("%s: %ld runs\n", command, turns.runs);
    fflush(stdout);
    _exit(turns.bad);
}
