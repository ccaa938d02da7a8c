// SPDX-License-Identifier: MIT
#include "command.h"
#include "help_text.h"
#include "messages.h"
#include "outputs.h"
#include "sandbox.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

static struct command_watcher watcher;

void command_watch(const struct command_watcher *wanted)
{
    watcher = wanted ? *wanted : (struct command_watcher){0};
}

static struct command_reader reader;

void command_read(const struct command *command, const struct command_reader *wanted)
{
    char name[64];
    char *words[] = {name, NULL};
    snprintf(name, sizeof(name), "%s", command->name);
    reader = *wanted;
    (void)command->run(command, 1, words);
    reader = (struct command_reader){0};
}

/** Does a word ask for help? *all: for all of it. */
static bool asks_for_help(int argc, char **argv, bool *all)
{
    for (int i = 1; i < argc && strcmp(argv[i], "--") != 0; i++) {
        *all = strcmp(argv[i], "--help-all") == 0;
        if (*all || strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0)
            return true;
    }
    return false;
}

/** Says what is wrong with the number of operands, and how the command is called. */
static int refuse_operands(const struct command *self, const char *surplus, int found)
{
    if (surplus)
        message_say("pugmark: too many words: '%s'\n", surplus);
    else
        message_say("pugmark: %s\n", found ? "too few words" : "no input");
    message_say("usage: pugmark %s [OPTIONS] %s\n", self->name, self->operands);
    if (self->examples[0].line)
        message_say("for example: %s\n", self->examples[0].line);
    return EXIT_USAGE;
}

int command_start(const struct command *self, int argc, char **argv, const struct option_set *sets,
                  size_t set_count, int operands)
{
    bool all;
    if (reader.read) {
        reader.read(reader.context, self, sets, set_count);
        return EXIT_DONE;
    }
    if (asks_for_help(argc, argv, &all)) {
        help_command(self, sets, set_count, all);
        if (self->more_help)
            self->more_help();
        return EXIT_DONE;
    }
    int found;
    if (!options_parse(argc, argv, sets, set_count, &found))
        return EXIT_USAGE;
    sandbox_operands(argv + 1, (size_t)found);
    if (watcher.tell && found > 0) {
        watcher.tell(watcher.context, argv + 1, (size_t)found);
        return EXIT_DONE;
    }
    if (!outputs_are_apart(argv + 1, (size_t)found))
        return EXIT_USAGE;
    if (operands < 0 && found >= -operands) { /* so many, and any number more */
        argv[found + 1] = NULL;
        return -1;
    }
    if (found != operands)
        return refuse_operands(self, operands >= 0 && found > operands ? argv[1 + operands] : NULL,
                               found);
    return -1;
}

int command_printed(int code)
{
    errno = 0;
    if (fflush(stdout) == 0 && !ferror(stdout))
        return code;
    if (errno == EPIPE)
        return code;
    message_say("pugmark: cannot write the output: %s\n", strerror(errno ? errno : EIO));
    return EXIT_INPUT;
}
