// SPDX-License-Identifier: MIT
/** @file pugmark help: all commands by what they are for; or one command's --help. */
#include "common/command.h"
#include "common/help_text.h"

#include <stdio.h>

#define COMMAND_COLUMN 13u

static void list_commands(void)
{
    const char *heading;
    for (unsigned task = 0; (heading = help_task((enum command_task)task)) != NULL; task++) {
        const struct command *command;
        bool any = false;
        for (size_t n = 0; (command = command_at(n)) != NULL; n++) {
            if ((unsigned)command->task != task)
                continue;
            if (!any)
                printf("\n%s:\n", heading);
            any = true;
            help_term(command->name, COMMAND_COLUMN, command->summary);
        }
    }
}

static void print_overview(void)
{
    printf("usage: pugmark COMMAND [OPTIONS] INPUT\n\n");
    help_paragraph(0, "Reads processor trace (CoreSight, RISC-V, Open SoC Debug) and rebuilds what "
                      "ran.");
    list_commands();
    printf("\n");
    help_paragraph(0, "INPUT is a snapshot (a folder with snapshot.ini, or that file), a perf.data "
                      "(file, folder, or - for a pipe), a trace folder of the CMSIS-Toolbox, with "
                      "--protocol one file of trace, or a live input: tcp:HOST:PORT, "
                      "serial:DEVICE@BAUD, unix:PATH, tcp-listen:PORT, openocd, pyocd, jlink, "
                      "orbuculum.");
    printf("\n");
    help_paragraph(0, "You have a file and do not know what it is: `pugmark info FILE`. `pugmark "
                      "COMMAND --help` shows a command's purpose, examples and options. `pugmark "
                      "--version` (-V) says what this program was built with, `pugmark "
                      "--list-cores` what --core can be.");
}

static void print_all(void *context, const struct command *command, const struct option_set *sets,
                      size_t set_count)
{
    (void)context;
    help_command(command, sets, set_count, true);
    if (command->more_help)
        command->more_help();
}

static void print_own(void *context, const struct command *command, const struct option_set *sets,
                      size_t set_count)
{
    (void)context;
    help_command(command, sets, set_count, false);
    if (command->more_help)
        command->more_help();
}

struct help_options {
    bool all;
};

static const struct option table[] = {
    {"all", NULL, "the options that many commands have, too", option_flag,
     offsetof(struct help_options, all)},
};

static void print_common(void *context, const struct command *command,
                         const struct option_set *sets, size_t set_count)
{
    (void)context;
    (void)command;
    help_options(sets, set_count, true);
}

/** Words that are no options; at most one is looked at. */
static int count_operands(int argc, char **argv)
{
    for (int i = 1; i < argc; i++)
        if (argv[i][0] != '-')
            return 1;
    return 0;
}

static int help_run(const struct command *self, int argc, char **argv)
{
    struct help_options options = {0};
    const struct option_set sets[] = {OPTION_SET(table, &options)};
    const int operands = count_operands(argc, argv);
    const int end = command_start(self, argc, argv, sets, 1, operands);
    if (end >= 0)
        return end;
    const struct command *command = operands ? command_find_name(argv[1]) : NULL;
    if (operands && !command)
        return command_refuse(argv[1]);
    if (command) {
        command_read(command, &(struct command_reader){options.all ? print_all : print_own, NULL});
        return EXIT_DONE;
    }
    print_overview();
    if (options.all)
        command_read(&command_trace, &(struct command_reader){print_common, NULL});
    return EXIT_DONE;
}

const struct command command_help = {
    .name = "help",
    .operands = "[COMMAND]",
    .summary = "list the commands by task, or say what one is for",
    .run = help_run,
    .task = TASK_HELP,
    .purpose = "Lists the commands by what they are for. With the name of a command it shows that "
               "command's purpose, examples and options.",
    .examples = {{"pugmark help", "all commands, by task"},
                 {"pugmark help trace", "what `trace` is for; the same as `pugmark trace --help`"},
                 {"pugmark help --all trace", "with the options that many commands have"}},
};
