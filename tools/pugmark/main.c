// SPDX-License-Identifier: MIT
/** @file pugmark: reads the tracks that processors leave. One file a subcommand. */
#include "common/command.h"
#include "common/version.h"
#include "input/input.h"
#include "pugmark/pugmark.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* One a line, by name. */
/* clang-format off */
static const struct command *const commands[] = {
    &command_calls,
    &command_convert,
    &command_coverage,
    &command_diff,
    &command_encode,
    &command_find,
    &command_index,
    &command_info,
    &command_itm,
    &command_list,
    &command_live,
    &command_merge,
    &command_pc,
    &command_profile,
    &command_record,
    &command_report,
    &command_serve,
    &command_stat,
    &command_timeline,
    &command_top,
    &command_trace,
};
/* clang-format on */

#define COMMANDS (sizeof(commands) / sizeof(commands[0]))

static void usage(FILE *file)
{
    fputs("usage: pugmark COMMAND [OPTIONS] INPUT\n\n"
          "Reads processor trace (CoreSight, RISC-V, Open SoC Debug) and rebuilds what ran.\n\n",
          file);
    for (size_t i = 0; i < COMMANDS; i++)
        fprintf(file, "  %-9s %s\n", commands[i]->name, commands[i]->summary);
    fputs("\nINPUT is a snapshot (a folder with snapshot.ini, or that file), a perf.data (file, "
          "folder,\n"
          "or - for a pipe), a trace folder of the CMSIS-Toolbox, with --protocol one file of "
          "trace,\nor a live input: tcp:HOST:PORT, serial:DEVICE@BAUD, unix:PATH, "
          "tcp-listen:PORT, openocd,\npyocd, jlink, orbuculum. `pugmark COMMAND --help` says "
          "more;\n"
          "so does pugmark(1). `pugmark --version [--json]` tells the version, and what it was "
          "built with;\n"
          "`pugmark --list-cores` what --core can be.\n",
          file);
}

/** All that --core knows besides names of architectures, a line each. */
static void list_cores(void)
{
    char name[64];
    for (size_t n = 0; pug_core_name(n, name, sizeof(name)) > 0; n++)
        printf("%s\n", name);
}

static int run(int argc, char **argv)
{
    for (size_t i = 0; i < COMMANDS; i++)
        if (strcmp(argv[0], commands[i]->name) == 0)
            return commands[i]->run(commands[i], argc, argv);
    fprintf(stderr, "pugmark: '%s' is no command; `pugmark --help` lists them\n", argv[0]);
    return EXIT_USAGE;
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
        usage(stderr);
        return EXIT_USAGE;
    }
    char option[] = "--help";
    bool help = strcmp(argv[1], "help") == 0;
    if (help && argc > 2)
        return run(2, (char *[]){argv[2], option, NULL});
    if (help || strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0) {
        usage(stdout);
        return EXIT_DONE;
    }
    if (strcmp(argv[1], "--version") == 0)
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
    option_lists_free();
    const int shown = command_printed(code);
    return shown < EXIT_INPUT && input_failed() ? EXIT_INPUT : shown;
}
