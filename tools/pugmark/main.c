// SPDX-License-Identifier: MIT
/** @file pugmark: reads the tracks that processors leave. One file a subcommand. */
#include "common/command.h"
#include "common/messages.h"
#include "common/version.h"
#include "input/input.h"
#include "pugmark/pugmark.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/** All that --core knows besides names of architectures, a line each. */
static void list_cores(void)
{
    char name[64];
    for (size_t n = 0; pug_core_name(n, name, sizeof(name)) > 0; n++)
        printf("%s\n", name);
}

static int run(int argc, char **argv)
{
    const struct command *command = command_find_name(argv[0]);
    return command ? command->run(command, argc, argv) : command_refuse(argv[0]);
}

/** --help is `help`, --help-all is `help --help-all`. */
static int help(bool all)
{
    char name[] = "help", option[] = "--all";
    char *words[] = {name, all ? option : NULL, NULL};
    return run(all ? 2 : 1, words);
}

static int start(int argc, char **argv)
{
#ifdef _WIN32
    pug_windows_begin();
#else
    /* A reader that goes away (`| head`) ends the output, see output.c; it is no accident. */
    signal(SIGPIPE, SIG_IGN);
#endif
    static char room[1 << 16]; /* help is written at once, so that a failure has its reason */
    setvbuf(stdout, room, _IOFBF, sizeof(room));
    if (argc < 2) {
        message_say("usage: pugmark COMMAND [OPTIONS] INPUT\n");
        message_say("what a file holds:     pugmark info FILE\n");
        message_say("how it came to an end: pugmark trace --last 50 FILE\n");
        message_say("all commands, by task: pugmark help\n");
        return EXIT_USAGE;
    }
    if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0)
        return help(false);
    if (strcmp(argv[1], "--help-all") == 0)
        return help(true);
    if (strcmp(argv[1], "--version") == 0 || strcmp(argv[1], "-V") == 0)
        return version_print(argc > 2 ? argv[2] : NULL);
    if (strcmp(argv[1], "--list-cores") == 0) {
        list_cores();
        return EXIT_DONE;
    }
    return run(argc - 1, argv + 1);
}

int main(int argc, char **argv)
{
    const int code = start(argc, argv);
    messages_more();
    option_lists_free();
    const int shown = command_printed(code);
    return shown < EXIT_INPUT && input_failed() ? EXIT_INPUT : shown;
}
