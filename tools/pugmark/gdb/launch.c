// SPDX-License-Identifier: MIT
#define _XOPEN_SOURCE 700 /* realpath() */
#include "launch.h"

#include "common/command.h"
#include "common/messages.h"
#include "text/sink.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifdef _WIN32

int gdb_launch(const char *gdb, const char *operand, int words, char **argv)
{
    (void)gdb;
    (void)operand;
    (void)words;
    (void)argv;
    message_say("pugmark: gdb needs a POSIX system: on Windows run it in WSL\n");
    return EXIT_USAGE;
}

#else

#include <errno.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

/** A word for the shell by which GDB starts the server. */
static void quote(struct pug_sink *sink, const char *word)
{
    pug_sink_text(sink, " '");
    for (; *word; word++) {
        if (*word == '\'')
            pug_sink_text(sink, "'\\''");
        else
            pug_sink_put(sink, word, 1);
    }
    pug_sink_text(sink, "'");
}

/** This program's own path; it may be asked for by any name. */
static const char *own_path(const char *name, char *room, size_t size)
{
    const ssize_t count = readlink("/proc/self/exe", room, size - 1);
    if (count <= 0)
        return name;
    room[count] = 0;
    return room;
}

/** The unwinder and the commands for GDB: where it is installed, or beside the build. */
static bool find_script(const char *own, char *path, size_t size)
{
    static const char *const places[] = {"../share/pugmark/pugmark-gdb.py",
                                         "../../../tools/pugmark/gdb/pugmark-gdb.py",
                                         "../share/pugmark-gdb.py"};
    const char *slash = strrchr(own, '/');
    const char *chosen = getenv("PUGMARK_GDB_SCRIPT");
    if (chosen && snprintf(path, size, "%s", chosen) < (int)size)
        return access(path, R_OK) == 0;
    for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
        if (snprintf(path, size, "%.*s/%s", slash ? (int)(slash - own) : 1, slash ? own : ".",
                     places[i]) < (int)size &&
            access(path, R_OK) == 0)
            return true;
    }
    return false;
}

/** The command that GDB runs: this one, with the same options, but for those of its own. */
static char *make_target(const char *own, int words, char **argv)
{
    struct pug_memory text = {0};
    struct pug_sink sink = pug_memory_sink(&text);
    pug_sink_text(&sink, "target remote |");
    quote(&sink, own);
    pug_sink_text(&sink, " gdb --stdio --quiet");
    for (int i = 1; i < words; i++) {
        if (strcmp(argv[i], "--gdb") == 0)
            i++;
        else if (strncmp(argv[i], "--gdb=", 6) != 0)
            quote(&sink, argv[i]);
    }
    pug_sink_put(&sink, "", 1);
    if (text.failed) {
        free(text.bytes);
        return NULL;
    }
    return text.bytes;
}

/** The command by which GDB looks for source files beside the input; NULL: it has no such place. */
static char *make_directory(const char *operand)
{
    char *path = realpath(operand, NULL);
    struct pug_memory text = {0};
    struct pug_sink sink = pug_memory_sink(&text);
    struct stat is;
    if (!path || strchr(path, ':') || stat(path, &is) != 0) { /* a colon would end it */
        free(path);
        return NULL;
    }
    if (!S_ISDIR(is.st_mode))
        *strrchr(path, '/') = 0;
    pug_sink_text(&sink, "directory");
    quote(&sink, path[0] ? path : "/");
    pug_sink_put(&sink, "", 1);
    free(path);
    return text.bytes;
}

/** The words of GDB's command line. */
struct command_line {
    char **words;
    size_t count, room;
    bool failed;
};

static void add(struct command_line *line, const char *word)
{
    if (line->count + 1 >= line->room) {
        const size_t room = line->room * 2 + 32;
        char **grown = realloc(line->words, room * sizeof(*grown));
        line->failed |= !grown;
        line->words = grown ? grown : line->words;
        line->room = grown ? room : line->room;
    }
    if (line->failed || !word)
        return;
    char *copy = strdup(word);
    line->failed |= !copy;
    if (copy)
        line->words[line->count++] = copy;
    line->words[line->count] = NULL;
}

/** Adds a command that GDB obeys before it loads anything. */
static void add_early(struct command_line *line, const char *command)
{
    add(line, "-iex");
    add(line, command);
}

static void free_line(struct command_line *line)
{
    for (size_t i = 0; i < line->count; i++)
        free(line->words[i]);
    free(line->words);
}

/** Adds the commands of the launcher: the unwinder, the place of the source, the connection. */
static void add_own(struct command_line *line, const char *operand, int words, char **argv)
{
    char room[4096], script[4096], source[4200];
    const char *own = own_path("pugmark", room, sizeof(room));
    char *directory = make_directory(operand), *target = make_target(own, words, argv);
    const bool found = find_script(own, script, sizeof(script));
    if (found) {
        snprintf(source, sizeof(source), "source %s", script);
        add_early(line, source);
    } else {
        message_say("pugmark: pugmark-gdb.py is not there, so GDB shows one frame and has no "
                    "`pugmark` commands. Install it in share/pugmark, or name it with "
                    "PUGMARK_GDB_SCRIPT\n");
    }
    if (directory)
        add_early(line, directory);
    add(line, "-ex");
    add(line, target);
    line->failed |= !target;
    if (found) {
        add(line, "-ex");
        add(line, "pugmark inferiors");
    }
    free(directory);
    free(target);
}

int gdb_launch(const char *gdb, const char *operand, int words, char **argv)
{
    static const char *const early[] = {"set osabi none",
                                        "set sysroot /",
                                        "set print finish off",
                                        "set print entry-values no",
                                        "set can-use-hw-watchpoints 1",
                                        "set remotetimeout 3600",
                                        "set auto-load safe-path /dev/null"};
    struct command_line line = {0};
    add(&line, gdb);
    add(&line, "-q");
    for (size_t i = 0; i < sizeof(early) / sizeof(early[0]); i++)
        add_early(&line, early[i]);
    add_own(&line, operand, words, argv);
    for (int i = words + 1; argv[i]; i++)
        add(&line, argv[i]);
    if (line.failed) {
        message_say("pugmark: no memory to start GDB\n");
        free_line(&line);
        return EXIT_FATAL;
    }
    signal(SIGPIPE, SIG_DFL);
    execvp(gdb, line.words);
    message_say("pugmark: %s cannot be started: %s. Install it (Debian: gdb-multiarch), or name "
                "another with --gdb\n",
                gdb, strerror(errno));
    free_line(&line);
    return EXIT_INPUT;
}

#endif
